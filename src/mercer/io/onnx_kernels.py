"""Kernels in ONNX's operators: a function for each kernel, of a graph's points X and the numbers Z."""

from __future__ import annotations

from functools import partial, singledispatch
from math import pi, sqrt
from typing import Any

import numpy as np

from ..kernels import (
    Centered,
    Chi2,
    Constant,
    ExpChi2,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)
from ..kernels.base import Power, Product, Scaled, Sum
from ..types import Array


class Operators:
    """ONNX's operators by their names, in the version of one graph: ops.Exp(x)."""

    def __init__(self, version: int) -> None:
        self.version = version

    def __getattr__(self, name: str) -> Any:
        from skl2onnx.algebra import onnx_ops

        return partial(getattr(onnx_ops, f"Onnx{name}"), op_version=self.version)


@singledispatch
def block(kernel: Kernel, ops: Operators, X: Any, Z: Array) -> Any:
    """k(x_i, z_j) as the output of a graph."""
    raise ValueError(f"{kernel!r} cannot be written in ONNX's operators here.")


@block.register
def _(kernel: Linear, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.MatMul(X, Z.T)


@block.register
def _(kernel: Polynomial, ops: Operators, X: Any, Z: Array) -> Any:
    inner = ops.Add(ops.MatMul(X, float(kernel.gamma) * Z.T), _number(kernel.coef0))
    return ops.Pow(inner, _number(kernel.degree))


@block.register
def _(kernel: Gaussian, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Exp(ops.Mul(_squared_distances(ops, X, Z), _number(-float(kernel.gamma))))


@block.register
def _(kernel: Laplacian, ops: Operators, X: Any, Z: Array) -> Any:
    distances = _summed(ops, ops.Abs(ops.Sub(_apart(ops, X), Z[None])))
    return ops.Exp(ops.Mul(distances, _number(-float(kernel.gamma))))


@block.register
def _(kernel: Matern, ops: Operators, X: Any, Z: Array) -> Any:
    s = ops.Mul(ops.Sqrt(_squared_distances(ops, X, Z)), _number(sqrt(2 * kernel.nu) / float(kernel.length_scale)))
    decay = ops.Exp(ops.Neg(s))
    if kernel.nu == 0.5:
        return decay
    polynomial = ops.Add(s, _number(1.0))
    if kernel.nu == 2.5:
        polynomial = ops.Add(polynomial, ops.Mul(ops.Mul(s, s), _number(1 / 3)))
    return ops.Mul(polynomial, decay)


@block.register
def _(kernel: RationalQuadratic, ops: Operators, X: Any, Z: Array) -> Any:
    scaled = ops.Mul(_squared_distances(ops, X, Z), _number(0.5 / (kernel.alpha * float(kernel.length_scale) ** 2)))
    return ops.Pow(ops.Add(scaled, _number(1.0)), _number(-kernel.alpha))


@block.register
def _(kernel: Periodic, ops: Operators, X: Any, Z: Array) -> Any:
    turn = 2 * pi / kernel.period
    angle = ops.Mul(X, _number(turn))
    circles = ops.Concat(ops.Cos(angle), ops.Sin(angle), axis=1)
    return block(Gaussian(sigma=kernel.length_scale), ops, circles, np.hstack([np.cos(turn * Z), np.sin(turn * Z)]))


@block.register
def _(kernel: Intersection, ops: Operators, X: Any, Z: Array) -> Any:
    return _summed(ops, ops.Min(_apart(ops, X), Z[None]))


@block.register
def _(kernel: Chi2, ops: Operators, X: Any, Z: Array) -> Any:
    x = _apart(ops, X)
    return _summed(ops, ops.Div(ops.Mul(x, Z[None]), _no_zero(ops, ops.Add(x, Z[None]))))


@block.register
def _(kernel: ExpChi2, ops: Operators, X: Any, Z: Array) -> Any:
    x = _apart(ops, X)
    difference = ops.Sub(x, Z[None])
    distances = _summed(ops, ops.Div(ops.Mul(difference, difference), _no_zero(ops, ops.Add(x, Z[None]))))
    return ops.Exp(ops.Mul(distances, _number(-float(kernel.gamma))))


@block.register
def _(kernel: Constant, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Add(ops.MatMul(X, np.zeros_like(Z.T)), _number(kernel.value))


@block.register
def _(kernel: Sum, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Add(block(kernel.left, ops, X, Z), block(kernel.right, ops, X, Z))


@block.register
def _(kernel: Product, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Mul(block(kernel.left, ops, X, Z), block(kernel.right, ops, X, Z))


@block.register
def _(kernel: Scaled, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Mul(block(kernel.kernel, ops, X, Z), _number(kernel.factor))


@block.register
def _(kernel: Power, ops: Operators, X: Any, Z: Array) -> Any:
    return ops.Pow(block(kernel.kernel, ops, X, Z), _number(kernel.exponent))


@block.register
def _(kernel: Centered, ops: Operators, X: Any, Z: Array) -> Any:
    assert kernel.centre is not None
    points, weights = np.asarray(kernel.centre.points, np.float64), kernel.centre.weights
    rows = ops.MatMul(block(kernel.kernel, ops, X, points), weights[:, None])
    columns = weights @ kernel.kernel(points, Z) - kernel.centre.mean
    return ops.Sub(ops.Sub(block(kernel.kernel, ops, X, Z), rows), columns[None])


def _number(value: float) -> Array:
    return np.array([value], np.float64)


def _squared_distances(ops: Operators, X: Any, Z: Array) -> Any:
    """|x - z|^2 = |x|^2 + |z|^2 - 2 <x, z>, from the mean of Z, so that few digits are lost."""
    centre = Z.mean(axis=0)
    X, Z = ops.Sub(X, centre), Z - centre
    squares = ops.MatMul(ops.Mul(X, X), np.ones((Z.shape[1], 1)))
    distances = ops.Add(ops.Add(squares, (Z**2).sum(axis=1)[None]), ops.MatMul(X, -2.0 * Z.T))
    return ops.Max(distances, _number(0.0))


def _apart(ops: Operators, X: Any) -> Any:
    """X as (n, 1, d), to meet every point of Z coordinate by coordinate."""
    return ops.Unsqueeze(X, np.array([1]))


def _summed(ops: Operators, values: Any) -> Any:
    return ops.ReduceSum(values, np.array([2]), keepdims=0)


def _no_zero(ops: Operators, values: Any) -> Any:
    """Values >= 0 to divide by: where they are 0, so is what is divided."""
    return ops.Max(values, _number(np.finfo(np.float64).tiny))

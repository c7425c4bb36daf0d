"""Conjugate gradients for A V = B with a positive definite A, column by column, with a preconditioner.

`one_column` does the same for one: arrays of one column take as long as its products with few points do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..amounts import A_DIGIT, AT_A_TIME
from ..arithmetic import inner
from ..columns import pieces
from ..types import Array
from .triangular import inverse_of

core = CHOICE.functions
MOST_STEPS = 1000
USUAL_STEPS = 20  # This is about what it takes until an answer is of use.
BY_SINGLE = float(np.sqrt(np.finfo(np.float32).eps))
"""The part of a residual that is left before it is computed anew in float64, where products are of float32 values."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Where conjugate gradients stand: V, A V, and the residual B - A V.

    fresh: A V is a product with V itself, not a sum of products. stuck: no column had a direction to go.
    """

    V: Array
    AV: Array
    R: Array
    fresh: bool = True
    stuck: bool = False

    @classmethod
    def zero(cls, B: Array) -> Standing:
        """Where everything begins."""
        return cls(np.zeros(B.shape), np.zeros(B.shape), B)

    def relative(self, sizes: Array) -> float:
        """The largest |residual|, in parts of these sizes of the columns of B."""
        return float((norms(self.R) / sizes).max())


def conjugate_gradients(
    B: Array,
    columns: Standing,
    apply: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
) -> Generator[Standing, bool | None, None]:
    """Better columns, one step each time; every column has its own step. `apply` multiplies by A.

    The preconditioner need be neither exact nor quite the same each time (Polak and Ribière's formula). Sent True, the
    next step is the last: it need not be the best one, is taken as 1, and its product is with V + P, so A V is fresh.
    """
    P = precondition(columns.R)
    slope, last = inner_products(columns.R, P), None
    while True:
        V, R = columns.V, columns.R
        further = apply(V + P) if last else None
        AP = apply(P) if further is None else further - columns.AV
        curvature = inner_products(P, AP)
        good = (curvature > 0.0) & (slope > 0.0) & np.isfinite(curvature) & np.isfinite(slope)
        step = np.where(good, slope / np.where(good, curvature, 1.0), 0.0)
        if not good.all():  # a column that overflowed stays where it is
            P, AP = np.where(good, P, 0.0), np.where(good, AP, 0.0)
        if further is not None and bool((np.abs(step - 1.0) < A_DIGIT).all()):
            columns = Standing(V + P, further, B - further)
        else:
            AV = columns.AV + step * AP
            columns = Standing(V + step * P, AV, R - step * AP, fresh=False, stuck=not good.any())
        last = yield columns
        Z = precondition(columns.R)
        after, across = inner_products(columns.R, Z), inner_products(R, Z)
        finite = np.isfinite(after) & np.isfinite(across)
        after, across = np.where(finite, after, 0.0), np.where(finite, across, 0.0)
        turn = np.maximum(np.where(slope > 0.0, (after - across) / np.where(slope > 0.0, slope, 1.0), 0.0), 0.0)
        P, slope = Z + turn * P, after


class Place(NamedTuple):
    """Where one column stands: v, the residual b - A v, how far it went along the last direction, how much of the one
    before was in that, and whether there was none to go.
    """

    v: Array
    rest: Array
    step: float
    turn: float
    stuck: bool


def one_column(
    b: Array, apply: Callable[[Array], Array], precondition: Callable[[Array], Array]
) -> Generator[Place, None, None]:
    """Better and better v with A v = b, from zeros on, one step each time; see `conjugate_gradients`."""
    v, rest, turn = np.zeros(b.size), b, 0.0
    along = precondition(rest)
    slope = inner(rest, along)
    while True:
        image = apply(along)
        curvature = inner(along, image)
        good = curvature > 0.0 and slope > 0.0 and isfinite(curvature) and isfinite(slope)
        step = slope / curvature if good else 0.0
        before = rest
        if good:
            v, rest = v + step * along, rest - step * image
        yield Place(v, rest, step, turn, not good)
        towards = precondition(rest)
        after, across = inner(rest, towards), inner(before, towards)
        turn = max((after - across) / slope, 0.0) if slope > 0.0 and isfinite(after - across) else 0.0
        along, slope = towards + turn * along, after


class Carried:
    """c of the residual r = Z'c of one column, and of q = Z'c, where M^-1 q is the direction p; and f = Z v. So w
    remains a sum of rows, and it is known of which.
    """

    def __init__(self, c: Array) -> None:
        self.residual, self.direction, self.f = c.copy(), np.zeros(c.size), np.zeros(c.size)

    def follow(
        self, place: Place, s: Array, rate: Array, near: Array, centres: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """After a step along p with s = Z p, where A = I + Z'DZ and M = I + Z'mZ for D = `rate` and m = `near`, or both
        with s measured from `centres`.
        """
        core.carry(s, rate, near, (place.step, place.turn, *centres), self.direction, self.residual, self.f)


def nystrom(F: Array, D: Array) -> Callable[[Array], Array]:
    """v -> (F F' + 1/D)^-1 v = D v - D F (I + F'DF)^-1 F'D v, Woodbury's identity: with F F' ~ K of few columns, the
    Nystrom preconditioner of K + 1/D.
    """
    small = np.eye(F.shape[1])
    for rows in pieces(len(F), AT_A_TIME.rows):
        small += F[rows].T @ (D[rows, None] * F[rows])
    inverse, weight = inverse_of(small), D[:, None]

    def solve(V: Array) -> Array:
        V = weight * V
        return np.asarray(V - weight * (F @ inverse(F.T @ V)))

    return solve


def inner_products(A: Array, B: Array) -> Array:
    """Of columns."""
    return np.asarray(np.einsum("ij,ij->j", A, B))


def norms(A: Array) -> Array:
    """Of columns."""
    return np.sqrt(inner_products(A, A))

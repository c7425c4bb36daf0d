"""Random nested algebra: the object, its text and its values all agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone

import mercer
from mercer.kernels import Constant, Gaussian, Linear, Polynomial, Power, Product, Scaled, Sum
from mercer.params import RebuildsParameters

X = np.random.default_rng(0).normal(size=(7, 2)) / 2
Z = np.random.default_rng(1).normal(size=(5, 2)) / 2
G, L = Gaussian(gamma=0.5), Linear()

numbers = st.floats(0.01, 3.0) | st.integers(1, 3)
leaves = st.one_of(
    st.builds(Linear),
    st.builds(Gaussian, gamma=numbers),
    st.builds(Polynomial, degree=st.integers(1, 2), gamma=numbers, coef0=numbers),
    st.builds(Constant, numbers),
)


def grow(kernels: Any) -> Any:
    return st.one_of(
        st.tuples(st.just("+"), kernels, kernels),
        st.tuples(st.just("*"), kernels, kernels),
        st.tuples(st.just("c"), numbers, kernels),
        st.tuples(st.just("p"), kernels, st.integers(1, 2)),
    )


trees = st.recursive(leaves, grow, max_leaves=6)


def build(tree: Any) -> tuple[Any, Any]:
    """The kernel by operators, and its values by plain arithmetic on the leaves' blocks."""
    if not isinstance(tree, tuple):
        return tree, tree(X, Z)
    mark, left, right = tree
    if mark == "c":
        kernel, values = build(right)
        return left * kernel, left * values
    kernel, values = build(left)
    if mark == "p":
        return kernel**right, values**right
    other, other_values = build(right)
    return (kernel + other, values + other_values) if mark == "+" else (kernel * other, values * other_values)


@given(trees)
@settings(max_examples=200, deadline=None)
def test_nested_algebra_is_exact(tree):
    kernel, values = build(tree)
    assert_allclose(kernel(X, Z), values, rtol=1e-10, atol=1e-12)
    assert mercer.kernel(repr(kernel)) == kernel
    assert eval(repr(kernel), vars(mercer.kernels)) == kernel
    assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-10, atol=1e-12)


def test_precedence_is_pythons():
    assert L + G * L == Sum(L, Product(G, L))
    assert 2 * G**3 + 1 == Sum(Scaled(2, Power(G, 3)), Constant(1))
    assert (2 * G) ** 3 == Power(Scaled(2, G), 3)
    assert L + (G + L) != (L + G) + L
    assert repr(L + (G + L)) == "Linear() + (Gaussian(gamma=0.5) + Linear())"
    assert repr(2 * (G + L) * L) == "2*(Gaussian(gamma=0.5) + Linear())*Linear()"


def test_numbers_on_either_side():
    assert 2 * G == G * 2 == np.float64(2) * G == G * np.int64(2)
    assert 1 + G == Sum(Constant(1), G)
    assert G + 1 == Sum(G, Constant(1))
    assert sum([G, L]) == G + L
    assert G / 4 == 0.25 * G
    assert repr(np.float64(0.1) * G) == "0.1*Gaussian(gamma=0.5)"


def test_names_are_not_taken_over():
    with pytest.raises(ValueError, match="belongs to mercer.kernels.dot.Linear"):
        type("Mine", (Linear,), {}, names=("linear",))


def test_equal_values_are_equal_kernels():
    assert Gaussian(1) == Gaussian(1.0) == Gaussian(np.float64(1))
    assert hash(Gaussian(1)) == hash(Gaussian(1.0))
    assert Gaussian(1) != Gaussian(2)
    assert len({L + G, L + G, G + L}) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: -1 * G,
        lambda: float("nan") * G,
        lambda: G**0,
        lambda: G**1.5,
        lambda: G**-1,
        lambda: G + -2,
        lambda: Gaussian(0),
        lambda: Gaussian(-1),
        lambda: Gaussian(float("inf")),
        lambda: Gaussian("wide"),
        lambda: Gaussian(True),
        lambda: Gaussian(sigma=0),
        lambda: Polynomial(degree=0),
        lambda: Polynomial(degree=2.0),
        lambda: mercer.kernels.Matern(nu=1),
        lambda: mercer.kernels.Periodic(period=0),
        lambda: mercer.kernels.Normalized(mercer.kernels.Precomputed()),
    ],
)
def test_parameters_that_make_no_kernel(wrong):
    with pytest.raises(ValueError, match="must be|cannot"):
        wrong()


@pytest.mark.parametrize(
    "wrong", [lambda: G + "linear", lambda: G * [1], lambda: Sum(G, 2), lambda: Scaled(2, "linear"), lambda: G ** "2"]
)
def test_operands_that_are_no_kernels(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_nested_parameters():
    kernel = 2 * (G + L) * Polynomial(degree=2)
    assert kernel.get_params()["left__kernel__left__gamma"] == 0.5
    changed = kernel.with_params(left__kernel__left__gamma=7.0, left__factor=3, right__degree=4)
    assert changed == 3 * (Gaussian(7.0) + L) * Polynomial(degree=4)
    assert kernel == 2 * (G + L) * Polynomial(degree=2)
    with pytest.raises(ValueError, match="no parameter 'gama'. Did you mean gamma"):
        G.with_params(gama=1)
    with pytest.raises(ValueError, match="no parameters of its own"):
        G.with_params(gamma__x=1)


class Machine(RebuildsParameters, BaseEstimator):
    def __init__(self, kernel: Any = G, C: float = 1.0) -> None:
        self.kernel = kernel
        self.C = C


def test_estimators_rebuild_their_kernel():
    kernel = G + L
    machine = Machine(kernel)
    assert machine.get_params()["kernel__left__gamma"] == 0.5
    other = clone(machine).set_params(kernel__left__gamma=2.0, C=3)
    assert other.kernel == Gaussian(2.0) + L and other.C == 3
    assert machine.kernel is kernel
    assert other.set_params(kernel=L * G, kernel__right__gamma=9).kernel == L * Gaussian(9)
    with pytest.raises(ValueError, match="Did you mean gamma"):
        other.set_params(kernel__right__gama=1)
    with pytest.raises(ValueError, match="Invalid parameter"):
        other.set_params(kernle=1)


def test_estimators_parse_text_before_they_change_it():
    machine = mercer.features.Nystrom("rbf(gamma=1) + linear")
    assert machine.set_params(kernel__left__gamma=3).kernel == Gaussian(3) + L

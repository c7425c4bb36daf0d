"""RKHS functions: a vector space with inner product, and the reproducing property."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mercer
from mercer import RKHSFunction
from mercer.kernels import FromFunction, Gaussian, Linear, Precomputed

from .zoo import KERNELS, as_sparse, common_letters, vectors, words

generator = np.random.default_rng(0)


def pair(specimen):
    f = RKHSFunction(specimen.kernel, specimen.points(8), generator.normal(size=8))
    return f, RKHSFunction(specimen.kernel, specimen.points(5, seed=2), generator.normal(size=5))


def point(specimen, i):
    return specimen.points(9, seed=1)[i]


@pytest.mark.parametrize("specimen", KERNELS, ids=str)
def test_vector_space(specimen):
    f, g = pair(specimen)
    X = specimen.points(9, seed=1)
    assert_allclose(f(X), specimen.kernel(X, f.centers) @ f.beta, rtol=1e-9, atol=1e-9)
    scale = {"rtol": 1e-9, "atol": 1e-9 * max(1, np.abs(f(X)).max())}
    assert_allclose((f + g)(X), f(X) + g(X), **scale)
    assert_allclose((2 * f - g / 4)(X), 2 * f(X) - g(X) / 4, **scale)
    assert_allclose((-f + 3)(X), 3 - f(X), **scale)
    assert_allclose((1 - f)(X), 1 - f(X), **scale)


@pytest.mark.parametrize("specimen", KERNELS, ids=str)
def test_inner_product(specimen):
    f, g = pair(specimen)
    size = max(1.0, f.norm(), g.norm())
    assert_allclose(f.inner(g), g.inner(f), rtol=1e-9, atol=1e-9 * size**2)
    assert_allclose((f + 2 * g).inner(g), f.inner(g) + 2 * g.inner(g), rtol=1e-8, atol=1e-8 * size**2)
    assert abs(f.inner(g)) <= f.norm() * g.norm() * (1 + 1e-9) + 1e-9
    assert_allclose(f.norm() ** 2, f.inner(f), rtol=1e-9, atol=1e-12)
    assert_allclose(f.distance(g) ** 2, f.inner(f) - 2 * f.inner(g) + g.inner(g), rtol=1e-7, atol=1e-8 * size**2)


@pytest.mark.parametrize("specimen", KERNELS, ids=str)
def test_reproducing_property(specimen):
    f, _ = pair(specimen)
    for i in range(3):
        x = point(specimen, i)
        values = f(specimen.points(9, seed=1)[i : i + 1])
        assert_allclose(f.inner(RKHSFunction.section(specimen.kernel, x)), values[0], rtol=1e-9, atol=1e-9)


def test_constant_is_no_part_of_the_space():
    f = RKHSFunction(Gaussian(1.0), vectors(4), np.ones(4), b=7.0)
    bare = RKHSFunction(Gaussian(1.0), vectors(4), np.ones(4))
    assert_allclose(f(vectors(3)), bare(vectors(3)) + 7)
    assert f.norm() == bare.norm()
    assert (2 * f + 1).b == 15
    assert np.float64(2) * f is not None
    assert "4 centers, b = 7" in repr(f)


def test_sparse_centers():
    X = vectors(6)
    f = RKHSFunction(Linear(), as_sparse(X), np.ones(6))
    assert_allclose(f.inner(RKHSFunction.section(Linear(), as_sparse(X)[[2]])), f(X)[2])
    assert_allclose((f + RKHSFunction(Linear(), X, np.ones(6)))(X), 2 * X @ X.sum(axis=0), atol=1e-12)


def test_words():
    texts = words(5)
    f = RKHSFunction(FromFunction(common_letters), texts, np.ones(5))
    g = RKHSFunction(f.kernel, words(4, seed=9), np.ones(4))
    assert_allclose((f + g)(texts), f(texts) + g(texts))


def test_kernel_as_text():
    assert RKHSFunction("rbf(gamma=1)", vectors(2), [1, 2]).kernel == Gaussian(1)


def test_immutable():
    beta = np.ones(3)
    f = RKHSFunction(Gaussian(1.0), vectors(3), beta)
    beta[:] = 5
    assert f.beta.sum() == 3
    points = vectors(3)
    f = RKHSFunction(Gaussian(1.0), points, np.ones(3))
    points[:] = 0
    assert_allclose(f.centers, vectors(3))
    with pytest.raises(ValueError, match="read-only"):
        f.beta[0] = 1


def test_errors():
    X = vectors(3)
    f = RKHSFunction(Gaussian(1.0), X, np.ones(3))
    with pytest.raises(ValueError, match="different spaces"):
        f + RKHSFunction(Gaussian(2.0), X, np.ones(3))
    with pytest.raises(ValueError, match="different spaces"):
        f.inner(RKHSFunction(Linear(), X, np.ones(3)))
    for beta, b in ((np.ones(2), 0.0), ([1, np.nan, 1], 0.0), (np.ones(3), np.inf)):
        with pytest.raises(ValueError, match="beta must be 3 finite numbers"):
            RKHSFunction(Gaussian(1.0), X, beta, b)
    with pytest.raises(ValueError, match="waits for training data"):
        RKHSFunction(Gaussian(), X, np.ones(3))
    with pytest.raises(ValueError, match=r"Precomputed\(matrix\)"):
        RKHSFunction(Precomputed(), X @ X.T, np.ones(3))
    with pytest.raises(TypeError):
        f + "g"
    with pytest.raises(TypeError):
        f * f
    with pytest.raises(ValueError, match="X has 2 columns"):
        f(X[:, :2])


FITTED = {
    "SVC": (mercer.SVC("rbf(gamma=0.5)"), 2),
    "SVC, linear": (mercer.SVC("linear"), 2),
    "SVC, polynomial": (mercer.SVC("poly"), 2),
    "SVC, pairs of three classes": (mercer.SVC("rbf(gamma=0.5)"), 3),
    "KernelLogistic, three classes": (mercer.KernelLogistic("rbf(gamma=0.5)"), 3),
    "LinearSVC": (mercer.LinearSVC(), 3),
    "Perceptron": (mercer.Perceptron(bias=True), 2),
    "KernelPerceptron": (mercer.KernelPerceptron("rbf(gamma=5)", variant="averaged", bias=True), 2),
    "OneClassSVM": (mercer.OneClassSVM("rbf(gamma=0.5)", nu=0.3), 2),
    "SVR": (mercer.SVR("rbf(gamma=0.5)"), 2),
    "KernelRidge": (mercer.KernelRidge("rbf(gamma=0.5)"), 2),
    "KernelRidge, linear": (mercer.KernelRidge("linear"), 2),
}


@pytest.mark.parametrize("name", list(FITTED))
def test_every_fitted_machine_gives_its_function(name):
    machine, classes = FITTED[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    y = np.arange(24) % classes
    X[:, 0] += 4 * (y == 1)
    X[:, 1] += 4 * (y == 2)
    machine = clone(machine).fit(X, y)
    functions = machine.function_
    functions = functions if isinstance(functions, tuple) else (functions,)
    assert len(functions) == (1 if classes == 2 else 3)
    ours = np.column_stack([f(X) for f in functions])
    if name == "SVC, pairs of three classes":
        theirs = machine.pairwise_decision_function(X)
    else:
        theirs = machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)
    np.testing.assert_allclose(ours, theirs.reshape(24, -1), atol=1e-9)
    assert all(np.isfinite(f.norm()) for f in functions)


def test_machines_without_such_a_function_say_so():
    X, y = np.array([[0.0], [1.0], [3.0]]), [-1, -1, 1]
    with pytest.raises(NotFittedError):
        mercer.SVC().function_
    with pytest.raises(AttributeError, match="kernel values"):
        mercer.SVC("precomputed").fit(X @ X.T + 1, y).function_
    with pytest.raises(AttributeError, match="votes"):
        mercer.KernelPerceptron("poly", variant="voted").fit(X, y).function_
    two = mercer.KernelRidge("poly").fit(X, np.column_stack([y, X[:, 0]])).function_
    assert len(two) == 2

"""The zoo: one example of everything, with an independent formula or data to try it on. Laws run over all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import cos, exp, log, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.metrics.pairwise import laplacian_kernel

from mercer.features import (
    GaussianSeries,
    Nystrom,
    PolarMap,
    PolynomialMap,
    PrototypeMap,
    RandomFourier,
    SpectralMap,
)
from mercer.kernels import (
    Centered,
    Chi2,
    Constant,
    ExpChi2,
    FromBlocks,
    FromFeatures,
    FromFunction,
    FromGaussianProcess,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
)
from mercer.losses import EpsilonInsensitive, HardMargin, Hinge, Logistic, Loss, OneClass, Squared, SquaredHinge
from mercer.problem import Problem
from mercer.solvers import (
    QP,
    Cholesky,
    ConjugateGradient,
    CoordinateDescent,
    Decomposition,
    Newton,
    NormalEquations,
    NystromCG,
    NystromNewton,
    StochasticSubgradient,
    Subgradient,
)

needs_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="this version of scikit-learn has no callbacks"
)


def vectors(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 4))


def histograms(n: int, seed: int = 0) -> Any:
    """Entries >= 0, many of them exactly 0."""
    generator = np.random.default_rng(seed)
    return generator.gamma(1.0, size=(n, 7)) * (generator.random((n, 7)) < 0.6)


def words(n: int, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    return ["".join(generator.choice(list("abc"), size=generator.integers(1, 8))) for _ in range(n)]


def row_numbers(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).permutation(60)[:n]


def common_letters(x: str, z: str) -> float:
    return float(sum(x.count(letter) * z.count(letter) for letter in "abc"))


def letters(x: str) -> list[int]:
    return [x.count(letter) for letter in "abc"]


def _matrix() -> Any:
    A = np.random.default_rng(7).normal(size=(60, 9))
    return A @ A.T


MATRIX = _matrix()


@dataclass(frozen=True)
class Specimen:
    """A kernel, points for it, and its formula for two points, written out independently (None: see its own tests)."""

    kernel: Kernel
    points: Callable[..., Any] = vectors
    formula: Callable[[Any, Any], float] | None = None
    sparse: bool = True

    def __str__(self) -> str:
        return repr(self.kernel)[:60]

    @property
    def on_vectors(self) -> bool:
        return self.points in (vectors, histograms)


def _square(x: Any, z: Any) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def _dot(x: Any, z: Any) -> float:
    return float(sum(a * b for a, b in zip(x, z, strict=True)))


def _over(a: float, b: float) -> float:
    return a / b if b else 0.0


KERNELS = [
    Specimen(Linear(), formula=_dot),
    Specimen(Constant(2.5), formula=lambda x, z: 2.5),
    Specimen(Polynomial(), formula=lambda x, z: (1 + _dot(x, z)) ** 2),
    Specimen(Polynomial(degree=3, gamma=0.5, coef0=0), formula=lambda x, z: (0.5 * _dot(x, z)) ** 3),
    Specimen(Gaussian(gamma=0.3), formula=lambda x, z: exp(-0.3 * _square(x, z))),
    Specimen(Laplacian(gamma=0.4), formula=lambda x, z: exp(-0.4 * sum(abs(a - b) for a, b in zip(x, z, strict=True)))),
    Specimen(Matern(nu=0.5, length_scale=2.0), formula=lambda x, z: exp(-sqrt(_square(x, z)) / 2)),
    Specimen(
        Matern(nu=1.5, length_scale=1.0),
        formula=lambda x, z: (1 + sqrt(3 * _square(x, z))) * exp(-sqrt(3 * _square(x, z))),
    ),
    Specimen(
        Matern(nu=2.5, length_scale=0.7),
        formula=lambda x, z: (
            (1 + sqrt(5 * _square(x, z)) / 0.7 + 5 * _square(x, z) / (3 * 0.49)) * exp(-sqrt(5 * _square(x, z)) / 0.7)
        ),
    ),
    Specimen(RationalQuadratic(alpha=0.5, length_scale=1.5), formula=lambda x, z: (1 + _square(x, z) / 2.25) ** -0.5),
    Specimen(
        Periodic(period=2.0, length_scale=1.3),
        formula=lambda x, z: exp(-2 * sum(sin(pi * (a - b) / 2) ** 2 for a, b in zip(x, z, strict=True)) / 1.69),
    ),
    Specimen(Intersection(), histograms, lambda x, z: sum(min(a, b) for a, b in zip(x, z, strict=True))),
    Specimen(Chi2(), histograms, lambda x, z: sum(_over(a * b, a + b) for a, b in zip(x, z, strict=True))),
    Specimen(
        ExpChi2(gamma=0.7),
        histograms,
        lambda x, z: exp(-0.7 * sum(_over((a - b) ** 2, a + b) for a, b in zip(x, z, strict=True))),
    ),
    Specimen(FromFunction(common_letters), words, common_letters),
    Specimen(FromFunction(lambda x, z: cos(x[0] - z[0])), formula=lambda x, z: cos(x[0] - z[0])),
    Specimen(
        FromBlocks(partial(laplacian_kernel, gamma=0.4)),
        formula=lambda x, z: exp(-0.4 * sum(abs(a - b) for a, b in zip(x, z, strict=True))),
    ),
    Specimen(
        FromGaussianProcess(2.0 * RBF(1.5) + DotProduct(1.0)),
        formula=lambda x, z: 2 * exp(-_square(x, z) / 4.5) + 1 + _dot(x, z),
    ),
    Specimen(FromFeatures(letters), words, common_letters),
    Specimen(
        FromFeatures(PolynomialMap(degree=2).fit(vectors(3))),
        formula=lambda x, z: (1 + _dot(x, z)) ** 2,
        sparse=False,
    ),
    Specimen(Precomputed(MATRIX), row_numbers, lambda x, z: MATRIX[x, z]),
    Specimen(Linear() + 2 * Gaussian(gamma=0.3), formula=lambda x, z: _dot(x, z) + 2 * exp(-0.3 * _square(x, z))),
    Specimen(
        Linear() + Polynomial() * Gaussian(gamma=0.3),
        formula=lambda x, z: _dot(x, z) + (1 + _dot(x, z)) ** 2 * exp(-0.3 * _square(x, z)),
    ),
    Specimen((Linear() + 1) ** 3, formula=lambda x, z: (_dot(x, z) + 1) ** 3),
    Specimen(
        Normalized(Polynomial()),
        formula=lambda x, z: (1 + _dot(x, z)) ** 2 / (1 + _dot(x, x)) / (1 + _dot(z, z)),
    ),
    Specimen(Normalized(FromFunction(common_letters)), words),
    Specimen(0.5 * Precomputed(MATRIX) + Precomputed(MATRIX) ** 2, row_numbers),
    Specimen(Centered(Linear()).resolve(vectors(20, seed=3))),
    Specimen(Gaussian(gamma=0.5) + Centered(Polynomial()).resolve(vectors(20, seed=3))),
]

SPARSE = [s for s in KERNELS if s.on_vectors and s.sparse]
WRITTEN = [s.kernel for s in KERNELS if "<" not in repr(s.kernel)]

FEATURES = [
    PolynomialMap(),
    PolynomialMap(degree=3, gamma=0.5, coef0=0.0),
    PolynomialMap(degree=1, coef0=2.0),
    PolarMap(),
    PrototypeMap(prototypes=5, gamma=0.5, random_state=0),
    GaussianSeries(degree=12, sigma=2.5),
    RandomFourier(Gaussian(gamma=0.3), n_components=4000, random_state=0),
    RandomFourier(Laplacian(gamma=0.3), n_components=4000, random_state=0),
    RandomFourier("matern(nu=2.5)", n_components=4000, random_state=0),
    Nystrom(Gaussian(gamma=0.1), landmarks=40, random_state=0),
    Nystrom(Laplacian(gamma=0.05), landmarks=40, selection="uniform", random_state=0),
    SpectralMap(Gaussian(gamma=0.3)),
    SpectralMap("poly(degree=2)"),
]


def labels(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).choice([-1.0, 1.0], n)


def targets(n: int, seed: int = 0) -> Any:
    """Few different values, so that there are ties."""
    return np.random.default_rng(seed).integers(-3, 4, n) / 2


@dataclass(frozen=True)
class LossSpecimen:
    """A loss, targets for it, and its formula for one target and one score, written out independently."""

    loss: Loss
    targets: Callable[..., Any]
    formula: Callable[[float, float], float]
    mass: float = 0.0

    def __str__(self) -> str:
        return repr(self.loss)


LOSSES = [
    LossSpecimen(Hinge(), labels, lambda y, u: max(0.0, 1 - y * u)),
    LossSpecimen(SquaredHinge(), labels, lambda y, u: max(0.0, 1 - y * u) ** 2),
    LossSpecimen(HardMargin(), labels, lambda y, u: 0.0 if y * u >= 1 else np.inf),
    LossSpecimen(Logistic(), labels, lambda y, u: log(1 + exp(-y * u))),
    LossSpecimen(OneClass(), labels, lambda y, u: max(0.0, -u), mass=4.5),
    LossSpecimen(EpsilonInsensitive(0.25), targets, lambda y, u: max(0.0, abs(y - u) - 0.25)),
    LossSpecimen(EpsilonInsensitive(0.0), targets, lambda y, u: abs(y - u)),
    LossSpecimen(Squared(), targets, lambda y, u: (y - u) ** 2 / 2),
]

SOLVERS = [Decomposition(), Decomposition(working_set=16), QP()]
"""They solve every problem with a quadratic dual."""

SOME_PROBLEMS = [Newton(), NystromNewton(), CoordinateDescent(), Subgradient(), StochasticSubgradient(random_state=0)]
"""They solve some problems, and say of the others what they lack."""

RIDGE_SOLVERS = [Cholesky(), ConjugateGradient(), NormalEquations(), NystromCG()]
"""Kernel ridge regression alone."""


@dataclass(frozen=True)
class ProblemSpecimen:
    """A problem and, where they are known, its answer: beta and b."""

    name: str
    make: Callable[[], Problem]
    beta: Any = None
    b: float | None = None

    def __str__(self) -> str:
        return self.name


def two_classes(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Points and labels that overlap."""
    X = vectors(n, seed)
    noise = np.random.default_rng(seed + 1).normal(size=n)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * noise > 0, 1.0, -1.0)


def curve(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Points and noisy targets."""
    X = vectors(n, seed)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * np.random.default_rng(seed + 1).normal(size=n)


def _problem(kernel: Any, data: Callable[[], Any], loss: Loss, C: Any = 1.0, **rest: Any) -> Callable[[], Problem]:
    return lambda: Problem.of(kernel, *data(), loss, C, **rest)


THREE_POINTS = (np.array([[1.0, 3.0], [2.0, 1.0], [0.0, 1.0]]), np.array([1.0, 1.0, -1.0]))
OTHER_THREE = (np.array([[3.0, -1.0], [4.0, 3.0], [1.0, 1.0]]), np.array([1.0, 1.0, -1.0]))
XOR = (np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0]))
WEIGHTS = np.random.default_rng(5).uniform(0.2, 5.0, 60)

PROBLEMS = [
    ProblemSpecimen(
        "three points",
        _problem(Linear(), lambda: THREE_POINTS, HardMargin()),
        np.array([1 / 4, 3 / 8, -5 / 8]),
        -3 / 2,
    ),
    ProblemSpecimen(
        "three other points",
        _problem(Linear(), lambda: OTHER_THREE, HardMargin()),
        np.array([11 / 50, 3 / 25, -17 / 50]),
        -8 / 5,
    ),
    ProblemSpecimen("xor", _problem(Polynomial(), lambda: XOR, HardMargin()), XOR[1] / 8, 0.0),
    ProblemSpecimen("xor, soft", _problem(Polynomial(), lambda: XOR, Hinge(), 1.0), XOR[1] / 8, 0.0),
    ProblemSpecimen("hinge", _problem(Gaussian(0.3), two_classes, Hinge())),
    ProblemSpecimen("hinge, linear", _problem(Linear(), two_classes, Hinge(), 0.3)),
    ProblemSpecimen("hinge, weights", _problem(Gaussian(0.3), two_classes, Hinge(), WEIGHTS)),
    ProblemSpecimen("hinge, no bias", _problem(Gaussian(0.3), two_classes, Hinge(), 2.0, bias=False)),
    ProblemSpecimen("hard margin", _problem(Gaussian(1.0), two_classes, HardMargin())),
    ProblemSpecimen("hard margin, no bias", _problem(Gaussian(1.0), two_classes, HardMargin(), bias=False)),
    ProblemSpecimen("squared hinge", _problem(Gaussian(0.3), two_classes, SquaredHinge(), WEIGHTS)),
    ProblemSpecimen("squared hinge, no bias", _problem(Gaussian(0.3), two_classes, SquaredHinge(), bias=False)),
    ProblemSpecimen("one class", _problem(Gaussian(0.3), two_classes, OneClass(), mass=0.3 * 60)),
    ProblemSpecimen("one class, weights", _problem(Laplacian(0.3), two_classes, OneClass(), WEIGHTS, mass=20.0)),
    ProblemSpecimen("regression", _problem(Gaussian(0.3), curve, EpsilonInsensitive(0.1), 3.0)),
    ProblemSpecimen("regression, weights", _problem(Laplacian(0.3), curve, EpsilonInsensitive(0.1), WEIGHTS)),
    ProblemSpecimen("regression, epsilon 0", _problem(Gaussian(0.3), curve, EpsilonInsensitive(0.0), 0.5)),
    ProblemSpecimen("regression, no bias", _problem(Gaussian(0.3), curve, EpsilonInsensitive(0.1), bias=False)),
    ProblemSpecimen("ridge", _problem(Gaussian(0.3), curve, Squared(), WEIGHTS)),
    ProblemSpecimen("ridge, no bias", _problem(Gaussian(0.3), curve, Squared(), 10.0, bias=False)),
    ProblemSpecimen("logistic", _problem(Gaussian(0.3), two_classes, Logistic())),
    ProblemSpecimen("logistic, linear", _problem(Linear(), two_classes, Logistic(), 0.3)),
    ProblemSpecimen("logistic, weights", _problem(Laplacian(0.3), two_classes, Logistic(), WEIGHTS)),
    ProblemSpecimen("logistic, no bias", _problem(Gaussian(0.3), two_classes, Logistic(), 2.0, bias=False)),
]
QUADRATIC_PROBLEMS = [specimen for specimen in PROBLEMS if specimen.make().loss.quadratic]


def as_sparse(X: Any) -> Any:
    return csr_array(X)

"""The law of certificates: what is certified is the objective of what `predict` computes, on the points as given.

Primal and dual of every machine are recomputed from its attributes in extended precision, on the user's points, by the
plain formulas, and must agree with `certificate_` to within its stated rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from mercer import (
    SVC,
    SVR,
    KernelLogistic,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    OneClassSVM,
    Perceptron,
    certify,
    solve,
)
from mercer.estimators.certifying import _coefficients
from mercer.examination import Near, examine
from mercer.features import Nystrom
from mercer.gram import DenseGram, PointsGram
from mercer.kernels import Linear
from mercer.kernels import kernel as named
from mercer.losses import HardMargin, Squared
from mercer.problem import Problem
from mercer.solution import Status

from .zoo import as_sparse, curve, two_classes

LONG = np.longdouble
ORDINARY = 1e-9  # of the objective: what float64 sums may differ by


@dataclass(frozen=True)
class Fitted:
    """A machine to fit, and what on: "two" classes, "three", or a "curve"."""

    machine: Any
    data: str = "two"
    far: bool = True
    sparse: bool = True
    weights: bool = False

    def __str__(self) -> str:
        return repr(self.machine).replace("\n", "").replace(" ", "")


MACHINES = [
    Fitted(SVC("rbf(gamma=0.3)")),
    Fitted(SVC("rbf(gamma=0.3)", C=1e4, tol=1e-6)),
    Fitted(SVC("rbf(gamma=0.3)", bias=False, solver="qp"), weights=True),
    Fitted(SVC("rbf(gamma=1)", C=float("inf"))),
    Fitted(SVC("laplacian(gamma=0.3)", class_weight="balanced"), weights=True),
    Fitted(SVC("poly(degree=3, gamma=0.2)"), far=False),
    Fitted(SVC("matern + 0.1*linear"), far=False),
    Fitted(SVC("rbf(gamma=0.3)"), "three"),
    Fitted(SVC("rbf(gamma=0.3)", multiclass="ovr", C=50), "three"),
    Fitted(SVC("linear")),
    Fitted(SVC("linear", C=1e3, tol=1e-7), weights=True),
    Fitted(SVC("linear", C=0.1, bias=False), far=False),
    Fitted(SVC("linear", C=0.1, solver="subgradient", max_iter=50), far=False),
    Fitted(SVC("linear", C=10), "three"),
    Fitted(SVC("linear", C=10, multiclass="ovr"), "three"),
    Fitted(SVR("rbf(gamma=0.3)", C=10, epsilon=0.05), "curve", weights=True),
    Fitted(SVR("linear", C=1e3, tol=1e-7), "curve"),
    Fitted(SVR("laplacian(gamma=0.3)", epsilon=0, bias=False), "curve"),
    Fitted(OneClassSVM("rbf(gamma=0.3)", nu=0.2), weights=True),
    Fitted(OneClassSVM("linear", nu=0.2)),
    Fitted(LinearSVC()),
    Fitted(LinearSVC(loss="hinge", C=1e4, tol=1e-7)),
    Fitted(LinearSVC(loss="logistic", class_weight="balanced"), weights=True),
    Fitted(LinearSVC(bias="penalised", C=10), far=False),
    Fitted(LinearSVC(bias=False, C=10, loss="hinge"), far=False),
    Fitted(LinearSVC(C=10), "three"),
    Fitted(LinearSVC(solver="stochastic_subgradient", max_iter=30), far=False),
    Fitted(KernelLogistic("rbf(gamma=0.3)", C=10), weights=True),
    Fitted(KernelLogistic("rbf(gamma=0.3)", solver="nystromnewton(landmarks=20)"), "three"),
    Fitted(KernelLogistic("linear", C=10)),
    Fitted(KernelLogistic("poly(degree=2, gamma=0.1)"), far=False),
    Fitted(KernelRidge("rbf(gamma=0.3)", alpha=0.1), "curve", weights=True),
    Fitted(KernelRidge("rbf(gamma=0.3)", alpha=0.1, bias=True, solver="conjugategradient"), "curve"),
    Fitted(KernelRidge("linear", alpha=0.1, bias=True, solver="cholesky"), "curve", weights=True),
    Fitted(KernelRidge("linear", alpha=0.1, bias=True, solver="primal"), "curve"),
]
SETS = [(dtype, sparse, far) for dtype in ("f4", "f8") for sparse in (False, True) for far in (False, True)]
CASES = [(specimen, *kind) for specimen in MACHINES for kind in SETS if specimen.far or not kind[-1]]
MANY = [
    Fitted(SVC("rbf(gamma=0.3)")),
    Fitted(SVC("rbf(gamma=0.3)", C=100)),
    Fitted(SVC("rbf(gamma=0.3)", tol=1e-7)),
    Fitted(SVC("rbf(gamma=5)", C=float("inf"))),
    Fitted(SVC("poly(degree=3, gamma=0.2)", multiclass="ovr"), "three"),
    Fitted(SVC("laplacian(gamma=0.3)"), "three"),
    Fitted(SVC("linear", C=10)),
    Fitted(SVR("rbf(gamma=0.3)", C=10, epsilon=0.02), "curve"),
    Fitted(OneClassSVM("rbf(gamma=0.3)", nu=0.3)),
    Fitted(LinearSVC(C=100)),
    Fitted(KernelLogistic("rbf(gamma=0.3)")),
    Fitted(KernelRidge("rbf(gamma=0.3)", alpha=0.1), "curve"),
]


def points(specimen: Fitted, n: int, dtype: str, sparse: bool, far: bool) -> tuple[Any, Any, Any]:
    """X, y and weights."""
    X, y = curve(n) if specimen.data == "curve" else two_classes(n)
    if specimen.data == "three":
        y = np.digitize(X[:, 0] + 0.2 * y, [-0.5, 0.5])
    if far:
        X = X + (100.0 if dtype == "f4" else 1e5)
    X = X.astype(dtype)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 2.0], n) if specimen.weights else None
    return as_sparse(X) if sparse else X, y, weights


def of_machine(machine: Any, X: Any, y: Any, weights: Any) -> list[tuple[Any, Any, float]]:
    """Each problem with its points, beta and b, from the machine's attributes."""
    if isinstance(machine, KernelRidge):
        weight = np.ones(X.shape[0]) if weights is None else weights
        rows = np.flatnonzero(weight)
        task = Posed(np.asarray(y)[rows], Squared(), weight[rows] / machine.alpha_, bool(machine.bias), 0.0, rows)
        return [(task, machine.dual_coef_[rows], float(machine.intercept_))]
    blank = machine._unfitted()
    training = blank._training(X, y, weights)
    found = []
    betas = _coefficients(machine, blank, training, X)
    for task, beta, b in zip(training.tasks, betas, np.ravel(machine.intercept_), strict=True):
        rows = training.rows if task.rows is None else training.rows[task.rows]
        found.append((Posed(task.y, task.loss, task.C, task.bias, task.mass, rows), beta, float(b)))
    return found


@dataclass(frozen=True)
class Posed:
    """A problem, and where its points stand in X."""

    y: Any
    loss: Any
    C: Any
    bias: bool
    mass: float
    rows: Any


def scores(machine: Any, X: Any) -> Any:
    """f of each problem as the machine predicts it, as columns."""
    if isinstance(machine, SVR | KernelRidge):
        return machine.predict(X)[:, None]
    if isinstance(machine, SVC) and machine.classes_.size > 2 and machine.multiclass == "ovo":
        return machine.pairwise_decision_function(X)
    return machine.decision_function(X).reshape(X.shape[0], -1)


def square(gram: DenseGram, beta: Any) -> Any:
    """|w|^2 of w = sum beta_i phi(x_i). The linear kernel by w itself: far from the origin, K has lost its digits."""
    beta = beta.astype(LONG)
    if gram.kernel == Linear():
        w = beta @ gram.points.astype(LONG)
        return w @ w
    return beta @ (gram.matrix.astype(LONG) @ beta)


def objective(posed: Posed, norm: Any, f: Any, b: float) -> Any:
    """1/2 |w|^2 + sum C_i loss(y_i, f_i) + mass b; of a hard margin, of f scaled until it is feasible."""
    if isinstance(posed.loss, HardMargin):
        return 0.5 * norm / (posed.y * f).min() ** 2
    return 0.5 * norm + posed.C @ posed.loss.value(posed.y, f) + posed.mass * b


def primals(
    machine: Any, number: int, posed: Posed, gram: DenseGram, beta: Any, b: float, predicted: Any
) -> list[float]:
    """The objective, by the attributes, and by what is predicted."""
    if machine._coef is None:
        norm, f = square(gram, beta), gram.matrix.astype(LONG) @ beta.astype(LONG) + b
    else:
        w = np.atleast_2d(machine.coef_)[number].astype(LONG)
        norm, f = w @ w, gram.points.astype(LONG) @ w + b
        norm += b * b if getattr(machine, "bias", True) == "penalised" else 0.0
    return [float(objective(posed, norm, np.asarray(values, np.float64), b)) for values in (f, predicted)]


def check(machine: Any, X: Any, y: Any, weights: Any) -> None:
    """The law."""
    points, predicted = (X.toarray() if issparse(X) else X).astype(np.float64), scores(machine, X)
    solutions = machine.solution_ if isinstance(machine.solution_, tuple) else (machine.solution_,)
    unit = getattr(machine, "alpha_", 1.0)  # ridge regression is certified in values of J
    for number, (posed, beta, b) in enumerate(of_machine(machine, X, y, weights)):
        certificate, solution = machine.certificates_[number], solutions[number]
        gram = DenseGram.compute(machine.kernel_, points[posed.rows])
        size = max(abs(certificate.primal), abs(certificate.dual))
        point = beta if solution.dual_beta is None else solution.dual_beta
        stated = certificate.rounding + ORDINARY * size
        if posed.mass:  # an objective that is no more than rounding of its terms counts as 0
            stated += 1e-15 * float(np.abs(point) @ np.sqrt(gram.diag())) ** 2
        for primal in primals(machine, number, posed, gram, beta, b, predicted[posed.rows, number]):
            assert abs(unit * primal - certificate.primal) <= stated
        problem = Problem(gram, posed.y, posed.loss, posed.C, posed.bias, posed.mass)
        dual = -0.5 * square(gram, point) - problem.conjugates(point).astype(LONG).sum()
        assert problem.feasibility(point) <= 1e-9
        assert abs(unit * dual - certificate.dual) <= stated
        if certificate.status is Status.CONVERGED:
            assert certificate.primal - certificate.dual + certificate.rounding <= machine.tol * size


@pytest.mark.parametrize(("specimen", "dtype", "sparse", "far"), CASES, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_law(specimen: Fitted, dtype: str, sparse: bool, far: bool) -> None:
    X, y, weights = points(specimen, 60, dtype, sparse, far)
    machine = clone(specimen.machine).fit(X, y, weights)
    check(machine, X, y, weights)


@pytest.mark.parametrize("specimen", MANY, ids=str)
@pytest.mark.parametrize("n", [400, 2000])
def test_the_law_for_more_points(specimen: Fitted, n: int) -> None:
    """Compiled loops and float32 kernel values, whose rounding is a tenth of the tolerance at most."""
    X, y, weights = points(specimen, n, "f4", False, False)
    machine = clone(specimen.machine).fit(X, y, weights)
    check(machine, X, y, weights)
    for certificate in machine.certificates_:
        assert certificate.converged
        assert certificate.rounding <= 0.1 * machine.tol * abs(certificate.primal)


def test_a_rough_hard_margin() -> None:
    """Its coefficients are scaled until all margins are met; the dual point is what they were before."""
    X, y, _ = points(MACHINES[3], 400, "f8", False, False)
    machine = SVC("rbf(gamma=5)", C=float("inf"), tol=0.2).fit(X, y)
    assert machine.certificate_.relative_gap > 1e-3
    check(machine, X, y, None)


# What was found to be wrong once.

SCATTERED = [[0.1, 0.2], [0.3, 0.1], [0.2, 0.3003], [0.4, 0.3001], [3000, 0], [0, -3000]]


@pytest.mark.parametrize("machine", [SVC("linear", C=1e4), LinearSVC(loss="hinge", C=1e4)], ids=repr)
def test_points_are_not_rounded_around_their_mean(machine: Any) -> None:
    X, y = np.array(SCATTERED, np.float32), np.array([1, 1, -1, -1, 1, 1])
    machine = clone(machine).fit(X, y)
    check(machine, X, y, None)
    exact = clone(machine).fit(X.astype(np.float64), y).certificate_
    assert machine.certificate_.primal == pytest.approx(exact.primal, rel=1e-4)
    assert certify(machine, X, y).primal == pytest.approx(machine.certificate_.primal, rel=1e-9)


def test_large_coefficients_of_float32_points() -> None:
    """beta of 2e7, of which w is the small difference: it is that of the points as given."""
    generator = np.random.default_rng(0)
    X = (generator.normal(size=(200, 5)) + 20).astype(np.float32)
    y = np.where(X[:, 0] - 20 + 0.3 * generator.normal(size=200) > 0, 1, -1)
    machine = SVC("linear", C=2e7).fit(X, y)
    w = machine.dual_coef_[0].astype(LONG) @ X[machine.support_].astype(LONG)
    assert np.abs(w - machine.coef_[0]).max() <= 1e-5
    check(machine, X, y, None)
    gaussian = SVC("rbf(gamma=0.05)", C=1e8, tol=1e-2).fit(X, y)
    f = gaussian.decision_function(X) - gaussian.decision_function(X.astype(np.float64))
    assert np.abs(f).max() <= 1e-9 * np.abs(gaussian.dual_coef_).sum() * 1e-3


@pytest.mark.parametrize("scale", [1e-25, 1e19, 1e30])
@pytest.mark.parametrize("n", [60, 600])
def test_float32_points_whose_squares_are_no_float32_numbers(n: int, scale: float) -> None:
    X, y = two_classes(n)
    X = (X * scale).astype(np.float32)
    machine, other = SVC("rbf").fit(X, y), SVC("rbf").fit(X.astype(np.float64), y)
    assert machine.certificate_.converged
    check_predictions = np.abs(machine.decision_function(X) - other.decision_function(X.astype(np.float64)))
    assert check_predictions.max() <= 1e-2
    K = machine.kernel_
    assert np.abs(K(X) - K(X.astype(np.float64))).max() <= 1e-5
    assert (
        np.abs(K.product(X, X[:300], np.ones(min(n, 300))) - K(X.astype(np.float64))[:, :300].sum(axis=1)).max() <= 1e-3
    )
    far = np.concatenate([X[:1] * np.float32(1e-3), X[1:]])  # among others, in range
    assert np.isfinite(machine.decision_function(far)).all()


def with_some_far_out() -> tuple[Any, Any]:
    """Points of float32, of which one in 500 is 1,000 times as far out."""
    X, y = two_classes(3000)
    X = X.astype(np.float32)
    X[7::500] *= np.float32(1000)
    return X, y


@pytest.mark.parametrize("kernel", ["2*rbf(gamma=0.3)+linear", "poly(degree=2,coef0=1,gamma=0.05)"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_points_far_out_in_a_kernel_without_bounds(kernel: str) -> None:
    X, y = with_some_far_out()
    machine = SVC(kernel, tol=1e-3, max_iter=30).fit(X, y)
    check(machine, X, y, None)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("kernel", ["2*rbf(gamma=0.3)+linear", "poly(degree=2,coef0=1,gamma=0.05)"])
def test_errors_of_points_far_out_are_not_those_of_others(kernel: str, sampled: bool) -> None:
    """K beta of a solver is wrong by a part of sqrt(k(x,x)): the loss of few points far out is not missed. (Scores of
    those that cannot have a loss remain as they are.)
    """
    X, y = with_some_far_out()
    problem = Problem(PointsGram(named(kernel), X, "100MB"), y)
    beta = np.where(np.abs(X[:, 0]) < 0.1, 0.01 * y, 0.0)
    beta[7::500] = 0.0
    beta[np.flatnonzero(beta)[0]] -= beta.sum()
    true = problem.gram.recompute(beta)
    length = np.sqrt(problem.gram.diag())
    error = 2.0 * np.abs(true[7::500] / length[7::500]).max()
    wrong = true + np.where(y > 0, 1.0, -1.0) * error * length
    near = Near(wrong, error * length, single=True, sampled=sampled)
    certificate, scores, b = examine(problem, beta, near=near)
    exact, _, _ = examine(problem, beta, b)
    assert abs(certificate.primal - exact.primal) <= certificate.rounding + ORDINARY * exact.primal
    losses, true_losses = (problem.loss.value(problem.y, f + b) for f in (scores, true))
    assert (losses[7::500][true_losses[7::500] > 0.0] > 0.0).all()
    np.testing.assert_allclose(losses / length, true_losses / length, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("C", "loose"), [(1.0, 1e-5), (1.0, 1e-3), (10.0, 1e-4)])
@pytest.mark.parametrize("kernel", ["rbf(gamma=0.5)", "laplacian(gamma=0.3)"])
def test_float32_hides_no_more_of_the_gap_than_is_said(kernel: str, loose: float, C: float) -> None:
    """The true gap is never above that of the certificate with its rounding; primal and dual are within the tolerance.
    Of coefficients at a bound the errors in the two cancel: the gap is known better than they are.
    """
    X, y, _ = points(MACHINES[0], 4000, "f4", False, False)
    y = np.where(np.random.default_rng(3).random(y.size) < 0.2, -y, y)  # many are at a bound
    problem = Problem(PointsGram(named(kernel), X, "200MB"), y, C=C)
    beta = solve(problem, tol=loose).beta
    certificate, _, b = examine(problem, beta, near=Near(None, np.inf, single=True, sampled=True), tol=loose)
    exact, _, _ = examine(problem, beta, b)
    size = exact.primal
    assert 0.0 < certificate.rounding <= loose * size and certificate.primal != exact.primal  # it was float32
    assert exact.gap <= certificate.gap + ORDINARY * loose * size
    for found, true in ((certificate.primal, exact.primal), (certificate.dual, exact.dual)):
        assert abs(found - true) <= loose * size
    both, _, _ = examine(problem, beta, near=Near(None, np.inf, single=True, sampled=True))  # with nothing asked
    assert certificate.rounding < both.rounding
    assert max(abs(both.primal - exact.primal), abs(both.dual - exact.dual)) <= both.rounding


def test_values_too_rough_are_float64() -> None:
    """A tolerance that float32 values cannot prove is proved by float64 ones, and they leave no rounding."""
    X, y, _ = points(MACHINES[0], 4000, "f4", False, False)
    problem = Problem(PointsGram(named("rbf(gamma=0.5)"), X, "200MB"), np.where(X[:, 2] > 0, y, -y), C=100.0)
    beta = solve(problem, tol=1e-8).beta
    certificate, _, _ = examine(problem, beta, near=Near(None, np.inf, single=True, sampled=True), tol=1e-9)
    assert certificate.rounding <= 1e-12 * certificate.primal and np.count_nonzero(beta) > 1024


# NumPy's settings are the user's; ours are the default ones.

ALL_MACHINES = [specimen.machine for specimen in MACHINES] + [Perceptron(), KernelPerceptron("rbf(gamma=1000)")]


@pytest.mark.parametrize("machine", ALL_MACHINES, ids=lambda machine: str(machine).replace("\n", "").replace(" ", ""))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mercer.estimators.ScaleWarning")
def test_numpys_settings_do_not_matter(machine: Any) -> None:
    """With points whose squares underflow, and others that are so far away that kernel values do."""
    X, y = curve(40) if isinstance(machine, SVR | KernelRidge) else two_classes(40)
    X = np.where(np.arange(40) % 5, 1.0, 50.0)[:, None] * X * [1.0, 1.0, 1.0, 1e-200]
    plain = clone(machine).fit(X, y)
    with np.errstate(all="raise"):
        strict = clone(machine).fit(X, y)
        values = [getattr(strict, name)(X) for name in METHODS if hasattr(strict, name)]
    for name, value in zip([name for name in METHODS if hasattr(strict, name)], values, strict=True):
        np.testing.assert_array_equal(value, getattr(plain, name)(X))


def test_numpys_settings_do_not_matter_to_feature_maps() -> None:
    X, y = two_classes(40)
    X = np.where(np.arange(40) % 5, 1.0, 50.0)[:, None] * X * [1.0, 1.0, 1.0, 1e-200]
    model = make_pipeline(Nystrom("rbf(gamma=10)", landmarks=10, random_state=0), LinearSVC())
    plain = clone(model).fit(X, y).decision_function(X)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(clone(model).fit(X, y).decision_function(X), plain)


METHODS = ("predict", "decision_function", "predict_proba", "score_samples", "pairwise_decision_function")

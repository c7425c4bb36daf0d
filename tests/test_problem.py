"""The problem and its certificate: weak duality, shares of the gap, and damage that is caught."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.driver import solve
from mercer.examination import Products, accounts, examine
from mercer.gram import DenseGram
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.losses import EpsilonInsensitive, HardMargin, Hinge, Logistic, OneClass, Squared, SquaredHinge
from mercer.problem import Problem
from mercer.solution import Certificate, Status, Step
from mercer.solvers import QP, Decomposition

from .zoo import PROBLEMS, QUADRATIC_PROBLEMS, THREE_POINTS, curve, two_classes

every_problem = pytest.mark.parametrize("specimen", PROBLEMS, ids=str)
every_soft_problem = pytest.mark.parametrize(
    "specimen", [p for p in PROBLEMS if p.make().loss != HardMargin()], ids=str
)


def feasible(problem, seed):
    """Random coefficients within their bounds and with the right sum, some of them at a bound."""
    generator = np.random.default_rng(seed)
    lo, hi = np.clip(problem.bounds, -2.0, 2.0)
    beta = np.clip(lo + (hi - lo) * generator.uniform(-0.2, 1.2, problem.n), lo, hi)
    if not problem.bias:
        return beta
    lack = problem.mass - beta.sum()
    room = hi - beta if lack > 0 else beta - lo
    return beta + lack * room / room.sum()


@every_problem
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_primal_is_below_a_dual(specimen, seed):
    problem = specimen.make()
    beta, other = feasible(problem, seed), feasible(problem, seed + 1)
    assert problem.feasibility(beta) <= 1e-12
    generator = np.random.default_rng(seed)
    b = float(generator.normal()) if problem.bias else 0.0
    anything = generator.normal(size=problem.n)
    for primal in (problem.primal(beta, b), problem.primal(anything, b), problem.certify(beta).primal):
        assert primal >= problem.dual(other) - 1e-9 * abs(problem.dual(other))
    certificate = problem.certify(anything, b, dual_beta=other)
    assert certificate.dual == pytest.approx(problem.dual(other))
    assert certificate.gap >= 0.0


@every_soft_problem
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_the_sum_of_its_shares(specimen, seed):
    problem = specimen.make()
    beta = feasible(problem, seed)
    for b in (None, 0.7) if problem.bias else (None,):
        certificate = problem.certify(beta, b)
        assert (certificate.residuals >= -1e-9).all()
        assert certificate.residuals.sum() == pytest.approx(certificate.gap, rel=1e-9)


@every_problem
@pytest.mark.parametrize("seed", range(3))
def test_accounts_are_the_sums_that_define_them(specimen, seed):
    """One compiled pass gives what the plain formulas give, inside the bounds of the dual and outside."""
    problem = specimen.make()
    b = 0.7 if problem.bias else 0.0
    for beta, other in (
        (feasible(problem, seed), feasible(problem, seed + 1)),
        (feasible(problem, seed), feasible(problem, seed) + 1e-3),
    ):
        products = Products(problem.gram.product64(beta), problem.gram.product64(other))
        found = accounts(problem, beta, b, other, products)
        assert found.primal == pytest.approx(problem.primal(beta, b, products.scores), rel=1e-12)
        assert found.feasibility == pytest.approx(problem.feasibility(other), rel=1e-9, abs=1e-15)
        dual = problem.dual(other, products.dual_scores) if found.feasibility < 1e-9 else -np.inf
        assert found.dual == pytest.approx(dual, rel=1e-12)
        assert found.norm == pytest.approx(other @ products.dual_scores, rel=1e-12)
        assert found.violation == pytest.approx(problem.violation(other, products.dual_scores), rel=1e-12)
        if problem.loss != HardMargin():
            f = products.scores + b
            shares = problem.C * problem.loss.value(problem.y, f) + problem.conjugates(other) + other * f
            assert_allclose(found.residuals, shares, rtol=1e-10, atol=1e-12)


@every_problem
def test_the_best_bias_is_the_best(specimen):
    problem = specimen.make()
    scores = problem.gram.product64(feasible(problem, 0))
    beta, best = feasible(problem, 0), problem.best_bias(scores)
    if not problem.bias:
        assert best == 0.0
        return
    for b in best + np.array([-1.0, -1e-2, 1e-2, 1.0]):
        assert problem.primal(beta, best) <= problem.primal(beta, b) + 1e-9


def damaged(problem, solution):
    """The answer with one thing changed, in every way that there is."""
    beta, generator = solution.beta, np.random.default_rng(0)
    largest = int(np.abs(beta).argmax())
    lo, hi = problem.bounds
    for i in np.flatnonzero(np.isfinite(hi))[:2]:
        yield "above a bound", np.where(np.arange(problem.n) == i, hi + 0.1, beta)
    for i in np.flatnonzero(np.isfinite(lo))[:2]:
        yield "below a bound", np.where(np.arange(problem.n) == i, lo - 0.1, beta)
    for wrong in (np.nan, np.inf, -np.inf):
        yield "not a number", np.where(np.arange(problem.n) == largest, wrong, beta)
    yield "larger", 1.5 * beta
    yield "smaller", 0.5 * beta
    yield "negated", -beta
    yield "permuted", beta[generator.permutation(problem.n)]
    yield "one left out", np.where(np.arange(problem.n) == largest, 0.0, beta)
    if problem.bias:
        yield "sum broken", beta + np.where(np.arange(problem.n) == largest, 1e-3 * beta, 0.0)


@pytest.mark.parametrize("specimen", [p for p in QUADRATIC_PROBLEMS if p.make().loss != HardMargin()], ids=str)
def test_damage_is_caught(specimen):
    problem = specimen.make()
    solution = solve(problem, QP(), tol=1e-8)
    assert solution.certificate.relative_gap <= 1e-8
    for what, beta in damaged(problem, solution):
        assert problem.certify(beta).relative_gap > 1e-5, what
        assert problem.certify(beta, solution.b).relative_gap > 1e-5, what
    if problem.bias:
        assert problem.certify(solution.beta, solution.b + 1.0).relative_gap > 1e-5


def test_a_hard_margin_has_no_scale_of_its_own_but_damage_is_caught():
    problem = Problem.of(Gaussian(1.0), *two_classes(), HardMargin())
    solution = solve(problem, QP(), tol=1e-8)
    for what, beta in damaged(problem, solution):
        assert problem.certify(beta).relative_gap > 1e-5, what
    assert problem.certify(0.5 * solution.beta).primal == pytest.approx(problem.certify(solution.beta).primal)


def test_a_certificate_is_recomputed():
    X, y = two_classes()
    problem = Problem.of(Gaussian(0.3), X, y)
    beta = feasible(problem, 0)
    K = Gaussian(0.3)(X)
    f = K @ beta
    b = problem.best_bias(f)
    primal = beta @ K @ beta / 2 + np.maximum(0.0, 1 - y * (f + b)).sum()
    dual = (beta * y).sum() - beta @ K @ beta / 2
    assert_allclose((problem.certify(beta).primal, problem.certify(beta).dual), (primal, dual))
    wrong = DenseGram(np.zeros_like(K), problem.gram.kernel, problem.gram.points)  # holds what is not true
    certificate = Problem(wrong, y).certify(beta)
    assert_allclose((certificate.primal, certificate.dual), (primal, dual))


def test_scores_that_are_not_true_are_found_out():
    X, y = two_classes(2600)
    problem = Problem.of(Gaussian(0.3), X, y, C=1e-3)
    solution = solve(problem, tol=1e-6)
    true = problem.gram.product64(solution.beta)
    good, _, _ = examine(problem, solution.beta, scores=true)
    assert good.rounding <= 1e-12 and good.relative_gap <= 1e-6
    false, _, _ = examine(problem, solution.beta, scores=true + 0.01 * y)
    assert false.rounding >= 0.5 * abs(false.primal - false.dual - (good.primal - good.dual))
    assert false.relative_gap > 1e-4


@pytest.mark.parametrize(
    "loss", [Hinge(), SquaredHinge(), HardMargin(), EpsilonInsensitive(0.1), Squared(), Logistic()], ids=repr
)
@pytest.mark.parametrize("seed", range(3))
def test_rounding_covers_what_float32_changes(loss, seed):
    X, y = curve(2600, seed) if isinstance(loss, EpsilonInsensitive | Squared) else two_classes(2600, seed)
    X = 3 * X.astype(np.float32)
    if loss == HardMargin():
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = Problem.of(Gaussian(0.1), X, y, loss, 10.0)

    def examined(beta, dual_beta=None):
        both = beta if dual_beta is None else np.column_stack([beta, dual_beta])
        exact = problem.certify(beta, dual_beta=dual_beta)
        single, _, _ = examine(problem, beta, None, dual_beta, scores=problem.gram.recompute(both, dtype=np.float32))
        return exact, single

    beta = feasible(problem, seed) if loss != HardMargin() else 0.02 * y
    exact, single = examined(beta)
    assert exact.rounding == 0.0
    assert 0.0 < single.rounding <= 1e-3 * abs(single.primal)
    assert single.gap >= exact.gap * (1 - 1e-12)
    exact, single = examined(beta, feasible(problem, seed + 1))
    assert single.gap >= exact.gap * (1 - 1e-12)


def test_a_dual_point_of_its_own():
    X, y = two_classes()
    problem = Problem.of(Gaussian(0.3), X, y)
    best = solve(problem, QP(), tol=1e-8)
    rough = best.beta + 0.01 * np.random.default_rng(0).normal(size=60)  # not feasible in the dual
    assert problem.certify(rough).relative_gap == np.inf
    certificate = problem.certify(rough, dual_beta=best.beta)
    assert certificate.dual == pytest.approx(best.certificate.dual)
    assert 0.0 < certificate.relative_gap < 0.1
    K = Gaussian(0.3)(X)
    apart = rough - best.beta
    assert certificate.gap == pytest.approx(apart @ K @ apart / 2 + certificate.residuals.sum())
    assert problem.certify(best.beta, dual_beta=1.01 * best.beta).relative_gap == np.inf
    assert problem.certify(best.beta, dual_beta=np.full(60, np.nan)).relative_gap == np.inf


def test_a_smooth_dual_is_certified_too():
    X, y = two_classes()
    problem = Problem.of(Gaussian(0.3), X, y, Logistic(), 2.0)
    beta = feasible(problem, 0)
    K = Gaussian(0.3)(X)
    f = K @ beta
    b = problem.best_bias(f)
    p = y * beta / 2.0
    inside = p[(p > 0) & (p < 1)]
    entropy = (inside * np.log(inside) + (1 - inside) * np.log(1 - inside)).sum()
    certificate = problem.certify(beta)
    assert certificate.primal == pytest.approx(beta @ f / 2 + 2 * np.log(1 + np.exp(-y * (f + b))).sum())
    assert certificate.dual == pytest.approx(-beta @ f / 2 - 2 * entropy)
    assert certificate.kkt_violation == pytest.approx(np.abs(p - 1 / (1 + np.exp(y * (f + b)))).max())
    assert problem.certify(beta + 3.0).relative_gap == np.inf
    for solver in (QP(), Decomposition()):
        with pytest.raises(ValueError, match=r"needs a loss with a quadratic dual, and that of Logistic\(\) is not"):
            solve(problem, solver)


def test_the_proof_that_classes_meet_can_be_checked():
    X = np.array([[0.0], [2.0], [1.0], [3.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    problem = Problem.of(Linear(), X, y, HardMargin())
    certificate = problem.certify(np.array([1.0, 1.0, -2.0, 0.0]))
    assert certificate.status is Status.INFEASIBLE
    proof = certificate.proof
    assert (proof.weights >= 0).all()
    assert_allclose([proof.weights[y > 0].sum(), proof.weights[y < 0].sum()], 1.0)
    signed = y * proof.weights
    assert np.sqrt(max(signed @ Linear()(X) @ signed, 0.0)) == pytest.approx(proof.distance, abs=1e-12)
    assert proof.distance <= proof.bound < 1e-5
    assert "these points of theirs are 0 apart" in str(certificate)
    assert "\n  0.5 phi(x[0]) + 0.5 phi(x[1])\n  1 phi(x[2])" in str(certificate)
    for no_proof in ([1.0, 1.0, -1.0, -1.0], [0.0, 1.0, -1.0, 0.0], [-1.0, 1.0, -2.0, 2.0], [0.0, 0.0, 0.0, 0.0]):
        assert problem.certify(np.array(no_proof)).proof is None


def test_the_proof_without_a_bias():
    X, y = np.array([[1.0], [-2.0]]), np.array([1.0, 1.0])  # both on one side of the origin: impossible
    problem = Problem.of(Linear(), X, y, HardMargin(), bias=False)
    certificate = problem.certify(np.array([2.0, 1.0]))
    assert certificate.status is Status.INFEASIBLE
    assert_allclose(certificate.proof.weights, [2 / 3, 1 / 3])
    assert "is 0 from zero" in str(certificate)
    assert "\n  0.667 phi(x[0]) + 0.333 phi(x[1])" in str(certificate)
    assert problem.certify(np.array([1.0, 1.0])).proof is None


def test_an_indefinite_kernel_is_told():
    K = np.array([[1.0, 3.0], [3.0, 1.0]])
    problem = Problem.of(Precomputed(), K, np.array([1.0, -1.0]))
    certificate = problem.certify(np.array([1.0, -1.0]))
    assert certificate.status is Status.INDEFINITE
    assert "not positive definite" in str(certificate) and "best possible" not in str(certificate)
    apart = problem.certify(np.array([1.0, -1.0]), dual_beta=np.zeros(2))
    assert apart.status is Status.INDEFINITE


def test_rounding_of_a_tiny_answer_is_no_proof_against_the_kernel():
    X, y = two_classes(n=600)
    problem = Problem.of(Gaussian(0.5), X, y, C=10.0)
    beta = np.zeros(600)
    beta[:4] = 1e-12 * y[:4]
    scores = np.column_stack([-1e-11 * y, np.zeros(600)])
    certificate, _, _ = examine(problem, beta, None, np.zeros(600), scores=scores)
    assert certificate.status is None


def test_coefficients_of_zero_need_no_kernel_value(monkeypatch):
    X, y = two_classes(n=60)
    problem = Problem.of(Gaussian(0.5), X, y)
    monkeypatch.setattr(DenseGram, "recompute", None)
    certificate, scores, _ = examine(problem, np.zeros(60))
    assert not scores.any() and certificate.dual == 0.0 < certificate.primal


def test_zero_coefficients():
    X, y = two_classes()
    problem = Problem.of(Gaussian(0.3), X, y, OneClass(), mass=10.0)
    certificate = problem.certify(np.zeros(60))
    assert certificate.feasibility == np.inf and certificate.relative_gap == np.inf
    assert Problem.of(Gaussian(0.3), X, y).certify(np.zeros(60)).dual == 0.0
    constant = Problem.of(Gaussian(0.3), X, np.zeros(60), Squared())
    certificate = constant.certify(np.zeros(60))
    assert certificate.relative_gap == 0.0 and certificate.primal == certificate.dual == 0.0  # 0/0 := 0


def test_the_known_margin():
    X, y = THREE_POINTS
    problem = Problem.of(Linear(), X, y, HardMargin())
    beta = np.array([1 / 4, 3 / 8, -5 / 8])
    certificate = problem.certify(beta, -3 / 2)
    assert certificate.relative_gap <= 1e-12 and certificate.kkt_violation <= 1e-12
    assert_allclose(beta @ X, [1.0, 0.5])
    assert 1 / np.sqrt(2 * certificate.primal) == pytest.approx(2 / np.sqrt(5))


def test_wrong_input_is_one_clear_error():
    X, y = two_classes(10)
    wrong = [
        ({"y": y[:5]}, r"y must be 10 finite numbers, one per point; its shape is \(5,\)"),
        ({"y": y[:, None]}, r"its shape is \(10, 1\)"),
        ({"y": np.where(y > 0, np.nan, y)}, "some are NaN"),
        ({"y": 2 * y}, r"needs labels -1 and \+1, not -?2"),
        ({"C": 0.0}, "C must be a finite number > 0"),
        ({"C": -1.0}, "C must be"),
        ({"C": np.inf}, "A hard margin is loss=HardMargin"),
        ({"C": np.nan}, "C must be"),
        ({"C": np.ones(5)}, "or 10 of them"),
        ({"C": np.arange(10.0)}, "C must be"),
        ({"loss": OneClass(), "mass": 11.0}, "The mass must be between 0 and 10, what all beta can sum to, not 11"),
        ({"loss": OneClass(), "mass": -1.0}, "The mass must be"),
        ({"loss": OneClass(), "mass": np.nan}, "The mass must be"),
    ]
    for changed, message in wrong:
        with pytest.raises(ValueError, match=message):
            Problem.of(Gaussian(0.3), **({"X": X, "y": y} | changed))
    for loss in ("hinge", Hinge, None):
        with pytest.raises(TypeError, match=r"The loss must be an object of mercer.losses, such as Hinge\(\), not"):
            Problem.of(Gaussian(0.3), X, y, loss)
    problem = Problem.of(Gaussian(0.3), X, y)
    with pytest.raises(ValueError, match=r"beta must have one coefficient per point: 10, not \(3,\)"):
        problem.certify(np.zeros(3))
    with pytest.raises(ValueError, match="dual_beta must have"):
        problem.certify(np.zeros(10), dual_beta=np.zeros(3))
    with pytest.raises(ValueError, match="has no bias"):
        Problem.of(Gaussian(0.3), X, y, bias=False).certify(np.zeros(10), 1.0)


def test_a_problem_keeps_its_own_numbers():
    X, y = two_classes(10)
    C = np.ones(10)
    problem = Problem.of(Gaussian(0.3), X, y, C=C)
    y[:], C[:] = 0.0, 0.0
    assert set(problem.y) == {-1.0, 1.0} and (problem.C == 1.0).all()


@pytest.mark.digits
def test_certificates_read_well():
    certificate = Certificate(2.0, 1.998, 1e-6, 0.01, 0.0, Status.CONVERGED)
    assert str(certificate) == (
        "converged\n  within 0.10% of the best possible (relative gap 1.0e-03)"
        "\n  primal 2, dual 1.998, gap 2.00e-03, rounding 1.0e-06"
        "\n  largest KKT violation 1.0e-02, feasibility 0.0e+00"
    )
    assert certificate.converged
    assert "nothing useful is proved" in str(Certificate(np.inf, -np.inf))
    assert Certificate(np.nan, 0.0).relative_gap == np.inf
    assert str(Status.OUT_OF_TIME).startswith("out of time: raise time_limit")
    step = Step(1, 4.0, 3.0, 2, 0.1)
    assert step.gap == 1.0 and step.relative_gap == 0.25
    text = str(solve(Problem.of(Polynomial(), *two_classes(20)), QP()))
    assert "QP(solver='clarabel', form='dual'): 1 rounds" in text and "converged" in text

"""Solvers: all of them reach the same answer, the known one where there is one; and what the QP is made of."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.driver import solve
from mercer.estimators import KernelRidge
from mercer.gram import gram_of
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.losses import EpsilonInsensitive, HardMargin, Hinge, OneClass, Squared, SquaredHinge
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import QP, Decomposition, Solver, choose, decomposition, solver

from . import PATIENCE
from .zoo import (
    PROBLEMS,
    QUADRATIC_PROBLEMS,
    RIDGE_SOLVERS,
    SOLVERS,
    SOME_PROBLEMS,
    THREE_POINTS,
    XOR,
    curve,
    two_classes,
)

every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)
every_problem = pytest.mark.parametrize("specimen", QUADRATIC_PROBLEMS, ids=str)
ENDED = {Status.CONVERGED, Status.STALLED, Status.INFEASIBLE, Status.OUT_OF_ITERATIONS, Status.OUT_OF_TIME}


@pytest.fixture(autouse=True)
def _cut_small_problems(request, monkeypatch):
    """For the solver with small working sets, problems that could be solved whole are cut too."""
    if "solver" in request.fixturenames and request.getfixturevalue("solver") == Decomposition(16):
        monkeypatch.setattr(decomposition, "WHOLE", 20)


def rounding(problem, beta):
    """Of beta'K beta, whose terms may nearly cancel, in parts of (sum |beta_i| |x_i|)^2, the largest it could be."""
    return 4.0 * np.finfo(float).eps * float(np.abs(beta) @ np.sqrt(np.abs(problem.gram.diag()))) ** 2


def is_honest(problem, solution):
    """Whether what is said of an answer is true of it."""
    certificate = problem.certify(solution.beta, solution.b)
    assert solution.status in ENDED
    rounded = solution.status is Status.INFEASIBLE  # to scale beta changes the rounding of all that is left
    lost = rounding(problem, solution.beta) / max(abs(certificate.primal), 1e-300)
    assert_allclose(certificate.primal, solution.certificate.primal, rtol=0.1 if rounded else 1e-6 + lost)
    if solution.status is Status.CONVERGED:
        return certificate.relative_gap <= 1.01e-4
    if solution.status is Status.INFEASIBLE:
        return certificate.proof is not None and certificate.proof.distance <= certificate.proof.bound
    return True


@every_solver
@every_problem
def test_every_solver_reaches_the_answer(specimen, solver):
    problem = specimen.make()
    solution = solve(problem, solver, tol=1e-8, time_limit=PATIENCE)
    assert solution.status is Status.CONVERGED
    best = solve(problem, QP(), tol=1e-8).certificate
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-6)
    assert solution.certificate.dual == pytest.approx(best.dual, rel=1e-6)
    assert problem.certify(solution.beta, solution.b).relative_gap <= 1e-6
    if specimen.beta is not None:
        assert_allclose(solution.beta, specimen.beta, atol=1e-6)
        assert solution.b == pytest.approx(specimen.b, abs=1e-6)


@pytest.mark.parametrize("solver", SOME_PROBLEMS, ids=lambda solver: type(solver).__name__)
def test_every_other_solver_reaches_the_answer_or_says_what_it_lacks(solver):
    solved = 0
    for specimen in PROBLEMS:
        problem = specimen.make()
        try:
            solver.check(problem)
        except ValueError:
            with pytest.raises(ValueError, match=type(solver).__name__):
                solve(problem, solver)
            continue
        solution = solve(problem, solver, tol=1e-3, time_limit=PATIENCE)
        assert solution.status is Status.CONVERGED, specimen
        assert problem.primal(solution.beta, solution.b) == pytest.approx(solution.certificate.primal, rel=1e-6)
        best = solve(problem, tol=1e-8, time_limit=PATIENCE).certificate
        assert -1e-9 * abs(best.dual) <= solution.certificate.primal - best.dual <= 1.1e-3 * abs(best.dual)
        assert solution.certificate.dual <= best.primal * (1 + 1e-9)
        solved += 1
    assert solved


@pytest.mark.parametrize("solver", RIDGE_SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("bias", [True, False])
def test_every_solver_of_ridge_regression_reaches_the_answer(solver, bias):
    X, t = curve(80)
    X -= X.mean(axis=0)
    ridge = KernelRidge("linear", alpha=0.3, bias=bias, solver=solver, tol=1e-9, random_state=0).fit(X, t)
    assert ridge.certificate_.status is Status.CONVERGED
    centred = t - t.mean() if bias else t
    weights = np.linalg.solve(X.T @ X + 0.3 * np.eye(4), X.T @ centred)
    assert_allclose(ridge.predict(X), X @ weights + (t.mean() if bias else 0.0), atol=1e-6)


@pytest.mark.parametrize("working_set", [64, 1024, 4096])
def test_working_sets_of_any_size_reach_the_answer(working_set):
    X, y = two_classes(2200)
    whole = solve(Problem.of(Gaussian(0.3), X[:2000], y[:2000]), Decomposition(working_set), tol=1e-8)
    cut = solve(Problem.of(Gaussian(0.3), X, y), Decomposition(working_set), tol=1e-8, time_limit=PATIENCE)
    assert whole.status is cut.status is Status.CONVERGED
    assert (np.diff([step.dual for step in cut.history]) >= -1e-9 * cut.certificate.dual).all()


@every_solver
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-8])
def test_every_tolerance_is_reached(solver, tol):
    X, y = two_classes(100)
    for problem in (Problem.of(Gaussian(0.3), X, y), Problem.of(Gaussian(0.3), X.astype(np.float32), y, C=30.0)):
        solution = solve(problem, solver, tol=tol, time_limit=PATIENCE)
        assert solution.status is Status.CONVERGED
        assert problem.certify(solution.beta, solution.b).relative_gap <= tol


@every_solver
@pytest.mark.parametrize("bias", [True, False])
def test_ridge_is_a_linear_system(solver, bias):
    X, t = curve()
    C = np.random.default_rng(0).uniform(0.5, 20.0, 60)
    solution = solve(Problem.of(Gaussian(0.3), X, t, Squared(), C, bias=bias), solver, tol=1e-8)
    M = Gaussian(0.3)(X) + np.diag(1 / C)
    if bias:
        system = np.block([[M, np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
        expected = np.linalg.solve(system, np.append(t, 0.0))
        assert_allclose(np.append(solution.beta, solution.b), expected, atol=1e-3)
    else:
        assert_allclose(solution.beta, np.linalg.solve(M, t), atol=1e-3)
        assert solution.b == 0.0


@every_solver
def test_inseparable_data_is_reported_with_its_proof(solver):
    X, y = two_classes()
    problems = [
        Problem.of(Linear(), X, y, HardMargin()),
        Problem.of(Linear(), X, y, HardMargin(), bias=False),
        Problem.of(Linear(), *XOR, HardMargin()),
        Problem.of(Gaussian(1.0), np.concatenate([X, X[:1]]), np.append(y, -y[0]), HardMargin()),
        Problem.of(Linear(), np.array([[1.0], [-2.0]]), np.ones(2), HardMargin(), bias=False),
    ]
    for problem in problems:
        solution = solve(problem, solver, time_limit=PATIENCE)
        assert solution.status is Status.INFEASIBLE, problem.gram
        proof = solution.certificate.proof
        assert (proof.weights >= 0).all()
        groups = [problem.y > 0, problem.y < 0] if problem.bias else [problem.y != 0]
        assert_allclose([proof.weights[group].sum() for group in groups], 1.0)
        signed = problem.y * proof.weights
        K = np.asarray(problem.gram)
        assert np.sqrt(max(signed @ K @ signed, 0.0)) <= proof.bound + 1e-7 * np.sqrt(K.diagonal().max())
        assert "cannot be separated" in str(solution)


UGLY_X, UGLY_Y = two_classes(30)
FAR = np.array([[99999.0], [99998.0]])
UGLY = {
    "opposite labels at one point": (Gaussian(0.5), np.repeat(UGLY_X, 2, axis=0), np.tile([1.0, -1.0], 30)),
    "constant kernel": (Linear(), np.ones((30, 1)), UGLY_Y),
    "zero kernel": (Linear(), np.zeros((30, 1)), UGLY_Y),
    "one label but for one": (Gaussian(0.5), UGLY_X, np.where(np.arange(30) == 3, -1.0, 1.0)),
    "one label": (Gaussian(0.5), UGLY_X, np.ones(30)),
    "one point per class": (Gaussian(0.5), UGLY_X[:2], np.array([1.0, -1.0])),
    "a single point": (Gaussian(0.5), UGLY_X[:1], np.array([1.0])),
    "huge values": (Polynomial(degree=3), FAR, np.array([1.0, -1.0])),
    "huge and small": (Polynomial(degree=3), np.array([[99999.0], [1.0], [-1.0]]), np.array([1.0, -1.0, 1.0])),
    "tiny values": (1e-12 * Gaussian(0.5), UGLY_X, UGLY_Y),
}


@every_solver
@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin()], ids=repr)
def test_ugly_problems_end_with_an_honest_status(solver, name, loss):
    kernel, X, y = UGLY[name]
    for bias in (True, False):
        problem = Problem.of(kernel, X, y, loss, bias=bias)
        solution = solve(problem, solver, time_limit=0.5)
        assert is_honest(problem, solution)


@every_solver
@pytest.mark.parametrize(
    "name", ["opposite labels at one point", "constant kernel", "zero kernel", "one label but for one", "one label"]
)
def test_ugly_soft_problems_converge(solver, name):
    kernel, X, y = UGLY[name]
    for loss in (Hinge(), SquaredHinge()):
        solution = solve(Problem.of(kernel, X, y, loss), solver, tol=1e-6, time_limit=PATIENCE)
        assert solution.status is Status.CONVERGED


@every_solver
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1), Squared()], ids=repr)
@pytest.mark.parametrize("C", [1e-10, 1e10])
def test_extreme_weights(solver, loss, C):
    X, y = curve(40) if isinstance(loss, EpsilonInsensitive | Squared) else two_classes(40)
    for kernel in (Gaussian(0.3), Linear()):
        problem = Problem.of(kernel, X, y, loss, C)
        solution = solve(problem, solver, time_limit=PATIENCE if C < 1.0 else 0.3)
        assert is_honest(problem, solution)
        if C < 1.0:
            assert solution.status is Status.CONVERGED


def test_extreme_weights_do_not_take_for_ever():
    X, y = two_classes(150)
    solution = solve(Problem.of(Gaussian(0.3), X, y, C=1e10), tol=1e-8, time_limit=PATIENCE)
    assert solution.status in (Status.CONVERGED, Status.STALLED)  # rounding errors times C are the gap
    assert solution.certificate.relative_gap < 1e-3


def test_one_class_finds_the_share_of_outliers():
    X, _ = two_classes(100)
    solution = solve(Problem.of(Gaussian(0.3), X, np.zeros(100), OneClass(), mass=20.0), tol=1e-8)
    assert solution.beta.sum() == pytest.approx(20.0)
    outside = (Gaussian(0.3)(X) @ solution.beta + solution.b < -1e-6).sum()
    assert outside <= 20 <= solution.support.size


def test_the_quadratic_program_of_a_hard_margin():
    X, y = THREE_POINTS
    P, q, G, h, A, b = QP.assemble(Problem.of(Linear(), X, y, HardMargin()))
    assert_allclose(P, [[10, 5, -3], [5, 5, -1], [-3, -1, 1]])
    assert_array_equal(q, [-1, -1, -1])
    assert_array_equal(G, -np.eye(3))
    assert_array_equal(h, [0, 0, 0])
    assert_array_equal(A, [[1, 1, -1]])
    assert_array_equal(b, [0])


def test_the_quadratic_program_of_a_soft_margin():
    X, y = two_classes(10)
    C = np.arange(1.0, 11.0)
    K = Gaussian(0.3)(X)
    P, q, G, h, A, b = QP().assemble(Problem.of(Gaussian(0.3), X, y, Hinge(), C))
    assert_allclose(P, np.outer(y, y) * K)
    assert_array_equal(q, -np.ones(10))
    assert_array_equal(G, np.concatenate([-np.eye(10), np.eye(10)]))
    assert_array_equal(h, np.concatenate([np.zeros(10), C]))
    assert_array_equal(A, y[None, :])
    assert_array_equal(b, [0.0])
    parts = QP.assemble(Problem.of(Gaussian(0.3), X, y, SquaredHinge(), C, bias=False))
    assert_allclose(parts.P, np.outer(y, y) * K + np.diag(1 / (2 * C)))
    assert_array_equal(parts.G, -np.eye(10))
    assert parts.A is None and parts.b is None


def test_the_quadratic_programs_of_the_other_losses():
    X, t = curve(10)
    K = Gaussian(0.3)(X)
    P, q, G, h, A, b = QP.assemble(Problem.of(Gaussian(0.3), X, t, OneClass(), mass=3.0))
    assert_allclose(P, K)
    assert_array_equal(q, np.zeros(10))
    assert_array_equal(h, np.concatenate([np.zeros(10), np.ones(10)]))
    assert_array_equal(A, np.ones((1, 10)))
    assert_array_equal(b, [3.0])
    P, q, G, h, A, b = QP.assemble(Problem.of(Gaussian(0.3), X, t, EpsilonInsensitive(0.1), 2.0))
    assert_allclose(P, np.block([[K, -K], [-K, K]]))
    assert_allclose(q, np.concatenate([0.1 - t, 0.1 + t]))
    assert G.shape == (40, 20)
    assert_array_equal(h, np.concatenate([np.zeros(20), np.full(20, 2.0)]))
    assert_array_equal(A, [[1.0] * 10 + [-1.0] * 10])
    parts = QP.assemble(Problem.of(Gaussian(0.3), X, t, Squared(), 4.0))
    assert_allclose(parts.P, K + np.eye(10) / 4)
    assert_allclose(parts.q, -t)
    assert parts.G is None and parts.h is None


def test_the_quadratic_program_needs_no_dense_matrix():
    X, y = two_classes(300)
    dense = solve(Problem.of(Gaussian(0.3), X, y), QP())
    lazy = Problem(gram_of(Gaussian(0.3), X, "500kB"), y)
    part = Problem(lazy.gram.subset(np.arange(200)), y[:200])
    assert "by rows" in lazy.gram.reason
    assert_allclose(solve(lazy, QP()).certificate.dual, dense.certificate.dual)
    assert_allclose(QP.assemble(part).P, np.outer(y, y)[:200, :200] * Gaussian(0.3)(X[:200]))
    single = Problem.of(Gaussian(0.3), X.astype(np.float32), y)
    assert QP.assemble(single).P.dtype == np.float64
    low = Problem.of(Linear(), X, y)
    assert_allclose(QP.assemble(low).P, np.outer(y, y) * (X @ X.T), atol=1e-12)


def test_the_answer_of_a_quadratic_program_is_clean():
    X, y = two_classes(150)
    for loss, t in ((Hinge(), y), (SquaredHinge(), y), (EpsilonInsensitive(0.1), curve(150)[1])):
        solution = solve(Problem.of(Gaussian(0.3), X, t, loss), QP(), tol=1e-8)
        assert solution.certificate.kkt_violation <= 1e-8
        assert 0 < solution.support.size < 150 or loss == SquaredHinge()


def test_limits_and_names_of_quadratic_programs():
    with pytest.raises(ValueError, match=r"'gurobi_' is not installed; there is: .*clarabel"):
        solve(Problem.of(Linear(), *THREE_POINTS), QP("gurobi_"))
    many = Problem.of(Linear(), np.ones((7000, 1)), np.ones(7000))
    with pytest.raises(ValueError, match=r"QP takes up to 6000 variables.*7000.*Decomposition"):
        solve(many, QP())
    assert solver("qp(solver=clarabel)") == QP("clarabel") == solver("qp") == solver('qp(solver="clarabel")')


def test_solvers_are_values_with_a_text():
    assert solver("decomposition(working_set=512)") == Decomposition(512)
    assert solver(Decomposition(7)) == Decomposition(7)
    for one in SOLVERS:
        assert solver(repr(one)) == one
        assert isinstance(one, Solver)
    with pytest.raises(ValueError, match="working_set must be a whole number"):
        Decomposition(1)
    with pytest.raises(ValueError, match="decompositon"):
        solver("decompositon")
    chosen, reason = choose(Problem.of(Linear(), *THREE_POINTS))
    assert isinstance(chosen, Decomposition) and "quadratic dual" in reason
    assert solve(Problem.of(Linear(), *THREE_POINTS)).reason == reason
    assert solve(Problem.of(Linear(), *THREE_POINTS), QP()).reason == ""


def test_an_indefinite_kernel_ends_with_that_status():
    A = np.random.default_rng(0).normal(size=(30, 30))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    for one in SOLVERS:
        solution = solve(Problem.of(Precomputed(), A + A.T, y, C=10.0), one, time_limit=2.0)
        assert not solution.certificate.converged or np.isfinite(solution.certificate.relative_gap)
        assert solution.status in ENDED | {Status.INDEFINITE}

"""Ridge regression on data that other solvers fail on, and ceilings: each fit ends with an honest status."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import warnings
from contextvars import ContextVar
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelRidge, limits
from mercer.estimators import IndefiniteKernelWarning
from mercer.kernels import Constant, FromFunction, Gaussian, Linear, Polynomial
from mercer.rounds import SeveralColumns
from mercer.solution import Status
from mercer.solvers import Cholesky, triangular
from mercer.solvers.ridge import cholesky, in_features
from mercer.solvers.ridge.cholesky import fill_columns
from mercer.solvers.ridge.in_features import FeatureProblem, answers
from mercer.solvers.ridge.nystrom_cg import root
from mercer.solvers.ridge.row_sums import DataPiece, RowsOfFeatures, Stream
from mercer.solvers.triangular import factored

GENERATOR = np.random.default_rng(0)
BLOB = GENERATOR.normal(size=(200, 3))
TARGET = np.sin(BLOB[:, 0]) + 0.1 * GENERATOR.normal(size=200)
CASES = {
    "duplicates": (Gaussian(0.5), 1e-12, np.repeat(BLOB[:50], 4, axis=0), TARGET),
    "all points equal": (Gaussian(0.5), 1e-12, np.ones((200, 3)), TARGET),
    "tiny lambda": (Gaussian(0.01), 1e-12, BLOB, TARGET),
    "nearly constant kernel": (Gaussian(1e-9), 1e-10, BLOB, TARGET),
    "constant kernel": (Constant(1.0), 1e-12, BLOB, TARGET),
    "huge values": (Polynomial(3), 1.0, 1e5 * BLOB, TARGET),
    "tiny values": (Linear(), 1e-12, 1e-8 * BLOB, TARGET),
    "huge targets": (Gaussian(0.5), 0.1, BLOB, 1e12 * TARGET),
    "targets of zero": (Gaussian(0.5), 0.1, BLOB, 0.0 * TARGET),
    "one point": (Gaussian(0.5), 0.1, BLOB[:1], TARGET[:1]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("solver", [None, "cholesky", "conjugategradient", "nystrom(landmarks=50)"])
@pytest.mark.parametrize("bias", [False, True])
def test_ends_with_the_truth(name, solver, bias):
    kernel, alpha, X, t = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ridge = KernelRidge(kernel, alpha, bias=bias, solver=solver, random_state=0).fit(X, t)
    certificate = ridge.certificate_
    assert certificate.status in (Status.CONVERGED, Status.STALLED)
    assert certificate.converged == (certificate.relative_gap <= ridge.tol)
    assert np.isfinite(ridge.predict(X)).all()
    assert np.isfinite(certificate.relative_residual)
    if certificate.converged and solver in (None, "cholesky"):
        J = 0.5 * np.sum((ridge.predict(X) - t) ** 2)
        assert J <= certificate.primal * (1 + 1e-6) + 1e-9 * np.sum(t**2)


def test_float32_gives_way():
    """So ill-conditioned that the float32 factor fails, or leads nowhere: the float64 one takes its place."""
    X = np.random.default_rng(1).normal(size=(1600, 2))
    t = np.sin(X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ridge = KernelRidge(Gaussian(0.05), 1e-9, solver=Cholesky("float32")).fit(X, t)
    assert ridge.certificate_.relative_residual < 1e-4
    assert np.abs(ridge.predict(X) - t).max() < 1e-3


def test_an_indefinite_kernel_is_said_to_be_one():
    def bent(x, z):
        return float(np.tanh(x @ z - 1.0))

    with pytest.warns(IndefiniteKernelWarning):
        ridge = KernelRidge(FromFunction(bent), alpha=5.0).fit(list(BLOB[:60]), TARGET[:60])
    assert ridge.certificate_.status is Status.INDEFINITE


VALUES = {
    "negative": -Gaussian(0.5)(BLOB),
    "minus one": -np.eye(200),
    "far below": Gaussian(0.5)(BLOB) - 50.0 * np.eye(200),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("shifts", [20, 0])
def test_values_that_no_shift_makes_definite_are_said_to_be_indefinite(name, shifts, monkeypatch):
    monkeypatch.setattr(cholesky, "SHIFTS", shifts)
    with pytest.warns(IndefiniteKernelWarning, match="not positive definite"):
        ridge = KernelRidge("precomputed", alpha=0.1).fit(VALUES[name], TARGET)
    assert ridge.certificate_.status is Status.INDEFINITE
    assert np.isfinite(ridge.predict(VALUES[name])).all()


def test_a_negative_function_is_said_to_be_indefinite():
    with pytest.warns(IndefiniteKernelWarning, match="not positive definite"):
        ridge = KernelRidge(FromFunction(lambda x, z: -float(x @ z)), alpha=0.1).fit(list(BLOB[:60] + 3), TARGET[:60])
    assert ridge.certificate_.status is Status.INDEFINITE


WAVES = np.sin(BLOB).sum(axis=1) + 0.01 * GENERATOR.normal(size=200)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("X", "t", "reachable"),
    [
        (BLOB, WAVES, 0.05),
        (np.repeat(BLOB[:50], 4, axis=0), np.repeat(WAVES[:50], 4), 0.05),
        (np.repeat(BLOB[:50], 4, axis=0), WAVES, 0.95),  # targets of equal points differ
    ],
)
def test_a_lambda_below_rounding_gives_the_best_that_is_left(X, t, reachable, bias):
    with pytest.warns(ConvergenceWarning):
        ridge = KernelRidge(Gaussian(0.001), 1e-16, bias=bias).fit(X, t)
    assert ridge.certificate_.relative_residual < reachable
    assert np.sqrt(np.mean((ridge.predict(X) - t) ** 2)) < reachable * t.std()


@pytest.mark.parametrize(("n", "gamma", "alpha"), [(200, 0.5, 1e-6), (1000, 2.0, 1e-5)])
def test_conjugate_gradients_do_not_give_up_on_small_problems(n, gamma, alpha):
    X = np.random.default_rng(0).normal(size=(n, 3))
    ridge = KernelRidge(Gaussian(gamma), alpha, solver="conjugategradient").fit(X, np.sin(X).sum(axis=1))
    assert ridge.certificate_.converged


def test_conjugate_gradients_go_on_while_the_residual_falls():
    """Hundreds of steps may pass before it is halved once; to begin again would be to forget them."""
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        ridge = KernelRidge(Gaussian(0.5), 1e-6, solver="conjugategradient(rank=20)").fit(BLOB, WAVES)
    assert ridge.certificate_.relative_residual < 0.05


SMOOTH = np.random.default_rng(0).normal(size=(1000, 3))


@pytest.mark.parametrize("bias", [False, True])
def test_landmarks_of_a_smooth_kernel(bias):
    """K_landmarks has eigenvalues of rounding only, and yet the fit and leave-one-out are those of all points."""
    t = np.sin(SMOOTH).sum(axis=1)
    kernel, alphas = Gaussian(0.03), [1e-4, 1e-2, 0.1]
    exact = KernelRidge(kernel, 0.1, bias, loo=True).fit(SMOOTH, t)
    ridge = KernelRidge(kernel, 0.1, bias, "nystrom(landmarks=100)", loo=True, random_state=0).fit(SMOOTH, t)
    assert ridge.certificate_.converged
    assert np.allclose(ridge.predict(SMOOTH), exact.predict(SMOOTH), atol=1e-3)
    assert np.allclose(ridge.loo_residuals_, exact.loo_residuals_, atol=1e-3)
    assert np.allclose(ridge.path(SMOOTH, t, alphas).errors, exact.path(SMOOTH, t, alphas).errors, rtol=0.02)


def test_corrections_that_rounding_spoils_give_way_to_conjugate_gradients(monkeypatch):
    monkeypatch.setattr(in_features, "_PRECISE_ROWS", 0)  # normal equations as of many rows
    t = np.sin(SMOOTH).sum(axis=1)[:, None]
    kernel, landmarks = Gaussian(0.03), SMOOTH[:100]
    stream = Stream(lambda: iter([DataPiece(SMOOTH, t, np.ones(1000))]), 1000, 1)
    L = root(kernel, landmarks, 1e-12)
    problem = FeatureProblem(stream, RowsOfFeatures(kernel, landmarks, 100), L, 0.1, False, np.zeros(1))
    gaps = [float(a.gap[0] / a.primal[0]) for a in answers(problem, stream, 1.0, np.float64, 1e-6) if not a.working]
    assert gaps[0] > 1e-2
    assert min(gaps) < 1e-6


def test_the_grid_of_given_values_is_that_of_their_kernel():
    kernel = Polynomial(2)
    by_name = KernelRidge(kernel, solver="cholesky").path(BLOB, TARGET)
    given = KernelRidge("precomputed").path(kernel(BLOB), TARGET)
    assert np.allclose(given.alphas, by_name.alphas, rtol=1e-12)
    assert np.allclose(given.errors, by_name.errors, rtol=1e-6)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("solver", ["cholesky", "conjugategradient", "primal"])
@pytest.mark.parametrize(("n", "d", "away"), [(50, 100, 2.0**20), (200, 5, 2.0**26)])
def test_a_linear_machine_with_a_bias_may_be_far_from_the_origin(n, d, away, solver, several):
    """Where the points lie is no matter to f, to its standard deviation and to leave-one-out errors."""
    X = np.round(16 * np.random.default_rng(0).normal(size=(n, d))) / 16  # so that X + away - away is X
    t = X[:, 0] + 0.1 * np.sin(np.arange(n))
    t = np.column_stack([t, -t + 1.0]) if several else t
    weight = np.where(np.arange(n) < 5, 0.0, 1.0 + np.arange(n) % 2)
    machine = KernelRidge("linear", bias=True, solver=solver)
    near = machine.fit(X, t, weight).predict(X, return_std=True)
    errors = machine.path(X, t, [0.1, 1.0], weight).errors
    far = machine.fit(X + away, t, weight)
    assert far.certificate_.converged
    for here, there in zip(near, far.predict(X + away, return_std=True), strict=True):
        assert np.allclose(there, here, atol=1e-5)
    assert np.allclose(far.path(X + away, t, [0.1, 1.0], weight).errors, errors, rtol=1e-4)


@pytest.mark.parametrize("solver", ["cholesky", "conjugategradient", "nystrom(landmarks=500)"])
def test_a_time_limit_ends_a_fit(solver):
    X = np.random.default_rng(0).normal(size=(9000, 5))
    t = np.sin(X[:, 0])
    KernelRidge(Gaussian(0.1), 0.1, solver=solver).fit(X[:1600], t[:1600])
    with pytest.warns(ConvergenceWarning, match="out of time"):
        ridge = KernelRidge(Gaussian(0.1), 1e-6, solver=solver, time_limit=1e-4).fit(X, t)
    assert ridge.certificate_.status is Status.OUT_OF_TIME
    assert ridge.certificate_.relative_gap > 1e-6


POINTS = np.random.default_rng(3).normal(size=(1700, 3))
CURVE = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1] + 3.0
PIECES = [(POINTS[start : start + 500], CURVE[start : start + 500]) for start in range(0, 1700, 500)]
STOPPED = {
    "cholesky": ("cholesky(precision=float32)", False, (POINTS, CURVE)),
    "leave-one-out": ("cholesky", True, (POINTS, CURVE)),
    "conjugate gradients": ("conjugategradient", False, (POINTS, CURVE)),
    "features": ("primal", True, (POINTS, CURVE)),
    "landmarks": ("nystrom(landmarks=30, sample=200)", False, (POINTS, CURVE)),
    "landmarks, leave-one-out": ("nystrom(landmarks=30)", True, (POINTS, CURVE)),
    "pieces": ("nystrom(landmarks=30, selection=rpcholesky, sample=200)", False, (PIECES,)),
}


class Heard:
    """Whether somebody has asked to stop, in the place of an Interrupt."""

    def __init__(self, asked):
        self.asked, self.before = asked, ContextVar("heard", default=None)
        self.set, self.reset = self.before.set, self.before.reset

    def get(self):
        return None if self.before.get() is None else SimpleNamespace(asked=self.asked())


@pytest.mark.parametrize("name", STOPPED)
def test_wherever_it_is_stopped(name, monkeypatch):
    """Each time that a fit looks whether to go on, it may be told not to: it ends with an answer and the truth."""
    solver, loo, data = STOPPED[name]
    kernel = Polynomial(3) if solver == "primal" else Gaussian(0.5)
    statuses, errors = [], []
    for looks in [*range(8), *range(8, 200, 8), *range(200, 1000, 100)]:
        count = itertools.count()

        def stop(self, step=None, count=count, looks=looks):
            return Status.INTERRUPTED if next(count) >= looks else None

        monkeypatch.setattr(SeveralColumns, "_why_stop", stop)
        monkeypatch.setattr(limits, "_heard", Heard(lambda stop=stop: stop(None) is not None))
        ridge = KernelRidge(kernel, 0.01, bias=True, solver=solver, loo=loo, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ridge.fit(*data)
        certificate = ridge.certificate_
        statuses.append(certificate.status)
        errors.append(np.abs(ridge.predict(POINTS[:200]) - CURVE[:200]).mean())
        assert certificate.converged == (certificate.relative_gap <= ridge.tol)
        assert certificate.primal >= certificate.dual
        complete = certificate.converged and hasattr(ridge, "loo_residuals_") == loo
        assert bool(caught) != complete
        if np.isfinite(certificate.primal):
            assert np.isfinite(ridge.amplitude_)
        elif ridge.has_landmarks_:
            with pytest.raises(ValueError, match="stopped before its first round"):
                ridge.predict(POINTS[:2], return_std=True)
        if complete and next(count) < looks:
            break
    else:
        pytest.fail("it never ended by itself")
    assert statuses[0] is Status.INTERRUPTED
    assert errors[-1] < 0.5 * errors[0]


def test_landmarks_stopped_before_they_are_measured_predict_all_the_same(monkeypatch):
    """The weights are there before the first pass over all rows; nothing is proved of them yet, and that is said."""
    passes = itertools.count()
    pieces = Stream.pieces

    def stopped(self):
        if next(passes) == 3:  # of the pool: normal equations and errors; of the sample
            limits._heeding.asked = True
        return pieces(self)

    monkeypatch.setattr(Stream, "pieces", stopped)
    ridge = KernelRidge(Gaussian(0.5), 0.01, bias=True, solver="nystrom(landmarks=100, sample=800)", random_state=0)
    with pytest.raises(KeyboardInterrupt, match="KernelRidge keeps its best answer so far: nothing useful is proved"):
        ridge.fit(POINTS, CURVE)
    assert ridge.certificate_.relative_gap == np.inf
    assert "nothing useful is proved" in str(ridge.certificate_)
    assert np.abs(ridge.predict(POINTS) - CURVE).mean() < 0.1


def test_a_second_fit_forgets_the_first():
    ridge = KernelRidge(Gaussian(0.5), "loo", loo=True).fit(BLOB, TARGET)
    ridge.set_params(alpha=0.1, loo=False).fit(BLOB, TARGET)
    assert not hasattr(ridge, "loo_residuals_")
    assert not hasattr(ridge, "path_")


MEMORY = """
import sys, warnings
import numpy as np
from mercer import KernelRidge, limits
warnings.simplefilter("ignore")

def peak(reset=False):
    if reset:
        open("/proc/self/clear_refs", "w").write("5")
    name = "VmRSS" if reset else "VmHWM"
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

X = np.random.default_rng(0).normal(size=(20000, 10))
ridge = KernelRidge(sys.argv[1], solver=sys.argv[2], memory="30MB", max_iter=2)
ridge.fit(X[:1600], X[:1600, 0])
before = peak(reset=True)
ridge.fit(X, X[:, 0])
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is counted differently elsewhere")
@pytest.mark.parametrize(
    ("kernel", "solver"),
    [
        ("rbf(gamma=0.1)", "conjugategradient"),
        ("rbf(gamma=0.1)", "nystrom(landmarks=400)"),
        ("poly(degree=3)", "primal"),
    ],
)
def test_the_memory_ceiling_holds(kernel, solver):
    done = subprocess.run([sys.executable, "-c", MEMORY, kernel, solver], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 1.3 * 30e6


def test_float64_is_not_tried_where_it_does_not_fit():
    """So ill-conditioned that float32 fails: with no room for float64, the diagonal is raised, and it is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ridge = KernelRidge(Gaussian(0.01), 1e-9, solver="cholesky", memory="15MB").fit(POINTS, CURVE)
    assert ridge.certificate_.status in (Status.CONVERGED, Status.STALLED)
    assert 0.0 < ridge.certificate_.relative_residual <= 1.0
    assert ridge.certificate_.primal <= 0.5 * np.sum(CURVE**2) * (1 + 1e-9)
    with pytest.raises(ValueError, match="The factor of 1700 points takes"):
        KernelRidge(Gaussian(0.01), 1e-9, solver="cholesky(precision=float64)", memory="15MB").fit(POINTS, CURVE)


def test_memory_that_is_too_little_is_refused():
    refused = {"nystrom(landmarks=1500)": "1500 landmarks take 72 MB", "primal": "286 features take 2.7 MB"}
    for solver, text in refused.items():
        with pytest.raises(ValueError, match=text):
            KernelRidge(Polynomial(10), solver=solver, memory="2MB").fit(POINTS, CURVE)
    with pytest.raises(ValueError, match="Residuals of 1700 rows for 200 alphas take"):
        KernelRidge(solver="nystrom(landmarks=100)", memory="2MB").path(POINTS, CURVE, np.geomspace(1, 2, 200))


def test_limits_of_rounds_and_memory():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        KernelRidge(Gaussian(0.1), 1e-6, solver="conjugategradient(rank=1)", max_iter=2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="The factor of 2000 points"):
        KernelRidge(Gaussian(0.1), solver="cholesky", memory="1MB").fit(X, X[:, 0])
    small = KernelRidge(Gaussian(0.1), memory="1MB").fit(X, X[:, 0])
    assert "factor would take" in small.solution_.reason


def test_ctrl_c_stops_a_factor(monkeypatch):
    def ring(gram, r, start, stop, out):
        if start == 500:
            signal.raise_signal(signal.SIGINT)
        assert start <= 500
        fill_columns(gram, r, start, stop, out)

    monkeypatch.setattr(triangular, "_PANEL", 100)
    monkeypatch.setattr(cholesky, "fill_columns", ring)
    X = np.random.default_rng(0).normal(size=(1000, 10))
    ridge = KernelRidge(Gaussian(0.1), 0.1, solver="cholesky")
    with pytest.raises(KeyboardInterrupt, match="KernelRidge keeps its best answer so far"):
        ridge.fit(X, X[:, 0])
    assert ridge.certificate_.status is Status.INTERRUPTED
    assert 0.0 < ridge.certificate_.relative_gap < 1.0
    assert not ridge.dual_coef_[500:].any()  # the answer of the points whose part of the factor was ready


@pytest.mark.parametrize("kernel", ["rbf(gamma=1)", "linear"])
def test_targets_may_be_huge_while_their_squares_are_numbers(kernel):
    assert KernelRidge(kernel).fit(BLOB, 1e140 * TARGET).certificate_.converged
    with pytest.raises(ValueError, match=r"Squares of y overflow, for the largest is \de\+200: divide y by it"):
        KernelRidge(kernel).fit(BLOB, 1e200 * TARGET / np.abs(TARGET).max())


def test_pieces_with_other_numbers_of_targets_are_refused():
    pieces = [*PIECES[:2], (POINTS[:300], np.column_stack([CURVE, CURVE])[:300])]
    with pytest.raises(ValueError, match="Piece 2 has 2 targets, but 1 are expected, as in piece 0"):
        KernelRidge(solver="nystrom(landmarks=30)").fit(pieces)


@pytest.mark.parametrize("later", [PIECES[:3], [*PIECES, PIECES[0]]])
def test_pieces_that_change_between_two_readings_are_refused(later):
    first = itertools.chain([PIECES], itertools.repeat(later))
    rows = sum(len(t) for _, t in later)
    with pytest.raises(ValueError, match=f"had 1700 rows with a weight when they were first read, but {rows} now"):
        KernelRidge(solver="nystrom(landmarks=30, sample=200)").fit(lambda: iter(next(first)))


def test_no_pieces():
    with pytest.raises(ValueError, match="There are no pieces"):
        KernelRidge().fit([])


def test_wrong_settings():
    for settings in ({"alpha": 0.0}, {"alpha": "much"}, {"bias": 2}, {"solver": "qp"}, {"loo": "yes"}, {"tol": 0.0}):
        with pytest.raises(ValueError, match=r"KernelRidge|qp|QP"):
            KernelRidge(**settings).fit(BLOB, TARGET)
    with pytest.raises(ValueError, match="there is no precision"):
        Cholesky("float16")
    with pytest.raises(ValueError, match="loo needs a factor"):
        KernelRidge(loo=True, solver="conjugategradient").fit(BLOB, TARGET)
    with pytest.raises(ValueError, match="explicit features"):
        KernelRidge(solver="primal").fit(BLOB, TARGET)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_a_matrix_without_a_factor_ends_with_an_error(value: float) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="has no Cholesky factor"):
        factored(np.array([[1.0, 0.0], [0.0, 1.0]]) + np.where(np.eye(2) > 0, 0.0, value), 0.0)

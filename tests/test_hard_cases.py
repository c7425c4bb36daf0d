"""Data on which other machines hang, and ceilings: each fit ends within its limit, with an honest status."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, KernelLogistic, LinearSVC, Problem, solve
from mercer.kernels import Constant, Gaussian, Linear, Polynomial
from mercer.losses import Squared, SquaredHinge
from mercer.solution import Status
from mercer.solvers import Decomposition

from . import PATIENCE

GENERATOR = np.random.default_rng(0)
BLOB = GENERATOR.normal(size=(200, 3))
TWICE, OPPOSITE = np.vstack([BLOB, BLOB]), np.repeat([0, 1], 200)
ONE_OF_MANY = (np.arange(200) == 7).astype(int)
NOISY = BLOB[:, 0] + GENERATOR.normal(size=200) > 0
CANCER = load_breast_cancer(return_X_y=True)
CASES = {
    "raw cancer, C 1": (Linear(), 1.0, *CANCER),
    "raw cancer, C 100": (Linear(), 100.0, *CANCER),
    "two points far out": (Polynomial(3), 1.0, [[99999.0, 99999.0], [99999.0, 99998.0]], [0, 1]),
    "two equal points far out": (Polynomial(3), 1.0, [[99999.0, 99999.0]] * 2, [0, 1]),
    "constant kernel": (Constant(1.0), 1.0, BLOB, NOISY),
    **{f"twice with opposite labels, C {C}": (Gaussian(), C, TWICE, OPPOSITE) for C in (1.0, 1e-10, 1e10, np.inf)},
    **{f"one of many, C {C}": (Gaussian(), C, BLOB, ONE_OF_MANY) for C in (1.0, 1e-10, 1e10, np.inf)},
    **{f"noise, C {C}": (Gaussian(), C, BLOB, NOISY) for C in (1e-10, 1e10)},
    **{f"inseparable, C {C}": (Linear(), C, BLOB, NOISY) for C in (1e10, np.inf)},
}


@pytest.mark.parametrize("name", CASES)
def test_ends_with_the_truth(name):
    kernel, C, X, y = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = SVC(kernel, C=C, time_limit=PATIENCE if C == np.inf else 2.0).fit(X, y)
    certificate = machine.certificate_
    allowed = (Status.CONVERGED, Status.OUT_OF_TIME, Status.STALLED, Status.INFEASIBLE)
    assert certificate.status in allowed
    assert certificate.converged == (certificate.relative_gap <= machine.tol)
    if C == np.inf and name.startswith(("twice", "inseparable")):
        proof = certificate.proof
        assert certificate.status is Status.INFEASIBLE
        assert proof.distance <= proof.bound
    else:
        assert certificate.dual <= certificate.primal * (1 + 1e-9)
        machine.predict(X)


def test_equal_points_with_opposite_labels_cost_two():
    certificate = SVC("linear", C=3.0).fit([[99999.0], [99999.0]], [0, 1]).certificate_
    assert certificate.converged
    assert certificate.primal == pytest.approx(6.0)


@pytest.mark.parametrize("machine", [SVC(), SVR(), KernelLogistic(), LinearSVC(), LinearSVC(loss="logistic")], ids=repr)
def test_objectives_beyond_float64_are_refused(machine):
    with pytest.raises(ValueError, match=r"Objectives overflow with C = 1e\+200 on points of length \d"):
        machine.set_params(C=1e200).fit(BLOB, NOISY)
    with pytest.raises(ValueError, match="Objectives overflow"):
        machine.set_params(C=1e10).fit(BLOB, NOISY, sample_weight=np.full(200, 1e190))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", [True, "penalised", False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_steps_that_are_lost_to_rounding_end_it(loss, bias):
    machine = LinearSVC(1e12, loss, bias).fit(BLOB, NOISY)
    assert machine.certificate_.status in (Status.CONVERGED, Status.STALLED)
    assert machine.certificate_.dual <= machine.certificate_.primal


def test_zeros_and_ones_in_training_only():
    X = GENERATOR.integers(0, 2, (300, 10)).astype(float)
    y = X[:, 0] + X[:, 1] + 0.3 * GENERATOR.normal(size=300) > 1
    queries = GENERATOR.normal(size=(50, 10))
    theirs = svm.SVC(gamma=0.1, tol=1e-8).fit(X, y).decision_function(queries)
    for data in (X, csr_array(X)):
        ours = SVC(Gaussian(0.1), tol=1e-8).fit(data, y)
        assert_allclose(ours.decision_function(queries), theirs, atol=1e-5)


def test_small_values_are_as_good_as_large_ones():
    plain, tiny = SVC("linear", tol=1e-6).fit(BLOB, NOISY), SVC("linear", C=1e20, tol=1e-6).fit(BLOB * 1e-10, NOISY)
    assert tiny.certificate_.converged
    assert_allclose(tiny.decision_function(BLOB * 1e-10), plain.decision_function(BLOB), atol=1e-3)


def test_a_tight_tolerance_where_rows_are_float32():
    X = GENERATOR.normal(size=(1700, 6))
    machine = SVR(Gaussian(0.1), epsilon=0.2, tol=1e-8).fit(X, X[:, 0] + np.sin(2 * X[:, 1]))
    assert machine.certificate_.converged


@pytest.mark.digits
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_the_same_bits_each_time(multiclass):
    X = GENERATOR.normal(size=(2600, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0, 2.0])
    first, second = (SVC(C=5.0, multiclass=multiclass).fit(X, y) for _ in range(2))
    assert first.dual_coef_.tobytes() == second.dual_coef_.tobytes()
    assert first.intercept_.tobytes() == second.intercept_.tobytes()


def test_working_sets_of_two():
    X = GENERATOR.normal(size=(2200, 3))
    problem = Problem.of(Gaussian(0.1), X, np.where(X[:, 0] > 0, 1.0, -1.0), C=0.01)
    assert solve(problem, "decomposition(working_set=2)", tol=0.05).status is Status.CONVERGED


MEMORY = """
import resource, sys, numpy as np
from mercer import SVC
generator = np.random.default_rng(0)
X = generator.normal(size=(12000, 20))
y = X[:, 0] * X[:, 1] + 0.5 * generator.normal(size=12000) > 0
if len(sys.argv) > 1:
    y = y + 2 * (X[:, 2] > 1)
machine = SVC(memory="40MB", tol=1e-3)
machine.fit(X[:2500], y[:2500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
machine.fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, machine.certificate_.converged)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is counted differently elsewhere")
@pytest.mark.parametrize("arguments", [[], ["four classes"]], ids=["two classes", "four classes"])
def test_the_memory_ceiling_holds(arguments):
    done = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=True)
    grown, converged = done.stdout.split()
    assert converged == "True"
    assert int(grown) <= 1.3 * 40e6


LONG = """
import numpy as np
from mercer import SVC
generator = np.random.default_rng(0)
X = generator.normal(size=(30000, 10))
y = generator.random(30000) < 0.5
machine = SVC(C=100.0, tol=1e-9, verbose=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print("stopped", machine.predict(X[:3]).shape[0])
print(machine.certificate_.status.name, machine.certificate_.relative_gap > 0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_ctrl_c_gives_the_best_answer_so_far():
    command = [sys.executable, "-W", "ignore", "-c", LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "round 1 " in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert out.split() == ["stopped", "3", "INTERRUPTED", "True"], err


@pytest.mark.parametrize("shift", [1e6, 1e7])
def test_rounding_beyond_the_objective_is_no_success(shift):
    """K is 1e25 and more: a dual value above the primal one says how much of both is rounding."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(150, 3))
    y = np.sign(X[:, 0] + 0.3 * generator.normal(size=150))
    with pytest.warns(ConvergenceWarning, match="rounding"):
        machine = SVC("poly + rbf(gamma=1)", C=0.01).fit(X + shift, y)  # poly alone is trained around the mean
    assert machine.certificate_.status is Status.STALLED
    assert machine.certificate_.primal <= 0.01 * 2.0 * min(np.sum(y > 0), np.sum(y < 0)) * (1 + 1e-9)  # of a constant


@pytest.mark.parametrize("loss", [Squared(), SquaredHinge()], ids=repr)
def test_a_large_c_beside_float32_values(loss):
    """1 / C is lost beside K in float32, and the points are many times the same."""
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(300, 2))).astype(np.float32)
    y = np.sign(X[:, 0] + 0.3 * generator.normal(size=300))
    problem = Problem.of("poly(degree=2, gamma=0.5, coef0=1)", X, y, loss, 5e7)
    solution = solve(problem, Decomposition(), tol=1e-5, time_limit=20)
    assert solution.status is Status.CONVERGED
    assert solution.certificate.feasibility < 1e-12


def test_equal_points_far_from_the_origin():
    X, y = np.full((256, 3), 1e8), np.where(np.arange(256) % 3 > 0, 1, -1)
    assert SVC("rbf*linear", C=0.068).fit(X, y).certificate_.converged


@pytest.mark.parametrize("gamma", [0.1, 50, 1000])
def test_underflow_is_no_error(gamma):
    X = np.random.default_rng(0).normal(size=(60, 3))
    with np.errstate(all="raise"):
        machine = SVC(f"rbf(gamma={gamma})").fit(X, np.sign(X[:, 0]))
        assert machine.certificate_.converged
        machine.predict(X)

"""Ctrl-C: what runs stops; a fit keeps its best answer first, with an honest certificate; handlers are restored.

The signals are real, and come at a given moment of the work: from a callback, a kernel, a solver or a piece of a pass.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVR,
    KernelLogistic,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    OneClassSVM,
    Perceptron,
    Problem,
    certify,
    evidence,
    solve,
)
from mercer.features import Nystrom, RandomFourier, SpectralMap
from mercer.features import base as features
from mercer.gram import PointsGram
from mercer.kernels import FromFunction, Gaussian
from mercer.limits import Interrupt, StoppedError, check_limits, interruptible, stopped_by
from mercer.parallel import apart, for_each
from mercer.solution import Status
from mercer.solvers import Iterate, Solver, StochasticSubgradient, triangular
from mercer.solvers.triangular import factored

from .heard import hear

PATIENCE = 120.0  # seconds; nothing here takes long
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(240, 4))
Y = np.where(X[:, 0] + 0.8 * GENERATOR.normal(size=240) > 0, 1, -1)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])

MACHINES = {
    "svc": (SVC(Gaussian(1.0), C=1e4, tol=1e-12, solver="decomposition(working_set=8)"), Y),
    "three classes": (SVC(Gaussian(1.0), C=1e4, tol=1e-12, solver="decomposition(working_set=8)"), THREE),
    "svr": (SVR(Gaussian(1.0), C=1e4, tol=1e-12, solver="decomposition(working_set=8)"), X[:, 0]),
    "one class": (OneClassSVM(nu=0.5, tol=1e-12, solver="decomposition(working_set=8)"), None),
    "linear": (LinearSVC(C=1e4, tol=1e-12), Y),
    "linear, three classes": (LinearSVC(C=1e4, tol=1e-12), THREE),
    "logistic": (KernelLogistic(C=1e4, tol=1e-12), Y),
    "ridge": (KernelRidge(Gaussian(1.0), 1e-6, tol=1e-14, solver="conjugategradient(rank=2)"), X[:, 0]),
    "perceptron": (Perceptron(max_epochs=10**9), Y),
    "perceptron, three classes": (Perceptron(max_epochs=10**9), THREE),
    "kernel perceptron": (KernelPerceptron(Gaussian(0.1), max_epochs=10**9), Y),
}


@pytest.fixture(autouse=True)
def handler_restored():
    """Whatever happens, the handler is again what it was."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with interruptible() as interrupt:
        assert not interrupt.asked


def ring(*given):
    """Ctrl-C, as the system sends it."""
    signal.raise_signal(signal.SIGINT)


def ringing(times, then=None):
    """A function to be called after each round: at the call with this number somebody presses Ctrl-C."""
    calls = []

    def told(*given):
        calls.append(1)
        if len(calls) == times and threading.current_thread() is threading.main_thread():
            ring()
            if then is not None:
                then()
        return False

    return told, calls


@pytest.mark.parametrize("name", MACHINES)
def test_a_fit_keeps_its_answer_and_raises(name, monkeypatch):
    machine, y = MACHINES[name]
    machine = machine.__class__(**machine.get_params(deep=False))
    hear(monkeypatch, ringing(1)[0])
    with pytest.raises(KeyboardInterrupt, match=f"{type(machine).__name__} keeps its best answer so far: ") as told:
        machine.fit(X, y)
    certificate = machine.certificate_
    assert certificate.status is Status.INTERRUPTED
    without = isinstance(machine, KernelRidge | Perceptron | KernelPerceptron)  # theirs cannot be gone on with
    assert ("checkpoint=" in str(told.value)) is not without and "checkpoint" not in str(certificate)
    assert machine.predict(X).shape == (240,)
    monkeypatch.undo()
    again = certify(machine, X, y)
    if name.endswith("perceptron") or name.startswith("perceptron"):
        assert_allclose(certificate.lower, again.lower, rtol=1e-6)
    else:
        assert certificate.relative_gap > machine.tol
        assert_allclose(certificate.primal, again.primal, rtol=1e-6)
        assert certificate.dual <= again.primal


def test_nothing_is_said_beside_the_exception(monkeypatch):
    """A warning that is an error would take its place, and whoever handles errors would go on."""
    hear(monkeypatch, ringing(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)").fit(X, Y)


def test_an_error_does_not_hide_it(monkeypatch):
    def fail():
        raise ValueError("something else")

    hear(monkeypatch, ringing(1, fail)[0])
    with pytest.raises(KeyboardInterrupt, match="something else"):
        SVC().fit(X, Y)


def test_a_second_one_ends_at_once(monkeypatch):
    machine, rounds = SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)"), []
    told, calls = ringing(1, lambda: (ring(), rounds.append(1)))
    hear(monkeypatch, told)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, Y)
    assert len(calls) == 1 and not rounds
    with pytest.raises(NotFittedError):
        machine.predict(X)
    monkeypatch.undo()
    assert machine.set_params(C=1.0, tol=1e-4).fit(X, Y).certificate_.converged
    hear(monkeypatch, ringing(1, ring)[0])
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, THREE)
    with pytest.raises(NotFittedError):  # the classes are new, the answer would be the old one
        machine.predict(X)


def test_a_callback_that_stops_is_no_ctrl_c(monkeypatch):
    hear(monkeypatch, lambda *given: True)
    with pytest.warns(UserWarning, match="interrupted"):
        machine = SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)").fit(X, Y)
    assert machine.certificate_.status is Status.INTERRUPTED


def test_a_pipeline_predicts_with_what_is_kept(monkeypatch):
    hear(monkeypatch, ringing(1)[0])
    pipeline = make_pipeline(StandardScaler(), SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)"))
    with pytest.raises(KeyboardInterrupt):
        pipeline.fit(X, Y)
    assert pipeline.predict(X).shape == (240,)


def count_fits(monkeypatch):
    """The status of each machine that is asked for predictions."""
    seen, original = [], SVC.predict

    def predict(self, X):
        seen.append(self.certificate_.status)
        return original(self, X)

    monkeypatch.setattr(SVC, "predict", predict)
    return seen


def in_a_loop(machine):
    for C in (1.0, 2.0, 3.0, 4.0):
        machine.set_params(C=C).fit(X, Y).predict(X)


SEARCHES = {
    "loop": in_a_loop,
    "search": lambda machine: GridSearchCV(machine, {"C": [1.0, 2.0, 3.0, 4.0]}, cv=2, scoring="accuracy").fit(X, Y),
    "cross-validation": lambda machine: cross_val_score(machine, X, Y, cv=5, error_score=0.0),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_what_runs_stops_and_no_interrupted_fit_is_scored(name, monkeypatch):
    seen = count_fits(monkeypatch)
    machine = SVC(tol=1e-9)
    SEARCHES[name](machine)
    fits = len(seen)
    seen.clear()
    times = iter(range(10**9))

    def told(self, number, step):
        if step.iteration == 1 and next(times) == 2:  # the first round of the third fit
            ring()
        return False

    hear(monkeypatch, told)
    with pytest.raises(KeyboardInterrupt):
        SEARCHES[name](machine)
    assert len(seen) == 2 < fits and set(seen) == {Status.CONVERGED}


SEARCH = """
import os, signal, sys
import numpy as np
from mercer import SVC
from tests.heard import changes
from sklearn.model_selection import GridSearchCV

class Ringing(SVC):
    def fit(self, X, y):
        def told(hooks, number, step):
            if self.C == 3.0 and not os.path.exists(RUNG):
                os.close(os.open(RUNG, os.O_CREAT))
                os.killpg(0, signal.SIGINT)  # to all processes, as a terminal does
            return False
        for owner, name, value in changes(told):
            setattr(owner, name, value)
        return super().fit(X, y)

def score(machine, X, y):
    with open(FILE, "a") as file:
        print(machine.C, machine.certificate_.status.name, file=file, flush=True)
    return machine.score(X, y)

FILE, RUNG = sys.argv[1], sys.argv[1] + ".rung"
random = np.random.default_rng(0)
X = random.normal(size=(120, 4))
y = X[:, 0] + random.normal(size=120) > 0
grid = {"C": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
GridSearchCV(Ringing(tol=1e-9), grid, scoring=score, cv=2, n_jobs=int(sys.argv[2])).fit(X, y)
print("it went on")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_in_several_processes(jobs, tmp_path):
    scored = tmp_path / "scored"
    command = [sys.executable, "-c", SEARCH, str(scored), str(jobs)]
    here = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, start_new_session=True, cwd=here)
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stdout == "" and "KeyboardInterrupt" in done.stderr
    lines = scored.read_text().split("\n")[:-1]
    assert lines and {line.split()[1] for line in lines} == {"CONVERGED"}
    assert len(lines) < 10
    assert jobs > 1 or "3.0 CONVERGED" not in lines  # of two processes, the other one may have been faster


def test_a_piece_of_a_stream_counts_wholly_or_not_at_all(monkeypatch):
    """Ctrl-C in the middle leaves the machine as it was; the same piece again gives what it would have given."""
    absorb = StochasticSubgradient.absorb
    calls = []

    def late(self, *given):
        calls.append(1)
        if len(calls) == 2:  # one of three problems has learned already
            ring()
        return absorb(self, *given)

    def function(x, z):
        calls.append(1)
        if len(calls) == 700:
            ring()
        return float(np.exp(-((x - z) @ (x - z))))

    primal = (Perceptron(), "mercer.online.primal.Primal.note", ring)
    linear = (LinearSVC(), "mercer.solvers.stochastic.StochasticSubgradient.absorb", late)
    dual = (KernelPerceptron(FromFunction(function)), None, None)
    for machine, target, patch in (primal, linear, dual):
        machine.partial_fit(X[:20], THREE[:20], classes=[0, 1, 2])
        other = machine.__class__(**machine.get_params(deep=False)).partial_fit(X[:20], THREE[:20], classes=[0, 1, 2])
        before, calls[:] = machine.decision_function(X), [] if target else [1] * 400
        with monkeypatch.context() as patched:
            if target:
                patched.setattr(target, patch)
            with pytest.raises(KeyboardInterrupt):
                machine.partial_fit(X[20:60], THREE[20:60])
        calls[:] = [1] * 1000
        assert_array_equal(machine.decision_function(X), before)
        for each in (machine, other):
            each.partial_fit(X[20:60], THREE[20:60])
        assert_array_equal(machine.decision_function(X), other.decision_function(X))


class Slow(Solver, names=()):
    """One iterate; in the round after it, many pieces of work, in one of which somebody presses Ctrl-C."""

    def iterates(self, problem, start):
        beta = 0.01 * problem.y
        scores = problem.gram @ beta
        yield Iterate(beta, scores)
        beta += 1.0  # an iterate is valid until the next one only
        scores += 1.0
        for_each(range(1000), work_or_ring, 1)
        yield Iterate(beta, scores)


done: list[int] = []


def work_or_ring(task):
    done.append(task)
    if task == 3:
        ring()


def test_a_round_is_given_up_at_the_next_piece():
    done.clear()
    problem = Problem.of(Gaussian(1.0), X, Y.astype(float))
    solution = solve(problem, Slow(), tol=1e-9)
    assert done == [0, 1, 2, 3]
    assert solution.status is Status.INTERRUPTED and solution.iterations == 1
    assert_array_equal(np.abs(solution.beta), np.full(240, 0.01))
    assert_allclose(solution.certificate.primal, problem.certify(solution.beta, solution.b).primal)


class Astray(Solver):
    """An answer that is worse than none, and then Ctrl-C: what is known of its scores is known."""

    def iterates(self, problem, start):
        beta = np.where(problem.y > 0, 1.5 / np.count_nonzero(problem.y > 0), 0.0)
        yield Iterate(beta, problem.gram @ beta)
        done.clear()
        work_or_ring(3)
        check_limits()


def test_what_is_known_of_an_answer_is_not_computed_again(monkeypatch):
    """A constant takes the place of an answer that costs more; the bound is that of the answer, checked on a sample."""
    clock = [0.0]
    monkeypatch.setattr("mercer.limits.clock", lambda: clock[0])
    monkeypatch.setattr(sys.modules["mercer.gram.evidence"], "_SAMPLE", 100)

    def nearly_one(x, z):
        done.append(1)
        clock[0] += 1e-3  # seconds: there is no time to compute all values again
        return float(np.exp(-1e-6 * (x - z) @ (x - z)))

    points, y = np.random.default_rng(1).normal(size=(1200, 2)), np.where(np.arange(1200) < 20, 1.0, -1.0)
    gram = PointsGram(FromFunction(nearly_one), points, "10MB")
    solution = solve(Problem(gram, y, C=1.0, bias=False), Astray())
    assert solution.status is Status.INTERRUPTED and not solution.beta.any()
    assert_allclose(solution.certificate.dual, 1.5 - 1.5**2 / 2, rtol=1e-3)
    assert len(done) < 0.35 * 1200 * 20  # nor is the kernel tried on some points only now, 100 x 100


def test_a_slow_kernel_is_given_up_at_the_next_row():
    calls = []

    def function(x, z):
        calls.append(1)
        if len(calls) == 1000:
            ring()
        return float(x @ z)

    X = np.eye(100)
    machine = SVR(FromFunction(function))
    with pytest.raises(KeyboardInterrupt, match="nothing useful is proved"):
        machine.fit(X, X[:, 0])
    assert machine.certificate_.relative_gap == 1.0
    assert machine.predict(X[:3]).shape == (3,)

    calls.clear()
    with pytest.raises(KeyboardInterrupt), stopped_by(None):
        FromFunction(function)(X)  # nobody keeps anything: at once
    assert len(calls) == 1000


def test_solve_returns_and_says_so_whatever_the_gap():
    """A Solution is a value, that an exception would lose; a loop over problems looks at its status."""
    problem = Problem.of(Gaussian(1.0), X, Y.astype(float))
    solution = solve(problem, callback=lambda step: ring() if step.relative_gap < 1e-4 else None)
    assert solution.status is Status.INTERRUPTED and solution.certificate.relative_gap < 1e-3
    with interruptible() as interrupt:  # whoever is further out hears of it there, and the gap decides
        nested = solve(problem, callback=lambda step: ring() if step.relative_gap < 1e-4 else None)
    assert interrupt.asked and nested.status is Status.CONVERGED


def test_threads_stop_at_the_next_piece():
    begun, interrupt = [], Interrupt()

    def work(task):
        begun.append(task)
        if task == 5:
            interrupt.asked = True

    with pytest.raises(StoppedError), stopped_by(interrupt):
        for_each(range(10_000), work, 2)
    assert 6 <= len(begun) <= 7


def test_linear_algebra_is_not_waited_for(monkeypatch):
    going_on = threading.Event()

    def endless(*given, **options):
        os.kill(os.getpid(), signal.SIGINT)
        assert going_on.wait(PATIENCE)

    with pytest.raises(KeyboardInterrupt):
        apart(endless)
    monkeypatch.setattr("numpy.linalg.eigh", endless)
    with pytest.raises(KeyboardInterrupt):
        evidence(np.eye(3))
    with pytest.raises(KeyboardInterrupt):
        KernelRidge(alpha="loo").fit(X, X[:, 0])
    with pytest.raises(KeyboardInterrupt):
        SpectralMap().fit(X)
    with pytest.raises(KeyboardInterrupt):
        Nystrom(landmarks=5).fit(X)
    with pytest.raises(StoppedError), interruptible() as interrupt, stopped_by(interrupt):
        apart(endless)  # where Ctrl-C is a request
    going_on.set()
    assert apart(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 / 0)


def test_a_factor_looks_up_between_panels(monkeypatch):
    monkeypatch.setattr(triangular, "_PANEL", 50)
    A = Gaussian(1.0)(X)
    looks = []

    class Third(Interrupt):
        @property
        def asked(self):
            looks.append(1)
            return len(looks) == 3

        @asked.setter
        def asked(self, value):
            pass

    def in_weights():
        return factored(A + np.eye(240))

    assert_allclose(in_weights(), np.linalg.cholesky(A + np.eye(240)), rtol=1e-9, atol=1e-14)
    with pytest.raises(StoppedError), stopped_by(Third()):
        in_weights()
    with pytest.raises(ValueError, match="no Cholesky factor"):
        factored(np.full((3, 3), np.nan))


def test_features_are_mapped_in_pieces(monkeypatch):
    phi = RandomFourier(Gaussian(1.0), 10, random_state=0).fit(X)
    whole = phi.transform(X)
    monkeypatch.setattr(features, "_ROWS", 100)
    assert_allclose(phi.transform(X), whole)
    mapped, rows = RandomFourier._map, []

    def ring_at_the_second(self, X):
        rows.append(len(X))
        if len(rows) == 2:
            ring()
        return mapped(self, X)

    monkeypatch.setattr(RandomFourier, "_map", ring_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        phi.transform(X)
    assert rows == [100, 100]


# Other handlers than Python's own.


@pytest.fixture
def own_handler():
    """Install a handler for a while."""
    yield lambda handler: signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_handler_that_raises_is_heard_first(own_handler, monkeypatch):
    seen = []

    def own(number, frame):
        seen.append(number)
        raise KeyboardInterrupt

    own_handler(own)
    hear(monkeypatch, ringing(1)[0])
    machine = SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)")
    with pytest.raises(KeyboardInterrupt, match="keeps its best answer"):
        machine.fit(X, Y)
    assert seen == [signal.SIGINT] and machine.predict(X).shape == (240,)
    assert signal.getsignal(signal.SIGINT) is own


@pytest.mark.parametrize("handler", [lambda number, frame: None, signal.SIG_IGN])
def test_a_handler_that_goes_on_has_its_way(handler, own_handler, monkeypatch):
    own_handler(handler)
    hear(monkeypatch, ringing(1)[0])
    assert SVC().fit(X, Y).certificate_.converged
    assert signal.getsignal(signal.SIGINT) is handler


def test_in_a_task_of_asyncio(monkeypatch):
    """asyncio's handler cancels the task, which would be heard only when the fit has ended by itself."""
    machine, after = SVC(C=1e4, tol=1e-12, solver="decomposition(working_set=8)"), []
    hear(monkeypatch, ringing(1)[0])

    async def main():
        machine.fit(X, Y)
        after.append(1)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert machine.certificate_.status is Status.INTERRUPTED and machine.predict(X).shape == (240,)
    assert not after


def test_outside_the_main_thread(monkeypatch):
    """Signals go to the main thread, which may have ended its wait; a fit elsewhere is not disturbed."""
    statuses = []
    thread = threading.Thread(target=lambda: statuses.append(SVC().fit(X, Y).certificate_.status))
    thread.start()
    thread.join()
    assert statuses == [Status.CONVERGED]

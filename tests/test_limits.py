"""time_limit is a limit: by a clock of counted work, every machine ends in time, with an answer that is of use."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    SVC,
    SVR,
    KernelLogistic,
    KernelPerceptron,
    KernelRidge,
    deadline,
)
from mercer.kernels import FromFunction
from mercer.solution import Status

N = 600
SLACK = 1.1, 0.5  # what is promised: the limit, a tenth of it, and half a second


class Clock:
    """Seconds that pass when somebody reads the clock, and when work is counted."""

    def __init__(self, tick: float = 0.0) -> None:
        self.seconds, self.tick = 100.0, tick

    def __call__(self) -> float:
        self.seconds += self.tick
        return self.seconds


@pytest.fixture
def ticking(monkeypatch):
    """A clock on which one look takes a millisecond, and a multiplication of a matrix product about 2e-11 seconds."""
    clock = Clock(0.001)
    monkeypatch.setattr(deadline, "clock", clock)
    return clock


@pytest.fixture
def counted(monkeypatch):
    """A kernel of which each value takes 1e-5 seconds of a clock that nothing else moves."""
    clock = Clock()
    monkeypatch.setattr(deadline, "clock", clock)

    def gaussian(x, z):
        clock.seconds += 1e-5
        return float(np.exp(-0.5 * ((x - z) @ (x - z))))

    return clock, FromFunction(gaussian)


def data(n=N):
    """Points of two classes, which no constant and no line tells apart."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


MACHINES = {
    "SVC": lambda kernel, t: SVC(kernel, C=10.0, time_limit=t),
    "SVC, subgradient": lambda kernel, t: SVC(kernel, C=10.0, solver="subgradient", time_limit=t),
    "SVC, stochastic": lambda kernel, t: SVC(kernel, C=10.0, solver="stochastic_subgradient", time_limit=t),
    "SVC, qp": lambda kernel, t: SVC(kernel, C=10.0, solver="qp", time_limit=t),
    "SVR": lambda kernel, t: SVR(kernel, C=10.0, time_limit=t),
    "logistic": lambda kernel, t: KernelLogistic(kernel, C=10.0, time_limit=t),
    "logistic, newton": lambda kernel, t: KernelLogistic(kernel, C=10.0, solver="newton", time_limit=t),
    "ridge": lambda kernel, t: KernelRidge(kernel, time_limit=t),
    "ridge, loo": lambda kernel, t: KernelRidge(kernel, alpha="loo", time_limit=t),
    "ridge, conjugate gradients": lambda kernel, t: KernelRidge(kernel, solver="conjugategradient", time_limit=t),
    "ridge, landmarks": lambda kernel, t: KernelRidge(kernel, solver="nystrom(landmarks=400)", time_limit=t),
    "perceptron": lambda kernel, t: KernelPerceptron(kernel, time_limit=t),
}


def explained(machine, X, y):
    """The part of the targets that f gets right, beyond what a constant does: 0 for a constant, 1 at best."""
    found = machine.predict(X)
    return 1.0 - np.mean((found - y) ** 2) / np.mean((y - y.mean()) ** 2)


@pytest.mark.parametrize("name", MACHINES)
def test_slow_kernels_end_in_time_with_an_answer(name, counted):
    clock, kernel = counted
    X, y = data()
    limit = 0.4  # seconds, of 3.6 for all values
    began = clock.seconds
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine = MACHINES[name](kernel, limit).fit(X, y)
    assert clock.seconds - began <= SLACK[0] * limit + SLACK[1]
    assert machine.certificate_.status is Status.OUT_OF_TIME
    assert explained(machine, X, y) > 0.2

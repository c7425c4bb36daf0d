"""Pass after pass (epoch) over the points: limits, clock, Ctrl-C, history, and the proof that it will never end.

A perceptron whose f comes back to where it was before has made mistakes meanwhile whose y phi(x) add up to zero: a
convex combination of them is zero, so that no f separates the classes (and with a fixed order it goes round for ever).
The f after some pass is remembered, a later one after twice as many passes (Brent), and each new one compared with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..limits import Deadline, interruptible, now
from ..parallel import crew_kept, one_blas_thread
from ..progress import Watch
from ..solution import Inseparable, Status, Step
from ..types import Array, Index
from .margin import INSEPARABLE, as_objectives, bounds


class Update(NamedTuple):
    """A mistake: in which pass, on which row of X, its score, its alpha afterwards; of which machine of several."""

    epoch: int
    point: int
    score: float
    alpha: int
    machine: int = 0


class Learner(ABC):
    """Machines of two classes each that learn side by side from the points of one X."""

    alpha: Array
    """The mistakes of each machine on each row of X."""

    made: Array
    """The mistakes of each machine in this pass."""

    Y: Array
    """The labels -1 and +1 of each row of X, times its weight (> 0), for each machine: what a mistake adds."""

    trace: list[Update] | None

    @abstractmethod
    def pieces(self, order: Index, active: Array, epoch: int) -> Iterator[None]:
        """One pass, in bounded pieces of work, after each of which everything is as it should be."""

    @abstractmethod
    def scores(self) -> Array:
        """f(x_i) of each machine for each row of X, as it is now."""

    @abstractmethod
    def norms(self) -> tuple[Array, Array]:
        """|f| of each machine, divided by eta, and M, the sum of its weights."""

    @abstractmethod
    def support(self, machine: int) -> int:
        """How many points have a weight in f."""

    @abstractmethod
    def state(self, machine: int) -> Any:
        """What `distance` compares with."""

    @abstractmethod
    def distance(self, machine: int, state: Any) -> float:
        """|f - f'| / eta for an earlier f'."""

    def end_seconds(self, taken: float) -> float:
        """What it will take to certify f as it is now, after so many seconds of learning."""
        return 0.0

    @property
    @abstractmethod
    def size(self) -> float:
        """The largest |phi(x_i)|."""

    def note(self, epoch: int, rows: Index, made: Array, scores: Array) -> None:
        """Count the mistakes on some rows, each of which was seen once."""
        self.made += made.sum(axis=1)
        self.alpha[:, rows] += made
        if self.trace is not None:
            for p, c in np.argwhere(made.T).tolist():
                self.trace.append(Update(epoch, int(rows[p]), float(scores[c, p]), int(self.alpha[c, rows[p]]), c))


@dataclass(frozen=True, eq=False)
class Outcome:
    """How each machine ended: its status, the proof where there is one, its history; and the passes made."""

    statuses: list[Status]
    proofs: list[Inseparable | None]
    histories: list[tuple[Step, ...]]
    epochs: int
    seconds: float


def train(learner: Learner, orders: Iterator[Index], *, max_epochs: int, deadline: Deadline, watch: Watch) -> Outcome:
    """Passes until none makes a mistake, a proof that this cannot be, or a limit."""
    run = _Run(learner, watch)
    with interruptible() as interrupt, one_blas_thread(), crew_kept():

        def why_stop() -> Status | None:
            if interrupt.asked:
                return Status.INTERRUPTED
            late = deadline.limited and learner.end_seconds(now() - deadline.began) >= deadline.left()
            return Status.OUT_OF_TIME if late else None

        while run.stop is None and None in run.statuses:
            run.stop = one_pass(learner, next(orders), run.active(), run.epoch + 1, why_stop)
            run.after_pass()
            if run.stop is None and run.epoch >= max_epochs:
                run.stop = Status.OUT_OF_ITERATIONS
    return run.outcome()


def one_pass(
    learner: Learner, order: Index, active: Array, epoch: int, why_stop: Callable[[], Status | None] = lambda: None
) -> Status | None:
    """A pass; gives back why it was broken off, if it was."""
    learner.made[:] = 0
    with one_blas_thread(), crew_kept():
        for _ in learner.pieces(order, active, epoch):
            stop = why_stop()
            if stop is not None:
                return stop
    return None


class _Run:
    """The passes so far, and how each machine stands: a status None is one that goes on."""

    def __init__(self, learner: Learner, watch: Watch) -> None:
        self.learner, self.watch = learner, watch
        self.began, self.epoch = now(), 0
        machines = len(learner.Y)
        self.stop: Status | None = None
        self.statuses: list[Status | None] = [None] * machines
        self.proofs: list[Inseparable | None] = [None] * machines
        self.histories: list[list[Step]] = [[] for _ in range(machines)]
        self.earlier = [_Remembered(learner, machine) for machine in range(machines)]

    def active(self) -> Array:
        """Which machines go on."""
        return np.array([status is None for status in self.statuses])

    def after_pass(self) -> None:
        """After a pass: the bounds that it gives, and whether a machine has come to its end."""
        self.epoch += 1
        learner = self.learner
        scores, (norms, weights) = learner.scores(), learner.norms()
        for c in np.flatnonzero(self.active()).tolist():
            primal, dual = as_objectives(*bounds(np.sign(learner.Y[c]) * scores[c], norms[c], weights[c]))
            step = Step(self.epoch, primal, dual, learner.support(c), now() - self.began)
            self.histories[c].append(step)
            self.proofs[c] = self.earlier[c].proof()
            if self.proofs[c] is not None:
                self.statuses[c] = Status.INFEASIBLE
            elif self.stop is None and learner.made[c] == 0:
                self.statuses[c] = Status.CONVERGED
            if self.watch.round(c, step):
                self.stop = self.stop or Status.INTERRUPTED

    def outcome(self) -> Outcome:
        """How it ended."""
        ended = [self.stop if status is None else status for status in self.statuses]
        statuses = [status for status in ended if status is not None]
        histories = [tuple(steps) for steps in self.histories]
        return Outcome(statuses, self.proofs, histories, self.epoch, now() - self.began)


class _Remembered:
    """An earlier f of a machine, to compare later ones with."""

    def __init__(self, learner: Learner, machine: int) -> None:
        self.learner, self.machine = learner, machine
        self.age, self.until = 0, 1
        self._remember()

    def _remember(self) -> None:
        self.state, self.alpha = self.learner.state(self.machine), self.learner.alpha[self.machine].copy()

    def proof(self) -> Inseparable | None:
        """Why no f separates the classes, if f is again what it was."""
        weights = (self.learner.alpha[self.machine] - self.alpha) * np.abs(self.learner.Y[self.machine])
        total = float(weights.sum())
        if total > 0.0:
            bound = INSEPARABLE * self.learner.size
            distance = self.learner.distance(self.machine, self.state) / total
            if distance <= bound:
                return Inseparable(weights / total, distance, bound, np.sign(self.learner.Y[self.machine]))
        self.age += 1
        if self.age == self.until:
            self.age, self.until = 0, 2 * self.until
            self._remember()
        return None

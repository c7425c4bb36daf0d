"""Solver: a generator of iterates. It knows nothing of tolerances and limits; `solve` does.

Between bounded pieces of a long round it may `check_limits()`, which may raise: its last iterate then stands.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..amounts import AT_A_TIME, LARGEST, ROUNDING, ROUNDS
from ..memory import DOUBLE
from ..params import Parameters
from ..parse import parse, plain_name
from ..problem import Problem, feasible_start
from ..solution import Status
from ..types import Array

WHOLE = LARGEST.working_set  # Points of a full working set.
LANDMARKS = 1000  # Where nobody names a number.
MOST_LANDMARKS = 2 * LANDMARKS  # Where time is short, and nobody names a number.
LANDMARK_BYTES = AT_A_TIME.copies * DOUBLE  # Of each value that landmarks have with all points, where these are held.

REGISTRY: dict[str, type[Parameters]] = {}
"""Every solver, and every step rule of a solver, that can be written as text, by its names."""


class Raw(NamedTuple):
    """The objective of a machine, and the machine, where it is to be kept."""

    value: float
    beta: Array | None = None
    b: float | None = None


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where a solver stands: coefficients, K beta as the solver believes it to be (None: not known), b, the dual value.

    gap: primal minus dual, where the solver knows it. partial: too much of K beta is out of date for a certificate
    to be worth its while. behind: some of it is out of date, and nobody knows by how much. done: the solver can do
    no more until it is sent K beta, recomputed. dual_beta: a feasible dual point, where beta is none; the dual
    value is then that of this point. work: values of K that were computed or read until now, where the solver
    counts them. weights: w with f = Z w + b for explicit features Z, where that is the answer, and sum beta_i z_i
    is w only up to rounding; beta is a dual point then. error: by how much scores, each or all, may be wrong, proved.
    note: what users should know of how the solver came here. raw: where a method stands whose answer is another
    machine. fetch: gets K beta, up to date, and its error, where that is too much to come with every iterate; None,
    once the solver has gone on. by: who found it, where that is another solver, for the reason in the note. An iterate
    is valid until the next one.
    """

    beta: Array
    scores: Array | None = None
    b: float | None = None
    dual: float | None = None
    partial: bool = False
    behind: bool = False
    done: bool = False
    dual_beta: Array | None = None
    gap: float | None = None
    work: float | None = None
    weights: Array | None = None
    error: Array | float = np.inf
    note: str = ""
    raw: Raw | None = None
    fetch: Callable[[], tuple[Array, Array | float] | None] | None = None
    by: Solver | None = None


@dataclass(frozen=True, eq=False)
class Several:
    """Where a solver stands with several columns at once, an answer and a certificate for each.

    primal, gap: of each column, as the solver sees them. size: how many coefficients there are. doubt: why the kernel
    may not be positive definite. working: nothing new yet, and no round. done: worth a certificate.
    """

    primal: Array
    gap: Array
    b: Array
    size: int
    doubt: str | None

    def stopped(self) -> Several:
        """The answer, should the solver be asked to stop now."""
        return self

    def better(self, than: Any) -> bool:
        """Whether this answer takes the place of another."""
        raise NotImplementedError

    def enough(self, tol: float) -> bool:
        """Whether every column is as good as this."""
        raise NotImplementedError


class Work(NamedTuple):
    """Kernel values, and multiplications of matrices."""

    values: float = 0.0
    flops: float = 0.0


class Solver(Parameters):
    """Settings of an algorithm: a frozen dataclass.

    `iterates(problem, start)` yields after each bounded piece of work. Where `solve` has recomputed K beta, it sends it
    back, so that the solver goes on from the exact values. `check(problem)` says what the solver needs.
    """

    needs_quadratic: ClassVar[bool] = False
    factors: ClassVar[bool] = False
    """Whether most of the work is left to BLAS, which then keeps its threads."""

    hurried: ClassVar[bool] = False
    """Whether its first answer is soon there: others turn to it where time is short."""

    ridge: ClassVar[bool] = False
    """Whether it is for ridge regression, all targets at once."""

    exhausted: ClassVar[Status] = Status.STALLED
    """What it means that there are no more iterates."""

    def __init_subclass__(cls, names: tuple[str, ...] | None = None, **options: Any) -> None:
        """Make the class known to the parser."""
        super().__init_subclass__(**options)
        for name in (cls.__name__,) if names is None else names:
            REGISTRY[plain_name(name)] = cls

    def check(self, problem: Any) -> None:
        """Raise where the solver needs what the problem does not have."""
        if self.needs_quadratic and not problem.loss.quadratic:
            raise ValueError(
                f"{type(self).__name__} needs a loss with a quadratic dual, and that of {problem.loss!r} is not: "
                "leave the solver out, and one that serves this loss is chosen."
            )

    def first_work(self, problem: Any) -> Work:
        """What it takes until the first iterate that is of use, where that may be long: it is not begun without time
        for it.
        """
        return Work()

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        """Iterates; the dual value does not fall, the primal may rise now and then."""
        raise NotImplementedError


def repaired(problem: Problem, beta: Array) -> Array:
    """A dual feasible point near beta: within the bounds, the sum made right by the free coefficients."""
    box = problem.bounds
    beta = box.nearest(beta)
    for end in box:  # what differs from a bound by rounding is at the bound, and not free
        beta = np.where(np.abs(beta - end) < ROUNDING.of_a_sum * np.abs(end), end, beta)
    for _ in range(ROUNDS.in_vain if problem.bias else 0):
        lack = problem.mass - float(beta.sum())
        if abs(lack) <= ROUNDING.of_a_sum * float(np.abs(beta).sum()):
            return beta
        free = np.flatnonzero(box.free(beta) & (beta != 0.0))
        if free.size == 0:
            break
        beta[free] += lack / free.size
        beta = box.nearest(beta)
    return feasible_start(problem, beta)


def require_features(solver: Solver, problem: Any, design: Any) -> None:
    """Raise where the points of a problem have no explicit features."""
    if design is None:
        raise ValueError(
            f"{type(solver).__name__} needs explicit features, which {problem.gram!r} does not have: leave the solver "
            "out, and one that serves it is chosen."
        )


def solver(text: str | Solver, ridge: bool | None = None) -> Solver:
    """A solver from its text, such as "decomposition(working_set=512)"; a solver is returned as it is.

    Errors offer those that one would name: of ridge regression, of all else, or of both (None).
    """
    if isinstance(text, Solver):
        return text
    named = {name: cls for name, cls in REGISTRY.items() if issubclass(cls, Solver) and not cls.hurried}
    offered = [name for name, cls in named.items() if ridge in (None, cls.ridge)]
    found = parse(text, REGISTRY, "solver", offered=offered)
    if not isinstance(found, Solver):
        raise ValueError(f"{text!r} is not a solver.")
    return found

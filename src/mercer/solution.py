"""What a fit gives back: how good the answer is (Certificate), how it came about (Step), and the answer (Solution)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Any

import numpy as np

from .types import Array


class Status(Enum):
    """How a fit ended; the text is the advice."""

    CONVERGED = "converged"
    OUT_OF_ITERATIONS = "out of iterations: raise max_iter, or tol if the gap is small enough for you"
    OUT_OF_TIME = "out of time: raise time_limit, or tol if the gap is small enough for you"
    INTERRUPTED = "interrupted: this is the best answer so far; mercer.solve(..., start=) goes on from it"
    INFEASIBLE = "infeasible: the classes cannot be separated by a hard margin; choose a finite C or another kernel"
    APPROXIMATE = (
        "approximate: landmarks stand for all points; take more of them, or raise tol if the gap is small enough"
    )
    NOT_SEPARATED = (
        "every pass made mistakes: the data may not be separable; raise max_epochs, or choose another kernel"
    )
    INSEPARABLE = "inseparable: no f has every point on its side, and here is the proof; choose another kernel"
    STALLED = "stalled: rounding errors hide any further progress; scale the data, or raise tol"
    DIVERGED = "diverged: the steps are too long; take shorter ones, or Automatic()"
    INDEFINITE = "the kernel is not positive definite, so the gap bounds nothing: the answer may be a local one"
    EXAMINED = "examined: an answer that was given, not found here"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Step:
    """One round of a solver, as the solver saw it."""

    iteration: int
    primal: float
    dual: float
    support: int
    seconds: float

    @property
    def gap(self) -> float:
        """primal - dual."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap in parts of the objective."""
        return relative(self.gap, self.primal, self.dual)


@dataclass(frozen=True, eq=False)
class Inseparable:
    """Why there is no hard margin: two convex combinations, one of each class, that meet up to rounding.

    weights: per point, >= 0, summing to 1 over each class. distance: |sum_i y_i weights_i phi(x_i)|, between the two
    combinations, in feature space. bound: what rounding errors alone may amount to. Without a bias the weights sum to 1
    over all points: a convex combination of the y_i phi(x_i) is zero up to rounding.
    """

    weights: Array
    distance: float
    bound: float

    def __str__(self) -> str:
        what = "two convex combinations of the classes are {:.2g} apart"
        if self.weights.sum() < 1.5:
            what = "a convex combination of the points y phi(x) is {:.2g} from zero"
        return f"{what.format(self.distance)}, which is no more than rounding ({self.bound:.2g})"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved of an answer: no answer has an objective below `dual`, and this one has `primal`.

    relative_gap is (primal - dual) / max(|primal|, |dual|), with `rounding` added to the gap: what float32 kernel
    values may have changed, measured on a sample (0 where all was float64). kkt_violation: by how much the optimality
    conditions fail. feasibility: by how much the dual coefficients leave their bounds, relative to them. residuals: the
    share of each point in the gap.
    """

    primal: float
    dual: float
    rounding: float = 0.0
    kkt_violation: float = 0.0
    feasibility: float = 0.0
    status: Status = Status.EXAMINED
    residuals: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    proof: Inseparable | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """primal - dual, never negative, and the rounding."""
        gap = self.primal - self.dual
        return max(gap, 0.0) + self.rounding if gap == gap else np.inf

    @property
    def relative_gap(self) -> float:
        """The gap in parts of the objective: 0 is the best possible answer."""
        return relative(self.gap, self.primal, self.dual)

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.status is Status.CONVERGED

    def __str__(self) -> str:
        if self.status is Status.INFEASIBLE and self.proof is not None:
            return f"{self.status}\n  {self.proof}"
        rounding = f", rounding {self.rounding:.1e}" if self.rounding else ""
        return (
            f"{self.status}\n  {self.words()}"
            f"\n  primal {self.primal:.8g}, dual {self.dual:.8g}, gap {self.gap:.2e}{rounding}"
            f"\n  largest KKT violation {self.kkt_violation:.1e}, feasibility {self.feasibility:.1e}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"  # a notebook shows what print does

    def words(self) -> str:
        """How good the answer is, in one phrase: the best objective is at least (1 - relative gap) of this one's."""
        gap = self.relative_gap
        if not gap < 0.5:
            return f"nothing useful is proved of this answer yet (relative gap {gap:.1e})"
        if self.status is Status.INDEFINITE:
            return f"relative gap {gap:.1e}"
        percent = f"{100 * gap:.2g}" if gap < 1e-4 else f"{100 * gap:.2f}"
        return f"within {percent}% of the best possible (relative gap {gap:.1e})"


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer f = sum_i beta_i k(x_i, .) + b, its certificate, and how it came about."""

    beta: Array = field(repr=False)
    b: float
    certificate: Certificate
    history: tuple[Step, ...] = field(default=(), repr=False)
    seconds: float = 0.0
    solver: Any = None
    reason: str = ""
    """Why this solver was chosen; empty where it was asked for."""

    dual_beta: Array | None = field(default=None, repr=False)
    """The dual point of the certificate, where it is not beta."""

    work: float = 0.0
    """Values of K that were computed or read; where a solver does not count them, its rounds as full ones."""

    weights: Array | None = field(default=None, repr=False)
    """w of f = Z w + b for explicit features Z, where that is the answer, and beta a dual point alone."""

    @property
    def status(self) -> Status:
        """How the fit ended."""
        return self.certificate.status

    @property
    def iterations(self) -> int:
        """The number of rounds."""
        return len(self.history)

    @property
    def support(self) -> Array:
        """The points with a coefficient."""
        return np.flatnonzero(self.beta)

    def __str__(self) -> str:
        rounds = f"{self.iterations} rounds, {self.support.size} support vectors, {self.seconds:.3g} s"
        why = f" (chosen because {self.reason})" if self.reason else ""
        return f"{self.solver!r}{why}: {rounds}\n{self.certificate}"


def relative(gap: float, primal: float, dual: float) -> float:
    """gap / max(|primal|, |dual|), with 0/0 := 0."""
    scale = max(abs(primal), abs(dual))
    if gap == 0.0:
        return 0.0
    return gap / scale if scale > 0.0 and np.isfinite(gap) else float("inf")

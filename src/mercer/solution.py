"""What a fit gives back: how good the answer is (Certificate), how it came about (Step), and the answer (Solution)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from html import escape
from math import isfinite
from textwrap import indent
from typing import Any, Self

import numpy as np

from .inseparable import Inseparable as Inseparable
from .shown import table
from .ties import first_largest
from .types import Array


class Status(Enum):
    """How a fit ended; the text is the advice."""

    CONVERGED = "converged"
    OUT_OF_ITERATIONS = "out of iterations: raise max_iter, or tol if the gap is small enough for you"
    OUT_OF_TIME = "out of time: raise time_limit, or tol if the gap is small enough for you"
    INTERRUPTED = "interrupted: this is the best answer so far"
    INFEASIBLE = (
        "inseparable: the classes cannot be separated, and here is the proof; choose a finite C or another kernel"
    )
    APPROXIMATE = (
        "approximate: landmarks stand for all points; take more of them, or raise tol if the gap is small enough"
    )
    STALLED = "stalled: rounding errors hide any further progress; scale the data, or raise tol"
    DIVERGED = "diverged: the steps are too long; take shorter ones, or Automatic()"
    INDEFINITE = "the kernel is not positive definite, so the gap bounds nothing: the answer may be a local one"
    WORKERS_LOST = "workers lost: the best answer so far, its gap as the solver saw it; start workers, and fit again"

    def __str__(self) -> str:
        return self.value

    @property
    def word(self) -> str:
        """Its name in plain letters: out of time."""
        return self.name.lower().replace("_", " ")

    def __reduce__(self) -> tuple[type[Status], tuple[str]]:
        """Rebuilt from its text: who asks for this rather than for Enum's __reduce_ex__, as skops does, gets it too."""
        return type(self), (self.value,)


@dataclass(frozen=True)
class Step:
    """One round of a solver, as the solver saw it.

    Attributes
    ----------
    iteration : int
        Its number, from 1.
    primal : float
        The primal value.
    dual : float
        The dual value.
    support : int
        How many coefficients are not 0.
    seconds : float
        Since the beginning.
    raw : float or None
        Of a method whose steps may lead upwards, the objective where it stands; primal is that of its answer.
    beta : array or None
        Where it stands, if it was asked to keep that (`Subgradient(keep=True)`): f = sum beta_i k(x_i, .) + b.
    b : float or None
        The bias there. Neither these two nor `raw` are written into files.
    """

    iteration: int
    primal: float
    dual: float
    support: int
    seconds: float
    raw: float | None = field(default=None, kw_only=True, compare=False)
    beta: Array | None = field(default=None, kw_only=True, compare=False, repr=False)
    b: float | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def gap(self) -> float:
        """primal - dual."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap in parts of the objective."""
        return relative(self.gap, self.primal, self.dual)

    def unexamined(self, n: int) -> Certificate:
        """What is left to say of an answer that nobody can examine: what its solver saw, and no more."""
        return Certificate(self.primal, self.dual, kkt_violation=np.nan, residuals=np.full(n, np.nan))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved of an answer: no answer has an objective below `dual`, and this one has `primal`.

    relative_gap is (primal - dual) / max(|primal|, |dual|).

    Attributes
    ----------
    primal : float
        The objective of the answer.
    dual : float
        What no answer has an objective below.
    rounding : float
        What float32 kernel values, here or in predictions, may hide of the gap, measured on a sample (0 where all was
        float64), and what is known to be lost in float64; it is added to the gap. Both primal and dual, which move
        together, may be wrong by more: by the tolerance of the fit at most, mostly by less than a tenth of it.
    kkt_violation : float
        By how much the optimality conditions fail.
    feasibility : float
        By how much the dual coefficients leave their bounds, relative to them.
    status : Status or None
        How the fit ended; its text is the advice. None, where an answer was given, and not found here.
    residuals : ndarray of shape (n,)
        The share of each point in the gap; empty, where nobody kept them.
    proof : Inseparable or None
        Why there is no answer, where there is none.
    """

    primal: float
    dual: float
    rounding: float = 0.0
    kkt_violation: float = 0.0
    feasibility: float = 0.0
    status: Status | None = None
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

    @property
    def has_answer(self) -> bool:
        """Whether there is an f: a hard margin has none, where classes cannot be separated."""
        return self.status is not Status.INFEASIBLE

    def proved(self, tol: float) -> Status | None:
        """The status that this certificate proves, if it proves one."""
        if self.status in (Status.INFEASIBLE, Status.INDEFINITE):
            return self.status
        return Status.CONVERGED if self.relative_gap <= tol else None

    def ended(self, stop: Status, tol: float, doubt: str | None = None) -> Self:
        """The same with how the fit ended: what is proved, or else what has stopped it."""
        return replace(self, status=Status.INDEFINITE if doubt is not None else self.proved(tol) or stop)

    @property
    def heading(self) -> str:
        """How the fit ended, as a line of its own; nothing, where there was none."""
        return "" if self.status is None else f"{self.status}\n"

    def __str__(self) -> str:
        if self.proof is not None:
            return f"{self.heading}{indent(self.words(), '  ')}"
        rounding = f", rounding {self.rounding:.1e}" if self.rounding else ""
        return (
            f"{self.heading}  {self.words()}"
            f"\n  primal {self.primal:.8g}, dual {self.dual:.8g}, gap {self.gap:.2e}{rounding}"
            f"\n  largest KKT violation {self.kkt_violation:.1e}, feasibility {self.feasibility:.1e}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"  # a notebook shows what print does

    def words(self) -> str:
        """How good the answer is, in one phrase: the best objective is at least (1 - relative gap) of this one's.

        Where there can be no answer, the proof of that.
        """
        if self.proof is not None:
            return str(self.proof)
        gap = self.relative_gap
        if not gap < 0.5:
            return f"nothing useful is proved of this answer yet (relative gap {gap:.1e})"
        if self.status is Status.INDEFINITE:
            return f"relative gap {gap:.1e}"
        percent = f"{100 * gap:.2g}" if gap < 1e-4 else f"{100 * gap:.2f}"
        return f"within {percent}% of the best possible (relative gap {gap:.1e})"


@dataclass(frozen=True, eq=False)
class WorstCertificate(Certificate):
    """The certificate of the worst of several problems.

    relative_gap is the largest of all. Everything else, primal and dual and gap, is of the problem that is named.

    Attributes
    ----------
    name : str
        Which problem this is.
    parts : tuple of Certificate
        Those of all problems.
    """

    name: str = ""
    parts: tuple[Certificate, ...] = field(default=(), repr=False)

    @property
    def relative_gap(self) -> float:
        """The largest relative gap: every part is at least as good."""
        return max([part.relative_gap for part in self.parts] or [super().relative_gap])

    def words(self) -> str:
        words = super().words()
        return f"all are {words}" if self.parts and words.startswith("within") else words

    def __str__(self) -> str:
        return f"the worst of {len(self.parts)} problems, {self.name}: {super().__str__()}"


def worst(certificates: Sequence[Certificate], names: str | Sequence[str], tol: float) -> Certificate:
    """The certificate of them all: that with the largest relative gap, of those that have not converged if there are
    any; ties go to the first.

    Gaps that differ by no more than `tol` are a tie: what is left of a gap below tol is how the CPU added up. Names may
    be one word, which stands before the number of each.
    """
    if len(certificates) == 1:
        return certificates[0]
    everyone = range(len(certificates))
    worse = [i for i in everyone if not certificates[i].converged] or everyone
    number = worse[first_largest([certificates[i].relative_gap for i in worse], tol)]
    found, name = certificates[number], f"{names} {number}" if isinstance(names, str) else names[number]
    if isinstance(found, WorstCertificate):  # as those of ridge regression are
        return replace(found, name=name, parts=tuple(certificates))
    own = {f.name: getattr(found, f.name) for f in fields(Certificate)}
    return WorstCertificate(**own, name=name, parts=tuple(certificates))


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The answer f = sum_i beta_i k(x_i, .) + b, its certificate, and how it came about.

    Attributes
    ----------
    beta : ndarray of shape (n,)
        The coefficients.
    b : float
        The bias.
    certificate : Certificate
        How good the answer is.
    history : tuple of Step
        One for each round, as the solver saw it.
    seconds : float
        What it took.
    solver : Solver
        Who found it.
    reason : str
        Why this solver was chosen; empty where it was asked for.
    dual_beta : ndarray or None
        The dual point of the certificate, where it is not beta.
    work : float
        Values of K that were computed or read; where a solver does not count them, its rounds as full ones.
    values : int
        Kernel values that were computed, those of the certificate included; 0, where K was there already.
    weights : ndarray or None
        w of f = Z w + b for explicit features Z, where that is the answer, and beta a dual point alone.
    """

    beta: Array
    b: float
    certificate: Certificate
    history: tuple[Step, ...] = ()
    seconds: float = 0.0
    solver: Any = None
    reason: str = ""
    dual_beta: Array | None = None
    work: float = 0.0
    values: int = 0
    weights: Array | None = None

    @property
    def status(self) -> Status:
        """How the fit ended."""
        assert self.certificate.status is not None
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

    def __repr__(self) -> str:
        gap = f"relative gap {self.certificate.relative_gap:.1e}"
        return f"<Solution: {self.status.word}, {gap}, {self.support.size} support vectors, {self.iterations} rounds>"

    def _repr_html_(self) -> str:
        seen = self.certificate
        rows = [
            ("status", str(seen.status)), ("answer", seen.words()),
            ("primal, dual", f"{seen.primal:.8g}, {seen.dual:.8g}"),
            ("support vectors", f"{self.support.size} of {len(self.beta)}"),
            ("rounds, seconds", f"{self.iterations}, {self.seconds:.3g}"),
            ("solver", f"{self.solver!r}{f': {self.reason}' if self.reason else ''}"),
        ]  # fmt: skip
        return table("Solution", ("", ""), rows)


class Solutions(tuple[Solution, ...]):
    """The answers to several problems, in order."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "<no solutions>"
        status = ", ".join(dict.fromkeys(solution.status.word for solution in self))
        worst = max(solution.certificate.relative_gap for solution in self)
        return f"<{len(self)} solutions: {status}, largest relative gap {worst:.1e}>"

    def _repr_html_(self) -> str:
        head = ("", "status", "relative gap", "support vectors", "rounds", "seconds")
        rows = [
            (str(number), one.status.word, f"{one.certificate.relative_gap:.1e}", str(one.support.size),
             str(one.iterations), f"{one.seconds:.3g}")
            for number, one in enumerate(self)
        ]  # fmt: skip
        return table(f"{len(self)} solutions", head, rows)


class Joint(Solutions):
    """Answers that were found at once, a column for each problem; `found` is where their solver stood."""

    found: Any = None


def one_or_all(solutions: Sequence[Solution]) -> Solution | Solutions:
    """The answer, or the answers to several problems."""
    return solutions[0] if len(solutions) == 1 else Solutions(solutions)


def relative(gap: float, primal: float, dual: float) -> float:
    """gap / max(|primal|, |dual|), with 0/0 := 0."""
    scale = max(abs(primal), abs(dual))
    if gap == 0.0:
        return 0.0
    return gap / scale if scale > 0.0 and isfinite(gap) else float("inf")

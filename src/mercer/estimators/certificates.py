"""One certificate for several machines: that of the worst of them, with the others at hand; and what is said of kernels
that are not positive definite, where a gap proves nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from sklearn.exceptions import NotFittedError

from ..gram import Gram
from ..solution import Certificate, Solution, Status
from ..ties import first_largest


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
        return max((part.relative_gap for part in self.parts), default=super().relative_gap)

    def words(self) -> str:
        words = super().words()
        return f"all are {words}" if self.parts and words.startswith("within") else words

    def __str__(self) -> str:
        return f"the worst of {len(self.parts)} problems, {self.name}: {super().__str__()}"


def worst(certificates: Sequence[Certificate], names: Sequence[str], tol: float) -> Certificate:
    """The certificate of them all."""
    if len(certificates) == 1:
        return certificates[0]
    number = number_of_worst(certificates, tol)
    values = {f.name: getattr(certificates[number], f.name) for f in fields(Certificate)}
    return WorstCertificate(**values, name=names[number], parts=tuple(certificates))


def number_of_worst(certificates: Sequence[Certificate], tol: float) -> int:
    """Which has the largest relative gap, of those that have not converged if there are any; ties go to the first.

    Gaps that differ by no more than `tol` are a tie: what is left of a gap below tol is how the CPU added up.
    """
    everyone = range(len(certificates))
    worse = [i for i in everyone if not certificates[i].converged] or everyone
    return worse[first_largest([certificates[i].relative_gap for i in worse], tol)]


def require_answer(machine: Any) -> None:
    """Raise where the problem that a machine was to solve has no answer."""
    infeasible = [c for c in getattr(machine, "certificates_", ()) if not c.has_answer]
    if infeasible:
        raise NotFittedError(
            f"This {type(machine).__name__} has no answer to predict with, because its problem has none: "
            f"{infeasible[0].status}. The proof is in certificate_.proof."
        )


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive definite, so that a gap bounds nothing."""


def doubted(gram: Gram, solutions: list[Solution]) -> list[Solution]:
    """The same, with a warning and another status where the kernel is seen to be indefinite."""
    if gram.doubt is None:
        return solutions
    text = f"{gram.doubt}. The gap bounds nothing, and the answer may be a local one."
    warnings.warn(text, IndefiniteKernelWarning, stacklevel=5)
    status = Status.INDEFINITE
    return [replace(s, certificate=replace(s.certificate, status=status)) for s in solutions]

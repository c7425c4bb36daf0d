"""How formulas are broken into lines, and numbers of footnotes: what all formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..formula import Chain, Formula, Listing, Sum, Words
from ..steps import Prose, Solution, Step


@dataclass(frozen=True)
class Line:
    """One line of a displayed formula: left side and sign where it has them, and its body.

    `continued` says that the body goes on with a sum that began on the line before.
    """

    left: Formula | None
    sign: str
    body: Formula
    continued: bool = False


def lines(body: Formula, width: int, measure: Callable[[Formula], int]) -> list[Line]:
    """The formula by lines that are no wider than `width`, where it can be broken at all."""
    if isinstance(body, Listing) and not body.braces and measure(body) > width:
        return [Line(None, "", part) for part in _pieces(body, width, measure)]
    if not isinstance(body, Chain):
        return _broken(None, "", body, width, measure)
    if measure(body) <= width:
        return [Line(None, "", body)]
    left, *rest = body.members
    room = max(width - measure(left) - 3, width // 2)
    result: list[Line] = []
    for sign, member in zip(body.signs, rest, strict=True):
        result += _broken(left if not result else None, sign, member, room, measure)
    return result if len(result) > 1 else [Line(None, "", body)]


def _pieces(body: Listing, width: int, measure: Callable[[Formula], int]) -> list[Formula]:
    """A listing in several: cut before words that follow a wide gap, or between items that are set apart."""
    pieces: list[tuple[Formula, ...]] = [()]
    for item in body.items:
        words = isinstance(item, Words) and item.text.startswith("  ")
        full = body.separator and measure(Listing((*pieces[-1], item), body.separator)) > width
        if pieces[-1] and (words or full):
            pieces.append(())
        pieces[-1] = (*pieces[-1], Words(item.text.lstrip()) if isinstance(item, Words) and words else item)
    return [Listing(piece, body.separator) for piece in pieces]


def _broken(
    left: Formula | None, sign: str, body: Formula, width: int, measure: Callable[[Formula], int]
) -> list[Line]:
    if not isinstance(body, Sum) or measure(body) <= width:
        return [Line(left, sign, body)]
    result: list[Line] = []
    chunk: tuple[Formula, ...] = ()
    for term in body.terms:
        if chunk and measure(Sum((*chunk, term))) > width:
            result.append(Line(left, sign, Sum(chunk), continued=bool(result)))
            left, sign, chunk = None, "", ()
        chunk = (*chunk, term)
    result.append(Line(left, sign, Sum(chunk), continued=bool(result)))
    return result


@dataclass
class Reading:
    """What is known while a solution is written from its beginning: the footnotes so far, the marks of what is to come.

    A footnote that comes again keeps its number.
    """

    marks: Iterator[bool | None]
    notes: list[Prose] = field(default_factory=list)

    @classmethod
    def of(cls, solution: Solution) -> Reading:
        """At the beginning."""
        return cls(iter(solution.marks))

    def mark(self) -> bool | None:
        """The mark of the next step: checked, wrong, or None where nothing is checked."""
        return next(self.marks)

    def numbers(self, step: Step) -> list[int]:
        """The numbers of a step's footnotes."""
        for note in step.footnotes:
            if note not in self.notes:
                self.notes.append(note)
        return [self.notes.index(note) + 1 for note in step.footnotes]

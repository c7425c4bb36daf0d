"""A worked solution: the data, and a typed tree of steps, from which all that is shown is rendered.

What is shown is also what is checked: `solution.check()` (see `check`) goes by the data alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .check import Report, check, marks
from .formula import Formula, Symbol, formula
from .problem import Problem

if TYPE_CHECKING:
    from .chart import Chart
    from .picture import Picture


@dataclass(frozen=True)
class Prose:
    """A sentence with formulas in it."""

    parts: tuple[str | Formula, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.parts)


def say(template: str, *formulas: Any) -> Prose:
    """A sentence in which each {} is the next formula."""
    pieces = template.split("{}")
    if len(pieces) != len(formulas) + 1:
        raise ValueError(f"{template!r} has {len(pieces) - 1} places for {len(formulas)} formulas.")
    parts: list[str | Formula] = [pieces[0]]
    for body, piece in zip(formulas, pieces[1:], strict=True):
        parts += [formula(body), piece]
    return Prose(tuple(part for part in parts if part != ""))


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header. A formula in the header is what the cells below it are the values of.

    Row number r stands for `index` = r, and its letters have the meaning of `scopes`[r], where these are given.
    """

    header: tuple[Prose, ...]
    rows: tuple[tuple[Prose, ...], ...]
    index: str = ""
    scopes: tuple[str, ...] = ()

    @classmethod
    def of_points(cls, columns: Sequence[tuple[Formula, Sequence[Any]]]) -> Table:
        """A table with a row for each point, given by its columns of formulas or numbers."""
        header = (say("{}", Symbol("i")), *(say("{}", head) for head, _ in columns))
        cells = zip(*(values for _, values in columns), strict=True)
        return cls(header, tuple((say("{}", i), *(say("{}", c) for c in row)) for i, row in enumerate(cells, 1)), "i")


Block = Formula | Table


@dataclass(frozen=True)
class Step:
    """One step: what is said, its mathematics, and why it is so.

    `scope` names what its letters stand for, and `proof` what is to be proved beyond relations between numbers; both
    are known to the problem, so that a step holds nothing but what it shows.
    """

    statement: Prose
    mathematics: tuple[Block, ...] = ()
    reason: Prose = Prose()
    footnotes: tuple[Prose, ...] = ()
    scope: str = ""
    proof: str = ""


@dataclass(frozen=True)
class Section:
    """Steps, or sections, under a title."""

    title: str
    parts: tuple[Step | Section, ...]

    def steps(self) -> Iterator[Step]:
        """All steps, in order."""
        for part in self.parts:
            if isinstance(part, Step):
                yield part
            else:
                yield from part.steps()


@dataclass(frozen=True)
class Solution:
    """A worked solution: sections of steps, and the answer as exact values by name."""

    title: str
    sections: tuple[Section, ...]
    answer: Mapping[str, Any] = field(default_factory=dict)
    picture: Picture | Chart | None = None
    problem: Problem | None = None

    def steps(self) -> Iterator[Step]:
        """All steps, in order."""
        for section in self.sections:
            yield from section.steps()

    def check(self) -> Report:
        """Derive everything anew from the data alone, compare, and evaluate every relation that is shown."""
        return check(self)

    @cached_property
    def marks(self) -> tuple[bool | None, ...]:
        """Of each step: checked (True), wrong (False), or without a check (None)."""
        return marks(self)

    def to_text(self, width: int = 100) -> str:
        """Plain text for a terminal."""
        from .render.text import document

        return document(self, width)

    def to_markdown(self, picture: str | None = None) -> str:
        """Markdown with formulas in dollar signs; `picture` is the file that holds `to_svg()`, where there is one."""
        from .render.markdown import document

        return document(self, picture)

    def to_svg(self) -> str:
        """The picture as a file of its own."""
        from .render.svg import document

        if self.picture is None:
            raise ValueError("This solution has no picture.")
        return document(self.picture)

    def to_latex(self) -> str:
        """A LaTeX document that compiles as it is."""
        from .render.latex import document

        return document(self)

    def to_html(self, reveal: bool = False) -> str:
        """One self-contained HTML page with MathML; with `reveal`, sections are closed, and a key opens the next."""
        from .render.html import document

        return document(self, reveal)

    def to_json(self, indent: int | None = 2) -> str:
        """The whole tree; `mercer.explain.from_json` reads it back."""
        from .render.json import document

        return document(self, indent)

    def save(self, path: str | Path) -> Path:
        """Write a file in the format that its ending names: .txt, .md (picture beside it), .tex, .html, .json, .svg."""
        path = Path(path)
        picture = path.with_suffix(".svg") if path.suffix == ".md" and self.picture is not None else None
        writers: dict[str, Callable[[], str]] = {
            ".txt": self.to_text,
            ".md": lambda: self.to_markdown(None if picture is None else picture.name),
            ".tex": self.to_latex,
            ".html": self.to_html,
            ".json": self.to_json,
            ".svg": self.to_svg,
        }
        if path.suffix not in writers:
            raise ValueError(f"The ending of {path.name!r} must be one of {', '.join(writers)}.")
        path.write_text(writers[path.suffix](), encoding="utf-8")
        if picture is not None:
            picture.write_text(self.to_svg(), encoding="utf-8")
        return path

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Solution {self.title!r}: {sum(1 for _ in self.steps())} steps>"

    def _repr_html_(self) -> str:
        from .render.html import fragment

        return fragment(self)

    def _repr_latex_(self) -> str:
        from .render.markdown import notebook

        return notebook(self)

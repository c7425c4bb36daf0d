"""A worked solution: a typed tree of steps, each with its statement, mathematics, reason and assertion.

Assertions are executable: `solution.check()` evaluates each of them anew, in exact arithmetic, from what the step
shows. A step that somebody has damaged is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .formula import Chain, Formula, Listing, Symbol, formula
from .meaning import contradicts_itself, holds

if TYPE_CHECKING:
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
    """Rows of cells under a header."""

    header: tuple[Prose, ...]
    rows: tuple[tuple[Prose, ...], ...]

    @classmethod
    def of_columns(cls, columns: Sequence[tuple[Formula, Sequence[Formula]]]) -> Table:
        """A table of formulas, given by its columns."""
        header = tuple(say("{}", head) for head, _ in columns)
        return cls(
            header, tuple(tuple(say("{}", cell) for cell in row) for row in zip(*(c for _, c in columns), strict=True))
        )


Block = Formula | Table


class Assertion:
    """Something that can be checked by machine."""

    def check(self) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class Holds(Assertion):
    """The relation is true, where its symbols stand for what is said."""

    claim: Chain
    where: tuple[tuple[Symbol, Formula], ...] = ()

    def check(self) -> bool:
        return holds(self.claim, dict(self.where))


@dataclass(frozen=True)
class All(Assertion):
    """Each of them is true, and there is at least one."""

    parts: tuple[Assertion, ...]

    def check(self) -> bool:
        return bool(self.parts) and all(part.check() for part in self.parts)


def where(values: Mapping[Symbol, Any]) -> tuple[tuple[Symbol, Formula], ...]:
    """What symbols stand for, as a step keeps it."""
    return tuple((symbol, formula(value)) for symbol, value in values.items())


def claims(*relations: Chain, given: Mapping[Symbol, Any] | None = None) -> Assertion:
    """The assertion that these relations hold."""
    parts = tuple(Holds(relation, where(given or {})) for relation in relations)
    return parts[0] if len(parts) == 1 else All(parts)


@dataclass(frozen=True)
class Step:
    """One step: what is said, its mathematics, why it is so, and what can be checked of it."""

    statement: Prose
    mathematics: tuple[Block, ...] = ()
    reason: Prose = Prose()
    assertion: Assertion | None = None
    footnotes: tuple[Prose, ...] = ()

    def check(self) -> bool:
        """Whether its assertion holds, and whether the numbers that it shows agree with each other."""
        if any(contradicts_itself(relation) for relation in self.shown()):
            return False
        return self.assertion is None or self.assertion.check()

    @cached_property
    def checked(self) -> bool:
        """The result of `check`, kept."""
        return self.check()

    @property
    def mark(self) -> bool | None:
        """What is printed beside it: checked, wrong, or nothing where it asserts nothing."""
        return None if self.assertion is None and self.checked else self.checked

    def shown(self) -> Iterator[Chain]:
        """Every relation that the reader sees."""
        sentences = [self.statement, self.reason]
        for body in self.mathematics:
            if isinstance(body, Table):
                sentences += [cell for row in body.rows for cell in row]
            else:
                sentences.append(Prose((body,)))
        for sentence in sentences:
            for part in sentence.parts:
                if isinstance(part, Formula):
                    yield from _relations(part)


def _relations(body: Formula) -> Iterator[Chain]:
    if isinstance(body, Chain):
        yield body
    elif isinstance(body, Listing):
        for item in body.items:
            yield from _relations(item)


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
class Report:
    """How many assertions were checked, and the steps that failed."""

    checked: int
    failures: tuple[Step, ...]

    def __bool__(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        if self:
            return f"All {self.checked} assertions hold."
        from .render.text import prose

        wrong = "".join(f"\n  {prose(step.statement)}" for step in self.failures)
        return f"{len(self.failures)} of {self.checked} assertions do NOT hold:{wrong}"


@dataclass(frozen=True)
class Solution:
    """A worked solution: sections of steps, and the answer as exact values by name."""

    title: str
    sections: tuple[Section, ...]
    answer: Mapping[str, Any] = field(default_factory=dict)
    picture: Picture | None = None

    def steps(self) -> Iterator[Step]:
        """All steps, in order."""
        for section in self.sections:
            yield from section.steps()

    def assertions(self) -> list[Assertion]:
        """All that can be checked."""
        return [step.assertion for step in self.steps() if step.assertion is not None]

    def check(self) -> Report:
        """Check every step anew, in exact arithmetic: what it asserts, and the numbers that it shows."""
        failures = tuple(step for step in self.steps() if not step.check())
        return Report(len(self.assertions()), failures)

    def to_text(self, width: int = 100) -> str:
        """Plain text for a terminal."""
        from .render.text import document

        return document(self, width)

    def to_markdown(self) -> str:
        """Markdown with formulas in dollar signs."""
        from .render.markdown import document

        return document(self)

    def to_latex(self) -> str:
        """A LaTeX document that compiles as it is."""
        from .render.latex import document

        return document(self)

    def to_html(self) -> str:
        """One self-contained HTML page with MathML."""
        from .render.html import document

        return document(self)

    def to_json(self, indent: int | None = 2) -> str:
        """The whole tree; `mercer.explain.from_json` reads it back."""
        from .render.json import document

        return document(self, indent)

    def save(self, path: str | Path) -> Path:
        """Write a file in the format that its ending names: .txt, .md, .tex, .html or .json."""
        writers = {
            ".txt": self.to_text,
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".html": self.to_html,
            ".json": self.to_json,
        }
        path = Path(path)
        if path.suffix not in writers:
            raise ValueError(f"The ending of {path.name!r} must be one of {', '.join(writers)}.")
        path.write_text(writers[path.suffix](), encoding="utf-8")
        return path

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        steps = sum(1 for _ in self.steps())
        return f"<Solution {self.title!r}: {steps} steps, {len(self.assertions())} assertions>"

    def _repr_html_(self) -> str:
        from .render.html import fragment

        return fragment(self)

    def _repr_latex_(self) -> str:
        from .render.markdown import notebook

        return notebook(self)

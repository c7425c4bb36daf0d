"""Markdown with formulas between dollar signs, as GitHub, notebooks and most editors show them."""

from __future__ import annotations

import re

from ..chart import Chart
from ..formula import Formula
from ..picture import Picture
from ..steps import Block, Prose, Section, Solution, Step, Table
from . import latex
from .drawing import Drawing
from .layout import Reading

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$])")


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _inline(body: Formula) -> str:
    return f"${latex.math(body)}$"


def prose(sentence: Prose) -> str:
    """A sentence with its formulas."""
    return "".join(_escape(part) if isinstance(part, str) else _inline(part) for part in sentence.parts)


def _table(body: Table) -> str:
    head = "| " + " | ".join(prose(cell) for cell in body.header) + " |"
    rows = ["| " + " | ".join(prose(cell) for cell in row) + " |" for row in body.rows]
    return "\n".join([head, "|" + "---|" * len(body.header), *rows])


def _block(body: Block) -> str:
    return _table(body) if isinstance(body, Table) else f"$$\n{latex.display(body)}\n$$"


def document(solution: Solution, picture: str | None = None) -> str:
    """The whole solution; `picture` is where its picture is."""
    reading = Reading.of(solution)
    out = [f"# {_escape(solution.title)}"]
    if picture is not None and solution.picture is not None:
        out.append(f"![{_escape(_words(solution.picture))}]({picture})")
    for count, section in enumerate(solution.sections, 1):
        out += _section(section, 2, f"{count}. ", reading)
    if reading.notes:
        out.append("---")
        out += [f"[^{count}]: {prose(note)}" for count, note in enumerate(reading.notes, 1)]
    if line := solution.check().line():
        out.append(f"*{line}*")
    return "\n\n".join(out) + "\n"


def _words(picture: Picture | Chart) -> str:
    return picture.words if isinstance(picture, Chart) else Drawing(picture).words


def notebook(solution: Solution) -> str:
    """The statements and formulas for a notebook that typesets LaTeX only."""
    out = []
    for step in solution.steps():
        out.append(prose(step.statement))
        out += [f"$$\n{latex.display(body)}\n$$" for body in step.mathematics if isinstance(body, Formula)]
    return "\n\n".join(out)


def _section(section: Section, depth: int, place: str, reading: Reading) -> list[str]:
    out = [f"{'#' * depth} {place}{_escape(section.title)}"]
    for part in section.parts:
        out += _section(part, depth + 1, "", reading) if isinstance(part, Section) else _step(part, reading)
    return out


def _step(step: Step, reading: Reading) -> list[str]:
    marks = "".join(f"[^{number}]" for number in reading.numbers(step))
    out = [prose(step.statement) + marks, *(_block(body) for body in step.mathematics)]
    check = {None: "", True: "✓ checked", False: "**✗ this does not hold**"}[reading.mark()]
    why = f"*({prose(step.reason)})*" if step.reason else ""
    closing = " ".join(part for part in (why, check) if part)
    return [*out, closing] if closing else out

"""Plain text: formulas on lines of their own, tables, sentences; no line is longer than asked for."""

from __future__ import annotations

import textwrap

from ..formula import Formula, Listing
from ..steps import Block, Prose, Section, Solution, Step, Table
from .boxes import SIGNS, Box, box, in_line, measure
from .layout import Line, Reading, lines
from .narrow import fitted


def display(body: Formula, width: int) -> list[str]:
    """A formula on lines of its own."""
    result: list[str] = []
    rows = lines(body, width, measure)
    margin = max(measure(row.left) if row.left is not None else 0 for row in rows)
    if margin > width // 2 and rows[0].left is not None:  # a wide left side has lines of its own
        result += _stacked(fitted(rows[0].left, width))
        rows[0] = Line(None, rows[0].sign, rows[0].body)
        margin = 2
    for row in rows:
        left = box(row.left) if row.left is not None else Box(("",))
        sign = f" {SIGNS[row.sign]} " if row.sign else "   " if margin else ""
        start = Box((" " * (margin - left.width),)) + left + sign
        first, *rest = fitted(row.body, width - start.width, row.continued)
        result += _stacked([start + first, *(Box((" " * start.width,)) + part for part in rest)])
    return result


def _stacked(boxes: list[Box]) -> list[str]:
    return [text.rstrip() for part in boxes for text in part.rows]


def prose(sentence: Prose) -> str:
    """A sentence in a line."""
    return "".join(part if isinstance(part, str) else in_line(part) for part in sentence.parts)


def glued(sentence: Prose) -> str:
    """A sentence whose short formulas stay on one line."""
    return "".join(part if isinstance(part, str) else _glued(part) for part in sentence.parts)


def _glued(body: Formula) -> str:
    text = in_line(body)
    if len(text) <= _SHORT:
        return text.replace(" ", "\N{NO-BREAK SPACE}")
    if isinstance(body, Listing) and not body.braces:
        return body.separator.join(map(_glued, body.items))
    return text


_SHORT = 28
"""Characters of a formula that is not broken within a sentence."""


def table(body: Table, width: int) -> list[str]:
    """A table with aligned columns; where it would be too wide, the widest columns break their lines."""
    cells = [[glued(cell) for cell in row] for row in (body.header, *body.rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(body.header))]
    room = width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    lines = [_row([textwrap.wrap(c, w) or [""] for c, w in zip(row, widths, strict=True)], widths) for row in cells]
    rule = "  ".join("─" * w for w in widths)
    return [*lines[0], rule, *(line for row in lines[1:] for line in row)]


def _row(cells: list[list[str]], widths: list[int]) -> list[str]:
    """One row of a table, in as many lines as its longest cell has."""
    height = max(map(len, cells))
    filled = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in zip(*filled, strict=True)
    ]


def block(body: Block, width: int) -> list[str]:
    """A table or a displayed formula."""
    return table(body, width) if isinstance(body, Table) else display(body, width)


def document(solution: Solution, width: int = 100) -> str:
    """The whole solution."""
    reading = Reading.of(solution)
    title = textwrap.wrap(solution.title, width)
    out = [*title, "═" * max(map(len, title), default=0), ""]
    for count, section in enumerate(solution.sections, 1):
        out += _section(section, f"{count}", width, reading)
    if reading.notes:
        out += ["Where lecture notes often slip", ""]
        for count, note in enumerate(reading.notes, 1):
            out += textwrap.wrap(f"[{count}] {glued(note)}", width, subsequent_indent="    ")
        out.append("")
    out += textwrap.wrap(solution.check().line(), width)
    return "\n".join(out).replace("\N{NO-BREAK SPACE}", " ").rstrip() + "\n"


def _section(section: Section, place: str, width: int, reading: Reading) -> list[str]:
    title = f"{place}. {section.title}"
    out = [title, "─" * len(title), ""]
    deeper = 0
    for part in section.parts:
        if isinstance(part, Section):
            deeper += 1
            out += _section(part, f"{place}.{deeper}", width, reading)
        else:
            out += [*_step(part, width, reading), ""]
    return out


def _step(step: Step, width: int, reading: Reading) -> list[str]:
    marks = "".join(f" [{number}]" for number in reading.numbers(step))
    out = textwrap.wrap(glued(step.statement) + marks, width)
    for body in step.mathematics:
        out += ["", *("    " + row for row in block(body, width - 4))]
    check = {None: "", True: "✓ checked", False: "✗ THIS DOES NOT HOLD"}[reading.mark()].replace(
        " ", "\N{NO-BREAK SPACE}"
    )
    why = f"({glued(step.reason)})" if step.reason else ""
    closing = " ".join(part for part in (why, check) if part)
    if closing and step.mathematics:
        out.append("")
    if closing:
        out += textwrap.wrap(closing, width, initial_indent="  ", subsequent_indent="  ")
    return [row.rstrip() for row in out]

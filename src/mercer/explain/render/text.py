"""Plain text: fractions in a line, matrices in several."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..formula import (
    Call,
    Chain,
    Decimal,
    Derivative,
    Entrywise,
    Formula,
    Inner,
    Listing,
    Matrix,
    Negative,
    Norm,
    Number,
    Point,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Sum,
    Symbol,
    Transposed,
    Words,
    signed,
)
from ..steps import Block, Prose, Section, Solution, Step, Table
from .binding import ATOM, POWER, PRODUCT, binding, is_plain, needed_in_product, starts_with_number
from .layout import Line, Reading, lines

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "lambda": "λ", "mu": "μ", "xi": "ξ", "pi": "π",
    "sigma": "σ", "theta": "θ", "phi": "φ", "Phi": "Φ", "Lambda": "Λ", "infinity": "∞",
}  # fmt: skip
SIGNS = {"=": "=", "<": "<", "<=": "≤", ">": ">", ">=": "≥", "!=": "≠", "~": "≈", ":=": ":="}
SIGNS |= {f"{sign}!": shown for sign, shown in SIGNS.items()}
_BELOW = str.maketrans("0123456789+-ijkn", "₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙ")
_ABOVE = str.maketrans("0123456789-kn", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵏⁿ")


@dataclass(frozen=True)
class Box:
    """Lines of text of one width, of which one is the line that formulas are written on."""

    rows: tuple[str, ...]
    base: int = 0

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def __add__(self, other: Box | str) -> Box:
        other = Box((other,)) if isinstance(other, str) else other
        above = max(self.base, other.base)
        below = max(len(self.rows) - self.base, len(other.rows) - other.base)
        left, right = self._grown(above, below), other._grown(above, below)
        return Box(tuple(a + b for a, b in zip(left, right, strict=True)), above)

    def _grown(self, above: int, below: int) -> list[str]:
        empty = " " * self.width
        return [*[empty] * (above - self.base), *self.rows, *[empty] * (below - len(self.rows) + self.base)]


def _join(parts: list[Box | str]) -> Box:
    total = Box(("",))
    for part in parts:
        total = total + part
    return total


def number(value: Fraction) -> str:
    """A fraction in a line."""
    return str(value).replace("-", "−")


def bold(letter: str) -> str:
    """The bold letter that Unicode has for mathematics."""
    for first, last, start in (("A", "Z", 0x1D400), ("a", "z", 0x1D41A), ("α", "ω", 0x1D6C2)):
        if len(letter) == 1 and first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter


def symbol(body: Symbol) -> str:
    """A letter with its index; vectors in bold letters."""
    letter = GREEK.get(body.name, body.name)
    letter = bold(letter) if body.bold else letter
    return letter + (body.index.translate(_BELOW) if body.index.isalnum() else f"_{body.index}" if body.index else "")


def box(body: Formula, level: int = 0) -> Box:
    """The formula as text, in parentheses where it binds less tightly than `level`."""
    if binding(body, stacked=False) < level:
        return _fenced("(", box(body), ")")
    match body:
        case Number(value):
            return Box((number(value),))
        case Decimal(digits):
            return Box((digits.replace("-", "−"),))
        case Symbol():
            return Box((symbol(body),))
        case Sum(terms):
            return _sum(terms)
        case Negative(inner):
            return Box(("−",)) + box(inner, PRODUCT)
        case Product(factors):
            return _product(factors)
        case Entrywise(left, right):
            return box(left, PRODUCT) + " ∘ " + box(right, POWER)
        case Quotient(top, bottom):
            return box(top, PRODUCT) + " / " + box(bottom, POWER)
        case Power(base, exponent):
            return _power(base, exponent)
        case Root(inner):
            return Box(("√",)) + (
                box(inner) if binding(inner, stacked=False) == ATOM else _fenced("(", box(inner), ")")
            )
        case Matrix(rows):
            return _matrix(rows)
        case Point(entries):
            return _join(["(", *_between([box(entry) for entry in entries], ", "), ")"])
        case Transposed(inner):
            return box(inner, POWER) + "ᵀ"
        case Inner(left, right):
            return _join(["⟨", box(left), ", ", box(right), "⟩"])
        case Norm(inner):
            return _fenced("|", box(inner), "|")
        case Call(name, arguments):
            head = Box((name,)) if isinstance(name, str) else box(name)
            return _join([head, "(", *_between([box(argument) for argument in arguments], ", "), ")"])
        case Derivative(of, by):
            return _join(["∂", box(of, ATOM), "/∂", box(by)])
        case Series(inner, index, lower, upper):
            limits = f"{index}={lower}..{upper}" if lower else index
            return Box((f"Σ{limits.translate(_BELOW)} " if limits.isalpha() else f"Σ[{limits}] ",)) + box(
                inner, PRODUCT
            )
        case Words(text):
            return Box((text,))
        case Listing(items, separator, braces):
            inside = _join(_between([box(item) for item in items], separator))
            return (_fenced("{", inside, "}") if items else Box(("∅",))) if braces else inside
        case Chain(members, signs):
            parts: list[Box | str] = [box(members[0])]
            for sign, member in zip(signs, members[1:], strict=True):
                parts += [f" {SIGNS[sign]} ", box(member)]
            return _join(parts)
    raise TypeError(f"No text for {body!r}.")


def _sum(terms: tuple[Formula, ...], continued: bool = False) -> Box:
    parts: list[Box | str] = []
    for position, term in enumerate(terms):
        negative, body = signed(term)
        if position or continued:
            parts.append((" − " if negative else " + ") if position else ("− " if negative else "+ "))
        elif negative:
            parts.append("−")
        parts.append(box(body, PRODUCT))
    return _join(parts)


def _product(factors: tuple[Formula, ...]) -> Box:
    negative, body = signed(Product(factors))
    if negative:
        return _join(["−", box(body, PRODUCT)])
    total = box(factors[0], PRODUCT)
    for position, (before, factor) in enumerate(pairwise(factors), 1):
        total = total + _gap(before, factor) + box(factor, needed_in_product(factor, position == len(factors) - 1))
    return total


def _gap(before: Formula, after: Formula) -> str:
    """What stands between two factors."""
    if starts_with_number(after):
        return " · "
    whole = not isinstance(before, Number) or before.value.denominator == 1
    return "" if whole and is_plain(before) and (is_plain(after) or isinstance(after, Sum | Root | Power)) else " "


def _power(base: Formula, exponent: Formula) -> Box:
    inside = box(base, ATOM)
    if isinstance(exponent, Number) and exponent.value.denominator == 1:
        return inside + str(exponent.value).translate(_ABOVE)
    if isinstance(exponent, Symbol) and exponent.name in "kn" and not exponent.index:
        return inside + exponent.name.translate(_ABOVE)
    return inside + "^" + box(exponent, ATOM)


def _fenced(left: str, inside: Box, right: str) -> Box:
    if len(inside.rows) == 1:
        return Box((f"{left}{inside.rows[0]}{right}",))
    tall = {"(": "⎛⎜⎝", ")": "⎞⎟⎠", "|": "│││"}.get
    return _fence(tall(left, left * 3), inside, tall(right, right * 3))


def _fence(left: str, inside: Box, right: str) -> Box:
    last = len(inside.rows) - 1
    pick = [0 if i == 0 else 2 if i == last else 1 for i in range(last + 1)]
    return Box(tuple(left[p] + row + right[p] for p, row in zip(pick, inside.rows, strict=True)), inside.base)


def _matrix(rows: tuple[tuple[Formula, ...], ...]) -> Box:
    cells = [[box(entry).rows[0] for entry in row] for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    text = tuple(" " + "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) + " " for row in cells)
    if len(text) == 1:
        return Box((f"[{text[0]}]",))
    return _fence("⎡⎢⎣", Box(text, (len(text) - 1) // 2), "⎤⎥⎦")


def _between(parts: list[Box], separator: str) -> list[Box | str]:
    joined: list[Box | str] = []
    for part in parts:
        joined += [separator, part] if joined else [part]
    return joined


def measure(body: Formula) -> int:
    """How many columns it takes."""
    return box(body).width


def display(body: Formula, width: int) -> list[str]:
    """A formula on lines of its own."""
    rows = lines(body, width, measure)
    if len(rows) == 1:
        return list(_line_body(rows[0]).rows)
    lefts = [box(row.left) if row.left is not None else Box(("",)) for row in rows]
    margin = max(left.width for left in lefts)
    result: list[str] = []
    for row, left in zip(rows, lefts, strict=True):
        start = Box((" " * (margin - left.width),)) + left
        sign = f" {SIGNS[row.sign]} " if row.sign else "   " if margin else ""
        result += [text.rstrip() for text in (start + sign + _line_body(row)).rows]
    return result


def _line_body(row: Line) -> Box:
    return _sum(row.body.terms, row.continued) if isinstance(row.body, Sum) else box(row.body)


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


def in_line(body: Formula) -> str:
    """A formula in a sentence; the rows of a matrix stand one after the other."""
    inside = box(body)
    if len(inside.rows) == 1:
        return inside.rows[0]
    return " ".join(row.strip() for row in inside.rows)


def table(body: Table, width: int) -> list[str]:
    """A table with aligned columns; where it would be too wide, the widest columns break their lines."""
    cells = [[glued(cell) for cell in row] for row in (body.header, *body.rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(body.header))]
    room = width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    lines = [_row([textwrap.wrap(c, w) or [""] for c, w in zip(row, widths, strict=True)], widths) for row in cells]
    rule = "  ".join("─" * w for w in widths)
    return [*lines[0], rule, *(line for row in lines[1:] for line in row)]


_NARROWEST = 12


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
    out = [solution.title, "═" * len(solution.title), ""]
    for count, section in enumerate(solution.sections, 1):
        out += _section(section, f"{count}", width, reading)
    if reading.notes:
        out += ["Where lecture notes often slip", ""]
        for count, note in enumerate(reading.notes, 1):
            out += textwrap.wrap(f"[{count}] {glued(note)}", width, subsequent_indent="    ")
        out.append("")
    out.append(solution.check().line())
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

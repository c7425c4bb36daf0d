"""A formula as boxes of text: fractions in a line, matrices in several."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..formula import (
    Absolute,
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
from .binding import ATOM, POWER, PRODUCT, binding, is_plain, needed_in_product, starts_with_number

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


def join(parts: list[Box | str]) -> Box:
    """Side by side."""
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
    below = body.index.translate(_BELOW)
    return letter + (below if not any(c in below for c in body.index) else f"_{body.index}")


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
            return summed(terms)
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
            return matrix(rows)
        case Point(entries):
            return join(["(", *_between([box(entry) for entry in entries], ", "), ")"])
        case Transposed(inner):
            return box(inner, POWER) + "ᵀ"
        case Inner(left, right):
            return join(["⟨", box(left), ", ", box(right), "⟩"])
        case Norm(inner) | Absolute(inner):
            return _fenced("|", box(inner), "|")
        case Call(name, arguments):
            head = Box((name,)) if isinstance(name, str) else box(name)
            return join([head, "(", *_between([box(argument) for argument in arguments], ", "), ")"])
        case Derivative(of, by):
            return join(["∂", box(of, ATOM), "/∂", box(by)])
        case Series(inner, index, lower, upper):
            limits = f"{index}={lower}..{upper}" if lower else index
            return Box((f"Σ{limits.translate(_BELOW)} " if limits.isalpha() else f"Σ[{limits}] ",)) + box(
                inner, PRODUCT
            )
        case Words(text):
            return Box((text,))
        case Listing(items, separator, braces):
            inside = join(_between([box(item) for item in items], separator))
            return (_fenced("{", inside, "}") if items else Box(("∅",))) if braces else inside
        case Chain(members, signs):
            parts: list[Box | str] = [box(members[0])]
            for sign, member in zip(signs, members[1:], strict=True):
                parts += [f" {SIGNS[sign]} ", box(member)]
            return join(parts)
    raise TypeError(f"No text for {body!r}.")


def summed(terms: tuple[Formula, ...], continued: bool = False) -> Box:
    """A sum; where it goes on from the line before, its first sign is written too."""
    parts: list[Box | str] = []
    for position, term in enumerate(terms):
        negative, body = signed(term)
        if position or continued:
            parts.append((" − " if negative else " + ") if position else ("− " if negative else "+ "))
        elif negative:
            parts.append("−")
        parts.append(box(body, PRODUCT))
    return join(parts)


def _product(factors: tuple[Formula, ...]) -> Box:
    negative, body = signed(Product(factors))
    if negative:
        return join(["−", box(body, PRODUCT)])
    total = box(factors[0], PRODUCT)
    for position, (before, factor) in enumerate(pairwise(factors), 1):
        total = total + gap(before, factor) + box(factor, needed_in_product(factor, position == len(factors) - 1))
    return total


def gap(before: Formula, after: Formula) -> str:
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


def matrix(rows: tuple[tuple[Formula, ...], ...]) -> Box:
    """Rows of entries in brackets."""
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


def in_line(body: Formula) -> str:
    """A formula in a sentence; the rows of a matrix stand one after the other."""
    inside = box(body)
    if len(inside.rows) == 1:
        return inside.rows[0]
    return " ".join(row.strip() for row in inside.rows)

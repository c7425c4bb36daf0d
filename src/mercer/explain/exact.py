"""Exact numbers: "1/3", 0.1, Decimal, SymPy's or NumPy's, all as fractions; and exact tables of points and labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from numbers import Rational
from typing import Any

_LARGEST = 4000
Vector = tuple[Fraction, ...]
Rows = tuple[Vector, ...]


class NotByHandError(ValueError):
    """The problem is outside what can be worked out by hand; the message says what to use instead."""


def sympy() -> Any:
    """The module SymPy, or one clear sentence."""
    try:
        import sympy
    except ImportError:
        raise ImportError("Worked solutions need SymPy: pip install 'mercer[explain]'.") from None
    return sympy


def quoted(value: Any, most: int = 80) -> str:
    """What was given, as an error quotes it: on one line, and cut where it is long."""
    try:
        return " ".join(repr(value).split())[:most]
    except (RecursionError, ValueError):  # nested without end, or a number of thousands of digits
        return f"this {type(value).__name__}, which is too long to be shown"


def require_word(name: str, given: Any, allowed: Iterable[str]) -> None:
    """Raise where it is none of the words."""
    if not isinstance(given, str) or given not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {quoted(given)}.")


def several(values: Any, name: str, most: int) -> Vector:
    """One to so many numbers greater than 0, from the smallest on; one of them may be given alone."""
    given = list(islice(values, most + 1)) if _is_row(values) else [values]
    exact = tuple(sorted(fraction(entry, name) for entry in given))
    if not 1 <= len(exact) <= most or exact[0] <= 0:
        raise ValueError(f"Give one to {most} values of {name} greater than 0.")
    return exact


def fraction(value: Any, what: str = "a number") -> Fraction:
    """The number as a fraction. A float is the simplest fraction that it stands for: 0.1 is 1/10, 1/3 is 1/3."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        raise TypeError(f"{what} must be a number, not the truth value {value}.")
    if isinstance(value, int) and value.bit_length() > _LARGEST:
        raise ValueError(f"{what} must be a number of at most {_LARGEST} binary digits, not of {value.bit_length()}.")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if getattr(value, "is_Rational", False):  # SymPy's
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, str):
        return _of_text(value, what)
    if hasattr(value, "as_integer_ratio") or hasattr(value, "__float__"):
        return _of_float(value, what)
    raise TypeError(f"{what} must be a number such as 2, '1/3' or 0.1, not {quoted(value)}.")


def _of_text(text: str, what: str) -> Fraction:
    cleaned = text.strip().replace("\N{MINUS SIGN}", "-")
    if len(cleaned) > 100:
        raise ValueError(f"{what} has {len(cleaned)} characters; at most 100 are read.")
    _, _, exponent = cleaned.lower().partition("e")
    if exponent.lstrip("+-").isdigit() and abs(int(exponent)) > 300:
        raise ValueError(f"{what} has an exponent beyond 300: {quoted(text)}.")
    try:
        return Fraction(cleaned.replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{what} must be a number such as 2, '1/3' or 0.1, not {quoted(text)}.") from None


def _of_float(value: Any, what: str) -> Fraction:
    try:
        number = float(str(value))  # what is printed is what is meant, also by float32
    except ValueError:
        raise TypeError(f"{what} must be a number such as 2, '1/3' or 0.1, not {quoted(value)}.") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} must be a finite number, not {value}.")
    simple = Fraction(number).limit_denominator(10_000)
    return simple if float(simple) == number else Fraction(repr(number))


def refuse_many(X: Any, most: int, instead: str) -> None:
    """Refuse more points than can be worked out by hand, before anything is computed."""
    require_few(X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else 0, most, instead)


def require_few(size: int, most: int, instead: str) -> None:
    """Refuse more points than can be worked out by hand."""
    if size > most:
        raise NotByHandError(f"{size} points are too many to work out by hand; the most is {most}. Use {instead}.")


def require_whole(name: str, number: Any, most: int) -> None:
    """Raise where it is no whole number from 1 on, or too large."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most}, not {quoted(number)}.")


def require_seed(seed: Any) -> None:
    """Raise where it is no whole number, or one that nobody would write."""
    if isinstance(seed, bool) or not isinstance(seed, int) or abs(seed) > 10**18:
        raise TypeError(f"The seed must be a whole number of at most 18 digits, not {quoted(seed)}.")


def points(X: Any, name: str = "X") -> Rows:
    """The rows of X as fractions; a plain list of numbers is points of the line."""
    rows = _listed(X, name)
    if not rows:
        raise ValueError(f"{name} has no points.")
    exact = tuple(
        tuple(fraction(entry, f"{name}[{i}]") for entry in (row if _is_row(row) else [row]))
        for i, row in enumerate(rows)
    )
    widths = {len(row) for row in exact}
    if len(widths) > 1 or 0 in widths:
        raise ValueError(f"The points of {name} must have the same number of coordinates, but have {sorted(widths)}.")
    return exact


def targets(t: Any, n: int, name: str = "t") -> Vector:
    """One exact number per point."""
    values = tuple(fraction(entry, f"{name}[{i}]") for i, entry in enumerate(_listed(t, name)))
    if len(values) != n:
        raise ValueError(f"One value per point is needed: {n} points, but {name} has {len(values)}.")
    return values


@dataclass(frozen=True)
class Labels:
    """The signs of two classes, and what they were called."""

    signs: tuple[int, ...]
    negative: str = "-1"
    positive: str = "+1"

    @property
    def renamed(self) -> bool:
        """Whether the classes had other names than -1 and +1."""
        return (self.negative, self.positive) != ("-1", "+1")


def labels(y: Any, n: int) -> Labels:
    """Two classes as -1 and +1: given so, or as "-" and "+", or as any two values of which the larger is +1."""
    given = [entry.item() if getattr(entry, "size", 0) == 1 else entry for entry in _listed(y, "y")]
    if len(given) != n:
        raise ValueError(f"One label per point is needed: {n} points, but y has {len(given)}.")
    values = _numbers(given)
    try:
        classes = sorted(set(values))
    except TypeError:
        raise ValueError(f"The labels must be two comparable values such as -1 and +1, not {quoted(given)}.") from None
    if any(isinstance(c, float) and not math.isfinite(c) for c in classes):
        raise ValueError(f"The labels must be finite, not {quoted(given)}.")
    low: Any
    high: Any
    if set(classes) <= {-1, 1}:
        low, high = -1, 1
    elif len(classes) == 2:
        low, high = classes
    else:
        raise ValueError(f"Two classes are needed, but y has {len(classes)}: {', '.join(map(str, classes[:6]))}.")
    if len(classes) < 2:
        raise ValueError(f"Two classes are needed, but all labels are {given[0]}.")
    names = ("-1", "+1") if (low, high) == (-1, 1) else (str(low), str(high))
    return Labels(tuple(1 if value == high else -1 for value in values), *names)


def _numbers(given: list[Any]) -> list[Any]:
    """Signs and numbers that were given as text, as numbers; names stay names."""
    signs = {"+": 1, "-": -1, "\N{MINUS SIGN}": -1}

    def number(entry: Any) -> Any:
        if not isinstance(entry, str):
            return entry
        text = entry.strip()
        exact = Fraction(signs[text]) if text in signs else fraction(text)
        return int(exact) if exact.denominator == 1 else exact

    try:
        return [number(entry) for entry in given]
    except ValueError:
        return [entry.strip() if isinstance(entry, str) else entry for entry in given]


def _listed(values: Any, name: str) -> list[Any]:
    if hasattr(values, "toarray"):
        values = values.toarray()
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list of numbers, not {quoted(values)}.")
    return list(values)


def _is_row(row: Any) -> bool:
    return isinstance(row, Iterable) and not isinstance(row, str)


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """<a, b>."""
    return sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0))

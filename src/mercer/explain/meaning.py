"""What a formula means: its exact value in SymPy, and whether a chain of relations holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from .exact import sympy
from .formula import (
    Absolute,
    Call,
    Chain,
    Decimal,
    Derivative,
    Entrywise,
    Formula,
    Inner,
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
)
from .world import Feature, World, multiplied_out, root, with_exp

NOWHERE = World()
"""The world in which only numbers have a meaning."""


_MOST_DIGITS = 400
"""After the point, of a rounded number."""


class NoValueError(ValueError):
    """The formula is only written: words, an unknown function, a letter that stands for nothing here."""


def value(body: Formula, world: World = NOWHERE) -> Any:
    """The exact value: a SymPy expression or matrix; plain letters that stand for nothing stay symbols."""
    sp = sympy()

    def of(part: Formula) -> Any:
        return value(part, world)

    match body:
        case Number(number):
            return sp.Rational(number.numerator, number.denominator)
        case Decimal(digits):
            return sp.Rational(Fraction(digits).numerator, Fraction(digits).denominator)
        case Symbol():
            return _letter(body, world)
        case Sum(terms):
            return _added([of(term) for term in terms])
        case Negative(inner):
            return -of(inner)
        case Product(factors):
            return _scalar(_fold(lambda a, b: a * b, [of(factor) for factor in factors]))
        case Entrywise(left, right):
            first, second = of(left), of(right)
            return first.multiply_elementwise(second) if hasattr(first, "shape") else first * second
        case Quotient(top, bottom):
            return of(top) / of(bottom)
        case Power(base, exponent):
            return of(base) ** of(exponent)
        case Root(inner):
            return root(of(inner))
        case Matrix(rows):
            return _scalar(sp.ImmutableMatrix([[of(entry) for entry in row] for row in rows]))
        case Point(entries):
            return sp.ImmutableMatrix([of(entry) for entry in entries])
        case Transposed(inner):
            inside = of(inner)
            return inside.T if hasattr(inside, "shape") else inside
        case Inner(left, right):
            return _inner(of(left), of(right))
        case Norm(inner):
            inside = of(inner)
            if hasattr(inside, "shape") or isinstance(inside, Feature):
                return root(multiplied_out(_inner(inside, inside)))
            return sp.Abs(inside)
        case Absolute(inner):
            return sp.Abs(of(inner))
        case Call(name, arguments):
            return _scalar(_called(name, world)(*(of(argument) for argument in arguments)))
        case Derivative(inner, by):
            return sp.diff(_called(inner, world)(), of(by))
        case Series(inner, index, ""):
            bound = [world.where(**dict(zip(index, place, strict=True))) for place in _places(inner, index, world)]
            if not bound:
                raise NoValueError(body)
            return _added([value(inner, each) for each in bound])
    raise NoValueError(body)


def _letter(letter: Symbol, world: World) -> Any:
    members: Any = world.family(letter)
    if members is not None:
        for token in world.tokens(letter):
            place = world.at.get(token, int(token) - 1 if token.isdigit() else -1)
            if not 0 <= place < len(members):
                raise NoValueError(letter)
            members = members[place]
        return members
    if letter in world.letters:
        return _scalar(world.letters[letter])
    if letter.name in world.at and not letter.index:
        return sympy().Integer(world.at[letter.name] + 1)
    if letter.bold or (letter.index.isalpha() and letter.index.islower()):
        raise NoValueError(letter)
    return sympy().Symbol(letter.key, real=True)


def _called(name: Formula | str, world: World) -> Callable[..., Any]:
    sp = sympy()
    known = {"exp": sp.exp, "log": sp.log, "min": sp.Min, "max": sp.Max}
    found: Any = world.letters.get(name) if isinstance(name, Symbol) else None
    if isinstance(name, str):
        found = known.get(name) or world.functions.get(name)
    if not callable(found):
        raise NoValueError(name)
    return found  # type: ignore[no-any-return]


def _places(body: Any, index: str, world: World) -> Iterator[tuple[int, ...]]:
    """The values of these indices: as many as the letters that carry them have."""
    sizes: dict[str, int] = {}
    for letter in _letters(body):
        if world.family(letter) is not None:
            sizes |= {token: world.size(letter, token) for token in world.tokens(letter) if token in index}
    if len(sizes) == len(index):
        yield from product(*(range(sizes[token]) for token in index))


def _letters(body: Any) -> Iterator[Symbol]:
    """All letters of a formula."""
    if isinstance(body, Symbol):
        yield body
    elif isinstance(body, tuple):
        for part in body:
            yield from _letters(part)
    elif is_dataclass(body) and isinstance(body, Formula):
        for entry in fields(body):
            yield from _letters(getattr(body, entry.name))


def free_indices(body: Any, world: World) -> str:
    """The indices that stand for any point: those of its letters that no sum and no row binds."""
    if isinstance(body, Symbol):
        tokens = world.tokens(body) if world.family(body) is not None else ()
        return "".join(t for t in tokens if t.isalpha() and t not in world.at)
    if isinstance(body, tuple):
        parts = [free_indices(part, world) for part in body]
    elif isinstance(body, Formula):
        parts = [free_indices(getattr(body, entry.name), world) for entry in fields(body)]  # type: ignore[arg-type]
        if isinstance(body, Series):
            parts = [part.translate({ord(letter): None for letter in body.index}) for part in parts]
    else:
        return ""
    return "".join(dict.fromkeys("".join(parts)))


def _fold(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    total = values[0]
    for part in values[1:]:
        total = operation(total, part)
    return total


def _added(values: list[Any]) -> Any:
    if any(hasattr(v, "shape") or isinstance(v, Feature) for v in values):
        return _fold(lambda a, b: a + b, values)
    return sympy().Add(*values)  # at once: one after the other, long sums are sorted anew each time


def _scalar(whole: Any) -> Any:
    """A matrix of one entry is a number."""
    return whole[0, 0] if getattr(whole, "shape", None) == (1, 1) else whole


def _inner(left: Any, right: Any) -> Any:
    if isinstance(left, Feature):
        return left.inner(right)
    return (left.T * right)[0, 0] if hasattr(left, "shape") else left * right


def judge(shown: Chain, world: World = NOWHERE) -> bool | None:
    """Whether every relation of the chain is true, exactly, for every point where an index is open.

    None where there is nothing to compare: a letter that is just being defined, or what is only written.
    """
    index = free_indices(shown, world)
    if not index:
        return _judge(shown, world)
    verdicts = [
        _judge(shown, world.where(**dict(zip(index, place, strict=True))))
        for place in _places(shown.members, index, world)
    ]
    if False in verdicts:
        return False
    return True if verdicts and None not in verdicts else None


def _judge(shown: Chain, world: World) -> bool | None:
    known: list[tuple[int, Any]] = []
    for position, member in enumerate(shown.members):
        if isinstance(member, Symbol) and not _stands_for_something(member, world):
            continue
        try:
            known.append((position, value(member, world)))
        except NoValueError:
            continue
    pairs = [
        (left, shown.signs[i:j], right)
        for (i, left), (j, right) in pairwise(known)
        if not any(sign.endswith("!") or sign == ":=" for sign in shown.signs[i:j])
    ]
    if not pairs:
        return None
    return all(_related(*pair) for pair in pairs)


def _stands_for_something(letter: Symbol, world: World) -> bool:
    """A letter on its own that does not is just being defined."""
    return world.family(letter) is not None or letter in world.letters or letter.name in world.at


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal: numbers, expressions, matrices or vectors of feature space."""
    if isinstance(left, Feature) or isinstance(right, Feature):
        return bool((left + -right if isinstance(left, Feature) else right + -left).is_zero())
    if hasattr(left, "shape") != hasattr(right, "shape"):  # a vector is 0
        whole, number = (left, right) if hasattr(left, "shape") else (right, left)
        return bool(number == 0) and all(same(entry, number) for entry in whole)
    if hasattr(left, "shape"):
        return left.shape == right.shape and all(same(a, b) for a, b in zip(left, right, strict=True))
    raw = left - right
    found = with_exp(raw)
    if found is not None:
        return bool(found == 0)
    squares = with_exp(left**2 - right**2)  # of roots the squares are compared, and the signs
    if squares is not None:
        return bool(squares == 0) and bool((left * right).evalf(30) >= 0)
    difference = sympy().expand(raw)
    return difference == 0 or difference.equals(0) is True


def agrees(said: Formula, shown: Formula, world: World) -> bool:
    """Whether what is shown is the value of what was said; a rounded number is right to its last digit."""
    if isinstance(said, Symbol) and not _stands_for_something(said, world):
        raise NoValueError(said)
    right, found = value(said, world), value(shown, world)
    return _about(found - right, found) if isinstance(shown, Decimal) else same(right, found)


def _related(left: Any, signs: tuple[str, ...], right: Any) -> bool:
    for sign in ("!=", "~", "<", ">", "<=", ">="):
        if sign in signs:
            return _compare(left, sign, right)
    return same(left, right)


def _compare(left: Any, sign: str, right: Any) -> bool:
    if sign == "!=":
        return not same(left, right)
    difference = right - left
    if sign == "~":
        return _about(difference, right)
    if not difference.is_number:
        return False
    if same(left, right):
        return sign in ("<=", ">=")
    found = with_exp(difference)
    positive = difference.is_positive if found is None else found > 0
    if positive is None:
        positive = bool(difference.evalf(50) > 0)
    return bool(positive) == (sign in ("<", "<="))


def _about(difference: Any, rounded: Any) -> bool:
    """Whether the rounded number is right to half a unit of its last digit."""
    digits = 0
    while (rounded * 10**digits) % 1 != 0 and digits < _MOST_DIGITS:
        digits += 1
    return bool(abs(difference.evalf(50)) <= sympy().Rational(1, 2 * 10**digits))

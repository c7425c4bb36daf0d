"""Steps that several kinds of exercises share: the Gram matrix, the function, a new point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from . import footnotes, letters
from .algebra import solve
from .exact import Labels, Vector, dot
from .features import expansion
from .formula import (
    Call,
    Formula,
    Inner,
    Number,
    Symbol,
    Transposed,
    chain,
    combination,
    equals,
    formula,
    matrix,
    point,
)
from .gram import is_polynomial, kernel_formula, written
from .letters import K, X, coordinates, f_of, k, x_
from .sample import Sample
from .steps import Prose, Section, Step, Table, say

WRITTEN_OUT = 3
"""The Gram matrix of so many points is shown before its entries are computed."""


def gram_steps(e: Sample) -> list[Step]:
    """The Gram matrix, and whether it is singular."""
    return [_values(e), definiteness(e)]


def _values(e: Sample) -> Step:
    if e.linear:
        letter = X if e.features is None else Symbol("Phi", bold=True)
        rows, columns = matrix(e.vectors), matrix(zip(*e.vectors, strict=True))
        relation = equals(K, letter * Transposed(letter), rows * columns, matrix(e.K))
        what = "points" if e.features is None else "features of the points"
        statement = say(f"The {what} are the rows of {{}}. Their inner products are the Gram matrix:", letter)
        return Step(statement, (relation,), Prose(), (footnotes.ROWS,), "data")
    if e.points is None:
        return Step(say("The Gram matrix is given:"), (equals(K, matrix(e.K)),), scope="data")
    entries = matrix([[written(e.kernel, x, z) for z in e.points] for x in e.points])
    fits = e.n <= WRITTEN_OUT and e.n * len(e.points[0]) <= (9 if is_polynomial(e.kernel) else 5)
    relation = equals(K, entries, matrix(e.K)) if fits else equals(K, matrix(e.K))
    formula = kernel_formula(e.kernel)
    if e.n > 1:
        example = equals(Symbol("K", "12"), written(e.kernel, e.points[0], e.points[1]), e.K[0][1])
        statement = say("The kernel is {}. Its values for all pairs of points, such as {}:", formula, example)
    else:
        statement = say("The kernel is {}. Its value for the point with itself:", formula)
    reason = say("{}", equals(Symbol("K", "ij"), Call(k, (x_("i"), x_("j")))))
    return Step(statement, (relation,), reason, scope="data")


def definiteness(e: Sample, letter: Symbol = K) -> Step:
    """K (or G, which has the same signs of eigenvalues) is positive definite, or singular: said with its rank."""
    rank = e.n - len(solve(e.K, [Fraction(0)] * e.n).directions)
    relation = equals(Call("rank", (letter,)), rank)
    words = "{} is positive definite: {}." if rank == e.n else "{} is positive semidefinite, {}: it is singular."
    return Step(say(words, letter, relation), scope="data", proof="definite")


def function_steps(e: Sample, left: Formula, beta: Vector, b: Fraction, scope: str) -> list[Step]:
    """f as it is used: in coordinates, or in kernels and, where they are polynomials, multiplied out."""
    if e.linear:
        formula = combination([*e.weights(beta), b], [*e.names, Number(Fraction(1))])
        inner = Inner(letters.w, e.mapped(letters.x))
        shown = equals(left, inner if not b else inner + letters.b, formula)
        words = say("The function is")
        if e.features is not None:
            words = say("With the features {}, the function is", equals(Call("φ", (letters.x,)), point(e.names)))
        return [Step(words, (shown,), scope=scope)]
    kernels = combination([*beta, b], [*(Call(k, (x_(i), letters.x)) for i in range(e.n)), Number(Fraction(1))])
    steps = [Step(say("The function, in kernels:"), (equals(left, kernels),), scope=scope)]
    if e.points is not None and is_polynomial(e.kernel):
        names_ = coordinates(len(e.points[0]))
        relation = equals(left, *expansion(e.kernel, e.points, beta, names_, b))
        where = say("Multiplied out, with {}:", equals(letters.x, point(names_)))
        steps.append(Step(where if len(names_) > 1 else say("Multiplied out:"), (relation,), scope=scope))
    return steps


@dataclass(frozen=True)
class Expansion:
    """f = sum_i beta_i k(x_i, .) + b: how beta_i is written, its values, b, and what a value of f says of a point."""

    letter: Formula
    beta: Vector
    b: Fraction
    verdict: Callable[[Fraction], Prose]


def new_points(e: Sample, f: Expansion) -> list[Section]:
    """f at each new point."""
    return [_new_point(e, number, f) for number in range(len(e.new))]


def _new_point(e: Sample, number: int, expansion: Expansion) -> Section:
    """f at a new point: every k(x_i, x), the sum, and what follows."""
    beta, b = expansion.beta, expansion.b
    values = e.new_values(number)
    f = dot(beta, values) + b
    given = point(e.new[number]) if e.points is not None else None
    rows = []
    for i, (weight, own) in enumerate(zip(beta, values, strict=True)):
        rows.append((say("{}", x_(i)), say("{}", weight), say("{}", _written_value(e, i, number, own))))
    header = (say("point"), say("{}", expansion.letter), say("{}", Call(k, (x_("i"), letters.x))))
    table = Table(header, tuple(rows), "i")
    kept = [(weight, own) for weight, own in zip(beta, values, strict=True) if weight]
    terms = [formula(weight) * formula(own) for weight, own in kept]
    summed = combination([1] * len(terms) + [b], [*terms, Number(Fraction(1))])
    shown = equals(f_of(letters.x), summed, f) if summed != formula(f) else equals(f_of(letters.x), f)
    if given is None:
        statement = say("The kernel values of the new point {} with the points are given:", letters.x)
    else:
        statement = say("The new point is {}. Its kernel values with the points:", equals(letters.x, given))
    scope = f"new {number + 1}"
    steps = [Step(statement, (table,), scope=scope), Step(say("So"), (shown,), expansion.verdict(f), scope=scope)]
    if e.linear and any(beta):
        inner = [formula(a) * formula(c) for a, c in zip(e.weights(beta), _vector_of(e, number), strict=True)]
        shorter = combination([1] * len(inner) + [b], [*inner, Number(Fraction(1))])
        relation = equals(Inner(letters.w, e.mapped(letters.x)) + letters.b, shorter, f)
        steps.append(Step(say("The weight vector gives the same:"), (relation,), scope=scope))
    title = "A new point" if len(e.new) == 1 else f"New point {number + 1}"
    return Section(title, tuple(steps))


def renamed(labels: Labels) -> tuple[str, ...]:
    """Which class is written how, where they had other names."""
    if not labels.renamed:
        return ()
    return (f" (Class {labels.positive} is written +1, class {labels.negative} is written −1.)",)


def class_of(labels: Labels, f: Fraction) -> Prose:
    """The class that f gives a point."""
    if not f:
        return say("{}: the point lies on the boundary, in neither class", equals(f_of(letters.x), 0))
    relation = chain(f_of(letters.x), ">" if f > 0 else "<", 0)
    return Prose((relation, f": class {class_name(labels, f)}"))


def class_name(labels: Labels, f: Fraction) -> str:
    """What the class of this sign was called."""
    named = labels.positive if f > 0 else labels.negative
    return named if labels.renamed else named.replace("-", "−")


def _vector_of(e: Sample, number: int) -> Vector:
    return (e.new if e.features is None else e.new_features)[number]


def _written_value(e: Sample, i: int, number: int, own: Fraction) -> Formula:
    if e.points is None:
        return formula(own)
    return equals(written(e.kernel, e.vectors[i], _vector_of(e, number)), own)

"""Ridge regression as lambda grows: w as a function of lambda, and how it shrinks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..kernels import Linear
from .algebraic import from_sympy
from .chart import Chart, Graph, Panel, window
from .exact import NotByHandError, Vector, fraction, refuse_many, require_few, several, sympy, targets
from .formula import Norm, Symbol, Transposed, column, equals, matrix, point
from .letters import X, lam, t_bold, w
from .sample import Sample, read_sample, require_linear
from .steps import Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS, MOST_COORDINATES, MOST_VALUES = 12, 3, 12
_I = Symbol("I", bold=True)


@dataclass(frozen=True)
class ShrinkageProblem(Sample):
    """Points with targets, and some values of lambda."""

    t: Vector
    weights_of: Vector

    @cached_property
    def path(self) -> Any:
        """w as a function of lambda: (X'X + lambda I)^-1 X't."""
        sp = sympy()
        rows = sp.Matrix([[exact(v) for v in x] for x in self.vectors])
        shifted = rows.T * rows + sp.Symbol(lam.key, real=True) * sp.eye(rows.shape[1])
        return sp.ImmutableMatrix((shifted.inv() * rows.T * vector(self.t)).applyfunc(sp.cancel))

    def at(self, value: Fraction) -> Vector:
        """w for one lambda."""
        found = self.path.xreplace({sympy().Symbol(lam.key, real=True): exact(value)})
        return tuple(fraction(entry) for entry in found)

    def solve(self) -> Solution:
        """See `shrinkage`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """Lambda is a letter, or in "at k" a number."""
        sp = sympy()
        kind, _, number = scope.partition(" ")
        rows = sp.ImmutableMatrix([[exact(v) for v in x] for x in self.vectors])
        base = self.base.also({X: rows, t_bold: vector(self.t), _I: sp.eye(rows.shape[1]).as_immutable()})
        if kind != "at":
            return base.also({w: _one(self.path)})
        value = exact(self.weights_of[int(number)])
        solved = (rows.T * rows + value * sp.eye(rows.shape[1])).LUsolve(rows.T * vector(self.t))
        return base.also({lam: value, w: _one(solved.as_immutable())})

    def prove_shrinks(self, step: Step) -> bool:
        """|w|^2 falls from each lambda to the next larger one."""
        lengths = [sum(v * v for v in self.at(value)) for value in sorted(self.weights_of)]
        return all(b < a or a == 0 for a, b in pairwise(lengths))


def _one(matrix_: Any) -> Any:
    return matrix_ if matrix_.shape[0] > 1 else matrix_[0, 0]


def shrinkage(X: Any, t: Any, lams: Any = ("1/4", 1, 4, 16)) -> Solution:
    """The weights of linear ridge regression as functions of lambda: exact, in a table, and drawn."""
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.KernelRidge")
    fields = read_sample(X, Linear(), "mercer.KernelRidge")
    if len(fields["points"][0]) > MOST_COORDINATES:
        raise NotByHandError(f"Points of up to {MOST_COORDINATES} coordinates are worked out by hand.")
    values = several(lams, "lambda", MOST_VALUES)
    return ShrinkageProblem(**fields, t=targets(t, len(fields["points"])), weights_of=values).solve()


def worked(e: ShrinkageProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.KernelRidge")
    require_linear(e)
    sections = (_data(e), _path(e), _table(e))
    answer = {"weights": tuple(e.at(value) for value in e.weights_of), "lambdas": e.weights_of}
    return Solution(f"Ridge regression as λ grows: {e.n} points", sections, answer, _picture(e), e)


def _data(e: ShrinkageProblem) -> Section:
    columns = [*e.columns(), (Symbol("t", "i"), e.t)]
    words = say("There are {} points with their targets:", e.n)
    return Section("The data", (Step(words, (Table.of_points(columns),)),))


def _path(e: ShrinkageProblem) -> Section:
    coordinates_ = tuple(zip(*e.vectors, strict=True))
    outer = matrix([[sum(a * c for a, c in zip(u, v, strict=True)) for v in coordinates_] for u in coordinates_])
    right = column([sum(a * c for a, c in zip(u, e.t, strict=True)) for u in coordinates_])
    normal = equals(Transposed(X) * X, outer), equals(Transposed(X) * t_bold, right)
    solved = equals((Transposed(X) * X + lam * _I) * w, Transposed(X) * t_bold)
    path = equals(w, point([from_sympy(entry) for entry in e.path]))
    words = say("The normal equations are solved with {} as a letter:", lam)
    return Section("w as a function of λ", (Step(words, (*normal, path, solved), scope="letters"),))


def _table(e: ShrinkageProblem) -> Section:
    rows, scopes = [], []
    for number, value in enumerate(e.weights_of):
        found = e.at(value)
        length = sum((v * v for v in found), Fraction(0))
        rows.append((say("{}", value), say("{}", point(found)), say("{}", length)))
        scopes.append(f"at {number}")
    table = Table((say("{}", lam), say("{}", w), say("{}", Norm(w) ** 2)), tuple(rows), scopes=tuple(scopes))
    reason = say("large weights are kept only where the data speak for them; as {} grows, {} goes to 0", lam, w)
    words = "The larger the weight, the shorter w:"
    return Section("It shrinks", (Step(say(words), (table,), reason, proof="shrinks"),))


def _picture(e: ShrinkageProblem) -> Chart:
    low, high = Fraction(0), 2 * max(e.weights_of)
    styles = ("main", "second", "third")
    start = min(e.weights_of) / 8
    graphs = tuple(
        Graph(from_sympy(entry), lam, start, high, styles[j], f"w{j + 1}".translate(str.maketrans("123", "₁₂₃")))
        for j, entry in enumerate(e.path)
    )
    heights = [v for value in (start, *e.weights_of) for v in e.at(value)] + [Fraction(0)]
    around = window([(low, h) for h in heights] + [(high, Fraction(0))])
    return Chart((Panel("the weights", ("λ", "w"), around, graphs),), "the weights as functions of lambda")

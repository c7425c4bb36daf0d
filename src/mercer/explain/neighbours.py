"""The Gaussian kernel as a soft nearest neighbour: f = sum y_i exp(-gamma |x - x_i|^2) as gamma grows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .chart import Chart, Graph, Panel, Trace, window
from .exact import (
    Labels,
    NotByHandError,
    Rows,
    Vector,
    fraction,
    labels,
    points,
    refuse_many,
    require_few,
    several,
    sympy,
)
from .formula import (
    Call,
    Decimal,
    Formula,
    Listing,
    Norm,
    Number,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    point,
)
from .letters import f_of, over, x, x_, y_
from .problem import Problem
from .sample_steps import renamed
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World, exact, vector

_FARTHEST = 10_000
MOST_POINTS = 10
_TINY = 1e-4
"""Values below this are not rounded to a decimal: it would be 0."""
_gamma, _g = Symbol("gamma"), Symbol("g")


@dataclass(frozen=True)
class NeighboursProblem(Problem):
    """Points with labels, a new point, and some values of gamma."""

    points: Rows
    labels: Labels
    at: Vector
    gammas: Vector

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @cached_property
    def squares(self) -> Vector:
        """The squared distances to the new point."""
        return tuple(sum(((a - b) ** 2 for a, b in zip(p, self.at, strict=True)), Fraction(0)) for p in self.points)

    @property
    def order(self) -> list[int]:
        """The points, nearest first."""
        return sorted(range(len(self.points)), key=lambda i: (self.squares[i], i))

    def value(self, gamma: Any) -> Any:
        """f at the new point."""
        sp = sympy()
        return sum(s * sp.exp(-gamma * exact(d)) for s, d in zip(self.y, self.squares, strict=True))

    def solve(self) -> Solution:
        """See `neighbours`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """The points; in "gamma k", f with that gamma."""
        sp = sympy()
        kind, _, number = scope.partition(" ")
        families = {
            Symbol("x", bold=True): [_place(p) for p in self.points],
            Symbol("y"): [sp.Integer(s) for s in self.y],
        }
        found: dict[Symbol, Any] = {x: _place(self.at)}
        if kind == "gamma":
            gamma = exact(self.gammas[int(number)])
            found |= {_gamma: gamma, Symbol("f"): lambda *_: self.value(gamma)}
        return World(found, families)

    def prove_signs(self, step: Step) -> bool:
        """Beyond the bound the nearest point decides: twice as large a gamma and more have its sign."""
        sp, nearest = sympy(), self.order[0]
        others = [d - self.squares[nearest] for i, d in enumerate(self.squares) if self.y[i] != self.y[nearest]]
        if not others or min(others) <= 0:
            return True
        bound = sp.log(len(others)) / exact(min(others))
        return all(bool(self.y[nearest] * self.value(bound + exact(e)).evalf(40) > 0) for e in (Fraction(1, 9), 1, 5))


def _place(p: Vector) -> Any:
    return vector(p) if len(p) > 1 else exact(p[0])


def neighbours(X: Any, y: Any, at: Any, gammas: Any = ("1/4", 1, 4, 16)) -> Solution:
    """f(x) = sum y_i exp(-gamma |x_i - x|^2): a vote of all points, of the nearest one alone as gamma grows."""
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.SVC")
    rows = points(X)
    many = hasattr(at, "__iter__") and not isinstance(at, str)
    place = tuple(fraction(v, "at") for v in (at if many else [at]))
    if len(place) != len(rows[0]):
        raise ValueError(f"at needs {len(rows[0])} coordinates, as the points have, not {len(place)}.")
    values = several(gammas, "gamma", 5)
    if values[-1] * max(sum((a - b) ** 2 for a, b in zip(row, place, strict=True)) for row in rows) > _FARTHEST:
        raise NotByHandError(
            f"A vote below exp(-{_FARTHEST}) is not written out: take nearer points, or smaller gammas."
        )
    return NeighboursProblem(rows, labels(y, len(rows)), place, values).solve()


def worked(e: NeighboursProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(len(e.points), MOST_POINTS, "mercer.SVC")
    sections = (_data(e), _table(e), _nearest(e))
    answer = {"values": tuple(_decimal(e.value(exact(g))) for g in e.gammas), "nearest": e.order[0] + 1}
    return Solution("A soft nearest neighbour", sections, answer, _picture(e), e)


def _decimal(number: Any) -> str:
    """Six digits after the point, rounded by exact arithmetic."""
    return f"{number.round(6):.6f}"


def _data(e: NeighboursProblem) -> Section:
    difference = Norm(x_("i") - x) ** 2
    columns: list[tuple[Formula, Any]] = [
        (x_("i"), [point(p) for p in e.points]),
        (y_("i"), list(e.y)),
        (difference, list(e.squares)),
    ]
    function = condition(f_of(x), "=", over(y_("i") * Call("exp", (-(_gamma * difference),))))
    told = say("Every point votes for its class, the nearer the louder. The new point is {}:", equals(x, point(e.at)))
    words = Prose((*told.parts, *renamed(e.labels)))
    return Section("The vote", (Step(words, (Table.of_points(columns), function), scope="data"),))


def _table(e: NeighboursProblem) -> Section:
    rows, scopes = [], []
    for number, gamma in enumerate(e.gammas):
        terms = [Call("exp", (Number(-gamma * d),)) if d else Number(Fraction(1)) for d in e.squares]
        body = combination(e.y, terms)
        found = e.value(exact(gamma))
        side = "+1" if found.evalf(40) > 0 else "−1"
        tiny = abs(found.evalf(20)) < _TINY
        shown: Formula = body if tiny else chain(body, "~", Decimal(_decimal(found)))
        rows.append((say("{}", gamma), say("{}", shown), say(f"class {side}")))
        scopes.append(f"gamma {number}")
    table = Table((say("{}", _gamma), say("{}", f_of(x)), say("vote")), tuple(rows), scopes=tuple(scopes))
    return Section("As γ grows", (Step(say("The vote for several {}:", _gamma), (table,)),))


def _nearest(e: NeighboursProblem) -> Section:
    nearest = e.order[0]
    other = [i for i in e.order if e.y[i] != e.y[nearest]]
    title = "The nearest point decides"
    gap = min((e.squares[i] - e.squares[nearest] for i in other), default=Fraction(0))
    if not other or gap <= 0:
        equal = say("Here points of both classes are equally near, so that no {} decides.", _gamma)
        return Section(title, (Step(equal),))
    m = len(other)
    bound: Formula = Call("log", (Number(Fraction(m)),)) / Number(gap) if m > 1 else Number(Fraction(0))
    lines = Listing(
        (
            condition(m * Call("exp", (-(_gamma * Number(gap)),)), "<", 1),
            Words("   for   "),
            condition(_gamma, ">", bound),
        ),
        "",
    )
    words = say(
        f"The nearest point is {{}}. Those of the other class ({m} in number) are farther by at least {{}} in the "
        "square of the distance. Divided by the nearest one's vote, theirs add up to less than 1:",
        x_(nearest), gap,
    )  # fmt: skip
    reason = say("from there on the class is that of the nearest point")
    return Section(title, (Step(words, (lines,), reason, proof="signs"),))


def _picture(e: NeighboursProblem) -> Chart | None:
    """On the line, f for every gamma."""
    if len(e.at) != 1:
        return None
    name = Symbol("x")
    left, right, _, _ = window([(p[0], Fraction(0)) for p in e.points] + [(e.at[0], Fraction(0))], Fraction(1, 4))
    styles = ("faint", "main", "second", "third", "fourth")
    graphs = []
    for number, gamma in enumerate(e.gammas):
        terms = [Call("exp", (Number(-gamma) * (name - Number(p[0])) ** 2,)) for p in e.points]
        graphs.append(Graph(combination(e.y, terms), name, left, right, styles[number], f"γ = {gamma}"))
    plus = tuple((p[0], Fraction(1)) for p, s in zip(e.points, e.y, strict=True) if s > 0)
    minus = tuple((p[0], Fraction(-1)) for p, s in zip(e.points, e.y, strict=True) if s < 0)
    marks = (Trace(plus, "plus", "class +1"), Trace(minus, "minus", "class −1"))
    around = (left, right, Fraction(-2), Fraction(2))
    panel = Panel("f for several γ", ("x", "f"), around, (*graphs, *marks))
    return Chart((panel,), "f for several gamma: the larger gamma, the more f follows the nearest point")

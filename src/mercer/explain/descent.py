"""Gradient and subgradient steps by hand: the run as a table, the distances, and why steps bring w nearer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product as all_of
from math import isqrt
from typing import Any

from . import letters
from .algebraic import as_symbol, from_sympy
from .chart import Chart, Contours, Graph, Panel, Trace, rounded, window
from .clock import within
from .convex import Convex, require_convex
from .exact import NotByHandError, Vector, dot, fraction, require_whole, sympy
from .expression import expression
from .formula import Call, Inner, Norm, Symbol, chain, condition, equals, point
from .minimum import is_minimum, minimum
from .problem import Problem
from .step_rules import Rule, read_rule
from .steps import Prose, Section, Solution, Step, Table, say
from .subgradient import require_few
from .world import World, exact

MOST_STEPS, SECONDS = 40, 20.0
_f, _eta, _r = letters.f, Symbol("eta"), Symbol("r")
_TRIED, _LEVELS = 6, 8
_OTHERS = ("1/4", "1/t", "1/sqrt(t)", "1/t^2")


@dataclass(frozen=True)
class Stage:
    """One step: where it starts, the value, the subgradient, the slope of f along -v, the size of the step."""

    w: Vector
    value: Fraction
    v: Vector
    slope: Fraction
    eta: Fraction


@dataclass(frozen=True)
class DescentProblem(Problem):
    """A convex function, where to start, how many steps, and the rule for their sizes."""

    body: Any
    start: Vector
    steps: int
    rule: Any

    @cached_property
    def f(self) -> Convex:
        """The function."""
        return Convex(self.body, tuple(sorted(self.body.free_symbols, key=lambda s: s.name)))

    @property
    def names(self) -> list[Symbol]:
        """The variables as they are written."""
        return [as_symbol(v) for v in self.f.variables]

    @property
    def smooth(self) -> bool:
        """Whether f has no kinks: its gradient is then the only subgradient."""
        return not self.f.kinked

    @cached_property
    def run(self) -> tuple[Stage, ...]:
        """All steps, and the last place."""
        return follow(self.f, self.start, self.steps, Rule(self.rule))

    @cached_property
    def best(self) -> Vector | None:
        """Where f is least."""
        return minimum(self.f)

    def solve(self) -> Solution:
        """See `descent`."""
        return within(SECONDS, "The algebra of this function", lambda: worked(self))

    def world(self, scope: str) -> World:
        """f, and in "step t" where the method stands: gone through anew with SymPy's numbers."""
        kind, _, number = scope.partition(" ")
        found: dict[Symbol, Any] = {_f: lambda *place: self.f.at(_entries(*place))}
        if self.best is not None:
            found[_optimum()] = _as_value(self.best)
        if kind == "step":
            w, v, eta, least = self._places[int(number)]
            found |= {letters.w: _as_value(w), Symbol("v", bold=True): _as_value(v), _eta: eta, _best(): least}
            found[_r] = self._slope(w, v)
        return World(found)

    @cached_property
    def _places(self) -> list[tuple[Any, Any, Any, Any]]:
        """w, v, eta and the best value at each step, from the start on."""
        w = [exact(entry) for entry in self.start]
        found, least = [], None
        for t in range(self.steps + 1):
            value, v = self.f.at(w), self.f.subgradients(w)[-1]
            eta = exact(Rule(self.rule).size(t + 1))
            least = value if least is None or value < least else least
            found.append((w, v, eta, least))
            w = [a - eta * b for a, b in zip(w, v, strict=True)]
        return found

    def prove_steps(self, step: Step) -> bool:
        """Each v is a subgradient: no point of a grid has f below its plane."""
        grid = list(all_of((-2, -1, 0, 1, 2), repeat=len(self.start)))
        for w, v, _, _ in self._places:
            value = self.f.at(w)
            for place in grid:
                plane = value + sum(b * (c - a) for a, b, c in zip(w, v, place, strict=True))
                if self.f.at([sympy().Integer(c) for c in place]) < plane:
                    return False
        return True

    def prove_slopes(self, step: Step) -> bool:
        """By values of f: over a very short step it changes as the slope says, and over longer ones by no less."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        sp = sympy()
        for row, (w, v, _, _) in zip(table.rows, self._places, strict=False):
            slope = self._slope(w, v)
            short, *longer = [
                (self.f.at([a - s * b for a, b in zip(w, v, strict=True)]) - self.f.at(w)) / s
                for s in (sp.Rational(1, 10**80), sp.Rational(1, 8), sp.Integer(3))
            ]
            if abs(short - slope) > sp.Rational(1, 10**40) or any(other < slope for other in longer):
                return False
            if row[-1].parts[0] != _yes(slope < 0):
                return False
        return True

    def _slope(self, w: Any, v: Any) -> Any:
        return max(-sum(a * b for a, b in zip(corner, v, strict=True)) for corner in self.f.subgradients(w))

    def prove_minimum(self, step: Step) -> bool:
        """0 is a subgradient there, and no point of a grid has a smaller value."""
        assert self.best is not None
        least = self.f.at(self.best)
        grid = all_of((-2, -1, 0, 1, 2), repeat=len(self.start))
        return is_minimum(self.f, self.best) and all(self.f.at([sympy().Integer(c) for c in p]) >= least for p in grid)

    def prove_rules(self, step: Step) -> bool:
        """The words of the table of rules: by the integral test, 1/t^p has an infinite sum up to p = 1."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        sp, t = sympy(), sympy().Symbol("t", positive=True)
        for row, source in zip(table.rows, _rules(self), strict=True):
            body = source.body.xreplace({source.t: t})
            sums = sp.limit(body * t, t, sp.oo) != 0  # at least like 1/t
            squares = sp.limit(body**2 * t, t, sp.oo) == 0  # less than 1/t, by a power
            if [cell.parts[0] for cell in row[1:3]] != [_yes(bool(sums)), _yes(bool(squares))]:
                return False
        return True


def _optimum() -> Symbol:
    return Symbol("w", "*", True)


def _best() -> Symbol:
    return Symbol("f", "best")


def _entries(*place: Any) -> tuple[Any, ...]:
    return tuple(place[0]) if hasattr(place[0], "shape") else place


def _as_value(entries: Any) -> Any:
    found = [exact(e) if isinstance(e, Fraction) else e for e in entries]
    return sympy().ImmutableMatrix(found) if len(found) > 1 else found[0]


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def follow(f: Convex, start: Vector, steps: int, rule: Rule) -> tuple[Stage, ...]:
    """w <- w - eta v, with the last corner of the subgradients as v."""
    w, found = start, []
    for t in range(1, steps + 2):
        value, corners = f.at(w), f.subgradients(w)
        if not value.is_Rational or not all(entry.is_Rational for corner in corners for entry in corner):
            raise NotByHandError("The values of this function are no fractions: take squares, |a| and maxima.")
        exactly = [tuple(map(fraction, corner)) for corner in corners]
        v = exactly[-1]
        stage = Stage(w, fraction(value), v, max(-dot(corner, v) for corner in exactly), rule.size(t))
        found.append(stage)
        w = tuple(a - stage.eta * b for a, b in zip(w, stage.v, strict=True))
    return tuple(found)


def descent(f: Any, start: Any, steps: int = 8, rule: Any = "1/4") -> Solution:
    """Gradient or subgradient steps, w <- w - eta_t v, exactly: descent("w1^2 + 2*w2^2", [3, 1], 6, "1/4").

    f is a convex function as `subgradient` takes it; `rule` is eta_t, a number or a formula in t such as "1/(t + 1)".
    """
    sympy()
    body = expression(f, "the function", kinks=True)
    require_few(body)
    many = hasattr(start, "__iter__") and not isinstance(start, str)
    place = tuple(fraction(entry, "start") for entry in (start if many else [start]))
    if len(place) != len(body.free_symbols):
        raise ValueError(f"start needs {len(body.free_symbols)} coordinates, not {len(place)}.")
    return DescentProblem(body, place, steps, read_rule(rule).body).solve()


def worked(e: DescentProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.body)
    require_whole("steps", e.steps, MOST_STEPS)
    require_convex(e.f)
    sections = [_method(e), *_least(e), _table(e), _slopes(e)]
    if e.best is not None:
        sections += [_nearer(e)]
    sections.append(_side_by_side(e))
    best = min(e.run, key=lambda stage: stage.value)
    answer: dict[str, Any] = {"w": e.run[-1].w, "best": best.w, "best_value": best.value}
    if e.best is not None:
        answer |= {"optimum": e.best, "least": fraction(e.f.at(e.best))}
    name = "Gradient steps" if e.smooth else "Subgradient steps"
    return Solution(f"{name}: {e.steps} of them", tuple(sections), answer, _picture(e), e)


def _method(e: DescentProblem) -> Section:
    w, v = letters.w, Symbol("v", bold=True)
    shown = (equals(Call(_f, tuple(e.names)), from_sympy(e.body)), chain(w, ":=", w - _eta * v))
    kind = "the gradient" if e.smooth else "a subgradient"
    words = say(f"In each step {{}} is {kind} of f at {{}}, and {{}} is the size of the step:", v, w, _eta)
    rule = Rule(e.rule)
    start = say(
        "The start is {}, and {} in step t.", condition(w, "=", point(e.start)), condition(_eta, "=", rule.written)
    )
    return Section("The method", (Step(words, shown, scope="f"), Step(start)))


def _least(e: DescentProblem) -> list[Section]:
    if e.best is None:
        return []
    least = Call(_f, (_optimum(),))
    relation = equals(least, from_sympy(e.f.at(e.best)))
    words = say("f is least at {}: 0 is a subgradient there.", equals(_optimum(), point(e.best)))
    return [Section("The minimum", (Step(words, (relation,), scope="f", proof="minimum"),))]


def _table(e: DescentProblem) -> Section:
    w, v = letters.w, Symbol("v", bold=True)
    header = [say("t"), say("{}", w), say("{}", Call(_f, (w,))), say("{}", _best()), say("{}", v), say("{}", _eta)]
    if e.best is not None:
        header.append(say("{}", Norm(w - _optimum()) ** 2))
    rows, least = [], e.run[0].value
    for t, stage in enumerate(e.run, 1):
        least = min(least, stage.value)
        cells: list[Any] = [t, point(stage.w), stage.value, least, point(stage.v), stage.eta]
        if e.best is not None:
            cells.append(_square(stage.w, e.best))
        rows.append(tuple(say("{}", cell) for cell in cells))
    scopes = tuple(f"step {t}" for t in range(len(rows)))
    words = say("Step for step; {} is the best value so far, which is what the method returns:", _best())
    return Section("The run", (Step(words, (Table(tuple(header), tuple(rows), scopes=scopes),), proof="steps"),))


def _square(a: Vector, b: Vector) -> Fraction:
    difference = tuple(x - y for x, y in zip(a, b, strict=True))
    return dot(difference, difference)


def _slopes(e: DescentProblem) -> Section:
    """A gradient is a direction of descent; another subgradient need not be one."""
    w, v, u = letters.w, Symbol("v", bold=True), Symbol("u", bold=True)
    own = (
        say("The slope of f along {} is {}. Where it is below 0, f falls at first: a step that is short enough leads "
            "down.", -v, condition(_r, "=", -(Norm(v) ** 2)))
        if e.smooth
        else say("The slope r of f along {} is the largest {} over all subgradients {} at {}. Where it is not below 0, "
                 "f, being convex, is nowhere lower along {}, however short the step.", -v, Inner(u, -v), u, w, -v)
    )  # fmt: skip
    header = (say("t"), say("{}", w), say("{}", v), say("slope {}", _r), say("a direction of descent"))
    rows = [
        (say("{}", t), say("{}", point(s.w)), say("{}", point(s.v)), say("{}", s.slope), say(_yes(s.slope < 0)))
        for t, s in enumerate(e.run[:-1], 1)
    ]
    scopes = tuple(f"step {t}" for t in range(len(rows)))
    step = Step(own, (Table(header, tuple(rows), scopes=scopes),), proof="slopes")
    return Section("Downhill or not", (step,))


def _nearer(e: DescentProblem) -> Section:
    """Not every v is a direction of descent, but small steps bring w nearer to the optimum."""
    assert e.best is not None
    w, v, best = letters.w, Symbol("v", bold=True), _optimum()
    moved = Norm(w - _eta * v - best) ** 2
    gap = Call(_f, (w,)) - Call(_f, (best,))
    bound = 2 * gap / Norm(v) ** 2
    proof = (
        condition(moved, "=", Norm(w - best) ** 2 - 2 * _eta * Inner(v, w - best) + _eta**2 * Norm(v) ** 2),
        condition(Inner(v, w - best), ">=", gap),
        condition(moved, "<=", Norm(w - best) ** 2 - _eta * (2 * gap - _eta * Norm(v) ** 2)),
    )
    why = say("so w comes nearer for every step with {}", condition(0, "<", _eta, "<", bound))
    general = Step(say("The square of the new distance, and the definition of a subgradient:"), proof, why)
    header = (say("t"), say("{}", Call(_f, (w - _eta * v,)) - Call(_f, (w,))), say("f falls"), say("{}", bound),
              say("{} below it", _eta), say("{}", moved - Norm(w - best) ** 2), say("nearer"))  # fmt: skip
    rows, scopes = [], []
    for t, (stage, after) in enumerate(zip(e.run, e.run[1:], strict=False)):
        square = dot(stage.v, stage.v)
        if not square:
            continue
        rise, limit = after.value - stage.value, 2 * (stage.value - fraction(e.f.at(e.best))) / square
        change = _square(after.w, e.best) - _square(stage.w, e.best)
        numbers = (say("{}", t + 1), say("{}", rise), say(_yes(rise < 0)), say("{}", limit))
        rows.append((*numbers, say(_yes(stage.eta < limit)), say("{}", change), say(_yes(change < 0))))
        scopes.append(f"step {t}")
    table = Table(header, tuple(rows), scopes=tuple(scopes))
    return Section("Nearer, though not always lower", (general, Step(say("In numbers:"), (table,), proof="steps")))


def _rules(e: DescentProblem) -> list[Rule]:
    own = Rule(e.rule)
    return [own, *(rule for rule in map(read_rule, _OTHERS) if rule != own)]


def _side_by_side(e: DescentProblem) -> Section:
    last = say(f"best value in {min(e.steps, _TRIED)} steps")
    header = (say("{}", _eta), say("sum infinite"), say("sum of squares finite"), say("so"), last)
    rows = []
    for rule in _rules(e):
        good = rule.sum_infinite and rule.squares_finite
        verdict = "converges" if good else "gets close only" if rule.sum_infinite else "may stop short"
        if e.smooth and not rule.power:
            verdict = "converges, if small enough"
        elif rule.power and rule.sum_infinite and not good:
            verdict = "converges too, by a finer proof"
        rows.append(
            (say("{}", rule.written), say(_yes(rule.sum_infinite)), say(_yes(rule.squares_finite)), say(verdict),
             _best_of(e, rule))
        )  # fmt: skip
    words = "Rules side by side. Together steps must reach any distance (their sum), and yet tire (their squares):"
    return Section("Step rules", (Step(say(words), (Table(header, tuple(rows)),), proof="rules"),))


def _best_of(e: DescentProblem, rule: Rule) -> Prose:
    try:
        return say("{}", min(stage.value for stage in follow(e.f, e.start, min(e.steps, _TRIED), rule)))
    except NotByHandError:
        return say("no fractions")


def _picture(e: DescentProblem) -> Chart:
    places = [(Fraction(t), rounded(stage.value)) for t, stage in enumerate(e.run, 1)]
    least = [(Fraction(t), rounded(min(s.value for s in e.run[:t]))) for t in range(1, len(e.run) + 1)]
    parts = [Trace(tuple(places), "second", "value"), Trace(tuple(least), "main", "best value")]
    if e.best is not None:
        far = [(Fraction(t), _root(_square(stage.w, e.best))) for t, stage in enumerate(e.run, 1)]
        parts.append(Trace(tuple(far), "third", "distance to the optimum"))
    everything = [place for part in parts for place in part.places] + [(Fraction(1), Fraction(0))]
    history = Panel("value, best value, distance", ("t", ""), window(everything), tuple(parts))
    path = _path(e)
    panels = (path, history) if path is not None else (history,)
    return Chart(panels, "the path of the steps on the contours of f; value, best value and distance by steps")


def _path(e: DescentProblem) -> Panel | None:
    route = tuple(tuple(map(rounded, stage.w)) for stage in e.run)
    if len(e.start) == 1:
        (x,) = e.names
        dots = tuple((w[0], rounded(stage.value)) for w, stage in zip(route, e.run, strict=True))
        left, right, bottom, top = window([*dots, (dots[0][0] + 1, dots[0][1] + 1)])
        graph = Graph(from_sympy(e.body), x, left, right, "main", "f")
        return Panel("the steps", (x.name, "f"), (left, right, bottom, top), (graph, Trace(dots, "path")))
    if len(e.start) != 2:
        return None
    stars = (Trace((tuple(map(rounded, e.best)),), "star", "optimum"),) if e.best is not None else ()
    places = [*route, *(tuple(map(rounded, e.best)) for _ in range(1) if e.best is not None)]
    low, high = (end(stage.value for stage in e.run) for end in (min, max))
    low = low if e.best is None else fraction(e.f.at(e.best))
    levels = tuple(rounded(low + (high - low) * k / _LEVELS, 3) for k in range(1, _LEVELS + 1))
    contours = Contours(from_sympy(e.body), (e.names[0], e.names[1]), levels)
    from .render.boxes import in_line

    axes = (in_line(e.names[0]), in_line(e.names[1]))
    parts = (contours, Trace(route, "path"), *stars)
    return Panel("the path", axes, window([(u, v) for u, v in places], Fraction(1, 3)), parts, True)


def _root(square: Fraction) -> Fraction:
    """The square root to six decimals, by whole numbers."""
    return Fraction(isqrt(int(square * 10**12)), 10**6)

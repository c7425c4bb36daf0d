"""Subgradients by hand: the definition, all subgradients at a point, and whether a given vector is one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product as all_of
from typing import Any

from . import letters
from .algebraic import as_symbol, from_sympy
from .chart import Chart, Contours, Graph, Panel, Trace, window
from .clock import within
from .convex import Convex, active, refutation, require_convex, weights_of
from .exact import Vector, fraction, sympy
from .expression import expression
from .formula import (
    Call,
    Formula,
    Inner,
    Listing,
    Matrix,
    Number,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    formula,
    point,
)
from .problem import Problem
from .steps import Section, Solution, Step, Table, say
from .world import World, exact

MOST_VARIABLES, SECONDS = 3, 20.0
_f, _v = letters.f, Symbol("v", bold=True)


@dataclass(frozen=True)
class SubgradientProblem(Problem):
    """A convex function, a point, and a vector that may be a subgradient there."""

    body: Any
    at: Vector
    asked: Vector | None = None

    @cached_property
    def f(self) -> Convex:
        """The function."""
        return Convex(self.body, tuple(sorted(self.body.free_symbols, key=lambda s: s.name)))

    @property
    def d(self) -> int:
        """The number of variables."""
        return len(self.f.variables)

    @property
    def names(self) -> list[Symbol]:
        """The variables as they are written."""
        return [as_symbol(v) for v in self.f.variables]

    @property
    def w(self) -> Symbol:
        """The letter of a point: that of the variable on the line."""
        return self.names[0] if self.d == 1 else letters.w

    @property
    def w0(self) -> Symbol:
        """The letter of the point."""
        return Symbol(self.w.name, "0", self.w.bold)

    @property
    def v(self) -> Symbol:
        """The letter of a subgradient."""
        return Symbol("v") if self.d == 1 else _v

    @cached_property
    def corners(self) -> tuple[tuple[Any, ...], ...]:
        """The corners of the set of subgradients."""
        return self.f.subgradients(self.at)

    def solve(self) -> Solution:
        """See `subgradient`."""
        return within(SECONDS, "The algebra of this function", lambda: worked(self))

    def world(self, scope: str) -> World:
        """f, the point, and the vector that was asked about."""
        sp = sympy()

        def f(place: Any) -> Any:
            entries = tuple(place) if hasattr(place, "shape") else (place,)
            return sp.expand(self.f.at(entries))

        letters_: dict[Symbol, Any] = {_f: f, self.w0: _as_value(self.at)}
        if scope != "letters":
            letters_[self.w] = _as_value(self.f.variables)
        if self.asked is not None:
            letters_[self.v] = _as_value(self.asked)
        return World(letters_)

    def prove_convex(self, step: Step) -> bool:
        """The rules say so, and no chord of a hundred lies below the function."""
        return self.f.is_convex() and self.f.witness() is None

    def prove_set(self, step: Step) -> bool:
        """In many directions the largest <v, d> over the set is the slope of f: the set has the right support."""
        start = self.f.at(self.at)
        small = Fraction(1, 10**9)
        for d in all_of((-2, -1, 0, 1, 2), repeat=self.d):
            place = [a + small * c for a, c in zip(self.at, d, strict=True)]
            slope = ((self.f.at(place) - start) / exact(small)).evalf(40)
            largest = max(sum(c * e for c, e in zip(d, v, strict=True)).evalf(40) for v in self.corners)
            if not -1e-12 <= slope - largest <= 1e-5 * (1 + abs(largest)):
                return False
        return True

    def prove_no(self, step: Step) -> bool:
        """No mixture of the corners is the vector."""
        return self.asked is not None and weights_of(self.asked, _fractions(self.corners)) is None


def subgradient(f: Any, at: Any, v: Any = None) -> Solution:
    """All subgradients of a convex function at a point: subgradient("abs(w1) + 2*abs(w2)", [1, 0]).

    f is a text of names, numbers, abs, max (or SymPy's expression); `at` the point, its coordinates in the order of the
    names; `v` a vector of which is asked whether it is a subgradient. A function that is not convex is refused, with
    two points that show it.
    """
    sympy()
    body = expression(f, "the function", kinks=True)
    require_few(body)
    problem = SubgradientProblem(body, _vector(at, body, "at"), None if v is None else _vector(v, body, "v"))
    return problem.solve()


def require_few(body: Any) -> None:
    """Raise where there are no variables, or too many."""
    if not 1 <= len(body.free_symbols) <= MOST_VARIABLES:
        raise ValueError(f"A function of 1 to {MOST_VARIABLES} variables is needed, not of {len(body.free_symbols)}.")


def _vector(given: Any, body: Any, what: str) -> Vector:
    many = hasattr(given, "__iter__") and not isinstance(given, str)
    entries = tuple(fraction(entry, what) for entry in (given if many else [given]))
    if len(entries) != len(body.free_symbols):
        names = ", ".join(sorted(str(s) for s in body.free_symbols))
        raise ValueError(f"{what} needs a number for each of {names}, but has {len(entries)}.")
    return entries


def _as_value(entries: Any) -> Any:
    found = [exact(e) if isinstance(e, Fraction) else e for e in entries]
    return sympy().ImmutableMatrix(found) if len(found) > 1 else found[0]


def _fractions(corners: Any) -> list[Vector]:
    return [tuple(fraction(entry) for entry in corner) for corner in corners]


def worked(e: SubgradientProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.body)
    require_convex(e.f)
    rational = all(entry.is_Rational for corner in e.corners for entry in corner)
    sections = [_function(e), _definition(e), _pieces(e), _set(e)]
    answer: dict[str, Any] = {
        "differentiable": len(e.corners) == 1,
        "corners": tuple(_fractions(e.corners)) if rational else e.corners,
        "value": e.f.at(e.at),
    }
    if e.asked is not None:
        found, section = _asked(e)
        sections.append(section)
        answer["is_subgradient"] = found
    title = f"Subgradients of {_plain(e.body)}"
    return Solution(title, tuple(sections), answer, _picture(e) if rational else None, e)


def _plain(body: Any) -> str:
    from .render.boxes import in_line

    return in_line(from_sympy(body))


def _call(e: SubgradientProblem) -> Formula:
    return Call(_f, (e.w,))


def _function(e: SubgradientProblem) -> Section:
    shown = equals(_call(e), from_sympy(e.body))
    where = equals(e.w, point(e.names)) if e.d > 1 else None
    words = say("With {}, the function is", where) if where is not None else say("The function is")
    facts: list[Step] = []
    if e.f.smooth != 0 and e.f.hessian() != sympy().zeros(e.d):
        H = e.f.hessian()
        written = Matrix(tuple(tuple(from_sympy(entry) for entry in row) for row in H.tolist()))
        facts.append(
            Step(
                say(
                    "{} has the second derivatives {}, nowhere negative: it is convex.", from_sympy(e.f.smooth), written
                ),
                proof="convex",
            )
        )
    elif e.f.smooth != 0:
        facts.append(Step(say("{} is affine, so convex.", from_sympy(e.f.smooth)), proof="convex"))
    for term in e.f.kinked:
        facts.append(Step(say(f"{{}} is convex: {_rule(term)}.", from_sympy(term)), proof="convex"))
    facts.append(Step(say("A sum of convex functions is convex. So f is convex."), proof="convex"))
    return Section("The function is convex", (Step(words, (shown,), scope="function"), *facts))


def _rule(term: Any) -> str:
    sp = sympy()
    _, rest = term.as_coeff_Mul()
    if isinstance(rest, sp.Abs):
        return "|a| = max(a, −a) of an affine a"
    if isinstance(rest, sp.Max | sp.Min):
        return "the largest of several convex functions"
    return "an increasing convex function of a convex function"


def _definition(e: SubgradientProblem) -> Section:
    lower = Call(_f, (e.w0,)) + Inner(e.v, e.w - e.w0)
    general = condition(_call(e), ">=", lower)
    value = e.f.at(e.at)
    steps = (
        Step(
            say("{} is a subgradient of f at {} if, for all {},", e.v, e.w0, e.w),
            (general,),
            say("the graph of f lies nowhere below this line (or plane), which touches it at {}", e.w0),
        ),
        Step(
            say("Here {} and {}.", equals(e.w0, point(e.at)), equals(Call(_f, (e.w0,)), from_sympy(value))),
            scope="letters",
        ),
    )
    return Section("What a subgradient is", steps)


def _maxima(e: SubgradientProblem) -> list[tuple[Any, list[Any]]]:
    """Every maximum (|a| is one), with its functions."""
    sp = sympy()
    found = []
    for atom in sorted(e.body.atoms(sp.Abs, sp.Max), key=str):
        inside = [atom.args[0], -atom.args[0]] if isinstance(atom, sp.Abs) else sorted(atom.args, key=str)
        found.append((atom, inside))
    return found


def _pieces(e: SubgradientProblem) -> Section:
    """The functions of each maximum, which are active, and their gradients."""
    sp = sympy()
    place = dict(zip(e.f.variables, map(exact, e.at), strict=True))
    rows, scopes = [], []
    for atom, inside in _maxima(e):
        own = active(sp.Max(*inside, evaluate=False), place)
        for body in inside:
            value = body.xreplace(place)
            smooth = not body.has(sp.Abs, sp.Max)
            gradient = point([from_sympy(sp.diff(body, v).xreplace(place)) for v in e.f.variables]) if smooth else None
            cells = (say("{}", from_sympy(atom)), say("{}", from_sympy(body)), say("{}", from_sympy(value)))
            last = say("{}", gradient) if gradient is not None else say("see its own maxima")
            rows.append((*cells, say("yes" if body in own else "no"), last))
            scopes.append("")
    if not rows:
        words = "f has no kinks: it is differentiable, and its gradient is its only subgradient."
        return Section("The gradient", (Step(say(words), proof="set"),))
    header = (say("maximum"), say("of"), say("value there"), say("active"), say("gradient"))
    words = (
        "Where a maximum has one active function, it has that function's gradient. Where several are active, every "
        "mixture of their gradients is a subgradient:"
    )
    table = Table(header, tuple(rows))
    return Section("The active functions", (Step(say(words), (table,), proof="set"),))


def _set(e: SubgradientProblem) -> Section:
    name = Call("∂f", (e.w0,))
    if len(e.corners) == 1:
        only = point([from_sympy(entry) for entry in e.corners[0]])
        words = "f is differentiable at {}, and its gradient is the only subgradient:"
        shown: Formula = Listing((name, Words(" = "), Listing((only,), ", ", braces=True)), "")
        return Section("All subgradients", (Step(say(words, e.w0), (shown,), proof="set"),))
    sides = [sorted({corner[j] for corner in e.corners}, key=lambda v: v.evalf(30)) for j in range(e.d)]
    size = 1
    for side in sides:
        size *= len(side)
    boxed = size == len(e.corners) and all(len(side) <= 2 for side in sides)
    parts: list[Formula] = [name, Words(" = ")]
    if boxed:
        for j, side in enumerate(sides):
            parts += [Words(" × ")] if j else []
            ends = Listing(tuple(from_sympy(v) for v in side), ", ")
            braces = ("{", "}") if len(side) == 1 else ("[", "]")
            parts += [Words(braces[0]), ends, Words(braces[1])]
    else:
        listed = Listing(tuple(point([from_sympy(entry) for entry in c]) for c in e.corners), ", ", braces=True)
        parts += [Words("all mixtures of "), listed]
    words = "The subgradients of the terms add up. All subgradients at {}:"
    reason = say("the largest {} over this set is the slope of f in each direction", Inner(e.v, Symbol("d", bold=True)))
    return Section("All subgradients", (Step(say(words, e.w0), (Listing(tuple(parts), ""),), reason, proof="set"),))


def _asked(e: SubgradientProblem) -> tuple[bool, Section]:
    """Whether the vector is a subgradient: weights of the corners, or a point where its plane is above f."""
    assert e.asked is not None
    corners = _fractions(e.corners)
    found = weights_of(e.asked, corners)
    title = f"Is {_plain_point(e.asked)} a subgradient?"
    if found is not None:
        kept = [(weight, corner) for weight, corner in zip(found, corners, strict=True) if weight]
        mixture = combination([weight for weight, _ in kept], [point(corner) for _, corner in kept])
        step = Step(say("Yes: it is a mixture of corners of the set."), (equals(e.v, mixture),), scope="letters")
        return True, Section(title, (step,))
    place = refutation(e.f, e.asked and e.at, e.asked)
    step_ = [a - b for a, b in zip(place, e.at, strict=True)]
    plane = e.f.at(e.at) + sum(exact(a * b) for a, b in zip(e.asked, step_, strict=True))
    there = Call(_f, (point(place),))
    low = Call(_f, (e.w0,)) + Inner(e.v, point(step_))
    words = say("No: at {} its plane is above f.", condition(e.w, "=", point(place)))
    relation = chain(there, "=", from_sympy(e.f.at(place)), "<", from_sympy(plane), "=", low)
    return False, Section(title, (Step(words, (relation,), scope="letters", proof="no"),))


def _plain_point(v: Vector) -> str:
    from .render.boxes import in_line

    return in_line(point(v))


def _picture(e: SubgradientProblem) -> Chart | None:
    """On the line: lines below the graph. In the plane: contours, and the set of subgradients."""
    if e.d == 1:
        return _lines_below(e)
    return _contours(e) if e.d == 2 else None


def _lines_below(e: SubgradientProblem) -> Chart:
    x, (at,) = e.names[0], e.at
    low, high = at - 3, at + 3
    value = fraction(e.f.at(e.at)) if e.f.at(e.at).is_Rational else fraction(float(e.f.at(e.at)))
    corners = [corner[0] for corner in _fractions(e.corners)]
    slopes = corners if len(corners) == 1 else [corners[0], sum(corners, Fraction(0)) / 2, corners[-1]]
    kinds = ("second", "third", "fourth")
    lines = [
        Graph(formula(value) + Number(s) * (x - Number(at)), x, low, high, kinds[i], f"slope {s}")
        for i, s in enumerate(slopes)
    ]
    heights = [e.f.at((at + Fraction(k, 2),)).evalf(8) for k in range(-4, 5)]
    span = [(low, fraction(round(float(h), 3))) for h in heights] + [(high, value - 1)]
    graph = Graph(from_sympy(e.body), x, low, high, "main", "f")
    parts: tuple[Graph | Trace, ...] = (graph, *lines, Trace(((at, value),), "dot"))
    panel = Panel("lines below the graph", (x.name, "f"), window(span), parts)
    return Chart((panel,), "the graph of f, and lines that touch it from below: one for each subgradient")


def _contours(e: SubgradientProblem) -> Chart:
    (a, b), (first, second) = e.at, e.names
    value = e.f.at(e.at)
    levels = tuple(fraction(round(float(value) + step, 3)) for step in (-2, -1, -0.5, 0, 0.5, 1, 2, 4))
    box = (a - 3, a + 3, b - 3, b + 3)
    arrows = [Trace(((a, b), (a + v[0], b + v[1])), "arrow") for v in _fractions(e.corners)]
    plane = Panel(
        "contours of f, and the corners as arrows", (_axis(first), _axis(second)), box,
        (Contours(from_sympy(e.body), (first, second), levels), *arrows, Trace(((a, b),), "dot")), True,
    )  # fmt: skip
    corners = _fractions(e.corners)
    ring = (*corners, corners[0])
    around = window([(u, v) for u, v in (*corners, (Fraction(0), Fraction(0)))] + [(Fraction(1), Fraction(1))])
    marks = Trace(tuple(corners), "star")
    inside: tuple[Trace, ...] = (Trace(ring, "main"), marks) if len(ring) > 2 else (marks,)
    set_ = Panel("the subgradients", ("v₁", "v₂"), around, inside)
    return Chart((plane, set_), "contours of f with its subgradients as arrows; the set of all subgradients")


def _axis(name: Symbol) -> str:
    from .render.boxes import in_line

    return in_line(name)

"""The primal of the soft margin without slacks: for fixed (w, b) the best slacks are hinge losses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import Linear
from . import letters
from .exact import Labels, Vector, dot, fraction, labels, refuse_many, require_few, sympy
from .formula import (
    Call,
    Formula,
    Inner,
    Norm,
    Number,
    Product,
    Symbol,
    chain,
    combination,
    condition,
    equals,
    matrix,
    point,
)
from .letters import HALF, b, over, w, x_, y_
from .sample import Sample, read_sample, require_linear
from .sample_steps import renamed
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS = 12
_xi, _J, _s = Symbol("xi", "i"), Symbol("J"), Symbol("s", "i")


@dataclass(frozen=True)
class HingeProblem(Sample):
    """Points with labels, C, and one machine (w, b), not the best one."""

    labels: Labels
    C: Fraction
    w: Vector
    b: Fraction

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @cached_property
    def reached(self) -> Vector:
        """y_i (<w, x_i> + b)."""
        return tuple(s * (dot(self.w, x) + self.b) for s, x in zip(self.y, self.vectors, strict=True))

    @property
    def slacks(self) -> Vector:
        """max(0, 1 - y_i f(x_i))."""
        return tuple(max(Fraction(0), 1 - m) for m in self.reached)

    @property
    def value(self) -> Fraction:
        """The objective."""
        return dot(self.w, self.w) / 2 + self.C * sum(self.slacks)

    def solve(self) -> Solution:
        """See `hinge`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """The machine as given; in "letters", w and b are letters."""
        sp = sympy()
        signs = [sp.Integer(s) for s in self.y]
        given = scope != "letters"
        names = letters.coordinates(len(self.w), "w")
        w_ = vector(self.w) if given else vector([sp.Symbol(name.key, real=True) for name in names])
        b_ = exact(self.b) if given else sp.Symbol("b", real=True)
        w_ = w_ if len(self.w) > 1 else w_[0, 0]
        own = self.base.families[Symbol("x", bold=True)]

        def f(x: Any) -> Any:
            inner = (w_.T * x)[0, 0] if hasattr(w_, "shape") else w_ * x
            return inner + b_

        losses = [sp.Max(0, 1 - s * f(x)) for s, x in zip(signs, own, strict=True)]
        square = (w_.T * w_)[0, 0] if hasattr(w_, "shape") else w_**2
        J = square / 2 + exact(self.C) * sum(losses)
        found = {w: w_, b: b_, letters.C: exact(self.C), letters.f: f, _J: lambda *_: J}
        return self.base.also(found, {Symbol("y"): signs, Symbol("xi"): losses})

    def prove_slacks(self, step: Step) -> bool:
        """Each slack satisfies both constraints, one of them with equality: no smaller one does."""
        return all(
            x >= 0 and m >= 1 - x and (x == 0 or m == 1 - x) for m, x in zip(self.reached, self.slacks, strict=True)
        )

    def prove_subgradient(self, step: Step) -> bool:
        """For the ends of every s_i the plane is below J on a grid of other machines."""
        gradient = self._gradient([Fraction(1, 2)] * self.n)
        for j in range(len(self.w) + 1):
            for size in (-2, -1, Fraction(1, 7), 1, 3):
                moved = [*self.w, self.b]
                moved[j] += size
                other = replace(self, w=tuple(moved[:-1]), b=moved[-1])
                if other.value < self.value + gradient[j] * size:
                    return False
        return True

    def _gradient(self, shares: list[Fraction]) -> Vector:
        """w - C sum of y_i x_i, and -C sum of y_i: over points short of the margin, with shares of those on it."""
        weights = [
            Fraction(1) if m < 1 else share if m == 1 else Fraction(0)
            for m, share in zip(self.reached, shares, strict=True)
        ]
        beta = [self.C * weight * s for weight, s in zip(weights, self.y, strict=True)]
        return (*(a - c for a, c in zip(self.w, self.weights(tuple(beta)), strict=True)), -sum(beta, Fraction(0)))


def hinge(X: Any, y: Any, C: Any = 1, w: Any = None, b: Any = 0) -> Solution:
    """For a fixed linear machine (w, b): its best slacks, the hinge form, why it is convex, where it has kinks."""
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.LinearSVC")
    fields = read_sample(X, Linear(), "mercer.LinearSVC")
    bound = fraction(C, "C")
    if bound <= 0:
        raise ValueError(f"C must be greater than 0, not {C}.")
    width = len(fields["points"][0])
    many = hasattr(w, "__iter__") and not isinstance(w, str)
    given = (Fraction(0),) * width if w is None else tuple(fraction(v, "w") for v in (w if many else [w]))
    if len(given) != width:
        raise ValueError(f"w needs {width} coordinates, as the points have, not {len(given)}.")
    return HingeProblem(**fields, labels=labels(y, len(fields["points"])), C=bound, w=given, b=fraction(b, "b")).solve()


def worked(e: HingeProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.LinearSVC")
    require_linear(e)
    sections = (_slacks(e), _form(e), _convex(e), _kinks(e), _subgradient(e))
    answer = {
        "slacks": e.slacks,
        "value": e.value,
        "kinks": tuple(i for i, m in enumerate(e.reached) if m == 1),
        "subgradient": e._gradient([Fraction(0)] * e.n),
    }
    return Solution(f"The hinge form of the soft margin: {e.n} points, C = {e.C}", sections, answer, None, e)


def _inside() -> Formula:
    return y_("i") * (Inner(w, x_("i")) + b)


def _slacks(e: HingeProblem) -> Section:
    given = say("The machine is {} with {}, and {}.", equals(w, point(e.w)), equals(b, e.b), equals(letters.C, e.C))
    rule = equals(_xi, Call("max", (Number(Fraction(0)), 1 - _inside())))
    rows = tuple(
        (say("{}", i + 1), say("{}", x_(i)), say("{}", m), say("{}", x))
        for i, (m, x) in enumerate(zip(e.reached, e.slacks, strict=True))
    )
    header = (say("i"), say("point"), say("{}", _inside()), say("{}", _xi))
    words = say(
        "The slacks need {} and {}, and cost C each. So the best is the least that both allow:",
        condition(_xi, ">=", 1 - _inside()),
        condition(_xi, ">=", 0),
    )
    table = Step(words, (rule, Table(header, rows, "i")), scope="given", proof="slacks")
    columns = [*e.columns(), (y_("i"), e.y)]
    words_ = Prose((*say("There are {} points:", e.n).parts, *renamed(e.labels)))
    points = Step(words_, (Table.of_points(columns),), scope="given")
    return Section("The best slacks of a fixed machine", (points, Step(given, scope="given"), table))


def _form(e: HingeProblem) -> Section:
    loss = Call("max", (Number(Fraction(0)), 1 - _inside()))
    general = equals(Call(_J, (w, b)), HALF * Norm(w) ** 2 + letters.C * over(loss))
    nonzero: list[Formula] = [Number(x) for x in e.slacks if x]
    summed = combination([1] * len(nonzero), nonzero) if nonzero else Number(Fraction(0))
    numbers = equals(Call(_J, (w, b)), HALF * Number(dot(e.w, e.w)) + Number(e.C) * summed, e.value)
    words = "Put into the problem, the slacks and all constraints are gone. What is left is the hinge form:"
    return Section(
        "The hinge form",
        (Step(say(words), (general,), scope="given"), Step(say("Here"), (numbers,), scope="given")),
    )


def _convex(e: HingeProblem) -> Section:
    d = len(e.w)
    loss = Call("max", (Number(Fraction(0)), 1 - _inside()))
    identity = matrix([[int(i == j) for j in range(d)] for i in range(d)])
    steps = (
        Step(say("{} is convex: its second derivatives are {}, the identity.", HALF * Norm(w) ** 2, identity)),
        Step(say("{} is affine in {} and b, so convex.", 1 - _inside(), w)),
        Step(say("{} is the largest of two convex functions, so convex.", loss)),
        Step(say("C is positive, and a sum of convex functions is convex. So J is convex, without constraints.")),
    )
    return Section("It is convex", steps)


def _kinks(e: HingeProblem) -> Section:
    names = [*letters.coordinates(len(e.w), "w"), b]
    lines = []
    for x, s in zip(e.vectors, e.y, strict=True):
        lines.append(condition(combination([*(s * v for v in x), s], names), "=", 1))
    on = [i + 1 for i, m in enumerate(e.reached) if m == 1]
    words = "J has no gradient where a point lies on its margin, {}. These are the machines:"
    here = "This machine is on none of them: J is differentiable here."
    if on:
        here = f"This machine is on number {' and '.join(map(str, on))}: J has no gradient here."
    first = Step(say(words, condition(_inside(), "=", 1)), tuple(lines))
    return Section("It is not differentiable", (first, Step(say(here), proof="slacks")))


def _subgradient(e: HingeProblem) -> Section:
    """The subgradients at this machine, with a share for each point on its margin."""
    short = [i for i, m in enumerate(e.reached) if m < 1]
    on = [i for i, m in enumerate(e.reached) if m == 1]
    base = e._gradient([Fraction(0)] * e.n)
    factors = [e.C * -e.y[i] for i in on]
    bodies: list[Formula] = [Product((Symbol("s", str(i + 1)), point([*e.vectors[i], 1]))) for i in on]
    whole = combination([1, *factors], [point(base), *bodies])
    v = Symbol("v", bold=True)
    listed = ", ".join(str(i + 1) for i in short) or "none"
    words = say(
        f"Points short of their margin (number {listed}) have the slope of their line; points on it any share "
        "{} of theirs. In the coordinates of {}, then b:",
        chain(0, "<=!", _s, "<=!", 1),
        w,
    )
    return Section("Its subgradients", (Step(words, (condition(v, "=", whole),), proof="subgradient"),))

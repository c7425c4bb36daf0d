"""The stochastic subgradient method for the primal of the soft margin, step by step in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

from ..kernels import Linear
from . import footnotes, letters
from .chart import Chart, Panel, Trace, rounded, window
from .exact import (
    Labels,
    Vector,
    dot,
    fraction,
    labels,
    refuse_many,
    require_few,
    require_seed,
    require_whole,
    require_word,
    sympy,
)
from .formula import (
    Call,
    Inner,
    Listing,
    Norm,
    Number,
    Product,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    point,
)
from .letters import HALF, b, over, w, x_, y_
from .sample import Sample, read_sample, require_linear
from .sample_steps import renamed
from .step_rules import Rule, read_rule
from .steps import Prose, Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS, MOST_STEPS = 12, 60
ORDERS = ("epochs", "random")
_eta, _J, _n, _T = Symbol("eta"), Symbol("J"), Symbol("n"), Symbol("T")


@dataclass(frozen=True)
class Turn:
    """One step: the point, the size of the step, y f(x) before, and the machine after."""

    i: int
    eta: Fraction
    reached: Fraction
    w: Vector
    b: Fraction


@dataclass(frozen=True)
class StochasticProblem(Sample):
    """Points with labels, C, the rule, and how the points are drawn."""

    labels: Labels
    C: Fraction
    steps: int
    rule: Any
    order: str
    average_from: int
    seed: int

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @cached_property
    def drawn(self) -> tuple[int, ...]:
        """The points, in the order in which they come."""
        random = Random(self.seed)
        found: list[int] = []
        while len(found) < self.steps:
            if self.order == "random":
                found.append(random.randrange(self.n))
                continue
            epoch = list(range(self.n))
            random.shuffle(epoch)
            found += epoch
        return tuple(found[: self.steps])

    @cached_property
    def run(self) -> tuple[Turn, ...]:
        """All steps."""
        w_, b_ = (Fraction(0),) * len(self.vectors[0]), Fraction(0)
        found = []
        for t, i in enumerate(self.drawn, 1):
            eta = Rule(self.rule).size(t)
            x, s = self.vectors[i], self.y[i]
            reached = s * (dot(w_, x) + b_)
            move = self.n * self.C * eta * s if reached < 1 else Fraction(0)
            w_ = tuple((1 - eta) * a + move * c for a, c in zip(w_, x, strict=True))
            b_ += move
            found.append(Turn(i, eta, reached, w_, b_))
        return tuple(found)

    def objective(self, w_: Vector, b_: Fraction) -> Fraction:
        """J(w, b)."""
        reached = [s * (dot(w_, x) + b_) for s, x in zip(self.y, self.vectors, strict=True)]
        return dot(w_, w_) / 2 + self.C * sum((max(Fraction(0), 1 - m) for m in reached), Fraction(0))

    @cached_property
    def mean(self) -> tuple[Vector, Fraction]:
        """The mean of (w, b) from step average_from on."""
        kept = self.run[self.average_from - 1 :]
        columns = zip(*((*turn.w, turn.b) for turn in kept), strict=True)
        *w_, b_ = [sum(column, Fraction(0)) / len(kept) for column in columns]
        return tuple(w_), b_

    def solve(self) -> Solution:
        """See `stochastic`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """At the end, or at one step: gone through anew with SymPy's numbers."""
        kind, _, number = scope.partition(" ")
        signs = [sympy().Integer(s) for s in self.y]
        base = self.base.also({letters.C: exact(self.C), _n: exact(self.n)}, {Symbol("y"): signs})
        if kind == "step":
            place = int(number)
            (w0, b0), (w1, b1) = self._places[place], self._places[place + 1]
            return base.also(
                {letters.f: _machine(w0, b0), w: w1, b: b1, _eta: exact(Rule(self.rule).size(place + 1))}
            ).where(i=self.drawn[place])
        w_, b_ = self._places[-1] if kind == "last" else (vector(self.mean[0]), exact(self.mean[1]))
        if kind == "mean":
            places = self._places[self.average_from :]
            w_ = sum((p for p, _ in places[1:]), places[0][0]) / len(places)
            b_ = sum(c for _, c in places) / len(places)
        J = _objective(self, w_, b_)
        return base.also({w: w_, b: b_, letters.f: _machine(w_, b_), _J: lambda *_: J, _T: exact(self.steps)})

    @cached_property
    def _places(self) -> list[tuple[Any, Any]]:
        sp = sympy()
        own = [vector(x) for x in self.vectors]
        w_, b_ = sp.zeros(len(self.vectors[0]), 1).as_immutable(), sp.Integer(0)
        found = [(w_, b_)]
        for t, i in enumerate(self.drawn, 1):
            eta, s, x = exact(Rule(self.rule).size(t)), self.y[i], own[i]
            short = s * ((w_.T * x)[0, 0] + b_) < 1
            gradient_w = w_ - (self.n * exact(self.C) * s * x if short else 0 * x)
            gradient_b = -self.n * exact(self.C) * s if short else sp.Integer(0)
            w_, b_ = w_ - eta * gradient_w, b_ - eta * gradient_b
            found.append((w_, b_))
        return found

    def prove_run(self, step: Step) -> bool:
        """The words of the table: short of the margin where y f < 1."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        for number, row in enumerate(table.rows):
            w_, b_ = self._places[number]
            i = self.drawn[number]
            short = self.y[i] * ((w_.T * vector(self.vectors[i]))[0, 0] + b_) < 1
            if row[1].parts != (Number(Fraction(i + 1)),) or row[4].parts[0] != ("no" if short else "yes"):
                return False
        return True

    def parts(self, w_: Vector, b_: Fraction) -> list[Vector]:
        """n times the gradient of each f_i = 1/(2n) |w|^2 + C max(0, 1 - y_i f(x_i))."""
        found = []
        for x, s in zip(self.vectors, self.y, strict=True):
            move = self.n * self.C * s if s * (dot(w_, x) + b_) < 1 else Fraction(0)
            found.append((*(a - move * c for a, c in zip(w_, x, strict=True)), -move))
        return found

    def prove_mean(self, step: Step) -> bool:
        """The mean of the parts is the gradient of J: w - C sum y_i x_i over points short of the margin."""
        w_, b_ = self.run[-1].w, self.run[-1].b
        short = [s if s * (dot(w_, x) + b_) < 1 else 0 for x, s in zip(self.vectors, self.y, strict=True)]
        beta = tuple(self.C * s for s in short)
        whole = (*(a - c for a, c in zip(w_, self.weights(beta), strict=True)), -sum(beta, Fraction(0)))
        mean = tuple(sum(column, Fraction(0)) / self.n for column in zip(*self.parts(w_, b_), strict=True))
        return mean == whole


def _machine(w_: Any, b_: Any) -> Any:
    return lambda x: (w_.T * x)[0, 0] + b_ if hasattr(x, "shape") else w_[0, 0] * x + b_


def _objective(e: StochasticProblem, w_: Any, b_: Any) -> Any:
    sp = sympy()
    losses = [sp.Max(0, 1 - s * ((w_.T * vector(x))[0, 0] + b_)) for x, s in zip(e.vectors, e.y, strict=True)]
    return (w_.T * w_)[0, 0] / 2 + exact(e.C) * sum(losses)


def stochastic(
    X: Any, y: Any, C: Any = 1, steps: int = 9, rule: Any = "1/(t + 1)", order: str = "epochs", average_from: int = 1,
    seed: int = 0,
) -> Solution:  # fmt: skip
    """The primal soft margin by single points, w <- (1 - eta) w + eta n C y x where a point is short of its margin.

    order is "epochs" (each point once, shuffled anew) or "random"; the mean of w is taken from step average_from on.
    """
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.LinearSVC(solver=mercer.solvers.StochasticSubgradient())")
    fields = read_sample(X, Linear(), "mercer.LinearSVC")
    bound = fraction(C, "C")
    if bound <= 0:
        raise ValueError(f"C must be greater than 0, not {C}.")
    own = labels(y, len(fields["points"]))
    return StochasticProblem(
        **fields, labels=own, C=bound, steps=steps, rule=read_rule(rule).body, order=order, average_from=average_from,
        seed=seed,
    ).solve()  # fmt: skip


def worked(e: StochasticProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.LinearSVC")
    require_whole("steps", e.steps, MOST_STEPS)
    require_whole("average_from", e.average_from, e.steps)
    require_word("order", e.order, ORDERS)
    require_seed(e.seed)
    require_linear(e)
    sections = (_data(e), _table(e), _expectation(e), _output(e), _cost(e))
    last = e.run[-1]
    answer = {
        "w": last.w, "b": last.b, "mean_w": e.mean[0], "mean_b": e.mean[1],
        "value": e.objective(last.w, last.b), "mean_value": e.objective(*e.mean),
        "drawn": tuple(i + 1 for i in e.drawn),
    }  # fmt: skip
    return Solution(f"Stochastic subgradient steps: {e.n} points, C = {e.C}", sections, answer, _picture(e), e)


def _data(e: StochasticProblem) -> Section:
    columns = [*e.columns(), (y_("i"), e.y)]
    counted = Prose((*say("There are {} points:", e.n).parts, *renamed(e.labels)))
    inside = y_("i") * (Inner(w, x_("i")) + b)
    loss = Call("max", (Number(Fraction(0)), 1 - inside))
    share = (1 / (2 * _n)) * Norm(w) ** 2 + letters.C * loss
    J = condition(Call(_J, (w, b)), "=", over(share), "=", HALF * Norm(w) ** 2 + letters.C * over(loss))
    stay = Listing((Words("if  "), condition(inside, ">=", 1), Words("  then  "), chain(w, ":=", (1 - _eta) * w)), "")
    move = Listing(
        (Words("otherwise  "), chain(w, ":=", (1 - _eta) * w + Product((_eta, _n, letters.C, y_("i"), x_("i")))),
         Words(",  "), chain(b, ":=", b + Product((_eta, _n, letters.C, y_("i"))))), "",
    )  # fmt: skip
    way = "each point once in an epoch, shuffled anew" if e.order == "epochs" else "each time one at random"
    start = say(
        f"Start with {{}} and {{}}; take points i, {way}, with {{}} in step t:",
        condition(w, "=", 0), condition(b, "=", 0), condition(_eta, "=", Rule(e.rule).written),
    )  # fmt: skip
    notes = (footnotes.PARENTHESES, footnotes.B_IS_KEPT, footnotes.SQUARE_SUMMABLE)
    return Section(
        "The data and the rule",
        (
            Step(counted, (Table.of_points(columns),), scope="last"),
            Step(say("The objective is a sum with one term for each point; {}:", condition(letters.C, "=", e.C)), (J,)),
            Step(start, (stay, move), footnotes=notes),
        ),
    )


def _table(e: StochasticProblem) -> Section:
    test = y_("i") * Call(letters.f, (x_("i"),))
    after = (say("{} after", w), say("{} after", b))
    header = (say("t"), say("i"), say("{}", _eta), say("{}", test), say("at least 1"), *after)
    rows = []
    for t, turn in enumerate(e.run, 1):
        cells = (say("{}", t), say("{}", turn.i + 1), say("{}", turn.eta), say("{}", turn.reached))
        rows.append((*cells, say("no" if turn.reached < 1 else "yes"), say("{}", point(turn.w)), say("{}", turn.b)))
    scopes = tuple(f"step {t}" for t in range(len(rows)))
    words = "Step for step; f is the machine before the step:"
    return Section("The run", (Step(say(words), (Table(header, tuple(rows), scopes=scopes),), proof="run"),))


def _expectation(e: StochasticProblem) -> Section:
    """The mean of the single steps is the gradient."""
    turn = e.run[-1]
    parts = e.parts(turn.w, turn.b)
    mean = tuple(sum(column, Fraction(0)) / e.n for column in zip(*parts, strict=True))
    listed = [point(part) for part in parts]
    relation = equals((combination([1] * e.n, listed)) / Number(Fraction(e.n)), point(mean))
    rows = tuple((say("{}", i + 1), say("{}", point(part))) for i, part in enumerate(parts))
    table = Table((say("i"), say("n times a subgradient of term i")), rows)
    words = say(
        "At {} and {}, a single point gives the wrong direction, but their mean is a subgradient of J:",
        equals(w, point(turn.w)), equals(b, turn.b),
    )  # fmt: skip
    why = say("coordinates of {}, then b", w)
    return Section("Right in the mean", (Step(words, (table, relation), why, scope="last", proof="mean"),))


def _output(e: StochasticProblem) -> Section:
    turn, (mean_w, mean_b) = e.run[-1], e.mean
    last = Step(
        say("The last machine is {} with {}.", equals(w, point(turn.w)), equals(b, turn.b)),
        (equals(Call(_J, (w, b)), e.objective(turn.w, turn.b)),),
        scope="last",
    )
    terms = e.steps - e.average_from + 1
    words = say(
        f"The mean from step {e.average_from} on, of {terms} machines, is {{}} with {{}}.",
        equals(w, point(mean_w)), equals(b, mean_b),
    )  # fmt: skip
    mean = Step(
        words, (equals(Call(_J, (w, b)), e.objective(*e.mean)),), footnotes=(footnotes.TERMS_OF_AVERAGE,), scope="mean"
    )
    return Section("The answer: the last machine, or the mean", (last, mean))


def _cost(e: StochasticProblem) -> Section:
    d = len(e.vectors[0])
    single, whole = 3 * d, e.n * 2 * d + d
    counted = (
        ("one stochastic step", equals(Number(Fraction(3)) * d, single), say("one point")),
        (
            "one step along the whole subgradient",
            equals(Number(Fraction(2)) * e.n * d + d, whole),
            say("{} points", e.n),
        ),
        (f"all {e.steps} steps here", equals(Number(Fraction(e.steps)) * single, e.steps * single), say("")),
    )
    rows = tuple((say(what), say("{}", products), seen) for what, products, seen in counted)
    header = (say(""), say("products"), say("looks at"))
    words = "What a step costs, with d = {} coordinates: an inner product, the shrinking of w, and adding a point."
    return Section("The cost", (Step(say(words, d), (Table(header, rows),), say("O(d) against O(n d)")),))


def _picture(e: StochasticProblem) -> Chart:
    values = [(Fraction(t), rounded(e.objective(turn.w, turn.b))) for t, turn in enumerate(e.run, 1)]
    least = [(Fraction(t), min(v for _, v in values[:t])) for t in range(1, len(values) + 1)]
    level = rounded(e.objective(*e.mean))
    mean = ((Fraction(e.average_from), level), (Fraction(e.steps), level))
    traces = [Trace(tuple(values), "second", "value"), Trace(tuple(least), "main", "best value")]
    traces.append(Trace(mean, "third", "value of the mean"))
    around = window([*values, *mean, (Fraction(1), Fraction(0))])
    panel = Panel("the objective, step by step", ("t", "J"), around, tuple(traces))
    return Chart((panel,), "the objective after each step, the best so far, and that of the mean")

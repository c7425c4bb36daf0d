"""The perceptron by hand: its run as a table, primal and dual side by side, and why it cycles where it does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import Kernel, Linear
from . import footnotes, letters
from .exact import Labels, NotByHandError, Vector, dot, fraction, labels, refuse_many, require_few, require_word, sympy
from .formula import (
    Call,
    Chain,
    Formula,
    Inner,
    Listing,
    Norm,
    Product,
    Symbol,
    Words,
    chain,
    combination,
    condition,
    equals,
    point,
)
from .letters import about, f_of, k, over, root_of, w, x_, y_
from .perceptron_derivation import derivation, explicit_world, panels
from .perceptron_proofs import Proofs, word
from .perceptron_run import MOST_PASSES, Run, follow
from .picture import Picture
from .sample import Sample, read_sample
from .sample_steps import Expansion, class_of, function_steps, gram_steps, new_points, renamed
from .steps import Prose, Section, Solution, Step, Table, say
from .svm_problem import added
from .world import World, exact, vector

MOST_POINTS = 20
SHOWN = 100
"""A run of more looks is cut in the middle, unless all are asked for."""
_KEPT = 20

_a, _eta, _M = Symbol("alpha", "i"), Symbol("eta"), Symbol("M")


@dataclass(frozen=True)
class PerceptronProblem(Proofs, Sample):
    """Points with labels, the step eta, and whether every look is shown."""

    labels: Labels
    eta: Fraction
    all: bool = False
    detail: str = "full"

    def solve(self) -> Solution:
        """See `perceptron`."""
        return self.within_limits(lambda: worked(self))

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @cached_property
    def run(self) -> Run:
        """What the perceptron does."""
        return follow(self.K, self.y, self.eta)

    @cached_property
    def plain(self) -> PerceptronProblem:
        """The same points with the linear kernel."""
        return PerceptronProblem(self.points, None, Linear(), None, (), (), self.labels, self.eta)

    @property
    def beta(self) -> Vector:
        """The factors of f at the end."""
        return self.run.beta(self.run.alpha)

    def world(self, scope: str) -> World:
        """See Problem: at the end of the run, or at one look of it."""
        kind, _, rest = scope.partition(" ")
        if kind == "linear":
            return self.plain.world(rest)
        signs = [sympy().Integer(s) for s in self.y]
        world = self.base.also({letters.y: vector(signs), _eta: exact(self.eta)}, {Symbol("y"): signs})
        if kind == "data":
            return world
        if kind == "look":
            return self._look(world, int(rest))
        if kind == "explicit":
            return explicit_world(self, world, int(rest))
        world = self._counted(world, self.run.alpha).also({_M: exact(sum(self.run.alpha))})
        if kind == "cycle":
            counts = self.run.cycle()
            return world.also(families={Symbol("c"): [exact(c) for c in counts or ()]})
        return self.at_new(world, int(rest) - 1) if kind == "new" else world

    def _counted(self, world: World, alpha: tuple[int, ...]) -> World:
        beta = [exact(v) for v in self.run.beta(alpha)]
        counts = [exact(a) for a in alpha]
        zero = sympy().Integer(0)
        world = self.function(world, beta, zero).also({letters.alpha_bold: vector(counts)}, {Symbol("alpha"): counts})
        return world.also({letters.b: zero})

    def _look(self, world: World, number: int) -> World:
        """f before a look, w and the counts after it."""
        counts = self._counts
        before, after = (self._counted(world, counts[place]) for place in (number, number + 1))
        letters_ = {name: after.letters[name] for name in (w, letters.alpha_bold)}
        return before.also(letters_).where(i=number % self.n)

    @cached_property
    def _counts(self) -> list[tuple[int, ...]]:
        """The counts of mistakes before each look and after the last: the points are gone through again."""
        found = [(0,) * self.n]
        for look in range(len(self.run.looks)):
            place, alpha = look % self.n, found[-1]
            mistake = self.y[place] * dot(self.K[place], self.run.beta(alpha)) <= 0
            found.append(tuple(a + (mistake and i == place) for i, a in enumerate(alpha)))
        return found


def perceptron(
    X: Any,
    y: Any,
    kernel: Kernel | str | None = None,
    eta: Any = 1,
    new: Any = None,
    all: bool = False,
    detail: str = "full",
) -> Solution:
    """The perceptron, followed step by step: primal and dual where kernel is None, the kernel perceptron otherwise.

    There is no bias: give the points a coordinate 1, or the kernel a constant, to have one. `new` is a point (or
    several) to classify. A run of more than 100 looks is cut in the middle, unless all=True.
    detail="derivation" shows how the dual comes out of the run: four forms, the double sum, the features.
    """
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.KernelPerceptron")
    rate = fraction(eta, "eta")
    if rate <= 0:
        raise ValueError(f"eta must be greater than 0, not {eta}.")
    fields = read_sample(X, Linear() if kernel is None else kernel, "mercer.KernelPerceptron", new, gaussian=True)
    rows = fields["gram"] if fields["points"] is None else fields["points"]
    problem = PerceptronProblem(**fields, labels=labels(y, len(rows)), eta=rate, detail=detail)
    return replace(problem, all=bool(all) and len(problem.run.looks) > SHOWN).solve()


def worked(e: PerceptronProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.KernelPerceptron")
    run = e.run
    if e.all and len(run.looks) <= SHOWN:
        raise ValueError(f"A run of {len(run.looks)} looks is shown in full anyway.")
    require_word("detail", e.detail, ("full", "derivation"))
    if e.detail == "derivation" and len(run.looks) > SHOWN:
        raise NotByHandError(f"A run of {len(run.looks)} looks is too long to derive row by row; at most {SHOWN}.")
    sections = (
        [_rule(e), *_gram(e), _table(e), _end(e)]
        if e.detail == "full"
        else [_rule(e), *_gram(e), *derivation(e), _end(e)]
    )
    if run.converged:
        sections += [*_weights(e), _certificate(e)] if e.detail == "full" else []
    if not e.linear and e.points is not None and e.detail == "full":
        sections.append(_linear(e))
    if run.converged:
        sections += _answer(e)
    answer: dict[str, Any] = {
        "converged": run.converged,
        "alpha": run.alpha,
        "mistakes": sum(run.alpha),
        "passes": run.looks[-1].turn,
    }
    if e.linear:
        answer["w"] = e.weights(e.beta)
    if e.new and run.converged:
        answer["new"] = tuple(dot(e.beta, e.new_values(number)) for number in range(len(e.new)))
    name = "Perceptron" if e.linear else "Kernel perceptron"
    counts = tuple(e.eta * a for a in run.alpha)
    picture = Picture.of(e, e.y, counts, Fraction(0)) if run.converged else Picture.of(e, e.y)
    turned = panels(e) if e.detail == "derivation" else None
    return Solution(f"{name}: {e.n} points", tuple(sections), answer, turned or picture, e)


def _rule(e: PerceptronProblem) -> Section:
    columns = [*e.columns(), (y_("i"), e.y)]
    similarity = Inner(x_("j"), x_("i")) if e.linear else Call(k, (x_("j"), x_("i")))
    score = over(Product((Symbol("alpha", "j"), y_("j"), similarity)), "j")
    dual = _if("dual:  " if e.linear else "", score if e.eta == 1 else _eta * score, chain(_a, ":=", _a + 1))
    shown: tuple[Formula, ...] = (dual,)
    start = say(
        "Start with {}. Go through the points again and again; {} counts the mistakes on point i:",
        condition(_a, "=", 0),
        _a,
    )
    if e.linear:
        added_point = w + (y_("i") * e.mapped(x_("i")) if e.eta == 1 else _eta * y_("i") * e.mapped(x_("i")))
        shown = (_if("primal:  ", Inner(w, e.mapped(x_("i"))), chain(w, ":=", added_point)), dual)
        start = say(
            "Start with {} and {}. Go through the points again and again, and add the point on a mistake. Both forms "
            "make the same mistakes; {} counts those on point i:",
            condition(w, "=", 0),
            condition(_a, "=", 0),
            _a,
        )
    rate = () if e.eta == 1 else (Step(say("The step is {}.", condition(_eta, "=", e.eta))),)
    points = Prose((*say("There are {} points.", e.n).parts, *renamed(e.labels)))
    notes = (footnotes.LABELS_IN_RUN, footnotes.SPACE_OF_W, footnotes.TERMS_OF_AVERAGE)
    return Section(
        "The data and the rule",
        (
            Step(points, (Table.of_points(columns),), scope="data"),
            Step(start, shown, say("stop after a pass without a mistake"), notes),
            *rate,
        ),
    )


def _if(form: str, score: Formula, then: Chain) -> Formula:
    return Listing((Words(f"{form}if  "), condition(y_("i") * score, "<=", 0), Words("  then  "), then), "")


def _gram(e: PerceptronProblem) -> list[Section]:
    return [Section("The Gram matrix", tuple(gram_steps(e)))] if not e.linear else []


def _table(e: PerceptronProblem) -> Section:
    """The run, row by row."""
    header = [say("pass"), say("i"), say("{}", y_("i") * f_of(x_("i"))), say("mistake")]
    header += [say("{} after", w)] if e.linear else []
    header.append(say("{} after", letters.alpha_bold))
    looks: list[int | None] = list(range(len(e.run.looks)))
    if len(looks) > SHOWN and not e.all:
        looks[_KEPT:-_KEPT] = [None]
    rows = []
    for number in looks:
        if number is None:
            rows.append(tuple(say("…") for _ in header))
            continue
        look = e.run.looks[number]
        row = [say("{}", look.turn), say("{}", look.i + 1), say("{}", look.score), say(word(look.mistake))]
        if e.linear:
            row.append(say("{}", point(e.weights(e.run.beta(look.alpha)))))
        row.append(say("{}", point([Fraction(a) for a in look.alpha])))
        rows.append(tuple(row))
    scopes = tuple("" if number is None else f"look {number}" for number in looks)
    words = "Primal and dual, step for step:" if e.linear else "The run, step for step:"
    if None in looks:
        words = f"{words[:-1]} (of {len(e.run.looks)} looks the first and last {_KEPT}; all=True shows all):"
    return Section("The run", (Step(say(words), (Table(tuple(header), tuple(rows), scopes=scopes),), proof="run"),))


def _end(e: PerceptronProblem) -> Section:
    run = e.run
    if run.converged:
        terms = [added(tuple(map(Fraction, run.alpha)))] if sum(map(bool, run.alpha)) > 1 else []
        statement = say(
            "Pass {} makes no mistake: the perceptron has converged. Mistakes in all: {}. Every point has {}.",
            run.looks[-1].turn,
            equals(_M, *terms, sum(run.alpha)),
            chain(y_("i") * f_of(x_("i")), ">", 0),
        )
        return Section("It converges", (Step(statement, scope="end", proof="converges"),))
    if run.cycle() is None:
        words = f"After {MOST_PASSES} passes it still makes mistakes, and f has not come back to an earlier one."
        return Section("It has not converged", (Step(say(words)),))
    return Section("It cycles for ever", (_why_it_cycles(e, "cycle"),))


def _why_it_cycles(e: PerceptronProblem, scope: str) -> Step:
    """Mistakes that add up to nothing are both the cycle and the proof that no f separates the points."""
    repeated = e.run.cycle()
    assert repeated is not None
    counts = tuple(Fraction(c) for c in repeated)
    beta = tuple(s * c for s, c in zip(e.y, counts, strict=True))
    phis = combination(beta, [e.mapped(x_(i)) for i in range(e.n)])
    if e.linear:
        shown = equals(phis, combination(beta, [e.x(i) for i in range(e.n)]), point([0] * len(e.vectors[0])))
    else:
        shown = equals(Norm(phis) ** 2, 0)
    made = Listing(tuple(equals(Symbol("c", str(i + 1)), c) for i, c in enumerate(counts)), ", ")
    return Step(
        say(
            "At the end of a pass f is what it was at the end of an earlier one, so that the run repeats itself for "
            "ever. In between there were {} mistakes on the points ({}), and they add up to nothing:",
            sum(counts),
            made,
        ),
        (shown,),
        say(
            "if some f had {} for all points, then this sum, in which each of these points counts with its label, "
            "would have a positive value of f; it is 0. So no f without a bias separates the classes",
            condition(y_("i") * f_of(x_("i")), ">", 0),
        ),
        scope=scope,
    )


def _weights(e: PerceptronProblem) -> list[Section]:
    if not e.linear:
        return []
    plain = over(Product((_a, y_("i"), e.mapped(x_("i")))))
    general = plain if e.eta == 1 else _eta * plain
    relation = equals(w, general, combination(e.beta, [e.x(i) for i in range(e.n)]), point(e.weights(e.beta)))
    step = Step(say("The dual gives {} from the counts, the same as the primal:", w), (relation,), scope="end")
    return [Section("The weight vector from the counts", (step,))]


def _certificate(e: PerceptronProblem) -> Section:
    """min y_i f(x_i) / |f| <= margin <= |f| / (eta M)."""
    square = e.squared_norm(e.beta)
    values = [s * dot(row, e.beta) for s, row in zip(e.y, e.K, strict=True)]
    least, mistakes = min(values), Fraction(sum(e.run.alpha))
    m, u = Symbol("m"), Symbol("u", bold=True)
    lower, upper = root_of(least**2 / square), root_of(square / (e.eta * mistakes) ** 2)
    own = Call("min", tuple(y_(i) * f_of(x_(i)) for i in range(e.n))) / Norm(w)
    bound = Norm(w) / (_M if e.eta == 1 else _eta * _M)
    origin = "the origin" if e.linear else "the origin of feature space"
    step = Step(
        say(
            f"The widest margin {{}} of any boundary through {origin} lies between that of this f and a bound by the "
            "number of mistakes, {}; with {},",
            m,
            equals(_M, mistakes),
            equals(Norm(w) ** 2, square),
        ),
        (_bound(own, lower), _bound(bound, upper), chain(lower, "<=", m, "<=", upper)),
        say(
            "each mistake adds at least {} to {} for the best unit vector {}, and {}",
            m if e.eta == 1 else _eta * m,
            Inner(w, u),
            u,
            condition(Inner(w, u), "<=", Norm(w)),
        ),
        scope="end",
    )
    return Section("What the run proves", (step,))


def _bound(body: Formula, exact_: Formula) -> Chain:
    rounded = about(exact_)
    return equals(body, exact_) if rounded is None else chain(body, "=", exact_, "~", rounded)


def _linear(e: PerceptronProblem) -> Section:
    """What the linear kernel would do with the same points."""
    title, run = "And with the linear kernel?", e.plain.run
    if run.converged:
        words = say("It converges too, after {} mistakes: these points need no kernel.", sum(run.alpha))
        return Section(title, (Step(words, proof="linear"),))
    if run.cycle() is None:
        return Section(title, (Step(say(f"It still makes mistakes after {MOST_PASSES} passes."), proof="linear"),))
    words = say("It does not end: after pass {} it is back where it was.", run.looks[-1].turn)
    return Section(title, (Step(words, proof="linear"), _why_it_cycles(e.plain, "linear cycle")))


def _answer(e: PerceptronProblem) -> list[Section]:
    steps = function_steps(e, f_of(letters.x), e.beta, Fraction(0), "end")
    sections = [Section("The function f", (*steps, Step(say("A new point belongs to the class of the sign of f."))))]
    factor = _a * y_("i") if e.eta == 1 else _eta * _a * y_("i")
    return sections + new_points(e, Expansion(factor, e.beta, Fraction(0), lambda f: class_of(e.labels, f)))

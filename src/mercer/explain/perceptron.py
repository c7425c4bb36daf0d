"""The perceptron by hand: its run as a table, primal and dual side by side, and why it cycles where it does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..kernels import Kernel, Linear
from . import letters
from .algebra import times
from .exact import Rows, Vector, dot, fraction, labels, refuse_many, sympy
from .features import multiplied_out
from .formula import (
    Call,
    Chain,
    Formula,
    Inner,
    Listing,
    Norm,
    Number,
    Product,
    Symbol,
    Words,
    chain,
    column,
    combination,
    equals,
    matrix,
    point,
)
from .gram import gram, is_polynomial, read_kernel
from .letters import about, f_of, k, over, root_of, w, x_, y_
from .picture import Picture
from .setting import Setting, added
from .steps import All, Assertion, Prose, Section, Solution, Step, Table, claims, say
from .svm_dual import kernel_values

MOST_POINTS = 20
MOST_PASSES = 200
_ROWS = 40
"""A longer run is cut in the middle."""

_a, _eta, _M = Symbol("alpha", "i"), Symbol("eta"), Symbol("M")


@dataclass(frozen=True)
class Look:
    """One look at a point: its pass and number, y_i f(x_i) before, and the counts of mistakes after."""

    turn: int
    i: int
    score: Fraction
    mistake: bool
    alpha: tuple[int, ...]


@dataclass(frozen=True)
class Run(Assertion):
    """The whole run of the dual perceptron: f = eta sum_j alpha_j y_j k(x_j, .), alpha_i + 1 on each mistake."""

    K: Rows
    y: tuple[int, ...]
    eta: Fraction
    looks: tuple[Look, ...]
    start: tuple[int, ...]

    def check(self) -> bool:
        """Follow the run anew."""
        alpha = list(self.start)
        for position, look in enumerate(self.looks):
            score = self.y[look.i] * self.eta * dot(self.K[look.i], self._beta(tuple(alpha)))
            if look.i != position % len(self.y) or look.score != score or look.mistake != (score <= 0):
                return False
            alpha[look.i] += look.mistake
            if tuple(alpha) != look.alpha:
                return False
        return True

    @property
    def alpha(self) -> tuple[int, ...]:
        """The counts of mistakes at the end."""
        return self.looks[-1].alpha

    @property
    def converged(self) -> bool:
        """Whether the last pass made no mistake."""
        return not any(look.mistake for look in self.looks[-len(self.y) :])

    def scores(self, alpha: tuple[int, ...]) -> Vector:
        """f(x_i) of all points."""
        return tuple(self.eta * value for value in times(self.K, self._beta(alpha)))

    def _beta(self, alpha: tuple[int, ...]) -> Vector:
        return tuple(Fraction(a * s) for a, s in zip(alpha, self.y, strict=True))

    def cycle(self) -> tuple[int, ...] | None:
        """The mistakes between two ends of passes with the same f; None where there are no such two."""
        n = len(self.y)
        seen: dict[Vector, tuple[int, ...]] = {}
        for alpha in (self.start, *(look.alpha for look in self.looks[n - 1 :: n])):
            before = seen.setdefault(self.scores(alpha), alpha)
            if before != alpha:
                return tuple(b - a for a, b in zip(before, alpha, strict=True))
        return None


def follow(K: Rows, y: tuple[int, ...], eta: Fraction, most: int = MOST_PASSES) -> Run:
    """Run until a pass makes no mistake, until f comes back at the end of a pass, or for `most` passes."""
    start = (0,) * len(y)
    alpha, looks = list(start), []
    scores = [Fraction(0)] * len(y)
    ends = {tuple(scores)}
    for turn in range(1, most + 1):
        before = tuple(alpha)
        for i, sign in enumerate(y):
            score = sign * scores[i]
            if score <= 0:
                alpha[i] += 1
                scores = [f + eta * sign * k for f, k in zip(scores, K[i], strict=True)]
            looks.append(Look(turn, i, score, score <= 0, tuple(alpha)))
        if tuple(alpha) == before or tuple(scores) in ends:
            break
        ends.add(tuple(scores))
    return Run(K, y, eta, tuple(looks), start)


def perceptron(X: Any, y: Any, kernel: Kernel | str | None = None, eta: Any = 1) -> Solution:
    """The perceptron, followed step by step: primal and dual where kernel is None, the kernel perceptron otherwise.

    There is no bias: give the points a coordinate 1, or the kernel a constant, to have one.
    """
    sympy()
    chosen = read_kernel(Linear() if kernel is None else kernel, "mercer.KernelPerceptron")
    refuse_many(X, MOST_POINTS, "mercer.KernelPerceptron")
    points, K = gram(chosen, X)
    rate = fraction(eta, "eta")
    if rate <= 0:
        raise ValueError(f"eta must be greater than 0, not {eta}.")
    e = Setting(points, labels(y, len(K)), K, None, chosen)
    run = follow(K, e.y, rate)
    sections = [_rule(e, rate), *_gram(e), _table(e, run), _end(e, run)]
    if run.converged:
        sections += [_function(e, run), _certificate(e, run)]
    if not e.linear and points is not None:
        sections.append(_linear(e, rate))
    answer: dict[str, Any] = {
        "converged": run.converged,
        "alpha": run.alpha,
        "mistakes": sum(run.alpha),
        "passes": run.looks[-1].turn,
    }
    if e.linear:
        answer["w"] = _w(e, run, run.alpha)
    name = "Perceptron" if e.linear else "Kernel perceptron"
    beta = tuple(rate * a for a in run.alpha)
    picture = Picture.of(e, beta, Fraction(0), margins=False) if run.converged else Picture.of(e)
    return Solution(f"{name}: {e.n} points", tuple(sections), answer, picture)


def _w(e: Setting, run: Run, alpha: tuple[int, ...]) -> Vector:
    return e.w(tuple(run.eta * a for a in alpha))


def _rule(e: Setting, eta: Fraction) -> Section:
    columns: list[tuple[Formula, list[Formula]]] = [(Symbol("i"), [Number(Fraction(i + 1)) for i in range(e.n)])]
    if e.points is not None:
        columns.append((x_("i"), [e.x(i) for i in range(e.n)]))
    columns.append((y_("i"), [Number(Fraction(sign)) for sign in e.y]))
    similarity = Inner(x_("j"), x_("i")) if e.linear else Call(k, (x_("j"), x_("i")))
    score = over(Product((Symbol("alpha", "j"), y_("j"), similarity)), "j")
    dual = _if("dual:  " if e.linear else "", score if eta == 1 else _eta * score, chain(_a, ":=", _a + 1))
    shown: tuple[Formula, ...] = (dual,)
    start = say(
        "Start with {}. Go through the points again and again; {} counts the mistakes on point i:", equals(_a, 0), _a
    )
    if e.linear:
        added_point = w + (y_("i") * x_("i") if eta == 1 else _eta * y_("i") * x_("i"))
        shown = (_if("primal:  ", Inner(w, x_("i")), chain(w, ":=", added_point)), dual)
        start = say(
            "Start with {} and {}. Go through the points again and again, and add the point on a mistake. Both forms "
            "make the same mistakes; {} counts those on point i:",
            equals(w, 0),
            equals(_a, 0),
            _a,
        )
    rate = () if eta == 1 else (Step(say("The step is {}.", equals(_eta, eta))),)
    return Section(
        "The data and the rule",
        (
            Step(say(f"There are {e.n} points:"), (Table.of_columns(columns),)),
            Step(start, shown, say("stop after a pass without a mistake")),
            *rate,
        ),
    )


def _if(form: str, score: Formula, then: Chain) -> Formula:
    return Listing((Words(f"{form}if  "), chain(y_("i") * score, "<=", 0), Words("  then  "), then), "")


def _gram(e: Setting) -> list[Section]:
    return [Section("The Gram matrix", (kernel_values(e.kernel, e.points, e.K),))] if not e.linear else []


def _table(e: Setting, run: Run) -> Section:
    """The run, each row checked."""
    header = [say("pass"), say("i"), say("{}", y_("i") * f_of(x_("i"))), say("mistake")]
    header += [say("{} after", w)] if e.linear else []
    header.append(say("{} after", Symbol("alpha", bold=True)))
    shown = run.looks if len(run.looks) <= _ROWS else (*run.looks[: _ROWS // 2], None, *run.looks[-_ROWS // 2 :])
    rows, relations = [], []
    before = dict(zip(run.looks, (run.start, *(look.alpha for look in run.looks)), strict=False))
    for look in shown:
        if look is None:
            rows.append(tuple(say("…") for _ in header))
            continue
        cells: list[Any] = [Number(Fraction(look.turn)), Number(Fraction(look.i + 1)), Number(look.score)]
        row = [say("{}", cell) for cell in cells] + [say("yes" if look.mistake else "no")]
        if e.linear:
            old, new = _w(e, run, before[look]), _w(e, run, look.alpha)
            row.append(say("{}", point(new)))
            relations.append(equals(e.y[look.i] * Inner(point(old), e.x(look.i)), look.score))
            step = Number(run.eta * e.y[look.i]) * e.x(look.i)
            relations.append(equals(point(old) + step if look.mistake else point(old), point(new)))
        row.append(say("{}", point([Fraction(a) for a in look.alpha])))
        rows.append(tuple(row))
    primal = [claims(*relations)] if relations else []
    statement = say("Primal and dual, step for step:") if e.linear else say("The run, step for step:")
    step_ = Step(statement, (Table(tuple(header), tuple(rows)),), Prose(), All((run, *primal)))
    return Section("The run", (step_,))


def _end(e: Setting, run: Run) -> Section:
    mistakes = sum(run.alpha)
    if run.converged:
        right = [chain(sign * f, ">", 0) for sign, f in zip(e.y, run.scores(run.alpha), strict=True)]
        statement = say(
            f"Pass {run.looks[-1].turn} makes no mistake: the perceptron has converged, after {mistakes} mistakes in "
            "all. Every point has {}.",
            chain(y_("i") * f_of(x_("i")), ">", 0),
        )
        count = equals(added(tuple(Fraction(a) for a in run.alpha)), mistakes)
        return Section("It converges", (Step(statement, assertion=claims(*right, count)),))
    repeated = run.cycle()
    if repeated is None:
        words = f"After {MOST_PASSES} passes it still makes mistakes, and f has not come back to an earlier one."
        return Section("It has not converged", (Step(say(words), assertion=run),))
    return Section("It cycles for ever", (_why_it_cycles(e, run.K, run.eta, repeated),))


def _why_it_cycles(e: Setting, K: Rows, eta: Fraction, repeated: tuple[int, ...]) -> Step:
    """Mistakes that add up to nothing are both the cycle and the proof that no f separates the points."""
    counts = tuple(Fraction(c) for c in repeated)
    phis = [e.mapped(x_(i)) for i in range(e.n)]
    beta = tuple(s * c for s, c in zip(e.y, counts, strict=True))
    shown: Chain
    if e.linear and e.points is not None:
        numbers = combination(beta, [e.x(i) for i in range(e.n)])
        shown = equals(combination(beta, phis), numbers, point([0] * len(e.points[0])))
        proof = shown
    else:
        shown = equals(Norm(combination(beta, phis)) ** 2, 0)
        proof = equals(Inner(column(beta), matrix(K) * column(beta)), 0)
    return Step(
        say(
            "At the end of a pass f is what it was at the end of an earlier one, so that the run repeats itself for "
            "ever. The mistakes made in between add up to nothing:"
        ),
        (shown,),
        say(
            "if some f had {} for all points, then this sum, in which each of these points counts with its label, "
            "would have a positive value of f; it is 0. So no f without a bias separates the classes",
            chain(y_("i") * f_of(x_("i")), ">", 0),
        ),
        claims(proof, *(chain(c, ">=", 0) for c in counts), chain(added(counts), ">", 0)),
    )


def _function(e: Setting, run: Run) -> Section:
    alpha = tuple(run.eta * a for a in run.alpha)
    beta = e.beta(alpha)
    if e.linear and e.points is not None:
        plain = over(Product((_a, y_("i"), x_("i"))))
        general = plain if run.eta == 1 else _eta * plain
        relation = equals(w, general, combination(beta, [e.x(i) for i in range(e.n)]), point(e.w(alpha)))
        step = Step(
            say("The dual gives {} from the counts, the same as the primal:", w), (relation,), Prose(), claims(relation)
        )
        function = equals(f_of(letters.x), combination(e.w(alpha), letters.coordinates(len(e.points[0]))))
        return Section("The weight vector from the counts", (step, Step(say("So {}.", function))))
    kernels = [Call(k, (x_(i), letters.x)) for i in range(e.n)]
    steps = [Step(say("From the counts:"), (equals(f_of(letters.x), combination(beta, kernels)),))]
    if e.points is not None and is_polynomial(e.kernel):
        steps.append(multiplied_out(f_of(letters.x), e.kernel, e.points, beta))
    return Section("The function f", tuple(steps))


def _certificate(e: Setting, run: Run) -> Section:
    """min y_i f(x_i) / |f| <= margin <= |f| / (eta M)."""
    alpha = tuple(run.eta * a for a in run.alpha)
    square = e.dual.squared_norm(alpha)
    least = min(sign * f for sign, f in zip(e.y, run.scores(run.alpha), strict=True))
    mistakes = Number(Fraction(sum(run.alpha)))
    m = Symbol("m")
    lower, upper = root_of(least**2 / square), root_of(square / (run.eta * mistakes.value) ** 2)
    rough = [about(part) or part for part in (lower, upper)]
    beta = column(e.beta(alpha))
    u = Symbol("u", bold=True)
    step = Step(
        say(
            "The widest margin {} of any boundary through the origin lies between that of this f and a bound by the "
            "number of mistakes, {}; with {},",
            m,
            equals(_M, mistakes),
            equals(Norm(w) ** 2, square),
        ),
        (
            chain(lower, "<=", m, "<=", upper),
            Listing((Words("that is, about  "), rough[0], Words("  to  "), rough[1]), ""),
        ),
        say(
            "each mistake adds at least {} to {} for the best unit vector {}, and {}",
            m if run.eta == 1 else _eta * m,
            Inner(w, u),
            u,
            chain(Inner(w, u), "<=", Norm(w)),
        ),
        claims(chain(lower, "<=", upper), equals(Inner(beta, matrix(e.K) * beta), square)),
    )
    return Section("What the run proves", (step,))


def _linear(e: Setting, eta: Fraction) -> Section:
    """What the linear kernel would do with the same points."""
    assert e.points is not None
    _, K = gram(Linear(), e.points)
    plain = Setting(e.points, e.labels, K, None, Linear())
    run = follow(K, e.y, eta)
    title = "And with the linear kernel?"
    if run.converged:
        words = f"It converges too, after {sum(run.alpha)} mistakes: these points need no kernel."
        return Section(title, (Step(say(words), assertion=run),))
    repeated = run.cycle()
    if repeated is None:
        return Section(title, (Step(say(f"It still makes mistakes after {MOST_PASSES} passes."), assertion=run),))
    first = Step(say(f"It does not end: after pass {run.looks[-1].turn} it is back where it was."), assertion=run)
    return Section(title, (first, _why_it_cycles(plain, K, eta, repeated)))

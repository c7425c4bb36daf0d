"""Kernel ridge regression, worked out by hand: the dual representation, and the primal beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import Kernel, Linear
from . import footnotes, letters
from .algebra import inverse, quadratic, solve, times
from .exact import Rows, Vector, dot, fraction, refuse_many, require_few, require_word, sympy, targets
from .features import combined
from .formula import (
    Call,
    Derivative,
    Formula,
    Inner,
    Norm,
    Symbol,
    Transposed,
    column,
    combination,
    condition,
    equals,
    formula,
    matrix,
    point,
)
from .gram import has_exp
from .letters import HALF, K, X, a_bold, coordinates, f_of, lam, over, t_bold, w, x_
from .meaning import value
from .ridge_duality import SCOPES as DUALITY
from .ridge_duality import duality
from .ridge_duality import world as duality_world
from .sample import Sample, read_sample
from .sample_steps import Expansion, function_steps, gram_steps, new_points
from .steps import Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS = 12
_INVERTED = 4
"""For so many points the inverse is shown; for more, the system is just solved."""

_I, _J, _Phi = Symbol("I", bold=True), Symbol("J"), Symbol("Phi", bold=True)
_ti, _ai = Symbol("t", "i"), Symbol("a", "i")


@dataclass(frozen=True)
class RidgeProblem(Sample):
    """Points with targets, and the weight lambda."""

    t: Vector
    weight: Fraction
    detail: str = "full"

    def solve(self) -> Solution:
        """See `ridge`."""
        return self.within_limits(lambda: worked(self))

    @property
    def design(self) -> Symbol:
        """The letter for the matrix of points, or of their features."""
        return X if self.linear and self.features is None else _Phi

    @cached_property
    def shifted(self) -> Rows:
        """K + lambda I."""
        return _plus(self.K, self.weight)

    @cached_property
    def a(self) -> Vector:
        """The coefficients."""
        a = solve(self.shifted, self.t).particular
        assert a is not None, "K + lambda I is positive definite"
        return a

    @property
    def predictions(self) -> Vector:
        """f(x_i)."""
        return times(self.K, self.a)

    @property
    def residuals(self) -> Vector:
        """t_i - f(x_i)."""
        return tuple(target - value_ for target, value_ in zip(self.t, self.predictions, strict=True))

    @property
    def objective(self) -> Fraction:
        """J at the minimum."""
        return dot(self.residuals, self.residuals) / 2 + self.weight / 2 * quadratic(self.K, self.a)

    def world(self, scope: str) -> World:
        """See Problem. In "features", w and the rows of the design matrix are written out."""
        sp = sympy()
        kind, _, rest = scope.partition(" ")
        shifted = sp.Matrix([[exact(v) for v in row] for row in self.K]) + exact(self.weight) * sp.eye(self.n)
        t = vector(self.t)
        a = vector(self.a) if has_exp(self.kernel) else sp.ImmutableMatrix(shifted.LUsolve(t))
        world = self.base.also({t_bold: t, lam: exact(self.weight), _I: sp.eye(self.n).as_immutable()})
        world = world.also(families={Symbol("t"): list(t)})
        if kind == "data":
            return world
        if kind in DUALITY:
            return duality_world(self, world)
        if self.linear:
            world = world.also({self.design: sp.ImmutableMatrix([[exact(v) for v in x] for x in self.vectors])})
        if kind == "features":
            return self._written_out(world.also({a_bold: a}), a)
        world = self.function(world, list(a), sp.Integer(0)).also({a_bold: a, letters.b: sp.Integer(0)})
        K_ = world.letters[K]
        J = ((K_ * a - t).T * (K_ * a - t))[0, 0] / 2 + exact(self.weight) / 2 * (a.T * K_ * a)[0, 0]
        world = world.also({_J: lambda *_: J}, {Symbol("a"): list(a)})
        return self.at_new(world, int(rest) - 1) if kind == "new" else world

    def _written_out(self, world: World, a: Any) -> World:
        """The features as the map of the kernel gives them."""
        sp = sympy()
        if self.linear:
            Phi = world.letters[self.design]
        else:
            assert self.monomials is not None
            assert self.points is not None
            rows = [[value(term.feature([formula(v) for v in x])) for term in self.monomials] for x in self.points]
            Phi = sp.ImmutableMatrix(rows)
        names = coordinates(len(self.points[0])) if self.points is not None else []
        phi = vector([value(term.feature(names)) for term in self.monomials or ()])
        w_ = sp.ImmutableMatrix(Phi.T * a)
        size = sp.eye(Phi.shape[1]).as_immutable()
        return world.also({self.design: Phi, w: w_, _I: size}, {Symbol("w"): list(w_)}, {"φ": lambda x: phi})


def ridge(
    X: Any,
    t: Any,
    lam: Any,
    kernel: Kernel | str = Linear(),  # noqa: B008 - kernels never change
    new: Any = None,
    detail: str = "full",
) -> Solution:
    """Kernel ridge regression, worked out exactly: min 1/2 sum (w.phi(x_i) - t_i)^2 + lambda/2 |w|^2.

    X holds the points, or their Gram matrix with kernel="precomputed"; t the targets; lam > 0 is lambda; `new` a point
    (or several) to predict. detail="duality" derives the dual term by term and by components.
    """
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.KernelRidge")
    fields = read_sample(X, kernel, "mercer.KernelRidge", new, gaussian=True)
    weight = fraction(lam, "lambda")
    if weight <= 0:
        raise ValueError(f"lambda must be greater than 0, not {lam}.")
    rows = fields["gram"] if fields["points"] is None else fields["points"]
    return RidgeProblem(**fields, t=targets(t, len(rows)), weight=weight, detail=detail).solve()


def worked(e: RidgeProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.KernelRidge")
    require_word("detail", e.detail, ("full", "duality"))
    dual = duality(e) if e.detail == "duality" else (_dual(e),)
    sections = (_data(e), _gram(e), *dual, _coefficients(e), *_weights(e), _predictions(e), *_primal(e), _values(e))
    answer: dict[str, Any] = {"a": e.a, "predictions": e.predictions, "value": e.objective}
    if e.linear:
        answer["w"] = e.weights(e.a)
    if e.new:
        answer["new"] = tuple(dot(e.a, e.new_values(number)) for number in range(len(e.new)))
    title = f"Kernel ridge regression: {e.n} points, λ = {e.weight}"
    return Solution(title, (*sections, *_answer(e)), answer, None, e)


def _data(e: RidgeProblem) -> Section:
    columns = [*e.columns(), (_ti, e.t)]
    residual = Inner(w, e.mapped(x_("i"))) - _ti
    problem = condition(Call(_J, (w,)), "=", HALF * over(residual**2) + HALF * lam * Norm(w) ** 2)
    wanted = say("We look for the {} that minimises, with {},", w, condition(lam, "=", e.weight))
    return Section(
        "The data",
        (
            Step(say("There are {} points with their targets:", e.n), (Table.of_points(columns),), scope="data"),
            Step(wanted, (problem,), footnotes=(footnotes.WEIGHT,)),
        ),
    )


def _gram(e: RidgeProblem) -> Section:
    return Section("The Gram matrix", tuple(gram_steps(e)))


def _dual(e: RidgeProblem) -> Section:
    """From the derivative of J to the linear system for a."""
    phi = e.mapped(x_("i"))
    residual = Inner(w, phi) - _ti
    stationary = Step(
        say("The derivative is zero at the minimum:"),
        (
            condition(Derivative(_J, w), "=", over(residual * phi) + lam * w, "=", 0),
            condition(w, "=", over(_ai * phi), "=", Transposed(e.design) * a_bold),
            condition(_ai, "=", -(residual / lam)),
        ),
        say("so {} is a combination of the points, and the residuals give its coefficients", w),
        footnotes=(footnotes.MINUS_IN_A, footnotes.HALVES, footnotes.W_NOT_Z),
    )
    substituted = Step(
        say("Put into J, this gives the dual form, in {} alone:", a_bold),
        (condition(Call(_J, (a_bold,)), "=", _dual_form()),),
        footnotes=(footnotes.SECOND_TERM,),
    )
    system = Step(
        say("Its derivative {} is zero where", K * ((K + lam * _I) * a_bold - t_bold)),
        (condition((K + lam * _I) * a_bold, "=", t_bold),),
        say(
            "{} has no eigenvalue below {}, so there is exactly one solution",
            K + lam * _I,
            condition(lam, "=", e.weight),
        ),
        footnotes=(footnotes.INVERTIBLE,),
    )
    return Section("The dual representation", (stationary, substituted, system))


def _dual_form() -> Formula:
    """J in terms of a."""
    aK = Transposed(a_bold) * K
    return HALF * (aK * K * a_bold) - aK * t_bold + HALF * (Transposed(t_bold) * t_bold) + HALF * lam * (aK * a_bold)


def _coefficients(e: RidgeProblem) -> Section:
    steps = [Step(say("Here"), (equals(K + lam * _I, matrix(e.shifted)),), scope="data")]
    if e.n <= _INVERTED:
        inverted = inverse(e.shifted)
        assert inverted is not None
        letters_ = (K + lam * _I) ** -1
        one = equals(matrix(e.shifted) * matrix(inverted), _identity(e.n))
        shown = (equals(letters_, matrix(inverted)), one)
        steps.append(Step(say("Its inverse is"), shown, say("their product is the identity"), scope="data"))
        solution = equals(a_bold, letters_ * t_bold, matrix(inverted) * column(e.t), column(e.a))
        steps.append(Step(say("and so"), (solution,), scope="solved"))
    else:
        solved = equals(point([Symbol("a", str(i + 1)) for i in range(e.n)]), point(e.a))
        inserted = equals(matrix(e.shifted) * column(e.a), column(e.t))
        steps.append(Step(say("Elimination solves the system:"), (solved, inserted), scope="solved"))
    return Section("The coefficients", tuple(steps))


def _identity(n: int) -> Formula:
    return matrix([[int(i == j) for j in range(n)] for i in range(n)])


def _plus(A: Rows, weight: Fraction) -> Rows:
    """A + lambda I."""
    return tuple(tuple(v + (weight if i == j else 0) for j, v in enumerate(row)) for i, row in enumerate(A))


def _weights(e: RidgeProblem) -> list[Section]:
    if not e.linear:
        return []
    found = e.weights(e.a)
    members = [combination(e.a, [e.x(i) for i in range(e.n)]), point(found)] if any(e.a) else [point(found)]
    relation = equals(w, over(_ai * e.mapped(x_("i"))), *members)
    step = Step(say("The points, weighted by {}:", a_bold), (relation,), scope="solved")
    return [Section("The weight vector", (step,))]


def _predictions(e: RidgeProblem) -> Section:
    residual = _ti - f_of(x_("i"))
    columns = [(_ti, e.t), (f_of(x_("i")), e.predictions), (residual, e.residuals), (_ai, e.a)]
    step = Step(
        say("The predictions are {}:", K * a_bold),
        (Table.of_points(columns), equals(K * a_bold, column(e.predictions))),
        say("each coefficient is its residual divided by {}: {}", lam, equals(_ai, residual / lam)),
        scope="solved",
    )
    return Section("The predictions", (step,))


def _primal(e: RidgeProblem) -> list[Section]:
    """The normal equations, where the features can be written down."""
    if not e.linear and e.monomials is None:
        return []
    design = e.design
    normal = equals((Transposed(design) * design + lam * _I) * w, Transposed(design) * t_bold)
    from_dual = equals(w, Transposed(design) * a_bold)
    if e.linear:
        coordinates_ = tuple(zip(*e.vectors, strict=True))
        outer = _plus(tuple(tuple(dot(u, v) for v in coordinates_) for u in coordinates_), e.weight)
        unknown = column([Symbol("w", str(j + 1)) for j in range(len(coordinates_))])
        solved = column(e.weights(e.a))
        shown = [normal, equals(matrix(outer) * unknown, column(times(coordinates_, e.t))), equals(w, solved)]
        start = "Without the dual, the derivative of J with respect to {} gives the normal equations:"
    else:
        assert e.monomials is not None
        assert e.points is not None
        names = coordinates(len(e.points[0]))
        Phi = matrix([[term.feature([formula(v) for v in x]) for term in e.monomials] for x in e.points])
        phi = equals(Call("φ", (letters.x,)), point([term.feature(names) for term in e.monomials]))
        shown = [phi, equals(_Phi, Phi), normal, equals(w, column(combined(e.monomials, e.points, e.a)))]
        start = "With the features written out, the derivative of J with respect to {} gives the normal equations:"
    reason = say("{} from the dual solves them: primal and dual agree", from_dual)
    notes = () if e.linear else (footnotes.ALL_CROSS_TERMS,)
    return [Section("The primal agrees", (Step(say(start, w), tuple(shown), reason, notes, "features"),))]


def _values(e: RidgeProblem) -> Section:
    nonzero: list[Formula] = [formula(r) ** 2 for r in e.residuals if r]
    squares = combination([1] * len(nonzero), nonzero)
    length = formula(quadratic(e.K, e.a))
    primal = equals(Call(_J, (w,)), HALF * squares + formula(e.weight / 2) * length, e.objective)
    square = equals(Norm(w) ** 2, Transposed(a_bold) * K * a_bold, length)
    dual = equals(Call(_J, (a_bold,)), _dual_form(), e.objective)
    short = equals(HALF * lam * (Transposed(a_bold) * t_bold), e.objective)
    first = say("The value of J from the residuals, with {}:", square)
    second = say("The dual form has the same value, and at the minimum it is also {}:", short)
    return Section("Check", (Step(first, (primal,), scope="solved"), Step(second, (dual,), scope="solved")))


def _answer(e: RidgeProblem) -> list[Section]:
    steps = function_steps(e, f_of(letters.x), e.a, Fraction(0), "solved")
    sections = [Section("The function f", tuple(steps))]
    return sections + new_points(e, Expansion(_ai, e.a, Fraction(0), lambda f: say("this is the prediction")))

"""Kernel ridge regression, worked out by hand: the dual representation, and the primal beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from ..kernels import Kernel, Linear
from . import footnotes, letters
from .algebra import inverse, quadratic, solve, times
from .exact import Rows, Vector, dot, fraction, refuse_many, sympy, targets
from .features import Monomial, monomials, multiplied_out
from .formula import (
    Call,
    Derivative,
    Formula,
    Inner,
    Norm,
    Number,
    Symbol,
    Transposed,
    column,
    combination,
    equals,
    matrix,
    point,
    product,
)
from .gram import gram, is_linear, is_polynomial, read_kernel
from .letters import HALF, K, X, a_bold, coordinates, f_of, k, lam, over, root_of, t_bold, w, x_
from .steps import Prose, Section, Solution, Step, Table, claims, say
from .svm_dual import kernel_values

MOST_POINTS = 12
_INVERTED = 4
"""For so many points the inverse is shown; for more, the system is just solved."""
_MOST_FEATURES = 10

_I, _J, _Phi = Symbol("I", bold=True), Symbol("J"), Symbol("Phi", bold=True)
_ti, _ai = Symbol("t", "i"), Symbol("a", "i")


@dataclass(frozen=True)
class _Ridge:
    """The data of one exercise, and what follows from them."""

    points: Rows | None
    K: Rows
    t: Vector
    weight: Fraction
    kernel: Kernel

    @property
    def linear(self) -> bool:
        return is_linear(self.kernel)

    @property
    def design(self) -> Symbol:
        """The letter for the matrix of points, or of their features."""
        return X if self.linear else _Phi

    @cached_property
    def shifted(self) -> Rows:
        """K + lambda I."""
        return _plus(self.K, self.weight)

    @cached_property
    def a(self) -> Vector:
        a = solve(self.shifted, self.t).particular
        assert a is not None, "K + lambda I is positive definite"
        return a

    @property
    def predictions(self) -> Vector:
        return times(self.K, self.a)

    @property
    def residuals(self) -> Vector:
        return tuple(target - value for target, value in zip(self.t, self.predictions, strict=True))

    @property
    def w(self) -> Vector:
        """sum_i a_i x_i."""
        assert self.points is not None
        return times(tuple(zip(*self.points, strict=True)), self.a)

    @property
    def objective(self) -> Fraction:
        """J at the minimum."""
        return dot(self.residuals, self.residuals) / 2 + self.weight / 2 * quadratic(self.K, self.a)

    def phi(self, body: Formula) -> Formula:
        """x for the linear kernel, phi(x) for the others."""
        return body if self.linear else Call("φ", (body,))


def ridge(X: Any, t: Any, lam: Any, kernel: Kernel | str = Linear()) -> Solution:  # noqa: B008 - kernels never change
    """Kernel ridge regression, worked out exactly: min 1/2 sum (w.phi(x_i) - t_i)^2 + lambda/2 |w|^2.

    X holds the points, or their Gram matrix with kernel="precomputed"; t the targets; lam > 0 is lambda.
    """
    sympy()
    kernel = read_kernel(kernel, "mercer.KernelRidge")
    refuse_many(X, MOST_POINTS, "mercer.KernelRidge")
    points, K_ = gram(kernel, X)
    weight = fraction(lam, "lambda")
    if weight <= 0:
        raise ValueError(f"lambda must be greater than 0, not {lam}.")
    e = _Ridge(points, K_, targets(t, len(K_)), weight, kernel)
    sections = (_data(e), _gram(e), _dual(e), _coefficients(e), _function(e), _predictions(e), *_primal(e), _values(e))
    answer: dict[str, Any] = {"a": e.a, "predictions": e.predictions, "value": e.objective}
    if e.linear:
        answer["w"] = e.w
    return Solution(f"Kernel ridge regression: {len(K_)} points, λ = {weight}", sections, answer)


def _data(e: _Ridge) -> Section:
    columns: list[tuple[Formula, list[Formula]]] = [(Symbol("i"), [Number(Fraction(i + 1)) for i in range(len(e.t))])]
    if e.points is not None:
        columns.append((x_("i"), [point(x) for x in e.points]))
    columns.append((_ti, [Number(value) for value in e.t]))
    residual = Inner(w, e.phi(x_("i"))) - _ti
    problem = equals(Call(_J, (w,)), HALF * over(residual**2) + HALF * lam * Norm(w) ** 2)
    wanted = say("Wanted is the {} that minimises, with {},", w, equals(lam, e.weight))
    return Section(
        "The data",
        (
            Step(say(f"There are {len(e.t)} points with their targets:"), (Table.of_columns(columns),)),
            Step(wanted, (problem,), footnotes=(footnotes.WEIGHT,)),
        ),
    )


def _gram(e: _Ridge) -> Section:
    step = kernel_values(e.kernel, e.points, e.K)
    if e.linear and e.points is not None:
        relation = equals(K, X * Transposed(X), matrix(e.points) * matrix(zip(*e.points, strict=True)), matrix(e.K))
        statement = say("The points are the rows of {}. Their inner products:", X)
        step = Step(statement, (relation,), Prose(), claims(relation), (footnotes.ROWS,))
    return Section("The Gram matrix", (step,))


def _dual(e: _Ridge) -> Section:
    """From the derivative of J to the linear system for a."""
    phi = e.phi(x_("i"))
    residual = Inner(w, phi) - _ti
    stationary = Step(
        say("The derivative is zero at the minimum:"),
        (
            equals(Derivative(_J, w), over(residual * phi) + lam * w, 0),
            equals(w, over(_ai * phi), Transposed(e.design) * a_bold),
            equals(_ai, -(residual / lam)),
        ),
        say("so {} is a combination of the points, and the residuals give its coefficients", w),
        footnotes=(footnotes.MINUS_IN_A,),
    )
    substituted = Step(
        say("Put into J, this gives the dual form, in {} alone:", a_bold),
        (equals(Call(_J, (a_bold,)), _dual_form()),),
        footnotes=(footnotes.SECOND_TERM,),
    )
    system = Step(
        say("Its derivative {} is zero where", K * ((K + lam * _I) * a_bold - t_bold)),
        (equals((K + lam * _I) * a_bold, t_bold),),
        say("{} has no eigenvalue below {}, so there is exactly one solution", K + lam * _I, equals(lam, e.weight)),
        footnotes=(footnotes.INVERTIBLE,),
    )
    return Section("The dual representation", (stationary, substituted, system))


def _dual_form() -> Formula:
    """J in terms of a."""
    aK = Transposed(a_bold) * K
    return HALF * (aK * K * a_bold) - aK * t_bold + HALF * (Transposed(t_bold) * t_bold) + HALF * lam * (aK * a_bold)


def _coefficients(e: _Ridge) -> Section:
    n = len(e.t)
    plus = equals(K + lam * _I, matrix(e.shifted))
    steps = [
        Step(say("Here"), (plus,), assertion=claims(plus, given={K: matrix(e.K), lam: e.weight, _I: _identity(n)}))
    ]
    if n <= _INVERTED:
        inverted = inverse(e.shifted)
        assert inverted is not None
        inverse_letters = (K + lam * _I) ** -1
        product_is_one = equals(matrix(e.shifted) * matrix(inverted), _identity(n))
        steps.append(
            Step(
                say("Its inverse is"),
                (equals(inverse_letters, matrix(inverted)),),
                say("their product is the identity"),
                claims(product_is_one),
            )
        )
        solution = equals(a_bold, inverse_letters * t_bold, matrix(inverted) * column(e.t), column(e.a))
        steps.append(Step(say("and so"), (solution,), assertion=claims(equals(*solution.members[2:]))))
    else:
        shown = equals(point([Symbol("a", str(i + 1)) for i in range(n)]), point(e.a))
        solved = equals(matrix(e.shifted) * column(e.a), column(e.t))
        steps.append(Step(say("Elimination solves the system:"), (shown,), assertion=claims(solved)))
    return Section("The coefficients", tuple(steps))


def _identity(n: int) -> Formula:
    return matrix([[int(i == j) for j in range(n)] for i in range(n)])


def _plus(A: Rows, weight: Fraction) -> Rows:
    """A + lambda I."""
    return tuple(tuple(v + (weight if i == j else 0) for j, v in enumerate(row)) for i, row in enumerate(A))


def _function(e: _Ridge) -> Section:
    if e.linear and e.points is not None:
        given = combination(e.a, [point(x) for x in e.points]) if any(e.a) else point([0] * len(e.w))
        weights = equals(w, over(_ai * x_("i")), given, point(e.w))
        function = equals(f_of(letters.x), Inner(w, letters.x), combination(e.w, coordinates(len(e.w))))
        step = Step(say("The points, weighted by {}:", a_bold), (weights, function), assertion=claims(weights))
        return Section("The weight vector", (step,))
    in_kernels = combination(e.a, [Call(k, (x_(i), letters.x)) for i in range(len(e.a))])
    function = equals(f_of(letters.x), over(_ai * Call(k, (x_("i"), letters.x))), in_kernels)
    steps = [Step(say("A new point needs the kernel only:"), (function,))]
    if e.points is not None and is_polynomial(e.kernel):
        steps.append(multiplied_out(f_of(letters.x), e.kernel, e.points, e.a))
    return Section("The function f", tuple(steps))


def _predictions(e: _Ridge) -> Section:
    residual = _ti - f_of(x_("i"))
    rows = [
        tuple(say("{}", cell) for cell in (x_(i), *numbers))
        for i, numbers in enumerate(zip(e.t, e.predictions, e.residuals, e.a, strict=True))
    ]
    header = (say("point"), *(say("{}", head) for head in (_ti, f_of(x_("i")), residual, _ai)))
    step = Step(
        say("The predictions are {}:", K * a_bold),
        (Table(header, tuple(rows)),),
        say("each coefficient is its residual divided by {}: {}", lam, equals(_ai, residual / lam)),
        claims(
            equals(matrix(e.K) * column(e.a), column(e.predictions)),
            equals(Number(e.weight) * column(e.a), column(e.t) - column(e.predictions), column(e.residuals)),
        ),
    )
    return Section("The predictions", (step,))


def _primal(e: _Ridge) -> list[Section]:
    """The normal equations, where the features can be written down."""
    if e.points is None or not is_polynomial(e.kernel):
        return []
    d = len(e.points[0])
    terms = monomials(e.kernel, d)
    if len(terms) > _MOST_FEATURES:
        return []
    Phi = matrix([[term.feature([Number(v) for v in x]) for term in terms] for x in e.points])
    weights = _feature_weights(terms, e.points, e.a)
    design = e.design
    normal = equals((Transposed(design) * design + lam * _I) * w, Transposed(design) * t_bold)
    from_dual = equals(w, Transposed(design) * a_bold)
    if e.linear:
        coordinates_ = tuple(zip(*e.points, strict=True))
        outer = _plus(tuple(tuple(dot(u, v) for v in coordinates_) for u in coordinates_), e.weight)
        unknown = column([Symbol("w", str(j + 1)) for j in range(d)])
        shown = [normal, equals(matrix(outer) * unknown, column(times(coordinates_, e.t)))]
        words = "Without the dual, the derivative by {} gives the normal equations:"
    else:
        phi = equals(Call("φ", (letters.x,)), point([term.feature(coordinates(d)) for term in terms]))
        shown = [phi, equals(_Phi, Phi), normal, equals(w, column(weights))]
        words = "With the features written out, the derivative by {} gives the normal equations:"
    step = Step(
        say(words, w),
        tuple(shown),
        say("{} from the dual solves them: primal and dual agree", from_dual),
        claims(
            normal,
            from_dual,
            given={
                design: Phi,
                _I: _identity(len(terms)),
                lam: e.weight,
                w: column(weights),
                t_bold: column(e.t),
                a_bold: column(e.a),
            },
        ),
        () if e.linear else (footnotes.ALL_CROSS_TERMS,),
    )
    return [Section("The primal agrees", (step,))]


def _feature_weights(terms: list[Monomial], points: Rows, a: Vector) -> list[Formula]:
    """w = Phi'a, one feature after the other."""
    weights: list[Formula] = []
    for term in terms:
        powers = [prod((v**m for v, m in zip(x, term.exponents, strict=True)), start=Fraction(1)) for x in points]
        total = dot(a, powers)
        weights.append(product(total, root_of(term.factor)) if total else Number(total))
    return weights


def _values(e: _Ridge) -> Section:
    nonzero: list[Formula] = [Number(r) ** 2 for r in e.residuals if r]
    squares = combination([1] * len(nonzero), nonzero)
    length = Number(quadratic(e.K, e.a))
    primal = equals(Call(_J, (w,)), HALF * squares + Number(e.weight / 2) * length, e.objective)
    square = equals(Norm(w) ** 2, Transposed(a_bold) * K * a_bold, length)
    dual = equals(Call(_J, (a_bold,)), _dual_form(), e.objective)
    short = equals(HALF * lam * (Transposed(a_bold) * t_bold), e.objective)
    given = {K: matrix(e.K), a_bold: column(e.a), t_bold: column(e.t), lam: e.weight}
    first = say("The value of J from the residuals, with {}:", square)
    second = say("The dual form has the same value, and at the minimum it is also {}:", short)
    return Section(
        "Check",
        (
            Step(first, (primal,), assertion=claims(primal, square, given=given)),
            Step(second, (dual,), assertion=claims(dual, short, given=given)),
        ),
    )

"""The support vector machine by hand: from the data to the linear system of the dual."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from . import footnotes, letters
from .algebra import solve
from .exact import Rows, Vector, dot
from .formula import (
    Call,
    Chain,
    Derivative,
    Entrywise,
    Formula,
    Inner,
    Listing,
    Norm,
    Number,
    Product,
    Series,
    Symbol,
    Transposed,
    Words,
    chain,
    column,
    combination,
    condition,
    equals,
    matrix,
    point,
)
from .letters import HALF, G, K, L, alpha, alpha_bold, alphas, b, f_of, over, q, quadratic_form, w, x_, y_
from .sample_steps import definiteness, gram_steps, renamed
from .steps import Prose, Section, Step, Table, say
from .svm_problem import SvmProblem

_a, _xi, _mu = Symbol("alpha", "i"), Symbol("xi", "i"), Symbol("mu", "i")
_ONE = Number(Fraction(1))
_LECTURE: Rows = tuple(tuple(map(Fraction, row)) for row in ((10, 5, -3), (5, 5, -1), (-3, -1, 1)))
"""The signed Gram matrix of the exercise of three points that many lectures have."""


def data(e: SvmProblem) -> Section:
    """The points, their labels, and the problem."""
    columns = [*e.columns(), (y_("i"), e.y)]
    plus = e.y.count(1)
    parts = list(say("There are {} points: {} of class +1 and {} of class −1.", e.n, plus, e.n - plus).parts)
    parts += renamed(e.labels)
    if e.linear:
        signed = [point([sign * entry for entry in x]) for sign, x in zip(e.y, e.vectors, strict=True)]
        columns.append((y_("i") * e.mapped(x_("i")), signed))
        parts.append(" The last column is the signed data: each point times its label.")
    return Section("The data", (Step(Prose(tuple(parts)), (Table.of_points(columns),), scope="data"), _primal(e)))


def _primal(e: SvmProblem) -> Step:
    square = HALF * Norm(w) ** 2
    function = equals(f_of(letters.x), Inner(w, e.mapped(letters.x)) + b)
    inside = y_("i") * (Inner(w, e.mapped(x_("i"))) + b)
    if e.C is None:
        statement = say("We look for {} with the widest margin between the classes:", function)
        parts = (Words("minimise  "), square, Words("  subject to  "), condition(inside, ">=", 1), Words(" for all i"))
        return Step(statement, (Listing(parts, ""),), footnotes=(footnotes.SCALE,))
    statement = say(
        "We look for {} with a wide margin. A point may fall short of it by {}, at the price {} for each unit:",
        function,
        _xi,
        condition(letters.C, "=", e.C),
    )
    constraints = (condition(inside, ">=", 1 - _xi), Words(",  "), condition(_xi, ">=", 0), Words(" for all i"))
    minimise = (Words("minimise  "), square + letters.C * over(_xi), Words("  subject to  "))
    return Step(statement, (Listing((*minimise, *constraints), ""),), footnotes=(footnotes.SCALE,))


def gram_matrix(e: SvmProblem) -> Section:
    """K and G."""
    if e.linear:
        return Section("The Gram matrix", (signed_gram(e), definiteness(e, G)))
    product = equals(G, Entrywise(letters.y * Transposed(letters.y), K), matrix(e.signed_gram))
    entry = equals(Symbol("G", "ij"), y_("i") * y_("j") * Symbol("K", "ij"))
    signed = Step(say("With the labels, {}:", entry), (product,), Prose(), (footnotes.ENTRY_BY_ENTRY,), "data")
    return Section("The Gram matrix", (*gram_steps(e), signed))


def signed_gram(e: SvmProblem) -> Step:
    """G from the signed data, where w has coordinates."""
    rows = [[sign * entry for entry in x] for sign, x in zip(e.y, e.vectors, strict=True)]
    S = Symbol("S", bold=True)
    relation = equals(G, S * Transposed(S), matrix(rows) * matrix(zip(*rows, strict=True)), matrix(e.signed_gram))
    entry = equals(Symbol("G", "ij"), y_("i") * y_("j") * Inner(e.mapped(x_("i")), e.mapped(x_("j"))))
    statement = say("The signed data are the rows of {}. Their inner products are {}:", S, entry)
    return Step(statement, (relation,), Prose(), (footnotes.ROWS,), "data")


def dual(e: SvmProblem) -> Section:
    """The Lagrangian and the dual, written out."""
    return Section("The dual problem", (*_lagrangian(e), written_out(e)))


def written_out(e: SvmProblem) -> Step:
    """The dual in the multipliers."""
    symbols = alphas(e.n)
    form = equals(
        Call(q, (alpha_bold,)), Transposed(alpha_bold) * G * alpha_bold, quadratic_form(e.signed_gram, symbols)
    )
    pairs = Series(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij")
    objective = equals(
        Call(L, (alpha_bold,)), over(_a) - HALF * pairs, combination([1] * e.n, symbols) - HALF * Call(q, (alpha_bold,))
    )
    limits = condition(_a, ">=", 0) if e.C is None else condition(0, "<=", _a, "<=", e.C)
    return Step(
        say("With these equations the Lagrangian becomes a function of {} alone, the dual: maximise", alpha_bold),
        (objective, form, Listing((Words("subject to  "), _balance(e), Words("  and  "), limits), "")),
        footnotes=(footnotes.MAXIMISED, footnotes.OVER_XI) if e.C is not None else (footnotes.MAXIMISED,),
        scope="unknown",
    )


def _balance(e: SvmProblem) -> Chain:
    return condition(combination(e.y, alphas(e.n)), "=", 0)


def _lagrangian(e: SvmProblem) -> tuple[Step, Step]:
    inside = y_("i") * (Inner(w, e.mapped(x_("i"))) + b) - 1
    multipliers = [w, b, alpha_bold]
    body = HALF * Norm(w) ** 2 - over(_a * inside)
    zero = [
        condition(Derivative(Symbol("Lambda"), w), "=", w - over(Product((_a, y_("i"), e.mapped(x_("i"))))), "=", 0),
        condition(Derivative(Symbol("Lambda"), b), "=", -over(_a * y_("i")), "=", 0),
    ]
    reason = Prose()
    if e.C is not None:
        body = HALF * Norm(w) ** 2 + letters.C * over(_xi) - over(_a * (inside + _xi)) - over(_mu * _xi)
        multipliers = [w, b, Symbol("xi", bold=True), alpha_bold, Symbol("mu", bold=True)]
        zero.append(condition(Derivative(Symbol("Lambda"), _xi), "=", letters.C - _a - _mu, "=", 0))
        reason = say("the last one and {} give {}", condition(_mu, ">=", 0), condition(_a, "<=", letters.C))
    return (
        Step(
            say("Each constraint gets a multiplier. The Lagrangian is"),
            (condition(Call("Λ", tuple(multipliers)), "=", body),),
            footnotes=(footnotes.LAGRANGIAN, footnotes.FEASIBLE),
        ),
        Step(say("At the optimum its derivatives are zero:"), tuple(zero), reason),
    )


@dataclass(frozen=True)
class Reduced:
    """The dual without its last multiplier: L = g.v - 1/2 v'Hv in the others, v; the last is s.v."""

    H: Rows
    g: Vector
    s: Vector


def reduce(e: SvmProblem) -> Reduced:
    """Put alpha_n = -y_n sum_(i<n) y_i alpha_i into the dual."""
    kept, last = range(e.n - 1), e.n - 1
    s = tuple(Fraction(-e.y[last] * e.y[i]) for i in kept)
    G_ = e.signed_gram
    H = tuple(
        tuple(G_[i][j] + s[i] * G_[last][j] + s[j] * G_[i][last] + s[i] * s[j] * G_[last][last] for j in kept)
        for i in kept
    )
    return Reduced(H, tuple(1 + value for value in s), s)


def elimination(e: SvmProblem) -> Section:
    """One multiplier eliminated, the derivatives, the linear system and its solution."""
    steps = (substituted(e), derivatives(e), *_system(e))
    return Section("One multiplier eliminated, and the partial derivatives", steps)


def substituted(e: SvmProblem) -> Step:
    """The dual without its last multiplier."""
    r, symbols = reduce(e), alphas(e.n)
    kept, last = tuple(symbols[:-1]), symbols[-1]
    solved = equals(last, combination(r.s, kept))
    form, total = quadratic_form(r.H, kept), combination(r.g, kept)
    return Step(
        say("The equality {} gives {}. Put into the dual, this leaves", _balance(e), solved),
        (equals(Call(q, kept), form), equals(Call(L, kept), total - HALF * Call(q, kept))),
        footnotes=(footnotes.THREE_POINTS,) if e.signed_gram == _LECTURE else (),
        scope="eliminated",
    )


def derivatives(e: SvmProblem) -> Step:
    """The partial derivatives of the dual."""
    r, kept = reduce(e), alphas(e.n)[:-1]
    slopes = [combination([r.g[i], *(-h for h in r.H[i])], [_ONE, *kept]) for i in range(e.n - 1)]
    return Step(
        say("If no bound on a multiplier were active, the maximum would be where the partial derivatives are zero:"),
        tuple(chain(Derivative(L, a), "=", slope, "=!", 0) for a, slope in zip(kept, slopes, strict=True)),
        scope="eliminated",
    )


def _system(e: SvmProblem) -> list[Step]:
    """The linear system that the derivatives make, and what becomes of its solution."""
    r, kept = reduce(e), alphas(e.n)[:-1]
    system = condition(matrix(r.H) * column(kept), "=", column(r.g))
    outcome = solve(r.H, r.g)
    if outcome.unique:
        return [Step(say("These are linear equations:"), (system,)), solved_step_by_step(e), _within_bounds(e)]
    many = "many solutions: its matrix is singular"
    none = "no solution: without bounds the dual would grow for ever"
    words = f"This linear system has {none if outcome.particular is None else many}. The cases below decide."
    return [Step(say(words), (system,), proof="singular")]


def solved_step_by_step(e: SvmProblem) -> Step:
    """Each equation gives one multiplier by those after it; the last is a number, and the others follow."""
    r = reduce(e)
    symbols, size = alphas(e.n), e.n - 1
    H, g = [list(row) for row in r.H], list(r.g)
    shown: list[Formula] = []
    for k in range(size):
        later = symbols[k + 1 : size]
        if k:
            body = combination([g[k], *(-h for h in H[k][k:])], [_ONE, *symbols[k:size]])
            shown.append(
                Listing((Words("put into equation "), Number(Fraction(k + 1)), Words(":  "), equals(body, 0)), "")
            )
        by_others = combination([g[k] / H[k][k], *(-h / H[k][k] for h in H[k][k + 1 :])], [_ONE, *later])
        shown.append(equals(symbols[k], by_others))
        for i in range(k + 1, size):
            factor = H[i][k] / H[k][k]
            H[i] = [a - factor * p for a, p in zip(H[i], H[k], strict=True)]
            g[i] -= factor * g[k]
    values = solve(r.H, r.g).particular
    assert values is not None
    back = [equals(a, v) for a, v in zip(symbols, (*values, dot(r.s, values)), strict=True)]
    shown.append(Listing(tuple(back), ",   "))
    return Step(say("Solved one after the other, and put back:"), tuple(shown), scope="system")


def _within_bounds(e: SvmProblem) -> Step:
    values = e.free_solution
    assert values is not None
    broken: list[Chain] = []
    for i, v in enumerate(values):
        if v < 0:
            broken.append(chain(alpha(i), "=", v, "<", 0))
        elif e.C is not None and v > e.C:
            broken.append(chain(alpha(i), "=", v, ">", e.C))
    if broken:
        text = "But these values break the bounds: {}. So some bounds are active at the maximum, and the cases decide."
        return Step(say(text, Listing(tuple(broken), ",  ")), scope="system")
    bounds = chain(0, "<=", _a) if e.C is None else chain(0, "<=", _a, "<=", letters.C)
    text = "These values satisfy {} for every point. The dual is concave, so this is its maximum."
    at_bound = [equals(alpha(i), 0) for i, v in enumerate(values) if not v]
    if not at_bound:
        return Step(say(text, bounds), scope="system")
    text += " A multiplier that is 0 ({}) is not needed: its point lies on the margin, and f is the same without it."
    return Step(say(text, bounds, Listing(tuple(at_bound), ", ")), scope="system")

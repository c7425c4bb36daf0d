"""The support vector machine by hand: from the data to the linear system of the dual."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..kernels import Kernel
from . import footnotes, letters
from .algebra import ZERO, solve
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
from .gram import general, written
from .letters import HALF, G, K, L, alpha, alpha_bold, alphas, b, f_of, over, q, quadratic_form, w, x_, y_
from .setting import Setting
from .steps import Prose, Section, Step, Table, claims, say

_a, _xi, _mu = Symbol("alpha", "i"), Symbol("xi", "i"), Symbol("mu", "i")
_ONE = Number(Fraction(1))
_WRITTEN_OUT = 3
"""The Gram matrix of so many points is shown before its entries are computed."""


def data(e: Setting) -> Section:
    """The points, their labels, and the problem."""
    columns: list[tuple[Formula, list[Formula]]] = [(Symbol("i"), [Number(Fraction(i + 1)) for i in range(e.n)])]
    if e.points is not None:
        columns.append((x_("i"), [e.x(i) for i in range(e.n)]))
    columns.append((y_("i"), [Number(Fraction(sign)) for sign in e.y]))
    signed: list[Formula] = []
    if e.linear and e.points is not None:
        signed = [point([e.y[i] * entry for entry in x]) for i, x in enumerate(e.points)]
        columns.append((y_("i") * x_("i"), signed))
    plus = e.y.count(1)
    text = f"There are {e.n} points: {plus} of class +1 and {e.n - plus} of class −1."
    if e.labels.renamed:
        text += f" (Class {e.labels.positive} is written +1, class {e.labels.negative} is written −1.)"
    if signed:
        text += " The last column is the signed data: each point times its label."
    table = Step(
        say(text),
        (Table.of_columns(columns),),
        assertion=claims(*(equals(e.y[i] * e.x(i), s) for i, s in enumerate(signed))) if signed else None,
    )
    return Section("The data", (table, _primal(e)))


def _primal(e: Setting) -> Step:
    square = HALF * Norm(w) ** 2
    function = equals(f_of(letters.x), Inner(w, e.mapped(letters.x)) + b)
    inside = y_("i") * (Inner(w, e.mapped(x_("i"))) + b)
    if e.C is None:
        statement = say("Wanted is {} with the widest margin between the classes:", function)
        parts = (Words("minimise  "), square, Words("  subject to  "), chain(inside, ">=", 1), Words(" for all i"))
        return Step(statement, (Listing(parts, ""),), footnotes=(footnotes.SCALE,))
    statement = say(
        "Wanted is {} with a wide margin, where a point may fall short of it by {}, at the price {} for each unit:",
        function,
        _xi,
        equals(letters.C, e.C),
    )
    constraints = (chain(inside, ">=", 1 - _xi), Words(",  "), chain(_xi, ">=", 0), Words(" for all i"))
    minimise = (Words("minimise  "), square + letters.C * over(_xi), Words("  subject to  "))
    return Step(statement, (Listing((*minimise, *constraints), ""),), footnotes=(footnotes.SCALE,))


def gram_matrix(e: Setting) -> Section:
    """K and G."""
    if e.linear and e.points is not None:
        rows = [[e.y[i] * entry for entry in x] for i, x in enumerate(e.points)]
        S = Symbol("S", bold=True)
        relation = equals(G, S * Transposed(S), matrix(rows) * matrix(zip(*rows, strict=True)), matrix(e.signed_gram))
        entry = equals(Symbol("G", "ij"), y_("i") * y_("j") * Inner(x_("i"), x_("j")))
        statement = say("The signed data are the rows of {}. Their inner products are {}:", S, entry)
        return Section("The Gram matrix", (Step(statement, (relation,), Prose(), claims(relation), (footnotes.ROWS,)),))
    product = equals(G, Entrywise(letters.y * Transposed(letters.y), K), matrix(e.signed_gram))
    signed = Step(
        say("With the labels, {}:", equals(Symbol("G", "ij"), y_("i") * y_("j") * Symbol("K", "ij"))),
        (product,),
        assertion=claims(product, given={letters.y: column(e.y), K: e.K_matrix}),
        footnotes=(footnotes.ENTRY_BY_ENTRY,),
    )
    return Section("The Gram matrix", (kernel_values(e.kernel, e.points, e.K), signed))


def kernel_values(kernel: Kernel, points: Rows | None, K_: Rows) -> Step:
    """The Gram matrix of a kernel, entry by entry."""
    if points is None:
        return Step(say("The Gram matrix is given:"), (equals(K, matrix(K_)),))
    entries = matrix([[written(kernel, x, z) for z in points] for x in points])
    relation = equals(K, entries, matrix(K_))
    shown = relation if len(points) <= _WRITTEN_OUT else equals(K, matrix(K_))
    statement = say("The kernel is {}. Its values for all pairs of points:", kernel_formula(kernel))
    example = equals(Symbol("K", "12"), written(kernel, points[0], points[1]), K_[0][1]) if len(points) > 1 else None
    if example is not None:
        statement = Prose((*statement.parts[:-1], ". Its values for all pairs of points, such as ", example, ":"))
    entry = equals(Symbol("K", "ij"), Call(letters.k, (x_("i"), x_("j"))))
    return Step(statement, (shown,), say("{}", entry), claims(relation, *([example] if example else [])))


def kernel_formula(kernel: Kernel) -> Formula:
    """k(x, z) = its formula."""
    x, z = Symbol("x", "j"), Symbol("z", "j")
    sums: dict[str, Formula] = {"min": over(Call("min", (x, z)), "j"), "chi2": over(Product((x, z)) / (x + z), "j")}
    body = general(kernel, Inner(letters.x, letters.z), lambda kind: sums[kind])
    return equals(Call(letters.k, (letters.x, letters.z)), body)


def dual(e: Setting) -> Section:
    """The Lagrangian and the dual, written out."""
    symbols = alphas(e.n)
    form = equals(
        Call(q, (alpha_bold,)), Transposed(alpha_bold) * G * alpha_bold, quadratic_form(e.signed_gram, symbols)
    )
    pairs = Series(Product((_a, Symbol("alpha", "j"), Symbol("G", "ij"))), "ij")
    objective = equals(
        Call(L, (alpha_bold,)), over(_a) - HALF * pairs, combination([1] * e.n, symbols) - HALF * Call(q, (alpha_bold,))
    )
    limits = chain(_a, ">=", 0) if e.C is None else chain(0, "<=", _a, "<=", e.C)
    balance = equals(combination(e.y, symbols), 0)
    written_out = Step(
        say("Put in, they leave a problem in {} alone: maximise", alpha_bold),
        (objective, form, Listing((Words("subject to  "), balance, Words("  and  "), limits), "")),
        assertion=claims(form, given={alpha_bold: column(symbols), G: matrix(e.signed_gram)}),
        footnotes=(footnotes.MAXIMISED,),
    )
    return Section("The dual problem", (*_lagrangian(e), written_out))


def _lagrangian(e: Setting) -> tuple[Step, Step]:
    inside = y_("i") * (Inner(w, e.mapped(x_("i"))) + b) - 1
    multipliers = [w, b, alpha_bold]
    body = HALF * Norm(w) ** 2 - over(_a * inside)
    zero = [
        equals(Derivative(Symbol("Lambda"), w), w - over(Product((_a, y_("i"), e.mapped(x_("i"))))), 0),
        equals(Derivative(Symbol("Lambda"), b), -over(_a * y_("i")), 0),
    ]
    reason = Prose()
    if e.C is not None:
        body = HALF * Norm(w) ** 2 + letters.C * over(_xi) - over(_a * (inside + _xi)) - over(_mu * _xi)
        multipliers = [w, b, Symbol("xi", bold=True), alpha_bold, Symbol("mu", bold=True)]
        zero.append(equals(Derivative(Symbol("Lambda"), _xi), letters.C - _a - _mu, 0))
        reason = say("the last one and {} give {}", chain(_mu, ">=", 0), chain(_a, "<=", letters.C))
    return (
        Step(
            say("Each constraint gets a multiplier. The Lagrangian is"),
            (equals(Call("Λ", tuple(multipliers)), body),),
            footnotes=(footnotes.LAGRANGIAN,),
        ),
        Step(say("At the optimum its derivatives are zero:"), tuple(zero), reason),
    )


@dataclass(frozen=True)
class Reduced:
    """The dual without its last multiplier: L = g.v - 1/2 v'Hv in the others, v; the last is s.v."""

    H: Rows
    g: Vector
    s: Vector


def reduce(e: Setting) -> Reduced:
    """Put alpha_n = -y_n sum_(i<n) y_i alpha_i into the dual."""
    kept, last = range(e.n - 1), e.n - 1
    s = tuple(Fraction(-e.y[last] * e.y[i]) for i in kept)
    G_ = e.signed_gram
    H = tuple(
        tuple(G_[i][j] + s[i] * G_[last][j] + s[j] * G_[i][last] + s[i] * s[j] * G_[last][last] for j in kept)
        for i in kept
    )
    return Reduced(H, tuple(1 + value for value in s), s)


def elimination(e: Setting) -> Section:
    """One multiplier eliminated, the derivatives, the linear system and its solution."""
    r, symbols = reduce(e), alphas(e.n)
    kept, last = symbols[:-1], symbols[-1]
    form, total = quadratic_form(r.H, kept), combination(r.g, kept)
    in_others = combination(r.s, kept)
    balance = equals(combination(e.y, symbols), 0)
    lecture = [[10, 5, -3], [5, 5, -1], [-3, -1, 1]]
    eliminate = Step(
        say("The equality {} gives {}. Put into the dual, this leaves", balance, equals(last, in_others)),
        (equals(Call(q, tuple(kept)), form), equals(Call(L, tuple(kept)), total - HALF * Call(q, tuple(kept)))),
        assertion=claims(
            balance,
            equals(quadratic_form(e.signed_gram, symbols), form),
            equals(combination([1] * e.n, symbols), total),
            given={last: in_others},
        ),
        footnotes=(footnotes.THREE_POINTS,) if [list(row) for row in e.signed_gram] == lecture else (),
    )
    slopes = [combination([r.g[i], *(-h for h in r.H[i])], [_ONE, *kept]) for i in range(e.n - 1)]
    partial = Step(
        say("If no bound on a multiplier were active, the maximum would be where the partial derivatives are zero:"),
        tuple(condition(Derivative(L, a), "=", slope, "=", 0) for a, slope in zip(kept, slopes, strict=True)),
        assertion=claims(
            *(equals(Derivative(L, a), slope) for a, slope in zip(kept, slopes, strict=True)),
            given={L: total - HALF * form},
        ),
    )
    return Section("One multiplier eliminated, and the partial derivatives", (eliminate, partial, *_system(e, r)))


def _system(e: Setting, r: Reduced) -> list[Step]:
    """The linear system that the derivatives make, and what becomes of its solution."""
    symbols = alphas(e.n)
    H, kept = matrix(r.H), symbols[:-1]
    system = condition(H * column(kept), "=", column(r.g))
    outcome = solve(r.H, r.g)
    if outcome.particular is None:
        c = Transposed(column(outcome.contradiction or ()))
        words = say(
            "This linear system has no solution: without bounds the dual would grow for ever. The cases below decide."
        )
        proof = claims(equals(c * H, matrix([[0] * len(kept)])), equals(c * column(r.g), 1))
        return [Step(words, (system,), assertion=proof)]
    if outcome.directions:
        words = say("This linear system has many solutions: its matrix is singular. The cases below decide.")
        null = equals(H * column(outcome.directions[0]), column([ZERO] * len(kept)))
        return [Step(words, (system,), assertion=claims(null, equals(H * column(outcome.particular), column(r.g))))]
    values = (*outcome.particular, dot(r.s, outcome.particular))
    solved = Listing(tuple(equals(a, v) for a, v in zip(symbols, values, strict=True)), ",   ")
    step = Step(
        say("As a linear system, with its solution:"),
        (system, solved),
        assertion=claims(
            system, equals(symbols[-1], combination(r.s, kept)), given=dict(zip(symbols, values, strict=True))
        ),
    )
    return [step, _within_bounds(e, values)]


def _within_bounds(e: Setting, values: Vector) -> Step:
    broken: list[Chain] = []
    for i, v in enumerate(values):
        if v < 0:
            broken.append(chain(alpha(i), "=", v, "<", 0))
        elif e.C is not None and v > e.C:
            broken.append(chain(alpha(i), "=", v, ">", e.C))
    if broken:
        return Step(
            say(
                "But these values break the bounds: {}. So some bounds are active at the maximum, and the cases must "
                "be gone through.",
                Listing(tuple(broken), ",  "),
            ),
            assertion=claims(*broken),
        )
    bounds = chain(0, "<=", _a) if e.C is None else chain(0, "<=", _a, "<=", letters.C)
    held = [chain(0, "<=", v) if e.C is None else chain(0, "<=", v, "<=", e.C) for v in values]
    return Step(
        say("These values satisfy {} for every point. The dual is concave, so this is its maximum.", bounds),
        assertion=claims(*held),
    )

"""The support vector machine as quadratic programs: their matrices, the recipe, and the methods side by side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from . import footnotes, letters
from .cases import State
from .exact import Rows, Vector, dot, sympy
from .formula import (
    Call,
    Entrywise,
    Formula,
    Inner,
    Listing,
    Matrix,
    Norm,
    Number,
    Root,
    Symbol,
    Transposed,
    Words,
    chain,
    condition,
    equals,
    matrix,
    point,
)
from .letters import HALF, K, alpha_bold, b, f_of, t, w, x_, y_
from .sample_steps import gram_steps
from .steps import Section, Step, Table, say
from .svm_answer import from_free
from .svm_dual import data, signed_gram
from .svm_problem import SvmProblem, added
from .world import World, exact, vector

SCOPES = ("dual", "primal", "twice")
_P, _q, _G, _h, _A = (Symbol(name, bold=True) for name in ("P", "q", "G", "h", "A"))
_v, _r = Symbol("v", bold=True), Symbol("r", bold=True)
_STEPS = 8
"""Of the subgradient method, for comparison."""


def program(e: SvmProblem) -> tuple[Section, ...]:
    """All sections."""
    primal = (_primal(e),) if e.linear else ()
    return (
        data(e),
        _line_by_line(e),
        _gram(e),
        _dual(e),
        *primal,
        _recipe(e),
        _intercept(e),
        _other_margin(e),
        _methods(e),
    )


def world(e: SvmProblem, scope: str, solved: World) -> World:
    """The matrices of one of the programs, and the vector that solves it; in "twice", the machine times 2."""
    sp = sympy()
    if scope == "twice":
        inner = solved.letters[letters.f]
        return solved.also({letters.f: lambda x: 2 * inner(x), w: 2 * solved.letters[w], b: 2 * solved.letters[b]})
    parts = _dual_parts(e) if scope == "dual" else _primal_parts(e)
    found: dict[Symbol, Any] = {name: _exact(rows) for name, rows in zip((_P, _q, _G, _h), parts, strict=True)}
    found[_A] = sp.ImmutableMatrix([list(e.y)])
    if scope == "primal":
        slacks = [exact(v) for v in _slacks(e)] if e.C is not None else []
        entries = tuple(solved.letters[w]) if hasattr(solved.letters[w], "shape") else (solved.letters[w],)
        found[_v] = sp.ImmutableMatrix([*entries, solved.letters[b], *slacks])
    else:
        found[_v] = vector(e.alpha)
    return solved.also(found)


def _exact(rows: Rows) -> Any:
    return sympy().ImmutableMatrix([[exact(v) for v in row] for row in rows])


def _slacks(e: SvmProblem) -> Vector:
    reached = [s * (score + e.b) for s, score in zip(e.y, e.dual.scores(e.alpha), strict=True)]
    return tuple(max(Fraction(0), 1 - m) for m in reached)


def _unit(n: int, factor: int) -> list[Vector]:
    return [tuple(Fraction(factor if i == j else 0) for j in range(n)) for i in range(n)]


def _dual_parts(e: SvmProblem) -> tuple[Rows, Rows, Rows, Rows]:
    """P, q, G, h of the dual: upper bounds first where there is C, as the notes have them."""
    n, zero, one = e.n, Fraction(0), Fraction(1)
    q = tuple((-one,) for _ in range(n))
    if e.C is None:
        return e.signed_gram, q, tuple(_unit(n, -1)), tuple((zero,) for _ in range(n))
    bounds = (*((e.C,) for _ in range(n)), *((zero,) for _ in range(n)))
    return e.signed_gram, q, (*_unit(n, 1), *_unit(n, -1)), bounds


def _primal_parts(e: SvmProblem) -> tuple[Rows, Rows, Rows, Rows]:
    """P, q, G, h of the primal in (w, b, slacks)."""
    d, n = len(e.vectors[0]), e.n if e.C is not None else 0
    size, zero, one = d + 1 + n, Fraction(0), Fraction(1)
    P = tuple(tuple(one if i == j < d else zero for j in range(size)) for i in range(size))
    q = (*((zero,) for _ in range(d + 1)), *((e.C or zero,) for _ in range(n)))
    margins = []
    for i, (x, s) in enumerate(zip(e.vectors, e.y, strict=True)):
        slack = [-one if i == j else zero for j in range(n)]
        margins.append((*(-s * v for v in x), Fraction(-s), *slack))
    signs = [(*(zero,) * (d + 1), *row) for row in _unit(n, -1)]
    h = (*((-one,) for _ in range(e.n)), *((zero,) for _ in range(n)))
    return P, q, (*margins, *signs), h


# The sections.


def _line_by_line(e: SvmProblem) -> Section:
    """argmax of the margin = argmin of half the square."""
    least = Listing((Words("min over i of "), y_("i") * (Inner(w, e.mapped(x_("i"))) + b)), "")
    one: Formula = Number(Fraction(1))
    lines = (
        Listing((Words("argmax  "), one / Norm(w), Words(" · "), least), ""),
        Listing((Words("= argmax  "), one / Norm(w), Words("   where that least is 1")), ""),
        Listing((Words("= argmin  "), Norm(w)), ""),
        Listing((Words("= argmin  "), HALF * Inner(w, w)), ""),
    )
    reasons = say(
        "(w, b) times a positive number has the same margin, so that the least can be made 1; the largest 1/|w| is "
        "the least |w|; and squares of lengths are in the order of the lengths"
    )
    own = Call("min", tuple(y_(i) * f_of(x_(i)) for i in range(e.n))) / Norm(w)
    square = e.squared_norm(e.beta(e.alpha))
    steps = [Step(say("The widest margin, line by line:"), lines, reasons)]
    if square and e.C is None:
        margin = equals(own, 1 / Root(Number(square)))
        steps.append(Step(say("For the solution below the first line is"), (margin,), scope="solved"))
        steps.append(Step(say("and for twice that machine it is the same:"), (margin,), scope="twice"))
    return Section("From the widest margin to a quadratic program", tuple(steps))


def _gram(e: SvmProblem) -> Section:
    return Section("The kernel matrix", (signed_gram(e),) if e.linear else tuple(gram_steps(e)))


def _written(letter: Symbol, rows: Rows) -> Formula:
    return equals(letter, matrix(rows))


def _sizes(parts: tuple[Rows, Rows, Rows, Rows], equality: bool) -> Table:
    rows = [(name, len(rows), len(rows[0])) for name, rows in zip((_P, _q, _G, _h), parts, strict=True)]
    if equality:
        rows += [(_A, 1, len(parts[0])), (_r, 1, 1)]
    return Table(
        (say("matrix"), say("rows"), say("columns")), tuple(tuple(say("{}", cell) for cell in row) for row in rows)
    )


def _form(name: Symbol, equality: bool) -> Formula:
    parts: list[Formula] = [Words("minimise  "), HALF * (Transposed(name) * _P * name) + Transposed(_q) * name]
    parts += [Words("  subject to  "), condition(_G * name, "<=", _h)]
    if equality:
        parts += [Words(",  "), condition(_A * name, "=", _r)]
    return Listing(tuple(parts), "")


def _dual(e: SvmProblem) -> Section:
    parts = _dual_parts(e)
    P, q, G, h = parts
    first = Step(say("A solver of quadratic programs takes matrices:"), (_form(_v, True), _sizes(parts, True)))
    product = equals(_P, Entrywise(letters.y * Transposed(letters.y), K), matrix(P))
    own = (
        product,
        Listing(
            (_written(_q, q), equals(_A, matrix([list(e.y)])), condition(_r, "=", Matrix(((Number(Fraction(0)),),)))),
            ",   ",
        ),
    )
    bounds = Listing((_written(_G, G), _written(_h, h)), ",   ")
    words = (
        "Here {} is the multipliers, and"
        if e.C is None
        else "Here {} is the multipliers; the upper bounds come first, and"
    )
    notes = (footnotes.ENTRY_BY_ENTRY, footnotes.ROW_OF_LABELS, footnotes.ALPHA_NOT_BETA)
    second = Step(say(words, _v), (*own, bounds), footnotes=notes, scope="dual")
    value = -e.dual.dual_value(e.alpha)
    objective = HALF * (Transposed(_v) * _P * _v) + Transposed(_q) * _v
    third = Step(
        say("The solver's answer is {}, with the value", equals(_v, point(e.alpha))),
        (equals(objective, value), equals(_A * _v, 0)),
        say("minus the value of the dual, since it is minimised"),
        scope="dual",
    )
    return Section("The dual as a quadratic program", (first, second, third))


def _primal(e: SvmProblem) -> Section:
    parts = _primal_parts(e)
    P, q, G, h = parts
    names = [*letters.coordinates(len(e.vectors[0]), "w"), b]
    names += [Symbol("xi", str(i + 1)) for i in range(e.n)] if e.C is not None else []
    first = Step(
        say("The primal is one as well, without an equality. Its vector is {}:", condition(_v, "=", point(names))),
        (_form(_v, False), _sizes(parts, False)),
    )
    second = Step(
        say("Its matrices:"),
        (_written(_P, P), _written(_q, q), Listing((_written(_G, G), _written(_h, h)), ",   ")),
        scope="primal",
    )
    found = [*e.weights(e.beta(e.alpha)), e.b, *(_slacks(e) if e.C is not None else ())]
    value = e.dual.dual_value(e.alpha)
    rows = []
    for number, (row, (right,)) in enumerate(zip(G, h, strict=True), 1):
        rows.append((say("{}", number), say("{}", chain(dot(row, found), "<=", right))))
    objective = HALF * (Transposed(_v) * _P * _v) + Transposed(_q) * _v
    third = Step(
        say("Its answer {} satisfies every row, and has the value of the dual:", equals(_v, point(found))),
        (Table((say("row"), say("left and right side")), tuple(rows)), equals(objective, value)),
        scope="primal",
    )
    return Section("The primal as a quadratic program", (first, second, third))


def _recipe(e: SvmProblem) -> Section:
    """Ten steps on one page."""
    support = [i for i, a in enumerate(e.alpha) if a]
    n, m = e.n, e.n if e.C is None else 2 * e.n
    bounds = "−1 on the diagonal" if e.C is None else "1 on the diagonal, then −1 on the diagonal"
    right = "0" if e.C is None else f"{e.C}, then 0"
    told = [
        ("Take the data, the targets and the kernel", say("{} points", n)),
        ("Compute the kernel matrix K", say("{} × {}", n, n)),
        ("Compute P, entry by entry from the labels and K", say("{} × {}", n, n)),
        ("Make q: −1 for every point", say("{} × 1", n)),
        ("Make A: one row, the labels", say("1 × {}", n)),
        (f"Make G: {bounds}", say("{} × {}", m, n)),
        (f"Make h: {right}", say("{} × 1", m)),
        (
            "Give P, q, G, h, A and 0 to the solver; it returns the multipliers",
            say("{}", equals(alpha_bold, point(e.alpha))),
        ),
        (
            "Keep the support vectors: multipliers that are not 0",
            say("{}", Listing(tuple(x_(i) for i in support), ", ")),
        ),
        ("Compute the intercept", say("{}", equals(b, e.b))),
    ]
    rows = tuple((say("{}", number), say(what), result) for number, (what, result) in enumerate(told, 1))
    table = Table((say("step"), say("what to do"), say("here")), rows)
    return Section("The recipe in ten steps", (Step(say("To train a classifier:"), (table,), scope="solved"),))


def _intercept(e: SvmProblem) -> Section:
    free = e.optima[0].members(State.FREE)
    title = "The intercept as an average"
    if not free:
        none = say(
            "No multiplier is free, so that there is nothing to average; all conditions leave {}.", equals(b, e.b)
        )
        return Section(title, (Step(none, scope="solved"),))
    scores = e.dual.scores(e.alpha)
    values = tuple(e.y[i] - scores[i] for i in free)
    total = added(values) if any(values) else Number(Fraction(0))
    mean = equals(b, (Number(Fraction(1, len(free)))) * total, e.b)
    words = say("Each free support vector gives b; their average is taken, which a rounded solution needs:")
    return Section(title, (Step(words, (*from_free(e, free), mean), footnotes=(footnotes.FREE_ONLY,), scope="solved"),))


def _other_margin(e: SvmProblem) -> Section:
    """m in place of 1 in the constraints."""
    m = Symbol("m")
    rule = condition(y_("i") * (Inner(w, e.mapped(x_("i"))) - t), ">=", m)
    rows = []
    for i, (s, score) in enumerate(zip(e.y, e.dual.scores(e.alpha), strict=True)):
        reached = 2 * s * (score + e.b)
        sign = "<=" if reached >= 2 else ">"
        rows.append((say("{}", x_(i)), say("{}", chain(2, sign, reached))))
    table = Table((say("point"), say("{}", y_("i") * f_of(x_("i")))), tuple(rows), "i")
    words = (
        "Some lectures have a number {} in place of 1: {}. It only sets the scale. For {}, w and t are twice as large:"
    )
    shown: list[Any] = [table]
    if e.linear:
        shown.append(equals(w, point([2 * v for v in e.weights(e.beta(e.alpha))])))
    shown.append(equals(b, 2 * e.b))
    reason = say("and so the boundary and all distances stay as they are")
    if e.C is not None:
        reason = say("with slacks and C twice as large too; the boundary and all distances stay as they are")
    return Section(
        "Another number than 1", (Step(say(words, m, rule, condition(m, "=", 2)), tuple(shown), reason, scope="twice"),)
    )


def _methods(e: SvmProblem) -> Section:
    """Dual, primal and subgradient steps on this problem."""
    d = len(e.vectors[0]) if e.linear else None
    value = e.dual.dual_value(e.alpha)
    size = "as many as features" if d is None else str(d + 1 + (e.n if e.C is not None else 0))
    machine = say("{}", equals(b, e.b))
    if e.linear:
        machine = say("{}, {}", equals(w, point(e.weights(e.beta(e.alpha)))), equals(b, e.b))
    bounds = len(_dual_parts(e)[2])
    multipliers = say("{}", equals(alpha_bold, point(e.alpha)))
    rows = [
        (say("dual program"), say("{}", e.n), say(f"{bounds} and an equality"), say("{} cases", e.dual.count),
         multipliers, say("{}", value)),
        (say("primal program"), say(size), say(f"{e.n if e.C is None else 2 * e.n}"), say("the same point"), machine,
         say("{}", value)),
    ]  # fmt: skip
    if e.linear and e.C is not None:
        found = min(_subgradient_steps(e), key=lambda own: _objective(e, *own))
        best = say("{}, {}", condition(w, "=", point(found[0])), condition(b, "=", found[1]))
        rows.append((say("subgradient"), say(f"{(d or 0) + 1}"), say("none"), say(f"{_STEPS} steps, 1/(t + 1)"), best,
                     say("best {}", _objective(e, *found))))  # fmt: skip
    header = tuple(map(say, ("method", "unknowns", "constraints", "work here", "answer", "value")))
    words = "Two ways to one answer; subgradient steps, the third, need a finite C:"
    if e.C is not None:
        words = "Three ways to one answer. Programs end with it; subgradient steps come near it, cheaply:"
    return Section("Side by side", (Step(say(words), (Table(header, tuple(rows)),), scope="solved"),))


def _objective(e: SvmProblem, w_: Vector, b_: Fraction) -> Fraction:
    losses = [max(Fraction(0), 1 - s * (dot(w_, x) + b_)) for s, x in zip(e.y, e.vectors, strict=True)]
    return dot(w_, w_) / 2 + (e.C or Fraction(0)) * sum(losses, Fraction(0))


def _subgradient_steps(e: SvmProblem) -> list[tuple[Vector, Fraction]]:
    """The machines of the subgradient method, from 0 on."""
    w_, b_ = (Fraction(0),) * len(e.vectors[0]), Fraction(0)
    found = [(w_, b_)]
    for step in range(1, _STEPS + 1):
        eta = Fraction(1, step + 1)
        short = [s if s * (dot(w_, x) + b_) < 1 else 0 for s, x in zip(e.y, e.vectors, strict=True)]
        beta = tuple((e.C or Fraction(0)) * s for s in short)
        w_ = tuple((1 - eta) * a + eta * c for a, c in zip(w_, e.weights(beta), strict=True))
        b_ += eta * sum(beta, Fraction(0))
        found.append((w_, b_))
    return found

"""A Gram matrix by hand: entries, rank, a proof that it is positive semidefinite or a witness that it is not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..gram.moved import radial, stationary
from ..kernels import Kernel, Linear, Precomputed
from . import letters
from .algebra import factorised, indefinite_witness, quadratic
from .exact import Rows, Vector, refuse_many, require_few, sympy, targets
from .features import combined, images, mapping
from .formula import (
    Call,
    Formula,
    Norm,
    Product,
    Symbol,
    Transposed,
    chain,
    combination,
    condition,
    equals,
    matrix,
    point,
)
from .gram import has_exp, value, written
from .letters import K, over, x_
from .sample import Sample, read_sample
from .sample_steps import gram_steps
from .steps import Section, Solution, Step, Table, say
from .world import World, exact, vector

MOST_POINTS = 10
_c, _L, _D = Symbol("c", bold=True), Symbol("L", bold=True), Symbol("D", bold=True)
_ci, _cj = Symbol("c", "i"), Symbol("c", "j")


@dataclass(frozen=True)
class GramProblem(Sample):
    """Points with a kernel, and weights c for the quadratic form."""

    c: Vector

    @cached_property
    def witness(self) -> Vector | None:
        """c with c'Kc < 0, where there is one."""
        return indefinite_witness(self.K)

    def solve(self) -> Solution:
        """See `gram`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """The matrix, its factors, and the weights: those of the witness in "witness"."""
        sp = sympy()
        c = self.witness if scope == "witness" and self.witness is not None else self.c
        world = self.base.also({_c: vector(c)}, {Symbol("c"): [exact(v) for v in c]})
        if self.monomials is not None:
            world = world.also(functions={"φ": mapping(self.monomials)})
        if self.witness is None:
            L, d = factorised(self.K)
            low, diagonal = sp.Matrix(_exact(L)), sp.diag(*map(exact, d))
            if all(d) and not has_exp(self.kernel):
                low, diagonal = sp.Matrix(_exact(self.K)).LDLdecomposition()
            world = world.also({_L: low.as_immutable(), _D: diagonal.as_immutable()})
        return world

    def prove_semidefinite(self, step: Step) -> bool:
        """No eigenvalue is negative."""
        return self.definiteness()[0]


def _exact(rows: Rows) -> list[list[Any]]:
    return [[exact(v) for v in row] for row in rows]


def gram(X: Any, kernel: Kernel | str = Linear(), c: Any = None) -> Solution:  # noqa: B008
    """The Gram matrix of a few points, worked out: K = LDL' or a witness c with c'Kc < 0, rank, the proof by features.

    X holds the points, or a matrix with kernel="precomputed"; c are weights for c'Kc (left out: 1, -1, 1, ...).
    """
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.evidence")
    fields = read_sample(X, kernel, "mercer.evidence", definite=False, gaussian=True)
    n = Sample(**fields).n
    weights = targets([(-1) ** i for i in range(n)] if c is None else c, n, "c")
    return GramProblem(**fields, c=weights).solve()


def worked(e: GramProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.evidence")
    if e.gram is not None and not isinstance(e.kernel, Precomputed):
        raise ValueError(f"A matrix that is given needs no kernel, but there is {e.kernel!r}.")
    if e.witness is not None:
        own = gram_steps(e)[:1]
        sections = [Section("The Gram matrix", tuple(own)), _witness(e), _form(e)]
        answer: dict[str, Any] = {"K": e.K, "semidefinite": False, "witness": e.witness}
        answer["value"] = quadratic(e.K, e.witness)
    else:
        sections = [Section("The Gram matrix", tuple(gram_steps(e))), _factors(e), _form(e), *_features(e)]
        answer = {"K": e.K, "semidefinite": True, "pivots": factorised(e.K)[1], "value": quadratic(e.K, e.c)}
        answer["rank"] = sum(1 for pivot in factorised(e.K)[1] if pivot)
    if e.points is not None and e.features is None:
        sections.append(_moved(e))
    return Solution(f"The Gram matrix of {e.n} points", tuple(sections), answer, None, e)


def _witness(e: GramProblem) -> Section:
    assert e.witness is not None
    total = quadratic(e.K, e.witness)
    shown = chain(Transposed(_c) * K * _c, "=", total, "<", 0)
    words = say(
        "It is not positive semidefinite, so that it belongs to no kernel: with {}", equals(_c, point(e.witness))
    )
    return Section("A witness", (Step(words, (shown,), scope="witness"),))


def _factors(e: GramProblem) -> Section:
    low, pivots = factorised(e.K)
    diagonal = [[pivots[i] if i == j else 0 for j in range(e.n)] for i in range(e.n)]
    shown = equals(K, matrix(low) * matrix(diagonal) * matrix(zip(*low, strict=True)), _L * _D * Transposed(_L))
    rank = sum(1 for pivot in pivots if pivot)
    letters_ = [Symbol("c", str(i + 1)) for i in range(e.n)]
    squares = [combination(column_, letters_) ** 2 for column_ in zip(*low, strict=True)]
    form = condition(Transposed(_c) * K * _c, "=", combination(pivots, squares), ">=", 0)
    words = "Elimination, on rows and columns alike, leaves a diagonal with {} positive entries and no negative one:"
    first = Step(say(words, rank), (shown,), say("so the rank is {}", rank), scope="data", proof="semidefinite")
    second = Step(say("So the quadratic form is a sum of squares, for every {}:", _c), (form,))
    return Section("Positive semidefinite: a sum of squares", (first, second))


def _form(e: GramProblem) -> Section:
    total = quadratic(e.K, e.c)
    double = over(Product((_ci, Symbol("K", "ij"), _cj)), "ij")
    sign = () if e.witness is not None else (">=", 0)
    shown = chain(double, "=", Transposed(_c) * K * _c, "=", total, *sign)
    words = say("In numbers, for {}:", equals(_c, point(e.c)))
    return Section("The quadratic form", (Step(words, (shown,), scope="data"),))


def _features(e: GramProblem) -> list[Section]:
    """|sum c_i phi(x_i)|^2, where the features can be written down."""
    if e.points is None or (e.monomials is None and not e.linear):
        return []
    if e.linear:
        shown = [point(x) for x in e.vectors]
        total: Formula = point(e.weights(e.c))
    else:
        assert e.monomials is not None
        shown = images(e.monomials, e.points)
        total = point(combined(e.monomials, e.points, e.c))
    rows = tuple((say("{}", x_(i)), say("{}", image)) for i, image in enumerate(shown))
    table = Table((say("point"), say("{}", e.mapped(x_("i")))), rows, "i")
    summed = over(Product((_ci, e.mapped(x_("i")))))
    mixed = equals(summed, total)
    square = chain(Norm(summed) ** 2, "=", quadratic(e.K, e.c), "=", Transposed(_c) * K * _c, ">=", 0)
    words = say("The same number by the features: it is the square of a length, and so never negative.")
    reason = say("this is the proof for every kernel that is an inner product of features")
    return [Section("By features", (Step(words, (table, mixed, square), reason, scope="data"),))]


def _moved(e: GramProblem) -> Section:
    """Both points moved by the same vector."""
    assert e.points is not None
    x, z = e.points[0], e.points[-1]
    moved_x, moved_z = (tuple(v + 1 for v in p) for p in (x, z))
    before, after = value(e.kernel, x, z), value(e.kernel, moved_x, moved_z)
    k = letters.k
    one = equals(Call(k, (point(x), point(z))), written(e.kernel, x, z), before)
    two = equals(Call(k, (point(moved_x), point(moved_z))), written(e.kernel, moved_x, moved_z), after)
    if before != after:
        words = "Both points are moved by 1 in every coordinate. The value changes: this kernel is not stationary."
    else:
        words = "Both points are moved by 1 in every coordinate. Here the value stays."
        if stationary(e.kernel):
            words = "Both points are moved by 1 in every coordinate. The value stays: this kernel is stationary"
            words += ", and even radial, a function of the distance." if radial(e.kernel) else "."
    return Section("Moved points", (Step(say(words), (one, two), scope="data"),))

"""Functions of a reproducing kernel Hilbert space by hand: inner product, norm, values, two ways to write one f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product as all_of
from typing import Any

from ..kernels import Kernel, Linear
from . import footnotes, letters
from .algebra import solve
from .exact import NotByHandError, Rows, Vector, dot, fraction, points, require_few, sympy
from .features import degree, expansion
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
from .gram import is_polynomial, kernel_formula, read_kernel, require_histograms, value
from .letters import k, over
from .problem import Problem
from .steps import Section, Solution, Step, Table, say
from .world import Feature, World, exact, vector

MOST_POINTS = 6
_f, _g = Symbol("f"), Symbol("g")
_alpha, _beta, _DOT = Symbol("alpha"), Symbol("beta"), Symbol("·")


@dataclass(frozen=True)
class RkhsProblem(Problem):
    """f = sum alpha_i k(., x_i) and g = sum beta_j k(., z_j), and a point."""

    kernel: Kernel
    alpha: Vector
    xs: Rows
    beta: Vector
    zs: Rows
    at: Vector

    def values(self, left: Rows, right: Rows) -> Rows:
        """All k(x, z)."""
        return tuple(tuple(value(self.kernel, x, z) for z in right) for x in left)

    def inner(self, alpha: Vector, left: Rows, beta: Vector, right: Rows) -> Fraction:
        """sum alpha_i beta_j k(x_i, z_j)."""
        return dot(alpha, [dot(row, beta) for row in self.values(left, right)])

    @cached_property
    def second(self) -> tuple[Vector, Rows] | None:
        """f written with other coefficients: some sum of kernels that is 0 is added."""
        places: list[Vector] = list(self.xs)
        for extra in all_of((-1, 0, 1, 2), repeat=len(self.at)):
            found = solve(self.values(tuple(places), tuple(places)), [Fraction(0)] * len(places)).directions
            if found:
                padded = [*self.alpha, *[Fraction(0)] * (len(places) - len(self.alpha))]
                return tuple(a + c for a, c in zip(padded, found[0], strict=True)), tuple(places)
            candidate = tuple(map(Fraction, extra))
            if candidate not in places and _allowed(self.kernel, candidate):
                places.append(candidate)
            if len(places) > MOST_POINTS:
                return None
        return None

    def solve(self) -> Solution:
        """See `rkhs`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """f and g as vectors of feature space; in "second", f by its other coefficients."""
        alpha, xs = self.second if scope == "second" and self.second is not None else (self.alpha, self.xs)

        def kernel(u: Any, v: Any) -> Any:
            if u == sympy().Symbol(_DOT.key, real=True):
                return _Function(kernel, ((sympy().Integer(1), v),))
            return sympy().sympify(value(self.kernel, _entries(u), _entries(v)))

        def function(weights: Vector, places: Sequence[Any]) -> Any:
            terms = [(exact(c), _place(x)) for c, x in zip(weights, places, strict=True)]
            return _Function(kernel, tuple(terms))

        f, g = function(alpha, xs), function(self.beta, self.zs)
        families = {_alpha: [exact(a) for a in alpha], _beta: [exact(v) for v in self.beta]}
        families |= {Symbol("x", bold=True): list(map(_place, xs)), Symbol("z", bold=True): list(map(_place, self.zs))}
        K = vector_rows(self.values(self.xs, self.zs))
        own = {_f: f, _g: g, k: kernel, letters.x: _place(self.at), letters.K: K}
        return World(own, families)

    def prove_same(self, step: Step) -> bool:
        """Both ways to write f give the same values at points of a grid: they are one function."""
        assert self.second is not None
        for place in all_of((0, 1, 2, 3), repeat=len(self.at)):
            x = tuple(map(Fraction, place))
            ways = [dot(a, [value(self.kernel, z, x) for z in zs]) for a, zs in ((self.alpha, self.xs), self.second)]
            if ways[0] != ways[1]:
                return False
        return True


class _Function(Feature):
    """A vector of feature space that can be called: f(x) is its sum of kernel values."""

    def __call__(self, x: Any) -> Any:
        return sum((c * self.kernel(z, x) for c, z in self.terms), sympy().Integer(0))


def vector_rows(rows: Rows) -> Any:
    """A matrix of SymPy's."""
    return sympy().ImmutableMatrix([[exact(v) for v in row] for row in rows])


def _entries(x: Any) -> tuple[Any, ...]:
    return tuple(x) if hasattr(x, "shape") else (x,)


def _place(x: Vector) -> Any:
    return vector(x) if len(x) > 1 else exact(x[0])


def _allowed(kernel: Kernel, x: Vector) -> bool:
    try:
        require_histograms(kernel, (x,))
    except ValueError:
        return False
    return True


def rkhs(f: Any, g: Any = None, kernel: Kernel | str = Linear(), at: Any = None) -> Solution:  # noqa: B008
    """Functions f = sum alpha_i k(., x_i), by hand: rkhs([(1, [1, 2]), (-2, [0, 1])], kernel="poly").

    f and g (left out: f) are lists of pairs, a coefficient and a point; `at` is a point for the reproducing property.
    """
    sympy()
    chosen = read_kernel(kernel, "mercer.RKHSFunction")
    alpha, xs = _terms(f, "f")
    beta, zs = (alpha, xs) if g is None else _terms(g, "g")
    many = hasattr(at, "__len__") and not isinstance(at, str)
    place = xs[0] if at is None else points([at if many else [at]], "at")[0]
    if {len(p) for p in (*xs, *zs, place)} != {len(place)}:
        raise ValueError("All points must have the same number of coordinates.")
    require_histograms(chosen, (*xs, *zs, place))
    return RkhsProblem(chosen, alpha, xs, beta, zs, place).solve()


def _terms(given: Any, name: str) -> tuple[Vector, Rows]:
    try:
        pairs = [(coefficient, place) for coefficient, place in given]
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a list of pairs, a coefficient and a point, such as [(1, [0, 1])].") from None
    if not 1 <= len(pairs) <= MOST_POINTS:
        raise NotByHandError(f"{name} has {len(pairs)} terms; 1 to {MOST_POINTS} are worked out by hand.")
    return tuple(fraction(c, name) for c, _ in pairs), points([p for _, p in pairs], name)


def worked(e: RkhsProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(max(len(e.xs), len(e.zs)), MOST_POINTS, "mercer.RKHSFunction")
    sections = [_functions(e), _product(e), _reproducing(e), *_degree(e), *_second(e)]
    f = dot(e.alpha, [value(e.kernel, x, e.at) for x in e.xs])
    answer: dict[str, Any] = {
        "inner": e.inner(e.alpha, e.xs, e.beta, e.zs), "squared_norm": e.inner(e.alpha, e.xs, e.alpha, e.xs), "f": f
    }  # fmt: skip
    if e.second is not None:
        answer |= {"second": e.second[0], "points": e.second[1]}
    return Solution("Functions of a reproducing kernel Hilbert space", tuple(sections), answer, None, e)


def _sum(weights: Vector, letter: str, argument: Formula) -> Formula:
    return combination(weights, [Call(k, (argument, Symbol(letter, str(i + 1), True))) for i in range(len(weights))])


def _functions(e: RkhsProblem) -> Section:
    rows = [(Symbol("x", str(i + 1), True), p) for i, p in enumerate(e.xs)]
    rows += [(Symbol("z", str(i + 1), True), p) for i, p in enumerate(e.zs)]
    table = Table((say("letter"), say("point")), tuple((say("{}", a), say("{}", equals(a, point(p)))) for a, p in rows))
    shown = tuple(Call(name, (_DOT,)) for name in (_f, _g))
    sums = (_sum(e.alpha, "x", _DOT), _sum(e.beta, "z", _DOT))
    both = tuple(condition(left, "=", right) for left, right in zip(shown, sums, strict=True))
    words = "The kernel is {}. Each point gives a function of the space; f and g are sums of such:"
    return Section(
        "Two functions",
        (Step(say(words, kernel_formula(e.kernel)), both), Step(say("The points:"), (table,), scope="data")),
    )


def _product(e: RkhsProblem) -> Section:
    pair = Call(k, (Symbol("x", "i", True), Symbol("z", "j", True)))
    double = over(Product((Symbol("alpha", "i"), Symbol("beta", "j"), pair)), "ij")
    K = e.values(e.xs, e.zs)
    total = e.inner(e.alpha, e.xs, e.beta, e.zs)
    terms = [
        Product((Number(a), Number(c), Number(v)))
        for a, row in zip(e.alpha, K, strict=True)
        for c, v in zip(e.beta, row, strict=True)
        if a and c and v
    ]
    summed: Formula = combination([1] * len(terms), terms) if terms else Number(Fraction(0))
    entries = equals(letters.K, matrix(K))
    first = Step(say("The values {}:", pair), (entries,), scope="data")
    second = Step(
        say("The inner product is defined by the coefficients:"),
        (equals(Inner(_f, _g), double, summed, total),),
        scope="data",
    )
    square = e.inner(e.alpha, e.xs, e.alpha, e.xs)
    norm = chain(Norm(_f) ** 2, "=", Inner(_f, _f), "=", square, ">=", 0)
    return Section("Inner product and norm", (first, second, Step(say("The norm of f:"), (norm,), scope="data")))


def _reproducing(e: RkhsProblem) -> Section:
    x = letters.x
    values = [value(e.kernel, z, e.at) for z in e.xs]
    summed = [Number(a) * Number(v) for a, v in zip(e.alpha, values, strict=True) if a and v]
    total = dot(e.alpha, values)
    body: Formula = combination([1] * len(summed), summed) if summed else Number(Fraction(0))
    direct = equals(Call(_f, (x,)), body, total)
    product_ = equals(Inner(Call(k, (_DOT, x)), _f), Call(_f, (x,)), total)
    words = say("At {}, f has the value of its inner product with the function {} of that point:",
                equals(x, point(e.at)), Call(k, (_DOT, x)))  # fmt: skip
    return Section("The reproducing property", (Step(words, (direct, product_), scope="data"),))


def _degree(e: RkhsProblem) -> list[Section]:
    """f multiplied out, where the kernel is a polynomial."""
    if not is_polynomial(e.kernel):
        return []
    names = letters.coordinates(len(e.at))
    body, opened = expansion(e.kernel, e.xs, e.alpha, names, Fraction(0))
    p = degree(e.kernel)
    shown = equals(Call(_f, (point(names),)), body, opened)
    words = say("The kernel has the degree {}, so that f is a polynomial of degree {} at most:", p, p)
    return [Section("f multiplied out", (Step(words, (shown,), footnotes=(footnotes.DEGREE,), scope="letters"),))]


def _second(e: RkhsProblem) -> list[Section]:
    if e.second is None:
        return []
    weights, places = e.second
    rows = tuple(
        (say("{}", Symbol("x", str(i + 1), True)), say("{}", point(p)), say("{}", w))
        for i, (p, w) in enumerate(zip(places, weights, strict=True))
    )
    table = Table((say("letter"), say("{}", Symbol("x", "i", True)), say("{}", Symbol("alpha", "i"))), rows, "i")
    total = e.inner(weights, places, e.beta, e.zs)
    square = e.inner(weights, places, weights, places)
    shown = (equals(Inner(_f, _g), total), equals(Norm(_f) ** 2, square))
    first = Step(
        say("A sum of kernels that is 0 everywhere can be added. So f has these coefficients as well:"),
        (table,), scope="second", proof="same",
    )  # fmt: skip
    second = Step(
        say("With them inner product and norm are the same numbers: they belong to f, not to a way to write it."),
        shown, scope="second",
    )  # fmt: skip
    return [Section("Another way to write f", (first, second))]

"""Kernel PCA of few points by hand: the centred Gram matrix, its eigenvalues, the coordinates along each direction."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import Kernel, Linear
from .algebraic import from_sympy
from .exact import NotByHandError, refuse_many, require_few, sympy
from .formula import Formula, Number, Symbol, column, equals, matrix, point
from .letters import K, lam
from .sample import Sample, read_sample
from .sample_steps import gram_steps
from .steps import Section, Solution, Step, Table, say
from .world import World, exact

MOST_POINTS = 6
_H, _B, _v = Symbol("H", bold=True), Symbol("B", bold=True), Symbol("v", bold=True)
_I = Symbol("I", bold=True)


@dataclass(frozen=True)
class PcaProblem(Sample):
    """Points with a kernel."""

    @cached_property
    def centred(self) -> Any:
        """B = HKH with H = I - 1/n."""
        sp = sympy()
        H = sp.eye(self.n) - sp.ones(self.n) / self.n
        return sp.ImmutableMatrix(H * sp.Matrix([[exact(v) for v in row] for row in self.K]) * H)

    @cached_property
    def directions(self) -> list[tuple[Any, Any]]:
        """Eigenvalues above 0 and vectors of length 1, the largest first."""
        sp, x = sympy(), sympy().Symbol("x")
        found: list[tuple[Any, Any]] = []
        for factor, count in sp.factor_list(self.centred.charpoly(x).as_expr(), x)[1]:
            if sp.degree(factor, x) > 2 or (count > 1 and factor != x):
                raise NotByHandError(
                    "The eigenvalues of this matrix are not all different numbers with square roots at most: take "
                    "other points, or mercer.features.SpectralMap."
                )
            for root in sp.roots(factor, x):
                if root != 0:
                    vector = sp.Matrix(self.centred - root * sp.eye(self.n)).nullspace(simplify=True)[0]
                    length = sp.sqrt(sp.radsimp(sp.expand((vector.T * vector)[0, 0])))
                    found.append(
                        (sp.radsimp(root), vector.applyfunc(lambda e, size=length: sp.radsimp(sp.simplify(e / size))))
                    )
        return sorted(found, key=lambda pair: -pair[0].evalf(30))

    def solve(self) -> Solution:
        """See `pca`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """K, H, B; and in "direction k" its eigenvalue and vector."""
        sp = sympy()
        own = {_H: (sp.eye(self.n) - sp.ones(self.n) / self.n).as_immutable(), _I: sp.eye(self.n).as_immutable()}
        world = self.base.also({**own, _B: self.centred})
        kind, _, number = scope.partition(" ")
        if kind == "direction":
            value, vector = self.directions[int(number)]
            world = world.also({lam: value, _v: vector.as_immutable()})
        return world

    def prove_all(self, step: Step) -> bool:
        """The eigenvalues add up to the sum of the diagonal, and their squares to that of all entries."""
        sp = sympy()
        values = [value for value, _ in self.directions]
        trace = sp.simplify(sum(values) - self.centred.trace()) == 0
        squares = sp.simplify(sum(v**2 for v in values) - (self.centred * self.centred).trace()) == 0
        return bool(trace and squares)


def pca(X: Any, kernel: Kernel | str = Linear()) -> Solution:  # noqa: B008
    """Kernel PCA, exactly: the centred Gram matrix HKH, its eigenvalues and vectors, coordinates sqrt(lambda) v."""
    sympy()
    refuse_many(X, MOST_POINTS, "mercer.features.SpectralMap")
    return PcaProblem(**read_sample(X, kernel, "mercer.features.SpectralMap")).solve()


def worked(e: PcaProblem) -> Solution:
    """The solution, from the data alone."""
    require_few(e.n, MOST_POINTS, "mercer.features.SpectralMap")
    sections = [Section("The Gram matrix", tuple(gram_steps(e)[:1])), _centre(e), *_directions(e), _shares(e)]
    answer = {"eigenvalues": tuple(value for value, _ in e.directions)}
    return Solution(f"Kernel PCA of {e.n} points", tuple(sections), answer, None, e)


def _written(rows: Any) -> Formula:
    return matrix([[from_sympy(entry) for entry in row] for row in rows.tolist()])


def _centre(e: PcaProblem) -> Section:
    sp = sympy()
    H = sp.eye(e.n) - sp.ones(e.n) / e.n
    one = Number(Fraction(1)) / e.n
    ones = matrix([[1] * e.n for _ in range(e.n)])
    first = Step(say("The mean of the features is taken away from all of them. In the Gram matrix this is done by"),
                 (equals(_H, _I - one * ones, _written(H)),), scope="data")  # fmt: skip
    second = Step(
        say("from both sides:"),
        (equals(_B, _H * K * _H, _written(e.centred)),),
        say("its rows add up to 0"),
        scope="data",
    )
    return Section("Centred", (first, second))


def _directions(e: PcaProblem) -> list[Section]:
    sections = []
    for number, (value, vector) in enumerate(e.directions):
        size = sympy().sqrt(value)
        scores = [sympy().radsimp(sympy().simplify(size * entry)) for entry in vector]
        shown = (
            equals(lam, from_sympy(value)),
            equals(_v, column([from_sympy(entry) for entry in vector])),
            equals(_B * _v, lam * _v),
        )
        try:
            written = point([from_sympy(score) for score in scores])
        except TypeError:
            raise NotByHandError("The coordinates cannot be written with simple roots: take other points.") from None
        steps = (
            Step(say("A direction of the features, by its eigenvalue and vector:"), shown, scope=f"direction {number}"),
            Step(say("The coordinates of the points along it, the root of {} times {}:", lam, _v), (written,)),
        )
        sections.append(Section(f"Direction {number + 1}", steps))
    return sections


def _shares(e: PcaProblem) -> Section:
    total = sympy().simplify(sum(value for value, _ in e.directions))
    rows = []
    for number, (value, _) in enumerate(e.directions, 1):
        share = sympy().radsimp(sympy().simplify(value / total))
        rows.append((say("{}", number), say("{}", from_sympy(value)), say("{}", from_sympy(share))))
    table = Table((say("direction"), say("{}", lam), say("share of the variance")), tuple(rows))
    return Section(
        "How much each direction holds", (Step(say("The eigenvalues, and their shares:"), (table,), proof="all"),)
    )

"""Points with a kernel: what support vector machines, perceptrons and ridge regression have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..kernels import FromFeatures, Kernel, Linear, Precomputed
from . import letters
from .algebra import indefinite_witness, principal_minors, quadratic
from .clock import within
from .exact import NotByHandError, Rows, Vector, dot, fraction, points, require_few, sympy
from .features import Monomial, monomials
from .formula import Call, Formula, Symbol, point
from .gram import (
    MOST_WITH_EXP,
    given_matrix,
    has_exp,
    is_linear,
    is_polynomial,
    read_kernel,
    require_histograms,
    value,
)
from .letters import K, coordinates, k, x_
from .problem import Problem
from .steps import Solution, Step
from .world import Feature, World, exact, vector

SECONDS_WITH_EXP = 10.0
MOST_FEATURES = 10
"""So many features are written out, one by one."""


@dataclass(frozen=True)
class Sample(Problem):
    """Points, or only their Gram matrix; a kernel, or features of the points; and new points.

    A new point is given as the others are: by its coordinates, or by its kernel values with all points.
    """

    points: Rows | None
    gram: Rows | None
    kernel: Kernel
    features: Rows | None
    new: Rows
    new_features: Rows

    def within_limits(self, work: Callable[[], Solution]) -> Solution:
        """The solution; with exp in its numbers only as long as a reader would wait."""
        return within(SECONDS_WITH_EXP, "This exercise with exp", work) if has_exp(self.kernel) else work()

    @property
    def n(self) -> int:
        """The number of points."""
        rows = self.gram if self.points is None else self.points
        assert rows is not None
        return len(rows)

    @property
    def linear(self) -> bool:
        """Whether w is a vector of coordinates."""
        return is_linear(self.kernel) and self.points is not None

    @property
    def vectors(self) -> Rows:
        """The points, or their features, whose inner products the kernel is: where w has coordinates."""
        rows = self.points if self.features is None else self.features
        assert rows is not None
        return rows

    @cached_property
    def K(self) -> Rows:  # noqa: N802
        """The Gram matrix."""
        if self.gram is not None:
            return self.gram
        return tuple(tuple(value(self.kernel, x, z) for z in self.vectors) for x in self.vectors)

    @cached_property
    def monomials(self) -> list[Monomial] | None:
        """The features of a polynomial kernel, where they are few."""
        if self.points is None or self.features is not None or not is_polynomial(self.kernel):
            return None
        try:
            found = monomials(self.kernel, len(self.points[0]))
        except NotByHandError:
            return None
        return found if len(found) <= MOST_FEATURES else None

    def new_values(self, number: int) -> Vector:
        """k(x_i, x) of all points, with new point x."""
        if self.gram is not None:
            return self.new[number]
        x = (self.new if self.features is None else self.new_features)[number]
        return tuple(value(self.kernel, z, x) for z in self.vectors)

    def weights(self, beta: Vector) -> Vector:
        """sum_i beta_i x_i, or of their features."""
        return tuple(dot(beta, coordinate) for coordinate in zip(*self.vectors, strict=True))

    def squared_norm(self, beta: Vector) -> Fraction:
        """|sum_i beta_i phi(x_i)|^2."""
        return quadratic(self.K, beta)

    # As formulas.

    def x(self, i: int) -> Formula:
        """The point i with its numbers (or features), or its letter where only the Gram matrix is known."""
        return x_(i) if self.points is None else point(self.vectors[i])

    def mapped(self, letter: Formula) -> Formula:
        """x for the linear kernel, phi(x) for the others."""
        return letter if self.linear and self.features is None else Call("φ", (letter,))

    @property
    def names(self) -> list[Symbol]:
        """The coordinates that f is a function of."""
        return coordinates(len(self.vectors[0]), "x" if self.features is None else "phi")

    def columns(self) -> list[tuple[Formula, Sequence[Any]]]:
        """The columns of the points in a table."""
        shown: list[tuple[Formula, Sequence[Any]]] = []
        if self.points is not None:
            shown.append((x_("i"), [point(x) for x in self.points]))
        if self.features is not None:
            shown.append((Call("φ", (x_("i"),)), [point(x) for x in self.features]))
        return shown

    # What the letters stand for.

    @cached_property
    def base(self) -> World:
        """The points, the kernel, the Gram matrix; x is any point."""
        sp = sympy()
        if self.points is None:
            own = tuple(sp.Symbol(f"point {i + 1}") for i in range(self.n))
            any_: Any = sp.Symbol("any point")
            other: Any = sp.Symbol("another point")
        else:
            own = tuple(_as_value(x) for x in self.points)
            any_, other = (
                _as_value([sp.Symbol(name.key, real=True) for name in coordinates(len(self.points[0]), letter)])
                for letter in "xz"
            )
        kernel, phi = self._kernel(own), self._phi(own)
        coordinates_ = (
            {} if self.points is None else {Symbol(c): _entries(p) for c, p in zip("xz", (any_, other), strict=True)}
        )
        K_ = [[exact(v) for v in row] for row in self.K]
        return World(
            {letters.x: any_, letters.z: other, K: sp.ImmutableMatrix(K_), k: kernel},
            {Symbol("x", bold=True): own, Symbol("K"): K_} | coordinates_,
            {"φ": phi, "rank": self._rank},
        )

    def _phi(self, own: Sequence[Any]) -> Callable[[Any], Any]:
        """phi(x): x itself, its features, or what only inner products know."""
        if self.features is not None:
            known = dict(zip(own, map(vector, self.features), strict=True))
            known |= {_as_value(x): vector(z) for x, z in zip(self.new, self.new_features, strict=True)}
            unknown = vector([sympy().Symbol(name.key, real=True) for name in self.names])
            return lambda x: known.get(x, unknown)
        if self.linear:
            return lambda x: x
        kernel = self._kernel(own)
        return lambda x: Feature(kernel, ((sympy().Integer(1), x),))

    def _kernel(self, own: Sequence[Any]) -> Callable[[Any, Any], Any]:
        sp = sympy()
        if self.features is not None:
            phi = self._phi(own)
            return lambda u, v: (phi(u).T * phi(v))[0, 0]
        if self.points is not None:
            return lambda u, v: _kernel_value(self.kernel, u, v)
        place = {p: i for i, p in enumerate(own)}
        fresh = {sp.Symbol(f"new point {r + 1}"): r for r in range(len(self.new))}

        def looked_up(u: Any, v: Any) -> Any:
            if u in place and v in place:
                return exact(self.K[place[u]][place[v]])
            known, other = (u, v) if u in place else (v, u)
            if known in place and other in fresh:
                return exact(self.new[fresh[other]][place[known]])
            return sp.Symbol(f"k({u}, {v})", real=True)

        return looked_up

    def function(self, world: World, beta: Sequence[Any], b: Any) -> World:
        """The same letters, with f = sum_i beta_i k(x_i, .) + b and its w."""
        own, kernel, phi = world.families[Symbol("x", bold=True)], world.letters[k], world.functions["φ"]

        def f(x: Any) -> Any:
            return sum((c * kernel(z, x) for c, z in zip(beta, own, strict=True)), b)

        w = beta[0] * phi(own[0])
        for c, z in zip(beta[1:], own[1:], strict=True):
            w = w + c * phi(z)
        return world.also({letters.f: f, letters.w: w})

    def at_new(self, world: World, number: int) -> World:
        """The same letters, where x is a new point."""
        new: Any = sympy().Symbol(f"new point {number + 1}") if self.points is None else _as_value(self.new[number])
        return world.also({letters.x: new})

    def prove_definite(self, step: Step) -> bool:
        """The word about K, by `definiteness`."""
        words = "".join(part for part in step.statement.parts if isinstance(part, str))
        semidefinite, definite = self.definiteness()
        return semidefinite and ("positive definite" in words) == definite

    def definiteness(self) -> tuple[bool, bool]:
        """Whether K is positive semidefinite, and definite: by SymPy, or by minors, whose signs with exp are sure."""
        if has_exp(self.kernel):
            found = [minor for minors in principal_minors(self.K).values() for minor in minors]
            return min(found) >= 0, min(found) > 0
        matrix_ = sympy().Matrix([[exact(v) for v in row] for row in self.K])
        return bool(matrix_.is_positive_semidefinite), bool(matrix_.is_positive_definite)

    def _rank(self, A: Any) -> Any:
        """The rank of K, or of the same matrix with signs; of one with exp, the size of its largest minor but 0."""
        if not has_exp(self.kernel):
            return sympy().Integer(sympy().Matrix([A]).rank())
        return sympy().Integer(max(size for size, minors in principal_minors(self.K).items() if any(minors)))


def _as_value(x: Sequence[Any]) -> Any:
    """A point of the line is its number."""
    return vector(x) if len(x) > 1 else vector(x)[0, 0]


def _kernel_value(kernel: Kernel, u: Any, v: Any) -> Any:
    return sympy().sympify(value(kernel, _entries(u), _entries(v)))


def _entries(x: Any) -> tuple[Any, ...]:
    return tuple(x) if hasattr(x, "shape") else (x,)


# Reading what was given.


def read_sample(
    X: Any, kernel: Kernel | str, instead: str, new: Any = None, definite: bool = True, gaussian: bool = False
) -> dict[str, Any]:
    """The fields of a Sample, from what the user gave; unless told otherwise K must be positive semidefinite."""
    chosen = read_kernel(kernel, instead, gaussian)
    features: Rows | None = None
    new_features: Rows = ()
    if isinstance(chosen, FromFeatures):
        features = _whole_features(chosen, X)
        new_features = _whole_features(chosen, _listed_points(new)) if new is not None else ()
        chosen = Linear()
    rows: Rows | None = points(X)
    given: Rows | None = None
    assert rows is not None
    if has_exp(chosen):
        require_few(len(rows), MOST_WITH_EXP, instead)
    if isinstance(chosen, Precomputed):
        given, rows, chosen = given_matrix(chosen, rows), None, Precomputed()
    else:
        require_histograms(chosen, rows)
    width = len(rows[0]) if rows is not None else len(given or ())
    fresh = _new_points(new, width, given is not None)
    require_histograms(chosen, fresh)
    fields: dict[str, Any] = {"points": rows, "gram": given, "kernel": chosen, "features": features}
    fields |= {"new": fresh, "new_features": new_features}
    if definite:
        _require_semidefinite(Sample(**fields).K)
    return fields


def _whole_features(kernel: FromFeatures, X: Any) -> Rows:
    import numpy as np

    found = kernel.features(np.array([[float(v) for v in x] for x in points(X)]))
    dense = found.toarray() if hasattr(found, "toarray") else found
    exact_ = tuple(tuple(fraction(v, "a feature") for v in row) for row in dense)
    if any(entry.denominator > 10_000 for row in exact_ for entry in row):
        raise NotByHandError(f"{kernel!r} has features that are no simple fractions, so there is no exact solution.")
    return exact_


def _listed_points(new: Any) -> Any:
    """One new point, or several, as a list of points."""
    entries = list(new) if hasattr(new, "__iter__") and not isinstance(new, str) else [new]
    nested = entries and hasattr(entries[0], "__iter__") and not isinstance(entries[0], str)
    return entries if nested else [entries]


def _new_points(new: Any, width: int, values: bool) -> Rows:
    if new is None:
        return ()
    fresh: Rows = points(_listed_points(new), "new")
    if len(fresh[0]) != width:
        wanted = "kernel values with the points" if values else "coordinates, as the points have"
        raise ValueError(f"A new point needs {width} {wanted}, not {len(fresh[0])}.")
    return fresh


def require_linear(e: Sample) -> None:
    """Raise where a method that works on coordinates was given another kernel."""
    if not e.linear or e.features is not None or e.new:
        raise ValueError(f"This is worked out in the coordinates of the points, not with {e.kernel!r}.")


def _require_semidefinite(K_: Rows) -> None:
    witness = indefinite_witness(K_)
    if witness is not None:
        raise NotByHandError(
            f"This Gram matrix is not positive semidefinite: c'Kc = {quadratic(K_, witness)} < 0 for "
            f"c = ({', '.join(map(str, witness))}). It belongs to no kernel, and stationary points need not be optimal."
        )

"""Feature maps side by side: different spaces, one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import letters
from .algebraic import as_symbol, from_sympy
from .exact import sympy
from .expression import expression
from .formula import Call, Formula, Inner, Symbol, combination, equals, point
from .letters import k
from .problem import Problem
from .steps import Section, Solution, Step, say
from .world import World

MOST_MAPS, MOST_FEATURES = 6, 12


@dataclass(frozen=True)
class MapsProblem(Problem):
    """Several maps, each a list of expressions in the same variables."""

    maps: tuple[tuple[Any, ...], ...]

    @cached_property
    def variables(self) -> tuple[Any, ...]:
        """The coordinates of a point."""
        found = {s for features in self.maps for body in features for s in body.free_symbols}
        return tuple(sorted(found, key=lambda s: s.name))

    @cached_property
    def others(self) -> tuple[Any, ...]:
        """The coordinates of the second point: the same with the letter z."""
        return tuple(sympy().Symbol(Symbol("z", as_symbol(v).index).key, real=True) for v in self.variables)

    def at_second(self, body: Any) -> Any:
        """A feature of the second point."""
        return body.xreplace(dict(zip(self.variables, self.others, strict=True)))

    @cached_property
    def kernels(self) -> tuple[Any, ...]:
        """The inner product of each map."""
        return tuple(sympy().expand(sum(body * self.at_second(body) for body in features)) for features in self.maps)

    def solve(self) -> Solution:
        """See `maps`."""
        return worked(self)

    def world(self, scope: str) -> World:
        """phi is the map of this number."""
        sp = sympy()
        _, _, number = scope.partition(" ")
        features = self.maps[int(number or 1) - 1]

        def phi(v: Any) -> Any:
            entries = tuple(v) if hasattr(v, "shape") else (v,)
            found = [body.xreplace(dict(zip(self.variables, entries, strict=True))) for body in features]
            return sp.ImmutableMatrix(found) if len(found) > 1 else found[0]

        place = [sp.ImmutableMatrix(p) if len(p) > 1 else p[0] for p in (self.variables, self.others)]
        kernel = self.kernels[0]
        return World({letters.x: place[0], letters.z: place[1], k: lambda *_: kernel}, functions={"φ": phi})


def maps(*given: Any) -> Solution:
    """Feature maps side by side: maps("sqrt(2)*x", ["x", "-x"], ["x", 0, "x"]) have one kernel, 2 x z."""
    sympy()
    if not 1 <= len(given) <= MOST_MAPS:
        raise ValueError(f"1 to {MOST_MAPS} maps are compared, not {len(given)}.")
    read = []
    for features in given:
        many = hasattr(features, "__iter__") and not isinstance(features, str)
        listed = list(features) if many else [features]
        if not 1 <= len(listed) <= MOST_FEATURES:
            raise ValueError(f"A map has 1 to {MOST_FEATURES} features, not {len(listed)}.")
        read.append(tuple(expression(body, "a feature") for body in listed))
    problem = MapsProblem(tuple(read))
    if not problem.variables:
        raise ValueError("The features have no variable.")
    return problem.solve()


def worked(e: MapsProblem) -> Solution:
    """The solution, from the data alone."""
    sections = [_map(e, number) for number in range(len(e.maps))]
    same = tuple(sympy().expand(kernel - e.kernels[0]) == 0 for kernel in e.kernels)
    words = "All these maps have the same kernel. The space and the map are not unique: only inner products matter."
    if not all(same):
        differ = ", ".join(str(i + 1) for i, found in enumerate(same) if not found)
        words = f"Not all of these maps have the same kernel: number {differ} differs from the first."
    sections.append(Section("Compared", (Step(say(words)),)))
    answer = {"same": all(same), "kernels": e.kernels}
    return Solution(f"{len(e.maps)} feature maps side by side", tuple(sections), answer, None, e)


def _map(e: MapsProblem, number: int) -> Section:
    features = e.maps[number]
    x, z = letters.x, letters.z
    phi_x = [from_sympy(body) for body in features]
    phi_z = [from_sympy(e.at_second(body)) for body in features]
    shown: list[Formula] = [equals(Call("φ", (x,)), point(phi_x))]
    products = combination([1] * len(features), [a * b for a, b in zip(phi_x, phi_z, strict=True)])
    shown.append(equals(Inner(Call("φ", (x,)), Call("φ", (z,))), products, from_sympy(e.kernels[number])))
    d = len(features)
    words = f"A map into the space of dimension {d}, and its inner product:"
    return Section(f"Map {number + 1}", (Step(say(words), tuple(shown), scope=f"map {number + 1}"),))

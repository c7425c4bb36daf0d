"""The data of an exercise: all that a worked solution is derived from, and checked against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .world import World

if TYPE_CHECKING:
    from .steps import Solution, Step


PROBLEMS: dict[str, type[Problem]] = {}
"""All kinds of exercises by name, as files name them."""


class Problem:
    """The data alone: points, labels, kernel, C, lambda, objective. Each kind is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        PROBLEMS[cls.__name__] = cls

    def solve(self) -> Solution:
        """The worked solution, derived from the data."""
        raise NotImplementedError

    def world(self, scope: str) -> World:
        """What the letters stand for in a step (or in a row of a table) of this scope, found from the data."""
        return World()

    def prove(self, step: Step) -> bool:
        """Whether what the step says, beyond relations between numbers, is true: by the proof that it names."""
        return bool(getattr(self, f"prove_{step.proof}")(step))

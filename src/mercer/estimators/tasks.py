"""Training: what a machine is trained on, points and one or several problems on them."""

from __future__ import annotations

from dataclasses import dataclass

from ..kernels import Kernel
from ..problem import Task
from ..types import Index, Points


@dataclass(frozen=True, eq=False)
class Training:
    """What is trained on: points of positive weight, sorted by class where there are more than two, and problems."""

    kernel: Kernel
    points: Points
    rows: Index
    """Where each point stands in the user's X."""
    n: int
    """The rows of the user's X."""
    group: Index
    """The class of each point, as a number; zeros where there are no classes."""
    tasks: tuple[Task, ...]

    @property
    def problems(self) -> int:
        """How many there are."""
        return len(self.tasks)

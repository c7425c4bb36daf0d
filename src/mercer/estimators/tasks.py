"""What a machine is trained on: points, and one or several problems on them."""

from __future__ import annotations

from dataclasses import dataclass

from ..gram import Gram
from ..kernels import Kernel
from ..losses import Loss
from ..problem import Problem
from ..types import Array, Index, Points


@dataclass(frozen=True, eq=False)
class Task:
    """A problem on some of the points of a shared Gram matrix; on all of them where rows is None."""

    y: Array
    loss: Loss
    C: Array
    bias: bool = True
    mass: float = 0.0
    rows: Index | None = None
    name: str = ""

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.y)

    def problem(self, gram: Gram) -> Problem:
        """The problem itself."""
        own = gram if self.rows is None else gram.subset(self.rows)
        return Problem(own, self.y, self.loss, self.C, self.bias, self.mass)


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

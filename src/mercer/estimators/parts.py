"""Machines trained on parts of one Gram matrix: what a cross-validation needs."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ..gram import DenseGram
from ..kernels.points import take, width
from ..progress import Watch
from ..solution import Solution
from ..types import Array, Index
from .base import Machine, Training
from .machines import fit_machines


class Part:
    """Some rows of a Gram matrix, with their targets, copied out of it once for any number of fits.

    Each fit starts where the one before it ended: along growing C that is near the answer.
    """

    def __init__(self, gram: DenseGram, y: Array, rows: Index) -> None:
        self.whole, self.y, self.rows = gram, y, rows
        self.gram: Any = None
        self.order: Any = None
        self.before: list[Solution] = []

    def fit(self, machine: Machine) -> Machine:
        """Fit the machine, whose kernel must be that of the matrix."""
        machine._check()
        order, group, tasks = machine._plan(self.y[self.rows], np.ones(self.rows.size))
        rows = self.rows if order is None else self.rows[order]
        if self.gram is None:
            self.gram, self.order = self.whole.narrow(rows), rows
        elif not np.array_equal(rows, self.order):
            raise ValueError("The machines that are fitted on one part must have the same classes.")
        deadline = None if machine.time_limit is None else perf_counter() + machine.time_limit
        self.before = fit_machines(
            self.gram, tasks, machine._solver(), tol=machine.tol, max_iter=machine.max_iter, deadline=deadline,
            watch=Watch(), starts=[solution.beta for solution in self.before] or None,
        )  # fmt: skip
        points = take(self.whole.points, rows)
        machine.n_features_in_ = width(points)
        machine._keep(
            Training(self.whole.kernel, points, rows, self.whole.n, group, tuple(tasks)), self.before, self.gram
        )
        return machine

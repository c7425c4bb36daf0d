"""Machines trained and tested on parts of one Gram matrix: what a cross-validation needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gram import DenseGram
from ..gram.base import as_index
from ..kernels import Precomputed
from ..limits import Deadline
from ..progress import Watch
from ..solution import Solution
from ..types import Array, Index
from .base import Machine
from .keeping import keeping
from .machines import fit_machines
from .tasks import Training


class Part:
    """The rows of a Gram matrix that one fold trains on and tests on, for any number of machines with its kernel.

    The values that the fold trains on are copied out of the matrix once. Each fit starts where the one before it ended:
    along growing C that is near the answer.
    """

    def __init__(self, gram: DenseGram, y: Array, train: Index, test: Index) -> None:
        self.whole, self.y, self.train, self.test = gram, y, train, test
        self.gram: DenseGram | None = None
        self.order: Any = None
        self.before: list[Solution] = []

    def fit(self, machine: Machine) -> Machine:
        """Fit the machine; it then has the kernel Precomputed(), for `tested`."""
        machine._check()
        order, group, tasks = machine._plan(self.y[self.train], np.ones(self.train.size))
        order = np.arange(self.train.size) if order is None else order
        if self.gram is None or not np.array_equal(order, self.order):
            rows = self.train[order]
            self.gram, self.order, self.before = _Values.of_matrix(self.whole.entries(rows, rows)), order, []
        deadline = Deadline.after(machine.time_limit)
        with keeping(machine):
            self.before = fit_machines(
                self.gram, tasks, machine._solver(), tol=machine.tol, max_iter=machine.max_iter, deadline=deadline,
                watch=Watch(), starts=[solution.beta for solution in self.before] or None,
            )  # fmt: skip
            machine.n_features_in_ = n = self.train.size
            training = Training(Precomputed(), self.gram.matrix, order, n, group, tuple(tasks))
            machine._keep(training, self.before, self.gram)
        return machine

    def tested(self) -> Array:
        """The rows to test on, as machines that were fitted here take them: their kernel values."""
        return self.whole.entries(self.test, self.train)


class _Values(DenseGram):
    """Values that are not computed again: a certificate is then as good as they are, which is enough to compare."""

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        return self @ v if rows is None else np.asarray(self.matrix[as_index(rows, self.n)] @ v)

    def subset(self, index: Any) -> Any:
        return _Values.of_matrix(self.block(index))

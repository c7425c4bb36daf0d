"""The perceptron (Rosenblatt 1958) in the space of the points: on a mistake, w += eta y_i x_i."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..columns import pieces
from ..gram.design import arrays_of
from ..kernels.points import is_sparse, squared_norms
from ..types import Array, Index
from .passes import Learner, Update

core = CHOICE.functions
_ENTRIES = 4_000_000  # of X that a piece of work reads, at most


class Primal(Learner):
    """w of each machine as the rows of W; b counts as the weight of one more coordinate, 1, where there is a bias."""

    def __init__(
        self, X: Any, Y: Array, W: Array, b: Array, eta: float, bias: bool, weight: Array, trace: bool
    ) -> None:
        self.X, self.Y, self.W, self.b, self.eta, self.bias = X, Y, W, b, float(eta), float(bias)
        self.earlier = weight
        self.alpha, self.made = np.zeros(Y.shape, np.int64), np.zeros(len(Y), np.int64)
        self.trace: list[Update] | None = [] if trace else None
        self.arrays = arrays_of(X)

    def pieces(self, order: Index, active: Array, epoch: int) -> Iterator[None]:
        entries = self.X.nnz if is_sparse(self.X) else self.X.size
        step = max(1, _ENTRIES // max(1, len(self.Y) * entries // len(order)))
        for part in pieces(len(order), step):
            rows = order[part]
            made, scores = np.zeros((len(self.Y), len(rows)), np.bool_), np.zeros((len(self.Y), len(rows)))
            core.learn(self.arrays, rows, self.Y, self.W, self.b, self.eta, self.bias, active, made, scores)
            self.note(epoch, rows, made, scores)
            yield

    def scores(self) -> Array:
        return np.asarray((self.X @ self.W.T).T + self.b[:, None], np.float64)

    def norms(self) -> tuple[Array, Array]:
        norms = np.sqrt((self.W**2).sum(axis=1) + self.bias * self.b**2) / self.eta
        return norms, self.earlier + (self.alpha * np.abs(self.Y)).sum(axis=1)

    def support(self, machine: int) -> int:
        return int(np.count_nonzero(self.alpha[machine]))

    def state(self, machine: int) -> Any:
        return self.W[machine].copy(), float(self.b[machine])

    def distance(self, machine: int, state: Any) -> float:
        w, b = state
        return float(np.hypot(np.linalg.norm(self.W[machine] - w), self.bias * (self.b[machine] - b))) / self.eta

    @cached_property
    def size(self) -> float:
        return float(np.sqrt(squared_norms(self.X).max() + self.bias))

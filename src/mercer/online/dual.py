"""The perceptron with a kernel (Aizerman, Braverman, Rozonoer 1964): on a mistake at x_i, alpha_i += 1 and f += y_i
k(x_i, .).

f(x_j) is held for all points of X. Points are taken in blocks: within one, each mistake changes the scores of the block
at once; what the mistakes of a block do to the other points is computed together, on all cores, when the block is done.
So a pass takes n kernel values for each mistake, and n for each point of a block; blocks without mistakes take none.

With a budget, a mistake on a point that is not held yet, when as many are held as may be, first makes room: the point
is forgotten whose removal changes f least, |beta_i| |phi(x_i)|; of equals, the one that has been held longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..columns import pieces
from ..types import Array, Index
from .kernel_values import RowsOfValues
from .passes import Learner, Update

_UNLIMITED = 2**62


@dataclass(frozen=True, eq=False)
class Held:
    """Points that are held, by machine and point: what a mistake adds (the label times the weight of the point) and
    how often it did, f = sum_i weights_i signs_i k(x_i, .).

    seen: T, the points seen so far. stamps: for each mistake on a point, how many had been seen before, added up, so
    that the mean of all T functions f has the weights `weights - stamps / T`. since: when the point was first held.
    """

    signs: Array
    weights: Array
    stamps: Array
    since: Index
    seen: int

    @property
    def beta(self) -> Array:
        """The coefficients of f."""
        return np.asarray(self.weights * self.signs)

    @property
    def averaged_weights(self) -> Array:
        """The weights of the mean of all f so far."""
        return np.asarray(self.weights - self.stamps / max(1, self.seen))


class Dual(Learner):
    """Machines that learn from X, and from what was `held` before: their points come first in `rows`.

    sequence: the machine, the point and the time of each mistake, in arrays one after the other, where it is wanted.
    """

    def __init__(
        self,
        rows: RowsOfValues,
        Y: Array,
        held: Held | None = None,
        *,
        bias: bool = False,
        budget: int | None = None,
        sequence: bool = False,
        trace: bool = False,
    ) -> None:
        self.rows, self.Y, self.bias = rows, Y, float(bias)
        self.budget = _UNLIMITED if budget is None else budget
        machines = len(Y)
        empty = np.zeros((machines, 0))
        held = Held(empty, empty, empty, np.zeros(0, np.int64), 0) if held is None else held
        self.before = held.since.size
        zeros = np.zeros(Y.shape)
        self.signs = np.concatenate([held.signs, Y], axis=1)
        self.weights = np.concatenate([held.weights, zeros], axis=1)
        self.stamps = np.concatenate([held.stamps, zeros], axis=1)
        self.since = np.concatenate([held.since, np.zeros(Y.shape[1], np.int64)])
        self.seen, self.forgotten, self.added = held.seen, 0, 0
        self.count = int(self.weights.any(axis=0).sum())
        self.sizes = np.sqrt(np.maximum(rows.squares() + self.bias, 0.0))
        self.alpha, self.made = np.zeros(Y.shape, np.int64), np.zeros(machines, np.int64)
        self.trace: list[Update] | None = [] if trace else None
        self.sequence: list[tuple[Array, Array, Array]] | None = [] if sequence else None
        self.F = zeros
        if self.before:
            self._add(np.arange(self.before), held.beta)

    def pieces(self, order: Index, active: Array, epoch: int) -> Iterator[None]:
        for part in pieces(len(order), self.rows.block):
            block = order[part]
            if ((self.Y[:, block] * self.F[:, block] <= 0.0) & active[:, None]).any():
                self._learn(block, active, epoch)
            self.seen += len(block)
            yield

    def _learn(self, block: Index, active: Array, epoch: int) -> None:
        places = self.before + block
        K, F, Y = self.rows.square(block), self.F.take(block, axis=1), self.Y.take(block, axis=1)
        made, scores = np.zeros(F.shape, np.bool_), np.zeros(F.shape)
        new = np.asarray(~self.weights[:, places].any(axis=0))
        changes: list[tuple[Index, Array]] = []
        start = 0
        while start < len(block):
            room = self.budget - self.count
            stop, left = CHOICE.functions.learn_block(K, self.bias, F, Y, active, new, made, scores, start, room)
            self.count += room - left
            wrong = start + np.flatnonzero(made[:, start:stop].any(axis=0))
            changes.append(self._take(places[wrong], made[:, wrong], self.seen + wrong))
            if stop < len(block):  # one mistake more, once there is room for it
                point, late = self._least(), np.array([stop])
                changes += [self._forget(point), self._take(places[late], made[:, late], self.seen + late)]
                (_, lost), (_, gained) = changes[-2:]
                F += lost * self.rows.row(int(point[0])) + gained * K[stop] + self.bias * (lost + gained)
                new[places == point], new[stop] = True, False
                self.count += 1
                wrong = np.append(wrong, stop)
            self.note(epoch, block[wrong], made[:, wrong], scores[:, wrong])
            start = stop + 1
        self._add(np.concatenate([index for index, _ in changes]), np.concatenate([v for _, v in changes], axis=1))

    def _take(self, points: Index, made: Array, times: Index) -> tuple[Index, Array]:
        """Hold these points, for mistakes at these times; the change of the coefficients is given back."""
        first = ~self.weights[:, points].any(axis=0)
        self.since[points[first]] = times[first]
        self.weights[:, points] += made
        self.stamps[:, points] += made * times
        if self.sequence is not None:
            at, machine = np.nonzero(made.T)
            self.sequence.append((machine, points[at], times[at]))
        return points, made * self.signs[:, points]

    def _least(self) -> Index:
        """The point whose removal changes f least, as an array of one."""
        points = np.flatnonzero(self.weights.any(axis=0))
        beta = self.weights[:, points] * self.signs[:, points]
        change = np.sqrt((beta**2).sum(axis=0)) * self.sizes[points]
        return points[[np.lexsort((self.since[points], change))[0]]]

    def _forget(self, point: Index) -> tuple[Index, Array]:
        """Hold a point no more; the change of the coefficients is given back."""
        change = -self.weights[:, point] * self.signs[:, point]
        self.weights[:, point], self.stamps[:, point] = 0.0, 0.0
        self.count -= 1
        self.forgotten += 1
        return point, change

    def end_seconds(self, taken: float) -> float:
        """See Learner: a row of values for each point that is held, as each that was added has taken one."""
        return taken * self.count / max(1, self.added)

    def _add(self, points: Index, v: Array) -> None:
        """f += sum v_i k(x_i, .), at all points."""
        self.added += points.size
        self.rows.add(self.F, points, v)
        self.F += self.bias * v.sum(axis=1)[:, None]

    def remaining(self) -> tuple[Index, Held]:
        """Which points are held now (those from before first, then rows of X), and all that is known of them."""
        kept = np.flatnonzero(self.weights.any(axis=0))
        by_point = (self.signs[:, kept], self.weights[:, kept], self.stamps[:, kept], self.since[kept])
        return kept, Held(*by_point, self.seen)

    def scores(self) -> Array:
        return self.F

    def norms(self) -> tuple[Array, Array]:
        """See Learner; known where nothing was held before."""
        weights = self.weights[:, self.before :]
        norms = np.sqrt(np.maximum((weights * self.Y * self.F).sum(axis=1), 0.0))
        return norms, (weights * np.abs(self.Y)).sum(axis=1)

    def support(self, machine: int) -> int:
        return int(np.count_nonzero(self.weights[machine]))

    def state(self, machine: int) -> Any:
        return self.F[machine].copy(), self.alpha[machine].copy()

    def distance(self, machine: int, state: Any) -> float:
        """See Learner; not known where points were forgotten."""
        F, alpha = state
        if self.forgotten:
            return np.inf
        change = (self.alpha[machine] - alpha) * self.Y[machine]
        return float(np.sqrt(max(float(change @ (self.F[machine] - F)), 0.0)))

    @property
    def size(self) -> float:
        return float(self.sizes.max())

"""Which support vectors carry a prediction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..amounts import AT_A_TIME
from ..columns import pieces
from ..kernels.points import Domain, count
from ..shown import table
from ..types import Array, Points

_SHOWN_POINTS = 10  # In a notebook.


class Contributions(NamedTuple):
    """For each point a row: the support vectors that carry its prediction, the largest first.

    Attributes
    ----------
    indices : ndarray of shape (n_points, top)
        The support vectors, by their row in the training set.
    values : ndarray of shape (n_points, top)
        What each adds to f.
    """

    indices: Array
    values: Array

    def __repr__(self) -> str:
        points, top = self.indices.shape
        return f"<Contributions: the {top} support vectors that carry each of {points} predictions most>"

    def _repr_html_(self) -> str:
        """The first points, a row each: x_7 +0.5, ..."""
        points, top = self.indices.shape
        rows = [
            (str(point), *(f"x_{row} {value:+.4g}" for row, value in zip(*carried, strict=True)))
            for point, carried in enumerate(zip(self.indices[:_SHOWN_POINTS], self.values[:_SHOWN_POINTS], strict=True))
        ]
        more = f", the first {_SHOWN_POINTS} of {points}" if points > _SHOWN_POINTS else ""
        return table(f"Contributions{more}", ("point", *("" for _ in range(top))), rows)


def contributions(machine: Any, X: Points, top: int) -> Contributions:
    """See SVC.contributions."""
    if not isinstance(top, int | np.integer) or top < 1:
        raise ValueError(f"top must be a whole number, 1 or more, not {top!r}.")
    X = machine._admit(X)
    support = machine.support_
    width = min(int(top), support.size)
    indices, values = np.empty((count(X), width), np.intp), np.empty((count(X), width))
    step = max(1, AT_A_TIME.values // max(1, support.size))
    for rows in pieces(count(X) if width else 0, step):
        part = X[rows]
        added = _block(machine, part) * _coefficients(machine, part)
        largest = np.argpartition(-np.abs(added), width - 1, axis=1)[:, :width]
        sizes = np.abs(np.take_along_axis(added, largest, axis=1))
        largest = np.take_along_axis(largest, np.argsort(-sizes, axis=1, kind="stable"), axis=1)
        indices[rows] = support[largest]
        values[rows] = np.take_along_axis(added, largest, axis=1)
    return Contributions(indices, values)


def _block(machine: Any, X: Points) -> Array:
    """k(x, x_i) for all support vectors x_i."""
    if machine.kernel_.domain is Domain.VALUES:
        return np.asarray(X[:, machine.support_])
    return np.asarray(machine.kernel_(X, machine.support_vectors_))


def _coefficients(machine: Any, X: Points) -> Array:
    """The coefficients by which a prediction was made: a row for each point, or one for all."""
    if machine.classes_.size == 2:
        return np.asarray(machine.dual_coef_[0])
    winners = machine.decision_function(X).argmax(axis=1)
    return np.asarray(_of_each_class(machine)[winners])


def _of_each_class(machine: Any) -> Array:
    """The coefficients that speak for each class, added over its problems: (classes, support vectors)."""
    layout = machine.dual_coef_
    if not machine._paired():
        return np.asarray(layout)
    k = machine.classes_.size
    out = np.zeros((k, layout.shape[1]))
    for c, place in enumerate(machine._blocks()):  # support vectors of class c speak for it, and against the others
        out[c, place] = np.abs(layout[:, place]).sum(axis=0)
        for o in range(k):
            if o != c:
                out[o, place] = -np.abs(layout[o - (o > c), place])
    return out

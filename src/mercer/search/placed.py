"""Where points stand: sorted by class, and those of a class by the fold that tests on them, so that what is summed up
together are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..estimators import SVC
from ..kernels.points import count, is_sparse, take
from ..types import Index
from .matrices import Matrices, Rooms
from .paths import Posed


@dataclass(frozen=True, eq=False)
class Placed:
    """Points sorted by class, where there are more than two, and by fold: their matrices, and where each stands."""

    matrices: Matrices
    place: Index
    posed: dict[Any, list[Posed]] = field(default_factory=dict)
    """The problems of a machine, some folds and values of C: they are those of every kernel."""

    @classmethod
    def of(cls, machine: Any, X: Any, y: Any, fold: Index, rooms: Rooms) -> Placed:
        """`fold` is the number of the fold that tests on each point."""
        n = count(X)
        group = _classes(machine, y, n)
        order = np.lexsort((fold, group))
        place = np.empty(n, np.intp)
        place[order] = np.arange(n)
        return cls(Matrices(take(X, order), rooms), place)


def stacked(first: Any, second: Any) -> Any:
    """One set of points above another."""
    if is_sparse(first) or is_sparse(second):
        from scipy.sparse import vstack

        return vstack([first, second], format="csr")
    return np.concatenate([np.asarray(first), np.asarray(second)])


def _classes(machine: Any, y: Any, n: int) -> Index:
    """The class of each point; one class where there are none or two."""
    if isinstance(machine, SVC):
        classes, group = np.unique(y, return_inverse=True)
        if classes.size > 2:
            return group
    return np.zeros(n, np.intp)

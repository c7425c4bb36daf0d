"""Where points stand: sorted by class, so that the points of a class are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators import SVC
from ..kernels.points import count, is_sparse, take
from ..types import Index
from .matrices import Matrices


@dataclass(frozen=True, eq=False)
class Placed:
    """Points sorted by class, where there are more than two: their matrices, and where each of them stands."""

    matrices: Matrices
    place: Index
    classes: Index

    @classmethod
    def of(cls, machine: Any, X: Any, y: Any, keep: int) -> Placed:
        n = count(X)
        classes, order = _sorted_by_class(machine, y, n)
        place = np.empty(n, np.intp)
        place[order] = np.arange(n)
        return cls(Matrices(take(X, order), keep, 1), place, classes)


def stacked(first: Any, second: Any) -> Any:
    """One set of points above another."""
    if is_sparse(first) or is_sparse(second):
        from scipy.sparse import vstack

        return vstack([first, second], format="csr")
    return np.concatenate([np.asarray(first), np.asarray(second)])


def _sorted_by_class(machine: Any, y: Any, n: int) -> tuple[Index, Index]:
    """The class of each point, sorted, and the order that sorts them; one class where there are none or two."""
    if isinstance(machine, SVC):
        classes, group = np.unique(y, return_inverse=True)
        if classes.size > 2:
            order = np.argsort(group, kind="stable")
            return group[order], order
    return np.zeros(n, np.intp), np.arange(n)

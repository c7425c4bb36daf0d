"""scikit-learn's search over row numbers. What it cuts into folds, fits and scores is the numbers of the rows; `Cell`
stands in for the estimator and looks its answers up in a sheet. So scorers, folds, errors, callbacks and tables of
results are scikit-learn's own, and nothing of it that is private is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from ..estimators import SVC, KernelLogistic, LinearSVC
from ..types import Array, Index


def rows_of(X: Any, index: Index) -> Any:
    """The rows with these numbers: of arrays, sparse matrices, frames, tables and lists."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if hasattr(X, "shape"):
        return X[index]
    return X.take(index) if hasattr(X, "take") else [X[i] for i in index]


def same(own: Index, rows: Index) -> bool:
    """Whether two arrays hold the same numbers; as a rule they are one."""
    return own is rows or np.array_equal(own, rows)


def _numbers(rows: Any) -> Index:
    """Numbers of rows, of a mask too."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


class EveryRow(np.ndarray):
    """The numbers of all rows, in order: what is taken of them is what was asked for, the same array. As a series it
    has an `iloc`, and scikit-learn asks no further what it may be.
    """

    @classmethod
    def of(cls, n: int) -> EveryRow:
        """Of so many rows."""
        return np.arange(n).view(cls)

    @property
    def iloc(self) -> EveryRow:
        """Itself."""
        return self

    def take(self, rows: Any, axis: Any = None, **params: Any) -> Any:  # type: ignore[override]
        """These rows."""
        return rows


class Splits:
    """Folds that are cut already."""

    def __init__(self, cv: Any, X: Any, y: Any, params: dict[str, Any]) -> None:
        self.cv = cv
        self.made = [(_numbers(train), _numbers(test)) for train, test in cv.split(X, y, **params)]

    def split(self, rows: Any, y: Any = None, groups: Any = None, **params: Any) -> Any:
        """The folds."""
        return iter(self.made)

    def get_n_splits(self, rows: Any = None, y: Any = None, groups: Any = None, **params: Any) -> int:
        """How many."""
        return len(self.made)

    def tested(self, n: int) -> Index:
        """The number of the last fold that tests on each of n rows; 0, where none does."""
        fold = np.zeros(n, np.intp)
        for number, (_, test) in enumerate(self.made):
            fold[test] = number
        return fold

    def get_metadata_routing(self) -> Any:
        """That of the real one."""
        return self.cv.get_metadata_routing()


def _has(name: str) -> Callable[[Any], bool]:
    def check(cell: Any) -> bool:
        getattr(cell.sheet.estimator, name)
        return True

    return check


_OF_LABELS = (SVC, LinearSVC, KernelLogistic)


class Cell(BaseEstimator):  # type: ignore[misc]
    """One setting, as an estimator whose points are row numbers."""

    def __init__(self, sheet: Any, settings: dict[str, Any] | None = None) -> None:
        self.sheet, self.settings = sheet, settings or {}

    def __sklearn_clone__(self) -> Cell:
        return Cell(self.sheet, dict(self.settings))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Those of the real estimator, with the settings of this cell."""
        known: dict[str, Any] = self.sheet.estimator.get_params(deep=deep)
        return known | self.settings

    def set_params(self, **params: Any) -> Cell:
        """Remembered, to be looked up."""
        self.settings |= params
        return self

    def fit(self, rows: Array, y: Any = None, **params: Any) -> Cell:
        """Look up the machine of these rows; of all rows, train it."""
        self.machine = self.sheet.machine(self.settings, np.asarray(rows), params)
        if hasattr(self.machine, "classes_"):
            self.classes_ = self.machine.classes_
        self.fitted_ = True
        return self

    def score(self, rows: Array, y: Any = None, sample_weight: Any = None) -> float:
        """That of the machine, for targets of the sheet; it takes note whether points are weighed."""
        self.sheet.weighed, y = sample_weight is not None, self.sheet.targets[rows]
        if isinstance(self.machine, _OF_LABELS):  # the accuracy, without a second look at labels that were checked
            return float(np.average(self.machine.predict(rows) == y, weights=sample_weight))
        return float(self.machine.score(rows, y, sample_weight=sample_weight))

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, rows: Array) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.predict(rows))

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, rows: Array) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.decision_function(rows))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Array) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.predict_proba(rows))

    def get_metadata_routing(self) -> Any:
        """That of the real estimator."""
        return self.sheet.estimator.get_metadata_routing()

    def __sklearn_tags__(self) -> Any:
        return self.sheet.tags


class ByRows:
    """A fitted estimator that is asked by row numbers."""

    def __init__(self, machine: Any, X: Any) -> None:
        self.machine, self.X = machine, X
        if hasattr(machine, "classes_"):
            self.classes_ = machine.classes_

    def predict(self, rows: Index) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.predict(rows_of(self.X, rows)))

    def decision_function(self, rows: Index) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.decision_function(rows_of(self.X, rows)))

    def predict_proba(self, rows: Index) -> Array:
        """That of the machine."""
        return np.asarray(self.machine.predict_proba(rows_of(self.X, rows)))

    def score(self, rows: Index, y: Any, **params: Any) -> float:
        """That of the machine."""
        return float(self.machine.score(rows_of(self.X, rows), y, **params))

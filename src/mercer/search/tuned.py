"""tune(X, y): from a table to a tuned machine by one call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from ..estimators import SVC, SVR
from ..estimators.checks import level_of_caller
from ..io.encode import too_many
from ..kernels.points import count, is_sparse
from .row_numbers import rows_of
from .search import Search

_MOST = 5_000  # rows on which settings are compared; the best is then trained on all


def tune(X: Any, y: Any, *, time_limit: float | None = None, cv: Any = 5, checkpoint: Any = None) -> Search:
    """The fitted `Search` of a machine that suits the data: SVC for labels, SVR for numbers, with a Gaussian kernel.

    X may be an array, a sparse matrix, or a frame with categories and gaps: gaps are filled with the median or the most
    frequent value, categories become zeros and ones, columns are scaled, all of it inside each fold. Dates, and text
    with too many different values for categories, are left out, with a warning. There are `cv` folds, or fewer where a
    class has fewer rows. C and gamma are found by `grid="auto"`; with more than 5,000 rows on 5,000 of them, and the
    best is trained on all. `how_` says in one paragraph what was done. predict, score and decision_function are those
    of the best.
    """
    if y is None:
        raise ValueError("tune needs targets y: labels for an SVC, numbers for an SVR.")
    y = column_or_1d(y)
    check_consistent_length(range(count(X)), y)
    assert_all_finite(y, input_name="y")
    numbers = _are_numbers(y)
    machine = SVR(epsilon=0.1 * _spread(y)) if numbers else SVC()
    steps, told = _steps(X)
    rows = np.arange(count(X))
    if rows.size > _MOST:
        rows = np.sort(train_test_split(rows, train_size=_MOST, random_state=0, stratify=None if numbers else y)[0])
    pipeline = Pipeline([*steps, ("machine", machine)])
    search = Search(pipeline, "auto", cv=_folds(cv, y, rows, numbers), time_limit=time_limit, checkpoint=checkpoint)
    search.fit(rows_of(X, rows), y[rows])
    if rows.size < count(X):
        search.best_estimator_.fit(X, y)
    search.how_ = _words(search, machine, told, rows.size, count(X))
    return search


def _are_numbers(y: Any) -> bool:
    """Whether the targets are numbers to be found, and not classes: not whole, or too many of them to be classes."""
    gone = [value is None or value != value for value in y] if y.dtype == object else []
    if any(gone):
        raise ValueError(f"y has a missing value in row {gone.index(True)} (from 0): leave such rows out.")
    if type_of_target(y).startswith("continuous"):
        return True
    different = np.unique(y).size
    if not too_many(different, y.size):
        return False
    if y.dtype.kind in "iuf":
        return True
    raise ValueError(f"y is text with {different} different values in {y.size} rows, too many for classes.")


def _folds(cv: Any, y: Any, rows: Any, numbers: bool) -> Any:
    """How many folds: no more than there are rows of each class."""
    if numbers and y.size < 2:
        raise ValueError("tune has one row only: cross-validation needs at least two.")
    if not numbers:
        classes, counts = np.unique(y, return_counts=True)
        if classes.size > 1 and counts.min() < 2:
            one = classes[counts.argmin()]
            raise ValueError(f"y has one row only of class {one!s:.40}: cross-validation needs at least two of each.")
    if not isinstance(cv, int):
        return cv
    most = rows.size if numbers else int(np.unique(y[rows], return_counts=True)[1].min())
    return min(cv, max(2, most))


def _spread(y: Any) -> float:
    return float(np.std(np.asarray(y, np.float64))) or 1.0


def _steps(X: Any) -> tuple[list[tuple[str, Any]], str]:
    """What is done to the columns, and in words."""
    if is_sparse(X):
        return [("scale", MaxAbsScaler())], "columns divided by their largest value"
    if not hasattr(X, "dtypes"):
        gaps = bool(np.isnan(np.asarray(X, np.float64)).any())
        fill = [("fill", SimpleImputer(strategy="median"))] if gaps else []
        return [*fill, ("scale", StandardScaler())], f"{'gaps filled with the median, ' if gaps else ''}columns scaled"
    numeric = [name for name in X.columns if getattr(X[name].dtype, "kind", "O") in "iuf"]
    out = {name: why for name in X.columns if name not in numeric and (why := _why_not(X[name]))}
    others = [name for name in X.columns if name not in numeric and name not in out]
    for name, why in out.items():
        warnings.warn(f"tune leaves out column {name!r}: it holds {why}.", stacklevel=level_of_caller())
    parts: list[tuple[str, Any, Any]] = []
    if numeric:
        parts.append(("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric))
    if others:
        fill = SimpleImputer(strategy="most_frequent")
        encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", make_pipeline(fill, encode), others))
    if not parts:
        raise ValueError("tune: no column is left to learn from.")
    table = ColumnTransformer(parts, verbose_feature_names_out=False)
    return [("table", table)], _columns_in_words(numeric, others, out)


def _why_not(column: Any) -> str:
    """What a column holds that is neither numbers nor categories."""
    if getattr(column.dtype, "kind", "O") in "Mm":
        return "dates"
    different, n = len({str(value) for value in np.asarray(column, object)}), len(column)
    return (
        f"text with {different} different values in {n} rows, too many for categories" if too_many(different, n) else ""
    )


def _columns_in_words(numeric: list[Any], others: list[Any], out: dict[Any, str]) -> str:
    """What is done to the columns of a frame."""
    kinds = {"numbers scaled": len(numeric), "categories as zeros and ones": len(others)}
    told: list[str] = []
    for kind, number in kinds.items():
        if number:
            told.append(f"{number} {'' if told else 'column ' if number == 1 else 'columns '}of {kind}")
    return ", ".join([*told, *(f"{name!r} left out ({why})" for name, why in out.items())])


def _words(search: Search, machine: Any, told: str, used: int, n: int) -> str:
    """The paragraph."""
    best = ", ".join(f"{name.split('__')[-1]} = {value:g}" for name, value in search.best_params_.items())
    spread = float(search.cv_results_["std_test_score"][search.best_index_])
    what = "R2" if isinstance(machine, SVR) else "accuracy"
    some = f" on {used} of {n} rows" if used < n else ""
    again = f" It was trained again on all {n} rows." if used < n else ""
    proven = {True: " No other setting of the grid can be better.", False: "", None: ""}[search.decided_]
    edge = f" The best is at an edge of the grid: {', '.join(search.at_edge_)}." if search.at_edge_ else ""
    return (
        f"{type(machine).__name__} with a Gaussian kernel, {told}. {len(search.cv_results_['params'])} settings were "
        f"scored by cross-validation in {search.n_splits_} folds{some}; the best is {best}, with a mean {what} of "
        f"{search.best_score_:.4g} +- {spread:.2g}.{proven}{edge}{again}"
    )

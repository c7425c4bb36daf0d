"""tune(X, y): from a table to a tuned machine by one call."""

from __future__ import annotations

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
from ..kernels.points import count, is_sparse
from .row_numbers import rows_of
from .search import Search

_MOST = 5_000  # rows on which settings are compared; the best is then trained on all


def tune(X: Any, y: Any, *, time_limit: float | None = None, cv: Any = 5, checkpoint: Any = None) -> Search:
    """The fitted `Search` of a machine that suits the data: SVC for labels, SVR for numbers, with a Gaussian kernel.

    X may be an array, a sparse matrix, or a frame with categories and gaps: gaps are filled with the median or the most
    frequent value, categories become zeros and ones, columns are scaled, all of it inside each fold. C and gamma are
    found by `grid="auto"`; with more than 5,000 rows on 5,000 of them, and the best is trained on all. `how_` says in
    one paragraph what was done. predict, score and decision_function are those of the best.
    """
    if y is None:
        raise ValueError("tune needs targets y: labels for an SVC, numbers for an SVR.")
    y = column_or_1d(y)
    check_consistent_length(range(count(X)), y)
    assert_all_finite(y, input_name="y")
    numbers = type_of_target(y).startswith("continuous")
    machine = SVR(epsilon=0.1 * _spread(y)) if numbers else SVC()
    steps, told = _steps(X)
    rows = np.arange(count(X))
    if rows.size > _MOST:
        rows = np.sort(train_test_split(rows, train_size=_MOST, random_state=0, stratify=None if numbers else y)[0])
    pipeline = Pipeline([*steps, ("machine", machine)])
    search = Search(pipeline, "auto", cv=cv, time_limit=time_limit, checkpoint=checkpoint)
    search.fit(rows_of(X, rows), y[rows])
    if rows.size < count(X):
        search.best_estimator_.fit(X, y)
    search.how_ = _words(search, machine, told, rows.size, count(X))
    return search


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
    others = [name for name in X.columns if name not in numeric]
    parts: list[tuple[str, Any, Any]] = []
    if numeric:
        parts.append(("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric))
    if others:
        fill = SimpleImputer(strategy="most_frequent")
        encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", make_pipeline(fill, encode), others))
    table = ColumnTransformer(parts, verbose_feature_names_out=False)
    return [
        ("table", table)
    ], f"{len(numeric)} columns of numbers scaled, {len(others)} of categories as zeros and ones"


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

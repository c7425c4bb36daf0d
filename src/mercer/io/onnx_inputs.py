"""What goes into an ONNX model: the kinds of columns that a fitted pipeline takes, and some rows to try it on."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..types import Array
from .consistent_wrappers import positions
from .fields import Fields
from .widths import width_in

NUMBER = "number"
_ROWS = 24


def kinds_of(estimator: Any) -> list[Any]:
    """For each column NUMBER, or the texts that it may hold; a list of one text for texts that are cut into words."""
    name = type(estimator).__name__
    if hasattr(estimator, "steps"):
        return _of_steps([step for _, step in estimator.steps])
    if name == "ColumnTransformer":
        return _of_columns(estimator)
    if name == "FeatureUnion":
        return kinds_of(next(step for _, step in estimator.transformer_list if not isinstance(step, str)))
    if hasattr(estimator, "vocabulary_"):
        return [[" ".join(sorted(estimator.vocabulary_)[start::3]) for start in range(3)]]
    if hasattr(estimator, "categories_") and isinstance(estimator.categories_, list):
        return [_words(values) for values in estimator.categories_]
    if name == "SimpleImputer" and estimator.statistics_.dtype.kind in "OU":
        return [[str(value)] for value in estimator.statistics_]
    for inner in ("regressor_", "estimator"):
        if hasattr(getattr(estimator, inner, None), "n_features_in_"):
            return kinds_of(getattr(estimator, inner))
    for several in ("calibrated_classifiers_", "estimators_"):
        if hasattr(estimator, several):
            return kinds_of(getattr(estimator, several)[0])
    return [NUMBER] * (width_in(estimator) or 1)


def _of_steps(steps: list[Any]) -> list[Any]:
    """Of the first; behind one that fills in texts, the next knows more of them."""
    kinds = kinds_of(steps[0])
    if type(steps[0]).__name__ == "SimpleImputer" and kinds and kinds[0] != NUMBER and len(steps) > 1:
        return _of_steps(steps[1:])
    return kinds


def _words(values: Array) -> Any:
    return NUMBER if values.dtype.kind in "iufb" else [value for value in values.tolist() if isinstance(value, str)]


def _of_columns(estimator: Any) -> list[Any]:
    kinds: list[Any] = [NUMBER] * estimator.n_features_in_
    for _, step, places in _places(estimator):
        if not isinstance(step, str):
            for place, kind in zip(places, kinds_of(step), strict=False):
                kinds[place] = kind
    return kinds


def _places(estimator: Any) -> list[tuple[str, Any, list[int]]]:
    """The steps of a ColumnTransformer with the numbers of their columns."""
    fields = Fields("ColumnTransformer", estimator)
    fields.width()
    return [(name, step, positions(fields, columns)) for name, step, columns in estimator.transformers_]


def numbered(estimator: Any) -> Any:
    """The same pipeline, its columns named by numbers alone, which is what skl2onnx reads most safely."""
    if hasattr(estimator, "steps"):
        new = copy.copy(estimator)
        new.steps = [(name, numbered(step)) for name, step in estimator.steps]
        return new
    if type(estimator).__name__ != "ColumnTransformer":
        return estimator
    new = copy.copy(estimator)
    new.transformers_ = [(name, step, places) for name, step, places in _places(estimator) if places]
    return new


def rows_of(kinds: list[Any]) -> list[Array]:
    """A column of values for each kind; numbers are positive, for some kernels take no others."""
    generator = np.random.default_rng(0)
    columns: list[Array] = []
    for kind in kinds:
        if kind == NUMBER:
            columns.append(np.abs(generator.normal(size=_ROWS)))
        else:
            columns.append(np.array(generator.choice(kind, _ROWS).tolist(), dtype=object))
    return columns

"""How many columns a fitted step takes, and how many it gives; None, where that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .fields import parameter_names


def width_in(step: Any) -> int | None:
    """How many columns it takes."""
    own = getattr(step, "estimator", step) if type(step).__name__ == "_CalibratedClassifier" else step
    try:
        width = own.n_features_in_
    except AttributeError:
        return None
    return width if isinstance(width, int) else None


def width_out(step: Any) -> int | None:
    """How many columns it gives."""
    if hasattr(step, "steps"):  # a pipeline
        return width_out(step.steps[-1][1])
    if hasattr(step, "transformer_list"):
        return _of_union(step)
    rule = _RULES.get(type(step).__name__)
    if rule is not None:
        return int(rule(step)) if len(vars(step)) > len(parameter_names(type(step))) else None  # None: not fitted
    if hasattr(step, "names_"):
        return len(step.get_feature_names_out())
    width = getattr(step, "_n_features_out", None)
    return width if isinstance(width, int) else width_in(step)


def _of_column_transformer(step: Any) -> int:
    return max((place.stop for place in step.output_indices_.values()), default=0)


def _of_imputer(step: Any) -> int:
    values = step.statistics_
    kept = (
        len(values) if step.keep_empty_features or step.strategy == "constant" else sum(v == v for v in values.tolist())
    )
    return kept + (0 if step.indicator_ is None else len(step.indicator_.features_))


def _of_union(step: Any) -> int | None:
    widths = [
        width_in(step) if part == "passthrough" else width_out(part)
        for _, part in step.transformer_list
        if part != "drop"
    ]
    known = [width for width in widths if width is not None]
    return sum(known) if len(known) == len(widths) else None


_RULES: dict[str, Callable[[Any], int]] = {
    "ColumnTransformer": _of_column_transformer,
    "SimpleImputer": _of_imputer,
    "OneHotEncoder": lambda step: sum(step._n_features_outs),
    "PCA": lambda step: len(step.components_),
    "TruncatedSVD": lambda step: len(step.components_),
    "PolynomialFeatures": lambda step: step.n_output_features_,
    "SelectKBest": lambda step: int(np.count_nonzero(step.get_support())),
    "VarianceThreshold": lambda step: int(np.count_nonzero(step.get_support())),
    "CountVectorizer": lambda step: len(step.vocabulary_),
    "TfidfVectorizer": lambda step: len(step.vocabulary_),
}

"""What must hold of scikit-learn's transformers of columns and texts that come from a file: see consistent.py."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from ..types import Array
from .fields import Fields
from .plain import FUNCTIONS, as_function

PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"(?u)\w+", r"\S+", r"[^\s]+")
"""How texts may be cut into words: other patterns can take for ever, and no file may ask for that."""

_BITS = 62  # of a count: so many columns have more products than it can hold


def _shaped(fields: Fields, attribute: str, dimensions: str, kinds: str = "f") -> Array:
    """An array of this shape; NaN is allowed."""
    return fields._array(attribute, kinds, dimensions)


# Categories.


def _categories(fields: Fields) -> list[Array]:
    """Different values for each column, those of numbers in their order."""
    d = fields.width()
    found: list[Array] = fields.a("categories_", list)
    if len(found) != d:
        fields.fail("categories_", f"must be those of {d} columns")
    for values in found:
        if not isinstance(values, np.ndarray) or values.ndim != 1 or values.size == 0:
            fields.fail("categories_", "must be lists of values")
        if len({"nan" if value != value else value for value in values.tolist()}) != values.size:
            fields.fail("categories_", "holds a value twice")
        if values.dtype.kind in "iuf" and not (np.diff(values[values == values]) > 0).all():
            fields.fail("categories_", "is not in order")
    fields.setting("dtype", np.float64, np.float32, np.int64, np.int32, np.int16, np.int8)
    return found


def _rare(fields: Fields, categories: list[Array]) -> list[Any]:
    """Where each category goes once the rare ones are one; None for columns without."""
    if not fields.a("_infrequent_enabled", bool):
        return [None] * len(categories)
    rare = fields.a("_infrequent_indices", list)
    mappings: list[Any] = fields.a("_default_to_infrequent_mappings", list)
    if len(rare) != len(categories) or len(mappings) != len(categories):
        fields.fail("_infrequent_indices", "must be those of all columns")
    for values, indices, mapping in zip(categories, rare, mappings, strict=True):
        if (indices is None) != (mapping is None):
            fields.fail("_default_to_infrequent_mappings", "does not go with the rare categories")
        if indices is not None and not _is_mapping(values.size, indices, mapping):
            fields.fail("_default_to_infrequent_mappings", "does not go with the rare categories")
    return mappings


def _is_mapping(size: int, rare: Any, mapping: Any) -> bool:
    """Whether the frequent ones are numbered in their order, and the rare ones have the next number."""
    arrays = isinstance(rare, np.ndarray) and isinstance(mapping, np.ndarray)
    if not arrays or rare.dtype.kind != "i" or mapping.dtype.kind != "i" or rare.ndim != 1 or mapping.shape != (size,):
        return False
    if not (rare.size and rare.min() >= 0 and rare.max() < size and np.unique(rare).size == rare.size):
        return False
    wanted = np.full(size, size - rare.size)
    wanted[np.setdiff1d(np.arange(size), rare)] = np.arange(size - rare.size)
    return bool(np.array_equal(wanted, mapping))


def _one_hot_encoder(fields: Fields) -> None:
    categories = _categories(fields)
    mappings = _rare(fields, categories)
    sizes = [v.size if m is None else int(m.max()) + 1 for v, m in zip(categories, mappings, strict=True)]
    for attribute, most in (("_drop_idx_after_grouping", sizes), ("drop_idx_", [v.size for v in categories])):
        _require_dropped(fields, attribute, most)
    dropped = fields.get("_drop_idx_after_grouping")
    told = fields.get("drop_idx_")
    if (dropped is None) != (told is None):
        fields.fail("drop_idx_", "does not go with what is dropped")
    for i, mapping in enumerate(mappings if dropped is not None else ()):
        before, after = told[i], dropped[i]
        if before is not None and after != (before if mapping is None else mapping[before]):
            fields.fail("drop_idx_", "does not go with what is dropped")
    outs = [size - (dropped is not None and dropped[i] is not None) for i, size in enumerate(sizes)]
    if fields.get("_n_features_outs") != outs:
        fields.fail("_n_features_outs", f"must be {outs}")


def _require_dropped(fields: Fields, attribute: str, sizes: list[int]) -> None:
    """No category of any column, or the number of one, as the setting says."""
    dropped, drop = fields.get(attribute), fields.estimator.drop
    if dropped is None or drop is None:
        if not (dropped is None and drop is None):
            fields.fail(attribute, "does not go with the setting drop")
        return
    if not isinstance(dropped, np.ndarray) or dropped.shape != (len(sizes),):
        fields.fail(attribute, f"must be numbers of categories of {len(sizes)} columns")
    for index, size in zip(dropped.tolist(), sizes, strict=True):
        if index is not None and not (isinstance(index, int | np.integer) and 0 <= index < size):
            fields.fail(attribute, f"holds {index!r:.40}, which is no category")
        first = {"first": 0, "if_binary": 0 if size == 2 else None}.get(drop, index) if isinstance(drop, str) else index
        if index != first:
            fields.fail(attribute, f"holds {index!r:.40}, which is not what drop={drop!r} drops")


def _ordinal_encoder(fields: Fields) -> None:
    categories = _categories(fields)
    _rare(fields, categories)
    missing = {i: v.size - 1 for i, v in enumerate(categories) if v[-1] != v[-1] or v[-1] is None}
    if fields.a("_missing_indices", dict) != missing:
        fields.fail("_missing_indices", "does not go with the categories")
    fields.setting("handle_unknown", "error", "use_encoded_value")


# Numbers.


def _simple_imputer(fields: Fields) -> None:
    from sklearn.impute import SimpleImputer

    d, statistics = fields.width(), fields.get("statistics_")
    if not isinstance(statistics, np.ndarray) or statistics.shape != (d,):
        fields.fail("statistics_", f"must be {d} values")
    allowed = "fiuUO" if fields.estimator.strategy == "constant" else "fO"
    if statistics.dtype.kind not in allowed or (statistics.dtype.kind == "f" and np.isinf(statistics).any()):
        fields.fail("statistics_", "holds values that cannot be filled in")
    for attribute in {"_fit_dtype", "_fill_dtype"} & set(vars(SimpleImputer().fit([[0.0]]))):
        kind = getattr(fields.get(attribute), "kind", " ")
        if not isinstance(fields.get(attribute), np.dtype) or (kind in "iufb") != (statistics.dtype.kind in "iuf"):
            fields.fail(attribute, "does not go with the values that are filled in")
    fields.setting("strategy", "mean", "median", "most_frequent", "constant")
    indicator = fields.get("indicator_")
    if bool(fields.estimator.add_indicator) != (indicator is not None):
        fields.fail("indicator_", "does not go with the setting add_indicator")
    if indicator is not None and getattr(indicator, "n_features_in_", None) != d:
        fields.fail("indicator_", "is one of other columns")


def _missing_indicator(fields: Fields) -> None:
    d = fields.width()
    if fields.count("_n_features") != d:
        fields.fail("_n_features", f"must be {d}")
    fields.indices("features_", "m", below=d)
    fields.a("_precomputed", bool)


def _pca(fields: Fields) -> None:
    fields.width()
    fields.expect(m=fields.count("n_components_", 1))
    fields.numbers("components_", "m d")
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        fields.numbers(attribute, "m")
    fields.numbers("mean_", "d")
    fields.number("noise_variance_")
    if "_fit_svd_solver" in fields.state:
        fields.a("_fit_svd_solver", str)
    if (fields.get("explained_variance_") < 0).any():
        fields.fail("explained_variance_", "holds a number below 0")


def _truncated_svd(fields: Fields) -> None:
    fields.width()
    fields.expect(m=fields.count_setting("n_components"))
    fields.numbers("components_", "m d")
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        fields.numbers(attribute, "m")


def _polynomial_features(fields: Fields) -> None:
    """The degrees are those of the settings, and there are as many products as there can be."""
    d, least, most = fields.width(), fields.count("_min_degree"), fields.count("_max_degree")
    degree, alone = fields.estimator.degree, fields.estimator.interaction_only
    if [least, most] != ([0, degree] if type(degree) is int else [*degree]) or least > most:
        fields.fail("_max_degree", "does not go with the setting degree")
    if min(most, d) >= _BITS:
        fields.fail("_max_degree", "makes more products than can be counted")
    constant = bool(fields.estimator.include_bias)
    for attribute, first in (("n_output_features_", max(1, least)), ("_n_out_full", 1)):
        if alone:
            found = sum(comb(d, k) for k in range(first, min(most, d) + 1))
        else:
            found = comb(d + most, d) - comb(d + first - 1, d)
        if fields.count(attribute) != found + constant:
            fields.fail(attribute, "is not the number of products")
    fields.setting("order", "C", "F")


def _power_transformer(fields: Fields) -> None:
    d = fields.width()
    fields.numbers("lambdas_", "d")
    fields.setting("method", "yeo-johnson", "box-cox")
    if fields.estimator.standardize and getattr(fields.get("_scaler"), "n_features_in_", None) != d:
        fields.fail("_scaler", "is one of other columns")


def _quantile_transformer(fields: Fields) -> None:
    fields.width()
    fields.expect(q=fields.count("n_quantiles_", 1))
    references = fields.numbers("references_", "q")
    quantiles = fields.numbers("quantiles_", "q d")
    if not ((np.diff(references) >= 0).all() and (np.diff(quantiles, axis=0) >= 0).all()):
        fields.fail("quantiles_", "is not in order")
    fields.setting("output_distribution", "uniform", "normal")


def _select_k_best(fields: Fields) -> None:
    d = fields.width()
    _shaped(fields, "scores_", "d")
    if fields.get("pvalues_") is not None:
        _shaped(fields, "pvalues_", "d")
    k = fields.estimator.k
    if k != "all" and not (type(k) is int and 0 <= k <= d):
        fields.fail("k", f"is {k!r:.40}, not a number of columns of {d}")
    _require_known(fields, "score_func")


def _variance_threshold(fields: Fields) -> None:
    fields.width()
    _shaped(fields, "variances_", "d")
    if not isinstance(fields.estimator.threshold, int | float):
        fields.fail("threshold", "is no number")


def _require_known(fields: Fields, *settings: str) -> None:
    for setting in settings:
        value = getattr(fields.estimator, setting)
        known = value is None or any(value is as_function(name) for name in FUNCTIONS)
        if not known:
            fields.fail(setting, "is no function that files may name")


def _function_transformer(fields: Fields) -> None:
    _require_known(fields, "func", "inverse_func")
    if fields.estimator.kw_args or fields.estimator.inv_kw_args:
        fields.fail("kw_args", "are more than files may hold")
    fields.width()


# Texts.


def _count_vectorizer(fields: Fields) -> dict[str, int]:
    words: dict[str, int] = fields.a("vocabulary_", dict)
    numbers = sorted(words.values()) if all(isinstance(v, int | np.integer) for v in words.values()) else []
    if not words or numbers != list(range(len(words))) or not all(isinstance(word, str) for word in words):
        fields.fail("vocabulary_", "must number different words from 0 on")
    fields.a("fixed_vocabulary_", bool)
    fields.setting("input", "content")
    fields.setting("token_pattern", *PATTERNS)
    fields.setting("analyzer", "word", "char", "char_wb")
    return words


def _tfidf_vectorizer(fields: Fields) -> None:
    words = _count_vectorizer(fields)
    tfidf = fields.get("_tfidf")
    if type(tfidf).__name__ != "TfidfTransformer":
        fields.fail("_tfidf", "is no TfidfTransformer")
    if "n_features_in_" in vars(tfidf) and tfidf.n_features_in_ != len(words):
        fields.fail("_tfidf", "is one of other words")
    for setting in ("use_idf", "smooth_idf", "sublinear_tf", "norm"):
        if getattr(fields.estimator, setting) != getattr(tfidf, setting):
            fields.fail("_tfidf", f"has another {setting}")


def _tfidf_transformer(fields: Fields) -> None:
    if "idf_" not in fields.state and fields.estimator.use_idf:
        fields.fail("idf_", "is missing")
    fields.width()
    if "idf_" in fields.state:
        fields.numbers("idf_", "d")


COLUMNS: dict[str, Callable[[Fields], Any]] = {
    "OneHotEncoder": _one_hot_encoder,
    "OrdinalEncoder": _ordinal_encoder,
    "SimpleImputer": _simple_imputer,
    "MissingIndicator": _missing_indicator,
    "PCA": _pca,
    "TruncatedSVD": _truncated_svd,
    "PolynomialFeatures": _polynomial_features,
    "PowerTransformer": _power_transformer,
    "QuantileTransformer": _quantile_transformer,
    "SelectKBest": _select_k_best,
    "VarianceThreshold": _variance_threshold,
    "FunctionTransformer": _function_transformer,
    "CountVectorizer": _count_vectorizer,
    "TfidfVectorizer": _tfidf_vectorizer,
    "TfidfTransformer": _tfidf_transformer,
}

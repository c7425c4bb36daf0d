"""Pipelines as people write them around Mercer's machines: how each is made, and points to predict for."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer import SVC, SVR, KernelRidge, LinearSVC, dropin

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
y = np.digitize(X[:, 0], [-0.5, 0.5])
t = X[:, 0] + X[:, 1] ** 2
WORDS = np.array([["a", "b"], ["c", "b"], ["a", "d"], ["e", "f"]] * 15, dtype=object)
GAPS = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
TABLE = pd.DataFrame({"a": X[:, 0], "b": GAPS[:, 1], "c": WORDS[:, 0]})
TEXTS = ["a good day", "bad days here", "good good words", "no words at all"] * 15


def _searched(machine, grid):
    return GridSearchCV(machine, grid, cv=2)


def _columns(**settings):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return [
        ("numbers", numbers, settings.get("numbers", ["a", "b"])),
        ("words", OneHotEncoder(), settings.get("words", ["c"])),
    ]


def _selected():
    chosen = _columns(numbers=make_column_selector(dtype_include=np.number), words=make_column_selector("c"))
    return make_pipeline(ColumnTransformer(chosen), SVC()).fit(TABLE, y)


def _by_numbers():
    steps = [("ends", StandardScaler(), [0, -1]), ("middle", "passthrough", slice(1, 2))]
    return make_pipeline(ColumnTransformer(steps, remainder=RobustScaler()), SVC()).fit(X, y)


def _by_mask():
    steps = [("some", StandardScaler(), [True, False, True, False]), ("none", "drop", [1])]
    return make_pipeline(ColumnTransformer(steps, remainder="passthrough"), SVC()).fit(X, y)


def _frames():
    first = ColumnTransformer(
        [("a", StandardScaler(), ["a"]), ("c", OrdinalEncoder(), ["c"])], verbose_feature_names_out=False
    )
    second = ColumnTransformer([("c", StandardScaler(), ["c"])], remainder="passthrough")
    return make_pipeline(first.set_output(transform="pandas"), second, SVC()).fit(TABLE, y)


def _rare():
    encoder = OneHotEncoder(min_frequency=16, drop="first", handle_unknown="infrequent_if_exist")
    return make_pipeline(encoder, SVC("linear")).fit(WORDS, y)


def _ordinal():
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, min_frequency=16)
    return make_pipeline(SimpleImputer(strategy="most_frequent"), encoder, SVC()).fit(WORDS, y)


def _shapes():
    quantiles = QuantileTransformer(n_quantiles=10, output_distribution="normal")
    return make_pipeline(SimpleImputer(), PowerTransformer(), quantiles, SelectKBest(f_classif, k=2), SVC()).fit(
        GAPS, y
    )


PIPELINES = {
    "columns": (lambda: make_pipeline(ColumnTransformer(_columns()), SVC()).fit(TABLE, y), TABLE),
    "columns by a function": (_selected, TABLE),
    "columns by numbers": (_by_numbers, X),
    "columns by a mask": (_by_mask, X),
    "data frames within": (_frames, TABLE),
    "union": (
        lambda: make_pipeline(
            FeatureUnion([("p", PCA(2, whiten=True)), ("s", StandardScaler()), ("x", "passthrough")]), SVC()
        ).fit(X, y),
        X,
    ),
    "rare categories": (_rare, WORDS),
    "ordinal": (_ordinal, WORDS),
    "shapes": (_shapes, GAPS),
    "products": (
        lambda: make_pipeline(
            PolynomialFeatures(2), FeatureUnion([("v", VarianceThreshold()), ("t", TruncatedSVD(2))]), SVC()
        ).fit(X, y),
        X,
    ),
    "products of some": (
        lambda: make_pipeline(PolynomialFeatures((2, 3), interaction_only=True, include_bias=False), SVC()).fit(X, y),
        X,
    ),
    "counts": (lambda: make_pipeline(CountVectorizer(), SVC()).fit(TEXTS, y), TEXTS),
    "texts": (lambda: make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC()).fit(TEXTS, y), TEXTS),
    "sigmoid": (lambda: CalibratedClassifierCV(SVC(), cv=StratifiedKFold(2)).fit(X, y), X),
    "isotonic": (
        lambda: CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), method="isotonic", cv=2).fit(X, y > 0),
        X,
    ),
    "scaled targets": (lambda: TransformedTargetRegressor(SVR(), transformer=StandardScaler()).fit(X, t), X),
    "logarithms of targets": (
        lambda: TransformedTargetRegressor(
            make_pipeline(StandardScaler(), KernelRidge()), func=np.log1p, inverse_func=np.expm1
        ).fit(X, np.abs(t)),
        X,
    ),
    "search": (lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2).fit(X, y), X),
    "several targets": (lambda: MultiOutputRegressor(SVR()).fit(X, np.column_stack([t, -t])), X),
    "several labels": (
        lambda: make_pipeline(StandardScaler(), MultiOutputClassifier(SVC())).fit(X, np.column_stack([y, 1 - y])),
        X,
    ),
    "one against the rest": (lambda: OneVsRestClassifier(SVC()).fit(X, y), X),
    "sets of labels": (lambda: OneVsRestClassifier(SVC()).fit(X, np.column_stack([y > 0, y > 1]).astype(int)), X),
    "one against one": (lambda: OneVsOneClassifier(SVC()).fit(X, y), X),
}

DROPINS = {
    "pipeline": (lambda: make_pipeline(StandardScaler(), dropin.SVC()).fit(X, y), X),
    "two classes": (lambda: dropin.SVC(kernel="poly").fit(X, y > 0), X),
    "sparse, by LIBSVM": (lambda: dropin.SVC(kernel="sigmoid").fit(csr_matrix(X), y), csr_matrix(X)),
    "by LIBSVM": (lambda: dropin.SVR(kernel="sigmoid").fit(X, t), X),
    "values": (lambda: dropin.SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T),
    "linear": (lambda: _searched(dropin.LinearSVC(), {"C": [1.0, 3.0]}).fit(X, y), X),
    "without intercept": (lambda: dropin.LinearSVC(fit_intercept=False).fit(X, y > 0), X),
    "one class": (lambda: dropin.OneClassSVM().fit(X), X),
    "ridge": (lambda: dropin.KernelRidge(kernel="rbf").fit(X, np.column_stack([t, -t])), X),
}
"""The same with scikit-learn's machines that are Mercer's inside."""


def answers(model, points):
    """What the model says of the points, in all the ways that it has."""
    ways = [way for way in ("predict", "predict_proba", "decision_function") if hasattr(model, way)]
    return {way: np.asarray(getattr(model, way)(points)) for way in ways}

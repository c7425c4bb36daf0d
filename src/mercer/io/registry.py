"""What a model file may hold: an explicit list of classes.

A file names a class by a name of this list; where that class lives is written here and never in the file. A new
estimator is one line here, and one rule in `consistent`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ESTIMATORS = {
    "SVC": "mercer.estimators",
    "SVR": "mercer.estimators",
    "OneClassSVM": "mercer.estimators",
    "KernelLogistic": "mercer.estimators",
    "LinearSVC": "mercer.estimators",
    "Perceptron": "mercer.estimators",
    "KernelPerceptron": "mercer.estimators",
    "KernelRidge": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "KernelKMeans": "mercer.estimators",
    "dropin.SVC": "mercer.dropin",
    "dropin.SVR": "mercer.dropin",
    "dropin.OneClassSVM": "mercer.dropin",
    "dropin.LinearSVC": "mercer.dropin",
    "dropin.KernelRidge": "mercer.dropin",
    "PolynomialMap": "mercer.features",
    "PolarMap": "mercer.features",
    "PrototypeMap": "mercer.features",
    "GaussianSeries": "mercer.features",
    "RandomFourier": "mercer.features",
    "Nystrom": "mercer.features",
    "SpectralMap": "mercer.features",
    "Encoder": "mercer.io.encode",
    "Pipeline": "sklearn.pipeline",
    "StandardScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "MaxAbsScaler": "sklearn.preprocessing",
    "RobustScaler": "sklearn.preprocessing",
    "Normalizer": "sklearn.preprocessing",
    "PowerTransformer": "sklearn.preprocessing",
    "QuantileTransformer": "sklearn.preprocessing",
    "OneHotEncoder": "sklearn.preprocessing",
    "OrdinalEncoder": "sklearn.preprocessing",
    "FunctionTransformer": "sklearn.preprocessing",
    "PolynomialFeatures": "sklearn.preprocessing",
    "LabelBinarizer": "sklearn.preprocessing",
    "SimpleImputer": "sklearn.impute",
    "MissingIndicator": "sklearn.impute",
    "PCA": "sklearn.decomposition",
    "TruncatedSVD": "sklearn.decomposition",
    "SelectKBest": "sklearn.feature_selection",
    "VarianceThreshold": "sklearn.feature_selection",
    "CountVectorizer": "sklearn.feature_extraction.text",
    "TfidfVectorizer": "sklearn.feature_extraction.text",
    "TfidfTransformer": "sklearn.feature_extraction.text",
    "ColumnTransformer": "sklearn.compose",
    "TransformedTargetRegressor": "sklearn.compose",
    "FeatureUnion": "sklearn.pipeline",
    "CalibratedClassifierCV": "sklearn.calibration",
    "_CalibratedClassifier": "sklearn.calibration",
    "_SigmoidCalibration": "sklearn.calibration",
    "_TemperatureScaling": "sklearn.calibration",
    "IsotonicRegression": "sklearn.isotonic",
    "MultiOutputRegressor": "sklearn.multioutput",
    "MultiOutputClassifier": "sklearn.multioutput",
    "OneVsRestClassifier": "sklearn.multiclass",
    "OneVsOneClassifier": "sklearn.multiclass",
}

VALUES = {
    "Certificate": "mercer.solution",
    "WorstCertificate": "mercer.solution",
    "RidgeCertificate": "mercer.solvers.ridge.posed",
    "Solution": "mercer.solution",
    "Inseparable": "mercer.solution",
    "MarginCertificate": "mercer.online",
    "Held": "mercer.online",
    "Monomials": "mercer.kernels.monomials",
    "Expansion": "mercer.kernels.expansion",
    "Expanded": "mercer.estimators.expanded",
    "RidgePath": "mercer.estimators.ridge_path",
    "WeightsSpread": "mercer.estimators.ridge_spread",
    "Inverse": "mercer.solvers.ridge.in_features",
}
"""Frozen dataclasses that fitted estimators hold."""

FORGOTTEN = {"FactorSpread": "mercer.estimators.ridge_spread", "LeftOut": "mercer.estimators.ridge_interval"}
"""Large, and made anew where it is needed: stored as None."""

RECORDS = {"Step": "mercer.solution", "Update": "mercer.online"}
"""Small values of which estimators hold long tuples: stored as columns."""


def name_of(value: Any, table: dict[str, str]) -> str | None:
    """The name under which the class of a value stands in a table; None where it does not."""
    name = type(value).__name__
    name = f"dropin.{name}" if type(value).__module__.startswith("mercer.dropin.") else name
    return name if name in table and type(value) is class_of(name, table) else None


def class_of(name: str, table: dict[str, str]) -> Any:
    """The class of that name; ValueError where an older version of its library has none."""
    found = getattr(import_module(table[name]), name.removeprefix("dropin."), None)
    if found is None:
        raise ValueError(f"it holds a {name}, which this version of {table[name].partition('.')[0]} does not know")
    return found

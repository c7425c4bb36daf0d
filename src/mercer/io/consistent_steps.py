"""What must hold of the steps before a machine, and of a pipeline, that come from a file: see consistent.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..kernels import FromFeatures, Gaussian
from ..kernels.monomials import Monomials
from ..kernels.points import Domain
from .fields import Fields
from .widths import width_in, width_out

# Feature maps.


_INDUCED = ("PolarMap", "PrototypeMap")  # their kernel holds a copy of them, which has none


def _map(fields: Fields, rule: Callable[[Fields], None]) -> None:
    """A map of so many features, with its kernel."""
    rule(fields)
    fields.expect(m=fields.count("_n_features_out", 1))
    if fields.name in _INDUCED and "kernel_" not in fields.state:
        return  # the one within the kernel of another
    kernel = fields.kernel()
    if isinstance(kernel, FromFeatures) and getattr(kernel.phi, "n_features_in_", None) != fields.lengths["d"]:
        fields.fail("kernel_", "is one of other points")


def _monomials(fields: Fields) -> None:
    d, monomials = fields.width(), fields.a("monomials_", Monomials)
    places = [place for variables in monomials.variables for place in variables]
    if not all(type(place) is int and 0 <= place < d for place in places):
        fields.fail("monomials_", f"multiplies variables outside 0 ... {d - 1}")
    if places and max(places) != d - 1:
        fields.fail("monomials_", f"has no variable {d - 1}")
    fields.expect(m=len(monomials))


def _polynomial_map(fields: Fields) -> None:
    _monomials(fields)
    fields.numbers("coefficients_", "m")


def _gaussian_series(fields: Fields) -> None:
    _monomials(fields)
    if not (isinstance(fields.estimator.sigma, int | float) and 0 < fields.estimator.sigma < np.inf):
        fields.fail("sigma", "must be a number greater than 0")


def _polar_map(fields: Fields) -> None:
    fields.expect(m=max(2, fields.width()))


def _prototype_map(fields: Fields) -> None:
    fields.width()
    if not isinstance(fields.kernel("_bump"), Gaussian):
        fields.fail("_bump", "is no Gaussian")
    fields.numbers("prototypes_", "m d")


def _random_fourier(fields: Fields) -> None:
    fields.width()
    fields.expect(half=(fields.count("_n_features_out", 1) + 1) // 2)
    fields.numbers("frequencies_", "d half")
    fields.number("phase_")


def _nystrom(fields: Fields) -> None:
    _kernel_points(fields, "landmarks_", "l")
    fields.indices("landmark_indices_", "l")
    fields.numbers("whitening_", "l m")


def _spectral_map(fields: Fields) -> None:
    _kernel_points(fields, "points_", "n")
    fields.numbers("eigenvalues_", "m")
    fields.numbers("projection_", "n m")
    fields.a("_indefinite", bool)


def _kernel_pca(fields: Fields) -> None:
    _kernel_points(fields, "X_fit_", "n")
    fields.numbers("eigenvectors_", "n m")
    for attribute in ("eigenvalues_", "explained_variance_ratio_", "residuals_", "_offset"):
        fields.numbers(attribute, "m")
    fields.expect(m=fields.count("_n_features_out", 1))
    if (fields.get("eigenvalues_") < 0).any():
        fields.fail("eigenvalues_", "holds a number below 0")
    if fields.estimator.fit_inverse_transform:
        fields.numbers("X_transformed_fit_", "n m")
        fields.numbers("dual_coef_", "n d")


def _kernel_kmeans(fields: Fields) -> None:
    _kernel_points(fields, "X_fit_", "n")
    fields.expect(k=fields.count_setting("n_clusters"))
    fields.numbers("_shares", "n k")
    fields.numbers("_lengths", "k")
    fields.whole("labels_", "n", below=fields.lengths["k"])
    for attribute in ("inertia_", "lower_bound_"):
        fields.number(attribute)
    fields.count("n_iter_")


def _kernel_points(fields: Fields, attribute: str, letter: str) -> None:
    kernel = fields.kernel()
    if kernel.domain is Domain.VALUES:
        fields.fail("kernel_", "has no points")
    if kernel.domain is Domain.VECTORS:
        fields.width()
    fields.points(attribute, letter, kernel)


# Tables, scalers and pipelines.


def _encoder(fields: Fields) -> None:
    from .encode import KINDS

    d = fields.width()
    fields.a("named_", bool)
    fields.count("first_")
    names, kinds = fields.a("names_", list), fields.a("kinds_", list)
    categories, fills = fields.a("categories_", dict), fields.a("fills_", dict)
    if fields.a("sparse_", bool):
        return
    if len(names) != d or len({*names}) != d or not all(isinstance(name, str) for name in names):
        fields.fail("names_", f"must be {d} different names")
    if len(kinds) != d or not {*kinds} <= {*KINDS} or {*kinds} <= {"constant"}:
        fields.fail("kinds_", f"must be {d} kinds of columns")
    for name, kind in zip(names, kinds, strict=True):
        if kind == "category" and not _are_texts(categories.get(name)):
            fields.fail("categories_", f"has no list of different texts for {name!r:.40}")
    if not {*categories, *fills} <= {*names} or not all(type(fill) is float for fill in fills.values()):
        fields.fail("fills_", "must be numbers for columns that there are")
    if not np.isfinite([*fills.values()]).all():
        fields.fail("fills_", "holds values that are no finite numbers")
    if fields.get("target_place_") is not None and fields.count("target_place_") > d:
        fields.fail("target_place_", f"is {fields.count('target_place_')}, beyond the last of {d} columns")


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) for v in values) and len({*values}) == len(values) > 0


def _scaler(fields: Fields, needed: dict[str, str], others: tuple[str, ...] = (), divisor: str = "scale_") -> None:
    """Numbers for each column; those that a setting asks for must be there, and nothing is divided by 0."""
    fields.width()
    for attribute, setting in needed.items():
        if not setting or getattr(fields.estimator, setting):
            fields.numbers(attribute, "d")
    for attribute in (*needed, *others):
        if fields.has(attribute):
            fields.numbers(attribute, "d")
    if fields.has(divisor) and not np.all(fields.get(divisor)):
        fields.fail(divisor, "holds zeros")


def _min_max_scaler(fields: Fields) -> None:
    _scaler(fields, {"min_": "", "scale_": ""}, ("data_min_", "data_max_", "data_range_"))
    ends = fields.estimator.feature_range
    if not (len(ends) == 2 and all(isinstance(end, int | float) for end in ends) and ends[0] < ends[1]):
        fields.fail("feature_range", f"is {ends!r:.40}, not two numbers in their order")


def _normalizer(fields: Fields) -> None:
    fields.width()
    fields.setting("norm", "l1", "l2", "max")


def _pipeline(fields: Fields) -> None:
    """Named steps, each of which takes what the one before it gives."""
    steps = fields.estimator.steps
    if not isinstance(steps, list) or not steps:
        fields.fail("steps", "must be a list of named steps")
    given: int | None = None
    for place, step in enumerate(steps):
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str):
            fields.fail("steps", "must be a list of named steps")
        last = place == len(steps) - 1
        if step[1] is None or step[1] == "passthrough":
            continue
        if not hasattr(step[1], "fit" if last else "transform"):
            fields.fail("steps", f"has the step {step[0]!r:.40}, which cannot do what it is there for")
        taken = width_in(step[1])
        if given is not None and taken is not None and taken != given:
            fields.fail("steps", f"has the step {step[0]!r:.40}, which takes {taken} columns and is given {given}")
        given = width_out(step[1])


STEPS: dict[str, Callable[[Fields], Any]] = {
    "PolynomialMap": partial(_map, rule=_polynomial_map),
    "PolarMap": partial(_map, rule=_polar_map),
    "PrototypeMap": partial(_map, rule=_prototype_map),
    "GaussianSeries": partial(_map, rule=_gaussian_series),
    "RandomFourier": partial(_map, rule=_random_fourier),
    "Nystrom": partial(_map, rule=_nystrom),
    "SpectralMap": partial(_map, rule=_spectral_map),
    "KernelPCA": _kernel_pca,
    "KernelKMeans": _kernel_kmeans,
    "Encoder": _encoder,
    "Pipeline": _pipeline,
    "StandardScaler": partial(_scaler, needed={"mean_": "with_mean", "scale_": "with_std", "var_": "with_std"}),
    "MinMaxScaler": _min_max_scaler,
    "MaxAbsScaler": partial(_scaler, needed={"scale_": "", "max_abs_": ""}),
    "RobustScaler": partial(_scaler, needed={"center_": "with_centering", "scale_": "with_scaling"}),
    "Normalizer": _normalizer,
}

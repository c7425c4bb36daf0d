"""What must hold of an estimator that comes from a file, one rule for each kind.

Compiled code trusts shapes, indices and counts, so every number that is used as one is compared here with the arrays
that it counts, before anything is computed. A new estimator is one rule.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..kernels import FromFeatures, Gaussian, Kernel, Linear, Polynomial
from ..kernels.monomials import Monomials
from ..kernels.points import Domain
from ..online import Held, MarginCertificate
from ..solvers.normal_equations import width_of_features
from ..types import Array
from .fields import Fields


def require_consistent(name: str, estimator: Any) -> None:
    """Raise where what an estimator has learned does not belong together, or lacks a part."""
    fields = Fields(name, estimator)
    if not fields.state and name != "Pipeline":
        return  # not fitted
    if hasattr(estimator, "_check"):
        estimator._check()  # its settings
    _RULES[name](fields)


# Machines.


def _machine(fields: Fields) -> Kernel:
    """Support vectors, their coefficients and rows, and what is proved of them."""
    kernel = fields.kernel()
    _points(fields, "support_vectors_", "s", kernel)
    fields.numbers("dual_coef_", "r s")
    problems = len(fields.numbers("intercept_", "p"))
    fields.indices("support_", "s", _rows(fields, kernel))
    _weights(fields, kernel)
    _expanded(fields, kernel)
    if "_single" in fields.state:
        fields.a("_single", bool)
    fields.answers(problems)
    fields.count("n_iter_")
    return kernel


def _points(fields: Fields, attribute: str, letter: str, kernel: Kernel) -> None:
    """Points of the kernel; of a kernel whose values are given, none are kept."""
    if kernel.domain in (Domain.VECTORS, Domain.VALUES):
        fields.width()
    if kernel.domain is not Domain.VALUES:
        fields.points(attribute, letter, kernel)
    elif fields.numbers(attribute, "none none").size:
        fields.fail(attribute, "must be empty, since the values of its kernel are given")


def _rows(fields: Fields, kernel: Kernel) -> int:
    """The rows of the training, among which the support vectors are; they are columns of values that are given."""
    shape = fields.a("shape_fit_", tuple)
    widths = [fields.lengths["d"]] if kernel.domain in (Domain.VECTORS, Domain.VALUES) else []
    if not all(type(length) is int and length > 0 for length in shape) or list(shape[1:]) != widths:
        fields.fail("shape_fit_", f"is {shape!s:.60}, which does not go with its other arrays")
    return min(shape) if kernel.domain is Domain.VALUES else int(shape[0])


def _weights(fields: Fields, kernel: Kernel) -> None:
    """w of each problem, where the kernel is linear, and there only."""
    if isinstance(kernel, Linear):
        fields.numbers("_coef", "p d")
    elif fields.get("_coef") is not None:
        fields.fail("_coef", "is there, although its kernel is not linear")


def _expanded(fields: Fields, kernel: Kernel) -> None:
    """Features of a polynomial kernel: as many as there are weights, before any of them is computed."""
    if not fields.has("_expanded"):
        return
    from ..estimators.expanded import Expanded
    from ..kernels.expansion import MOST, Expansion

    held = fields.a("_expanded", Expanded)
    if type(held.expansion) is not Expansion or held.expansion.kernel != kernel or not isinstance(kernel, Polynomial):
        fields.fail("_expanded", "has features that are not those of its kernel")
    width = kernel.monomials(fields.lengths["d"]) - (0 if held.expansion.whole is True else 1)
    if not 0 < width <= MOST:
        fields.fail("_expanded", "has too many features")
    inner = Fields("_expanded", fields.estimator)
    inner.state = vars(held) | {"centre": held.expansion.centre}
    inner.expect(p=fields.lengths["p"], d=fields.lengths["d"], features=width)
    inner.numbers("weights", "p features")
    inner.numbers("biases", "p")
    inner.numbers("centre", "d")


def _each_or_one(classes: int) -> int:
    """The problems of so many classes: one for two of them, or each against the rest."""
    return 1 if classes == 2 else classes


def _svc(fields: Fields) -> None:
    k = fields.classes()
    paired = fields.setting("multiclass", "ovo", "ovr") == "ovo" and k > 2
    one = _each_or_one(k)
    fields.expect(r=k - 1 if paired else one, p=k * (k - 1) // 2 if paired else one)
    _machine(fields)
    fields.sizes("n_support_", k, "s")


def _kernel_logistic(fields: Fields) -> None:
    k = fields.classes()
    fields.expect(r=_each_or_one(k), p=_each_or_one(k))
    _machine(fields)
    fields.sizes("n_support_", k, "s")


def _one_problem(fields: Fields) -> None:
    fields.expect(r=1, p=1)
    _machine(fields)
    fields.sizes("n_support_", 1, "s")


def _linear_svc(fields: Fields) -> None:
    problems = _each_or_one(fields.classes())
    fields.expect(p=problems)
    fields.kernel()
    n = fields.width()
    fields.numbers("_coef", "p d")
    fields.numbers("intercept_", "p")
    fields.count("n_iter_")
    fields.answers(problems)
    if fields.has("certificate_") or fields.has("dual_coef_") or fields.has("support_"):
        fields.numbers("dual_coef_", "p s")
        shape = fields.a("shape_fit_", tuple)
        if len(shape) != 2 or type(shape[0]) is not int or shape[1] != n:
            fields.fail("shape_fit_", f"is {shape!s:.60}, which does not go with its other arrays")
        fields.indices("support_", "s", shape[0])


# Perceptrons.


def _perceptron(fields: Fields) -> None:
    problems = _each_or_one(fields.classes())
    fields.expect(p=problems)
    fields.width()
    fields.numbers("coef_", "p d")
    fields.numbers("intercept_", "p")
    fields.whole("n_mistakes_", "p")
    _what_happened(fields, problems)


def _kernel_perceptron(fields: Fields) -> None:
    problems = _each_or_one(fields.classes())
    fields.expect(p=problems)
    kernel = fields.kernel()
    if kernel.domain is Domain.VALUES:  # of which it keeps the columns of the points that it holds
        fields.width()
    else:
        _points(fields, "support_vectors_", "s", kernel)
    beta = fields.numbers("dual_coef_", "p s")
    fields.numbers("intercept_", "p")
    fields.indices("support_", "s", fields.lengths["d"] if kernel.domain is Domain.VALUES else 2**62)
    if not np.array_equal(fields.whole("n_support_", "p"), np.count_nonzero(beta, axis=1)):
        fields.fail("n_support_", "does not count the coefficients that are not 0")
    _weights(fields, kernel)
    _held(fields)
    _what_happened(fields, problems)


def _held(fields: Fields) -> None:
    """The points that are held, from which a stream goes on and votes are cast."""
    held = fields.a("_held", Held)
    inner = Fields("_held", fields.estimator)
    inner.state, inner.lengths = vars(held), fields.lengths
    signs, weights = inner.numbers("signs", "p s"), inner.numbers("weights", "p s")
    seen = inner.count("seen")
    inner.indices("since", "s", max(1, seen))
    if (inner.numbers("stamps", "p s") < 0).any() or (weights < 0).any() or not signs.all():
        fields.fail("_held", "holds counts below 0, or signs that are none")
    if fields.setting("variant", "plain", "averaged", "voted") != "voted":
        return
    if fields.count("_seen") != seen:
        fields.fail("_seen", f"is {fields.count('_seen')}, but {seen} points have been seen")
    fields.expect(three=3)
    machines, points, times = fields.whole("_sequence", "three votes")
    inside = times.size == 0 or (
        machines.max() < fields.lengths["p"] and points.max() < fields.lengths["s"] and times.max() < seen
    )
    if not inside or (np.diff(times) < 0).any() or not _add_up(held, machines, points, times):
        fields.fail("_sequence", "has votes of points that it does not hold, or at times that never were")


def _add_up(held: Held, machines: Array, points: Array, times: Array) -> bool:
    """Whether the votes are the mistakes that the points are held for: as many of each, at times of the same sum."""
    weights, stamps = np.zeros(held.weights.shape), np.zeros(held.weights.shape)
    np.add.at(weights, (machines, points), 1.0)
    np.add.at(stamps, (machines, points), times)
    return np.array_equal(weights, held.weights) and np.array_equal(stamps, held.stamps)


def _what_happened(fields: Fields, problems: int) -> None:
    """The mistakes on each row, of each machine where there are several, and what is proved."""
    fields.whole("mistakes_", "rows" if problems == 1 else "p rows")
    if fields.has("trace_"):
        fields.a("trace_", tuple)
    fields.answers(problems, MarginCertificate)
    fields.count("n_iter_")


# Ridge regression.


def _ridge(fields: Fields) -> None:
    kernel = fields.kernel()
    several = np.ndim(fields.get("dual_coef_")) == 2
    if kernel.domain in (Domain.VECTORS, Domain.VALUES):
        d = fields.width()
        fields.expect(**({"n": d} if kernel.domain is Domain.VALUES else {}))
    fields.points("X_fit_", "n", kernel)
    fields.numbers("dual_coef_", "n m" if several else "n")
    for attribute in ("intercept_", "amplitude_"):
        fields.numbers(attribute, "m") if several else fields.number(attribute)
    targets = fields.lengths["m"] if several else 1
    fields.expect(m=targets)
    if not fields.number("alpha_") > 0:
        fields.fail("alpha_", "must be greater than 0")
    fields.count("n_iter_")
    fields.answers(targets)
    if isinstance(kernel, Linear):
        fields.numbers("_coef", "m d" if several else "d")
    elif fields.get("_coef") is not None:
        fields.fail("_coef", "is there, although its kernel is not linear")
    fields.a("has_landmarks_", bool)
    _feature_weights(fields, kernel)
    _spread(fields)
    _left_out(fields, kernel)


def _feature_weights(fields: Fields, kernel: Kernel) -> None:
    """w in explicit features, where f was found there."""
    if fields.get("_feature_weights") is None:
        return
    width = width_of_features(kernel, fields.get("X_fit_"))
    if width is None:
        fields.fail("_feature_weights", "is there, although its kernel has no features")
    fields.expect(features=width)
    fields.numbers("_feature_weights", "features m")


def _left_out(fields: Fields, kernel: Kernel) -> None:
    """The rows that are left out in turn, where landmarks stand for all rows."""
    parts = ("_left_points", "_left_weight", "_left_errors")
    if not any(fields.has(part) for part in parts):
        return
    fields.points("_left_points", "left", kernel)
    fields.numbers("_left_weight", "left")
    fields.numbers("_left_errors", "left m")


def _spread(fields: Fields) -> None:
    """Where deviations come from: the rows of the training and their noise, or normal equations."""
    if fields.get("_spread_centre") is not None:
        fields.numbers("_spread_centre", "d")
    if fields.get("_training_ridge") is not None:
        pair = fields.a("_training_ridge", tuple)
        inner = Fields("_training_ridge", fields.estimator)
        inner.state = dict(zip(("rows", "noise"), pair, strict=True))
        inner.indices("rows", "rows", fields.lengths["n"])
        inner.numbers("noise", "rows")
    elif fields.get("_spread_") is None and not fields.get("has_landmarks_"):
        fields.fail("_training_ridge", "is missing")
    if fields.get("_spread_") is not None:
        _weights_spread(fields)


def _weights_spread(fields: Fields) -> None:
    from ..estimators.ridge_spread import WeightsSpread

    spread = fields.a("_spread_", WeightsSpread)
    inner = Fields("_spread_", fields.estimator)
    inner.state = vars(spread) | {"inverse": getattr(spread.inverse, "L", None)}
    inner.expect(one=1, **{letter: fields.lengths[letter] for letter in ("d",) if letter in fields.lengths})
    kernel = inner.kernel("kernel")
    if kernel != fields.get("kernel_"):
        inner.fail("kernel", "is another one")
    if spread.landmarks is not None:
        inner.points("landmarks", "q", kernel)
        inner.numbers("L", "q q")
    elif spread.L is not None:
        inner.fail("L", "is there, although there are no landmarks")
    else:
        inner.expect(q=width_of_features(kernel, fields.get("X_fit_")) or 0)
        fields.numbers("_feature_weights", "features m")
    inner.numbers("mean", "q one")
    inner.numbers("inverse", "q q")
    if min(inner.number("penalty"), inner.number("free")) < 0:
        inner.fail("penalty", "must not be below 0")


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
        taken = getattr(step[1], "n_features_in_", None)
        if given is not None and taken is not None and taken != given:
            fields.fail("steps", f"has the step {step[0]!r:.40}, which takes {taken} columns and is given {given}")
        given = _width_out(step[1])


def _width_out(step: Any) -> int | None:
    """How many columns a fitted step gives; None where that is not known."""
    if hasattr(step, "names_"):
        return len(step.get_feature_names_out())
    width = getattr(step, "_n_features_out", getattr(step, "n_features_in_", None))
    return width if isinstance(width, int) else None


_RULES: dict[str, Callable[[Fields], Any]] = {
    "SVC": _svc,
    "SVR": _one_problem,
    "OneClassSVM": _one_problem,
    "KernelLogistic": _kernel_logistic,
    "LinearSVC": _linear_svc,
    "Perceptron": _perceptron,
    "KernelPerceptron": _kernel_perceptron,
    "KernelRidge": _ridge,
    "PolynomialMap": partial(_map, rule=_polynomial_map),
    "PolarMap": partial(_map, rule=_polar_map),
    "PrototypeMap": partial(_map, rule=_prototype_map),
    "GaussianSeries": partial(_map, rule=_gaussian_series),
    "RandomFourier": partial(_map, rule=_random_fourier),
    "Nystrom": partial(_map, rule=_nystrom),
    "SpectralMap": partial(_map, rule=_spectral_map),
    "Encoder": _encoder,
    "Pipeline": _pipeline,
    "StandardScaler": partial(_scaler, needed={"mean_": "with_mean", "scale_": "with_std", "var_": "with_std"}),
    "MinMaxScaler": _min_max_scaler,
    "MaxAbsScaler": partial(_scaler, needed={"scale_": "", "max_abs_": ""}),
    "RobustScaler": partial(_scaler, needed={"center_": "with_centering", "scale_": "with_scaling"}),
    "Normalizer": _normalizer,
}
"""The rule of each class that a model file may hold."""

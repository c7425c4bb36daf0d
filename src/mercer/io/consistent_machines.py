"""What must hold of a machine that comes from a file: see consistent.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import Kernel, Linear, Polynomial
from ..kernels.points import Domain
from ..online import Held, MarginCertificate
from ..solvers.ridge.posed import width_of_features
from ..types import Array
from .fields import Fields

# Support vectors.


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


MACHINES: dict[str, Callable[[Fields], Any]] = {
    "SVC": _svc,
    "SVR": _one_problem,
    "OneClassSVM": _one_problem,
    "KernelLogistic": _kernel_logistic,
    "LinearSVC": _linear_svc,
    "Perceptron": _perceptron,
    "KernelPerceptron": _kernel_perceptron,
    "KernelRidge": _ridge,
}

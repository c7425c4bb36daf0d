"""Estimators of scikit-learn (and scikit-learn-intelex) in Mercer's terms: the same kernel, the same problem."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.metrics.pairwise import pairwise_kernels, sigmoid_kernel

from ..kernels import FromBlocks, Gaussian, Kernel, Linear, Polynomial, Precomputed
from ..kernels import kernel as as_kernel
from ..kernels.points import width
from ..types import Points
from .machine import Machine
from .one_class import OneClassSVM
from .svc import SVC
from .svr import SVR


def as_machine(estimator: Any, X: Points) -> Machine:
    """An unfitted machine of Mercer's with the settings of the estimator."""
    names = {cls.__name__ for cls in type(estimator).__mro__}
    if "SVC" in names:
        # As they were found: for "balanced", its SVC counts points without their weights.
        found = None if estimator.class_weight is None else getattr(estimator, "class_weight_", None)
        weights = estimator.class_weight if found is None else dict(zip(estimator.classes_, found, strict=True))
        return SVC(_kernel(estimator, X), estimator.C, class_weight=weights)
    if "SVR" in names:
        return SVR(_kernel(estimator, X), estimator.C, estimator.epsilon)
    if "OneClassSVM" in names:
        return OneClassSVM(_kernel(estimator, X), estimator.nu)
    raise TypeError(
        "certify takes a fitted machine of Mercer, or an SVC, SVR, OneClassSVM, LinearSVC or KernelRidge of "
        f"scikit-learn (or scikit-learn-intelex), not {type(estimator).__name__}."
    )


def _kernel(estimator: Any, X: Points) -> Kernel:
    """The kernel of a support vector machine."""
    name, gamma = estimator.kernel, _gamma(estimator, X)
    if callable(name):
        return as_kernel(name)
    if name == "sigmoid":
        return FromBlocks(partial(sigmoid_kernel, gamma=gamma, coef0=estimator.coef0))
    return _by_name(name, gamma, estimator.degree, estimator.coef0)


def _by_name(name: str, gamma: float, degree: int, coef0: float) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "precomputed":
        return Precomputed()
    if name == "rbf":
        return Gaussian(gamma)
    return Polynomial(degree, gamma, coef0)


def _gamma(estimator: Any, X: Points) -> float:
    """The number that gamma="scale" or "auto" stood for."""
    if hasattr(estimator, "_gamma"):
        return float(estimator._gamma)
    if not isinstance(estimator.gamma, str):
        return float(estimator.gamma)
    if estimator.gamma == "auto":
        return 1.0 / width(X)
    return float(Gaussian("scale").resolve(X).gamma)


def ridge_kernel(estimator: Any) -> Kernel:
    """The kernel of a KernelRidge: gamma None is 1 / d; functions are of two points."""
    name, gamma = estimator.kernel, estimator.gamma
    if name == "precomputed":
        return Precomputed()
    if name in ("linear", "rbf", "poly", "polynomial"):
        gamma = 1.0 / width(estimator.X_fit_) if gamma is None else gamma
        return _by_name(name, float(gamma), estimator.degree, float(estimator.coef0))
    settings = estimator.kernel_params or {}
    if not callable(name):
        settings = {"gamma": gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    return FromBlocks(partial(pairwise_kernels, metric=name, filter_params=not callable(name), **settings))

"""Settings that people know from scikit-learn, and where they are here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

_OF_THE_KERNEL = 'it belongs to the kernel, as in kernel="{}"; in a grid search it is kernel__{}'
ELSEWHERE = {
    "gamma": _OF_THE_KERNEL.format("rbf(gamma=0.1)", "gamma"),
    "degree": _OF_THE_KERNEL.format("poly(degree=3)", "degree"),
    "coef0": _OF_THE_KERNEL.format("poly(coef0=1)", "coef0"),
    "probability": "for probabilities take KernelLogistic(), or scikit-learn's CalibratedClassifierCV(SVC())",
    "cache_size": 'it is memory="2GB", for all that the fit may take',
    "decision_function_shape": "decision_function has a column for each class; see pairwise_decision_function",
    "break_ties": "votes that tie are always decided by the margins",
    "fit_intercept": "it is bias=True or bias=False",
}


def tells_where(init: Callable[..., None]) -> Callable[..., None]:
    """The same constructor, with an error that helps for a setting that is elsewhere."""
    known = signature(init).parameters

    @wraps(init)
    def constructor(self: Any, *args: Any, **settings: Any) -> None:
        for name in settings:
            if name in ELSEWHERE and name not in known:
                raise TypeError(f"{type(self).__name__} has no {name}: {ELSEWHERE[name]}.")
        init(self, *args, **settings)

    return constructor

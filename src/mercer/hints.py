"""Settings and methods that people know from scikit-learn, and where they are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ClassVar, NoReturn

from .params import suggestion

_OF_THE_KERNEL = 'it belongs to the kernel, as in kernel="{}"; in a grid search it is kernel__{}'
KERNEL_SETTINGS = {
    "gamma": _OF_THE_KERNEL.format("rbf(gamma=0.1)", "gamma"),
    "degree": _OF_THE_KERNEL.format("poly(degree=3)", "degree"),
    "coef0": _OF_THE_KERNEL.format("poly(coef0=1)", "coef0"),
    "kernel_params": 'they belong to the kernel, as in kernel="rbf(gamma=0.1)"',
}
"""Of whatever has a kernel."""
SKLEARN_SETTINGS = {
    "n_jobs": "all cores that BLAS may use are used; threadpoolctl.threadpool_limits(1) limits both",
    "probability": "for probabilities take KernelLogistic(), or scikit-learn's CalibratedClassifierCV(SVC())",
    "nu": "it is C, the weight of mistakes; SVC(C=...) finds the machines that NuSVC does, and SVR those of NuSVR",
    "shrinking": "points that are settled are always left aside, so leave it out",
    "penalty": "it is always |w|^2 / 2, penalty='l2'; to choose features by 'l1', put scikit-learn's "
    "SelectFromModel(LinearSVC(penalty='l1', dual=False)) before it",
    "dual": "primal and dual are solved together, whatever the shape of X, so leave it out",
    "multi_class": "each class is told from the rest, multi_class='ovr', so leave it out",
    "intercept_scaling": "bias=True does not penalise the intercept at all; bias='penalised' is intercept_scaling=1",
    "cache_size": 'it is memory="2GB", for all that the fit may take',
    "decision_function_shape": "decision_function has a column for each class; see pairwise_decision_function",
    "break_ties": "votes that tie are always decided by the margins",
    "fit_intercept": "it is bias=True or bias=False",
}


class Absent:
    """A method that is not there, as hasattr says too, with an error that helps."""

    def __init__(self, instead: str) -> None:
        self.instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, machine: Any, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.instead}.")


NO_PROBABILITIES = (
    "for probabilities take KernelLogistic(), or scikit-learn's CalibratedClassifierCV around this machine"
)


def tells_where(init: Callable[..., None]) -> Callable[..., None]:
    """The same constructor, with an error that helps for a setting that has another name or place here."""
    known = signature(init).parameters
    replacements = SKLEARN_SETTINGS | (KERNEL_SETTINGS if "kernel" in known else {})
    names = [name for name in known if name != "self"]
    any_name = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values())

    @wraps(init)
    def constructor(self: Any, *args: Any, **settings: Any) -> None:
        for name in settings:
            instead = None if name in known else self._other_names.get(name, replacements.get(name))
            if instead is not None:
                raise TypeError(f"{type(self).__name__} has no {name}: {instead}.")
            near = "" if name in known or any_name else suggestion(name, names)
            if "Did you mean" in near:
                raise TypeError(f"{type(self).__name__} has no {name}.{near}")
        init(self, *args, **settings)

    return constructor


class TellsWhere:
    """An estimator whose constructors are such; `_other_names` are those that settings of this class alone have in
    scikit-learn.
    """

    _other_names: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            type.__setattr__(cls, "__init__", tells_where(cls.__init__))  # so that editors see the one that is written

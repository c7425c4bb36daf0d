"""Mercer: kernels and their algebra, Gram matrices, feature maps, RKHS functions, machines with certificates."""

from __future__ import annotations

from importlib import import_module as _import

# False, but not as editors read it. (typing itself takes a third of the time that Python takes to start.)
TYPE_CHECKING = bool()  # noqa: UP018
if TYPE_CHECKING:
    from typing import Any

    from . import distributed, dropin, estimators, explain, features, gram, io, kernels, losses, play, plot, solvers
    from .driver import solve
    from .estimators import (
        SVC,
        SVR,
        KernelKMeans,
        KernelLogistic,
        KernelPCA,
        KernelPerceptron,
        KernelRidge,
        LinearSVC,
        OneClassSVM,
        Perceptron,
    )
    from .estimators.certifying import certify
    from .function import RKHSFunction
    from .gram import evidence, gram_of
    from .io import load, save
    from .kernels import kernel
    from .problem import Problem
    from .report import show
    from .search import Search, one_standard_error, tune

__version__ = "0.1.0.dev0"
__all__ = [
    "SVC",
    "SVR",
    "KernelKMeans",
    "KernelLogistic",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LinearSVC",
    "OneClassSVM",
    "Perceptron",
    "Problem",
    "RKHSFunction",
    "Search",
    "certify",
    "distributed",
    "dropin",
    "estimators",
    "evidence",
    "explain",
    "features",
    "gram",
    "gram_of",
    "io",
    "kernel",
    "kernels",
    "load",
    "losses",
    "one_standard_error",
    "play",
    "plot",
    "save",
    "show",
    "solve",
    "solvers",
    "tune",
]

_HOME = {
    "SVC": "estimators", "SVR": "estimators", "OneClassSVM": "estimators", "KernelLogistic": "estimators",
    "KernelRidge": "estimators", "LinearSVC": "estimators", "Perceptron": "estimators",
    "KernelPerceptron": "estimators", "KernelPCA": "estimators",
    "KernelKMeans": "estimators", "certify": "estimators.certifying",
    "Problem": "problem", "RKHSFunction": "function", "evidence": "gram", "gram_of": "gram", "kernel": "kernels",
    "solve": "driver", "save": "io", "load": "io", "show": "report",
    "Search": "search", "one_standard_error": "search", "tune": "search",
}  # fmt: skip

_LEFT_OUT = {
    "NuSVC": "SVC(C=...) finds the same machines, with C in place of nu",
    "NuSVR": "SVR(C=..., epsilon=...) finds the same machines, with epsilon in place of nu",
    "LinearSVR": 'SVR("linear") is that machine, and fast where features are few',
}  # of scikit-learn


def __getattr__(name: str) -> Any:
    """Import what is asked for, and nothing before."""
    if name in _LEFT_OUT:  # an ImportError, since `from mercer import` hides the words of an AttributeError
        raise ImportError(f"Mercer has no {name}: {_LEFT_OUT[name]}.")
    if name in _HOME:
        return getattr(_import(f".{_HOME[name]}", __name__), name)
    if name in __all__:
        return _import(f".{name}", __name__)
    kernels = _import(".kernels", __name__)
    hint = f": it is mercer.kernels.{name}" if name in kernels.__all__ else ""
    raise AttributeError(f"module 'mercer' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

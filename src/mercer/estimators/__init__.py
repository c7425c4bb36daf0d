"""scikit-learn estimators, each with a certificate; `mercer.certify` gives one for those of others. Imported when first
used.
"""

from importlib import import_module as _import
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..solution import WorstCertificate
    from .checks import IndefiniteKernelWarning, ScaleWarning
    from .contributions import Contributions
    from .kernel_kmeans import KernelKMeans
    from .kernel_pca import KernelPCA
    from .kernel_perceptron import KernelPerceptron
    from .linear_svc import LinearSVC
    from .logistic import KernelLogistic
    from .one_class import OneClassSVM
    from .perceptron import Perceptron
    from .ridge import KernelRidge
    from .svc import SVC
    from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "Contributions",
    "IndefiniteKernelWarning",
    "KernelKMeans",
    "KernelLogistic",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LinearSVC",
    "OneClassSVM",
    "Perceptron",
    "ScaleWarning",
    "WorstCertificate",
]

_HOME = {
    "SVC": "svc", "SVR": "svr", "OneClassSVM": "one_class", "LinearSVC": "linear_svc", "KernelRidge": "ridge",
    "KernelLogistic": "logistic", "Perceptron": "perceptron", "KernelPerceptron": "kernel_perceptron",
    "KernelPCA": "kernel_pca", "KernelKMeans": "kernel_kmeans",
    "Contributions": "contributions", "IndefiniteKernelWarning": "checks", "WorstCertificate": ".solution",
    "ScaleWarning": "checks",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for, and nothing before: each machine needs only some of scikit-learn."""
    if name in _HOME:
        return getattr(_import(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

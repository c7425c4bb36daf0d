"""k(x, z): kernels as frozen values, and their algebra."""

from typing import Any as _Any

from ..parse import parse as _parse
from .base import REGISTRY, Constant, Kernel, Power, Product, Scaled, Sum
from .blocks import FromBlocks, FromGaussianProcess
from .blocks import is_process as _is_process
from .custom import FromFeatures, FromFunction, Precomputed
from .dot import Linear, Polynomial
from .histogram import Chi2, ExpChi2, Intersection
from .stationary import Gaussian, Laplacian, Matern, Periodic, RationalQuadratic
from .transforms import Centered, Normalized

__all__ = [
    "REGISTRY",
    "Centered",
    "Chi2",
    "Constant",
    "ExpChi2",
    "FromBlocks",
    "FromFeatures",
    "FromFunction",
    "FromGaussianProcess",
    "Gaussian",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Normalized",
    "Periodic",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sum",
    "kernel",
]

_ELSEWHERE = {
    "sigmoid": "The sigmoid is not positive definite, so nothing could be proved of a fit: take rbf, or poly.",
    "cosine": "It is normalized(linear).",
}


def kernel(text: _Any) -> Kernel:
    """The kernel that a text describes: `kernel("2*rbf(gamma=0.5) + linear()")`; a kernel is given back as it is.

    As in scikit-learn, a function is one of two matrices; kernels of its Gaussian processes are taken, too.
    """
    if isinstance(text, Kernel):
        return text
    if not isinstance(text, str):
        if _is_process(text):
            return FromGaussianProcess(text)
        if callable(text) and not isinstance(text, type):
            return FromBlocks(text)
        given = f"the class {text.__name__}" if isinstance(text, type) else repr(text)
        raise TypeError(
            f"A kernel is an object such as Gaussian(), text such as 'rbf' or a function of two matrices, not {given}. "
            "A function of two points becomes a kernel by FromFunction(f)."
        )
    value: Kernel = _parse(text, REGISTRY, "kernel", _ELSEWHERE)
    return value


def __dir__() -> list[str]:
    return __all__

"""k(x, z): kernels as frozen values, and their algebra."""

from .base import REGISTRY, Constant, Kernel, Power, Product, Scaled, Sum, kernel
from .blocks import FromBlocks, FromGaussianProcess
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


def __dir__() -> list[str]:
    return __all__

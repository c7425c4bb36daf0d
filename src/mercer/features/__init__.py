"""phi(x): explicit feature maps, each a scikit-learn transformer that names the kernel it induces."""

from .base import FeatureMap
from .fourier import RandomFourier
from .nystrom import Nystrom
from .polar import PolarMap
from .polynomial import PolynomialMap
from .prototypes import PrototypeMap
from .series import GaussianSeries
from .spectral import SpectralMap

__all__ = [
    "FeatureMap", "GaussianSeries", "Nystrom", "PolarMap", "PolynomialMap", "PrototypeMap", "RandomFourier",
    "SpectralMap",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__

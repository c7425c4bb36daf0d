"""Pictures (needs matplotlib: `pip install 'mercer[plot]'`). Each takes an optional `ax` and returns it."""

from .alphas import alphas
from .boundary import boundary
from .confusion import confusion
from .convergence import convergence
from .curve import curve
from .feature_map import feature_map
from .gram import gram
from .grid import grid
from .path import path

__all__ = ["alphas", "boundary", "confusion", "convergence", "curve", "feature_map", "gram", "grid", "path"]


def __dir__() -> list[str]:
    return __all__

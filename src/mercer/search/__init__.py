"""Tuning: `Search` scores the settings of a grid by cross-validation, with work that fits share."""

from .choose import one_standard_error
from .search import Search
from .tuned import tune

__all__ = ["Search", "one_standard_error", "tune"]

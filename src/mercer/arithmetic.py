"""NumPy's floating-point settings, which a user may have changed: ours are always the default ones; and sums.

Numbers that underflow are part of our arithmetic, and overflow is looked for where it matters. So a program's
np.seterr(all="raise") must neither break a fit nor change it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from .types import Array

_F = TypeVar("_F", bound=Callable[..., Any])
_DEFAULTS: Any = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def by_default(function: _F) -> _F:
    """The function, run under NumPy's default settings. (np.errstate as a decorator could not be pickled.)"""

    @wraps(function)
    def run(*args: Any, **more: Any) -> Any:
        with np.errstate(**_DEFAULTS):
            return function(*args, **more)

    return cast(_F, run)


class DefaultArithmetic:
    """Every public method of a class derived from this one runs under NumPy's default settings."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, by_default(method))


def inner(a: Array, b: Array) -> float:
    """sum a_i b_i without BLAS: its threads would go on spinning beside ours."""
    return float(np.einsum("i,i->", a, b))

"""The decorators of compiled functions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numba

from ..limits import ctrl_c_held

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _say_uncached() -> None:
    logging.getLogger("mercer").warning(
        "No folder for compiled code is writable, so it is compiled anew in each process; "
        "set NUMBA_CACHE_DIR to a writable folder to keep it."
    )


def _compile(function: Function, fastmath: set[str], **more: Any) -> Function:
    """Compile for this CPU, without the GIL, cached on disk where a folder for it is writable."""
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "error_model": "numpy", **more}
    try:
        result: Function = numba.njit(function, cache=True, **options)
    except RuntimeError:  # Numba finds no place to write its cache
        _say_uncached()
        result = numba.njit(function, **options)
    if hasattr(result, "_compile_for_args"):  # not where compiling is disabled
        compile_now = result._compile_for_args

        def compile_in_peace(*args: Any, **more: Any) -> Any:
            with ctrl_c_held():
                return compile_now(*args, **more)

        result._compile_for_args = compile_in_peace
    return result


def compiled(function: Function) -> Function:
    """Compile; sums may be reordered so that they vectorise, but not-a-number and infinity keep their meaning."""
    return _compile(function, {"nsz", "arcp", "contract", "afn", "reassoc"})


def exactly_compiled(function: Function) -> Function:
    """Compile; every operation in the order in which it is written (a product and a sum may be fused)."""
    return _compile(function, {"contract"})


def literally_compiled(function: Function) -> Function:
    """Compile; every operation as it is written, none fused with another: the bits are those of NumPy."""
    return _compile(function, set())


def finitely_compiled(function: Function) -> Function:
    """Compile; in the order in which it is written, but no number is NaN: the larger of two is then one operation."""
    return _compile(function, {"contract", "nnan", "nsz"})


def piece(function: Function) -> Function:
    """As `exactly_compiled`, for what an inner loop calls: it makes no arrays, so that none have to be counted."""
    return _compile(function, {"contract"}, _nrt=False)


def inlined(function: Function) -> Function:
    """As `piece`, its code put where it is called."""
    return _compile(function, {"contract"}, _nrt=False, forceinline=True)

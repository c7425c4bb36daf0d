"""Compiled loops: arrays and scalars in, arrays out. Nothing here knows a kernel, a Gram matrix or a machine.

Every function is serial, releases the GIL and is cached on disk. Importing a module of this folder imports Numba, so
the rest of Mercer does it inside the functions that need it; but for small.py, in NumPy, which small problems use.
"""

from typing import Any

from .small import is_small as is_small

CHUNK = 64
"""Arrays of working sets are padded to a multiple of this."""


def padded(n: int) -> int:
    """The length of the arrays of n points: with room for one more, and padded."""
    return -(-(n + 1) // CHUNK) * CHUNK


def loops(small: bool) -> Any:
    """The loops of the decomposition: compiled, or of NumPy for a small K."""
    if small:
        from . import small as numpy_loops

        return numpy_loops
    from . import working_set

    return working_set

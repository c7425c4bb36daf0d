"""Loops: arrays and scalars in, arrays out. Nothing here knows a kernel, a Gram matrix or a machine.

The native core is C++ (tiles.hpp, pairs.hpp, ... by way of bindings.cpp), with a twin in Python for each function
(reference/); core.py chooses between them. The modules beside them are compiled by Numba: importing one imports Numba,
so the rest of Mercer does it inside the functions that need it; but for small.py, in NumPy.
"""

from .small import is_small as is_small

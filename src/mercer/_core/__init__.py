"""Loops: arrays and scalars in, arrays out. Nothing here knows a kernel, a Gram matrix or a machine.

The native core is C++ (tiles.hpp, pairs.hpp, ... by way of bindings.cpp), with a twin in Python for each function
(reference/); core.py chooses between them.
"""

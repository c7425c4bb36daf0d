"""The warning about kernels that are not positive definite."""

from __future__ import annotations

import warnings
from dataclasses import replace

from ..gram import Gram
from ..solution import Solution, Status


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive definite, so that a gap bounds nothing."""


def doubted(gram: Gram, solutions: list[Solution]) -> list[Solution]:
    """The same, with a warning and another status where the kernel is seen to be indefinite."""
    if gram.doubt is None:
        return solutions
    text = f"{gram.doubt}. The gap bounds nothing, and the answer may be a local one."
    warnings.warn(text, IndefiniteKernelWarning, stacklevel=5)
    status = Status.INDEFINITE
    return [replace(s, certificate=replace(s.certificate, status=status)) for s in solutions]

"""Is the kernel of a machine positive definite? Where no closure rule says so, some of the points are looked at."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from ..gram import Gram
from ..gram.evidence import evidence
from ..kernels import Kernel
from ..solution import Solution, Status

_LOOK = 500  # points on which eigenvalues are computed
_CLEARLY = 1e-6  # an eigenvalue that is negative by this part of the largest is no rounding


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive definite, so that a gap bounds nothing."""


def doubted(gram: Gram, solutions: list[Solution]) -> list[Solution]:
    """The same, with a warning and another status where the kernel is seen to be indefinite."""
    doubt = doubt_about(gram)
    if doubt is None:
        return solutions
    warnings.warn(f"{doubt}. The gap bounds nothing, and the answer may be a local one.", IndefiniteKernelWarning, 4)
    status = Status.INDEFINITE
    return [replace(s, certificate=replace(s.certificate, status=status)) for s in solutions]


def doubt_about(gram: Gram) -> str | None:
    """What is wrong with a kernel of which no rule says that it is positive definite, where points show it; or None."""
    return None if _known(gram.kernel) else _indefinite(gram)


def _known(kernel: Kernel) -> bool:
    """Whether the closure rules say that it is positive definite."""
    return kernel.reason() is not None and all(_known(part) for part in kernel.parts())


def _indefinite(gram: Gram) -> str | None:
    """What is wrong with the kernel on some of the points; None where it looks positive definite."""
    index = np.unique(np.linspace(0, gram.n - 1, min(gram.n, _LOOK)).astype(int))
    K = gram.block(index)
    seen = evidence(K)
    where = f"on {index.size} of the points"
    if seen.asymmetry > _CLEARLY * float(np.abs(K).max()):
        return f"{gram.kernel!r} is not symmetric {where}: two values differ by {seen.asymmetry:.3g}"
    if seen.witness is None or seen.smallest_eigenvalue >= -_CLEARLY * seen.largest_eigenvalue:
        return None
    return f"{gram.kernel!r} is not positive definite: its least eigenvalue {where} is {seen.smallest_eigenvalue:.3g}"

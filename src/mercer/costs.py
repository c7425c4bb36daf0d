"""What a certificate will take: one that cannot be finished in time is not begun."""

from __future__ import annotations

import numpy as np

from .limits import now
from .problem import Problem
from .types import Array

PROBE = 256  # rows of a certificate, where there is no time for all of them
TRIFLE = 1e5  # values or multiplications that are not worth a look at the clock
_PASSES = 1.5  # over features: that of the certificate, and some for the answer that is kept
_DOUBLE = 3.0  # float32 values are computed in the time of a float64 value, at most


def is_trifle(problem: Problem, values: float) -> bool:
    """Whether so few kernel values are soon computed: a clock would rather see what else the machine does."""
    kernel = problem.gram.kernel
    return values <= TRIFLE and not (kernel is not None and kernel.serial)


class Costs:
    """The seconds of a float64 certificate."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.passed = problem, 0.0

    def seconds(self, beta: Array, dual_beta: Array | None) -> float:
        """Of this answer: by what a kernel value takes; with features, by what a pass over them has taken."""
        gram, n = self.problem.gram, self.problem.n
        used = beta if dual_beta is None else (beta != 0.0) | (dual_beta != 0.0)
        support = n if gram.design is not None else max(1, int(np.count_nonzero(used)))
        if is_trifle(self.problem, n * support):
            return 0.0
        if gram.design is None:
            return gram.value_seconds * (_DOUBLE if gram.dtype == np.float32 else 1.0) * n * support
        if not self.passed:
            start = now()
            gram.recompute(np.asarray(used, np.float64))
            self.passed = _PASSES * (now() - start)
        return self.passed

"""What a certificate will take, from a few of its rows: one that cannot be finished in time is not begun."""

from __future__ import annotations

import numpy as np

from .limits import now
from .problem import Problem
from .types import Array

PROBE = 256  # rows of a certificate that are timed, to know what all of them will take,
_PROBE_VALUES = {False: 500_000, True: 1_000}  # or as few as have so many values; of kernels in Python, these
TRIFLE = 1e5  # values or multiplications that are not worth a look at the clock
_GROWN = 1.5  # times as many support vectors are timed anew


def is_trifle(problem: Problem, values: float) -> bool:
    """Whether so few kernel values are soon computed: a clock would rather see what else the machine does."""
    kernel = problem.gram.kernel
    return values <= TRIFLE and not (kernel is not None and kernel.serial)


class Costs:
    """The seconds of a float64 certificate."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.timed, self.support = problem, 0.0, 0

    def seconds(self, beta: Array, dual_beta: Array | None) -> float:
        """Of this answer: from a few of its rows; with features, from all."""
        gram, n = self.problem.gram, self.problem.n
        used = beta if dual_beta is None else (beta != 0.0) | (dual_beta != 0.0)
        support = n if gram.design is not None else max(1, int(np.count_nonzero(used)))
        if is_trifle(self.problem, n * support):
            return 0.0
        if gram.afar:  # a few rows would take as long as many: by what the last ones took
            return gram.value_seconds * n * support
        if support > _GROWN * self.support:
            most = max(1, min(PROBE, n, _PROBE_VALUES[gram.kernel is not None and gram.kernel.serial] // support))
            rows = np.linspace(0, n - 1, n if gram.design is not None else most).astype(int)
            times = []
            for _ in range(1 if gram.design is not None else 2):  # of few rows, the first time is for setting up
                start = now()
                gram.recompute(np.asarray(used, np.float64), rows)
                times.append(now() - start)
            self.timed, self.support = min(times) * n / rows.size, support
        return self.timed * support / self.support

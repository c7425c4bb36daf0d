"""Ridge regression with one row left out, for every row at once: one fit gives the residuals in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators import KernelRidge
from ..kernels import kernel as as_kernel
from ..solvers import NystromCG
from ..types import Array


def left_out(machine: KernelRidge, X: Any, y: Any, weight: Array) -> tuple[Array, float] | None:
    """f(x_i) without row i, of all rows, and the relative gap of the fit to all of them. None, where another kernel or
    other landmarks would be found without a row.
    """
    kernel = as_kernel(machine.kernel)
    points, _ = machine._admit_both(X, y, kernel)
    if machine.alpha == "loo" or kernel.resolve(points, weight) != kernel:
        return None
    machine.set_params(loo=True)
    if isinstance(machine._choice(kernel, points)[0], NystromCG):
        return None
    machine.fit(X, y, weight)
    if not hasattr(machine, "loo_residuals_"):  # there was no time for them
        return None
    return np.asarray(y, np.float64) - machine.loo_residuals_, float(machine.certificate_.relative_gap)

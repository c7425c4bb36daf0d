"""Every core that can run here: the reference, and each level of the native one."""

from __future__ import annotations

import numpy as np

from mercer._core import reference
from mercer._core.core import CHOICE

NATIVE = {}
if CHOICE.core == "native":
    from mercer._core import _native

    NATIVE = {name: getattr(_native, name) for name, _ in _native.LEVELS}
CORES = {"reference": reference, **NATIVE}
FUSED = {name: core for name, core in NATIVE.items() if name != "baseline"}
"""Levels with a fused multiply-add: they agree to the last bit."""

FUNCTIONS = (
    "account", "add", "add_both", "add_dense_squares", "add_rows", "add_sparse_squares", "add_symmetric",
    "approach", "carry", "cast_votes", "choose", "combine", "descend", "descend_kernel", "descend_margins",
    "descend_passes", "dots", "draw", "draws", "draws_kernel", "entropies", "extremes", "fill", "finish_rows",
    "free_step", "gather", "in_play", "learn", "learn_block", "left_open", "logistic", "logistic_bends",
    "losses_and_conjugates", "measure_cells", "mirror", "pack", "pair_descent", "proximal_point", "proximal_slope",
    "rounded", "settle", "settle_cells", "settle_parts", "settle_points", "shares", "shuffle", "solve_definite",
    "sparse_sums", "square", "square_points", "squares", "sum_points", "sum_rows", "vote_points", "votes",
    "weighted",
)  # fmt: skip


def packed(core, X, size, dtype, factor=0.0):
    """Points in packs of a size, and their levels."""
    out = np.full((-(-len(X) // size), X.shape[1], size), np.nan, dtype)
    levels = np.full(len(out) * size, np.nan, dtype)
    core.pack(X, np.arange(len(X)), np.zeros(X.shape[1]), factor, out, levels)
    return out, levels


def panel(dtype):
    """How many columns are packed together."""
    return reference.PANEL * 4 // np.dtype(dtype).itemsize

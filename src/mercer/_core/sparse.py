"""Products of sparse rows, straight into a dense block."""

from __future__ import annotations

from typing import Any

from .compile import compiled


@compiled
def add_sparse_dot(
    a_start: Any, a_column: Any, a_value: Any, bt_start: Any, bt_point: Any, bt_value: Any, out: Any
) -> None:
    """out[i, j] += sum_k A[i, k] BT[k, j], with A by rows and BT, the second set transposed, by coordinates."""
    for i in range(a_start.size - 1):
        row = out[i]
        for p in range(a_start[i], a_start[i + 1]):
            k, a = a_column[p], a_value[p]
            for q in range(bt_start[k], bt_start[k + 1]):
                row[bt_point[q]] += a * bt_value[q]

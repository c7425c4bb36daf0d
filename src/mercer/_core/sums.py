"""Sums over coordinates of a function of two numbers: out[i, j] += sum_k g(A[i, k], BT[k, j]).

`BT` is the second set transposed, so that the inner loop runs along contiguous points; four coordinates at a time, so
that it is bound by arithmetic and not by loading and storing `out`. The tails repeat the body for what is left.
"""

from __future__ import annotations

from typing import Any

from ..types import Array
from .compile import compiled


@compiled
def add_l1(A: Array, BT: Array, out: Array) -> None:
    """sum_k |a_k - b_k|."""
    d = A.shape[1]
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(0, d - 3, 4):
            a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            b0, b1, b2, b3 = BT[k], BT[k + 1], BT[k + 2], BT[k + 3]
            for j in range(row.size):
                row[j] += (abs(a0 - b0[j]) + abs(a1 - b1[j])) + (abs(a2 - b2[j]) + abs(a3 - b3[j]))
        for k in range(d - d % 4, d):
            a0, b0 = A[i, k], BT[k]
            for j in range(row.size):
                row[j] += abs(a0 - b0[j])


@compiled
def add_minimum(A: Array, BT: Array, out: Array) -> None:
    """sum_k min(a_k, b_k)."""
    d = A.shape[1]
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(0, d - 3, 4):
            a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            b0, b1, b2, b3 = BT[k], BT[k + 1], BT[k + 2], BT[k + 3]
            for j in range(row.size):
                row[j] += (min(a0, b0[j]) + min(a1, b1[j])) + (min(a2, b2[j]) + min(a3, b3[j]))
        for k in range(d - d % 4, d):
            a0, b0 = A[i, k], BT[k]
            for j in range(row.size):
                row[j] += min(a0, b0[j])


@compiled
def add_chi2(A: Array, BT: Array, out: Array, tiny: Any) -> None:
    """sum_k a_k b_k / (a_k + b_k), where `tiny`, the least normal number, makes 0/0 a 0."""
    d = A.shape[1]
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(0, d - 3, 4):
            a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            b0, b1, b2, b3 = BT[k], BT[k + 1], BT[k + 2], BT[k + 3]
            for j in range(row.size):
                row[j] += (a0 * (b0[j] / max(a0 + b0[j], tiny)) + a1 * (b1[j] / max(a1 + b1[j], tiny))) + (
                    a2 * (b2[j] / max(a2 + b2[j], tiny)) + a3 * (b3[j] / max(a3 + b3[j], tiny))
                )
        for k in range(d - d % 4, d):
            a0, b0 = A[i, k], BT[k]
            for j in range(row.size):
                row[j] += a0 * (b0[j] / max(a0 + b0[j], tiny))


@compiled
def add_chi2_distance(A: Array, BT: Array, out: Array, tiny: Any) -> None:
    """sum_k (a_k - b_k)^2 / (a_k + b_k), where `tiny`, the least normal number, makes 0/0 a 0."""
    d = A.shape[1]
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(0, d - 3, 4):
            a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            b0, b1, b2, b3 = BT[k], BT[k + 1], BT[k + 2], BT[k + 3]
            for j in range(row.size):
                e0, e1, e2, e3 = a0 - b0[j], a1 - b1[j], a2 - b2[j], a3 - b3[j]
                row[j] += (e0 * (e0 / max(a0 + b0[j], tiny)) + e1 * (e1 / max(a1 + b1[j], tiny))) + (
                    e2 * (e2 / max(a2 + b2[j], tiny)) + e3 * (e3 / max(a3 + b3[j], tiny))
                )
        for k in range(d - d % 4, d):
            a0, b0 = A[i, k], BT[k]
            for j in range(row.size):
                e0 = a0 - b0[j]
                row[j] += e0 * (e0 / max(a0 + b0[j], tiny))

"""Data as people give it to a cluster, as blocks of rows: Dask's collections, delayed blocks, arrays and frames."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

import dask
import numpy as np

from ..amounts import AT_A_TIME
from ..kernels.points import is_sparse, nbytes
from ..memory import format_bytes
from ..types import Points

BLOCK_BYTES = AT_A_TIME.temporary_bytes // 2  # Of a block that is made of data that is here;
_BLOCKS, _BLOCK_ROWS = 8, 32  # there are at least so many, or of so many rows.
_SENT_BYTES = 2_000_000_000  # NumPy data of no more than so many bytes go to workers through the scheduler.


def chunks_of(X: Any) -> list[Any] | None:
    """The blocks of a Dask collection, or of a list of delayed blocks, as delayed; None for data that is here."""
    if isinstance(X, list | tuple) and X and all(dask.is_dask_collection(chunk) for chunk in X):
        return list(X)
    if not dask.is_dask_collection(X):
        return None
    if hasattr(X, "numblocks"):  # an array
        if X.ndim == 2 and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(np.ravel(X.to_delayed()))
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise TypeError(f"X must be a dask array or data frame, a list of delayed blocks, or an array, not {type(X)}.")


def pieces_of(X: Any) -> list[Points]:
    """Data that is here, cut into blocks: as many, whatever the workers."""
    X = X if hasattr(X, "iloc") or is_sparse(X) else np.asarray(X)
    X = X.tocsr() if is_sparse(X) else X
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, but it has {len(X.shape)} dimension(s).")
    size = int(X.memory_usage(deep=True).sum()) if hasattr(X, "iloc") else nbytes(X)
    if size > _SENT_BYTES:
        raise ValueError(
            f"X takes {format_bytes(size)}, too much to send through the scheduler: give a dask array or data frame "
            "that workers read themselves, such as dask.dataframe.read_parquet(...)."
        )
    n = X.shape[0]
    count = max(1, min(n // _BLOCK_ROWS, max(_BLOCKS, ceil(size / BLOCK_BYTES))))
    edges = np.linspace(0, n, count + 1).astype(int)
    cut = X.iloc if hasattr(X, "iloc") else X
    return [cut[start:stop] for start, stop in pairwise(edges)]


def columns_of(X: Any) -> Any:
    """An empty data frame with the columns of X, where it has names for them."""
    if hasattr(X, "_meta") and hasattr(X._meta, "columns"):
        return X._meta
    return X[:0] if hasattr(X, "iloc") else None

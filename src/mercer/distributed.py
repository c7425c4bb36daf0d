"""Many machines: the same certified answers on a Dask cluster. Needs pip install 'mercer[distributed]'.

from distributed import Client
client = Client("tcp://scheduler:8786")
machine = mercer.distributed.fit(SVC(C=10), X, y)       # an ordinary fitted SVC
labels = mercer.distributed.predict(machine, X)         # a dask array
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .estimators import SVC, SVR, KernelLogistic, KernelRidge, LinearSVC, OneClassSVM
from .estimators.on_blocks import fit_on_blocks, fit_ridge_on_blocks
from .shards.engine import WorkersLostError

__all__ = ["WorkersLostError", "decision_function", "fit", "predict", "predict_proba"]

_Estimator = TypeVar("_Estimator")


def fit(
    estimator: _Estimator, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None,
    checkpoint: Any = None,
) -> _Estimator:  # fmt: skip
    """The estimator, fitted on all rows of X by the workers of a Dask client (None: the current one).

    X is a dask array (chunks of any sizes) or data frame, a list of delayed blocks (arrays, CSR matrices or data
    frames), or an array, a CSR matrix or a data frame that is here; y and sample_weight are the same kinds, or arrays.
    The fitted estimator is an ordinary one: it holds no client, and what it has learned is here.

    A worker that is lost costs its blocks, which Dask computes again, and nothing else. Where all are lost, the best
    answer so far is kept, with the status WORKERS_LOST. `checkpoint` names a file to which coefficients are written
    every 20 rounds: a fit whose client or scheduler was lost goes on from it, when it is called again.
    """
    from .shards.chunks import columns_of
    from .shards.dask import DaskEngine, client_at_hand, values_of

    if not isinstance(estimator, SVC | SVR | OneClassSVM | LinearSVC | KernelLogistic | KernelRidge):
        names = "SVC, SVR, OneClassSVM, LinearSVC, KernelLogistic or KernelRidge"
        raise TypeError(f"mercer.distributed.fit takes {names}, not {type(estimator).__name__}.")
    if isinstance(estimator, KernelRidge) and checkpoint is not None:
        raise ValueError("KernelRidge through landmarks takes a few passes over the rows, and has no checkpoint.")
    engine = DaskEngine.of(client_at_hand(client), X)
    y, sample_weight = values_of(engine, y), values_of(engine, sample_weight)
    if isinstance(estimator, KernelRidge):
        fit_ridge_on_blocks(estimator, engine, y, sample_weight, columns=columns_of(X))
    else:
        fit_on_blocks(estimator, engine, y, sample_weight, columns=columns_of(X), checkpoint=checkpoint)
    return estimator


def predict(estimator: Any, X: Any) -> Any:
    """estimator.predict of all rows, as a dask array; see `fit` for what X may be."""
    return _of_rows(estimator, "predict", X)


def decision_function(estimator: Any, X: Any) -> Any:
    """estimator.decision_function of all rows, as a dask array."""
    return _of_rows(estimator, "decision_function", X)


def predict_proba(estimator: Any, X: Any) -> Any:
    """estimator.predict_proba of all rows, as a dask array."""
    return _of_rows(estimator, "predict_proba", X)


def _of_rows(estimator: Any, method: str, X: Any) -> Any:
    import dask
    import dask.array as da

    from .shards.chunks import chunks_of, pieces_of

    getattr(estimator, method)  # what is not there is said now
    chunks = chunks_of(X)
    if chunks is None:
        pieces = pieces_of(X)
        chunks, sizes = [dask.delayed(piece) for piece in pieces], [piece.shape[0] for piece in pieces]
    else:
        sizes = list(X.chunks[0]) if hasattr(X, "chunks") else [np.nan] * len(chunks)
    like = _like(estimator, method)
    there = dask.delayed(estimator)
    task = dask.delayed(_piece)
    found = [
        da.from_delayed(task(there, method, chunk, like), (size, *like.shape[1:]), like.dtype)
        for chunk, size in zip(chunks, sizes, strict=True)
    ]
    return da.concatenate(found, allow_unknown_chunksizes=True)


def _like(estimator: Any, method: str) -> Any:
    """No rows of what the method gives."""
    point = getattr(estimator, "support_vectors_", np.zeros((0, 0)))[:1]
    if point.shape[0] == 0:
        point = np.zeros((1, estimator.n_features_in_))
    if hasattr(estimator, "feature_names_in_"):
        point = _framed(estimator, point)
    return np.asarray(getattr(estimator, method)(point))[:0]


def _framed(estimator: Any, point: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(point, columns=estimator.feature_names_in_)


def _piece(estimator: Any, method: str, X: Any, like: Any) -> Any:
    """What the method gives for a block of rows: one thread, since blocks are many."""
    from .parallel import threads_given

    if X.shape[0] == 0:
        return like
    with threads_given(1):
        return np.asarray(getattr(estimator, method)(X))

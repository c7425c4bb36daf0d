"""What the maps have in common: scikit-learn's contract, and the law phi(x) . phi(z) = k(x, z)."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arithmetic import DefaultArithmetic
from ..hints import TellsWhere
from ..kernels import FromFeatures, Kernel, kernel
from ..kernels.points import Domain, copied, count, is_sparse, objects
from ..params import RebuildsParameters
from ..types import Points

MOST_FEATURES = 5_000_000
_ROWS = 2000  # that are mapped at a time: what comes in between stays in cache


class FeatureMap(
    TellsWhere,
    RebuildsParameters,
    DefaultArithmetic,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A map phi with `kernel_`, the kernel that it induces (`exact` True) or approximates (False).

    A map of your own writes `_fit(X)`, which sets `kernel_`, and `_map(X)`, which gives phi(X).
    """

    exact: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = False
    kernel_: Kernel
    _n_features_out: int

    def fit(self, X: Points, y: Any = None) -> Self:
        """Learn what the map needs from X."""
        X = self._admit(X, reset=True)
        self._fit(X)
        return self

    def transform(self, X: Points) -> Any:
        """phi(X), a row per point; float32 stays float32."""
        check_is_fitted(self)
        X = self._admit(X, reset=False)
        n = count(X)
        first = self._map(X[:_ROWS] if n > _ROWS else X)
        if n <= _ROWS:
            return first
        if is_sparse(first):
            return self._map(X)
        out = np.empty((n, *first.shape[1:]), first.dtype)  # piece by piece: small temporaries, and Ctrl-C is heard
        out[:_ROWS] = first
        for start in range(_ROWS, n, _ROWS):
            out[start : start + _ROWS] = self._map(X[start : start + _ROWS])
        return out

    def _admit(self, X: Points, reset: bool) -> Any:
        if self._domain() is Domain.OBJECTS:
            return objects(X)
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, dtype=dtypes, accept_sparse="csr" if self._takes_sparse else False, reset=reset)

    def _domain(self) -> Domain:
        """Vectors, unless a kernel on other objects is mapped."""
        return Domain.VECTORS

    def _induced(self) -> Kernel:
        """phi(x) . phi(z) as a kernel, of the map as it is now: a later fit does not change it."""
        phi = copy.copy(self)
        phi.__dict__.pop("_parent_callback_ctx", None)  # of the pipeline that is being fitted
        return FromFeatures(phi)

    def _fit(self, X: Points) -> None:
        raise NotImplementedError

    def _map(self, X: Points) -> Any:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KernelMap(FeatureMap):
    """A map of a kernel that the user names, as an object or as text."""

    _takes_sparse: ClassVar[bool] = True
    _parsers: ClassVar[dict[str, Any]] = {"kernel": kernel}
    kernel: Any

    def _domain(self) -> Domain:
        domain = kernel(self.kernel).domain
        if domain is Domain.VALUES:
            raise ValueError(f"{type(self).__name__} maps points, not kernel values: use Precomputed(matrix).")
        return domain

    def _resolved(self, X: Points) -> Kernel:
        """The kernel, with what waits for data found from X."""
        resolved = kernel(self.kernel).resolve(X)
        resolved.check(X, "X")
        return resolved


def double(X: Points) -> Points:
    """The points in float64, in memory of their own; objects as they are."""
    return X.astype(np.float64) if hasattr(X, "dtype") and X.dtype.kind == "f" else copied(X)


def require_bearable(owner: Any, features: int) -> None:
    """Refuse a map of more features than anybody could hold."""
    if features > MOST_FEATURES:
        raise ValueError(
            f"{type(owner).__name__} would have {features} features, more than {MOST_FEATURES}: lower its degree, or "
            "work with the kernel itself, which needs no features."
        )

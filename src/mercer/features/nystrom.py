"""Nyström features: any kernel, seen through a few landmarks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..gram.pivoted import pivoted_cholesky
from ..kernels import Gaussian
from ..kernels.points import common_dtype, count, take
from ..params import require_integer
from ..types import Points
from .base import KernelMap, double, random_generator
from .spectral import root_of_inverse


class Nystrom(KernelMap):
    """phi(x) = K_LL^(-1/2) k(L, x) for landmarks L among the training points.

    phi(x) . phi(z) is k(x, z) exactly where x or z is a landmark, and never more than k on the diagonal. selection is
    "rpcholesky" (randomly pivoted Cholesky: better landmarks, from rows of the Gram matrix) or "uniform". `landmarks`
    is their number (at most that of the points), `random_state` the seed of the draw.
    """

    exact: ClassVar[bool] = False

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        landmarks: int = 100,
        selection: str = "rpcholesky",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.selection = selection
        self.random_state = random_state

    def _fit(self, X: Points) -> None:
        wanted = min(require_integer(self, "landmarks", at_least=1), count(X))
        self.kernel_ = self._resolved(X)
        generator = random_generator(self.random_state)
        if self.selection == "uniform":
            chosen = np.sort(generator.permutation(count(X))[:wanted])
        elif self.selection == "rpcholesky":
            chosen = np.sort(pivoted_cholesky(self.kernel_, X, wanted, generator)[1])
        else:
            raise ValueError(f"Nystrom: selection must be 'rpcholesky' or 'uniform', not {self.selection!r}.")
        if chosen.size == 0:  # a kernel that is 0 everywhere
            chosen = np.array([0])
        self.landmark_indices_ = chosen
        self.landmarks_ = take(X, chosen)
        K = self.kernel_(double(self.landmarks_))
        self.whitening_ = root_of_inverse(K, np.finfo(common_dtype(X)).eps)
        self._n_features_out = self.whitening_.shape[1]

    def _map(self, X: Points) -> Any:
        block = self.kernel_(X, self.landmarks_)
        return block @ self.whitening_.astype(block.dtype, copy=False)

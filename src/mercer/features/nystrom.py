"""Nyström features: any kernel, seen through a few landmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..gram.pivoted import pivoted_cholesky
from ..kernels import Gaussian
from ..kernels.points import common_dtype, count, take
from ..params import random_generator, require_integer
from ..types import Points
from .base import KernelMap, double
from .spectral import root_of_inverse


class Nystrom(KernelMap):
    """phi(x) = K_LL^(-1/2) k(L, x) for landmarks L among the training points.

    phi(x) . phi(z) is k(x, z) exactly where x or z is a landmark, and never more than k on the diagonal.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    landmarks : int, default=100
        How many; at most as many as there are points.
    selection : {"rpcholesky", "uniform"}, default="rpcholesky"
        By randomly pivoted Cholesky (better landmarks, from rows of the Gram matrix), or all alike.
    random_state : int, Generator or RandomState, default=None
        The seed of the draw.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that the map approximates, with its parameters found.
    landmarks_ : array or list of points
        The landmarks.
    landmark_indices_ : ndarray of int
        Their rows in the training set.
    whitening_ : ndarray of shape (n_landmarks, n_features_out)
        K_LL^(-1/2).
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    exact: ClassVar[bool] = False

    _other_names: ClassVar[Mapping[str, str]] = {"n_components": "it is landmarks=100"}

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

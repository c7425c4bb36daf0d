"""Distances to a few chosen points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_array

from ..kernels import Gaussian
from ..params import random_generator, require_integer
from .base import FeatureMap


class PrototypeMap(FeatureMap):
    """phi_j(x) = exp(-gamma |x - p_j|^2) for prototypes p_j.

    Parameters
    ----------
    prototypes : int or array-like of shape (n_prototypes, n_features), default=10
        A row each; or a number: so many distinct training points (all of them, if there are fewer).
    gamma : float, default=1.0
        1 / (2 width^2), > 0.
    random_state : int, Generator or RandomState, default=None
        The seed of the draw.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that the map induces.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    _other_names: ClassVar[Mapping[str, str]] = {"n_components": "it is prototypes=10"}

    def __init__(self, prototypes: Any = 10, gamma: float = 1.0, random_state: Any = None) -> None:
        self.prototypes = prototypes
        self.gamma = gamma
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        self._bump = Gaussian(float(self.gamma))
        if np.ndim(self.prototypes) == 0:
            wanted = require_integer(self, "prototypes", at_least=1)
            distinct = np.unique(X, axis=0)
            chosen = random_generator(self.random_state).permutation(len(distinct))[:wanted]
            self.prototypes_ = distinct[np.sort(chosen)]
        else:
            self.prototypes_ = check_array(self.prototypes, dtype=X.dtype)
            if self.prototypes_.shape[1] != X.shape[1]:
                raise ValueError(
                    f"PrototypeMap: the prototypes have {self.prototypes_.shape[1]} columns, but X has {X.shape[1]}."
                )
        self._n_features_out = len(self.prototypes_)
        self.kernel_ = self._induced()

    def _map(self, X: Any) -> Any:
        return self._bump(X, self.prototypes_.astype(X.dtype, copy=False))

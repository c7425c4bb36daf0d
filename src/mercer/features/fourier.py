"""Random Fourier features of stationary kernels (Rahimi and Recht 2007)."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, ClassVar

import numpy as np

from ..kernels import Gaussian, Kernel, Laplacian, Matern
from ..kernels import kernel as as_kernel
from ..params import random_generator, require_integer
from ..types import Points
from .base import KernelMap


class RandomFourier(KernelMap):
    """phi(x) = sqrt(2 / m) (cos <w_j, x>, sin <w_j, x>), j = 1 ... m/2, with w_j drawn from the kernel's spectrum.

    phi(x) . phi(z) is the kernel in expectation, with an error of about 1 / sqrt(m).

    Parameters
    ----------
    kernel : Kernel or str, default=Gaussian()
        A Gaussian, Laplacian or Matern kernel.
    n_components : int, default=100
        m; where it is odd, the last feature is a cosine of a random phase.
    random_state : int, Generator or RandomState, default=None
        The seed of the draw.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that the map approximates, with its parameters found.
    frequencies_ : ndarray of shape (n_frequencies, n_features)
        The w_j.
    phase_ : float
        The random phase of the last feature.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    exact: ClassVar[bool] = False

    def __init__(self, kernel: Any = Gaussian(), n_components: int = 100, random_state: Any = None) -> None:  # noqa: B008
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _fit(self, X: Points) -> None:
        m = require_integer(self, "n_components", at_least=1)
        if not isinstance(as_kernel(self.kernel), Gaussian | Laplacian | Matern):
            raise ValueError(
                f"RandomFourier knows the spectra of Gaussian, Laplacian and Matern, not of {self.kernel!r}."
            )
        self.kernel_ = self._resolved(X)
        generator = random_generator(self.random_state)
        self.frequencies_ = _frequencies(self.kernel_, (m + 1) // 2, X.shape[1], generator).T.astype(X.dtype)
        self.phase_ = float(generator.uniform(0, 2 * pi))
        self._n_features_out = m

    def _map(self, X: Points) -> Any:
        angles = np.asarray(X @ self.frequencies_.astype(X.dtype, copy=False))
        m = self._n_features_out
        pairs = m // 2
        out = np.empty((X.shape[0], m), X.dtype)
        np.cos(angles[:, :pairs], out=out[:, :pairs])
        np.sin(angles[:, :pairs], out=out[:, pairs : 2 * pairs])
        np.cos(angles[:, pairs:] + X.dtype.type(self.phase_), out=out[:, 2 * pairs :])
        out *= sqrt(2.0 / m)
        return out


def _frequencies(kernel: Kernel, m: int, d: int, generator: np.random.Generator) -> Any:
    """m draws from the density that is the kernel's Fourier transform."""
    if isinstance(kernel, Gaussian):
        return generator.normal(size=(m, d)) * sqrt(2.0 * float(kernel.gamma))
    if isinstance(kernel, Laplacian):
        return generator.standard_cauchy(size=(m, d)) * float(kernel.gamma)
    assert isinstance(kernel, Matern)  # Student with 2 nu degrees of freedom
    chi2 = generator.chisquare(2 * kernel.nu, size=(m, 1)) / (2 * kernel.nu)
    return generator.normal(size=(m, d)) / np.sqrt(chi2) / float(kernel.length_scale)

"""Random Fourier features of stationary kernels (Rahimi and Recht 2007)."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

import numpy as np

from ..kernels import Gaussian, Kernel, Laplacian, Matern
from ..types import Points
from .base import KernelMap, random_generator, require_count


class RandomFourier(KernelMap):
    """phi(x) = sqrt(2 / m) (cos <w_j, x>, sin <w_j, x>), j = 1 ... m/2, with w_j drawn from the kernel's spectrum.

    phi(x) . phi(z) is the kernel in expectation, with an error of about 1 / sqrt(m), and 1 for x = z. For Gaussian,
    Laplacian and Matern; n_components is m, an even number.
    """

    exact: ClassVar[bool] = False

    def __init__(self, kernel: Any = Gaussian(), n_components: int = 100, random_state: Any = None) -> None:  # noqa: B008
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _fit(self, X: Points) -> None:
        m = require_count(self, "n_components", self.n_components, least=2)
        if m % 2:
            raise ValueError(f"RandomFourier: n_components must be even (a cosine and a sine each), not {m}.")
        self.kernel_ = self._resolved(X)
        generator = random_generator(self.random_state)
        self.frequencies_ = _frequencies(self.kernel_, m // 2, X.shape[1], generator).T.astype(X.dtype)
        self._n_features_out = m

    def _map(self, X: Points) -> Any:
        angles = np.asarray(X @ self.frequencies_.astype(X.dtype, copy=False))
        half = angles.shape[1]
        out = np.empty((X.shape[0], 2 * half), X.dtype)
        np.cos(angles, out=out[:, :half])
        np.sin(angles, out=out[:, half:])
        out *= sqrt(1.0 / half)
        return out


def _frequencies(kernel: Kernel, m: int, d: int, generator: np.random.Generator) -> Any:
    """m draws from the density that is the kernel's Fourier transform."""
    if isinstance(kernel, Gaussian):
        return generator.normal(size=(m, d)) * sqrt(2.0 * float(kernel.gamma))
    if isinstance(kernel, Laplacian):
        return generator.standard_cauchy(size=(m, d)) * kernel.gamma
    if isinstance(kernel, Matern):  # Student with 2 nu degrees of freedom
        chi2 = generator.chisquare(2 * kernel.nu, size=(m, 1)) / (2 * kernel.nu)
        return generator.normal(size=(m, d)) / np.sqrt(chi2) / kernel.length_scale
    raise ValueError(f"RandomFourier knows the spectra of Gaussian, Laplacian and Matern, not of {kernel!r}.")

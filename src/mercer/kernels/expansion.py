"""The features of a polynomial kernel around a point m, for points that are far from the origin.

The features phi(x) of (gamma <x, z> + coef0)^p are monomials of x. Those of x = m + u are sums of monomials of u:

    phi(x) - phi(m) = A psi(u),     psi(u): all monomials of u but 1

with a matrix A of numbers. Nothing is subtracted here but u = x - m, which has all its digits. With Q R = A,

    <R psi(u), R psi(v)> = <phi(x) - phi(m), phi(z) - phi(m)> = k(x, z) - k(x, m) - k(m, z) + k(m, m)

and where sum beta = 0, this kernel leaves every machine as it is, but for b. Around 1000 values of a cubic kernel are
1e18, rounded by 1000; what tells points apart is computed to 1 part in 1e13 by R psi(u). R has rows that fall from
large to small, which is what factorisations with features of very different sizes need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..types import Array, Points
from .dot import Polynomial
from .monomials import Monomials, factors
from .points import is_sparse

MOST = 500  # features


@dataclass(frozen=True, eq=False)
class Expansion:
    """x -> R psi(x - centre) for a polynomial kernel, as rows. With `whole`, for machines without a free bias, 1 is one
    of the monomials of psi, and the kernel is k itself.
    """

    kernel: Polynomial
    centre: Array
    whole: bool = False

    @cached_property
    def monomials(self) -> Monomials:
        """1 and psi."""
        return Monomials.of(self.centre.size, range(self.kernel.degree + 1))

    @cached_property
    def triangle(self) -> Array:
        """R."""
        k = self.kernel
        A = self._coefficients() * factors(self.monomials, k.degree, float(k.gamma), float(k.coef0))[:, None]
        A = A[:, self._first :]
        rows = np.argsort(-np.abs(A).max(axis=1), kind="stable")  # largest first: small rows keep their digits
        return np.asarray(np.linalg.qr(A[rows], mode="r"))

    @property
    def _first(self) -> int:
        """The first monomial of psi."""
        return 0 if self.whole else 1

    def _coefficients(self) -> Array:
        """Each monomial of m + u, a row, as a sum of monomials of u: (m_j + u_j) times one of lower degree."""
        all_of_them = self.monomials.variables
        place = {v: i for i, v in enumerate(all_of_them)}
        out = np.zeros((len(place), len(place)))
        out[0, 0] = 1.0
        for i, v in enumerate(all_of_them[1:], start=1):
            lower, j = out[place[v[:-1]]], v[-1]
            out[i] = self.centre[j] * lower
            used = np.flatnonzero(lower)
            out[i, [place[tuple(sorted((*all_of_them[k], j)))] for k in used]] += lower[used]
        return out

    def __call__(self, X: Points) -> Array:
        """The features of points, in float64."""
        X = X.toarray() if is_sparse(X) else X
        U = np.asarray(X, np.float64) - self.centre
        values = self.monomials.evaluate(U, np.empty((len(U), len(self.monomials))))
        return np.ascontiguousarray(values[:, self._first :] @ self.triangle.T)


def expansion_of(kernel: Any, X: Points, most: int, whole: bool = False) -> Expansion | None:
    """The expansion around the mean of the points, where the kernel has one of at most `most` features; else None."""
    if not isinstance(kernel, Polynomial) or is_sparse(X) or kernel.coef0 < 0:
        return None
    if kernel.monomials(X.shape[1]) > most:
        return None
    with np.errstate(all="ignore"):  # of huge values there may be no mean
        found = Expansion(kernel, X.mean(axis=0, dtype=np.float64), whole)
        return found if np.isfinite(found.centre).all() and np.isfinite(found._coefficients()).all() else None

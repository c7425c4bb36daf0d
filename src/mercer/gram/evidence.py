"""Is it positive definite? What can be seen: symmetry, the least eigenvalue, and a witness where it is negative."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from ..columns import pieces
from ..kernels import Kernel
from ..kernels import kernel as as_kernel
from ..kernels.pairwise import dense
from ..kernels.points import Domain, admit, count, vectors
from ..limits import NEVER, deadline, until
from ..memory import BudgetError, format_bytes, parse_bytes
from ..parallel import eigh, one_blas_thread
from ..types import Array, Points
from .dense import DenseGram, DensePart
from .gram import Gram, gram_of
from .moved import invariance

FULL = 2000  # up to so many points, all eigenvalues are computed
STEPS = 100  # of Lanczos, beyond
_STRIP = 512  # rows that are compared with columns at a time
_SAMPLE = 300  # points on which a doubtful kernel is tried,
_LEAST_SAMPLE, _SAMPLE_SHARE = 16, 0.05  # or as many, and at least so many, as take this part of the time that is left
_POWERS = 10  # steps towards the largest eigenvalue
_LEAST = 1e-300
_CLEARLY = 1e-6  # an eigenvalue that is negative by this part of the largest is no rounding


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """What was found; print it for a short report."""

    kernel: str
    """The kernel, as text, or "a matrix"."""
    n: int
    """The number of points."""
    asymmetry: float
    """The largest |K_ij - K_ji|."""
    worst_pair: tuple[int, int] | None
    """Where that is; None if the matrix is symmetric up to rounding."""
    smallest_eigenvalue: float
    """Of (K + K')/2; with Lanczos an upper bound for it."""
    largest_eigenvalue: float
    rounding: float
    """An eigenvalue this small cannot be told from 0."""
    witness: Any
    """c with c'Kc < 0, of length 1; None if there is none."""
    witness_value: float
    """c'Kc; 0 without a witness."""
    method: str
    """How the eigenvalues were found."""
    proof: tuple[str, ...]
    """The closure rules by which the kernel is positive definite; empty if there are none."""
    rank: int | None = None
    """How many eigenvalues are larger than rounding; None where not all were computed."""
    invariance: str = ""
    """Whether the kernel is stationary, k(x + c, z + c) = k(x, z), or even radial; empty where points cannot move."""

    @property
    def symmetric(self) -> bool:
        """Whether K = K' up to rounding."""
        return self.worst_pair is None

    @property
    def positive_definite(self) -> bool:
        """Symmetric, and no negative eigenvalue was found beyond rounding (K is positive semidefinite)."""
        return self.symmetric and self.witness is None

    def __str__(self) -> str:
        lines = [f"{self.kernel} on {self.n} points: {self._verdict()}"]
        if self.worst_pair is None:
            lines.append("  symmetric            yes")
        else:
            i, j = self.worst_pair
            lines.append(f"  symmetric            no: K[{i}, {j}] and K[{j}, {i}] differ by {self.asymmetry:.3g}")
        lines.append(f"  smallest eigenvalue  {self.smallest_eigenvalue:.3g} (largest {self.largest_eigenvalue:.3g})")
        lines.append(f"  found by             {self.method}; below {self.rounding:.1g} in size it may be rounding")
        if self.witness is not None:
            lines.append(f"  witness              c'Kc = {self.witness_value:.3g} < 0 for the unit vector c = .witness")
        if self.invariance:
            lines.append(f"  moved points         {self.invariance}")
        lines.append("  closure rules        " + ("" if self.proof else "none known for this kernel"))
        lines.extend(f"    {line}" for line in self.proof)
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def _verdict(self) -> str:
        if not self.symmetric:
            return "not symmetric, so not a kernel"
        if self.witness is not None:
            against = ", against its closure rules: its values are rounded more than expected, or a rule is wrong"
            return "NOT positive definite" + (against if self.proof else "")
        singular = self.smallest_eigenvalue <= self.rounding
        words = "positive semidefinite on these points" if singular else "positive definite on these points"
        if singular and self.rank is not None:
            words += f", rank {self.rank}"
        return words + ("" if self.proof else ", as far as can be seen")


def evidence(kernel: Any, X: Any = None, *, memory: int | float | str = "2GB") -> Evidence:
    """Evidence on `evidence(kernel, X)` or `evidence(matrix)`; print it for a short report."""
    if isinstance(kernel, Kernel | str) or callable(kernel):
        if X is None:
            raise TypeError("evidence(kernel, X) needs points X to look at the kernel on.")
        kernel = as_kernel(kernel)
        X = admit(X, kernel.domain)
        if hasattr(X, "dtype") and X.dtype == np.float32:  # the eigenvalues should show the kernel, not the rounding
            X = X.astype(np.float64)
        kernel = kernel.resolve(X)
        gram, name, proof, precision = _gram(kernel, X, memory), repr(kernel), _proof(kernel), np.dtype(np.float64)
        moved = invariance(kernel, X)
    else:
        if X is not None:
            raise TypeError("evidence takes a kernel and points, or a matrix alone.")
        matrix = dense(vectors(kernel, "The matrix"))
        precision = matrix.dtype
        gram, name, proof = DenseGram.of_matrix(matrix.astype(np.float64, copy=False)), "a matrix", None
        moved = ""
    asymmetry, pair, largest_entry = _asymmetry(gram)
    values, vector, method = _full(gram) if gram.n <= FULL else _lanczos(gram)
    smallest, largest = float(values[0]), float(values[-1])
    scale = max(abs(smallest), abs(largest))
    # Of the eigenvalues' computation, and of the entries' last digits: |E| <= n max |E_ij|.
    rounding = 10 * gram.n * float(np.finfo(float).eps) * scale
    rounding += gram.n * float(np.finfo(precision).eps) * float(np.abs(gram.diag()).max())
    tolerance = 10 * gram.n**0.5 * float(np.finfo(precision).eps) * largest_entry
    value = float(vector @ (gram @ vector))
    found = smallest < -rounding and value < 0
    return Evidence(
        kernel=name, n=gram.n, asymmetry=asymmetry, worst_pair=pair if asymmetry > tolerance else None,
        smallest_eigenvalue=smallest, largest_eigenvalue=largest, rounding=rounding,
        witness=vector if found else None, witness_value=value if found else 0.0, method=method,
        proof=tuple(proof or ()), rank=int((values > rounding).sum()) if gram.n <= FULL else None, invariance=moved,
    )  # fmt: skip


def _gram(kernel: Kernel, X: Points, memory: int | float | str) -> Gram:
    """Dense where all eigenvalues are wanted, or whatever the memory allows."""
    n = count(X)
    if n <= FULL or kernel.domain is Domain.VALUES:
        return DenseGram.compute(kernel, X)
    if not kernel.symmetric:  # the whole matrix must be looked at
        if 8 * n * n > parse_bytes(memory):
            raise BudgetError(
                f"{kernel!r} may not be symmetric, so all {n} x {n} values are needed, {format_bytes(8 * n * n)}: "
                "give more memory=, or fewer points."
            )
        return DenseGram.compute(kernel, X)
    return gram_of(kernel, X, memory)


def _proof(kernel: Kernel, depth: int = 0) -> list[str] | None:
    """The reason of the kernel and of each part, indented; None if any is missing."""
    reason = kernel.reason()
    if reason is None:
        return None
    lines = [f"{'  ' * depth}{kernel!r}: {reason}"]
    for part in kernel.parts():
        inner = _proof(part, depth + 1)
        if inner is None:
            return None
        lines += inner
    return lines


def _asymmetry(gram: Gram) -> tuple[float, tuple[int, int], float]:
    """The largest |K_ij - K_ji| and where, and the largest |K_ij|; zeros for what is symmetric by construction."""
    if not isinstance(gram, DenseGram) or gram.kernel.symmetric:
        return 0.0, (0, 0), 0.0
    worst, pair, largest = 0.0, (0, 0), 0.0
    for rows in pieces(gram.n, _STRIP):
        difference = np.abs(gram.matrix[rows] - gram.matrix[:, rows].T)
        largest = max(largest, float(np.abs(gram.matrix[rows]).max()))
        i, j = np.unravel_index(int(difference.argmax()), difference.shape)
        if difference[i, j] > worst:
            worst, pair = float(difference[i, j]), (rows.start + int(i), int(j))
    return worst, (min(pair), max(pair)), largest


def _full(gram: Gram) -> tuple[Array, Array, str]:
    """All eigenvalues, a vector of the least, and how they were found."""
    K = gram.rows(np.arange(gram.n))
    values, vectors_ = eigh((K + K.T) / 2)
    return values, vectors_[:, 0], "a full eigendecomposition"


def _lanczos(gram: Gram) -> tuple[Array, Array, str]:
    """The extreme Ritz values after so many steps, with full reorthogonalisation; a bounded amount of work."""
    from scipy.linalg import eigh_tridiagonal

    n, steps = gram.n, min(STEPS, gram.n)
    transposed = isinstance(gram, DenseGram) and not gram.kernel.symmetric
    basis = np.zeros((steps, n))
    alpha, beta = np.zeros(steps), np.zeros(steps)
    q = np.random.default_rng(0).normal(size=n)
    q /= np.linalg.norm(q)
    for step in range(steps):
        basis[step] = q
        r = gram @ q
        if transposed:
            r = (r + gram.matrix.T @ q) / 2  # type: ignore[attr-defined]
        alpha[step] = q @ r
        for _ in range(2):  # twice is enough
            r -= basis[: step + 1].T @ (basis[: step + 1] @ r)
        beta[step] = np.linalg.norm(r)
        if beta[step] <= 1e-12 * max(abs(alpha[: step + 1]).max(), 1e-300):
            break  # an invariant subspace
        q = r / beta[step]
    used = step + 1
    values, vectors_ = eigh_tridiagonal(alpha[:used], beta[: used - 1])
    vector = basis[:used].T @ vectors_[:, 0]
    method = (
        f"Lanczos ({used} steps: {n} points are too many for all eigenvalues, so the smallest may be smaller still)"
    )
    return values, vector / np.linalg.norm(vector), method


def doubt_about(gram: Gram) -> str | None:
    """What is wrong with K on some of the points; or None.

    A Cholesky factor of K with a little more on its diagonal is the proof that nothing is; where there is none, Lanczos
    finds the witness.
    """
    index = np.unique(np.linspace(0, gram.n - 1, min(gram.n, _affordable(gram))).astype(int))
    where = f"on {index.size} of the points"
    with until(NEVER), one_blas_thread():  # several would take longer to agree than the work takes
        K = gram.block(index).astype(np.float64, copy=False)
        asymmetry, _, largest = _asymmetry(DenseGram.of_matrix(K))
        if asymmetry > _CLEARLY * largest:
            return f"{gram.kernel!r} is not symmetric {where}: two values differ by {asymmetry:.3g}"
        K = (K + K.T) / 2
        if _has_factor(K, _CLEARLY * _norm(K)):
            return None
        values, vector, _ = _lanczos(DenseGram.of_matrix(K))
        if not (values[0] < -_CLEARLY * values[-1] and vector @ K @ vector < 0.0):
            return None
    return f"{gram.kernel!r} is not positive definite: its least eigenvalue {where} is {values[0]:.3g}"


def _norm(K: Array) -> float:
    """The largest eigenvalue in size, about: by a few steps of powers."""
    v = np.ones(len(K))
    for _ in range(_POWERS):
        v = K @ v
        norm = float(np.linalg.norm(v))
        if not norm > 0.0:
            return 0.0
        v /= norm
    return norm


def _has_factor(K: Array, more: float) -> bool:
    """Whether K is positive definite with so much more on its diagonal."""
    with suppress(np.linalg.LinAlgError):
        np.linalg.cholesky(K + max(more, _LEAST) * np.eye(len(K)))
        return True
    return False


def _affordable(gram: Gram) -> int:
    """How many points to try it on: fewer, where values are slow and time is short."""
    left = deadline().left()
    if left == inf or isinstance(gram, DenseGram | DensePart):  # what is held costs nothing
        return _SAMPLE
    with until(NEVER):
        return int(max(_LEAST_SAMPLE, min(_SAMPLE, sqrt(_SAMPLE_SHARE * left / gram.value_seconds))))

"""Problem: what is minimised, its dual, and the certificate of an answer.

    primal(beta, b) = 1/2 beta'K beta + sum C_i loss(y_i, f_i) + mass b,     f = K beta + b
    dual(beta)      = -1/2 beta'K beta - sum h_i(beta_i),     lo <= beta <= hi,   sum beta = mass if b is free

No primal value is below any dual one, and each point has a share in their difference (Fenchel-Young) that is never
negative: C_i loss(y_i, f_i) + h_i(beta_i) + beta_i f_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from .gram import Gram, gram_of
from .kernels import Kernel
from .losses import HardMargin, Hinge, Loss, Terms
from .solution import Certificate, Inseparable, Status
from .types import Array, Points

_SAMPLE = 256  # rows on which rounding is measured
_INFEASIBLE = 1e-9  # coefficients may leave their bounds by this much, relative to the bounds
_INSEPARABLE = 1e-7  # two convex combinations that are nearer than this, relative to the size of the points, meet


@dataclass(frozen=True, eq=False)
class Problem:
    """min 1/2 |w|^2 + sum C_i loss(y_i, <w, phi(x_i)> + b) + mass b, with b free or (bias False) 0.

    y holds targets, or labels -1 and +1; C is a number or one per point. A mass is for one-class machines: sum beta.
    """

    gram: Gram
    y: Array
    loss: Loss = Hinge()
    C: Any = 1.0
    bias: bool = True
    mass: float = 0.0

    def __post_init__(self) -> None:
        n = self.gram.n
        y = np.asarray(self.y, np.float64)
        C = np.broadcast_to(np.asarray(self.C, np.float64), (n,))
        if y.shape != (n,) or not np.isfinite(y).all():
            raise ValueError(f"y must be {n} finite numbers, one per point; its shape is {y.shape}.")
        if not (C > 0).all() or not np.isfinite(C).all():
            raise ValueError("C must be a finite number > 0, or one per point (for a hard margin use loss=HardMargin()).")
        self.loss.check(y)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "C", C)

    @classmethod
    def of(
        cls, kernel: Kernel | str, X: Points, y: Any, loss: Loss = Hinge(), C: Any = 1.0, *, memory: Any = "2GB", **rest: Any
    ) -> Problem:
        """The problem of a kernel on points X."""
        return cls(gram_of(kernel, X, memory), y, loss, C, **rest)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.gram.n

    @cached_property
    def terms(self) -> Terms:
        """The dual terms h_i."""
        return self.loss.terms(self.y, self.C)

    def primal(self, beta: Array, b: float, scores: Array | None = None) -> float:
        """The objective of f = K beta + b; of a hard margin, of f scaled until it is feasible."""
        scores = self.gram.product64(beta) if scores is None else scores
        f = scores + b
        norm = 0.5 * float(beta @ scores)
        scale = self.loss.feasible_scale(self.y, f)
        if isinstance(self.loss, HardMargin):
            return norm * scale * scale if np.isfinite(scale) else float("inf")
        return norm + float(self.C @ self.loss.value(self.y, f)) + self.mass * b

    def dual(self, beta: Array, scores: Array | None = None) -> float:
        """The dual value of feasible coefficients."""
        scores = self.gram.product64(beta) if scores is None else scores
        return -0.5 * float(beta @ scores) - float(self.terms.value(beta).sum())

    def best_bias(self, scores: Array) -> float:
        """The b that minimises the primal given K beta: the middle, where an interval does."""
        if not self.bias:
            return 0.0
        low, high = self.loss.best_bias(self.y, scores, self.C, self.mass)
        return 0.5 * (low + high)

    def violation(self, beta: Array, scores: Array) -> float:
        """By how much the optimality conditions fail: the largest gain of a move that the bounds allow."""
        t = self.terms
        F = t.q - t.r * beta - scores
        rise = np.where(beta < t.hi, F - np.where(beta >= 0, t.eps, -t.eps), -np.inf)
        fall = np.where(beta > t.lo, F - np.where(beta > 0, t.eps, -t.eps), np.inf)
        top, bottom = float(rise.max()), float(fall.min())
        if not self.bias:
            return max(top, -bottom, 0.0)
        return max(top - bottom, 0.0)

    def feasibility(self, beta: Array) -> float:
        """By how much coefficients leave their bounds or their sum, relative to the largest of them."""
        t = self.terms
        outside = max(float((t.lo - beta).max()), float((beta - t.hi).max()), 0.0)
        total = abs(float(beta.sum()) - self.mass) / max(1.0, np.sqrt(beta.size)) if self.bias else 0.0
        size = float(np.abs(beta).max(initial=0.0))
        violated = max(outside, total)
        return violated / size if violated > 0.0 else 0.0

    def certify(
        self,
        beta: Array,
        b: float | None = None,
        dual_beta: Array | None = None,
        *,
        patience: float | None = None,
        status: Status = Status.UNCHECKED,
    ) -> Certificate:
        """What is true of an answer, recomputed from the kernel and the data.

        dual_beta is a feasible dual point, beta itself if none is given. Everything is float64, unless that would take
        longer than `patience` seconds: then kernel values are float32, and the rounding is measured on a sample.
        """
        certificate, _, _ = self.examine(beta, b, dual_beta, patience=patience, status=status)
        return certificate

    def examine(
        self,
        beta: Array,
        b: float | None = None,
        dual_beta: Array | None = None,
        *,
        patience: float | None = None,
        status: Status = Status.UNCHECKED,
        scores: Array | None = None,
    ) -> tuple[Certificate, Array, float]:
        """The certificate, K beta and b; with `scores`, those are not recomputed but checked on a sample."""
        beta = np.asarray(beta, np.float64)
        if beta.shape != (self.n,):
            raise ValueError(f"beta must have one coefficient per point: {self.n}, not {beta.shape}.")
        other = beta if dual_beta is None else np.asarray(dual_beta, np.float64)
        if not np.isfinite(beta).all() or not np.isfinite(other).all():
            bad = Certificate(np.inf, -np.inf, 0.0, np.inf, np.inf, status, np.full(self.n, np.inf))
            return bad, np.full(self.n, np.nan), 0.0
        both = beta if dual_beta is None else np.column_stack([beta, other])
        products, sample, precise = self._products(both, patience, scores)
        s = products if dual_beta is None else products[:, 0]
        s_dual = products if dual_beta is None else products[:, 1]
        b = self.best_bias(s) if b is None else float(b)
        residuals = self._residuals(s + b, other)
        rounding = 0.0
        if sample is not None:
            exact = self._residuals((precise if dual_beta is None else precise[:, 0]) + b, other, sample)
            difference = residuals[sample] - exact
            if np.isfinite(difference).all():
                spread = 3.0 * float(difference.std()) / np.sqrt(sample.size)
                rounding = self.n * (abs(float(difference.mean())) + spread)
        feasibility = self.feasibility(other)
        primal = self.primal(beta, b, s)
        dual = self.dual(other, s_dual) if feasibility <= _INFEASIBLE else -np.inf
        proof = self._inseparable(other, s_dual) if isinstance(self.loss, HardMargin) else None
        if proof is not None:
            status = Status.INFEASIBLE
        elif float(other @ s_dual) < -1e-9 * float(np.abs(other) @ np.abs(s_dual)):
            status = Status.INDEFINITE
        violation = self.violation(other, s_dual)
        certificate = Certificate(primal, dual, rounding, violation, feasibility, status, residuals, proof)
        return certificate, s, b

    def _products(self, beta: Array, patience: float | None, scores: Array | None) -> tuple[Array, Any, Any]:
        """K beta, and where it is not all float64, a sample of rows and their float64 values."""
        if patience is None or self.n <= 4 * _SAMPLE:
            return self.gram.recompute(beta), None, None
        sample = np.sort(np.random.default_rng(0).choice(self.n, _SAMPLE, replace=False))
        start = perf_counter()
        precise = self.gram.recompute(beta, sample)
        if scores is not None:
            return scores, sample, precise
        if (perf_counter() - start) * self.n / _SAMPLE <= patience:
            return self.gram.recompute(beta), None, None
        return self.gram.recompute(beta, dtype=np.float32), sample, precise

    def _residuals(self, f: Array, beta: Array, rows: Any = slice(None)) -> Array:
        """The share of each point in the gap."""
        if isinstance(self.loss, HardMargin):
            scale = self.loss.feasible_scale(self.y, f) if isinstance(rows, slice) else 1.0
            return np.asarray(beta[rows] * (f * (scale if np.isfinite(scale) else 1.0) - self.y[rows]))
        h = self.terms.value(beta)[rows]
        if isinstance(rows, slice):
            return np.asarray(self.C * self.loss.value(self.y, f) + h + beta * f)
        return np.asarray(self.C[rows] * self.loss.value(self.y[rows], f) + h + beta[rows] * f)

    def may_be_inseparable(self, beta: Array, scores: Array | None) -> bool:
        """Whether a hard margin looks hopeless: worth a certificate."""
        if not isinstance(self.loss, HardMargin) or scores is None:
            return False
        total, norm = 0.5 * float(np.abs(beta).sum()), float(beta @ scores)
        return total > 0.0 and norm <= (_INSEPARABLE * total) ** 2 * float(np.abs(self.gram.diag()).max())

    def _inseparable(self, beta: Array, scores: Array) -> Inseparable | None:
        """The proof that the classes meet, where beta is one."""
        positive, negative = float(beta[self.y > 0].sum()), -float(beta[self.y < 0].sum())
        if positive <= 0.0 or negative <= 0.0:
            return None
        weights = np.where(self.y > 0, beta / positive, -beta / negative)
        signed = np.where(self.y > 0, weights, -weights)
        distance = float(np.sqrt(max(float(signed @ self.gram.product64(signed)), 0.0)))
        size = float(np.sqrt(np.abs(self.gram.diag()).max()))
        bound = _INSEPARABLE * size
        return Inseparable(weights, distance, bound) if distance <= bound else None

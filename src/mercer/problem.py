"""Problem: what is minimised, its dual, and the certificate of an answer.

    primal(beta, b) = 1/2 beta'K beta + sum C_i loss(y_i, f_i) + mass b,     f = K beta + b
    dual(beta)      = -1/2 beta'K beta - sum h_i(beta_i),     lo <= beta <= hi,   sum beta = mass if b is free

No primal value is below any dual one, and each point has a share in their difference (Fenchel-Young) that is never
negative: C_i loss(y_i, f_i) + h_i(beta_i) + beta_i f_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from .gram import Gram, gram_of
from .kernels import Kernel
from .losses import HardMargin, Hinge, Loss, Terms
from .solution import Certificate, Inseparable, Status
from .types import Array, Points, inner

_HINGE = Hinge()
_NOTHING = 1e-15  # values below this part of the terms that they are sums of are rounding
_TINY = 1e-300  # objectives below this are zero
_SAMPLE = 256  # rows on which rounding is measured, at most
_LEAST = 512  # points; for fewer, all is float64
_NEGATIVE, _NEGATIVE_SINGLE = 1e-12, 1e-6  # what rounding makes of a zero beta'K beta, in float64 and in float32
_KINK = 1e-9  # so far left and right of a bias its slopes are looked at
_INFEASIBLE = 1e-9  # coefficients may leave their bounds by this much, relative to the largest of them
_INSEPARABLE = 1e-7  # two convex combinations that are nearer than this, relative to the size of the points, meet


@dataclass(frozen=True, eq=False)
class Problem:
    """min 1/2 |w|^2 + sum C_i loss(y_i, <w, phi(x_i)> + b) + mass b, with b free or (bias False) 0.

    y holds targets, or labels -1 and +1; C is a number or one per point. A mass is for one-class machines: sum beta.
    """

    gram: Gram
    y: Array
    loss: Loss = _HINGE
    C: Any = 1.0
    bias: bool = True
    mass: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.gram, Gram):
            raise TypeError(
                f"A Problem takes a Gram matrix, not {type(self.gram).__name__}: Problem.of(kernel, X, y) makes it."
            )
        n = self.gram.n
        y, C = np.array(self.y, np.float64), np.array(self.C, np.float64)
        if y.shape != (n,) or not np.isfinite(y).all():
            what = f"its shape is {y.shape}" if y.shape != (n,) else "some are NaN or infinite"
            raise ValueError(f"y must be {n} finite numbers, one per point; {what}.")
        if C.shape not in ((), (n,)) or not (C > 0).all() or not np.isfinite(C).all():
            raise ValueError(
                f"C must be a finite number > 0, or {n} of them, one per point. A hard margin is loss=HardMargin()."
            )
        self.loss.check(y)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "C", np.array(np.broadcast_to(C, (n,))))
        self._check_mass()

    def _check_mass(self) -> None:
        if self.mass == 0.0:
            return
        least, most = (float(end.sum()) for end in self.bounds)
        slack = _INFEASIBLE * abs(self.mass)
        if self.bias and not least - slack <= self.mass <= most + slack:
            raise ValueError(
                f"The mass must be between {least:g} and {most:g}, what all beta can sum to, not {self.mass!r}."
            )

    @classmethod
    def of(
        cls,
        kernel: Kernel | str,
        X: Points,
        y: Any,
        loss: Loss = _HINGE,
        C: Any = 1.0,
        *,
        memory: Any = "2GB",
        **rest: Any,
    ) -> Problem:
        """The problem of a kernel on points X."""
        return cls(gram_of(kernel, X, memory), y, loss, C, **rest)

    @property
    def n(self) -> int:
        """The number of points."""
        return self.gram.n

    @cached_property
    def terms(self) -> Terms:
        """The dual terms h_i, where they are quadratic."""
        return self.loss.terms(self.y, self.C)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Between which coefficients h_i is finite: lo and hi."""
        return (self.terms.lo, self.terms.hi) if self.loss.quadratic else self.loss.bounds(self.y, self.C)

    def conjugates(self, beta: Array) -> Array:
        """h_i(beta_i) for coefficients within their bounds."""
        if self.loss.quadratic:
            return self.terms.value(beta)
        return np.asarray(self.C * self.loss.conjugate(self.y, -np.clip(beta, *self.bounds) / self.C))

    def primal(self, beta: Array, b: float, scores: Array | None = None) -> float:
        """The objective of f = K beta + b; of a hard margin, of f scaled until it is feasible."""
        scores = self.gram.product64(beta) if scores is None else scores
        f = scores + b
        scale = self.loss.feasible_scale(self.y, f)
        return self._primal(inner(beta, scores), b, self._losses(f), scale)

    def _losses(self, f: Array) -> Array:
        """C_i loss(y_i, f_i); zeros for a hard margin, of which f is scaled until it is feasible."""
        if isinstance(self.loss, HardMargin):
            return np.zeros(self.n)
        return np.asarray(self.C * self.loss.value(self.y, f))

    def _primal(self, squared_norm: float, b: float, losses: Array, scale: float) -> float:
        """The primal value; `scale` is what makes a hard margin feasible."""
        if isinstance(self.loss, HardMargin):
            return 0.5 * squared_norm * scale * scale if np.isfinite(scale) else float("inf")
        return 0.5 * squared_norm + float(losses.sum()) + self.mass * b

    def dual(self, beta: Array, scores: Array | None = None) -> float:
        """The dual value of feasible coefficients."""
        scores = self.gram.product64(beta) if scores is None else scores
        return _dual(inner(beta, scores), self.conjugates(beta))

    def best_bias(self, scores: Array) -> float:
        """The b that minimises the primal given K beta: the middle, where an interval does."""
        if not self.bias:
            return 0.0
        low, high = self.loss.best_bias(self.y, scores, self.C, self.mass)
        return 0.5 * (low + high)

    def dual_point(self, scores: Array) -> tuple[float, Array]:
        """The best b for K beta = scores, and the dual point there: minus C_i times the slopes of the loss.

        Where the bias sits on kinks, slopes left and right of it are mixed until the sum is right.
        """
        b = self.best_bias(scores)

        def slopes(b: float) -> Array:
            return np.asarray(-self.C * self.loss.slope(self.y, scores + b))

        point = slopes(b)
        if not self.bias or point.sum() == self.mass:
            return b, point
        width = _KINK * (1.0 + abs(b) + float(np.abs(scores).max()))
        left, right = slopes(b - width), slopes(b + width)
        more, less = float(left.sum()) - self.mass, float(right.sum()) - self.mass
        if more > less and more >= 0.0 >= less:
            point = (more * right - less * left) / (more - less)
        return b, point

    def violation(self, beta: Array, scores: Array) -> float:
        """By how much the optimality conditions fail: the largest gain of a move that the bounds allow.

        Where the dual is not quadratic: by how much beta_i / C_i differs from minus the slope of the loss.
        """
        if not self.loss.quadratic:
            slope = self.loss.slope(self.y, scores + self.best_bias(scores))
            return float(np.abs(beta / self.C + slope).max())
        from ._core.working_set import extremes

        t = self.terms
        top, bottom, _ = extremes(t.q - t.r * beta - scores, beta, t.lo, t.hi, t.eps, *np.empty((2, self.n)))
        if not self.bias:
            return max(top, -bottom, 0.0)
        return max(top - bottom, 0.0)

    def feasibility(self, beta: Array) -> float:
        """By how much coefficients leave their bounds or their sum, relative to the largest of them."""
        lo, hi = self.bounds
        outside = max(float((lo - beta).max()), float((beta - hi).max()), 0.0)
        total = abs(float(beta.sum()) - self.mass) / max(1.0, np.sqrt(beta.size)) if self.bias else 0.0
        size = float(np.abs(beta).max(initial=0.0))
        violated = max(outside, total)
        if violated == 0.0:
            return 0.0
        return float(violated / size) if size > 0.0 else float("inf")

    def certify(
        self,
        beta: Array,
        b: float | None = None,
        dual_beta: Array | None = None,
        *,
        single: bool = False,
        status: Status = Status.EXAMINED,
    ) -> Certificate:
        """What is true of an answer, recomputed from the kernel and the data.

        dual_beta is a feasible dual point, beta itself if none is given. Everything is float64; with `single`, where K
        is float32, kernel values are float32 too, and the rounding is measured on a sample.
        """
        certificate, _, _ = self.examine(beta, b, dual_beta, single=single, status=status)
        return certificate

    def examine(
        self,
        beta: Array,
        b: float | None = None,
        dual_beta: Array | None = None,
        *,
        single: bool = False,
        status: Status = Status.EXAMINED,
        scores: Array | None = None,
        tol: float = np.inf,
    ) -> tuple[Certificate, Array, float]:
        """The certificate, K beta and b.

        With `scores`, those are not recomputed but checked on a sample. Where the rounding of float32 values would be
        too much for a relative gap of `tol`, float64 it is.
        """
        beta = np.asarray(beta, np.float64)
        other = beta if dual_beta is None else np.asarray(dual_beta, np.float64)
        for name, given in (("beta", beta), ("dual_beta", other)):
            if given.shape != (self.n,):
                raise ValueError(f"{name} must have one coefficient per point: {self.n}, not {given.shape}.")
        if b and not self.bias:
            raise ValueError(f"This problem has no bias, so b must be 0, not {b!r}.")
        if not np.isfinite(beta).all() or not np.isfinite(other).all():
            bad = Certificate(np.inf, -np.inf, 0.0, np.inf, np.inf, status, np.full(self.n, np.inf))
            return bad, np.full(self.n, np.nan), 0.0
        both = beta if dual_beta is None else np.column_stack([beta, other])
        products, sample, precise = self._products(both, single, scores)
        s = products if dual_beta is None else products[:, 0]
        s_dual = products if dual_beta is None else products[:, 1]
        fixed = b
        b = self.best_bias(s) if b is None else float(b)
        f = s + b
        scale = self.loss.feasible_scale(self.y, f)
        losses, conjugates = self._losses(f), self.conjugates(other)
        residuals = losses + conjugates + other * f * (scale if np.isfinite(scale) else 1.0)
        feasibility = self.feasibility(other)
        primal = self._primal(inner(beta, s), b, losses, scale)
        dual = _dual(inner(other, s_dual), conjugates) if feasibility <= _INFEASIBLE else -np.inf
        nothing = _NOTHING * min(self._largest_norm(beta), self._loss_of_nothing()) + _TINY
        if dual < primal <= nothing and -dual <= primal:
            primal = dual = 0.0  # all of it is rounding: 0/0 := 0
        rounding = 0.0
        if sample is not None:
            error = products[sample] - precise
            if dual_beta is not None:  # the gap has another part: 1/2 |w - w~|^2
                rounding = 0.5 * float(np.abs(beta - other).sum()) * _root_mean_square(error[:, 0] - error[:, 1])
            rounding += self._rounding(f, other, scale, primal, error if dual_beta is None else error[:, 0])
            if scores is None and rounding > 0.5 * tol * max(abs(primal), abs(dual)):
                return self.examine(beta, fixed, dual_beta, status=status)
        proof = self._inseparable(other) if isinstance(self.loss, HardMargin) else None
        if proof is not None:
            status = Status.INFEASIBLE
        elif self._is_negative(other, s_dual, other, sample) or (
            dual_beta is not None and self._is_negative(beta - other, s - s_dual, beta, sample)
        ):
            status = Status.INDEFINITE
        violation = self.violation(other, s_dual)
        certificate = Certificate(primal, dual, rounding, violation, feasibility, status, residuals, proof)
        return certificate, s, b

    def _products(self, beta: Array, single: bool, scores: Array | None) -> tuple[Array, Any, Any]:
        """K beta, and where it is not all float64, a sample of rows and their float64 values."""
        single = single and self.gram.dtype == np.float32 and self.gram.design is None  # features: float64 anyway
        if self.n <= _LEAST or not (single or scores is not None):
            return self.gram.recompute(beta), None, None
        sample = _sample(self.n)
        products = self.gram.recompute(beta, dtype=np.float32) if scores is None else scores
        return products, sample, self.gram.recompute(beta, sample)

    def _rounding(self, f: Array, beta: Array, scale: float, primal: float, error: Array) -> float:
        """What rounding may have done to the gap, from the errors of the scores of a sample of points.

        A share, convex in the score, changes by no more than its steepness at an end of where the score may be.
        """
        typical, largest = _root_mean_square(error), float(np.abs(error).max())
        if isinstance(self.loss, HardMargin):
            left = 1.0 - 3.0 * largest * scale  # of the least margin
            if not left > 0.0:
                return float("inf")
            return float(np.abs(beta).sum()) * scale * typical + primal * (left**-2 - 1.0)
        ends = (np.abs(self.C * self.loss.slope(self.y, f + e) + beta) for e in (-largest, largest))
        return float(np.maximum(*ends).sum()) * typical

    def may_be_inseparable(self, beta: Array, scores: Array | None) -> bool:
        """Whether a hard margin looks hopeless: worth a certificate."""
        if not isinstance(self.loss, HardMargin) or scores is None:
            return False
        total, norm = 0.5 * float(np.abs(beta).sum()), inner(beta, scores)
        return total > 0.0 and norm <= (_INSEPARABLE * total) ** 2 * float(np.abs(self.gram.diag()).max())

    def _inseparable(self, beta: Array) -> Inseparable | None:
        """The proof that the classes meet, where the coefficients of beta on their right sides are one."""
        weights = np.maximum(self.y * beta, 0.0)
        groups = (self.y > 0, self.y < 0) if self.bias else (self.y != 0,)
        for group in groups:
            total = float(weights[group].sum())
            if total <= 0.0:
                return None
            weights[group] /= total
        signed = self.y * weights
        distance = float(np.sqrt(max(float(signed @ self.gram.product64(signed)), 0.0)))
        bound = _INSEPARABLE * float(np.sqrt(np.abs(self.gram.diag()).max()))
        return Inseparable(weights, distance, bound) if distance <= bound else None

    def _is_negative(self, beta: Array, scores: Array, whole: Array, sample: Any) -> bool:
        """Whether beta'K beta is below zero by more than rounding; scores are differences of those of `whole`."""
        size = self._largest_norm(beta)
        most = max(size, np.sqrt(size * self._largest_norm(whole)))
        return bool(inner(beta, scores) < -most * (_NEGATIVE if sample is None else _NEGATIVE_SINGLE))

    def _loss_of_nothing(self) -> float:
        """What f = 0 costs."""
        return inner(self.C, self.loss.value(self.y, np.zeros(self.n)))

    def _largest_norm(self, beta: Array) -> float:
        """(sum |beta_i| |phi(x_i)|)^2: beta'K beta is no larger, and its rounding errors are in parts of this."""
        return inner(np.abs(beta), self._lengths) ** 2

    @cached_property
    def _lengths(self) -> Array:
        """|phi(x_i)|."""
        return np.sqrt(np.abs(self.gram.diag()))


@cache
def _sample(n: int) -> Any:
    """Rows on which rounding is measured: an eighth of n at most."""
    return np.sort(np.random.default_rng(0).choice(n, min(_SAMPLE, n // 8), replace=False))


def _dual(squared_norm: float, conjugates: Array) -> float:
    return 0.0 - 0.5 * squared_norm - float(conjugates.sum())  # 0.0: no -0


def _root_mean_square(v: Array) -> float:
    return float(np.sqrt(np.mean(v * v)))

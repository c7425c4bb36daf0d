"""Problem: what is minimised, its dual, and the certificate of an answer. Task: a problem of which K is still to come.

    primal(beta, b) = 1/2 beta'K beta + sum C_i loss(y_i, f_i) + mass b,     f = K beta + b
    dual(beta)      = -1/2 beta'K beta - sum h_i(beta_i),     lo <= beta <= hi,   sum beta = mass if b is free

No primal value is below any dual one, and each point has a share in their difference (Fenchel-Young) that is never
negative: C_i loss(y_i, f_i) + h_i(beta_i) + beta_i f_i.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .arithmetic import inner
from .examination import INFEASIBLE, examine, relative_infeasibility
from .gram import Gram, gram_of
from .kernels import Kernel
from .losses import Box, HardMargin, Hinge, Loss, Terms
from .solution import Certificate, Status
from .types import Array, Index, Points

_HINGE = Hinge()
_LARGEST = 1e153  # objectives hold squares of sum C_i |phi(x_i)|, which must be within float64
_KINK = 1e-9  # so far left and right of a bias its slopes are looked at


def objective(posed: Any, square: float, f: Array, b: float) -> float:
    """1/2 |w|^2 + sum C_i loss(y_i, f_i) + mass b; of a hard margin, of f scaled until it is feasible.

    What is `posed` has a loss, targets y, weights C and a mass.
    """
    if isinstance(posed.loss, HardMargin):
        scale = float(posed.loss.feasible_scale(posed.y, f))
        return 0.5 * square * scale * scale if np.isfinite(scale) else float("inf")
    return 0.5 * square + inner(posed.C, posed.loss.value(posed.y, f)) + float(posed.mass) * b


def require_in_range(C: Array, diagonal: Array) -> None:
    """Raise where objectives would overflow."""
    length = float(np.sqrt(np.abs(diagonal).max()))
    if not float(C.sum()) * max(length, 1.0) <= _LARGEST:
        raise ValueError(
            f"Objectives overflow with C = {float(C.max()):.1g} on points of length {length:.1g}: make C smaller, or "
            "scale the data."
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """min 1/2 |w|^2 + sum C_i loss(y_i, <w, phi(x_i)> + b) + mass b, with b free or 0.

    Parameters
    ----------
    gram : Gram
        K on the points.
    y : array-like of shape (n,)
        Targets, or labels -1 and +1.
    loss : Loss, default=Hinge()
        What a mistake costs.
    C : float or array-like of shape (n,), default=1.0
        Its weight, one for all or one for each point.
    bias : bool, default=True
        Whether b is free; else it is 0.
    mass : float, default=0.0
        sum beta, for one-class machines.
    """

    gram: Gram
    y: Array
    loss: Loss = _HINGE
    C: Any = 1.0
    bias: bool = True
    mass: float = 0.0
    n: int = field(init=False, repr=False)
    """The number of points."""

    def __post_init__(self) -> None:
        if not isinstance(self.gram, Gram):
            raise TypeError(
                f"A Problem takes a Gram matrix, not {type(self.gram).__name__}: Problem.of(kernel, X, y) makes it."
            )
        if not isinstance(self.loss, Loss):
            raise TypeError(f"The loss must be an object of mercer.losses, such as Hinge(), not {self.loss!r}.")
        n = self.gram.n
        object.__setattr__(self, "n", n)
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
        object.__setattr__(self, "C", C if C.ndim else np.full(n, C))
        if self.mass:
            self._check_mass()

    def _check_mass(self) -> None:
        least, most = (float(end.sum()) for end in self.bounds)
        slack = INFEASIBLE * abs(self.mass)
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

    @cached_property
    def terms(self) -> Terms:
        """The dual terms h_i, where they are quadratic."""
        return self.loss.terms(self.y, self.C)

    @cached_property
    def bounds(self) -> Box:
        """Between which coefficients h_i is finite: lo and hi."""
        return self.terms.box if self.loss.quadratic else self.loss.bounds(self.y, self.C)

    def conjugates(self, beta: Array) -> Array:
        """h_i(beta_i) for coefficients within their bounds."""
        if self.loss.quadratic:
            return self.terms.value(beta)
        return np.asarray(self.C * self.loss.conjugate(self.y, -self.bounds.nearest(beta) / self.C))

    def primal(self, beta: Array, b: float, scores: Array | None = None) -> float:
        """The objective of f = K beta + b; of a hard margin, of f scaled until it is feasible."""
        scores = self.gram.product64(beta) if scores is None else scores
        return objective(self, inner(beta, scores), scores + b, b)

    def primal_of(self, w: Array, b: float, scores: Array) -> float:
        """The objective of f = Z w + b for explicit features Z, with scores = Z w; not for hard margins."""
        return 0.5 * inner(w, w) + inner(self.C, self.loss.value(self.y, scores + b)) + self.mass * b

    def dual(self, beta: Array, scores: Array | None = None) -> float:
        """The dual value of feasible coefficients."""
        scores = self.gram.product64(beta) if scores is None else scores
        return 0.0 - 0.5 * inner(beta, scores) - float(self.conjugates(beta).sum())  # 0.0: no -0

    def best_bias(self, scores: Array) -> float:
        """The b that minimises the primal given K beta: the middle, where an interval does."""
        if not self.bias:
            return 0.0
        low, high = self.loss.best_bias(self.y, scores, self.C, self.mass)
        return 0.5 * (low + high)

    @cached_property
    def best_constant(self) -> tuple[float, float]:
        """f = b alone: the best b, and its objective."""
        zeros = np.zeros(self.n)
        b = self.best_bias(zeros)
        return b, self.primal(zeros, b, zeros)

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
        return self.terms.violation(beta, scores, self.bias)

    def feasibility(self, beta: Array) -> float:
        """By how much coefficients leave their bounds or their sum, relative to the largest of them."""
        largest = float(np.abs(beta).max(initial=0.0))
        return relative_infeasibility(self, self.bounds.outside(beta), float(beta.sum()), largest)

    @cached_property
    def loss_at_zero(self) -> float:
        """What f = 0 costs."""
        return float((self.C * self.loss.value(self.y, np.zeros(self.n))).sum())

    def certify(
        self,
        beta: Array,
        b: float | None = None,
        dual_beta: Array | None = None,
        *,
        status: Status | None = None,
    ) -> Certificate:
        """What is true of an answer, recomputed from the kernel and the data, all in float64.

        dual_beta is a feasible dual point, beta itself if none is given.
        """
        for name, given in (("beta", beta), ("dual_beta", dual_beta)):
            if given is not None and np.shape(given) != (self.n,):
                shape = np.shape(given)
                raise ValueError(f"{name} must have one coefficient per point: {self.n}, not {shape}.")
        certificate, _, _ = examine(self, beta, b, dual_beta, status=status)
        return certificate


def feasible_start(problem: Problem, start: Array | None) -> Array:
    """Coefficients within their bounds and with the right sum: those of `start` as far as they are, else zeros, which
    every loss that is finite allows.
    """
    beta = np.zeros(problem.n) if start is None else np.array(start, np.float64)
    if start is None and not problem.mass:
        return beta
    if beta.shape != (problem.n,) or not np.isfinite(beta).all():
        raise ValueError(f"A start must be {problem.n} finite coefficients, one per point.")
    box = problem.bounds
    beta = box.nearest(beta)
    lack = problem.mass - float(beta.sum())
    if problem.bias and lack != 0.0:
        room = np.maximum(box.hi - beta, 0.0) if lack > 0 else np.maximum(beta - box.lo, 0.0)
        taken = np.minimum(np.cumsum(room), abs(lack))
        beta = box.nearest(beta + np.copysign(np.diff(taken, prepend=0.0), lack))
    return beta


@dataclass(frozen=True, eq=False)
class Task:
    """A problem on some of the points of a shared Gram matrix; on all of them where rows is None."""

    y: Array
    loss: Loss
    C: Array
    bias: bool = True
    mass: float = 0.0
    rows: Index | None = None
    name: str = ""

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.y)

    def problem(self, gram: Gram) -> Problem:
        """The problem itself."""
        own = gram if self.rows is None else gram.subset(self.rows)
        return Problem(own, self.y, self.loss, self.C, self.bias, self.mass)

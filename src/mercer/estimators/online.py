"""What the perceptrons share: labels of each machine, orders of the points, and what is said of a fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..arithmetic import DefaultArithmetic
from ..hints import TellsWhere
from ..kernels import Kernel
from ..kernels.points import take
from ..limits import Deadline
from ..online import INSEPARABLE, Learner, MarginCertificate, Outcome, Update, train
from ..progress import Line, Watch, Watches
from ..shown import Described
from ..solution import Inseparable, Solution, Status, one_or_all
from ..ties import first_largest
from ..types import Array, Index, Points
from .callbacks import Hooks
from .checks import (
    BOTH,
    COUNT,
    SECONDS,
    Keeps,
    classes_of_stream,
    level_of_caller,
    name_of,
    require_settings,
    sample_weights,
)
from .proofs import told

LEAST_SIZE = float(np.sqrt(np.finfo(np.float64).tiny / np.finfo(np.float64).eps))
"""Where all points are smaller, digits of their inner products are lost."""


class Seen(NamedTuple):
    """The rows of X that have a weight, and their weights; n rows in all."""

    rows: Index
    weight: Array
    n: int

    def of(self, values: Any) -> Any:
        """These rows of X, of y or of the groups."""
        return values if self.rows.size == self.n else take(values, self.rows)

    def whole(self, values: Array) -> Array:
        """Values of these rows, as columns, with 0 for all others."""
        if self.rows.size == self.n:
            return values
        out = np.zeros((*values.shape[:-1], self.n), values.dtype)
        out[..., self.rows] = values
        return out

    def told(self, certificate: MarginCertificate, kernel: Kernel, points: Points) -> MarginCertificate:
        """The certificate, with its proof for all rows of X."""
        proof = certificate.proof
        if proof is None:
            return certificate
        return replace(certificate, proof=told(proof, proof.y, self.rows, self.n, kernel, points))


def weighted_rows(sample_weight: Any, n: int) -> Seen:
    """Which of n rows are learned from."""
    weight = sample_weights(sample_weight, n)
    rows = np.flatnonzero(weight)
    return Seen(rows, weight[rows], n)


class Online(Keeps, Described, DefaultArithmetic, TellsWhere):
    """A classifier that learns from its mistakes, a machine for two classes, or for each class against the rest."""

    classes_: Array
    max_epochs: int
    bias: bool
    shuffle: bool
    trace: bool
    time_limit: float | None
    random_state: Any
    verbose: bool

    def _check(self) -> None:
        require_settings(
            self, {"bias": BOTH, "shuffle": BOTH, "trace": BOTH, "max_epochs": COUNT, "time_limit": SECONDS}
        )

    def _sides(self, group: Index) -> Array:
        """The labels for each machine: +1 for classes_[1] of two, or for the machine's own class among more."""
        first = [1] if self.classes_.size == 2 else range(self.classes_.size)
        return np.stack([np.where(group == c, 1.0, -1.0) for c in first])

    def _names(self) -> list[str]:
        """What each machine tells apart."""
        return [""] if self.classes_.size == 2 else [f"{name_of(c)} against the rest" for c in self.classes_]

    def _orders(self, n: int) -> Iterator[Index]:
        """The order of the points in each pass: as they are, or drawn anew."""
        generator = check_random_state(self.random_state) if self.shuffle else None
        while True:
            yield np.arange(n) if generator is None else generator.permutation(n)

    def _learn(self, learner: Learner, hooks: Hooks | None, deadline: Deadline) -> Outcome:
        """Pass after pass, with whoever watches."""
        machines, n = learner.Y.shape
        with ExitStack() as stack:
            watches: list[Watch] = [] if hooks is None else [hooks]
            if self.verbose:
                watches.append(stack.enter_context(Line(type(self).__name__, machines)))
            watch = Watches(watches)
            return train(learner, self._orders(n), max_epochs=int(self.max_epochs), deadline=deadline, watch=watch)

    def _certificates(
        self, X: Points, Y: Array, statuses: Sequence[Status | None], proofs: list[Inseparable | None]
    ) -> list[MarginCertificate]:
        """What f, as it is kept, proves of the margin of points X with labels Y."""
        raise NotImplementedError

    def _admit_again(self, X: Points, y: Any) -> tuple[Any, Any]:
        """Points and classes for a machine that is fitted."""
        raise NotImplementedError

    def certified(self, X: Points, y: Any) -> MarginCertificate:
        """What f proves of these points; of several machines, the worst. The upper bound is one for the points that
        were learned from.
        """
        X, y = self._admit_again(X, y)
        _, group = classes_of_stream(self, y, None)
        Y = self._sides(group)
        statuses: list[Status | None] = [None] * len(Y)
        return _worst(self._certificates(X, Y, statuses, [None] * len(Y)))

    def _conclude(
        self,
        learner: Learner,
        outcome: Outcome,
        betas: Array,
        b: Array,
        certificates: list[MarginCertificate],
        hooks: Hooks | None,
        seen: Seen,
    ) -> None:
        """The attributes that tell of a fit, and the end of it."""
        solutions = tuple(
            Solution(beta, float(own), certificate, history, outcome.seconds)
            for beta, own, certificate, history in zip(
                seen.whole(betas), b, certificates, outcome.histories, strict=True
            )
        )
        self.solution_ = one_or_all(solutions)
        self.certificates_ = tuple(certificates)
        self.certificate_ = _worst(certificates)
        self.n_iter_ = outcome.epochs
        self._count(learner, seen)
        if hooks is not None:
            for number, solution in enumerate(solutions):
                hooks.done(number, solution)
            hooks.close()

    def _count(self, learner: Learner, seen: Seen) -> None:
        """alpha, of each machine where there are several, and the updates."""
        alpha = seen.whole(learner.alpha)
        self.mistakes_ = alpha[0] if len(alpha) == 1 else alpha
        if learner.trace is not None:
            rows = seen.rows.tolist()
            self.trace_: tuple[Update, ...] = tuple(u._replace(point=rows[u.point]) for u in learner.trace)

    def _forget_fit(self, learner: Learner, seen: Seen) -> None:
        """After a piece of a stream: what was said of an earlier fit holds no more."""
        for name in ("solution_", "certificate_", "trace_"):
            if hasattr(self, name):
                delattr(self, name)
        self.certificates_ = ()
        self.n_iter_ = 1
        self._count(learner, seen)

    def _warn(self) -> None:
        """Say so, where the fit was broken off. That data is not separable is no failure: the certificate says it."""
        for status in (Status.OUT_OF_TIME, Status.INTERRUPTED):
            if any(certificate.status is status for certificate in self.certificates_):
                message = f"{type(self).__name__}: {status}."
                warnings.warn(message, ConvergenceWarning, stacklevel=level_of_caller())


def confirmed(
    status: Status | None, proof: Inseparable | None, square: float, size: float, zeros: bool
) -> tuple[Status | None, Inseparable | None]:
    """The proof with its squared distance as it was computed anew; none, where it was rounding.

    `size` is the largest |phi(x_i)| of the points in it: where that is too small for products to be told from zero,
    nothing is proved, unless these points are `zeros` indeed.
    """
    if proof is None:
        return status, None
    proof = replace(proof, distance=float(np.sqrt(max(square, 0.0))), bound=INSEPARABLE * size)
    proved = proof.distance <= proof.bound and (zeros or size >= LEAST_SIZE)
    return (status, proof) if proved else (Status.STALLED, None)


def _worst(certificates: list[MarginCertificate]) -> MarginCertificate:
    return certificates[first_largest([-certificate.lower for certificate in certificates])]

"""The perceptron with a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .._core.core import CHOICE
from ..amounts import AT_A_TIME, MEASURED
from ..columns import block_between, pieces, product_between
from ..gram import unformed
from ..kernels import Gaussian, Kernel, Linear
from ..kernels import kernel as as_kernel
from ..kernels.points import Domain, admit_both, common_dtype, count, diagonal, stack, take
from ..limits import NEVER, Deadline, ctrl_c_held
from ..losses import HardMargin
from ..online import Dual, Held, MarginCertificate, margin_certificate, one_pass
from ..online.kernel_values import rows_of
from ..params import require_integer
from ..problem import Task
from ..solution import Inseparable, Status
from ..types import Array, Index, Points
from .callbacks import Hooks, with_callbacks
from .checks import classes_of, classes_of_stream, keeping, predicted, require_settings
from .functions import Functions
from .machine import Machine
from .online import Online, Seen, confirmed, weighted_rows


class KernelPerceptron(ClassifierMixin, Online, Machine):  # type: ignore[misc]
    """Where y_i f(x_i) <= 0, alpha_i += 1, with f(x) = sum_i alpha_i y_i k(x_i, x); passes until one makes no mistake.

    A point with a sample weight adds that many times as much to f; one of weight 0 is left out. bias=True is the kernel
    k + 1. Of three or more classes, each is told from the rest. Data that cannot be separated
    ends at the limit, or earlier with a proof: when f is again what it was before.

    variant "plain" predicts with the last f; "averaged" with the mean of all f, one for each point seen; "voted" with
    the signs of all f, each counting as often as it was right. They learn alike and differ in what they remember.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    variant : {"plain", "averaged", "voted"}, default="plain"
        What predictions are made with: see above.
    max_epochs : int, default=100
        Passes, at most.
    bias : bool, default=False
        Whether the kernel is k + 1.
    budget : int, default=None
        How many points may be held, None for any number. Where one more is needed, the point is forgotten whose removal
        changes f least, |beta_i| |phi(x_i)|; of equals, the one that has been held longest. With it an endless stream
        runs in bounded memory. The mean and the votes of all f need all their points: they take no budget.
    shuffle : bool, default=False
        Whether each pass has an order of its own, drawn with random_state; else that of X.
    trace : bool, default=False
        Whether to keep every update in `trace_`: epoch, row of X, its score, its alpha afterwards.
    time_limit : float, default=None
        Seconds that a fit may take.
    random_state : int or RandomState, default=None
        The seed of the order.
    verbose : bool, default=False
        Whether to show one live line of progress, on stderr or in the notebook.

    Attributes
    ----------
    certificate_ : MarginCertificate
        Bounds on the margin; of several machines, those of the worst.
    certificates_ : tuple of MarginCertificate
        Those of all machines.
    solution_ : Solution or tuple of Solution
        With the history, a step for each pass; of several machines, all of them.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    mistakes_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        alpha, the mistakes on each row of X (for each class, of more than two).
    support_ : ndarray of shape (n_support,)
        The rows of X that are held.
    support_vectors_ : array or list of n_support points
        The points that are held.
    n_support_ : ndarray of shape (n_problems,)
        How many of them each machine needs.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The coefficients of the f to predict with; of "voted", the last f.
    intercept_ : ndarray of shape (n_problems,)
        b of each problem.
    coef_ : ndarray of shape (n_problems, n_features)
        w of each problem, where the kernel is linear.
    kernel_ : Kernel
        The kernel, with its parameters found.
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    n_iter_ : int
        The passes.
    trace_ : tuple of Update
        Every update, where trace=True asked for them.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    _targets: ClassVar[str] = "labels"
    _parsers: ClassVar[dict[str, Any]] = {"kernel": as_kernel}
    _single = True  # its certificate measures what float32 values change
    _held: Held
    _sequence: Array

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        variant: str = "plain",
        max_epochs: int = 100,
        bias: bool = False,
        budget: int | None = None,
        shuffle: bool = False,
        trace: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.variant = variant
        self.max_epochs = max_epochs
        self.bias = bias
        self.budget = budget
        self.shuffle = shuffle
        self.trace = trace
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Points, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from points X of classes y, with weights (>= 0); see `certificate_` for what is proved."""
        deadline = Deadline.after(self.time_limit)
        training = self._training(X, y, sample_weight)
        seen = Seen(training.rows, training.tasks[0].C, training.n)
        Y = np.stack([task.y for task in training.tasks])
        hooks = Hooks(self, len(Y), X, y, sample_weight) if getattr(self, "_skl_callbacks", None) else None
        learner = self._learner(training.kernel, None, training.points, Y * seen.weight, None, deadline)
        with keeping(self) as interrupt:
            outcome = self._learn(learner, hooks, deadline)
            kept, held = learner.remaining()
            self._keep_points(training.kernel, take(training.points, kept), kept, held, learner)
            beta = np.zeros(Y.shape)
            beta[:, kept] = self.dual_coef_
            known = learner.F if interrupt.asked and self.variant == "plain" else None
            found = self._certificates(training.points, Y, outcome.statuses, outcome.proofs, kept, known)
            certificates = [seen.told(certificate, training.kernel, training.points) for certificate in found]
            self.support_ = seen.rows[kept]
            self._conclude(learner, outcome, beta, self.intercept_, certificates, hooks, seen)
            if not interrupt.asked:
                self._warn()
        return self

    def partial_fit(self, X: Points, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one pass over a piece of a stream; all `classes` are named with the first piece.

        The kernel's parameters are found from the first piece. mistakes_ and trace_ are of this piece, and support_
        says after how many points of the stream each was first held. There is no certificate: mercer.certify gives one
        for any data. Ctrl-C in the middle leaves the machine as it was before the piece.
        """
        first = not hasattr(self, "dual_coef_")
        self._check()
        kernel = as_kernel(self.kernel) if first else self.kernel_
        if kernel.domain is Domain.VALUES:
            raise ValueError("partial_fit needs points: kernel values of a stream have no fixed columns.")
        X, y = self._admit_both(X, y, kernel, reset=first)
        seen = weighted_rows(sample_weight, count(X))
        self.classes_, group = classes_of_stream(self, y, classes)
        X, Y = seen.of(X), self._sides(seen.of(group)) * seen.weight
        kernel = kernel.resolve(X)
        points, held = (None, None) if first else (self.support_vectors_, self._held)
        learner = self._learner(kernel, points, X, Y, held)
        one_pass(learner, next(self._orders(count(X))), np.ones(len(Y), np.bool_), 1)
        kept, held = learner.remaining()
        points = take(X if points is None else stack(points, X), kept)
        with ctrl_c_held():
            self._keep_points(kernel, points, held.since, held, learner)
            self._forget_fit(learner, seen)
        return self

    @property
    def function_(self) -> Functions:
        """f as an RKHSFunction; of more than two classes, a tuple with one for each. "voted" has no such f."""
        if self.variant == "voted":
            raise AttributeError('function_ is there for variant="plain" and "averaged": votes are no sum of kernels.')
        return super().function_

    def decision_function(self, X: Points) -> Array:
        """f(x), positive for classes_[1]; of more classes, a column for each. Of "voted", the mean of the votes."""
        scores = self._votes(X) if self.variant == "voted" else self._scores(X)
        return np.asarray(scores[:, 0]) if self.classes_.size == 2 else scores

    def predict(self, X: Points) -> Array:
        """The class of each point."""
        values = self.decision_function(X)  # first: it says so where nothing is fitted yet
        return predicted(self.classes_, values)

    def _check(self) -> None:
        super()._check()
        require_settings(self, {"variant": ("plain", "averaged", "voted")})
        if self.budget is not None:
            require_integer(self, "budget", at_least=1)
            if self.variant != "plain":
                raise ValueError(
                    f"variant={self.variant!r} needs all points of all f there were, so it takes no budget."
                )

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        self.classes_, group = classes_of(self, y)
        parts = zip(self._sides(group), self._names(), strict=True)
        return None, group, [Task(side, HardMargin(), weight, bias=False, name=name) for side, name in parts]

    def _learner(
        self, kernel: Kernel, points: Points, X: Points, Y: Array, held: Held | None, deadline: Deadline = NEVER
    ) -> Dual:
        return Dual(
            rows_of(kernel, points, X, deadline), Y, held, bias=bool(self.bias), budget=self.budget,
            sequence=self.variant == "voted", trace=bool(self.trace),
        )  # fmt: skip

    def _keep_points(self, kernel: Kernel, points: Points, numbers: Index, held: Held, learner: Dual) -> None:
        """What predictions are made of, and what the next piece of a stream goes on from."""
        weights = held.averaged_weights if self.variant == "averaged" else held.weights
        self.kernel_, self._held = kernel, held
        self.support_, self.support_vectors_ = numbers, points
        self.dual_coef_ = weights * held.signs
        self.intercept_ = float(self.bias) * self.dual_coef_.sum(axis=1)
        self.n_support_ = np.count_nonzero(self.dual_coef_, axis=1)
        self._coef = self._linear_weights() if isinstance(kernel, Linear) else None
        if self.variant == "voted":
            self._remember_votes(learner)

    # What is proved.

    def _admit_again(self, X: Points, y: Any) -> tuple[Any, Any]:
        return self._admit_both(X, y, self.kernel_, reset=False)

    def _certificates(
        self,
        X: Points,
        Y: Array,
        statuses: Sequence[Status | None],
        proofs: list[Inseparable | None],
        at: Index | None = None,
        known: Array | None = None,
    ) -> list[MarginCertificate]:
        """Bounds on the margin, recomputed from the kernel and the points; `at`: the rows of X that are held, if so.

        With `known`, f(x) as it was learned, those values are only checked on a sample: after Ctrl-C nobody waits.
        """
        beta = self.dual_coef_
        scores, errors = self._examined(X, known)
        if at is None:
            held, more = self._examined(X[self.support_] if self._values_given() else self.support_vectors_)
            errors = np.maximum(errors, more)
        else:
            held = scores[:, at]
        weights = np.abs(beta).sum(axis=1)
        norms = np.sqrt(np.maximum((beta * held).sum(axis=1), 0.0))
        parts = zip(scores, Y, norms, weights, statuses, proofs, errors, self._names(), strict=True)
        return [
            margin_certificate(
                f, y, float(norm), float(weight), *self._confirmed(X, y, status, proof), float(error), name
            )
            for f, y, norm, weight, status, proof, error, name in parts
        ]

    def _examined(self, X: Points, known: Array | None = None) -> tuple[Array, Array]:
        """f(x) of each machine, and by how much it may be wrong: float32 values are compared with float64 ones."""
        if len(self.support_) == 0:
            return np.zeros((len(self.dual_coef_), count(X))), np.zeros(len(self.dual_coef_))
        sums = self._sums(X) if known is None else (known - self.intercept_[:, None]).T
        errors = np.zeros(sums.shape[1])
        single = known is not None or common_dtype(X, self.support_vectors_) == np.float32
        if not self._values_given() and single:
            sample = np.linspace(0, count(X) - 1, min(count(X), AT_A_TIME.sampled_rows)).astype(int)
            exact = product_between(self.kernel_, take(X, sample), self.support_vectors_, self.dual_coef_.T, np.float64)
            errors = MEASURED * np.abs(sums[sample] - exact).max(axis=0)
        return sums.T + self.intercept_[:, None], errors

    def _confirmed(
        self, X: Points, y: Array, status: Status | None, proof: Inseparable | None
    ) -> tuple[Status | None, Inseparable | None]:
        if proof is None:
            return status, None
        signed = proof.weights * y
        square = float(signed @ unformed(self.kernel_, X).product64(signed)) + float(self.bias) * signed.sum() ** 2
        used = np.flatnonzero(signed)
        own = X.diagonal()[used] if self._values_given() else diagonal(self.kernel_, take(X, used))
        size = float(np.sqrt(max(float(own.max()) + float(self.bias), 0.0)))
        vectors = self.kernel_.domain is Domain.VECTORS
        return confirmed(status, proof, square, size, not (vectors and abs(take(X, used)).max()))

    def _values_given(self) -> bool:
        return self.kernel_.domain is Domain.VALUES

    # Votes.

    def _remember_votes(self, learner: Dual) -> None:
        """Of each machine: the points of its mistakes in order, their labels, and how long each f was kept."""
        earlier = self._sequence if learner.before else np.zeros((3, 0), np.int64)
        sequence = np.concatenate([earlier, *(np.stack(part) for part in learner.sequence or ())], axis=1)
        kept, _ = learner.remaining()
        place = np.full(learner.weights.shape[1], -1)
        place[kept] = np.arange(kept.size)
        sequence[1] = place[sequence[1]]
        self._sequence, self._seen = sequence, learner.seen

    def _votes(self, X: Points) -> Array:
        X = self._admit(X)
        out = np.zeros((count(X), len(self.dual_coef_)))
        step = max(1, AT_A_TIME.values // max(1, len(self.support_)))
        for rows in pieces(count(X), step):
            if len(self.support_) == 0:
                break
            K = self._values(X[rows])
            for c in range(out.shape[1]):
                _, points, times = np.compress(self._sequence[0] == c, self._sequence, axis=1)
                lasting = np.diff(times, append=self._seen).astype(np.float64)
                sign = self._held.signs[c, points]
                own = np.empty(len(K))
                CHOICE.functions.cast_votes(K, float(self.bias), points, sign, lasting, own)
                out[rows, c] = own
        return out / max(1, self._seen)

    def _values(self, X: Points) -> Array:
        """k(x, x_i) for the points that are held, in float64."""
        if self._values_given():
            return np.ascontiguousarray(X[:, self.support_], np.float64)
        X, Z, _ = admit_both(self.kernel_, X, self.support_vectors_)
        return block_between(self.kernel_, X, Z, common_dtype(X, Z)).astype(np.float64, copy=False)

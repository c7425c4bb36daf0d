"""Machine: what the support vector machines share. One fit for all of them.

A machine of your own writes `_plan`, which turns targets and weights into problems (`Task`), and `predict`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import assert_all_finite, check_consistent_length, check_is_fitted, column_or_1d

from ..amounts import SHARE
from ..arithmetic import DefaultArithmetic
from ..columns import sums_between
from ..gram import Gram, PointsGram, unformed
from ..gram.linear import constant_beside_linear
from ..hints import TellsWhere
from ..kernels import Kernel, Linear, Polynomial
from ..kernels import kernel as as_kernel
from ..kernels.pairwise import linear_scores, linear_weights
from ..kernels.points import Domain, common_dtype, count, objects, require_columns, take
from ..limits import NEVER, Deadline, Interrupt, OutOfTimeError, StoppedError, now, stopped_by, until, within
from ..memory import parse_bytes
from ..parallel import crew_kept
from ..params import RebuildsParameters
from ..problem import Task
from ..progress import Line, Watch, Watches
from ..solution import Certificate, Solution, Solutions, Status, worst
from ..solvers import Solver
from ..solvers import solver as as_solver
from ..types import Array, Index, Points
from .callbacks import CallbackSupportMixin, Hooks, with_callbacks
from .centring import centre_of
from .checks import (
    CHECKS,
    LIMITS,
    Keeps,
    Settings,
    advise,
    keeping,
    require_answer,
    require_here,
    require_settings,
    sample_weights,
    seed_of,
    seldom_equal,
    validated,
    warn_of,
    warn_of_gaps,
)
from .expanded import SOLVER, Expanded, better, expanded_points, worth_another
from .fitting import fit_machines, training_gram
from .functions import Functions, functions_of
from .multiclass import join
from .predicted import as_predicted
from .proofs import in_rows_of_the_user, with_proof
from .repeated import merged
from .resumed import Checkpoint
from .tasks import Training

_READ = 0.2  # Of the time, at most, is kept for linear machines to read the points once more.
_Own = TypeVar("_Own", bound="Machine")  # as Self, by which jedi would understand Machine


class Machine(
    CallbackSupportMixin,  # type: ignore[misc]
    Keeps,
    RebuildsParameters,
    DefaultArithmetic,
    TellsWhere,
    BaseEstimator,  # type: ignore[misc]
):
    """f(x) = sum_i beta_i k(x_i, x) + b, found by solving one or several problems on one Gram matrix."""

    _parsers: ClassVar[dict[str, Any]] = {"kernel": as_kernel, "solver": as_solver}
    _targets: ClassVar[str] = "numbers"  # what y holds: "numbers", "labels" or "none"
    _own_w: ClassVar[bool] = False  # whether w is that of the certificate, where no mean was taken from the points
    _in_features: ClassVar[bool] = False  # whether a linear kernel means features: then nobody looks for equal points
    _settings: ClassVar[Settings] = LIMITS
    _ridge: ClassVar[bool] = False  # whether its solvers are those of ridge regression
    _gram_finds_nan: ClassVar[bool] = False  # whether its Gram matrix looks for NaN and infinity: once is enough
    kernel: Any
    solver: Any
    tol: float
    memory: Any
    time_limit: float | None
    max_iter: int | None
    random_state: Any
    verbose: Any
    solution_: Solution | Solutions
    certificate_: Certificate
    _coef: Array | None  # w of each problem, as rows, where the kernel is linear
    _single: bool = False  # whether float32 kernel values are precise enough for predictions
    _expanded: Expanded | None = None  # f as predictions need it, where values of a polynomial kernel lose digits

    @with_callbacks
    def fit(self: _Own, X: Points, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> _Own:
        """Find f from points X, targets y and weights (>= 0) of the points; see `certificate_` for how good it is.

        What is found is written to the file `checkpoint` every 20 rounds; a fit goes on from one that is there.
        """
        deadline = within(self.time_limit)
        training = self._training(X, y, sample_weight)
        hooks = Hooks(self, training.problems, X, y, sample_weight) if getattr(self, "_skl_callbacks", None) else None
        with keeping(self) as interrupt, crew_kept(), ExitStack() as stack:
            watches: list[Watch] = [] if hooks is None else [hooks]
            if self.verbose:
                watches.append(stack.enter_context(Line(type(self).__name__, training.problems)))
            self._learn(training, deadline, interrupt, Watches(watches) if watches else None, checkpoint)
            if not interrupt.asked and self.certificate_.status is not Status.CONVERGED:  # the worst of all
                warn_of_gaps(self)
            if hooks is not None:
                hooks.close()
        return self

    def _learn(
        self, training: Training, deadline: Deadline, interrupt: Interrupt, watch: Watch | None, checkpoint: Any
    ) -> None:
        """Solve, on points as they are best solved on, and keep the answer."""
        in_features = self._in_features and constant_beside_linear(training.kernel) is not None
        as_given = self.solver is not None or in_features  # who names a solver gets the points as given
        points, tasks, domain = training.points, training.tasks, training.kernel.domain
        once = None if as_given or seldom_equal(points) else merged(points, tasks, domain, self.memory)
        posed = training if once is None else replace(training, points=once.points, tasks=(once.task,))
        centre = self._centre(posed) if isinstance(posed.kernel, Linear) else None
        if centre is not None:
            posed = replace(posed, points=posed.points - centre)
        expansion, Z = None, None
        if isinstance(posed.kernel, Polynomial) and self.solver is None:
            room = SHARE.little * parse_bytes(self.memory)
            expansion, Z = expanded_points(posed.kernel, posed.points, posed.tasks, room)
        kept = None if checkpoint is None else Checkpoint(checkpoint, posed, posed.points)
        if expansion is None:
            gram, solutions = self._solved_on(posed, self._solver(), deadline, interrupt, watch, kept)
        else:
            expanded = replace(posed, kernel=Linear(), points=Z)
            gram, solutions = self._solved_on(expanded, SOLVER, deadline, interrupt, watch, kept)
            if not interrupt.asked and worth_another(solutions):
                again = self._solved_on(posed, None, deadline, interrupt, watch)
                if better(again[1], solutions):
                    expansion, (gram, solutions) = None, again
        spread = solutions if once is None else [once.spread(solutions[0])]
        features = None if expansion is None else Expanded.of(expansion, gram, posed.tasks, solutions)
        self._keep(training, spread, gram, centre, features)

    def _solved_on(
        self, posed: Training, solver: Solver | None, deadline: Deadline, interrupt: Interrupt, watch: Watch | None,
        kept: Checkpoint | None = None,
    ) -> tuple[Gram, list[Solution]]:  # fmt: skip
        """The Gram matrix, and the answers to all problems on it.

        To compute it, and to see whether the kernel is in doubt, may take long. Where there is no time for that, it is
        one of which nothing is held. Where Ctrl-C comes before, nobody needs it: f is a constant then, whose gap holds
        with any kernel.
        """
        kernel, points = posed.kernel, posed.points
        within_time: AbstractContextManager[Any] = nullcontext()
        if deadline.limited:
            within_time = until(NEVER if kernel.domain is Domain.VALUES else deadline.part(SHARE.some))
        try:
            with stopped_by(interrupt), within_time:
                gram = self._gram(posed)
                if not deadline.limited:
                    _ = gram.doubt
        except OutOfTimeError:
            gram = PointsGram(kernel, points, self.memory, "by rows: no time to compute them all")
        except StoppedError:
            gram = unformed(kernel, points)
            gram.__dict__["doubt"] = None
        if deadline.limited and isinstance(kernel, Linear):  # to keep an answer, points are read as often again
            deadline = deadline.earlier(min(now() - deadline.began, _READ * deadline.seconds))
        solutions = fit_machines(
            gram, posed.tasks, solver, tol=self.tol, max_iter=self.max_iter, deadline=deadline, watch=watch, kept=kept,
        )  # fmt: skip
        if gram.doubt is not None:
            warn_of(gram.doubt)
        return gram, solutions

    # What a machine writes.

    def _check(self) -> None:
        """Raise for settings that make no sense."""
        require_settings(self, self._settings)

    def _gram(self, training: Training) -> Gram:
        """The Gram matrix to train on."""
        return training_gram(self, training)

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        """The order of the points (None: as they are), the class of each, and the problems on the ordered points."""
        raise NotImplementedError

    def _centre(self, training: Training) -> Array | None:
        """What to subtract from the points of a linear machine, where the answer is the same."""
        if self.solver is not None:
            return None
        return centre_of(training.kernel, training.points, training.tasks, SHARE.little * parse_bytes(self.memory))

    def _pack(self, betas: list[Array], sizes: list[int]) -> Array:
        """The coefficients of all problems as rows over the points; classes of these sizes follow one another."""
        return np.stack(betas)

    def _unpack(self, layout: Array, sizes: list[int]) -> list[Array]:
        """`_pack`, undone."""
        return list(layout)

    def _blocks(self) -> list[slice]:
        """Pieces of the support vectors over which sums are taken."""
        return [slice(0, len(self.support_))]

    def _unfitted(self) -> Machine:
        """The same machine before its fit, its kernel resolved."""
        machine: Machine = clone(self).set_params(kernel=self.kernel_)
        return machine

    def _biases(self) -> Array:
        """b of each problem."""
        return np.ravel(self.intercept_)

    # Training data.

    def _training(self, X: Points, y: Any, sample_weight: Any) -> Training:
        """Admit the data, leave out what has no weight, and put the problems on the rest."""
        self._check()
        kernel = self.kernel if isinstance(self.kernel, Kernel) else as_kernel(self.kernel)
        X, y = self._admit_both(X, y, kernel)
        n = count(X)
        weight = np.ones(n) if sample_weight is None else sample_weights(sample_weight, n)
        rows = np.arange(n)
        if not weight.all():
            rows = np.flatnonzero(weight)
            y, weight = None if y is None else y[rows], weight[rows]
        order, group, tasks = self._plan(y, weight)
        rows = rows if order is None else rows[order]
        given, weight = kernel.domain is Domain.VALUES, weight if order is None else weight[order]
        if given:
            require_columns(X, n)
        points = X
        if rows.size < n or order is not None:
            points = X[np.ix_(rows, rows)] if given else take(X, rows)
        advise(self, kernel, points)
        resolved = kernel.resolve(points, None if sample_weight is None else weight)
        return Training(resolved, points, rows, n, group, tuple(tasks))

    def _admit_both(self, X: Points, y: Any, kernel: Kernel, reset: bool = True) -> tuple[Any, Any]:
        """Points and targets, checked."""
        if not isinstance(X, np.ndarray):
            require_here(self, X)
        checks = CHECKS.get(kernel.domain)
        if checks is not None:
            checks = checks | {"reset": reset, "ensure_all_finite": not self._gram_finds_nan}
            if self._targets == "none":
                return validated(self, X, **checks), None
            X, y = validated(self, X, y, y_numeric=self._targets == "numbers", **checks)
            return X, y
        X = objects(X)
        if self._targets == "none":
            return X, None
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        check_consistent_length(range(count(X)), y)
        assert_all_finite(y, input_name="y")
        return X, np.asarray(y, np.float64) if self._targets == "numbers" else y

    def _solver(self) -> Solver | None:
        """The solver, with the seed of the machine where it wants one and has none."""
        if self.solver is None:
            return None
        solver = as_solver(self.solver, self._ridge)
        seed = solver.get_params(deep=False).get("random_state", 0)
        return solver.with_params(random_state=seed_of(self.random_state)) if seed is None else solver

    # What was learned.

    def _keep(
        self, training: Training, solutions: list[Solution], gram: Gram, centre: Array | None = None,
        expanded: Expanded | None = None,
    ) -> None:  # fmt: skip
        """Keep the answers; b is around the centre, where there is one."""
        self.kernel_ = training.kernel
        self.shape_fit_ = (training.n, *([self.n_features_in_] if hasattr(self, "n_features_in_") else []))
        self.intercept_ = np.array([solution.b for solution in solutions])
        self.n_iter_ = max(1, *[len(solution.history) for solution in solutions])
        self._keep_support(training, solutions, gram, centre)
        self._expanded = expanded
        if centre is not None or expanded is not None:
            solutions = self._moved_back(solutions, centre, expanded)
        solutions = as_predicted(self, training, solutions, moved=centre is not None)
        if [s for s in solutions if s.certificate.proof is not None]:
            solutions = [with_proof(s, task, training) for s, task in zip(solutions, training.tasks, strict=True)]
        if len(solutions) == 1 and training.rows.size < training.n:
            solutions = [in_rows_of_the_user(solutions[0], training)]
        self.certificates_ = tuple([solution.certificate for solution in solutions])
        if len(solutions) == 1:
            self.solution_, self.certificate_ = solutions[0], self.certificates_[0]
        else:
            self.solution_ = Solutions(solutions)
            self.certificate_ = worst(self.certificates_, [task.name for task in training.tasks], self.tol)

    def _moved_back(self, solutions: list[Solution], centre: Array | None, expanded: Expanded | None) -> list[Solution]:
        """The answers with b around the origin, where the points were moved."""
        if expanded is not None and not expanded.expansion.whole:  # both ways to write f agree at the centre
            m = expanded.expansion.centre[None].astype(self.support_vectors_.dtype)
            self.intercept_ = self.intercept_ - self._sums(m)[0]
        if centre is not None and self._coef is not None:
            self.intercept_ -= self._coef @ centre
        return [replace(s, b=b) for s, b in zip(solutions, self.intercept_.tolist(), strict=True)]

    def _keep_support(self, training: Training, solutions: list[Solution], gram: Gram, centre: Array | None) -> None:
        """What predictions are made of: support vectors and their coefficients; w, where the kernel is linear."""
        group = training.group
        sizes = np.bincount(group)
        betas = [solution.beta for solution in solutions]
        layout = self._pack(betas, sizes.tolist()) if len(betas) > 1 else betas[0][None]
        used = np.flatnonzero(layout.any(axis=0))
        used = used[np.argsort(group[used], kind="stable")]
        self.support_ = training.rows[used]
        self.n_support_ = np.bincount(group[used], minlength=sizes.size).astype(np.int32)
        given = self.kernel_.domain is Domain.VALUES
        self.support_vectors_ = np.empty((0, 0)) if given else take(training.points, used)
        self.dual_coef_ = layout[:, used]
        self._coef = self._linear_weights(centre) if isinstance(self.kernel_, Linear) else None

    def _linear_weights(self, centre: Array | None = None) -> Array:
        """w = sum_i beta_i x_i of each problem, as rows; where the sum of beta is 0, from points around a centre."""
        vectors, coefficients = self.support_vectors_, self.dual_coef_
        parts = np.stack([linear_weights(vectors[b], coefficients[:, b], centre) for b in self._blocks()])
        return np.ascontiguousarray(join(parts).T if len(parts) > 1 else parts[0])

    @property
    def coef_(self) -> Array:
        """w, a row for each problem, where the kernel is linear."""
        check_is_fitted(self)
        if self._coef is None:
            raise AttributeError(f"coef_ is there for the linear kernel only, and this one is {self.kernel_!r}.")
        return self._coef

    @property
    def function_(self) -> Functions:
        """f as an RKHSFunction; of several problems (classes, pairs of them, targets), a tuple of theirs in order."""
        check_is_fitted(self)
        require_answer(self)
        return functions_of(self)

    # Prediction.

    def _scores(self, X: Points) -> Array:
        """f(x) of each problem, as columns."""
        return self._f(self._admit(X))

    def _f(self, X: Points) -> Array:
        """The same for points that were admitted."""
        if self._coef is not None:
            return np.asarray(linear_scores(X, self._coef) + self.intercept_)
        if self._expanded is not None:
            return self._expanded.scores(X)
        return np.asarray(self._sums(X) + self.intercept_)

    def _sums(self, X: Points) -> Array:
        """sum_i beta_i k(x_i, x) of each problem, as columns."""
        return join(parts) if len(parts := self._parts(X)) > 1 else parts[0].T

    def _parts(self, X: Points) -> Array:
        """The same over pieces of the support vectors, such as a class: (pieces, columns of coefficients, points)."""
        blocks, coefficients = self._blocks(), self.dual_coef_.T
        if len(coefficients) == 0:
            return np.zeros((len(blocks), coefficients.shape[1], count(X)))
        if self.kernel_.domain is Domain.VALUES:
            return np.stack([(X[:, self.support_[block]] @ coefficients[block]).T for block in blocks])
        return sums_between(self.kernel_, *self._between(X))

    def _between(self, X: Points) -> tuple[Points, Points, Array, list[int], Any]:
        """Points, support vectors, their coefficients, where pieces of them end, and the precision of values."""
        self.kernel_.check(X, "X")
        Z, edges = self.support_vectors_, [0, *[block.stop for block in self._blocks()]]
        return X, Z, self.dual_coef_.T, edges, common_dtype(X, Z) if self._single else np.dtype(np.float64)

    def _admit(self, X: Points) -> Any:
        """Points to predict for, once there is something to predict with."""
        check_is_fitted(self)
        require_answer(self)
        checks = CHECKS.get(self.kernel_.domain)
        return objects(X) if checks is None else validated(self, X, reset=False, **checks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            domain = as_kernel(self.kernel).domain
        except (TypeError, ValueError):  # fit says what is wrong
            domain = Domain.VECTORS
        tags.input_tags.sparse = domain is Domain.VECTORS
        tags.input_tags.pairwise = domain is Domain.VALUES
        tags.input_tags.string = domain is Domain.OBJECTS
        return tags

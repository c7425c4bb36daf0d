"""Linear support vector classification at any size: no kernel matrix, nothing but the points."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone

from ..amounts import AT_A_TIME, TOLERANCE
from ..gram import Gram, LinearGram
from ..hints import NO_PROBABILITIES, Absent
from ..kernels import Kernel, Linear
from ..kernels.points import Domain
from ..limits import ctrl_c_held
from ..losses import Hinge, Logistic, Loss, SquaredHinge
from ..problem import Problem, Task
from ..shards.afar import SpreadGram
from ..solution import Solution
from ..solvers import Automatic, CoordinateDescent, Solver, StochasticSubgradient
from ..solvers import solver as as_solver
from ..types import Array, Index, Points
from .centring import centre_of
from .checks import (
    CHECKS,
    LIMITS,
    POSITIVE,
    Settings,
    class_weights,
    classes_of,
    classes_of_stream,
    name_of,
    predicted,
    sample_weights,
    seed_of,
    validated,
    weights_with_classes,
)
from .machine import Machine
from .tasks import Training

_LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}


class LinearSVC(ClassifierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)), with f(x) = <w, x> + b.

    The loss is "squared_hinge", max(0, 1 - y f)^2, "hinge", max(0, 1 - y f), or "logistic", log(1 + exp(-y f)), as in
    KernelLogistic("linear"), which knows probabilities and keeps points for it. C_i is C times the weight of the point
    and of its class. bias=True leaves b free; bias="penalised" adds 1/2 b^2 to the objective, as liblinear does;
    bias=False is b = 0. Of three or more classes, each is told from the rest.

    Points may be dense, sparse (CSR) or memory-mapped; float32 and float64 rows are used as they are. Only few dense
    points (4 MB as float64) are copied, where b is free: they are taken around their mean, which changes nothing but
    rounding.

    Parameters
    ----------
    C : float, default=1.0
        The weight of mistakes, > 0.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        What a mistake costs: see above.
    bias : bool or "penalised", default=True
        Whether b is free, penalised like a weight, or 0.
    solver : Solver or str, default=None
        CoordinateDescent() if None, or Newton() for the logistic loss; an object, or the same thing as text:
        "stochastic_subgradient(order=random)".
    tol : float, default=1e-4
        The relative gap to reach.
    class_weight : dict or "balanced", default=None
        A weight for each class. With "balanced" each class weighs the same; a point counts with its own weight: a
        weight of 2 is the point twice.
    time_limit : float, default=None
        Seconds that a fit may take, all problems together.
    max_iter : int, default=None
        Rounds for each problem; None bounds the work of each to that of 2,000 full rounds, however small the memory
        makes them.
    random_state : int or RandomState, default=None
        The seed of the order in which points are visited; the same order every time if None.
    verbose : bool, default=False
        Whether to show one live line of progress, on stderr or in the notebook.

    Attributes
    ----------
    certificate_ : Certificate
        How good the answer is: primal and dual value, gap, KKT violation; of several problems, the worst.
    certificates_ : tuple of Certificate
        Those of all problems.
    solution_ : Solution or tuple of Solution
        How it was found: solver, rounds, history, work; of several problems, all of them.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    coef_ : ndarray of shape (n_problems, n_features)
        w of each problem.
    intercept_ : ndarray of shape (n_problems,)
        b of each problem.
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    support_ : ndarray of shape (n_support,)
        The rows of the training set with a coefficient; not after partial_fit.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        Their coefficients beta.
    kernel_ : Kernel
        The kernel, with its parameters found.
    n_iter_ : int
        The rounds; of several problems, the most.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    shape_fit_ : tuple of int
        The shape of the training set.
    """

    _parsers: ClassVar[dict[str, Any]] = {"solver": as_solver}
    _targets: ClassVar[str] = "labels"
    _gram_finds_nan: ClassVar[bool] = True
    _own_w: ClassVar[bool] = True
    _in_features: ClassVar[bool] = True
    _settings: ClassVar[Settings] = LIMITS | {
        "C": POSITIVE, "loss": tuple(_LOSSES), "bias": (True, "penalised", False),
    }  # fmt: skip

    predict_proba = Absent(NO_PROBABILITIES)
    predict_log_proba = Absent(NO_PROBABILITIES)

    def __init__(
        self,
        C: float = 1.0,
        loss: str = "squared_hinge",
        bias: bool | str = True,
        solver: Any = None,
        tol: float = TOLERANCE,
        class_weight: Any = None,
        time_limit: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def kernel(self) -> Kernel:
        """<x, z>, or <x, z> + 1 where the bias is penalised."""
        return Linear() + 1 if self.bias == "penalised" else Linear()

    def decision_function(self, X: Points) -> Array:
        """f(x), positive for classes_[1]; of more classes, a column for each."""
        scores = self._scores(X)
        return np.asarray(scores[:, 0]) if self.classes_.size == 2 else scores

    def predict(self, X: Points) -> Array:
        """The class of each point: of the sign of f(x), or the one with the largest f(x)."""
        scores = self.decision_function(X)  # first: it says so where nothing is fitted yet
        return predicted(self.classes_, scores)

    def partial_fit(self, X: Points, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more points, by one pass of StochasticSubgradient with automatic steps.

        The first call names all classes. Every point counts with C each time that it is given; none is kept. Since the
        points are gone afterwards there is no certificate; `fit` on all points gives one. Ctrl-C in the middle leaves
        the machine as it was before.
        """
        self._check()
        solver = StochasticSubgradient() if self.solver is None else as_solver(self.solver)
        if not isinstance(solver, StochasticSubgradient) or not isinstance(solver.step, Automatic):
            raise ValueError(
                "partial_fit learns by StochasticSubgradient() with automatic steps, which solver=None is too; "
                f"the solver is {self.solver!r}."
            )
        if self.class_weight == "balanced":
            raise ValueError("partial_fit does not see all points, so classes cannot be balanced: give their weights.")
        first = not hasattr(self, "classes_")
        X, y = validated(self, X, y, reset=first, **CHECKS[Domain.VECTORS])
        named, group = classes_of_stream(self, y, classes)
        weight = sample_weights(sample_weight, len(group))
        C = self.C * weight * class_weights(self, named, np.arange(named.size), np.ones(named.size))[group]
        kept = np.flatnonzero(C)
        gram = LinearGram(X if kept.size == C.size else X[kept], float(self.bias == "penalised"))
        problems, rounds = 1 if named.size == 2 else named.size, 0 if first else self.n_iter_
        coef = np.zeros((problems, gram.design.width)) if first else self.coef_.copy()
        intercept = np.zeros(problems) if first else self.intercept_.copy()
        solver = solver.with_params(random_state=(seed_of(self.random_state) or 0) + rounds)
        for number in range(problems):
            labels = np.where(group[kept] == (1 if named.size == 2 else number), 1.0, -1.0)
            problem = Problem(gram, labels, _LOSSES[self.loss], C[kept], self.bias is True)
            coef[number], b = solver.absorb(problem, coef[number], float(intercept[number]))
            intercept[number] = b if self.bias else 0.0
        with ctrl_c_held():
            self.classes_, self.kernel_, self.n_iter_ = named, self.kernel, rounds + 1
            self._coef, self.intercept_ = coef, intercept
            for name in ("solution_", "certificate_", "support_", "dual_coef_"):  # they are of another f
                if hasattr(self, name):
                    delattr(self, name)
            self.certificates_ = ()
        return self

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        self.classes_, group = classes_of(self, y)
        C = self.C * weights_with_classes(self, self.classes_, group, weight)

        def task(c: int, name: str) -> Task:
            return Task(np.where(group == c, 1.0, -1.0), _LOSSES[self.loss], C, self.bias is True, name=name)

        if self.classes_.size == 2:
            return None, group, [task(1, "")]
        names = [f"{name_of(c)} against the rest" for c in self.classes_]
        return None, group, [task(c, name) for c, name in enumerate(names)]

    def _centre(self, training: Training) -> Array | None:
        """A large X is not copied."""
        if self.solver is not None:
            return None
        return centre_of(training.kernel, training.points, training.tasks, AT_A_TIME.thread_bytes)

    def _gram(self, training: Training) -> Gram:
        return LinearGram(training.points, float(self.bias == "penalised"))

    def _keep_support(self, training: Training, solutions: list[Solution], gram: Gram, centre: Array | None) -> None:
        betas = np.stack([solution.beta for solution in solutions])
        used = np.flatnonzero((betas != 0.0).any(axis=0))
        self.support_, self.dual_coef_ = training.rows, betas
        if used.size < betas.shape[1]:
            self.support_, self.dual_coef_ = training.rows[used], betas.take(used, axis=1)
        weights = gram.combination if isinstance(gram, SpreadGram) else gram.design.combination
        self._coef = np.stack([weights(beta) for beta in betas])
        if self.bias == "penalised":
            self.intercept_ = betas.sum(axis=1)

    def _solver(self) -> Solver | None:
        if self.solver is None and self.loss != "logistic":
            return CoordinateDescent(random_state=seed_of(self.random_state))
        return super()._solver()

    def _unfitted(self) -> Machine:
        machine: Machine = clone(self)
        return machine

    def _biases(self) -> Array:
        return np.zeros_like(self.intercept_) if self.bias == "penalised" else self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Some checks ask for nearly all points around the origin on one side: no f without a bias has them there.
        tags.classifier_tags.poor_score = self.bias is False
        return tags

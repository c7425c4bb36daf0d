"""Search: scikit-learn's grid search, with shared work for the machines that it knows."""

from __future__ import annotations

import logging
from copy import copy
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, check_cv
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import indexable

from ..estimators import KernelRidge
from ..io import place_for
from ..kernels import Kernel
from ..kernels.points import count
from ..limits import Deadline
from ..memory import parse_bytes
from ..parallel import thread_count
from .auto import AutoGrid
from .cells import CellAnswer
from .choose import at_edge, decided
from .row_numbers import Cell, EveryRow, Splits
from .settings import key_of, last_step, prefix_of
from .sheet import KNOWN, Sheet
from .spread import SpreadSheet

_LOG = logging.getLogger("mercer")
_PLAIN = (bool, int, float, str, Kernel, type(None), np.number)
"""Values of settings that can be told apart by their text."""


class Search(GridSearchCV):  # type: ignore[misc]
    """All settings of a grid by cross-validation: the interface, and the answers, of scikit-learn's GridSearchCV.

    SVC, SVR and KernelLogistic are solved together: one Gram matrix for each kernel, all folds on it, each C from the
    answer for the C before; every answer has a certificate. So is LinearSVC with a smooth loss (squared hinge or
    logistic) where columns are few. Other estimators are fitted one by one, and so are these where the matrix is too
    large, with fit parameters but weights, or with a scorer that is a plain function; `how_` says what was done.

    Parameters
    ----------
    estimator : estimator
        A machine, or a pipeline; the steps before the machine are fitted inside each fold.
    grid : dict, list of dict, or "auto"
        The settings, as GridSearchCV's param_grid. "auto" starts around C = 1 and the scale of the data, grows wherever
        the best setting is at an edge, and is refined around the best at the end.
    cv : int, splitter, iterable or "loo", default=5
        How folds are cut, as in GridSearchCV. "loo" leaves out one row at a time; a row whose beta is 0 in the fit to
        all rows costs nothing then, and KernelRidge is fitted once for all of them (the score of one row must be an
        error, such as "neg_mean_squared_error").
    scoring : str, callable, list, tuple or dict, default=None
        As in GridSearchCV; None is the score of the estimator.
    refit : bool, str or callable, default=True
        As in GridSearchCV; `mercer.one_standard_error` is such a callable.
    n_jobs : int, default=None
        The number of threads, or of processes where estimators are fitted one by one; None: what BLAS may use.
    time_limit : float, default=None
        Seconds after which no further setting is begun; at least one is scored.
    memory : int, float or str, default="2GB"
        What Gram matrices may take.
    prune : bool, default=True
        Whether a setting is left unfinished as soon as it is proven that another value of C, with all else equal, is
        better: it keeps its bounds, and ranks last. This needs accuracy as the only score, no weights, no train scores,
        no client, and a refit that is no function; answers do not depend on it otherwise.
    bounds : bool, default=True
        Whether fits of SVC go on until the labels of all rows to test on are proven, as far as that can be, so that
        there are `score_bounds_`. Without, each fit ends at the relative gap `tol` of the machine, which is faster.
    checkpoint : str or path, default=None
        A file that keeps what is finished (of shared work). Whoever is interrupted goes on from it by the same call,
        with a larger grid too; with other data, folds or settings of the estimator it is refused.
    client : distributed.Client, default=None
        Whose workers score the settings of SVC and SVR (see mercer.distributed); all that share a kernel go to one of
        them. The best is trained here.
    error_score : "raise" or float, default=nan
        As in GridSearchCV.
    return_train_score : bool, default=False
        As in GridSearchCV.
    pre_dispatch : int or str, default="2*n_jobs"
        As in GridSearchCV.
    verbose : int, default=0
        As in GridSearchCV.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        As in GridSearchCV, like all attributes that are not named here.
    best_params_ : dict
        The best setting.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in cv_results_.
    best_estimator_ : estimator
        The estimator with it, trained on all rows.
    refit_time_ : float
        Seconds that took.
    score_bounds_ : ndarray of shape (n_settings, 2) or None
        Between which values the mean accuracy of each setting lies, whatever exact solver had been used; None where the
        score is none of accuracy, bounds=False, the machine is no SVC, or fits were plain.
    decided_ : bool or None
        Whether the best setting is proven to be the best of the grid; None where there are no bounds.
    at_edge_ : list of str
        The names of the settings whose best value is the smallest or the largest of several.
    gaps_ : ndarray of shape (n_settings, n_splits)
        The largest relative gap of each setting and fold; NaN where fits were plain.
    pruned_ : ndarray of shape (n_settings,)
        Which settings were left unfinished, since they cannot be the best.
    how_ : str
        What was done, in a sentence or two.
    """

    def __init__(
        self,
        estimator: Any,
        grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        memory: int | float | str = "2GB",
        prune: bool = True,
        bounds: bool = True,
        checkpoint: Any = None,
        client: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        pre_dispatch: Any = "2*n_jobs",
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory = memory
        self.prune = prune
        self.bounds = bounds
        self.checkpoint = checkpoint
        self.client = client
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.pre_dispatch = pre_dispatch
        self.verbose = verbose

    @property
    def param_grid(self) -> Any:
        """The grid, by scikit-learn's name."""
        return self.grid

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every setting by cross-validation, and train the best on all rows (unless refit=False)."""
        self._check()
        reason = self._against_sharing(X, y, params)
        if reason and self.grid == "auto":
            raise ValueError(f"Search: grid='auto' needs work that is shared, and {reason}: name the values to try.")
        if reason and self.client is not None:
            raise ValueError(f"Search: client is for work that is shared, and {reason}: leave it out.")
        if reason:
            reason = f"Every setting was fitted by itself: {reason}."
            _LOG.info("Search: %s", reason)
            cut = self._cut()
            inner = self if cut is self.cv else copy(self)
            inner.cv = cut
            GridSearchCV.fit(inner, X, y, **params)
            for name in set(vars(inner)) - {"cv"}:
                setattr(self, name, getattr(inner, name))
            self.how_ = reason
            self.pruned_ = np.zeros(len(self.cv_results_["params"]), bool)
            self._prove([], None)
            return self
        X, y = indexable(X, y)
        sheet = self._sheet(X, y, params)
        sheet.resume()
        try:
            if self.grid == "auto":
                candidates = AutoGrid(self.estimator, X, y).search(lambda settings: self._scores(sheet, settings))
            else:
                candidates = list(ParameterGrid(self.grid))
                sheet.add(candidates)
                sheet.solve()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"Search: {sheet.state()}") from None
        inner = copy(self)
        inner.estimator, inner.cv, inner.n_jobs, inner.time_limit = Cell(sheet), sheet.splits, None, None
        inner.grid = [{name: [value] for name, value in one.items()} for one in candidates if sheet.done(one)]
        asks = None if self.scoring is None else y  # a cell that scores itself knows its targets
        GridSearchCV.fit(inner, EveryRow.of(count(X)), asks, **params)
        self._take(inner, sheet)
        return self

    def __getstate__(self) -> Any:
        """Without the client, which is of this process."""
        return super().__getstate__() | {"client": None}

    def __sklearn_clone__(self) -> Self:
        """As of any estimator; the client, which cannot be copied, is the same."""
        twin: Self = super(Search, copy(self)).__sklearn_clone__()  # a copy has no client
        twin.client = self.client
        return twin

    # Plainly, or together?

    def _check(self) -> None:
        parse_bytes(self.memory)
        if self.checkpoint is not None:
            place_for(self.checkpoint)  # said before anything is fitted
        if isinstance(self.grid, str) and self.grid != "auto":
            raise ValueError(f"Search: grid must be a dictionary, a list of them, or 'auto', not {self.grid!r}.")
        limit = self.time_limit
        if limit is not None and not (isinstance(limit, Real) and not isinstance(limit, bool) and limit > 0):
            raise ValueError(f"Search: time_limit must be None or a number of seconds greater than 0, not {limit!r}.")

    def _cut(self) -> Any:
        """How folds are cut, in scikit-learn's terms."""
        return LeaveOneOut() if isinstance(self.cv, str) and self.cv == "loo" else self.cv

    def _against_sharing(self, X: Any, y: Any, params: dict[str, Any]) -> str:
        """Why settings are fitted one by one; empty where their work is shared."""
        machine = last_step(self.estimator)
        if type(machine) not in KNOWN and not self._in_closed_form(machine):
            own = f"{type(machine).__module__.partition('._')[0]}.{type(machine).__name__}"
            return f"work is shared for mercer's {', '.join(cls.__name__ for cls in KNOWN)}, not for {own}"
        others = sorted(set(params) - {"groups", "sample_weight"})
        if others or ("sample_weight" in params and machine is not self.estimator):
            return f"fit was given {(others or ['sample_weight'])[0]}"
        if y is None or np.ndim(y) != 1:
            return "y is no column"
        scorers = self.scoring.values() if isinstance(self.scoring, dict) else [self.scoring]
        if any(callable(scorer) and not hasattr(scorer, "_score_func") for scorer in scorers):
            return "a scorer is a function of the estimator and the points"
        candidates = list(ParameterGrid(self.grid)) if isinstance(self.grid, dict | list) else []
        if not all(isinstance(value, _PLAIN) for settings in candidates for value in settings.values()):
            return "settings are objects"
        own = prefix_of(self.estimator)
        step = own.removesuffix("__")
        if own and any(step in settings for settings in candidates):
            return "the machine itself is searched"
        return ""

    def _in_closed_form(self, machine: Any) -> bool:
        """Whether one fit answers for all rows that are left out."""
        alone = machine is self.estimator and isinstance(self.cv, str) and self.cv == "loo" and self.grid != "auto"
        return type(machine) is KernelRidge and alone

    # Together.

    def _sheet(self, X: Any, y: Any, params: dict[str, Any]) -> Sheet:
        """The sheet that will answer, its folds cut."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            cut, weight = routed.splitter.split, routed.estimator.fit.get("sample_weight")
        else:
            cut, weight = {"groups": params.get("groups")}, params.get("sample_weight")
        splits = Splits(check_cv(self._cut(), y, classifier=is_classifier(self.estimator)), X, y, cut)
        asked = thread_count() if self.n_jobs is None else self.n_jobs
        threads = max(1, thread_count() + 1 + asked if asked < 0 else asked)
        kind: Any = Sheet if self.client is None else partial(SpreadSheet, client=self.client)
        sheet: Sheet = kind(
            self.estimator, X, y, splits, self.memory, threads, self.return_train_score,
            Deadline.after(self.time_limit), prune=self._may_prune(weight), bounds=bool(self.bounds),
            weight=weight, checkpoint=self.checkpoint,
        )  # fmt: skip
        return sheet

    def _may_prune(self, weight: Any) -> bool:
        """Whether accuracy alone decides."""
        plain = weight is None and not self.return_train_score and not callable(self.refit) and self.client is None
        return bool(self.prune and self.bounds) and plain and (self.scoring is None or self.scoring == "accuracy")

    def _scores(self, sheet: Sheet, candidates: list[dict[str, Any]]) -> list[float]:
        """Score settings; NaN for those for which there was no time."""
        sheet.paths = sheet.paths[:1]  # the first path is scored whatever the time
        sheet.add(candidates)
        sheet.solve()
        return [self._mean(sheet, one) if sheet.done(one) else float("nan") for one in candidates]

    def _mean(self, sheet: Sheet, settings: dict[str, Any]) -> float:
        """The mean score of a setting, by the scorer that decides."""
        scoring = self.scoring
        if isinstance(scoring, dict):
            scoring = scoring[self.refit]
        elif isinstance(scoring, list | tuple | set):
            scoring = self.refit
        scores = []
        for train, test in sheet.splits.made:
            cell = Cell(sheet, settings).fit(train)
            scores.append(check_scoring(cell, scoring)(cell, test, sheet.targets[test]))
        return float(np.mean(scores))

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        """As GridSearchCV; with a time limit, one setting after the other (which callbacks do not hear of)."""
        if self.time_limit is None:
            context = {} if callback_ctx is None else {"callback_ctx": callback_ctx}
            super()._run_search(evaluate_candidates, **context)
            return
        deadline = Deadline.after(self.time_limit)
        for number, settings in enumerate(ParameterGrid(self.grid)):
            if number == 0 or deadline.left() > 0.0:
                evaluate_candidates([settings])

    def _take(self, inner: Search, sheet: Sheet) -> None:
        """What the search over row numbers has found."""
        own = {name: value for name, value in vars(inner).items() if name.endswith("_") and not name.startswith("_")}
        if "best_estimator_" in own:
            own["best_estimator_"] = own["best_estimator_"].machine
            if hasattr(own["best_estimator_"], "feature_names_in_"):
                own["feature_names_in_"] = own["best_estimator_"].feature_names_in_
        for name, value in own.items():
            setattr(self, name, value)
        if self.scoring is None:
            self.scorer_ = check_scoring(self.estimator)
        folds = range(self.n_splits_)
        answers = [[sheet.answers[key_of(settings), k] for k in folds] for settings in self.cv_results_["params"]]
        seconds = np.array([[one.seconds if isinstance(one, CellAnswer) else 0.0 for one in row] for row in answers])
        self.cv_results_["mean_fit_time"], self.cv_results_["std_fit_time"] = seconds.mean(axis=1), seconds.std(axis=1)
        shared = sum(np.isfinite(one.gap) for row in answers for one in row if isinstance(one, CellAnswer))
        self.how_ = f"{shared} of {len(answers) * self.n_splits_} fits shared their Gram matrices."
        self.pruned_ = np.array([any(getattr(one, "ended", False) for one in row) for row in answers], bool)
        if self.pruned_.any():
            many = np.count_nonzero(self.pruned_)
            self.cv_results_["rank_test_score"][self.pruned_] = len(answers) - many + 1
            self.how_ += f" {many} of {len(answers)} settings were left early: they cannot be the best."
        self._prove(answers, sheet)

    def _prove(self, answers: list[list[CellAnswer | Exception]], sheet: Sheet | None) -> None:
        """What is known of the scores beyond their values."""
        self.score_bounds_: Any = None
        self.decided_: bool | None = None
        many = len(self.cv_results_["params"])
        self.gaps_ = np.full((many, self.n_splits_), np.nan)
        if sheet is not None:
            self.gaps_ = np.array([[getattr(one, "gap", np.nan) for one in row] for row in answers])
            self.score_bounds_ = self._bounds(answers, sheet)
            if self.score_bounds_ is not None and hasattr(self, "best_index_"):
                self.decided_ = decided(self.score_bounds_, self.best_index_)
        self.at_edge_ = at_edge(self.cv_results_["params"], self.best_params_) if hasattr(self, "best_params_") else []

    def _bounds(self, answers: list[list[CellAnswer | Exception]], sheet: Sheet) -> Any:
        """The means over the folds of the least and of the largest accuracy; None, where the score is none."""
        plain = self.scoring is None or (self.scoring == "accuracy" and sheet.weight is None)
        if not plain or any(getattr(one, "surely", None) is None for row in answers for one in row):
            return None
        weights = [np.asarray(sheet.weight)[test] if sheet.weighed else None for _, test in sheet.splits.made]

        def ends(one: Any, own: Any) -> list[float]:
            return [float(np.average(mask, weights=own)) for mask in (one.surely, one.maybe)]

        return np.array([list(map(ends, row, weights)) for row in answers]).mean(axis=1)

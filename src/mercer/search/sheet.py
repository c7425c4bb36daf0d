"""Sheet: the answers of a search, for each setting and fold.

Settings that differ in C alone are a path; the paths of one kernel share its Gram matrix. What does not fit in (a hard
margin, folds without some class) is fitted plainly, by itself.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..archives import checkpoint
from ..estimators import SVC, SVR, KernelLogistic, KernelRidge, LinearSVC
from ..estimators.checks import sample_weights
from ..kernels import kernel as as_kernel
from ..kernels.points import Domain, take
from ..limits import Deadline, now
from ..memory import parse_bytes
from ..parallel import for_each, one_blas_thread
from ..types import Array, Index
from .cells import CellAnswer, Points, read, read_smooth
from .left_out import left_out
from .matrices import BYTES, Rooms
from .paths import Fold, Posed, pose
from .placed import Placed, stacked
from .row_numbers import ByRows, Splits, rows_of, same
from .settings import key_of, last_step, prefix_of
from .smooth import few_columns

_SMOOTH = (LinearSVC, KernelLogistic)
KNOWN = (SVC, SVR, *_SMOOTH)
_LOG = logging.getLogger("mercer")
_SHARE = 0.8  # of the memory, for Gram matrices and distances
_LEAST = 0.05  # seconds for a plain fit, when time is up and there is nothing else yet
_OFTEN = 2.0  # seconds between two checkpoints, at least
_KEPT = ("seconds", "tested", "trained", "gap", "surely", "maybe", "ended")  # of an answer, in a checkpoint
_DISTANCES = 8  # bytes for each pair of points
_CELLS = 5_000_000  # coefficients of all cells that are solved together: of leave-one-out there are many folds


@dataclass(eq=False)
class Sheet:
    """The answers so far; `machine` is what a `Cell` asks."""

    estimator: Any
    X: Any
    y: Any
    splits: Splits
    memory: Any
    threads: int
    train_too: bool
    deadline: Deadline
    paths: list[list[dict[str, Any]]] = field(default_factory=list)
    """Settings that differ in C alone, by growing C."""
    answers: dict[tuple[str, int], CellAnswer | Exception] = field(default_factory=dict)

    prune: bool = False
    """Whether settings that cannot be the best any more are left as they are."""
    bounds: bool = True
    """Whether accuracies are bounded."""
    weight: Any = None
    """The weights of all rows, where the machines are given some."""
    weighed: bool = False
    """Whether scores were weighed."""
    checkpoint: Any = None
    """The file that keeps what is finished."""
    identity: str = ""
    kept_at: float = 0.0

    def __post_init__(self) -> None:
        self.prefix, self.targets = prefix_of(self.estimator), np.asarray(self.y)
        self.room = parse_bytes(self.memory) * _SHARE  # bytes for matrices
        self.tags = get_tags(self.estimator)  # of each `Cell`
        self.tags.input_tags.pairwise = False
        self.steps = self.estimator[:-1] if isinstance(self.estimator, Pipeline) else None
        self.made: OrderedDict[str, Placed] = OrderedDict()
        self.making: dict[str, threading.Lock] = {}
        self.cloned: dict[str, Any] = {}
        self.lock = threading.Lock()
        self.rooms = Rooms(self.threads)

    @cached_property
    def classes(self) -> Array:
        """The labels that there are."""
        return np.unique(self.targets)

    # What a search does.

    def add(self, candidates: Sequence[dict[str, Any]]) -> None:
        """Settings to be scored. A name that the estimator does not have is an error at once."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for settings in candidates:
            self._set(settings)
            others = {name: value for name, value in settings.items() if name != f"{self.prefix}C"}
            groups.setdefault(key_of(others), []).append(settings)
        self.paths += [sorted(group, key=self._weight_of) for group in groups.values()]

    def _weight_of(self, settings: dict[str, Any]) -> float:
        value = settings.get(f"{self.prefix}C", 1.0)
        return float(value) if isinstance(value, Real) else np.nan

    def state(self) -> str:
        """How far it has come, for whoever broke it off."""
        every = [settings for path in self.paths for settings in path]
        finished = f"{sum(map(self.done, every))} of {len(every)} settings are finished"
        if self.checkpoint is None:
            return f"{finished}, and lost; with checkpoint= a file would keep them."
        return f"{finished} and kept in {self.checkpoint}: the same call goes on from there."

    def done(self, settings: dict[str, Any]) -> bool:
        """Whether the setting has an answer in every fold."""
        return all((key_of(settings), fold) in self.answers for fold in range(len(self.splits.made)))

    def machine(self, settings: dict[str, Any], rows: Index, params: dict[str, Any]) -> Any:
        """The machine of these rows, as `Cell` needs it; where they are no fold, they are all: it is trained."""
        folds = [k for k, (train, _) in enumerate(self.splits.made) if same(train, rows)]
        if not folds:
            return clone(self.estimator).set_params(**settings).fit(self.X, self.y, **params)
        answer = self.answers[key_of(settings), folds[0]]
        if isinstance(answer, Exception):
            raise answer.with_traceback(None)
        return answer.plain or self._reader(settings, folds)

    def _reader(self, settings: dict[str, Any], folds: list[int]) -> Any:
        """The machine of a setting, with scores that are looked up by row numbers; folds may train on the same rows."""
        key, machine = key_of(settings), copy(last_step(self._set(settings)))
        labels = isinstance(machine, SVC)
        if labels or isinstance(machine, _SMOOTH):
            machine.classes_ = self.classes

        def scores(rows: Any) -> Array:
            for fold in folds:
                (train, test), answer = self.splits.made[fold], self.answers[key, fold]
                for own, values in ((test, getattr(answer, "tested", None)), (train, getattr(answer, "trained", None))):
                    if values is not None and same(own, rows):
                        return np.asarray(values)
            raise ValueError("These rows were not scored.")

        machine._scores = scores
        if isinstance(machine, KernelRidge):
            machine.__dict__["predict"] = lambda rows: scores(rows)[:, 0]
        if labels:
            machine.decision_function = lambda rows: machine._decided(scores(rows))
        return machine

    def _set(self, settings: dict[str, Any]) -> Any:
        """The estimator with these settings, which nobody fits: to make one takes scikit-learn a while."""
        key = key_of(settings)
        if key not in self.cloned:
            self.cloned[key] = clone(self.estimator).set_params(**settings)
        return self.cloned[key]

    # How answers are found.

    def solve(self) -> None:
        """Answer all settings, path by path; those of the first path, whatever the time."""
        full, jobs = sample_weights(self.weight, len(self.y)), self._jobs()
        if self.steps is not None:  # the steps are fitted once for each fold
            jobs.sort(key=lambda job: job[2])

        def work(job: tuple[int, list[dict[str, Any]], list[int]]) -> None:
            number, path, folds = job
            if number == 0 or not self.deadline.limited or self.deadline.left() > 0.0:
                self._answer(path, folds, full)
                if self.checkpoint is not None and now() - self.kept_at >= _OFTEN:
                    self.keep()

        try:
            with one_blas_thread():  # of one job at a time too: the matrices of each step are small
                for_each(jobs, work, self.threads)
        finally:
            self.keep()

    def _jobs(self) -> list[tuple[int, list[dict[str, Any]], list[int]]]:
        """What is solved one from the other: a path in all folds; every other C, if there is no other path for a second
        thread. Those at the end of a grid take longest, as a rule, and go first.
        """
        jobs = []
        alone = len(self.paths) == 1 and self.steps is None and not self._fold_by_fold()
        for number, path in enumerate(self.paths):
            for part in (path[::2], path[1::2]) if alone else (path,):
                for folds in self._chains(len(part)):
                    left = [fold for fold in folds if self.open(part, fold)]
                    if left:
                        jobs.append((number, part, left))
        return jobs if self.deadline.limited else jobs[::-1]

    def open(self, path: list[dict[str, Any]], fold: int) -> bool:
        """Whether some setting of a path has no answer in a fold."""
        return any((key_of(settings), fold) not in self.answers for settings in path)

    def _chains(self, many: int) -> list[list[int]]:
        """Folds that are solved one from the other for so many C: all, or as many as there is room for; after steps,
        each has points of its own.
        """
        folds = list(range(len(self.splits.made)))
        room = _CELLS // max(1, many * len(self.y))
        size = 1 if self.steps is not None else max(1, room)
        if self._fold_by_fold():
            size = min(size, -(-len(folds) // self.threads))
        return [folds[start : start + size] for start in range(0, len(folds), size)]

    def _fold_by_fold(self) -> bool:
        """Whether no fold has anything from another."""
        return isinstance(last_step(self.estimator), LinearSVC)

    def keep(self) -> None:
        """Write what is known to the checkpoint, where there is one; plain fits are not kept."""
        if self.checkpoint is None:
            return
        with self.lock:
            kept = {key: one for key, one in self.answers.items() if isinstance(one, CellAnswer)}
            shared = {key: one for key, one in kept.items() if one.plain is None}
            content = [[*key, *(getattr(one, name) for name in _KEPT)] for key, one in shared.items()]
            checkpoint.write(self.checkpoint, "search", self.identity, content)
            self.kept_at = now()

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one."""
        if self.checkpoint is None:
            return
        settings = sorted((name, repr(value)) for name, value in self.estimator.get_params().items())
        folds, others = [list(pair) for pair in self.splits.made], [] if self.bounds else ["no bounds"]
        self.identity = checkpoint.identity_of(self.X, self.y, self.weight, folds, settings, self.train_too, *others)
        for key, fold, *values in checkpoint.read(self.checkpoint, "search", self.identity) or []:
            self.answers[key, fold] = CellAnswer(**dict(zip(_KEPT, values, strict=True)))

    def _answer(self, path: list[dict[str, Any]], folds: list[int], weight: Array) -> None:
        """All settings of a path in some folds; plainly, where they cannot be shared: errors are those of a fit."""
        shared = [settings for settings in path if 0.0 < self._weight_of(settings) < np.inf]
        try:
            done = bool(shared) and self._solved(shared, folds, weight)
        except Exception as error:
            _LOG.info("Search: a path is not shared: %s", error)
            done = False
        if not done and shared and len(folds) > 1:  # one of the folds may stand in the way
            for fold in folds:
                self._answer(path, [fold], weight)
            return
        for settings in path:
            if not done or settings not in shared:
                for fold in folds:
                    self.answers[key_of(settings), fold] = self._plainly(settings, fold, weight)

    def _plainly(self, settings: dict[str, Any], fold: int, weight: Array) -> CellAnswer | Exception:
        train, _ = self.splits.made[fold]
        began = now()
        params = {"sample_weight": weight[train]} if self.weight is not None and self.steps is None else {}
        try:
            machine = clone(self.estimator).set_params(**settings)
            if self.deadline.limited and "time_limit" in last_step(machine).get_params(deep=False):
                last_step(machine).set_params(time_limit=max(self.deadline.left(), _LEAST))
            machine.fit(rows_of(self.X, train), rows_of(self.y, train), **params)
        except Exception as error:
            return error
        return CellAnswer(now() - began, plain=ByRows(machine, self.X))

    def _points(self, settings: dict[str, Any], fold: int, weight: Array) -> Points | None:
        """Where the fold is solved; None where that would take too much memory."""
        estimator, (train, test) = self._set(settings), self.splits.made[fold]
        machine, room = last_step(estimator), self.room
        if self.steps is None:
            n, at_once = len(self.y), min(self.threads, len(self.paths))
            if (BYTES * at_once + _DISTANCES) * float(n) ** 2 > room:
                return None
            with self.lock:
                if "" not in self.made:
                    X, y = machine._admit_both(self.X, self.y, as_kernel(machine.kernel))
                    self.made[""] = Placed.of(machine, X, y, self.splits.tested(len(self.y)), Rooms(at_once))
            placed = self.made[""]
            own, place = train[weight[train] > 0.0], placed.place
            return Points(placed.matrices, place[own], place[test], place[train], own, placed.posed)
        if (BYTES + _DISTANCES) * self.threads * float(train.size + test.size) ** 2 > room:
            return None
        others = {name: value for name, value in settings.items() if not name.startswith(self.prefix)}
        placed = self._transformed(estimator, f"{fold} {key_of(others)}", fold)
        own = placed.place[: train.size]
        return Points(placed.matrices, own, placed.place[train.size :], own, train, placed.posed)

    def _transformed(self, estimator: Any, key: str, fold: int) -> Placed:
        """The points of a fold as the steps before the machine make them, fitted on what the fold trains on. The key
        tells the fold and the settings of these steps.
        """
        train, test = self.splits.made[fold]
        with self.lock:
            while key not in self.made and len(self.made) > self.threads:
                self.made.popitem(last=False)
            own = self.making.setdefault(key, threading.Lock())
        with own:
            if key not in self.made:
                steps, y = clone(estimator[:-1]), rows_of(self.y, train)
                trained = steps.fit_transform(rows_of(self.X, train), y)
                tested = steps.transform(rows_of(self.X, test))
                Z = stacked(trained, tested) if test.size else trained
                both = self.targets[np.concatenate([train, test])]
                Z, both = last_step(estimator)._admit_both(Z, both, as_kernel(last_step(estimator).kernel))
                tests = np.repeat([0, 1], [train.size, test.size])
                self.made[key] = Placed.of(last_step(estimator), Z, both, tests, self.rooms)
            return self.made[key]

    def _solved(self, path: list[dict[str, Any]], folds: list[int], weight: Array) -> bool:
        """Solve the path in some folds, where that can be shared; whether it was."""
        began = now()
        estimators = [self._set(settings) for settings in path]
        machines = [last_step(estimator) for estimator in estimators]
        first = copy(machines[0])
        if isinstance(first, KernelRidge) and not self.train_too:
            return self._left_out(path[0], first, weight)  # without C, a path is one setting
        if type(first) not in KNOWN:
            return False
        kernel = as_kernel(first.kernel)
        for machine in machines:
            machine._check()
        if first.solver is not None or kernel.domain is not Domain.VECTORS:
            return False
        points = [self._points(path[0], fold, weight) for fold in folds]
        if not self._alike(first, points) or points[0] is None:
            return False
        matrices = points[0].matrices
        first.classes_ = self.classes
        if isinstance(first, LinearSVC) and not (
            first.loss != "hinge" and few_columns(matrices.X, self.room / (2 * self.threads))
        ):
            return False
        known = {kernel.resolve(take(matrices.X, own.train), weight[own.rows]) for own in points if own is not None}
        if len(known) > 1:  # each fold has a kernel of its own
            return False
        own_points = [own for own in points if own]
        Cs = np.array([float(machine.C) for machine in machines])
        unit, trained = clone(first).set_params(C=1.0), self._folds(own_points, weight)
        if isinstance(first, LinearSVC):
            answers = read_smooth(unit, None, trained, Cs, own_points, self.train_too)
        else:
            kernel = known.pop()
            with matrices.lent(kernel) as matrix:
                if isinstance(first, KernelLogistic):
                    answers = read_smooth(unit, (matrix, kernel), trained, Cs, own_points, self.train_too)
                else:
                    posed = self._posed(unit, Cs, trained, own_points[0], folds)
                    truths = [self.targets[self.splits.made[fold][1]] for fold in folds]
                    prune = self.prune and len(folds) == len(self.splits.made)
                    answers = read(first, posed, matrix, own_points, truths, self.train_too, prune, self.bounds)
        seconds = (now() - began) / (len(path) * len(folds))
        for fold, row in zip(folds, answers, strict=True):
            for settings, answer in zip(path, row, strict=True):
                self.answers[key_of(settings), fold] = replace(answer, seconds=seconds)
        return True

    def _posed(self, unit: Any, Cs: Array, trained: list[Fold], place: Points, folds: list[int]) -> list[Posed]:
        """The problems of some folds: of every kernel the same."""
        settings = unit.get_params(deep=False) | {"kernel": None}
        key = key_of(settings), Cs.tobytes(), *folds
        found = place.posed.get(key)
        if found is None:
            found = pose(place.matrices.n, unit, Cs, trained)
            place.posed.clear()  # the last one is kept
            place.posed[key] = found
        return found

    def _left_out(self, settings: dict[str, Any], machine: KernelRidge, weight: Array) -> bool:
        """Answer a setting of ridge regression in all folds, each of which leaves out a row; whether that was done."""
        began = now()
        found = left_out(machine, self.X, self.y, weight)
        if found is not None:
            f, gap = found
            seconds = (now() - began) / len(f)
            for fold, (_, test) in enumerate(self.splits.made):
                self.answers[key_of(settings), fold] = CellAnswer(seconds, f[test, None], gap=gap)
        return found is not None

    def _alike(self, first: Any, points: Sequence[Points | None]) -> bool:
        """Whether folds have the same problems: each row once, and all classes in every fold."""
        for own in points:
            if own is None or np.unique(own.rows).size < own.rows.size:  # too large, or rows drawn more than once
                return False
            if not isinstance(first, SVR) and np.unique(self.targets[own.rows]).size < self.classes.size:
                return False
        return True

    def _folds(self, points: list[Points], weight: Array) -> list[Fold]:
        return [Fold(own.train, self.targets[own.rows], weight[own.rows]) for own in points]

"""Checks of what a fit is given: settings, weights, classes, the scales of columns; and what is said of its answer.

One clear error for each setting that makes no sense, and for answers that are none; warnings for what proves little.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..amounts import A_DIGIT, AT_A_TIME
from ..kernels import Kernel
from ..kernels.adaptive import Adaptive
from ..kernels.points import Domain, count, is_finite, is_sparse, row_weights
from ..limits import Interrupt, StoppedError, interruptible
from ..solution import Certificate, Status, worst
from ..types import Array, Index, Points

_OURS = ("mercer", "sklearn")
APART = 1000.0  # Scales that differ by so many times: the column with the smaller one is hardly seen.
LEFT = 1.0 - A_DIGIT
"""No more than this part of the rows may differ, or to take equal ones as one is not worth its while."""
_FLOATS = (np.float64, np.float32)
_FINE = (Status.CONVERGED, Status.INDEFINITE, Status.INFEASIBLE)


# Settings.


class Range(NamedTuple):
    """The numbers that a setting may be: greater than `above`, `least` or greater, `most` or smaller."""

    meaning: str
    above: float = -inf
    least: float = -inf
    most: float = inf
    whole: bool = False
    optional: bool = False


POSITIVE = Range("a finite number greater than 0", above=0.0, most=float_info.max)
SECONDS = Range("None or a number of seconds greater than 0", above=0.0, optional=True)
COUNT = Range("a whole number, 1 or more", least=1, whole=True)
BOTH = (True, False)
Settings: TypeAlias = Mapping[str, Range | tuple[Any, ...]]
"""Of settings by their names, what each may be: a number in a range, or one of some values."""
LIMITS: dict[str, Range | tuple[Any, ...]] = {
    "tol": POSITIVE,
    "max_iter": COUNT._replace(meaning=f"None or {COUNT.meaning}", optional=True),
    "time_limit": SECONDS,
}
"""What all machines share."""


def require_settings(owner: Any, table: Settings) -> None:
    """Raise unless each setting in the table is in its range, or one of the values that it may have."""
    for name, allowed in table.items():
        value = getattr(owner, name)
        if isinstance(allowed, Range):
            number = isinstance(value, Integral if allowed.whole else Real) and not isinstance(value, bool)
            good = number and allowed.above < value and allowed.least <= value <= allowed.most
            good, meaning = good or (allowed.optional and value is None), allowed.meaning
        else:
            same = [choice for choice in allowed if choice is value]  # 1 is not True
            good = value in allowed if isinstance(value, str) else same != []
            meaning = " or ".join(map(repr, allowed))
        if not good:
            raise ValueError(f"{type(owner).__name__}: {name} must be {meaning}, not {value!r}.")


CHECKS: dict[Domain, dict[str, Any]] = {
    Domain.VECTORS: {"dtype": _FLOATS, "accept_sparse": "csr"},
    Domain.VALUES: {"dtype": _FLOATS, "accept_sparse": False},
}
"""What scikit-learn's `validate_data` is to look at, where points are rows of numbers."""


def validated(owner: Any, X: Any, *y: Any, reset: bool = True, **checks: Any) -> Any:
    """scikit-learn's `validate_data`, left out where arrays are as they should be and columns have no names: it would
    take a quarter of a fit of 20 points, and two thirds of a prediction of one.
    """
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in checks.get("dtype", _FLOATS)
    plain = plain and ("order" not in checks or X.flags.c_contiguous) and not hasattr(owner, "feature_names_in_")
    for t in y:
        plain = plain and type(t) is np.ndarray and t.shape == X.shape[:1] and t.dtype.kind in "biuf"
        plain = plain and t.flags.c_contiguous and is_finite(t)
    finite = plain and (not checks.get("ensure_all_finite", True) or is_finite(X))
    if not finite or 0 in X.shape or not (reset or getattr(owner, "n_features_in_", None) == X.shape[1]):
        return validate_data(owner, X, *y, reset=reset, **checks)
    owner.n_features_in_ = X.shape[1]
    return (X, *y) if y else X


def seldom_equal(X: Points) -> bool:
    """Whether too few rows are equal for that to be of use, as their first entries alone may tell."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or X.shape[1] == 0:
        return False
    first = np.sort(X[:, 0])
    return bool(np.count_nonzero(first[1:] != first[:-1]) >= LEFT * first.size)


def require_here(owner: Any, X: Any) -> None:
    """Raise for points that are with Dask, and not here."""
    one = X[0] if isinstance(X, list | tuple) and X else X
    if hasattr(one, "__dask_graph__"):
        name = type(owner).__name__
        raise TypeError(
            f"{name}.fit takes points that are here, not a {type(one).__name__} of Dask: call "
            f"mercer.distributed.fit({name}(...), X, y) instead."
        )


def seed_of(random_state: Any) -> int | None:
    """A seed from what scikit-learn takes for one: a number, a generator to draw it from, or None."""
    if random_state is None or isinstance(random_state, Integral):
        return None if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def sample_weights(sample_weight: Any, n: int) -> Array:
    """The weights of the points, checked; ones where none are given."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight)
    if weight.shape == (n,) and not weight.any():
        raise ValueError("All sample weights are zero: there is nothing to learn from.")
    return row_weights(weight, n)


# Classes: which there are, what each weighs, and how they are written.


def classes_of(owner: Any, y: Any) -> tuple[Array, Index]:
    """The classes in y, in order, and the number of the class of each point; raises where there is only one.

    Two whole numbers are soon found, without sorting; and nobody need look whether several whole numbers are classes,
    where each comes twice or more on average.
    """
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iuf" and y.size:
        classes = np.array([y.min(), y.max()])
        low, high = classes.tolist()
        upper = y == high
        if low < high and low % 1 == high % 1 == 0 and (upper | (y == low)).all():
            return classes, upper.astype(np.intp)
        if y.dtype.kind != "f" or (np.isfinite(y) & (y % 1 == 0)).all():
            classes, group = np.unique(y, return_inverse=True)
            if 2 <= classes.size <= 0.5 * y.size:
                return classes, group
    check_classification_targets(y)
    classes, group = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"{type(owner).__name__} needs at least two classes, but there is only one class: {name_of(classes[0])}."
        )
    return classes, group


def classes_of_stream(owner: Any, y: Any, classes: Any) -> tuple[Array, Index]:
    """All classes of a stream, named with its first piece, and the number of the class of each point of this piece."""
    check_classification_targets(y)
    if hasattr(owner, "classes_"):
        known: Array = owner.classes_
        if classes is not None and not np.array_equal(known, np.unique(classes)):
            raise ValueError(f"classes={classes!r} are not those of the first call to partial_fit, {known}.")
    else:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit: later pieces may have others.")
        known, _ = classes_of(owner, np.asarray(classes))
    unknown = np.setdiff1d(y, known)
    if unknown.size:
        raise ValueError(f"y holds {name_of(unknown[0])}, which is none of the classes {known}.")
    return known, np.searchsorted(known, y)


def class_weights(owner: Any, classes: Array, group: Index, weight: Array) -> Array:
    """The weight of each class; a point counts with its own weight where they are to be balanced."""
    if owner.class_weight is None:
        return np.ones(classes.size)
    if not (isinstance(owner.class_weight, dict) or str(owner.class_weight) == "balanced"):
        what = "class_weight must be None, 'balanced' or a dictionary with a weight for each class"
        raise ValueError(f"{type(owner).__name__}: {what}, not {owner.class_weight!r}.")
    if isinstance(owner.class_weight, str):
        masses = np.bincount(group, weight, classes.size)
        values = masses.sum() / (classes.size * masses)
    else:
        values = compute_class_weight(owner.class_weight, classes=classes, y=classes)
    if not (np.isfinite(values).all() and (values > 0).all()):
        what = f"class weights must be finite and greater than 0, not {owner.class_weight!r}"
        raise ValueError(f"{type(owner).__name__}: {what}.")
    return np.asarray(values, np.float64)


def weights_with_classes(owner: Any, classes: Array, group: Index, weight: Array) -> Array:
    """The weight of each point, times that of its class."""
    return weight if owner.class_weight is None else weight * class_weights(owner, classes, group, weight)[group]


def predicted(classes: Array, scores: Array) -> Array:
    """The class of each point: of the sign of its score, or, of several columns, that of the largest."""
    return np.asarray(classes[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)])


def name_of(label: Any) -> str:
    """A class as people write it."""
    return repr(label.item() if isinstance(label, np.generic) else label)


# Columns that a kernel with one scale for all of them cannot serve together.


class ScaleWarning(UserWarning):
    """Columns have very different scales, and the kernel has one for all: what is so, and what to do in Python."""

    def __init__(self, facts: str, advice: str) -> None:
        super().__init__(facts, advice)
        self.facts, self.advice = facts, advice

    def __str__(self) -> str:
        return f"{self.facts} {self.advice}"


def advise(machine: Any, kernel: Kernel, X: Points) -> None:
    """Warn where the scales of columns differ by more than 1,000 times and the kernel has one scale for all."""
    adaptive = kernel if isinstance(kernel, Adaptive) else _adaptive(kernel)
    if adaptive is None:
        return
    pair = _far_apart(X)
    if pair is None:
        return
    large, small = (f"{_name(machine, column)} is {deviation:.4g}" for column, deviation in pair)
    facts = (
        f"The columns of X have very different scales, and {type(adaptive).__name__} has one for all, so that it "
        f"hardly sees the small ones: the standard deviation of {large}, of {small}."
    )
    advice = (
        f"Scale them first, as in make_pipeline(StandardScaler(), {type(machine).__name__}()), with MinMaxScaler where "
        "entries must be >= 0 and MaxAbsScaler where X is sparse; or silence this by "
        'warnings.simplefilter("ignore", mercer.estimators.ScaleWarning).'
    )
    warnings.warn(ScaleWarning(facts, advice), stacklevel=level_of_caller())


def _adaptive(kernel: Kernel) -> Adaptive | None:
    """The first part with one scale for all columns."""
    for part in kernel.parts():
        found = part if isinstance(part, Adaptive) else _adaptive(part)
        if found is not None:
            return found
    return None


def _far_apart(X: Points) -> tuple[tuple[int, float], tuple[int, float]] | None:
    """The column with the largest standard deviation, and one whose deviation and range are far below, if any are.

    Both must be: a column that is nearly always 0 deviates little, but its scale may be that of the others.
    """
    X = X[:: -(-count(X) // AT_A_TIME.drawn_rows)]
    with np.errstate(all="ignore"):  # what overflows is no scale to speak of, and others say so
        ends = [X.min(axis=0), X.max(axis=0)]
        low, high = [np.asarray(end.toarray().ravel() if is_sparse(X) else end, np.float64) for end in ends]
        ranges = high - low
        rounding = APART * float(np.finfo(X.dtype).eps)
        ranges[~(ranges > rounding * np.maximum(np.abs(low), np.abs(high)))] = 0.0  # constant but for rounding
        moving = np.flatnonzero(ranges > 0)
        if moving.size < 2 or not ranges.max() > APART * ranges[moving].min():
            return None
        deviations = _deviations(X)
        large = moving[deviations[moving].argmax()]
        below = np.minimum(deviations[large] / deviations[moving], ranges[large] / ranges[moving])
    small = moving[below.argmax()]
    pair = ((int(large), float(deviations[large])), (int(small), float(deviations[small])))
    return pair if below.max() > APART else None


def _deviations(X: Points) -> Array:
    """The standard deviation of each column."""
    if not is_sparse(X):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    mean, square = (np.asarray(part.mean(axis=0), np.float64).ravel() for part in (X, X.multiply(X)))
    return np.sqrt(np.maximum(square - mean * mean, 0.0))


def _name(machine: Any, column: int) -> str:
    names = getattr(machine, "feature_names_in_", None)
    return f"column {column}" if names is None else f"{names[column]!r}"


# Ctrl-C: the best answer so far is kept, and then KeyboardInterrupt ends whatever called the fit.


@contextmanager
def keeping(estimator: Any) -> Iterator[Interrupt]:
    """A context in which Ctrl-C is a request, and at whose end the estimator has its answer: only then it is raised.

    So it is where the work ends by an error: whoever handles errors and goes on would not hear of Ctrl-C. What does not
    come to its end leaves an estimator that is not fitted: an earlier answer does not belong to its new classes.
    """
    with interruptible() as interrupt:
        try:
            yield interrupt
        except BaseException as error:
            estimator.__dict__.pop("certificates_", None)
            if isinstance(error, StoppedError):  # before there was anything to keep
                raise KeyboardInterrupt from None
            if interrupt.asked and isinstance(error, Exception):
                raise KeyboardInterrupt(str(error)) from error
            raise
    if interrupt.asked:
        words, name = estimator.certificate_.words(), type(estimator).__name__
        more = ""
        if "checkpoint" in signature(estimator.fit).parameters:
            more = " With fit(..., checkpoint=) the next call goes on from there."
        raise KeyboardInterrupt(f"{name} keeps its best answer so far: {words}.{more}")


class Keeps:
    """An estimator that is fitted once there is a certificate, or a piece of a stream has been learned from."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificates_")


# What is said of an answer.


def require_answer(machine: Any) -> None:
    """Raise where the problem that a machine was to solve has no answer."""
    infeasible = [c for c in getattr(machine, "certificates_", ()) if not c.has_answer]
    if infeasible:
        raise NotFittedError(
            f"This {type(machine).__name__} has no answer to predict with, because its problem has none: "
            f"{infeasible[0].status}. The proof is in certificate_.proof."
        )


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive definite, so that a gap bounds nothing."""


def warn_of(doubt: str) -> None:
    """Say that the kernel is seen to be indefinite."""
    text = f"{doubt}. The gap bounds nothing, and the answer may be a local one."
    warnings.warn(text, IndefiniteKernelWarning, stacklevel=level_of_caller())


def warn_of_gaps(owner: Any) -> None:
    """Say so, where the tolerance was not reached."""
    bad = [certificate for certificate in owner.certificates_ if certificate.status not in _FINE]
    if not bad:
        return
    certificate: Certificate = worst(bad, [""] * len(bad), owner.tol)
    how_many = f" ({len(bad)} of {len(owner.certificates_)} problems)" if len(owner.certificates_) > 1 else ""
    warnings.warn(
        f"{type(owner).__name__}{how_many}: {certificate.status}. Its relative gap is "
        f"{certificate.relative_gap:.1e}, and {owner.tol:.1e} was asked for.",
        ConvergenceWarning,
        stacklevel=level_of_caller(),
    )


def level_of_caller() -> int:
    """The stacklevel of a warning that is to name the line of whoever called us, or scikit-learn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    return level

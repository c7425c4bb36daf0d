"""Classes: which there are, what each weighs, and how they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ..types import Array, Index


def classes_of(owner: Any, y: Any) -> tuple[Array, Index]:
    """The classes in y, in order, and the number of the class of each point; raises where there is only one."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iuf" and y.size:
        found = _two_of(y) or _some_of(y)
        if found is not None:
            return found
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


def _two_of(y: Array) -> tuple[Array, Index] | None:
    """The same without sorting, where y holds two whole numbers; None where it holds anything else."""
    classes = np.array([y.min(), y.max()])
    low, high = classes.tolist()
    upper = y == high
    if not (low < high and low % 1 == high % 1 == 0 and (upper | (y == low)).all()):
        return None
    return classes, upper.astype(np.intp)


def _some_of(y: Array) -> tuple[Array, Index] | None:
    """The same of several whole numbers, each twice or more on average: nobody need look whether these are classes."""
    if y.dtype.kind == "f" and not (np.isfinite(y) & (y % 1 == 0)).all():
        return None
    classes, group = np.unique(y, return_inverse=True)
    return (classes, group) if 2 <= classes.size <= 0.5 * y.size else None


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

"""Scores by scikit-learn's names (--scoring f1,roc_auc), and those that evaluate adds of its own accord."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metaestimators import available_if

from ..params import suggestion
from ..types import Array
from .data import last_step
from .exits import UsageError
from .scores import scores


def names_of(arguments: argparse.Namespace) -> list[str]:
    """The names that were given, checked."""
    names = [name.strip() for text in arguments.scoring for name in text.split(",") if name.strip()]
    known = get_scorer_names()
    for name in names:
        if name not in known:
            raise UsageError(f"--scoring {name}: scikit-learn has no such score.{suggestion(name, known)}")
    return list(dict.fromkeys(names))


def judged(model: Any, points: Any, targets: str, y: Array, names: Sequence[str]) -> dict[str, float]:
    """The scores of these names, or, where there are none, those that everybody wants to know."""
    if not names:
        return scores(targets, y, np.asarray(model.predict(points)))
    return by_names(model, points, y, names)


def by_names(model: Any, points: Any, y: Array, names: Sequence[str]) -> dict[str, float]:
    """scikit-learn's scores of a fitted model; larger is better, so that errors have a minus sign."""
    answers: Any = Numbers(model, points)
    classes = classes_of(model)
    if classes is not None:
        answers = Labels(model, points, classes)
        y = numbered(y, classes)
    found = {}
    for name in names:
        try:
            found[name] = float(get_scorer(name)(answers, points, y))
        except (ValueError, TypeError, AttributeError) as error:
            machine = type(model.steps[-1][1] if hasattr(model, "steps") else model).__name__
            why = str(error).splitlines()[0].replace(type(answers).__name__, machine)
            raise UsageError(f"--scoring {name} cannot be had here: {why}") from None
    return found


def classes_of(model: Any) -> Any:
    """The classes of the machine at the end; -1 and 1 of one that finds outliers; None of one for numbers."""
    machine = last_step(model)
    if hasattr(machine, "classes_"):
        return machine.classes_
    return np.array([-1, 1]) if hasattr(machine, "offset_") else None


def numbered(labels: Any, classes: Array) -> Array:
    """Labels as numbers from 0 on, in the order of the classes; one that is none of them has the next number."""
    labels = np.asarray(labels)
    places = np.searchsorted(classes, labels)
    known = classes[np.minimum(places, classes.size - 1)] == labels
    return np.where(known, places, classes.size)


class Numbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted model on points, as a score wants to see it."""

    def __init__(self, model: Any, points: Any) -> None:
        self.model, self.points = model, points
        self.fitted_ = True

    def predict(self, X: Any) -> Array:
        """Of the points."""
        return np.asarray(self.model.predict(self.points))


def _has(method: str) -> Callable[[Any], bool]:
    return lambda answers: hasattr(answers.model, method)


class Labels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same for a classifier, with its classes as numbers: scores then know which one is positive."""

    def __init__(self, model: Any, points: Any, classes: Array) -> None:
        self.model, self.points, self.names = model, points, classes
        self.classes_ = np.arange(classes.size)

    def predict(self, X: Any) -> Array:
        """Of the points."""
        return numbered(self.model.predict(self.points), self.names)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Of the points."""
        return np.asarray(self.model.decision_function(self.points))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Of the points."""
        return np.asarray(self.model.predict_proba(self.points))


def more_scores(model: Any, points: Any, y: Array) -> dict[str, float]:
    """F1, AUC and log-loss, where they make sense: AUC needs an order of the points, log-loss probabilities."""
    classes = classes_of(model)
    true = numbered(y, classes)
    present = np.unique(true)
    if present.size < 2 or present.max() >= classes.size:
        return {}
    two = classes.size == 2
    predicted = numbered(model.predict(points), classes)
    name = "F1" if two else "mean F1"
    found = {name: float(metrics.f1_score(true, predicted, average="binary" if two else "macro", zero_division=0.0))}
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(points)
        if two or present.size == classes.size:
            found["AUC"] = float(metrics.roc_auc_score(true, shares[:, 1] if two else shares, multi_class="ovr"))
        found["log-loss"] = float(metrics.log_loss(true, shares, labels=np.arange(classes.size)))
    elif two and hasattr(model, "decision_function"):
        found["AUC"] = float(metrics.roc_auc_score(true, model.decision_function(points)))
    return found

"""How good predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from ..types import Array


def scores(targets: str, y: Array, predicted: Array) -> dict[str, float]:
    """Named scores of predictions against the truth; the first one is the one that machines are compared by."""
    if targets == "numbers":
        error = np.asarray(predicted, np.float64) - y
        return {
            "R2": float(metrics.r2_score(y, predicted)) if len(y) > 1 else float("nan"),
            "root mean squared error": float(np.sqrt(np.mean(error**2))),
            "mean absolute error": float(np.mean(np.abs(error))),
        }
    recalls = [float(np.mean(predicted[y == label] == label)) for label in np.unique(y)]
    return {"accuracy": float(np.mean(predicted == y)), "balanced accuracy": float(np.mean(recalls))}


def in_words(values: dict[str, float]) -> str:
    """The scores on one line."""
    percent = {name: f"{100 * value:.2f}%" for name, value in values.items() if "accuracy" in name or "part" in name}
    return ", ".join(f"{name} {percent.get(name, f'{value:.6g}')}" for name, value in values.items())


def folds(targets: str, y: Any, n: int, k: int, seed: int) -> list[tuple[Array, Array]]:
    """Rows to train on and to test on, k times; classes in proportion."""
    smallest = int(np.unique(y, return_counts=True)[1].min()) if targets == "labels" else 0
    kind = StratifiedKFold if smallest >= k else KFold
    return list(kind(k, shuffle=True, random_state=seed).split(np.zeros((n, 1)), y if smallest >= k else None))


def hold_out(targets: str, y: Any, n: int, size: float, seed: int) -> tuple[Array, Array]:
    """Rows to train on and rows to test on; classes in proportion where there are enough of each."""
    rows = np.arange(n)
    if targets == "labels":
        smallest, k = int(np.unique(y, return_counts=True)[1].min()), np.unique(y).size
        if smallest >= 2 and min(size, 1 - size) * n >= k:
            train, test = train_test_split(rows, test_size=size, random_state=seed, stratify=y)
            return train, test
    train, test = train_test_split(rows, test_size=size, random_state=seed)
    return train, test

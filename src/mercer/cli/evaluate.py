"""mercer evaluate: how good a saved machine is on a table with its target."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from ..io import DataError
from .data import first_step, last_step, points_for, read, target_values
from .exits import Exit, UsageError
from .machines import targets_of
from .output import pairs, show
from .pictures import canvas, require_picture
from .scores import in_words, scores
from .scoring import by_names, more_scores, names_of
from .using import loaded, manifest_of, used

_SAME = {"balanced_accuracy": "balanced accuracy", "f1_macro": "mean F1", "f1": "F1", "roc_auc": "AUC", "r2": "R2"}
"""scikit-learn's names of scores that have another one here."""

_FEW_CLASSES = 12  # for a table of who was taken for whom


def run(arguments: argparse.Namespace) -> int:
    """Load, read, predict, compare."""
    names, model = names_of(arguments), loaded(arguments.model)
    machine = last_step(model)
    targets = targets_of(machine)
    if targets == "none" and not arguments.target:
        raise UsageError("A one-class machine has no target of its own: say which column holds 1 and -1, by --target.")
    if arguments.picture:
        if targets == "numbers":
            raise UsageError("--picture draws who was taken for whom, and this machine predicts numbers.")
        require_picture(arguments, arguments.picture, [arguments.data, arguments.model])
    table = read(arguments, model)
    told = manifest_of(arguments.model)["notes"].get("target")
    if not arguments.target and table.named and getattr(first_step(model), "named_", False) and told not in table.names:
        raise DataError(f"{table.source} has no column {told!r}, the target of this model: name another by --target.")
    known = told if told in table.names else None
    rest, column, name = table.split(arguments.target or known)
    points = points_for(model, rest)
    predicted = used(arguments, model.predict, points, rest)
    y = target_values(column, "numbers" if targets == "numbers" else "labels", table, name)
    data: dict[str, Any] = {"rows": table.n, "target": name, "scores": scores(targets, y, predicted)}
    if targets != "numbers":
        data["scores"] |= used(arguments, lambda rows: more_scores(model, rows, y), points, rest)
        labels = np.union1d(y, predicted)
        data["labels"] = labels
        data["confusion"] = [[int(np.sum((y == a) & (predicted == b))) for b in labels] for a in labels]
    data["scores"] |= used(arguments, lambda rows: by_names(model, rows, y, names), points, rest)
    if arguments.picture:
        _draw(arguments.picture, data)
    show(arguments, data, lambda out: _render(out, data))
    return Exit.FINE


def _draw(path: str, data: dict[str, Any]) -> None:
    with canvas(path) as plot:
        plot.confusion(data["confusion"], data["labels"], title=f"{data['rows']} rows")
    data["picture"] = path


def _once(found: dict[str, float]) -> dict[str, float]:
    """The scores without those that were asked for by another name."""
    asked = {_SAME[name] for name in found if name in _SAME}
    return {name: value for name, value in found.items() if name not in asked}


def _render(out: Any, data: dict[str, Any]) -> None:
    pairs(out, {"rows": f"{data['rows']}, target {data['target']!r}", "scores": in_words(_once(data["scores"]))})
    if "labels" not in data:
        return
    if len(data["labels"]) > _FEW_CLASSES:
        out.print(f"{len(data['labels'])} classes: the table of mistakes is in --json.")
        return
    out.print("rows: the truth; columns: the prediction", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for label in data["labels"]:
        table.add_column(Text(str(label)), justify="right")
    table.add_column("right", justify="right")
    for i, (label, counts) in enumerate(zip(data["labels"], data["confusion"], strict=True)):
        cells = [Text(str(count), "bold" if i == j else "") for j, count in enumerate(counts)]
        table.add_row(Text(str(label)), *cells, f"{100 * counts[i] / sum(counts):.1f}%" if sum(counts) else "-")
    out.print(table)

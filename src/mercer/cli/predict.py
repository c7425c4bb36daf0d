"""mercer predict: predictions of a saved machine for a table, as CSV."""

from __future__ import annotations

import argparse
import csv
import sys
from functools import partial
from inspect import signature
from io import StringIO
from typing import Any

from ..archives.atomic import write_whole
from .data import last_step, points_for, read
from .exits import Exit, UsageError
from .output import note, plain, show
from .places import require_place
from .using import loaded, used


def run(arguments: argparse.Namespace) -> int:
    """Load, read, predict, write."""
    if arguments.output:
        require_place(arguments, arguments.output, "table of predictions", [arguments.model, arguments.data])
    model = loaded(arguments.model)
    machine = last_step(model)
    if arguments.proba and not hasattr(machine, "predict_proba"):
        raise UsageError(
            f"{type(machine).__name__} has no probabilities: train with --model logistic, or calibrate in Python by "
            "CalibratedClassifierCV."
        )
    if arguments.decision and not hasattr(machine, "decision_function"):
        raise UsageError(f"{type(machine).__name__} has no decision function: its predictions are its values.")
    if arguments.std and "return_std" not in signature(machine.predict).parameters:
        raise UsageError(f"{type(machine).__name__} has no standard deviation: train with --model ridge.")
    if arguments.interval is not None and not hasattr(machine, "predict_interval"):
        raise UsageError(f"{type(machine).__name__} has no intervals: train with --model ridge.")
    if arguments.interval is not None and not 0.5 <= arguments.interval < 1.0:
        raise UsageError(f"--interval must be from 0.5 to 1 (1 excluded), such as 0.9, not {arguments.interval:g}.")
    table = read(arguments, model)
    points = points_for(model, table)
    columns = {"prediction": used(arguments, model.predict, points, table)}
    if arguments.decision:
        columns |= _columns("decision", used(arguments, model.decision_function, points, table), machine)
    if arguments.proba:
        columns |= _columns("probability", used(arguments, model.predict_proba, points, table), machine)
    if arguments.std:
        columns["std"] = used(arguments, partial(model.predict, return_std=True), points, table)[1]
    if arguments.interval is not None:
        intervals = partial(_intervals, model, coverage=arguments.interval)
        columns |= dict(zip(("lower", "upper"), used(arguments, intervals, points, table), strict=True))
    text = _csv(columns)
    if arguments.output:
        write_whole(arguments.output, text)
        note(arguments, f"{table.n} predictions written to {arguments.output}.")
    if arguments.json or not arguments.output:
        show(arguments, {name: plain(values) for name, values in columns.items()}, lambda out: _write(text))
    return Exit.FINE


def _intervals(model: Any, points: Any, coverage: float) -> Any:
    """Of the last step, from what the steps before make of the points."""
    steps = getattr(model, "steps", [("", model)])
    for _, step in steps[:-1]:
        points = step.transform(points)
    return steps[-1][1].predict_interval(points, coverage)


def _columns(name: str, values: Any, machine: Any) -> dict[str, Any]:
    """A column, or one for each class."""
    if values.ndim == 1:
        return {name: values}
    labels = getattr(machine, "classes_", range(values.shape[1]))
    return {f"{name} {label}": column for label, column in zip(labels, values.T, strict=True)}


def _csv(columns: dict[str, Any]) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return out.getvalue()


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()

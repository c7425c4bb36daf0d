"""Data as the verbs need it: a table and a target for training, points for a machine that is trained."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..io import Encoder
from ..io.read import read_table
from ..io.tables import DataError, Table, number
from ..types import Array
from .exits import UsageError
from .output import note

_FEW = 20  # rows that may all have targets of their own


class Data(NamedTuple):
    """A table, its target (None: it has none) and the name of that."""

    table: Table
    y: Any
    target: str | None


def read(arguments: argparse.Namespace, model: Any = None) -> Table:
    """The table of the arguments, without what is to be left out; a model knows the names of its columns."""
    header = {"auto": None, "yes": True, "no": False}[arguments.header]
    mark = {"tab": "\t", "\\t": "\t", "space": " "}.get(arguments.delimiter, arguments.delimiter)
    if mark is not None and (len(mark) != 1 or mark in '"\n\r'):
        raise UsageError(f"--delimiter must be one character, tab or space, not {arguments.delimiter!r}.")
    known = getattr(first_step(model), "names_", []) if getattr(first_step(model), "named_", False) else []
    table = read_table(arguments.data, header=header, delimiter=mark, known=known)
    return table.without(getattr(arguments, "drop", []))


def read_training(arguments: argparse.Namespace, targets: str) -> Data:
    """Table and target to train on; rows with missing values left out where that was asked for."""
    table = read(arguments)
    if "" in table.names:  # the row numbers of a data frame, most often: nothing to learn from
        raise DataError(
            f"{table.source}: column {table.names.index('') + 1} has no name: name it, or leave it out by --drop ''."
        )
    if no_target(arguments, table) or (targets == "none" and arguments.target is None):
        if targets != "none":
            raise UsageError("--target none: this machine cannot learn without a target.")
        data = Data(replace(table, target=None), None, None)
    else:
        table, column, name = table.split(arguments.target)
        data = Data(table, column, name)
    if arguments.missing == "drop":
        data = _complete_rows(arguments, data)
    if targets == "none" or data.y is None:
        return Data(data.table, None, data.target)
    return data._replace(y=target_values(data.y, targets, data.table, str(data.target)))


def no_target(arguments: argparse.Namespace, table: Table) -> bool:
    """Whether there is to be no target: --target none, where no column has that name."""
    return arguments.target == "none" and "none" not in table.names


def _complete_rows(arguments: argparse.Namespace, data: Data) -> Data:
    table = data.table
    gone = np.zeros(table.n, bool) if data.y is None else _missing(data.y)
    if not table.sparse:
        for place in range(len(table.names)):
            gone |= _missing(table.column(place))
    if gone.all():
        raise DataError(f"{table.source}: every row has a missing value.")
    if not gone.any():
        return data
    note(arguments, f"note: {int(gone.sum())} of {table.n} rows have missing values and are left out.")
    rows = np.flatnonzero(~gone)
    return Data(table.take(rows), None if data.y is None else data.y[rows], data.target)


def _missing(column: Array) -> Array:
    return np.array([value is None for value in column]) if column.dtype == object else np.isnan(column)


def target_values(column: Array, targets: str, table: Table, name: str) -> Array:
    """Labels (whole numbers or text) or numbers, all of them there."""
    column = np.asarray(column)
    if column.dtype.kind in "US":
        column = column.astype(object)
    if column.dtype.kind in "iub":
        column = column.astype(np.float64)
    gone = _missing(column)
    if gone.any():
        raise DataError(
            f"{table.where(int(gone.argmax()))}: the target {name!r} is missing ({int(gone.sum())} in this column): "
            "give --missing drop to leave such rows out."
        )
    return _labels(column, table, name) if targets == "labels" else _numbers(column, table, name)


def _labels(column: Array, table: Table, name: str) -> Array:
    if column.dtype == object:
        labels: Array = np.array([str(value) for value in column])
    elif np.isfinite(column).all() and np.abs(column).max() >= 2**53:
        raise DataError(
            f"{table.source}: the target {name!r} holds numbers of more than 15 digits, which cannot be told apart: "
            "write a letter before each, so that they are text."
        )
    elif np.isfinite(column).all() and (column == np.floor(column)).all():
        labels = column.astype(np.int64)
    else:
        raise DataError(
            f"{table.source}: the target {name!r} holds numbers that are not whole, and classes are wanted: is another "
            "column the target (--target), or is it regression (--model svr or ridge)?"
        )
    classes = np.unique(labels).size
    if column.size > _FEW and classes > 0.5 * column.size:
        raise DataError(
            f"{table.source}: the target {name!r} has {classes} different values in {column.size} rows, too many for "
            "classes: is another column the target (--target), or is it regression (--model svr or ridge)?"
        )
    return labels


def _numbers(column: Array, table: Table, name: str) -> Array:
    if column.dtype == object:
        odd = next((row, text) for row, text in enumerate(column) if number(str(text)) is None)
        raise DataError(
            f"{table.where(odd[0])}: the target {name!r} is {odd[1]!r:.40}, and numbers are wanted: are these "
            "classes (--model svc)?"
        )
    if not np.isfinite(column).all():
        row = int((~np.isfinite(column)).argmax())
        raise DataError(f"{table.where(row)}: the target {name!r} is not a finite number.")
    return column


def points_for(model: Any, table: Table) -> Any:
    """What a model is to be called with: the table where it begins with an Encoder, a matrix otherwise."""
    if isinstance(first_step(model), Encoder):
        return table
    if table.sparse:
        return table.matrix
    names = getattr(model, "feature_names_in_", None)
    if names is not None and table.named:
        lacking = [name for name in names if name not in table.names]
        if lacking:
            raise DataError(f"{table.source} lacks the column {lacking[0]!r}, which the model was trained on.")
        table = table.without([name for name in table.names if name not in set(names)])
        order = [table.names.index(name) for name in names]
    else:
        order = list(range(len(table.names)))
    wanted = getattr(model, "n_features_in_", len(order))
    if len(order) != wanted:
        raise DataError(f"{table.source} has {len(order)} columns, but the model was trained on {wanted}.")
    return np.column_stack([finite_numbers(table, place) for place in order])


def finite_numbers(table: Table, place: int) -> Array:
    """A column that must hold finite numbers only."""
    column = table.column(place)
    if column.dtype == object or not np.isfinite(column).all():
        good = [text is not None and number(str(text)) is not None for text in column]
        row = good.index(False) if column.dtype == object else int((~np.isfinite(column)).argmax())
        raise DataError(
            f"{table.where(row, table.names[place])}: {column[row]!r:.40} is not a finite number, and nothing else is "
            "wanted here."
        )
    return column


def first_step(model: Any) -> Any:
    """The first step of a pipeline; the model itself where it is none."""
    return model.steps[0][1] if hasattr(model, "steps") else model


def last_step(model: Any) -> Any:
    """The machine at the end of a pipeline; the model itself where it is none."""
    return model.steps[-1][1] if hasattr(model, "steps") else model

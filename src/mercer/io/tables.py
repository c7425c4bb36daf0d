"""Table: rows of data as columns of numbers or of text, or as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..types import Array

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-"})
"""What stands for a missing value, in lower case."""

_TARGETS = ("target", "label", "class", "y")


class DataError(ValueError):
    """Data that cannot be used as it is; the message says where and what to do."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of data, as columns (arrays of float64, NaN where missing; or of text, None where missing) or as one matrix.

    names: of the columns; those of a table without a header are "1", "2", .... first: what the first column of a sparse
    matrix is counted as. target: of formats that have one of their own; of others, target_place is where it stood.
    """

    source: str
    n: int
    names: tuple[str, ...] = ()
    named: bool = False
    columns: tuple[Array, ...] = ()
    matrix: Any = None
    first: int = 1
    target: Array | None = None
    target_place: int | None = None
    rows: Array | None = None
    """Where each row stood in the file, where they are not all of its rows."""

    @property
    def sparse(self) -> bool:
        """Whether it is a sparse matrix, which has no names."""
        return self.matrix is not None and not isinstance(self.matrix, np.ndarray)

    def column(self, place: int) -> Array:
        """A column by its place."""
        return self.columns[place] if self.matrix is None else np.asarray(self.matrix[:, place])

    def where(self, row: int, column: str | None = None) -> str:
        """A place as people count: rows from 1, without the header."""
        number = int(row if self.rows is None else self.rows[row]) + 1
        return f"{self.source}: row {number}" + ("" if column is None else f", column {column!r}")

    def take(self, rows: Array) -> Table:
        """Some of the rows."""
        return replace(
            self,
            n=len(rows),
            rows=rows if self.rows is None else self.rows[rows],
            columns=tuple(column[rows] for column in self.columns),
            matrix=None if self.matrix is None else self.matrix[rows],
            target=None if self.target is None else self.target[rows],
        )

    def without(self, names: Sequence[str]) -> Table:
        """All columns but these."""
        if not names:
            return self
        left_out = {self.place(name) for name in names}
        kept = [place for place in range(len(self.names)) if place not in left_out]
        return replace(
            self,
            names=tuple(self.names[place] for place in kept),
            columns=tuple(self.columns[place] for place in kept) if self.columns else (),
            matrix=None if self.matrix is None else self.matrix[:, kept],
        )

    def place(self, name: str) -> int:
        """Where a column stands; its name, or its number from 1."""
        if name in self.names:
            return self.names.index(name)
        if name.isdigit() and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        near = get_close_matches(name, self.names, 1)
        known = ", ".join(map(repr, self.names[:12])) + (", ..." if len(self.names) > 12 else "")
        hint = f"Did you mean {near[0]!r}?" if near else f"It has: {known or 'no columns with names'}."
        raise DataError(f"{self.source} has no column {name!r}. {hint}")

    def split(self, target: str | None) -> tuple[Table, Array, str]:
        """The table without its target, the target, and its name: the one asked for, or the one that looks like it."""
        if self.target is not None and target is None:
            return replace(self, target=None), self.target, "target"
        if self.sparse and target is None:
            raise DataError(
                f"{self.source} is a sparse matrix without a target: give an npz with X and y, or svmlight."
            )
        if self.sparse:
            raise DataError(f"{self.source} has no column {target!r}: it is sparse, and its columns have no names.")
        name = self._likely_target() if target is None else self.names[self.place(target)]
        if len(self.names) < 2:
            raise DataError(f"{self.source} has one column only: a target and at least one feature are needed.")
        place = self.names.index(name)
        return replace(self.without([name]), target_place=place), self.column(place), name

    def _likely_target(self) -> str:
        likely = [name for name in self.names if name.lower() in _TARGETS]
        return likely[0] if len(likely) == 1 else self.names[-1]


def table_of_array(array: Any, name: str) -> Table:
    """A matrix of numbers or of text as a table; its columns are counted from 1."""
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise DataError(f"{name} must hold a matrix, but its array has {array.ndim} dimensions.")
    names = tuple(str(i + 1) for i in range(array.shape[1])) if isinstance(array, np.ndarray) else ()
    if array.dtype.kind in "fiub":
        return Table(
            name, array.shape[0], names, matrix=array if array.dtype == np.float32 else array.astype(np.float64)
        )
    if array.dtype.kind == "U":
        return Table(name, len(array), names, columns=tuple(typed(list(column)) for column in array.T))
    raise DataError(f"{name} must hold numbers or text, but its array is of {array.dtype}.")


def number(cell: str) -> float | None:
    """The number that a cell holds; None where it holds something else."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def typed(cells: Sequence[str]) -> Array:
    """A column of numbers where all cells that are not missing are numbers, of text otherwise."""
    texts = [cell.strip() for cell in cells]
    signs = "+" in texts  # then - is a sign too
    gone = [text.lower() in MISSING and not (signs and text == "-") for text in texts]
    values = [np.nan if lost else number(text) for text, lost in zip(texts, gone, strict=True)]
    if None not in values:
        return np.array(values, np.float64)
    column = np.empty(len(texts), dtype=object)
    column[:] = [None if lost else text for text, lost in zip(texts, gone, strict=True)]
    return column


def as_table(X: Any) -> Table:
    """A data frame, an array or a list of rows as a Table; a Table is given back as it is."""
    if isinstance(X, Table):
        return X
    if hasattr(X, "iloc"):
        columns = tuple(_frame_column(X.iloc[:, i].to_numpy()) for i in range(X.shape[1]))
        return Table("The data frame", len(X), tuple(map(str, X.columns)), named=True, columns=columns)
    if hasattr(X, "tocsr"):
        return table_of_array(X.tocsr(), "The matrix")
    array = np.asarray(X)
    if array.dtype == object:
        columns = tuple(_frame_column(column) for column in array.T)
        return Table("The array", len(array), tuple(str(i + 1) for i in range(len(columns))), columns=columns)
    return table_of_array(array, "The array")


def _frame_column(values: Array) -> Array:
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return typed(["" if value is None or value != value else str(value) for value in values])

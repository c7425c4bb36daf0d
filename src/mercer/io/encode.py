"""Encoder: a table becomes a matrix of numbers, the same way for training and for prediction."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..shown import Described
from ..types import Array
from .tables import DataError, Table, as_table, number

KINDS = ("number", "category", "constant")
_MOST_CATEGORIES = 1000
_FEW_ROWS = 20  # so few may all be different
_NUMBERS = 0.5  # a column of which this part is numbers is meant to be numbers


def too_many(different: int, n: int) -> bool:
    """Whether a column of text with so many different values in n rows is no column of categories."""
    return different > _MOST_CATEGORIES or (n > _FEW_ROWS and different > 0.5 * n)


class UnseenCategoryWarning(UserWarning):
    """A category that was not there in training: the row belongs to none of the known ones."""


class Encoder(Described, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers stay; a column of text becomes one column of 0 and 1 for each of its categories.

    Columns that are constant in training are left out. A category that was not there in training gives zeros, and a
    warning. Anything else that is not a number is an error with its row (from 1, without the header) and column.

    Parameters
    ----------
    categorical : sequence of str, default=()
        Names of columns of numbers that are categories.
    missing : {"error", "fill"}, default="error"
        What is done where a value is missing; filled in is the median for numbers, a category of its own for text
        (zeros, where none was missing in training).

    Attributes
    ----------
    names_ : list of str
        The columns in training.
    named_ : bool
        Whether they had names.
    kinds_ : list of str
        Of each column: "number", "category", "constant".
    categories_ : dict of list of str
        Of each column of categories, in order.
    fills_ : dict of float
        What stands for a missing number.
    target_place_ : int or None
        Where the target stood among the columns; None where it was no column.
    sparse_ : bool
        Whether the table was one sparse matrix.
    first_ : int
        What its first column is counted as.
    n_features_in_ : int
        The number of columns.
    """

    def __init__(self, categorical: Sequence[str] = (), missing: str = "error") -> None:
        self.categorical = categorical
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns and their categories."""
        if self.missing not in ("error", "fill"):
            raise ValueError(f"Encoder: missing must be 'error' or 'fill', not {self.missing!r}.")
        table = as_table(X)
        self.named_, self.names_, self.target_place_ = table.named, list(table.names), table.target_place
        self.first_, self.sparse_ = table.first, table.sparse
        self.kinds_: list[str] = []
        self.categories_: dict[str, list[str]] = {}
        self.fills_: dict[str, float] = {}
        self.n_features_in_ = table.matrix.shape[1] if table.sparse else len(table.names)
        if table.sparse:
            return self
        chosen = {table.names[table.place(name)] for name in self.categorical}
        for place, name in enumerate(table.names):
            self.kinds_.append(self._learn(table, place, name in chosen))
        if table.n == 1:
            words = not table.named and all(table.column(place).dtype == object for place in range(len(table.names)))
            told = (
                "has no rows of data, only a header (or is it a row of words?)" if words else "has one row of data only"
            )
            raise DataError(f"{table.source} {told}: at least two are needed.")
        if set(self.kinds_) <= {"constant"}:
            raise DataError(f"{table.source}: every column is constant, so there is nothing to learn from.")
        return self

    def transform(self, X: Any) -> Any:
        """The matrix of numbers, or the sparse matrix with the columns of the training."""
        check_is_fitted(self, "names_")
        table = as_table(X)
        if self.sparse_:
            return self._sparse(table)
        kept = [
            (place, name, kind)
            for place, name, kind in zip(self._places(table), self.names_, self.kinds_, strict=True)
            if kind != "constant"
        ]
        if table.matrix is not None and not self.categories_:
            block = np.array(table.matrix[:, [place for place, _, _ in kept]])
            return self._complete(table, block, [name for _, name, _ in kept])
        blocks = [
            self._complete(table, self._as_numbers(table, place)[:, None], [name])
            if kind == "number"
            else self._indicators(table, place, name)
            for place, name, kind in kept
        ]
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of the matrix."""
        check_is_fitted(self, "names_")
        if self.sparse_:
            return np.array([str(i + self.first_) for i in range(self.n_features_in_)], dtype=object)
        names: list[str] = []
        for name, kind in zip(self.names_, self.kinds_, strict=True):
            if kind != "constant":
                names += [f"{name}={category}" for category in self.categories_[name]] if kind == "category" else [name]
        return np.array(names, dtype=object)

    # Training.

    def _learn(self, table: Table, place: int, chosen: bool) -> str:
        """The kind of a column, with what is needed to encode it."""
        column, name = table.column(place), table.names[place]
        if column.dtype == object and not chosen:
            self._require_no_numbers(table, column, name)
        if column.dtype != object and not chosen:
            known = column[~np.isnan(column)]
            if known.size and self.missing == "fill":
                self.fills_[name] = float(np.median(known))
            if known.size < column.size and (self.missing == "error" or not known.size):
                self._refuse_missing(table, column, name)
            constant = known.size == 0 or bool((known == known[0]).all())
            return "constant" if constant and known.size == column.size else "number"
        texts = _categories(column)
        if self.missing == "error" and None in texts:
            self._refuse_missing(table, column, name)
        found = sorted({text for text in texts if text is not None})
        found += [""] if None in texts else []  # what is missing is a category too
        if too_many(len(found), table.n):
            raise DataError(
                f"{table.source}: column {name!r} is text with {len(found)} different values in {table.n} rows, "
                f"too many for categories: turn it into numbers, or leave it out by --drop {name!r}."
            )
        self.categories_[name] = found
        return "constant" if len({*texts}) == 1 else "category"

    def _require_no_numbers(self, table: Table, column: Array, name: str) -> None:
        """Text in a column that is numbers otherwise is a mistake, not a category."""
        given = [(row, text) for row, text in enumerate(column) if text is not None]
        odd = [(row, text) for row, text in given if number(text) is None]
        if given and len(odd) <= _NUMBERS * len(given):
            row, text = odd[0]
            raise DataError(
                f"{table.where(row, name)}: {text!r:.40} is not a number, but "
                f"{len(given) - len(odd)} of {len(given)} values are. Correct it, or give --categorical {name!r}."
            )

    def _refuse_missing(self, table: Table, column: Array, name: str, trained: bool = False) -> None:
        gone = np.array([value is None or value != value for value in column])
        if gone.all() and not trained:
            raise DataError(f"{table.source}: column {name!r} is empty: leave it out by --drop {name!r}.")
        remedy = "give --missing drop to leave such rows out, or --missing fill"
        remedy = "write a value there, or train with --missing fill" if trained else remedy
        raise DataError(
            f"{table.where(int(gone.argmax()), name)} is missing ({int(gone.sum())} in this column): {remedy}."
        )

    # Prediction.

    def _places(self, table: Table) -> list[int]:
        """Where each column of the training is in this table: by name, or by place where there are no names."""
        if table.sparse:
            raise DataError(f"{table.source} is sparse, but the model was trained on a table with columns.")
        if self.named_ and table.named:
            lacking = [
                name for name, kind in zip(self.names_, self.kinds_, strict=True)
                if kind != "constant" and name not in table.names
            ]  # fmt: skip
            if lacking:
                raise DataError(f"{table.source} lacks the column {lacking[0]!r}, which the model was trained on.")
            return [table.names.index(name) if name in table.names else -1 for name in self.names_]
        d, width = len(self.names_), len(table.names)
        if width == d:
            return list(range(d))
        if width == d + 1 and self.target_place_ is not None:  # the target is there too
            return [place for place in range(width) if place != self.target_place_]
        raise DataError(f"{table.source} has {width} columns, but the model was trained on {d}.")

    def _complete(self, table: Table, block: Array, names: list[str]) -> Array:
        """Columns of numbers, what is missing filled in where that was learned."""
        if np.isfinite(block).all():
            return block
        for column, name in zip(block.T, names, strict=True):
            infinite, gone = np.isinf(column), np.isnan(column)
            if infinite.any():
                raise DataError(f"{table.where(int(infinite.argmax()), name)} is infinite.")
            if gone.any() and name not in self.fills_:
                self._refuse_missing(table, column, name, trained=True)
            column[gone] = self.fills_.get(name, 0.0)
        return block

    def _as_numbers(self, table: Table, place: int) -> Array:
        column = table.column(place)
        if column.dtype != object:
            return column
        for row, text in enumerate(column):
            if text is not None and number(text) is None:
                raise DataError(
                    f"{table.where(row, table.names[place])}: {text!r:.40} is not a number, and "
                    "the model was trained on numbers."
                )
        return np.array([np.nan if text is None else number(text) for text in column])

    def _indicators(self, table: Table, place: int, name: str) -> Array:
        """A column of 0 and 1 for each category."""
        texts, known = _categories(table.column(place)), self.categories_[name]
        places: dict[str | None, int] = {category or None: j for j, category in enumerate(known)}
        block = np.zeros((table.n, len(known)))
        unseen = []
        for row, text in enumerate(texts):
            if text in places:
                block[row, places[text]] = 1.0
            elif text is None and self.missing == "error":
                self._refuse_missing(table, np.array(texts, dtype=object), name, trained=True)
            elif text is not None:
                unseen.append((row, text))
        if unseen:
            row, text = unseen[0]
            more = f" ({len(unseen)} such rows)" if len(unseen) > 1 else ""
            warnings.warn(
                f"{table.where(row, name)}: {text!r:.40} was not there in training{more}: it "
                "is taken as none of the known categories.",
                UnseenCategoryWarning,
                stacklevel=2,
            )
        return block

    def _sparse(self, table: Table) -> Any:
        from scipy.sparse import csr_matrix, hstack

        if not table.sparse:
            raise DataError(f"{table.source} is a table with columns, but the model was trained on sparse data.")
        matrix, d = table.matrix, self.n_features_in_
        if table.first < self.first_:  # a feature 0, which was not there in training
            raise DataError(f"{table.source} has a feature 0, but the model was trained on features 1 to {d}.")
        if table.first > self.first_:
            matrix = hstack([csr_matrix((table.n, 1)), matrix], format="csr")
        if matrix.shape[1] > d:
            beyond = matrix[:, d:]
            if beyond.nnz:
                row = int((np.diff(beyond.indptr) > 0).argmax())
                feature = int(beyond.indices[0]) + d + self.first_
                raise DataError(
                    f"{table.where(row)} has a feature {feature}, but the model was trained on features "
                    f"up to {d + self.first_ - 1}."
                )
            return matrix[:, :d]
        if matrix.shape[1] < d:
            matrix = csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=(table.n, d))
        return matrix


def _categories(column: Array) -> list[str | None]:
    """The cells as text; numbers written in one way, so that 1 and 1.0 are one category."""
    if column.dtype == object:
        return [None if text is None else _canonical(text) for text in column]
    return [None if value != value else _canonical(repr(float(value))) for value in column]


def _canonical(text: str) -> str:
    value = number(text)
    if value is None or value != value or abs(value) == float("inf"):
        return text
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)

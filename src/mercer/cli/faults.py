"""Whose fault an error is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..io import DataError, ModelError
from ..memory import BudgetError
from ..parse import ParseError
from .exits import Exit, NothingYetError, UsageError


def code_of(error: Exception) -> Exit:
    """Whose fault an error is: of the arguments, of the data, of the model file, or our own."""
    if isinstance(error, UsageError | OSError):
        return Exit.USAGE
    if isinstance(error, DataError):
        return Exit.DATA
    if isinstance(error, ModelError):
        return Exit.MODEL
    if isinstance(error, NothingYetError):
        return Exit.LIMITS
    return Exit.USAGE if isinstance(error, ParseError | BudgetError) else Exit.INTERNAL


@contextmanager
def blaming(source: str) -> Iterator[None]:
    """While a table is worked on: what its values do not allow is an error of the data, which is then named."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if code_of(error) is not Exit.INTERNAL:
            raise
        raise DataError(f"{source}: {error}") from error

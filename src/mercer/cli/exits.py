"""How a command ends, and the errors that end it so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes."""

    FINE = 0
    INTERNAL = 1
    USAGE = 2
    DATA = 3
    LIMITS = 4
    MODEL = 5
    INTERRUPTED = 130


class UsageError(ValueError):
    """Something that was asked for and cannot be: exit code 2."""


class NothingYetError(Exception):
    """The time is up before there is anything to show: exit code 4."""


def code_of(error: Exception) -> Exit:
    """Whose fault an error is: of the arguments, of the data, of the model file, or our own."""
    if isinstance(error, UsageError | OSError):  # the usual ones, told without loading what reads files
        return Exit.USAGE
    from ..io import DataError, ModelError
    from ..memory import BudgetError
    from ..parse import ParseError

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
    from ..io import DataError

    try:
        yield
    except (ValueError, TypeError) as error:
        if code_of(error) is not Exit.INTERNAL:
            raise
        raise DataError(f"{source}: {error}") from error

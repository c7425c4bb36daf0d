"""How a command ends, and the errors that end it so."""

from __future__ import annotations

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

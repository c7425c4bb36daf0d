"""Deadline: when work has to end, by one clock, and whether a piece of it can still be done before.

`until(deadline)` sets a deadline for all that is called inside, in helper threads too, as NumPy's error state is set.
Loops call `look()` between two bounded pieces of work: it raises OutOfTimeError once the deadline has passed, and lets
whoever is `looking` raise, as for Ctrl-C. What
cannot be broken off (a call of LAPACK, a user's function of all points) is not begun unless `require(seconds)` finds
time for it: counted work times a rate that was measured on a small piece. Whoever has something to give back catches
the error. Without a deadline all of this does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf

import numpy as np

clock = time.perf_counter  # the one clock of all limits; tests put another one here
_PROBE, _PROBES = 384, 3  # rows of the matrices whose product is timed, and how often


def now() -> float:
    """Seconds of the clock."""
    return clock()


class OutOfTimeError(Exception):
    """The deadline has passed, or would pass before a piece of work is done."""


@dataclass(frozen=True)
class Deadline:
    """From `began` to `at`, in seconds of the clock; `at` is infinite where there is no limit."""

    began: float = -inf
    at: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None: never."""
        return cls() if seconds is None else cls(now(), now() + seconds)

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.at < inf

    @property
    def seconds(self) -> float:
        """From the beginning to the end."""
        return self.at - self.began

    def left(self) -> float:
        """Seconds until it passes; 0 afterwards."""
        return max(0.0, self.at - now()) if self.limited else inf

    def passed(self) -> bool:
        """Whether it has."""
        return self.limited and now() >= self.at

    def part(self, share: float) -> Deadline:
        """From now on, with this share of what is left."""
        return Deadline(now(), now() + share * self.left()) if self.limited else self

    def earlier(self, seconds: float) -> Deadline:
        """The same, ending so many seconds before."""
        return Deadline(self.began, self.at - seconds)


NEVER = Deadline()
_current: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)
_looker: ContextVar[Callable[[], None] | None] = ContextVar("looker", default=None)


def deadline() -> Deadline:
    """The deadline that holds here."""
    return _current.get()


@contextmanager
def until(end: Deadline) -> Iterator[Deadline]:
    """A context with this deadline, whatever holds outside."""
    token = _current.set(end)
    try:
        yield end
    finally:
        _current.reset(token)


def within(seconds: float | None) -> Deadline:
    """A deadline in so many seconds, and no later than the one that holds here."""
    own, outer = Deadline.after(seconds), deadline()
    return own if own.at <= outer.at else Deadline(now(), outer.at)


@contextmanager
def looking(at: Callable[[], None] | None) -> Iterator[None]:
    """A context in which `at` is called, too, between two pieces of work: it may raise to end them. None: nobody is."""
    token = _looker.set(at)
    try:
        yield
    finally:
        _looker.reset(token)


def look() -> None:
    """Raise where the deadline has passed, or where whoever is looking does."""
    if _current.get().passed():
        raise OutOfTimeError
    at = _looker.get()
    if at is not None:
        at()


def require(seconds: float) -> None:
    """Raise where there are fewer seconds left."""
    if seconds > _current.get().left():
        raise OutOfTimeError


def flop_seconds() -> float:
    """Seconds of a multiplication in a product of matrices, measured: the best of some."""
    A = np.ones((_PROBE, _PROBE))
    taken = []
    for _ in range(_PROBES):
        began = now()
        A @ A
        taken.append(now() - began)
    return min(taken) / _PROBE**3

"""When work has to end: at a deadline, by one clock; or because somebody asks for it, by Ctrl-C.

`until(deadline)` sets a deadline for all that is called inside, in helper threads too, as NumPy's error state is set.
Loops call `check_limits()` between two bounded pieces of work: it raises OutOfTimeError once the deadline has passed,
and StoppedError where Ctrl-C has come and `stopped_by` listens for it. What cannot be broken off (a call of LAPACK, a
user's function of all points) is not begun unless `require(seconds)` finds time for it: counted work times a rate that
was measured on a small piece. Whoever has something to give back catches the error. Without a deadline all of this does
nothing.

Ctrl-C is a request: the first one asks a fit to end with what it has, the second one raises KeyboardInterrupt. Whoever
opens the outermost context decides what becomes of a request: an estimator keeps its answer and then raises, `solve`
returns what it has, and the command line writes a file. What must be done whole makes Ctrl-C wait (`ctrl_c_held`).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

clock = time.perf_counter  # the one clock of all limits; tests put another one here
_PROBE, _PROBES = 384, 3  # rows of the matrices whose product is timed, and how often


_measured: tuple[Callable[[], float] | None, float, float] = None, 0.0, 0.0


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
    limited: bool = field(init=False)
    """Whether there is a limit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "limited", self.at < inf)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None: never."""
        return cls() if seconds is None else cls(now(), now() + seconds)

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
        began = now() if self.limited else 0.0
        return Deadline(began, began + share * max(0.0, self.at - began)) if self.limited else self

    def earlier(self, seconds: float) -> Deadline:
        """The same, ending so many seconds before."""
        return Deadline(self.began, self.at - seconds)


NEVER = Deadline()
_current: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)
_heard: ContextVar[Interrupt | None] = ContextVar("heard", default=None)


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
    outer, began = _current.get(), now()
    at = inf if seconds is None else began + seconds
    return Deadline(began, min(at, outer.at)) if min(at, outer.at) < inf else NEVER


@contextmanager
def stopped_by(at: Interrupt | None) -> Iterator[None]:
    """A context in which work is given up between two pieces, once this interrupt is asked for. None: it goes on."""
    token = _heard.set(at)
    try:
        yield
    finally:
        _heard.reset(token)


def check_limits() -> None:
    """Raise where the deadline has passed, or where somebody has asked to stop."""
    end = _current.get().at
    if end < inf and clock() >= end:
        raise OutOfTimeError
    at = _heard.get()
    if at is not None and at.asked:
        raise StoppedError


def require(seconds: float) -> None:
    """Raise where there are fewer seconds left."""
    end = _current.get().at
    if end < inf and seconds > end - clock():
        raise OutOfTimeError


def require_limits(tol: object, max_iter: object, time_limit: object, callback: object) -> None:
    """Raise for limits that make no sense."""
    if not isinstance(tol, Real) or not float(tol) >= 0.0:
        raise ValueError(f"tol, a relative gap, must be a number >= 0, not {tol!r}.")
    if max_iter is not None and not (isinstance(max_iter, Integral) and int(max_iter) >= 1):
        raise ValueError(f"max_iter, the most rounds, must be None or a whole number, 1 or more, not {max_iter!r}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) >= 0.0):
        raise ValueError(f"time_limit must be None or a number of seconds >= 0, not {time_limit!r}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of a Step, which may return True to end it, not {callback!r}.")


def flop_seconds() -> float:
    """Seconds of a multiplication in a product of matrices, measured: the best of some, remembered for a second."""
    global _measured
    by, when, _ = _measured
    if by is not clock or not 0.0 <= now() - when <= 1.0:
        A, ends = np.ones((_PROBE, _PROBE)), [now()]
        for _ in range(_PROBES):
            A @ A
            ends.append(now())
        _measured = clock, ends[-1], min(after - before for before, after in pairwise(ends)) / _PROBE**3
    return _measured[2]


# Ctrl-C.


class StoppedError(Exception):
    """A piece of work that is given up, since somebody has asked to stop; whoever began the work catches it."""


STOPPED = (StoppedError, OutOfTimeError)
"""How work that is given up ends, for whoever goes on without it."""


@dataclass(eq=False)
class Interrupt:
    """Whether somebody has asked to stop. `before` is the signal handler whose place it takes."""

    before: Callable[[int, Any], Any] = signal.default_int_handler
    asked: bool = False

    def ask(self, number: int, frame: Any) -> None:
        """The signal handler: a first KeyboardInterrupt is remembered, a second one raised.

        A handler that makes something else of Ctrl-C has its way.
        """
        if self.asked:
            self.close()  # first of all: from here on nothing is certain to run to its end
            raise KeyboardInterrupt
        try:
            self.before(number, frame)
        except KeyboardInterrupt:
            self.asked = True
        else:
            self.asked = _task_is_cancelled()

    def close(self) -> None:
        """Give the signal back to its handler."""
        global _heeding
        if _heeding is self:
            _heeding = None
        if signal.getsignal(signal.SIGINT) == self.ask:  # else it is done, or somebody has taken it meanwhile
            signal.signal(signal.SIGINT, self.before)


_heeding: Interrupt | None = None


def heeded() -> bool:
    """Whether a context is open already, so that somebody further out looks whether Ctrl-C has come."""
    return _heeding is not None


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """A context in which Ctrl-C is a request; nested ones share it. Outside the main thread, Ctrl-C never arrives."""
    global _heeding
    if _heeding is not None:
        yield _heeding
        return
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None
    if before is None or not callable(before):  # the system's own way, or ignored
        yield Interrupt()
        return
    interrupt = Interrupt(before)
    signal.signal(signal.SIGINT, interrupt.ask)
    _heeding = interrupt
    try:
        yield interrupt
    finally:
        interrupt.close()


def _task_is_cancelled() -> bool:
    """Whether asyncio's handler has cancelled the task that runs here, which would hear of it only when we end."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return False
    return task is not None and task.cancelling() > 0


@contextmanager
def ctrl_c_held() -> Iterator[None]:
    """A context in which Ctrl-C waits until the end: what is done in it is done whole, or not at all."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[Any] = []
    signal.signal(signal.SIGINT, lambda *call: held.append(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for call in held:
            before(*call)

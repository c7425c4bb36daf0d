"""A limit on the time that algebra may take: a computation that does not end is the worst answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .exact import NotByHandError

Value = TypeVar("Value")


_EVERY = 64
"""Calls of functions between two looks at the clock."""


class _OutOfTime(BaseException):
    """Not an Exception, so that no library swallows it."""


def within(seconds: float, what: str, function: Callable[[], Value]) -> Value:
    """function(), or a clear refusal once it has used so many seconds of this thread's processor time.

    A profiling hook looks at the clock at every call of a function: it works in any thread and on every system, and
    algebra in Python is nothing but such calls.
    """
    deadline = time.thread_time() + seconds
    before = sys.getprofile()
    calls = 0

    def look(frame: Any, event: Any, argument: Any) -> None:
        if callable(before):  # a profiler written in C is none, and sees nothing meanwhile
            before(frame, event, argument)  # a limit around this one holds as well
        nonlocal calls
        calls += 1
        if calls % _EVERY == 0 and time.thread_time() > deadline:
            sys.setprofile(None)
            raise _OutOfTime

    sys.setprofile(look)
    try:
        return function()
    except _OutOfTime:
        raise NotByHandError(
            f"{what} was not done within {seconds:g} s: too hard to work out by hand. Make it smaller, or use a "
            "numerical solver."
        ) from None
    finally:
        if before is None or callable(before):
            sys.setprofile(before)
        else:
            sys.setprofile(None)
            before.enable()

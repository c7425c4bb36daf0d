"""Ctrl-C as a request: the first one asks a fit to end with what it has, the second one raises KeyboardInterrupt.

Whoever opens the outermost context decides what becomes of a request: an estimator keeps its answer and then raises,
`solve` returns what it has, and the command line writes a file. While something is compiled, Ctrl-C waits
(`ctrl_c_held`).
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class StoppedError(Exception):
    """A piece of work that is given up, since somebody has asked to stop; whoever began the work catches it."""


class Interrupt:
    """Whether somebody has asked to stop. `before` is the signal handler whose place it takes."""

    def __init__(self, before: Callable[[int, Any], Any] = signal.default_int_handler) -> None:
        self.asked, self.before = False, before

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
        global _current
        if _current is self:
            _current = None
        if signal.getsignal(signal.SIGINT) == self.ask:  # else it is done, or somebody has taken it meanwhile
            signal.signal(signal.SIGINT, self.before)

    def look(self) -> None:
        """Raise where somebody has asked: for pieces of work that can be given up."""
        if self.asked:
            raise StoppedError


_current: Interrupt | None = None


def heeded() -> bool:
    """Whether a context is open already, so that somebody further out looks whether Ctrl-C has come."""
    return _current is not None


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """A context in which Ctrl-C is a request; nested ones share it. Outside the main thread, Ctrl-C never arrives."""
    global _current
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or _current is not None or not callable(before):  # not callable: the system's own way, or ignored
        yield _current if _current is not None else Interrupt()
        return
    interrupt = Interrupt(before)
    signal.signal(signal.SIGINT, interrupt.ask)
    _current = interrupt
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
    """A context in which Ctrl-C waits until the end: raised inside LLVM's callbacks, it would be lost, or worse."""
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

"""Ctrl-C as a request: the first one asks a solver to end with what it has, the second one raises.

While something is compiled it waits (`ctrl_c_held`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """Whether somebody has asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self, number: int, frame: Any) -> None:
        """The signal handler: remember the first request, raise at the second."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


_current: Interrupt | None = None


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """A context in which Ctrl-C is a request; nested ones share it. Outside the main thread, Ctrl-C never arrives."""
    global _current
    main = threading.current_thread() is threading.main_thread()
    if not main or _current is not None or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield _current if _current is not None else Interrupt()
        return
    _current = Interrupt()
    signal.signal(signal.SIGINT, _current.ask)
    try:
        yield _current
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _current = None


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
        if held:
            before(*held[0])

"""Ctrl-C in a fit: the best answer so far is kept, and then KeyboardInterrupt ends whatever called the fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..limits import Interrupt, StoppedError, interruptible


@contextmanager
def keeping(estimator: Any) -> Iterator[Interrupt]:
    """A context in which Ctrl-C is a request, and at whose end the estimator has its answer: only then it is raised.

    So it is where the work ends by an error: whoever handles errors and goes on would not hear of Ctrl-C. What does not
    come to its end leaves an estimator that is not fitted: an earlier answer does not belong to its new classes.
    """
    try:
        with _unfitted_by_errors(estimator), interruptible() as interrupt:
            yield interrupt
    except StoppedError:  # before there was anything to keep
        raise KeyboardInterrupt from None
    except Exception as error:
        if interrupt.asked:
            raise KeyboardInterrupt(str(error)) from error
        raise
    if interrupt.asked:
        words = estimator.certificate_.words()
        raise KeyboardInterrupt(f"{type(estimator).__name__} keeps its best answer so far: {words}.")


@contextmanager
def _unfitted_by_errors(estimator: Any) -> Iterator[None]:
    try:
        yield
    except BaseException:
        estimator.__dict__.pop("certificates_", None)
        raise


class Keeps:
    """An estimator that is fitted once there is a certificate, or a piece of a stream has been learned from."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificates_")

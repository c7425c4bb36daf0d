"""scikit-learn's documentation for classes that are its own, but for the solver."""

from __future__ import annotations

from typing import TypeVar

_ATTRIBUTE = """certificate_ : mercer.solution.Certificate
        How good the answer is: primal and dual value, gap, KKT violation. It
        is there where Mercer's solver found the answer.

    """
_Class = TypeVar("_Class", bound=type)
_HEADING = "Attributes\n    ----------\n    "


def documented(cls: _Class) -> _Class:
    """The docstring of the class that it is derived from, with `certificate_` among the attributes."""
    original = next(base for base in cls.__mro__ if base.__module__.startswith("sklearn."))
    cls.__doc__ = (original.__doc__ or "").replace(_HEADING, _HEADING + _ATTRIBUTE, 1)
    return cls

"""Whether the small frozen values of a model file hold what their classes declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np

from ..kernels import Kernel, Polynomial
from ..kernels.expansion import Expansion
from ..solution import Certificate, Inseparable, Status, Step
from ..solvers.ridge.in_features import Inverse
from ..types import Array

_KINDS = {"int": "iu", "float": "f"}


def require_typed(value: Any) -> None:
    """Raise where a field is not of the type that its dataclass declares."""
    for field in fields(value):
        own = getattr(value, field.name)
        kind, _, optional = str(field.type).partition(" | ")
        if not ((optional == "None" and own is None) or TYPES[kind](own)):
            raise ValueError(f"{field.name} of its {type(value).__name__} is a {type(own).__name__}, not {field.type}")


def require_column(cls: type, name: str, column: Any) -> Array:
    """The values of one field of many records; raise where they are not of the type that is declared."""
    declared: Any = cls.__annotations__[name]
    kind = getattr(declared, "__forward_arg__", declared)  # as a named tuple has it
    if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype.kind not in _KINDS[kind]:
        raise ValueError(f"the column {name} of its table of {cls.__name__} does not hold {kind}")
    return column


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf"


def _is_monomials(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, tuple) for one in value)


def _tuple_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(item, kind) for item in value)


TYPES: dict[str, Callable[[Any], bool]] = {
    "Any": lambda value: True,
    "float": lambda value: isinstance(value, Real) and not isinstance(value, bool),
    "int": _is_whole,
    "str": lambda value: isinstance(value, str),
    "Array": _is_array,
    "Index": _is_array,
    "Status": lambda value: isinstance(value, Status),
    "bool": lambda value: isinstance(value, bool),
    "Kernel": lambda value: isinstance(value, Kernel),
    "Polynomial": lambda value: isinstance(value, Polynomial),
    "Expansion": lambda value: isinstance(value, Expansion),
    "Inverse": lambda value: isinstance(value, Inverse),
    "Inseparable": lambda value: isinstance(value, Inseparable),
    "Certificate": lambda value: isinstance(value, Certificate),
    "tuple[Certificate, ...]": _tuple_of(Certificate),
    "tuple[Step, ...]": _tuple_of(Step),
    "tuple[tuple[int, ...], ...]": _is_monomials,
}
"""What a value must be, by what its dataclass declares."""

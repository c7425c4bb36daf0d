"""Immutable values with named parameters, in scikit-learn's nested style (`left__gamma`).

`Parameters` is what kernels (and solvers, and step rules) are made of: a frozen dataclass that can be rebuilt with
other values. `RebuildsParameters` is for the mutable estimators that hold one: `set_params(kernel__gamma=1)` replaces
the kernel by a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from difflib import get_close_matches
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from .shown import Described


class Parameters:
    """A frozen dataclass whose fields can be read and replaced by nested names."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.generic):  # np.float64(0.5) would neither print nor parse as 0.5
                object.__setattr__(self, field.name, value.item())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Each field by name and, if deep, each field of a nested value as `name__field`."""
        params = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameters):
                    params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Self:
        """A copy with other values: `(rbf + linear).with_params(left__gamma=2.0)`."""
        own, nested = split_nested(params)
        known = self.get_params(deep=False)
        for name in own | nested:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}.{suggestion(name, known)}")
        for name, inner in nested.items():
            value = own.get(name, known[name])
            if not isinstance(value, Parameters):
                raise ValueError(f"{type(self).__name__}.{name} is {value!r}, which has no parameters of its own.")
            own[name] = value.with_params(**inner)
        return replace(self, **own)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class RebuildsParameters(Described):
    """A scikit-learn estimator some of whose parameters are `Parameters`: a base class to put first.

    `_parsers` says how a parameter that may be given as text becomes an object.
    """

    _parsers: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested name rebuilds the value that holds it."""
        own, nested = split_nested(params)
        for name, inner in list(nested.items()):
            value = own.get(name, getattr(self, name, None))
            if isinstance(value, str) and name in self._parsers:
                value = self._parsers[name](value)
            if isinstance(value, Parameters):
                own[name] = value.with_params(**inner)
                del nested[name]
        for name in own.keys() - self.get_params(deep=False).keys():  # type: ignore[attr-defined]
            holder = next((n for n in self._parsers if name in self._parts_of(n)), None)
            if holder:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}: it is {holder}__{name}.")
        rest = {f"{name}__{key}": value for name, inner in nested.items() for key, value in inner.items()}
        super().set_params(**own, **rest)  # type: ignore[misc]
        return self

    def _parts_of(self, name: str) -> dict[str, Any]:
        """The parameters of a value, given as an object or as text; none where it cannot be read."""
        try:
            value = self._parsers[name](getattr(self, name))
        except (TypeError, ValueError):
            return {}
        return value.get_params() if isinstance(value, Parameters) else {}


def split_nested(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Sort `{"C": 1, "kernel__gamma": 2}` into `{"C": 1}` and `{"kernel": {"gamma": 2}}`."""
    own: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in params.items():
        head, _, tail = name.partition("__")
        if tail:
            nested.setdefault(head, {})[tail] = value
        else:
            own[head] = value
    return own, nested


def suggestion(name: str, known: Any) -> str:
    """' Did you mean ...?' with the nearest known names, or all of them if none is near."""
    names = sorted(known)
    near = [known for known in names if known.lower() == name.lower()] or get_close_matches(name, names, 3, 0.5)
    if near:
        return f" Did you mean {' or '.join(near)}?"
    return f" It may be: {', '.join(names)}." if names else ""


def require_number(owner: Any, name: str, *, at_least: float | None = None, above: float | None = None) -> None:
    """Raise unless the field is a finite number within its bound."""
    value = getattr(owner, name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if good and (at_least is None or value >= at_least) and (above is None or value > above):
        return
    bound = "" if at_least is None else f" of at least {at_least:g}"
    bound = bound if above is None else f" greater than {above:g}"
    raise ValueError(f"{type(owner).__name__}: {name} must be a finite number{bound}, not {value!r}.")


def require_integer(owner: Any, name: str, *, at_least: int) -> int:
    """The field as an int; raise unless it is a whole number within its bound."""
    value = getattr(owner, name)
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{type(owner).__name__}: {name} must be a whole number, {at_least} or more, not {value!r}.")
    return int(value)


def random_generator(seed: Any) -> np.random.Generator:
    """NumPy's generator from None, a number, a generator or scikit-learn's older RandomState."""
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(2**31))
    return np.random.default_rng(seed)

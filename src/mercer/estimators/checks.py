"""One clear error for each setting that makes no sense, and for answers that are none or that prove nothing."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from ..kernels.points import row_weights
from ..solution import Certificate, Status, worst
from ..types import Array

_OURS = ("mercer", "sklearn")


def require(owner: Any, name: str, meaning: str, good: Any) -> None:
    """Raise unless the setting is a number for which `good` holds."""
    value = getattr(owner, name)
    if not isinstance(value, Real) or isinstance(value, bool) or not good(value):
        raise ValueError(f"{type(owner).__name__}: {name} must be {meaning}, not {value!r}.")


def require_positive(owner: Any, name: str, *, infinite: str = "") -> None:
    """Raise unless the setting is a number > 0; it may be infinite where there is a meaning for that."""
    meaning = f"a finite number greater than 0{infinite and f', or infinite ({infinite})'}"
    require(owner, name, meaning, lambda value: 0 < value < float("inf") or (bool(infinite) and value == float("inf")))


def require_here(owner: Any, X: Any) -> None:
    """Raise for points that are elsewhere, with Dask."""
    one = X[0] if isinstance(X, list | tuple) and X else X
    if hasattr(one, "__dask_graph__"):
        name = type(owner).__name__
        raise TypeError(
            f"{name}.fit takes points that are here, not a {type(one).__name__} of Dask: call "
            f"mercer.distributed.fit({name}(...), X, y) instead."
        )


def require_limits(owner: Any) -> None:
    """The settings that all machines share."""
    require_positive(owner, "tol")
    if owner.max_iter is not None:
        meaning = "None or a whole number, 1 or more"
        require(owner, "max_iter", meaning, lambda value: isinstance(value, Integral) and int(value) >= 1)
    if owner.time_limit is not None:
        require(owner, "time_limit", "None or a number of seconds greater than 0", lambda value: value > 0)


def require_choice(owner: Any, name: str, choices: tuple[Any, ...]) -> None:
    """Raise unless the setting is one of these."""
    value = getattr(owner, name)
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise ValueError(f"{type(owner).__name__}: {name} must be {' or '.join(map(repr, choices))}, not {value!r}.")


def seed_of(random_state: Any) -> int | None:
    """A seed from what scikit-learn takes for one: a number, a generator to draw it from, or None."""
    if random_state is None or isinstance(random_state, Integral):
        return None if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def sample_weights(sample_weight: Any, n: int) -> Array:
    """The weights of the points, checked."""
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is not None and weight.shape == (n,) and not weight.any():
        raise ValueError("All sample weights are zero: there is nothing to learn from.")
    return row_weights(weight, n)


def require_answer(machine: Any) -> None:
    """Raise where the problem that a machine was to solve has no answer."""
    infeasible = [c for c in getattr(machine, "certificates_", ()) if not c.has_answer]
    if infeasible:
        raise NotFittedError(
            f"This {type(machine).__name__} has no answer to predict with, because its problem has none: "
            f"{infeasible[0].status}. The proof is in certificate_.proof."
        )


class IndefiniteKernelWarning(UserWarning):
    """The kernel is not positive definite, so that a gap bounds nothing."""


def warn_of(doubt: str | None) -> None:
    """Say so, where the kernel is seen to be indefinite."""
    if doubt is not None:
        text = f"{doubt}. The gap bounds nothing, and the answer may be a local one."
        warnings.warn(text, IndefiniteKernelWarning, stacklevel=level_of_caller())


def warn_of_gaps(owner: Any) -> None:
    """Say so, where the tolerance was not reached."""
    fine = (Status.CONVERGED, Status.INDEFINITE, Status.INFEASIBLE)
    bad = [certificate for certificate in owner.certificates_ if certificate.status not in fine]
    if not bad:
        return
    certificate: Certificate = worst(bad, [""] * len(bad), owner.tol)
    how_many = f" ({len(bad)} of {len(owner.certificates_)} problems)" if len(owner.certificates_) > 1 else ""
    warnings.warn(
        f"{type(owner).__name__}{how_many}: {certificate.status}. Its relative gap is "
        f"{certificate.relative_gap:.1e}, and {owner.tol:.1e} was asked for.",
        ConvergenceWarning,
        stacklevel=level_of_caller(),
    )


def level_of_caller() -> int:
    """The stacklevel of a warning that is to name the line of whoever called us, or scikit-learn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    return level

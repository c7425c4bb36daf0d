"""Step rules of the subgradient methods.

The methods move beta towards a dual point s, made of the slopes of the loss:  beta <- (1 - step) beta + step s,  which
is w <- w - step (w - Z's), a step along a subgradient of 1/2 |w|^2 + sum C_i loss. So a step is a number between 0 and
1, whatever the data and C; larger ones are taken as 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..amounts import ROUNDING
from ..params import Parameters, require_integer, require_number
from ..parse import plain_name
from .base import REGISTRY

FAR = 1.0 / ROUNDING.of_a_difference
"""What has become so many times larger than it was will not come back: the steps are too long."""


class StepRule(Parameters):
    """How far to go, in the t-th step (t = 1, 2, ...)."""

    def __init_subclass__(cls, names: tuple[str, ...] = (), **options: Any) -> None:
        """Make the class known to the parser of solvers, by these names too: subgradient(step=constant(eta=0.1))."""
        super().__init_subclass__(**options)
        for name in (cls.__name__, *names):
            REGISTRY[plain_name(name)] = cls

    def size(self, t: Any) -> Any:
        """The step for t, a number or an array of them."""
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantStep(StepRule, names=("constant",)):
    """eta. The last digits are never reached: smaller steps come nearer, and later.

    Parameters
    ----------
    eta : float, default=0.01
        The step, > 0.
    """

    eta: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "eta", above=0)

    def size(self, t: Any) -> Any:
        return np.minimum(self.eta + 0.0 * np.asarray(t, np.float64), 1.0)


@dataclass(frozen=True)
class InverseTime(StepRule):
    """eta / (t + t0). With eta = 1 and t0 = 0, beta is the mean of all s so far.

    Parameters
    ----------
    eta : float, default=1.0
        The factor, > 0.
    t0 : float, default=0.0
        By how much t is ahead, >= 0.
    """

    eta: float = 1.0
    t0: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "eta", above=0)
        require_number(self, "t0", at_least=0)

    def size(self, t: Any) -> Any:
        return np.minimum(self.eta / (np.asarray(t, np.float64) + self.t0), 1.0)


@dataclass(frozen=True)
class InverseSqrt(StepRule):
    """eta / sqrt(t).

    Parameters
    ----------
    eta : float, default=1.0
        The first step, > 0.
    """

    eta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "eta", above=0)

    def size(self, t: Any) -> Any:
        return np.minimum(self.eta / np.sqrt(np.asarray(t, np.float64)), 1.0)


@dataclass(frozen=True)
class Automatic(StepRule):
    """Nothing to tune: the step that raises the dual most.

    Subgradient takes the best of all combinations of beta and the last `memory` dual points. StochasticSubgradient,
    with one point at a time, takes that point's coefficient to its best value.

    Parameters
    ----------
    memory : int, default=20
        How many dual points Subgradient combines.
    """

    memory: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "memory", at_least=1)


def require_rule(owner: Any) -> None:
    """Raise unless the solver's step is a rule."""
    if not isinstance(owner.step, StepRule):
        raise ValueError(
            f"{type(owner).__name__}: step must be ConstantStep(), InverseTime(), InverseSqrt() or Automatic(), not "
            f"{owner.step!r}."
        )

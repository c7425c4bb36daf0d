"""The dual as a general quadratic program, handed to a QP solver through qpsolvers: the oracle for the others."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..losses import OneClass
from ..problem import Problem
from ..types import Array
from .base import Iterate, Solver


class Assembled(NamedTuple):
    """min 1/2 x'P x + q'x  subject to  G x <= h,  A x = b."""

    P: Array
    q: Array
    G: Array
    h: Array
    A: Array | None
    b: Array | None


@dataclass(frozen=True)
class QP(Solver):
    pass

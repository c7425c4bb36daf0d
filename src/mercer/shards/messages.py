"""Messages between who solves and who holds the points: frozen values that know their bytes.

`problem` names the problem of a fit, since several may share the points; `round` counts what has changed it, so that a
block that is told twice, or was not told, knows. Places are those of a block's own points in the problem.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.points import is_sparse
from ..memory import DOUBLE
from ..types import Array, Index, Points
from .compact import Brief, BriefTerms, Coefficients, Rows


def bytes_of(value: Any) -> int:
    """The bytes of the numbers in a message."""
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_sparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, list | tuple):
        return sum(map(bytes_of, value))
    if is_dataclass(value) and not isinstance(value, Kernel):
        return sum(bytes_of(getattr(value, field.name)) for field in fields(value))
    return DOUBLE  # a number; a name or a kernel counts as one


@dataclass(frozen=True, eq=False)
class Message:
    """A value that is sent."""

    @property
    def nbytes(self) -> int:
        """The bytes of its numbers."""
        return bytes_of(self)


@dataclass(frozen=True, eq=False)
class Begin(Message):
    """Here is a problem on some of your points (rows): where it stands, with K beta as it really is."""

    problem: str
    round: int
    kernel: Kernel
    dtype: str
    bias: bool
    rows: Rows
    terms: BriefTerms
    beta: Coefficients
    scores: Brief
    witnesses: tuple[Points, ...]
    """Points that tell how kernel values can be computed for all points, also those of other blocks."""
    packed: float
    """Bytes that columns made ready may take."""


@dataclass(frozen=True, eq=False)
class Ask(Message):
    """Who violates most, given extreme slopes, which may be of other blocks? And what is your share in the gap?"""

    problem: str
    round: int
    top: float
    bottom: float
    middle: float | None
    """The bias of that gap; None: no share is wanted."""
    most: int
    kept: Index
    """Places of the working set that stay: only their slopes are asked for."""
    wide: bool
    """Whether points take so many bytes that only those that are taken are to be sent, when they are asked for."""


@dataclass(frozen=True, eq=False)
class Candidates(Message):
    """The answer: points that violate most, and their F; `slopes` is F of those that stay."""

    places: Index
    points: Points
    F: Array
    slopes: Array
    share: float


@dataclass(frozen=True, eq=False)
class Moved(Message):
    """These points have new coefficients, which differ by delta; `block` and `place` say whose they are."""

    problem: str
    round: int
    points: Points
    block: Array
    place: Array
    beta: Array
    delta: Array


@dataclass(frozen=True, eq=False)
class Rescaled(Message):
    """All coefficients are this many times what they were."""

    problem: str
    round: int
    factor: float


@dataclass(frozen=True, eq=False)
class Refresh(Message):
    """K beta as it really is: at some places, where it was good at all others; None: at all of them."""

    problem: str
    round: int
    beta: Coefficients
    places: Rows | None
    scores: Brief


@dataclass(frozen=True, eq=False)
class Slopes(Message):
    """F of some points of a block, and by how much it may be wrong at any."""

    F: Array
    error: float


@dataclass(frozen=True, eq=False)
class Summary(Message):
    """Where a block stands: the extremes of its slopes, how many are free, its parts of the dual and of its rise; and
    the answer to what it was asked.
    """

    top: float
    bottom: float
    free: int
    dual: float
    gain: float
    named: Candidates | None = None


@dataclass(frozen=True, eq=False)
class Lost(Message):
    """The block does not know this problem as it stands: tell it anew."""


@dataclass(frozen=True, eq=False)
class Support(Message):
    """Points and their coefficients, a column for each problem: a part of a sum of kernel values."""

    kernel: Kernel
    points: Points
    weights: Array
    dtype: str


@dataclass(frozen=True, eq=False)
class Facts(Message):
    """What a block is: its size, and rows that tell how kernel values can be computed."""

    rows: int
    width: int
    dtype: str
    sparse: bool
    nbytes_held: int
    largest: float
    """Of all |entries|."""
    witnesses: Points

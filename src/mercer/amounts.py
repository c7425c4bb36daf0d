"""Amounts that several files share: what is rounding, up to which sizes something is done, how much is held at a time.

Each name ends in its unit, or says what it is a part of. What one file alone needs stands at its top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .memory import DOUBLE


@dataclass(frozen=True)
class Rounding:
    """What rounding does to float64 values, relative to their size."""

    of_a_number: float = 1e-15
    of_a_sum: float = 1e-14
    of_a_difference: float = 1e-12
    """Of sums of many terms. float32 values have half as many digits: its square root."""
    least: float = float(np.finfo(np.float64).tiny)
    """A size that is above 0, and below all others."""


@dataclass(frozen=True)
class AtATime:
    """How much is held or worked on together: more costs memory, and less costs calls."""

    temporary_bytes: int = 32_000_000
    """Of temporaries, over all threads."""
    thread_bytes: int = 6_000_000
    """Of temporaries of one thread that are used again and again: about what stays in its cache."""
    rows: int = 1024
    entries_for_a_thread: int = 200_000
    """With fewer, a pass over them takes less time than it takes to wake up another thread."""
    sampled_rows: int = 256
    """On which rounding or the time of a pass is measured."""
    drawn_rows: int = 10_000
    """On which scales or quantiles are measured, where there are more."""
    arrays: int = 8
    """Of values, that are held together where bytes are few."""
    copies: int = 4
    """Of an array that is worked on: itself, what it becomes, and what is needed on the way."""
    multiplications: int = 4_000_000_000
    """Of matrices, between two looks at the clock: a fraction of a second."""
    pair_steps: int = 50_000
    """Of pair descent, between two looks at the clock: a fraction of a second."""

    @property
    def values(self) -> int:
        """Of float64."""
        return self.temporary_bytes // DOUBLE

    def values_within(self, budget: int) -> int:
        """The same, where all takes no more than so many bytes."""
        return min(self.values, budget // (self.arrays * DOUBLE))


@dataclass(frozen=True)
class Largest:
    """The largest sizes at which something costs next to nothing, or is possible at all."""

    points_exact: int = 1500
    """Kernel values are float64 from the start, and matrices of all points are factored."""
    working_set: int = 2 * AtATime.rows
    """Points of a full working set: their problem is solved as a whole, with all kernel values held."""
    points_kept: int = 2500
    """All kernel values are computed, by symmetry, and kept, though few of the points may matter."""
    points_held: int = 6000
    """A matrix of all points is held and factored, in seconds."""
    points_factored: int = 20_000
    """A matrix of all points is factored once, in a minute."""
    columns: int = 500
    """A matrix of so many rows and columns is factored in milliseconds."""


@dataclass(frozen=True)
class Shares:
    """The part of something scarce that one use of it may take: of the time until the deadline, where nothing is gained
    before the end; of memory; of points.
    """

    little: float = 0.125
    some: float = 0.3
    most: float = 0.6


@dataclass(frozen=True)
class Rounds:
    """Limits of loops that usually end sooner."""

    again: int = 10
    """What failed for a reason that may pass is tried again so often, and what only prepares for more is refined."""
    in_vain: int = 50
    """After so many without progress there will be none."""


ROUNDING, AT_A_TIME, LARGEST, SHARE, ROUNDS = Rounding(), AtATime(), Largest(), Shares(), Rounds()

TOLERANCE = 1e-4
"""The relative gap that machines reach, where nobody names one."""

FINE_TOLERANCE = 1e-6
"""The same of regression in features, where digits cost little."""

A_DIGIT = 0.1
"""What is left of a residual, a gradient or a gap that has gained a digit: inner loops end there."""

MEASURED = 3.0
"""Times an error that was measured on a sample, or estimated: elsewhere it may be larger."""

"""Amounts that several files share: what is rounding, what is few, how much is held or worked on at a time.

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
    rows: int = 1024
    entries_for_a_thread: int = 200_000
    """With fewer, a pass over them takes less time than it takes to wake up another thread."""
    sampled_rows: int = 256
    """On which rounding or the time of a pass is measured."""
    arrays: int = 8
    """Of values, that are held together where bytes are few."""

    @property
    def values(self) -> int:
        """Of float64."""
        return self.temporary_bytes // DOUBLE

    def values_within(self, budget: int) -> int:
        """The same, where all takes no more than so many bytes."""
        return min(self.values, budget // (self.arrays * DOUBLE))


@dataclass(frozen=True)
class Few:
    """So few that what is done with them costs next to nothing, or is possible at all."""

    points_exact: int = 1500
    """Kernel values are float64 from the start, and matrices of all points are factored."""
    points_held: int = 6000
    """A matrix of all points is held and factored, in seconds."""
    columns: int = 500
    """A matrix of so many rows and columns is factored in milliseconds."""


ROUNDING, AT_A_TIME, FEW = Rounding(), AtATime(), Few()

TOLERANCE = 1e-4
"""The relative gap that machines reach, where nobody names one."""

A_DIGIT = 0.1
"""What is left of a residual, a gradient or a gap that has gained a digit: inner loops end there."""

MEASURED = 3.0
"""Times an error that was measured on a sample: elsewhere it may be larger."""

SOME_OF_THE_TIME, MOST_OF_THE_TIME = 0.3, 0.6
"""Parts of what is left until the deadline, that a piece of work may take which gives nothing before its end."""

COPIES_OF_THE_MEMORY = 0.1
"""The part of the memory that copies of the points may take."""

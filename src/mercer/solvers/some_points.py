"""Where points are many, Newton's method begins with some of them, each of which stands for several.

Their answer is soon found, and few steps with all points are left.
"""

from __future__ import annotations

STEPS = 10  # Newton steps with some of the points, at most.
PART_OF_GRADIENT = 0.01  # They end when the gradient is this small beside what it was.
_ONE_IN = 8  # One of so many points takes part,
_MOST = 0.2  # and no more than this part of them, or there is nothing to gain.


def how_many(n: int, least: int) -> int:
    """How many of n points to begin with, where no fewer than `least` will do; 0 where all points are better."""
    size = max(n // _ONE_IN, least)
    return size if size <= _MOST * n else 0

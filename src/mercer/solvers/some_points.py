"""Where points are many, Newton's method begins with some of them, each of which stands for several.

Their answer is soon found, and few steps with all points are left.
"""

from __future__ import annotations

from ..amounts import A_DIGIT

STEPS = 10  # Newton steps with some of the points, at most.
PART_OF_GRADIENT = A_DIGIT**2  # They end when the gradient is this small beside what it was.
_ONE_IN = 8  # One of so many points takes part; with more than twice as many there is nothing to gain.


def how_many(n: int, least: int) -> int:
    """How many of n points to begin with, where no fewer than `least` will do; 0 where all points are better."""
    size = max(n // _ONE_IN, least)
    return size if _ONE_IN * size <= 2 * n else 0

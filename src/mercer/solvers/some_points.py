"""A warm start: where points are many, Newton's method begins with some of them, each of which stands for several.

Their answer is soon found, and few steps with all points are left.
"""

from __future__ import annotations

from ..amounts import A_DIGIT, ROUNDS, SHARE

STEPS = ROUNDS.again  # Newton steps with some of the points, at most.
PART_OF_GRADIENT = A_DIGIT**2  # They end when the gradient is this small beside what it was.


def how_many(n: int, least: int) -> int:
    """How many of n points to begin with, where no fewer than `least` will do; 0 where that is more than twice as many
    as would be enough: then there is nothing to gain.
    """
    size = max(int(SHARE.little * n), least)
    return size if size <= 2.0 * SHARE.little * n else 0

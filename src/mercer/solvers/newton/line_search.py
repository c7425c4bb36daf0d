"""The one line search: how far to go along a direction of descent, for a convex objective.

Of a convex objective the slopes along the direction say all: they only grow. So Wolfe's condition on the slope is asked
for, and Armijo's on the value holds of itself wherever the slope is not above 0.
"""

from __future__ import annotations

from collections.abc import Callable

from ...amounts import A_DIGIT, ROUNDS

FLAT = 0.2  # A slope of this part of the first, or less, is flat enough.
TRIALS = ROUNDS.in_vain  # So many parts of a step are tried, at most: halves of halves, until they are rounding.


def flat_step(slope: Callable[[float], float], first: float, rise: float = FLAT) -> float:
    """The whole step, where the objective still falls there, or hardly rises; else a part of it, found by regula falsi
    (the Illinois algorithm); where rounding hides the slopes, the last part that was looked at.

    `slope(part)` is the slope after this part of the step, `first` < 0 that at its beginning. A slope of up to `rise`
    in parts of that may be above 0; with 0, the objective has surely fallen.
    """
    low, high, part = 0.0, 1.0, 1.0
    at_low, now = first, slope(1.0)
    if now <= -rise * first:
        return 1.0
    at_high, (least, most) = now, (A_DIGIT, 1.0 - A_DIGIT)  # the next trial is within these parts of the interval
    for _ in range(TRIALS):
        part = low + min(max(at_low / (at_low - at_high), least), most) * (high - low)
        before, now = now, slope(part)
        if FLAT * first <= now <= -rise * first:
            return part
        again = (now > 0.0) == (before > 0.0)  # the same end has moved twice: half of the slope at the other one
        if now > 0.0:
            high, at_high, at_low = part, now, 0.5 * at_low if again else at_low
        else:
            low, at_low, at_high = part, now, 0.5 * at_high if again else at_high
    return low or part

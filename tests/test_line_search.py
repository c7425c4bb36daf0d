"""The line search: convex functions of one variable, smooth, bent and hidden by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.solvers.newton.line_search import FLAT, flat_step


def looked_at(slope):
    """The same, with a list of where it was asked."""
    places = []

    def counted(part):
        places.append(part)
        return slope(part)

    return counted, places


@given(st.floats(1e-3, 1e6))
def test_of_a_parabola_the_least_value(curvature):
    slope, places = looked_at(lambda part: curvature * part - 1.0)
    part = flat_step(slope, -1.0)
    assert abs(curvature * part - 1.0) <= FLAT + 1e-9 or part == 1.0
    assert len(places) <= 10 + np.log10(curvature) * 3


def test_the_whole_step_where_it_still_falls():
    slope, places = looked_at(lambda part: -1.0)
    assert flat_step(slope, -1.0) == 1.0 and places == [1.0]


@pytest.mark.parametrize("bend", [0.9, 0.1, 1e-4])
def test_with_no_rise_the_objective_has_fallen(bend):
    """Slopes of -1 before a bend and of 0.1 behind it: an objective that may have risen, if 0.1 is flat."""

    def slope(part):
        return -1.0 + 0.85 * (part / bend) if part < bend else 0.1

    assert flat_step(slope, -1.0) == 1.0
    part = flat_step(slope, -1.0, rise=0.0)
    assert 0.0 < part <= bend and -FLAT <= slope(part) <= 0.0


def test_it_ends_whatever_the_slopes_are():
    rng = np.random.default_rng(0)
    assert 0.0 < flat_step(lambda part: 1.0, -1.0) <= 1.0
    assert 0.0 < flat_step(lambda part: float(rng.normal()), -1e-20) <= 1.0
    assert not flat_step(lambda part: np.nan, -1.0) > 0.0

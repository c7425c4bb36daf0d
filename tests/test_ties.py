"""What is chosen of several does not depend on the last digits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.cli.grid import Grid
from mercer.features import SpectralMap
from mercer.kernels import Linear
from mercer.solution import Certificate, Status, worst
from mercer.ties import first_largest

pytestmark = pytest.mark.digits

NAMES = ["a against b", "a against c", "b against c"]


def certificates(*gaps, statuses=(Status.CONVERGED,) * 3):
    return [Certificate(1.0, 1.0 - gap, status=status) for gap, status in zip(gaps, statuses, strict=True)]


@pytest.mark.parametrize(
    ("values", "within", "number"),
    [
        ([1.0, 1.0 + 1e-12, 1.0 + 2e-12], None, 0),
        ([-3.0 - 1e-12, -3.0, np.nan], None, 0),
        ([0.0, 1.0, 1.0], None, 1),
        ([0.0, 1e-5, 1.0, 1.0 + 9e-5], 1e-4, 2),
        ([1.0, np.inf, np.inf], None, 1),
        ([1.0, np.inf, np.inf], 1e-4, 1),
        ([np.nan, np.nan], None, 0),
        ([np.nan, 2.0], None, 1),
    ],
)
def test_first_largest(values, within, number):
    assert first_largest(values, within) == number


@pytest.mark.parametrize("gaps", [(1e-6, 8e-5, 3e-5), (8e-5, 1e-6, 3e-5), (0.0, 0.0, 1e-4)])
def test_of_gaps_within_the_tolerance_the_first_is_named(gaps):
    found = worst(certificates(*gaps), NAMES, 1.01e-4)
    assert found.name == "a against b" and found.gap == pytest.approx(gaps[0], abs=1e-15)
    assert found.relative_gap == pytest.approx(max(gaps), abs=1e-15)
    assert str(found).startswith("the worst of 3 problems, a against b: converged\n  all are within 0.0")


def test_a_gap_that_is_larger_by_more_is_the_worst():
    found = worst(certificates(1e-6, 2.5e-4, 3e-4), NAMES, 1e-4)
    assert found.name == "a against c" and found.relative_gap == pytest.approx(3e-4)


def test_a_fit_that_has_not_converged_is_never_hidden_by_a_tie():
    statuses = (Status.CONVERGED, Status.CONVERGED, Status.OUT_OF_TIME)
    found = worst(certificates(9e-5, 8e-5, 1.1e-4, statuses=statuses), NAMES, 1e-4)
    assert found.name == "b against c" and found.status is Status.OUT_OF_TIME


def test_the_sign_of_an_eigenvector_with_equal_entries():
    """The largest entries of (1, -1) are equal but for rounding; the first is positive."""
    for rounding in (1e-15, -1e-15):
        X = np.array([[np.sqrt(2.0) + rounding, 0.0], [-np.sqrt(0.5), np.sqrt(1.5)]])  # X X' is 2 and -1
        features = SpectralMap(Linear(), n_components=1).fit_transform(X)
        assert_allclose(features[:, 0], [np.sqrt(1.5), -np.sqrt(1.5)])


def test_equal_scores_in_another_order():
    """The means of 0.1, 0.2, 0.3 in two orders differ in the last digit; the smaller C is taken."""
    for scores in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]):
        grid = Grid(None, "C", "", [1.0, 10.0], [0.5], {(0, 0): scores, (0, 1): scores[::-1]})
        assert grid.best() == (0, 0)

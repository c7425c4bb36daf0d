"""The loops of the logistic loss, in every core."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=list(CORES))
sizes = pytest.mark.parametrize("n", [0, 1, 3, 7, 8, 9, 200])
EDGES = [0.0, -0.0, 1e-300, 40.0, -40.0, 707.9, -707.9, 745.0, -745.0, 1e4, -1e4, np.inf, -np.inf]


def looked(core, margin):
    found = np.full((3, margin.size), np.nan)
    core.logistic(margin, *found)
    return found


def line(n):
    generator = np.random.default_rng(n)
    y, C = np.where(generator.random(n) < 0.5, -1.0, 1.0), 0.1 + generator.random(n)
    return y, C, generator.normal(scale=5.0, size=n), generator.normal(size=n)


@every_core
@sizes
def test_loss_other_label_and_curvature(core, n):
    margin = np.append(np.random.default_rng(n).normal(scale=8.0, size=n), EDGES)
    loss, other, curvature = looked(core, margin)
    assert_allclose(loss, np.logaddexp(0.0, -margin), rtol=1e-15, atol=1e-300)
    assert_allclose(other, special.expit(-margin), rtol=1e-15, atol=1e-300)
    assert_allclose(curvature, special.expit(-margin) * special.expit(margin), rtol=2e-15, atol=1e-300)
    assert np.isnan(looked(core, np.array([1.0, np.nan]))[:, 1]).all()


@every_core
@sizes
def test_slope_and_curvature_along_a_line(core, n):
    y, C, f, df = line(n)
    slope, curvature = core.logistic_bends(y, C, f, df, 0.7)
    other = special.expit(-y * (f + 0.7 * df))
    assert_allclose(slope, -(C * df * y * other).sum(), rtol=1e-13, atol=1e-13)
    assert_allclose(curvature, (C * df * df * other * (1.0 - other)).sum(), rtol=1e-12)


@every_core
@sizes
def test_entropies(core, n):
    p = np.append(np.random.default_rng(n).random(n), [0.0, 1.0, 0.5, 1e-320, 1e-17, 1.0 - 1e-16, -1e-9, 1.0 + 1e-9])
    out = np.empty(p.size)
    core.entropies(p, out)
    assert_allclose(out, -special.entr(p) - special.entr(1.0 - p), rtol=1e-15, atol=1e-15)
    assert (out[-2:] == np.inf).all()


def test_the_same_bits_on_every_level_with_fused_operations():
    """And wherever a point stands."""
    margin, p = np.random.default_rng(0).normal(scale=9.0, size=1000), np.random.default_rng(1).random(1000)
    found = []
    for core in FUSED.values():
        entropies = np.empty(1000)
        core.entropies(p, entropies)
        found.append([looked(core, margin), entropies, core.logistic_bends(*line(997), 0.3)])
        assert_array_equal(looked(core, margin[3:].copy()), found[-1][0][:, 3:])
    for other in found[1:]:
        for one, first in zip(other, found[0], strict=True):
            assert_array_equal(one, first)


@pytest.mark.parametrize("core", NATIVE.values(), ids=list(NATIVE))
def test_what_does_not_fit_is_refused(core):
    ones = np.ones(4)
    with pytest.raises(ValueError, match="logistic: all arrays must be of one length"):
        core.logistic(ones, np.ones(4), np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="logistic_bends: all arrays must be of one length"):
        core.logistic_bends(ones, ones, ones, np.ones(5), 0.5)
    with pytest.raises(ValueError, match="entropies: both arrays must be of one length"):
        core.entropies(ones, np.ones(3))
    with pytest.raises(TypeError):
        core.entropies(ones, np.ones(4, np.float32))

"""A problem whose K is held, settled at once, on every core: dual and gap as the plain formulas say, within bounds."""

import numpy as np
import pytest

from mercer.columns import padded

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
SETTINGS = [
    {},
    {"bias": False},
    {"eps": 0.1},
    {"r": 0.5},
    {"C": 30.0, "bias": False},
    {"eps": 0.2, "r": 0.1, "C": 10.0},
]


def posed(n, dtype, seed=0, eps=0.0, r=0.0, C=1.0, bias=True):
    """K, r, eps, lo, hi, beta, F and bias of a random problem, and its q."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.sign(rng.normal(size=n) + 0.1)
    K = np.zeros((padded(n),) * 2, dtype)
    K[:n, :n] = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    lo, hi = (np.full(n, -C), np.full(n, C)) if eps else (np.minimum(0.0, C * y), np.maximum(0.0, C * y))
    return (K, np.full(n, r), np.full(n, eps), lo, hi, np.zeros(n), y.copy(), bias), y


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_gap_and_dual_are_those_of_the_formulas(core, dtype, setting):
    for n in (1, 2, 63, 150):
        (K, r, eps, lo, hi, beta, F, bias), q = posed(n, dtype, **setting)
        done, _, free, dual, gap, top, bottom, travel = core.settle(K, r, eps, lo, hi, beta, F, bias, 0.0, 1e-4, 10**6)
        assert done
        assert ((lo <= beta) & (beta <= hi)).all()
        assert not bias or abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).sum())
        scores = K[:n, :n].astype(float) @ beta
        np.testing.assert_allclose(F, q - r * beta - scores, rtol=0, atol=1e-12 * max(1.0, travel))
        true = (q * beta - 0.5 * r * beta**2 - eps * np.abs(beta)).sum() - 0.5 * beta @ scores
        assert dual == pytest.approx(true, rel=1e-9, abs=1e-12)
        g = q - scores - (0.5 * (top + bottom) if bias else 0.0)
        grid = np.linspace(lo, hi, 4001)  # C loss(f) is the largest value of g s - r/2 s^2 - eps |s|
        loss = (g * grid - 0.5 * r * grid**2 - eps * np.abs(grid)).max(axis=0).sum()
        assert gap == pytest.approx(0.5 * beta @ scores + loss - true, abs=1e-5 * max(1.0, loss))
        assert gap <= 1e-4 * max(abs(dual), abs(dual + gap))
        assert free == ((lo < beta) & (beta < hi)).sum()
        assert travel >= np.abs(beta).sum() * (1 - 1e-12)


@every_core
def test_it_ends_where_steps_or_digits_do(core):
    problem, _ = posed(100, np.float64, C=1e4)
    assert not core.settle(*problem, 0.0, 1e-9, 5)[0]
    problem, _ = posed(100, np.float32, C=1e4)
    done, steps, *_ = core.settle(*problem, 0.0, 1e-15, 10**6)
    assert not done
    assert steps < 10**6


@pytest.mark.skipif(not FUSED, reason="no native core")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits(dtype):
    found = []
    for core in FUSED.values():
        problem, _ = posed(200, dtype, C=10.0)
        numbers = core.settle(*problem, 0.0, 1e-5, 10**5)
        found.append((numbers, problem[5].tobytes(), problem[6].tobytes()))
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_arrays_that_do_not_fit_are_refused(core):
    (K, r, eps, lo, hi, beta, F, bias), _ = posed(100, np.float64)
    with pytest.raises(ValueError, match="padded"):
        core.settle(K[:100, :100].copy(), r, eps, lo, hi, beta, F, bias, 0.0, 1e-4, 100)
    with pytest.raises(ValueError, match="one length"):
        core.settle(K, r[:5].copy(), eps, lo, hi, beta, F, bias, 0.0, 1e-4, 100)
    with pytest.raises(TypeError):
        core.settle(K, r, eps, lo, hi, beta.astype(np.float32), F, bias, 0.0, 1e-4, 100)

"""A problem whose K is held, by blocks, on every core: dual and gap as the plain formulas say, within bounds."""

import numpy as np
import pytest

from mercer.columns import padded

from .cores import CORES, FUSED, NATIVE
from .test_whole import SETTINGS

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)


def posed(n, seed=0, eps=0.0, r=0.0, C=1.0, bias=True, out=0, gamma=0.5):
    """K, q, r, eps, lo, hi, beta, F and bias of a random problem; the last `out` points cannot move."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.sign(rng.normal(size=n) + 0.1)
    K = np.zeros((padded(n),) * 2, np.float32)
    K[:n, :n] = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    lo, hi = (np.full(n, -C), np.full(n, C)) if eps else (np.minimum(0.0, C * y), np.maximum(0.0, C * y))
    lo[n - out :] = hi[n - out :] = 0.0
    return [K, y, np.full(n, r), np.full(n, eps), lo, hi, np.zeros(n), y.copy(), bias]


def check(problem, found, goal):
    K, q, r, eps, lo, hi, beta, F, bias = problem
    done, _, _, _, free, dual, gap, top, bottom, travel = found
    n = q.size
    assert done
    assert ((lo <= beta) & (beta <= hi)).all()
    assert not bias or abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).sum())
    scores = K[:n, :n].astype(float) @ beta
    np.testing.assert_allclose(F, q - r * beta - scores, rtol=0, atol=1e-11 * max(1.0, travel))
    true = (q * beta - 0.5 * r * beta**2 - eps * np.abs(beta)).sum() - 0.5 * beta @ scores
    assert dual == pytest.approx(true, rel=1e-9, abs=1e-11)
    b = 0.5 * (top + bottom) if bias else 0.0
    g = q - scores - b
    grid = np.linspace(lo, hi, 2001)  # C loss(f) is the largest value of g s - r/2 s^2 - eps |s|
    loss = (g * grid - 0.5 * r * grid**2 - eps * np.abs(grid)).max(axis=0).sum()
    assert gap == pytest.approx(0.5 * beta @ scores + loss - true, abs=1e-5 * max(1.0, loss))
    assert gap <= goal * max(abs(dual), abs(dual + gap))
    assert free == ((lo < beta) & (beta < hi)).sum()


@every_core
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_gap_and_dual_are_those_of_the_formulas(core, setting):
    for n, out in ((2, 0), (63, 10), (150, 0)):
        problem = posed(n, out=out, **setting)
        check(problem, core.settle_by_blocks(*problem, 1e-4, 0.0, 10**6), 1e-4)


@every_core
def test_blocks_and_newton_steps_where_there_are_many_points(core):
    """More movable points than one block, few of them free; then a large C, where pairs drag."""
    problem = posed(1000, out=20, C=0.05, gamma=2.0)
    found = core.settle_by_blocks(*problem, 1e-3, 0.0, 10**6)
    check(problem, found, 1e-3)
    assert found[3] > 1  # rounds
    problem = posed(80, C=1e4, gamma=0.05)
    found = core.settle_by_blocks(*problem, 1e-6, 0.0, 10**6)
    check(problem, found, 1e-6)
    assert found[2] > 0  # Newton steps


@every_core
def test_it_goes_on_from_where_it_was_and_ends_where_steps_or_digits_do(core):
    problem = posed(200, C=10.0)
    assert not core.settle_by_blocks(*problem, 1e-9, 0.0, 5)[0]
    check(problem, core.settle_by_blocks(*problem, 1e-5, 0.0, 10**6), 1e-5)
    found = core.settle_by_blocks(*problem, 1e-4, 0.0, 10**6)
    assert found[0]
    assert found[1] == found[3] == 0
    assert core.settle_by_blocks(*problem, 0.0, found[6], 10**6)[0]
    assert not core.settle_by_blocks(*problem, 0.0, 0.0, 10**6)[0]


@pytest.mark.skipif(len(FUSED) < 2, reason="one level alone")
def test_levels_agree_to_the_last_bit():
    answers = []
    for core in FUSED.values():
        problem = posed(500, C=100.0, gamma=0.3, out=60)
        core.settle_by_blocks(*problem, 1e-5, 0.0, 10**6)
        answers.append(problem[6].tobytes() + problem[7].tobytes())
    assert len(set(answers)) == 1


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    problem = posed(70)
    with pytest.raises(ValueError, match="padded to whole chunks"):
        core.settle_by_blocks(problem[0][:64, :64].copy(), *problem[1:], 1e-4, 0.0, 100)
    with pytest.raises(ValueError, match="of one length"):
        core.settle_by_blocks(problem[0], problem[1][:-1].copy(), *problem[2:], 1e-4, 0.0, 100)
    with pytest.raises(TypeError):
        core.settle_by_blocks(problem[0].astype(float), *problem[1:], 1e-4, 0.0, 100)

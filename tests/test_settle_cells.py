"""Problems on one K that is held, by blocks, on every core: dual and gap as the plain formulas say, within bounds."""

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


def settle(core, problem, goal, least=0.0, most=10**6):
    """One cell, from where it is; what was found of it."""
    K, *terms, beta, F, bias = problem
    found = np.empty((1, 11))
    goals, first = np.array([[goal, least, 0.0]]), np.zeros((1, 2), np.int64)
    core.settle_cells(K, np.stack(terms)[:, None], first, goals, beta[None], F[None], found, bias, most)
    return found[0]


def check(problem, found, goal):
    K, q, r, eps, lo, hi, beta, F, bias = problem
    done, _, _, _, free, dual, gap, top, bottom, travel, scale = found
    n = q.size
    assert done
    assert ((lo <= beta) & (beta <= hi)).all()
    assert not bias or abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).sum())
    scores = K[:n, :n].astype(float) @ beta
    np.testing.assert_allclose(F, q - r * beta - scores, rtol=0, atol=1e-11 * max(1.0, travel))
    true = (q * beta - 0.5 * r * beta**2 - eps * np.abs(beta)).sum() - 0.5 * beta @ scores
    assert dual == pytest.approx(true, rel=1e-9, abs=1e-11)
    b = 0.5 * (top + bottom) if bias else 0.0
    g = q - scale * (scores + b)
    grid = np.linspace(lo, hi, 2001)  # C loss(f) is the largest value of g s - r/2 s^2 - eps |s|
    loss = (g * grid - 0.5 * r * grid**2 - eps * np.abs(grid)).max(axis=0).sum()
    assert gap == pytest.approx(0.5 * scale**2 * beta @ scores + loss - true, abs=1e-5 * max(1.0, loss))
    assert gap <= goal * max(abs(dual), abs(dual + gap))
    assert free == ((lo < beta) & (beta < hi)).sum()


@every_core
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_gap_and_dual_are_those_of_the_formulas(core, setting):
    for n, out in ((2, 0), (63, 10), (150, 0)):
        problem = posed(n, out=out, **setting)
        check(problem, settle(core, problem, 1e-4), 1e-4)


@every_core
def test_blocks_and_newton_steps_where_there_are_many_points(core):
    """More movable points than one block, few of them free; then a large C, where pairs drag."""
    problem = posed(1000, out=20, C=0.05, gamma=2.0)
    found = settle(core, problem, 1e-3)
    check(problem, found, 1e-3)
    assert found[3] > 1  # rounds
    problem = posed(80, C=1e4, gamma=0.05)
    found = settle(core, problem, 1e-6)
    check(problem, found, 1e-6)
    assert found[2] > 0  # Newton steps


@every_core
def test_it_goes_on_from_where_it_was_and_ends_where_steps_or_digits_do(core):
    problem = posed(200, C=10.0)
    assert not settle(core, problem, 1e-9, most=5)[0]
    check(problem, settle(core, problem, 1e-5), 1e-5)
    found = settle(core, problem, 1e-4)
    assert found[0]
    assert found[1] == found[3] == 0
    assert settle(core, problem, 0.0, found[6])[0]
    assert not settle(core, problem, 0.0)[0]


def path(n=120, Cs=(0.5, 5.0, 50.0), folds=3):
    """K, terms and starts of cells C by C: the first fold from the C before, the others from the fold before."""
    cells, starts = [], []
    for number, C in enumerate(Cs):
        for fold in range(folds):
            problem = posed(n, C=C)
            for bound in problem[4:6] if folds > 1 else ():
                bound[fold::folds] = 0.0
            cells.append(problem[1:6])
            starts.append(len(starts) - (1 if fold else folds if number else 0))
    own, starts = np.arange(len(starts)), np.array(starts)
    return problem[0], np.ascontiguousarray(np.stack(cells, axis=1)), np.stack([own, starts], axis=1)


@every_core
def test_cells_start_from_others_and_an_answer_stays_one(core):
    K, terms, starts = path()
    terms = np.ascontiguousarray(np.concatenate([terms, terms[:, -1:]], axis=1))  # the last one once more
    starts = np.concatenate([starts, [[len(starts), len(starts) - 1]]])
    cells, n = terms.shape[1:]
    beta, F, found = np.zeros((cells, n)), terms[0].copy(), np.empty((cells, 11))
    core.settle_cells(K, terms, starts, np.tile([1e-5, 0.0, 0.0], (cells, 1)), beta, F, found, True, 10**6)
    assert found[:-1, 1].all()
    assert found[-1, 1] == found[-1, 2] == 0
    found[:, 9] = np.abs(beta).sum()  # no less than all that was moved since the first cell
    for c in range(cells):
        check([K, *terms[:, c], beta[c], F[c], True], found[c], 1e-5)
    judged = np.empty((cells, 11))
    core.measure_cells(terms, beta, F, judged, True)
    np.testing.assert_allclose(judged[:, 4:9], found[:, 4:9], rtol=1e-9, atol=1e-12)
    assert not judged[:, 1:4].any()


@every_core
def test_where_nothing_is_at_a_bound_a_larger_weight_changes_nothing(core):
    K, terms, _ = path(Cs=(1e4, 1e5), folds=1)
    K[:120, :120] = 0.1 * K[:120, :120] + np.eye(120, dtype=np.float32)
    for start in ([[0, 0], [0, 0]], [[0, 0], [0, 1]]):  # from the cell before in any case, or from itself but for that
        beta, F, found = np.zeros((2, 120)), terms[0].copy(), np.empty((2, 11))
        core.settle_cells(K, terms, np.array(start), np.tile([1e-6, 0.0, 0.0], (2, 1)), beta, F, found, True, 10**6)
        assert np.array_equal(beta[0], beta[1])
        assert found[0, 1] > 0
        assert found[1, 1] == found[1, 2] == 0


@every_core
def test_a_cell_goes_on_until_its_gap_tells_the_sign_at_points_that_are_left_out(core):
    problem = posed(150, C=10.0, out=30)
    K, *terms, beta, F, bias = problem
    found, goals = np.empty((1, 11)), np.array([[1e-2, 0.0, 1 / 32]])
    first = np.zeros((1, 2), np.int64)
    core.settle_cells(K, np.stack(terms)[:, None], first, goals, beta[None], F[None], found, bias, 10**6)
    check(problem, found[0], 1e-2)
    dual, gap, top, bottom, _, scale = found[0, 5:]
    f = scale * (terms[0] - F + 0.5 * (top + bottom))[120:]
    assert gap <= max((f**2).min() / 32, 1e-9 * (dual + gap))


@every_core
def test_many_free_coefficients_of_a_narrow_and_of_a_wide_kernel(core):
    for gamma, C in ((30.0, 3.0), (1.0, 1e4)):
        problem = posed(420, C=C, gamma=gamma, seed=3)
        found = settle(core, problem, 1e-6)
        check(problem, found, 1e-6)


@every_core
def test_an_answer_that_is_nearly_right_needs_newton_steps_alone(core):
    problem = posed(150, C=100.0, gamma=0.3)
    settle(core, problem, 1e-5)
    K, q, r, *_, beta, F, _ = problem
    K *= 1.001  # another problem, a little
    F[:] = q - r * beta - K[:150, :150].astype(float) @ beta
    found = settle(core, problem, 1e-10)
    check(problem, found, 1e-10)
    assert found[1] == 0  # steps of pairs
    assert 0 < found[2] <= 4


@pytest.mark.skipif(len(FUSED) < 2, reason="one level alone")
def test_levels_agree_to_the_last_bit():
    answers = []
    for core in FUSED.values():
        problem = posed(500, C=100.0, gamma=0.3, out=60)
        settle(core, problem, 1e-5)
        answers.append(problem[6].tobytes() + problem[7].tobytes())
    assert len(set(answers)) == 1


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    problem = posed(70)
    with pytest.raises(ValueError, match="padded to whole chunks"):
        settle(core, [problem[0][:64, :64].copy(), *problem[1:]], 1e-4)
    with pytest.raises(ValueError, match="each cell and point"):
        settle(core, [problem[0], *(array[:-1] for array in problem[1:6]), *problem[6:]], 1e-4)
    with pytest.raises(TypeError):
        settle(core, [problem[0].astype(float), *problem[1:]], 1e-4)
    K, terms, starts = path(folds=1)
    with pytest.raises(ValueError, match="from itself or from one before"):
        core.settle_cells(
            K, terms, starts[::-1].copy(), np.ones((3, 3)), *np.zeros((2, 3, 120)), np.empty((3, 11)), True, 9
        )

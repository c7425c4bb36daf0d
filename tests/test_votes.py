"""Votes of pairs of classes: counted as one counts them, whatever the number of points at a time."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mercer import SVC
from mercer._core.forms import Form, Map, Summed
from mercer.amounts import AT_A_TIME
from mercer.estimators.multiclass import apart, cast, join

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
RNG = np.random.default_rng(5)


def counted(core, sums, biases, ties=True):
    k, _, n = sums.shape
    won, margin = np.full((2, n, k), np.nan)
    core.votes(sums, biases, ties, won, margin)
    return won, margin


@every_core
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 40])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_one_pair_after_the_other(core, n, k):
    sums, biases = RNG.normal(size=(k, k - 1, n)), RNG.normal(size=k * (k - 1) // 2)
    won, margin = counted(core, sums, biases)
    expected, by = np.zeros((2, n, k))
    for (i, j), score in zip(combinations(range(k), 2), (join(sums) + biases).T, strict=True):
        expected[:, i] += score >= 0
        expected[:, j] += score < 0
        by[:, i] += score
        by[:, j] -= score
    np.testing.assert_array_equal(won, expected)
    np.testing.assert_allclose(margin, by, atol=1e-13)
    np.testing.assert_allclose(won.sum(axis=1), k * (k - 1) / 2)


@every_core
def test_a_score_of_zero_is_a_vote_for_the_first_or_for_the_second(core):
    nothing = np.zeros((3, 2, 4)), np.zeros(3)
    np.testing.assert_array_equal(counted(core, *nothing, True)[0], [[2, 1, 0]] * 4)
    np.testing.assert_array_equal(counted(core, *nothing, False)[0], [[0, 1, 2]] * 4)


HALVINGS = -0.3 / np.log(2.0)
SQUARES = (Form(Summed.SQUARES, Map.EXPONENTIAL, HALVINGS), np.zeros(3), 0.0)


def from_points(core, n, sizes, dtype=np.float64, ties=True):
    generator, ends = np.random.default_rng(n), np.cumsum(sizes)
    Z, X = (generator.normal(size=(m, 3)).astype(dtype) for m in (ends[-1], n))
    V, biases = (
        generator.normal(size=(len(Z), len(sizes) - 1)),
        generator.normal(size=len(sizes) * (len(sizes) - 1) // 2),
    )
    found, sums = tuple(np.full((2, n, len(sizes)), np.nan)), np.zeros((len(sizes), len(sizes) - 1, n))
    core.vote_points(Z, X, SQUARES, V, ends, biases, ties, found)
    core.sum_points(Z, X, SQUARES, V, ends, sums)
    return found, counted(core, sums, biases, ties)


@every_core
@pytest.mark.parametrize("n", [0, 1, 23, 24, 25, 60])
@pytest.mark.parametrize("sizes", [[3, 4], [9, 0, 5, 17], [1, 8, 7]], ids=str)
def test_votes_at_points_are_those_of_their_sums(core, n, sizes):
    for dtype, ties in ((np.float64, True), (np.float32, False)):
        found, expected = from_points(core, n, sizes, dtype, ties)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kernel", ["rbf", "poly(degree=2, coef0=1)", "laplacian"])
def test_a_machine_of_many_classes_predicts_by_its_scores(kernel, monkeypatch):
    X = RNG.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + X[:, 1], [-1.5, -0.7, 0.0, 0.7, 1.5])
    machine = SVC(kernel, C=5.0).fit(X, y)
    scores, expected = machine.pairwise_decision_function(X), np.zeros((200, 6))
    for (i, j), score in zip(combinations(range(6), 2), scores.T, strict=True):
        expected[:, i] += score >= 0
        expected[:, j] += score < 0
    values = machine.decision_function(X)
    np.testing.assert_array_equal(np.round(values), expected)
    asked = []
    monkeypatch.setattr("mercer.estimators.svc.votes_between", lambda *rest: asked.append(rest))
    np.testing.assert_allclose(machine.decision_function(X), values, atol=1e-12)
    assert len(asked) == 1


def test_points_of_two_precisions_have_votes_too():
    X = RNG.normal(size=(60, 3))
    machine = SVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert (machine.predict(X) == machine.predict(X.astype(np.float32))).mean() > 0.95


def test_scores_are_taken_apart_and_joined_again():
    scores = RNG.normal(size=(6, 10))
    np.testing.assert_array_equal(join(apart(scores, 5)), scores)


def test_pieces_of_the_points_give_the_same_votes(monkeypatch):
    sums, biases = RNG.normal(size=(4, 3, 50)), RNG.normal(size=6)
    whole = cast(lambda at: sums[:, :, at], 50, 4, biases)
    monkeypatch.setattr("mercer.estimators.multiclass.AT_A_TIME", replace(AT_A_TIME, temporary_bytes=800))
    for a, b in zip(whole, cast(lambda at: sums[:, :, at], 50, 4, biases), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.skipif(not FUSED, reason="no native core")
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits():
    sums, biases = RNG.normal(size=(9, 8, 33)), RNG.normal(size=36)
    bits = [
        [a.tobytes() for a in (*counted(core, sums, biases), *from_points(core, 50, [30, 9, 11])[0])]
        for core in FUSED.values()
    ]
    assert all(other == bits[0] for other in bits)


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    sums, biases, out = np.zeros((3, 2, 4)), np.zeros(3), np.zeros((4, 3))
    with pytest.raises(ValueError, match="k x k - 1"):
        core.votes(sums, biases[1:].copy(), True, out, out.copy())
    with pytest.raises(ValueError, match="points x classes"):
        core.votes(sums, biases, True, out[1:].copy(), out.copy())
    Z, X, V, ends, biases = np.zeros((9, 3)), np.zeros((4, 3)), np.zeros((9, 2)), np.array([2, 5, 9]), np.zeros(3)
    found = (out, out.copy())
    with pytest.raises(ValueError, match="coordinates of X"):
        core.vote_points(Z[:, :2].copy(), X, SQUARES, V, ends, biases, True, found)
    with pytest.raises(ValueError, match="a column less"):
        core.vote_points(Z, X, SQUARES, np.zeros((9, 3)), ends, biases, True, found)
    with pytest.raises(ValueError, match="ends must not fall"):
        core.vote_points(Z, X, SQUARES, V, ends + 1, biases, True, found)
    with pytest.raises(ValueError, match="points x classes"):
        core.vote_points(Z, X, SQUARES, V, ends, biases, True, (out[1:].copy(), out))

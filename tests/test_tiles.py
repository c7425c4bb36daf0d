"""Tiles of kernel values: every form, on every core, against the formulas; the same bits on every level."""

import numpy as np
import pytest

from mercer._core.forms import Form, Map, Summed
from mercer._core.reference import GROUP, PANEL

from .cores import CORES, FUNCTIONS, FUSED, NATIVE, packed, panel

LOG2E = float(np.log2(np.e))
G = 0.7


def distance(X, Z):
    return ((X[:, None] - Z) ** 2).sum(axis=2)


def chi2(X, Z):
    both = np.maximum(X[:, None] + Z, 1e-300)
    return (X[:, None] * Z / both).sum(axis=2)


# name: the form, the factor of the levels, and the kernel's formula
FORMS = {
    "linear": (Form(Summed.PRODUCTS), 0.0, lambda X, Z: X @ Z.T),
    "poly": (Form(Summed.PRODUCTS, Map.POWER, 0.5, 1.0, 3), 0.0, lambda X, Z: (0.5 * X @ Z.T + 1.0) ** 3),
    "gaussian": (
        Form(Summed.PRODUCTS, Map.EXPONENTIAL, 2 * G * LOG2E), -G * LOG2E, lambda X, Z: np.exp(-G * distance(X, Z))
    ),
    "gaussian by differences": (
        Form(Summed.SQUARES, Map.EXPONENTIAL, -G * LOG2E), 0.0, lambda X, Z: np.exp(-G * distance(X, Z))
    ),
    "laplacian": (
        Form(Summed.DISTANCES, Map.EXPONENTIAL, -G * LOG2E), 0.0,
        lambda X, Z: np.exp(-G * np.abs(X[:, None] - Z).sum(axis=2)),
    ),
    "intersection": (Form(Summed.MINIMA), 0.0, lambda X, Z: np.minimum(X[:, None], Z).sum(axis=2)),
    "chi2": (Form(Summed.CHI2), 0.0, chi2),
    "exp chi2": (
        Form(Summed.CHI2_DISTANCES, Map.EXPONENTIAL, -G * LOG2E), 0.0,
        lambda X, Z: np.exp(-G * (X.sum(axis=1)[:, None] + Z.sum(axis=1) - 4 * chi2(X, Z))),
    ),
    "matern 1/2": (Form(Summed.SQUARES, Map.MATERN12, G), 0.0, lambda X, Z: np.exp(-G * distance(X, Z) ** 0.5)),
    "matern 3/2": (
        Form(Summed.SQUARES, Map.MATERN32, G), 0.0,
        lambda X, Z: (1 + G * distance(X, Z) ** 0.5) * np.exp(-G * distance(X, Z) ** 0.5),
    ),
    "matern 5/2": (
        Form(Summed.SQUARES, Map.MATERN52, G), 0.0,
        lambda X, Z: (1 + G * distance(X, Z) ** 0.5 + G * G * distance(X, Z) / 3) * np.exp(-G * distance(X, Z) ** 0.5),
    ),
}  # fmt: skip
SIZES = [(0, 3, 2), (1, 1, 1), (7, 47, 3), (8, 48, 5), (9, 49, 1), (97, 145, 4), (3, 30, 70)]
every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def points(n, d, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    X[X < 0.2] = 0.0  # histograms have zeros, and 0/0 is 0
    return X


def ready(core, X, Z, dtype, factor):
    X, Z = X.astype(dtype), Z.astype(dtype)
    return (*packed(core, X, GROUP, dtype, factor), *packed(core, Z, panel(dtype), dtype, factor))


def error_bound(K, d, dtype):
    """A few roundings for each coordinate, in parts of the largest term; a polynomial multiplies them by its degree."""
    return 4 * (d + 8) * np.finfo(dtype).eps * max(1.0, float(np.abs(K).max(initial=0.0)))


@every_core
@every_dtype
@pytest.mark.parametrize("name", FORMS)
def test_values_are_those_of_the_formula(core, dtype, name):
    form, factor, formula = FORMS[name]
    for n, m, d in SIZES:
        X, Z = points(n, d), points(m, d, 1)
        K = formula(X.astype(dtype).astype(float), Z.astype(dtype).astype(float))
        bound = error_bound(K, d, dtype)
        tiles = ready(core, X, Z, dtype, factor)
        out = np.full((n + 2, m + 5), np.nan, dtype)
        slots = np.arange(n)[::-1] + 1
        core.fill(*tiles, form, slots, out[:, :m])
        np.testing.assert_allclose(out[slots, :m], K, rtol=0, atol=bound)
        assert np.isnan(out[:, m:]).all()
        assert np.isnan(out[[0, n + 1]]).all()
        V = np.random.default_rng(2).normal(size=(n, 3))
        sums = np.ones((3, m + 1))
        core.add(*tiles, form, V, sums[:, :m])
        np.testing.assert_allclose(sums[:, :m] - 1.0, V.T @ K, rtol=0, atol=bound * (1.0 + np.abs(V).sum()))
        assert (sums[:, m] == 1.0).all()
        below, above = np.zeros(m), np.zeros(n)
        v, w = V[:, 0].copy(), np.random.default_rng(3).normal(size=m)
        core.add_both(*tiles, form, v, w, below, above)
        np.testing.assert_allclose(below, v @ K, rtol=0, atol=bound * (1.0 + np.abs(v).sum()))
        np.testing.assert_allclose(above, K @ w, rtol=0, atol=bound * (1.0 + np.abs(w).sum()))


@every_core
@every_dtype
@pytest.mark.parametrize("name", FORMS)
def test_a_square_is_symmetric_to_the_last_digit_beyond_its_blocks(core, dtype, name):
    form, factor, formula = FORMS[name]
    for n in (1, 50, 250):
        X = points(n, 4)
        out = np.full((n, n + 3), np.nan, dtype)
        core.square(*ready(core, X, X, dtype, factor), form, n, out)
        K = formula(X.astype(dtype).astype(float), X.astype(dtype).astype(float))
        np.testing.assert_allclose(out[:, :n], K, rtol=0, atol=error_bound(K, 4, dtype))
        far = np.abs(np.subtract.outer(np.arange(n) // (2 * PANEL), np.arange(n) // (2 * PANEL))) > 0
        np.testing.assert_array_equal(out[:, :n][far], out[:, :n].T[far])
        assert np.isnan(out[:, n:]).all()


@every_core
@every_dtype
def test_bits_that_differ_are_counted(core, dtype):
    rng = np.random.default_rng(0)
    whole, words = np.dtype(f"u{np.dtype(dtype).itemsize}"), 40
    X, Z = (rng.integers(0, 2**63, (n, words)).astype(np.uint64).astype(whole) for n in (11, 60))
    X[0], Z[0] = 0, np.iinfo(whole).max
    differ = np.bitwise_count(X[:, None] ^ Z).sum(axis=2)

    def in_packs(W, size):
        rows = np.zeros((-(-len(W) // size) * size, words), whole)
        rows[: len(W)] = W
        packs = np.ascontiguousarray(rows.reshape(-1, size, words).transpose(0, 2, 1)).view(dtype)
        return packs, np.zeros(len(rows), dtype)

    out = np.empty((11, 60), dtype)
    form = Form(Summed.COUNTS, Map.EXPONENTIAL, -0.01)
    core.fill(*in_packs(X, GROUP), *in_packs(Z, panel(dtype)), form, np.arange(11), out)
    np.testing.assert_allclose(out, np.exp2(-0.01 * differ), rtol=(4 + 0.01 * differ.max()) * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", FORMS)
@every_dtype
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits(dtype, name):
    form, factor, _ = FORMS[name]
    X, Z, seen = points(43, 13), points(107, 13, 1), set()
    V = np.random.default_rng(2).normal(size=(43, 2))
    for core in FUSED.values():
        tiles = ready(core, X, Z, dtype, factor)
        out, sums, below, above = np.empty((43, 107), dtype), np.zeros((2, 107)), np.zeros(107), np.zeros(43)
        core.fill(*tiles, form, np.arange(43), out)
        core.add(*tiles, form, V, sums)
        core.add_both(*tiles, form, V[:, 0].copy(), sums[1].copy(), below, above)
        seen.add(out.tobytes() + sums.tobytes() + below.tobytes() + above.tobytes())
    assert len(seen) <= 1


@every_core
def test_far_apart_is_zero_and_infinity_stays_what_it_is(core):
    X, Z = np.array([[0.0], [1e10]]), np.array([[0.0], [np.inf], [np.nan]])
    out = np.empty((2, 3))
    form = Form(Summed.DISTANCES, Map.EXPONENTIAL, -1.0)
    with np.errstate(invalid="ignore"):
        core.fill(*ready(core, X, Z, np.float64, 0.0), form, np.arange(2), out)
    assert out[0, 0] == 1.0
    assert (out[1, :2] == 0.0).all()
    assert out[0, 1] == 0.0
    assert np.isnan(out[:, 2]).all()


@every_core
@every_dtype
def test_points_far_from_the_centre_keep_their_digits(core, dtype):
    form, factor, formula = FORMS["gaussian"]
    X = points(30, 3) + np.where(np.arange(30) % 3 == 0, 1000.0, 0.0)[:, None]
    X = X.astype(dtype).astype(float)
    out = np.empty((30, 30), dtype)
    core.fill(*ready(core, X, X, dtype, factor), form, np.arange(30), out)
    np.testing.assert_allclose(out, formula(X, X), rtol=0, atol=40 * np.finfo(dtype).eps)


@every_core
def test_rows_of_sums_are_finished_as_tiles_are(core):
    for name, (form, factor, formula) in FORMS.items():
        X, Z = points(5, 6), points(101, 6, 1)
        tiles = ready(core, X, Z, np.float64, factor)
        sums = np.zeros((7, 101))
        core.fill(*tiles, Form(form.way), np.arange(5) + 1, sums)
        core.finish_rows(form, tiles[1][:5].copy(), tiles[3], np.arange(5) + 1, sums)
        np.testing.assert_allclose(sums[1:6], formula(X, Z), rtol=0, atol=1e-13, err_msg=name)


def test_the_reference_has_every_native_function_and_number():
    if NATIVE:
        from mercer._core import _native, reference

        assert all(getattr(_native, name) == getattr(reference, name) for name in ("GROUP", "PANEL", "SPAN", "CHUNK"))
    for core in CORES.values():
        assert {name for name in FUNCTIONS if not callable(getattr(core, name, None))} == set()
    for core in NATIVE.values():
        assert {name for name in dir(core) if not name.startswith("_")} == set(FUNCTIONS)


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused_and_nothing_is_copied(core):
    A, a, Z, z = ready(core, points(5, 3), points(60, 3), np.float32, 0.0)
    form, slots, V = Form(Summed.PRODUCTS), np.arange(5), np.ones((5, 1))
    out, sums = np.zeros((5, 60), np.float32), np.zeros((1, 60))
    bad = {
        "another type": lambda: core.fill(A, a, Z, z, form, slots, out.astype(np.float64)),
        "mixed types": lambda: core.fill(A.astype(np.float64), a, Z, z, form, slots, out),
        "columns apart": lambda: core.fill(A, a, Z, z, form, slots, np.zeros((5, 120), np.float32)[:, ::2]),
        "fortran order": lambda: core.fill(A, a, Z, z, form, slots, np.asfortranarray(out)),
        "too many columns": lambda: core.fill(A, a, Z, z, form, slots, np.zeros((5, 97), np.float32)),
        "no such slot": lambda: core.fill(A, a, Z, z, form, slots + 1, out),
        "a negative slot": lambda: core.fill(A, a, Z, z, form, slots - 1, out),
        "too many rows": lambda: core.fill(A, a, Z, z, form, np.zeros(9, int), out),
        "other coordinates": lambda: core.fill(A[:, :2].copy(), a, Z, z, form, slots, out),
        "levels missing": lambda: core.fill(A, a[:5].copy(), Z, z, form, slots, out),
        "no such way": lambda: core.fill(A, a, Z, z, (9, 0, 1.0, 0.0, 1), slots, out),
        "no such exponent": lambda: core.fill(A, a, Z, z, (0, 1, 1.0, 0.0, 0), slots, out),
        "float32 sums": lambda: core.add(A, a, Z, z, form, V, sums.astype(np.float32)),
        "strided V": lambda: core.add(A, a, Z, z, form, np.ones((5, 2))[:, :1], sums),
        "read only": lambda: core.add(A, a, Z, z, form, V, np.broadcast_to(0.0, (1, 60))),
        "a square too small": lambda: core.square(A, a, Z, z, form, 5, np.zeros((4, 5), np.float32)),
        "packs swapped": lambda: core.fill(Z, z, A, a, form, slots, out),
    }
    taken = []
    for what, call in bad.items():
        try:
            call()
        except (TypeError, ValueError):
            continue
        taken.append(what)
    assert taken == []
    assert not out.any()
    assert not sums.any()

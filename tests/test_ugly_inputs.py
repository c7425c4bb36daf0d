"""Bad input gets one clear error that says what to do."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array

from mercer.kernels import Chi2, ExpChi2, Gaussian, Intersection, Laplacian, Linear, Matern

good = np.ones((3, 2))
KERNELS = [Linear(), Gaussian(1.0), Laplacian(1.0), Matern(1.5, 1.0), Chi2(), Linear() + 2 * Gaussian(1.0)]


def holed(value):
    X = good.copy()
    X[1, 0] = value
    return X


CASES = {
    "nan": (holed(np.nan), "X contains NaN (row 1, column 0"),
    "infinity": (holed(np.inf), "X contains infinity (row 1, column 0"),
    "minus infinity": (holed(-np.inf), "X contains infinity"),
    "nan, float32": (holed(np.nan).astype(np.float32), "X contains NaN"),
    "nan, sparse": (csr_array(holed(np.nan)), "X contains NaN (row 1, column 0"),
    "no rows": (np.empty((0, 2)), "X is empty"),
    "no columns": (np.empty((3, 0)), "X is empty"),
    "an empty list": ([], "X is empty"),
    "one dimension": (np.ones(3), "reshape(-1, 1)"),
    "three dimensions": (np.ones((2, 2, 2)), "3 dimension(s)"),
    "a number": (3.0, "0 dimension(s)"),
    "text": ([["a", "b"], ["c", "d"]], "X must hold numbers, but it holds text"),
    "missing": (pandas.DataFrame({"a": [1, pandas.NA]}, dtype=object), "fill in missing values"),
    "objects": (np.array([[1, {}], [2, 3]], dtype=object), "X must hold numbers"),
    "None": (None, "X must hold numbers"),
    "ragged rows": ([[1, 2], [3]], "different lengths"),
    "complex": (good + 1j, "Complex data not supported"),
    "masked": (np.ma.masked_equal(holed(5.0), 5.0), "masked"),
}


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("case", CASES)
def test_one_clear_error(kernel, case):
    X, message = CASES[case]
    for call in (lambda: kernel(X), lambda: kernel.diag(X)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call()
        assert message in str(caught.value)
    with pytest.raises(ValueError, match="Z") as caught:
        kernel(good, X) if X is not None else kernel(good, [[None]])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_mismatched_columns(kernel):
    with pytest.raises(ValueError, match="X has 2 columns, but Z has 3"):
        kernel(good, np.ones((3, 3)))


def test_frames_with_other_columns():
    frame = pandas.DataFrame(good, columns=["a", "b"])
    with pytest.raises(ValueError, match="differ in name or order"):
        Linear()(frame, frame[["b", "a"]])


@pytest.mark.parametrize("kernel", [Chi2(), Intersection(), ExpChi2(1.0), 2 * Chi2() + Linear()], ids=repr)
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_negative_histograms(kernel, convert):
    with pytest.raises(ValueError, match=r"needs entries >= 0, but X has -0.5"):
        kernel(convert(holed(-0.5)))
    with pytest.raises(ValueError, match=r"but Z has -0.5"):
        kernel(good, convert(holed(-0.5)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_odd_but_right(kernel):
    """One point, duplicates, constant columns, integers, booleans, half precision, numbers as objects."""
    expected = kernel(good)
    for same in (good.astype(int), good.astype(bool), good.astype(object), good.astype(np.float16), good.astype(">f8")):
        np.testing.assert_allclose(kernel(same), expected)
    assert kernel(good[:1]).shape == (1, 1)
    assert kernel(good, good[:1]).shape == (3, 1)
    assert kernel(good[:, :1]).shape == (3, 3)
    assert kernel(csr_array(np.zeros((3, 2)))).shape == (3, 3)


def test_an_object_that_is_no_set_of_points():
    from mercer.kernels import FromFunction

    kernel = FromFunction(lambda x, z: 1.0)
    with pytest.raises(TypeError, match="must be a list of points, not int"):
        kernel(3)
    with pytest.raises(ValueError, match="X is empty"):
        kernel([])

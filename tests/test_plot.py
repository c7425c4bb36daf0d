"""Pictures are drawn on the axes they are given, and say what is wrong with what they cannot draw."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import mercer
from mercer.kernels import Gaussian, Linear

from .zoo import vectors


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_gram_sorted_by_class(tmp_path):
    X = vectors(30)
    labels = np.array(["cat", "dog", "ant"])[np.arange(30) % 3]
    ax = mercer.plot.gram(Gaussian(1.0)(X), labels=labels, title="t")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["ant", "cat", "dog"]
    order = np.argsort(labels, kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), Gaussian(1.0)(X[order]), rtol=1e-12)
    ax.figure.savefig(tmp_path / "gram.png")
    assert (tmp_path / "gram.png").stat().st_size > 5000


def test_given_axes_and_signs():
    _, ax = plt.subplots()
    assert mercer.plot.gram(Linear()(vectors(9)), ax=ax) is ax
    low, high = ax.images[0].get_clim()
    assert low == -high


def test_errors():
    with pytest.raises(ValueError, match="square"):
        mercer.plot.gram(np.ones((2, 3)))
    with pytest.raises(ValueError, match="One label per point"):
        mercer.plot.gram(np.eye(3), labels=[1, 2])

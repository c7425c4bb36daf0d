"""Checkpoints: they come back as they were; other work, other data and damaged files are refused in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer
from mercer.archives.checkpoint import CheckpointError, identity_of, read, write
from mercer.io import ModelError
from mercer.io.models import dumps

from .test_models import entries, forged, is_one_sentence

CONTENT = {"cells": [{"C": 1.0, "score": np.arange(40.0)}, {"C": float("inf"), "score": None}], "left": np.arange(3)}


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "run.mercer", "search", "of these data", CONTENT)
    return tmp_path / "run.mercer"


def test_what_was_written_comes_back_and_nothing_where_nothing_was(path, tmp_path):
    back = read(path, "search", "of these data")
    assert back["cells"][0]["score"].tolist() == list(range(40))
    assert back["cells"][1] == {"C": float("inf"), "score": None}
    assert back["left"].tolist() == [0, 1, 2]
    assert read(tmp_path / "none.mercer", "search", "of these data") is None
    write(path, "search", "of these data", {"cells": []})
    assert read(path, "search", "of these data") == {"cells": []}
    assert [each.name for each in tmp_path.iterdir()] == ["run.mercer"]


@pytest.mark.parametrize(
    ("kind", "identity", "said"),
    [("fit", "of these data", "checkpoint of a search, not of a fit"), ("search", "of others", "other data")],
)
def test_other_work_and_other_data_are_refused(path, kind, identity, said):
    with pytest.raises(CheckpointError, match=said) as caught:
        read(path, kind, identity)
    assert is_one_sentence(caught.value)


def test_a_checkpoint_is_no_model_and_a_model_no_checkpoint(path, tmp_path):
    with pytest.raises(ModelError, match="is a checkpoint of work that is not finished"):
        mercer.load(path)
    model = mercer.SVC().fit([[0.0], [1.0]], [0, 1])
    (tmp_path / "model.mercer").write_bytes(dumps(model))
    with pytest.raises(ModelError, match=r"is a model, not a checkpoint: mercer\.load reads it"):
        read(tmp_path / "model.mercer", "search", "of these data")


def test_damaged_and_forged_files_are_refused_in_one_sentence(path):
    whole = path.read_bytes()
    damaged = [whole[:size] for size in (0, 10, 200, len(whole) - 1)]
    damaged += [whole[:300] + bytes([whole[300] ^ 1]) + whole[301:], b"text", b"\x80\x04."]
    parts = entries(whole)
    for key, value in (("content", {"code": "x"}), ("kind", 3), ("content", {"array": "none.npy"})):
        damaged.append(forged(parts, lambda manifest, key=key, value=value: manifest.update({key: value})))
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(ModelError) as caught:
            read(path, "search", "of these data")
        assert is_one_sentence(caught.value)


@pytest.mark.parametrize("data", [b"a,b\n1,2\n", b"", b"PK\x03\x04", bytes(range(256)), b"svm_type c_svc"])
def test_whatever_is_no_checkpoint_stays_as_it_is(tmp_path, data):
    (tmp_path / "notes.txt").write_bytes(data)
    search = mercer.Search(mercer.SVC(), {"C": [1.0]}, cv=2, checkpoint=tmp_path / "notes.txt")
    with pytest.raises(ModelError, match="and so no checkpoint to go on from: give checkpoint= another name") as caught:
        search.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert is_one_sentence(caught.value)
    assert (tmp_path / "notes.txt").read_bytes() == data


def test_the_identity_is_that_of_the_values():
    X, y = np.arange(12.0).reshape(4, 3), np.array(["a", "b", "a", "b"])
    rows = sparse.csr_matrix(X)
    frame = pd.DataFrame({"p": [1, 2], "q": ["x", None]})
    values = [
        (X, y, "C=1"), (X + 1e-15, y, "C=1"), (X.astype(np.float32), y, "C=1"), (X, y[::-1], "C=1"), (X, y, "C=2"),
        (X.reshape(3, 4), y, "C=1"), (rows, y, "C=1"), (rows * 2, y, "C=1"), (X.tolist(), y, "C=1"),
        (frame, y, "C=1"), (frame.rename(columns={"p": "r"}), y, "C=1"), (X, y.astype(object), "C=1"),
    ]  # fmt: skip
    assert len({identity_of(*each) for each in values}) == len(values)
    assert identity_of(X, y, "C=1") == identity_of(np.asfortranarray(X), y.copy(), "C=1")
    assert identity_of(rows) == identity_of(rows.tocsc())

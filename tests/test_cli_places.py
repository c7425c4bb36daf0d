"""Nothing of the user's is overwritten: an input never, another file only with --force."""

from __future__ import annotations

import os

import numpy as np
import pytest

from mercer.archives import atomic
from mercer.cli import main
from mercer.cli.places import KINDS

XOR = "x,z,class\n" + "".join(f"{i % 2}.{i},{i // 2 % 2}.{i},{'ab'[(i + i // 2) % 2]}\n" for i in range(12))
POINTS = "1,3:+ 2,1:+ 0,1:-"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """Some files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(XOR)
    (tmp_path / "precious").write_text("a diary")
    assert main(["train", "data.csv", "-o", "model.mercer", "-q"]) == 0
    capsys.readouterr()
    return tmp_path


WRITING = {  # verb: what it is told, the files that it reads, and the ending of what it writes
    "train": (["train", "data.csv", "-q", "-o"], ["data.csv"], ""),
    "predict": (["predict", "model.mercer", "data.csv", "-o"], ["model.mercer", "data.csv"], ""),
    "tune": (["tune", "data.csv", "--cv", "2", "--steps", "1", "-q", "-o"], ["data.csv"], ""),
    "tune, picture": (["tune", "data.csv", "--cv", "2", "--steps", "2", "-q", "--picture"], ["data.csv"], ".png"),
    "gram": (["gram", "data.csv", "--picture"], ["data.csv"], ".png"),
    "plot": (["plot", "data.csv", "-q", "-o"], ["data.csv"], ".png"),
    "plot of a model": (["plot", "model.mercer", "--on", "data.csv", "-o"], ["model.mercer", "data.csv"], ".png"),
    "convert to LIBSVM": (["convert", "model.mercer", "--to", "libsvm", "-o"], ["model.mercer"], ""),
    "convert to JSON": (["convert", "model.mercer", "--to", "json", "-o"], ["model.mercer"], ""),
    "convert to ONNX": (["convert", "model.mercer", "--to", "onnx", "-o"], ["model.mercer"], ""),
    "explain": (["explain", POINTS, "-o"], [], ".md"),
    "explain a table": (["explain", "table.csv", "--format", "text", "-o"], ["table.csv"], ""),
}


@pytest.mark.parametrize("verb", WRITING)
def test_every_verb_that_writes(verb, folder, capsys):
    words, inputs, ending = WRITING[verb]
    (folder / "table.csv").write_text("1,3,1\n2,1,1\n0,1,-1\n")
    for name in inputs:
        before = (folder / name).read_bytes()
        os.symlink(name, f"link{ending}")
        os.link(name, f"hard{ending}")
        for place in (name, f"link{ending}", f"hard{ending}", f"./{name}"):
            if place.endswith(ending):  # pictures have their endings
                assert main([*words, place, "--force"]) == 2
                assert f"would replace {name}" in capsys.readouterr().err
        os.unlink(f"link{ending}")
        os.unlink(f"hard{ending}")
        assert (folder / name).read_bytes() == before
    other = folder / f"other{ending}"
    other.write_text("a diary")
    assert main([*words, other.name]) == 2
    assert "--force" in capsys.readouterr().err and other.read_text() == "a diary"
    assert main([*words, other.name, "--force"]) == 0
    written = other.read_bytes()
    assert written != b"a diary"
    assert main([*words, other.name]) == 0  # of the kind that it writes: replaced as before
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_beside_what_is_written(folder, capsys):
    """The scaling of a LIBSVM model, and the answer of an exercise, are files too."""
    (folder / "m.model.range").write_text("a diary")
    assert main(["convert", "model.mercer", "-o", "m.model"]) == 2
    assert "m.model.range is there already, and is no file of svm-scale" in capsys.readouterr().err
    (folder / "sheet_answer.md").write_text("a diary")
    assert main(["explain", "--exercise", "1", "--answer", "-o", "sheet.md"]) == 2
    assert "sheet_answer.md is there already" in capsys.readouterr().err
    assert not (folder / "m.model").exists() and not (folder / "sheet.md").exists()
    assert main(["tune", "data.csv", "-o", "both.png", "--picture", "both.png"]) == 2
    assert "would replace both.png" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "html", "json"])
def test_worked_solutions_are_known(format, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["explain", POINTS], ["explain", "--exercise", "3", "--kind", "ridge"]):
        for _ in range(2):
            assert main([*words, "--format", format, "-o", "sheet", "-q"]) == 0


@pytest.mark.parametrize("ending", ["png", "pdf", "svg", "eps", "jpg", "tif", "webp"])
def test_pictures_are_known(ending, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = plt.figure()
    figure.savefig(tmp_path / f"a.{ending}")
    plt.close(figure)
    assert KINDS["picture"](tmp_path / f"a.{ending}")


def test_stdin_from_a_file(folder, capsys, monkeypatch):
    before = (folder / "data.csv").read_text()
    with open("data.csv") as table:
        monkeypatch.setattr("sys.stdin", table)
        assert main(["predict", "model.mercer", "-", "-o", "data.csv"]) == 2
    assert "would replace the table on stdin" in capsys.readouterr().err
    assert (folder / "data.csv").read_text() == before


def test_empty_files_and_devices_may_be_written(folder):
    (folder / "empty").touch()
    assert main(["predict", "model.mercer", "data.csv", "-o", "empty", "-q"]) == 0
    assert main(["predict", "model.mercer", "data.csv", "-o", os.devnull, "-q"]) == 0


def test_a_write_that_fails_leaves_the_old_file(folder, monkeypatch, capsys):
    before = (folder / "model.mercer").read_bytes()

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", full)
    assert main(["train", "data.csv", "-o", "model.mercer", "-q"]) == 2
    assert "model.mercer cannot be written: No space left on device" in capsys.readouterr().err
    assert (folder / "model.mercer").read_bytes() == before
    assert {path.name for path in folder.iterdir()} == {"data.csv", "precious", "model.mercer"}


# Tables that lead astray.


def sparse_table(path, **changes):
    n, d = 400, 5
    columns = np.sort(np.random.default_rng(0).permuted(np.tile(np.arange(d), (n, 1)), axis=1)[:, :2], axis=1)
    arrays = {
        "data": np.ones(2 * n), "indices": columns.reshape(-1).astype(np.int32),
        "indptr": np.arange(0, 2 * n + 1, 2, dtype=np.int32), "shape": np.array([n, d]), "format": np.array("csr"),
        "y": np.tile([0, 1], n // 2),
    }  # fmt: skip
    for name, (place, value) in changes.items():
        if place is None:
            arrays[name] = np.asarray(value)
        else:
            arrays[name] = arrays[name].astype(np.result_type(arrays[name], type(value)))
            arrays[name][place] = value
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": (1, 2**31 - 1)}, {"indices": (1, 1000)}, {"indices": (1, 5)}, {"indices": (0, -1)},
        {"indices": (0, -(10**9))}, {"indices": (0, 0.5)}, {"indices": (None, [0])},
        {"indices": (None, [[0, 1]] * 400)}, {"indptr": (5, 10**9)}, {"indptr": (5, -(10**9))}, {"indptr": (0, 1)},
        {"indptr": (-1, 801)}, {"indptr": (1, 3.5)},
        {"indptr": (None, [0, 800])}, {"indptr": (3, 11)}, {"shape": (0, 401)}, {"shape": (0, -1)}, {"shape": (1, 2)},
        {"shape": (1, 2**40)}, {"shape": (None, [400])}, {"shape": (None, [400, 5, 1])}, {"data": (None, ["a"] * 800)},
        {"data": (None, np.ones(800, complex))}, {"data": (None, np.ones(7))}, {"format": (None, "nothing")},
        {"indices": (1, 1000), "format": (None, "csc"), "shape": (None, [5, 400])},
    ],
)  # fmt: skip
def test_sparse_tables_are_what_they_say(changes, tmp_path, capsys):
    sparse_table(tmp_path / "table.npz", **changes)
    assert main(["train", str(tmp_path / "table.npz"), "--model", "linear-svc", "-q"]) == 3
    error = capsys.readouterr().err
    assert "table.npz" in error and error.count("\n") == 1 and "internal" not in error


def test_sparse_tables_in_any_order(tmp_path, capsys):
    """Columns out of order, and entries in pieces, are what they sum up to."""
    from scipy.sparse import csc_matrix, csr_matrix, save_npz

    from mercer.io import read_table

    expected = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 0.0]])
    save_npz(tmp_path / "a.npz", csr_matrix(([1.0, 1.0, 2.0, 2.0], [2, 1, 1, 0], [0, 3, 4]), shape=(2, 3)))
    save_npz(tmp_path / "b.npz", csc_matrix(expected))
    for name in ("a.npz", "b.npz"):
        matrix = read_table(str(tmp_path / name)).matrix
        assert matrix.has_canonical_format
        np.testing.assert_array_equal(matrix.toarray(), expected)

"""Tables are read whatever their form, and what is wrong with them is told by row and column."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from mercer.io import DataError, Encoder, UnseenCategoryWarning, read_table
from mercer.io.read import require_few_nonzeros, table_of
from mercer.io.tables import as_table

ROWS = "4.5,red,1\n-1e3,blue,2\n0.25,red,3\n"


def table(text, **options):
    return table_of(text.encode(), "t.csv", **options)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " "])
def test_delimiters_and_headers_are_seen(mark):
    for head in ("", "size,colour,n\n"):
        found = table((head + ROWS).replace(",", mark))
        assert found.n == 3 and found.named is bool(head)
        assert found.names == (("size", "colour", "n") if head else ("1", "2", "3"))
        np.testing.assert_array_equal(found.column(0), [4.5, -1000, 0.25])
        assert found.column(1).tolist() == ["red", "blue", "red"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1,2\n3,4\n", False),
        ("a,b\n1,2\n", True),
        ("a,b\nx,y\nz,y\n", True),
        ("x,y\nx,z\nz,y\n", False),
        ("a,a\nx,y\nz,y\n", False),
        ("2001,2002\n1,2\n", False),
        ("a,\n1,2\n", True),
        ("red,,x\nblue,3,y\n", False),
        ("# a,b\n1,2\n", True),
        ("# a remark, and more\n#\na,b\n1,2\n", True),
        ("# a remark, and more\n1,2\n", True),
        ("# a remark\n1,2\n", False),
        ("only\n1\n2\n", True),
        ("1\n2\n", False),
    ],
)
def test_headers(text, named):
    assert table(text).named is named
    assert table("a,b\nc,d\n", header=True).named
    assert not table("a,b\n1,2\n", header=False).named


def test_quotes_blank_lines_and_other_endings():
    found = table('"a, b",c\r\n"x ""y""",1\r\n\r\n"two\nlines",2\r\n')
    assert found.names == ("a, b", "c") and found.n == 2
    assert found.column(0).tolist() == ['x "y"', "two\nlines"]
    assert table("\ufeffa,b\n1,2\n").names == ("a", "b")
    assert table_of("a\tb\n1\té\n".encode("utf-16"), "t").column(1).tolist() == ["é"]
    assert table("a,b\r1,x\r2,y\r").column(1).tolist() == ["x", "y"]
    assert table("#\n# a,b\r\n1,2\n").names == ("a", "b")
    assert table("\n\na b\n1   2\n 3 4 \n").matrix.tolist() == [[1, 2], [3, 4]]
    np.testing.assert_array_equal(table('"1","2"\n"3","4"\n').column(1), [2, 4])


def test_decimal_commas():
    found = table("a;b\n1,5;x,1\n-2;y\n,25e1;x,1\n")
    assert found.column(0).tolist() == [1.5, -2, 2.5] and found.column(1).tolist() == ["x,1", "y", "x,1"]


def test_missing_values_are_seen():
    found = table("a,b,c\n1,NA,x\n?,2,\n3,nan,z\n")
    np.testing.assert_array_equal(found.column(0), [1, np.nan, 3])
    np.testing.assert_array_equal(found.column(1), [np.nan, 2, np.nan])
    assert found.column(2).tolist() == ["x", None, "z"]
    assert table("a,b\n1,+\n2,-\n-,\n").column(1).tolist() == ["+", "-", None]


def test_large_numbers_of_rows_are_read_fast():
    text = "a,b\n" + "1.5,-2\n" * 50_000
    assert table(text).matrix.shape == (50_000, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, but the first one has 2"),
        ("a,b\n1,2\n1,x,3\n", "line 3 has 3 cells"),
        ('a,b\n"x,1\n', "line 2 has 1 cell, but the first one has 2; is a quotation mark not closed"),
        ("# remark\na,b\n1\n", "line 3 has 1 cell"),
        ("a,a\n1,2\n", "two columns with the name 'a'"),
        ('{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n', "JSON, HTML or XML"),
        ('[{"a": 1}]', "JSON, HTML or XML"),
        ("\n<!DOCTYPE html>\n<html>", "JSON, HTML or XML"),
        ("1 1:2 3:x\n-1 1:2\n", "line 1, '3:x'"),
        ("1 1:2 1:3\n-1 2:1\n", "indices must grow"),
        ("1 1:2\n-1 1:inf\n", "row 2, feature 1 is not a finite number"),
    ],
)
def test_what_is_no_table(text, message):
    with pytest.raises(DataError, match=message):
        table(text)


def test_cells_that_are_too_long():
    long = "x" * 200_000
    for text in (f"a,b\n{long},1\n", f"# {long}\na,b\n1,2\n{long},1\n", f"{long}\n"):
        with pytest.raises(DataError, match="cannot be read as a table: .*limit"):
            table(text)
    with pytest.raises(DataError, match="cannot be read as a table: .*limit"):
        table(f"a,b\n{long},1\n", delimiter=",")
    wide = ",".join(["1.25"] * 50_000)  # a line is no cell
    assert table(f"{wide}\n{wide}\n").matrix.shape == (2, 50_000)


def test_two_columns_of_one_name():
    with pytest.raises(DataError, match="two columns with the name 'a'"):
        table("a,a\n1,2\n", header=True)
    with pytest.raises(DataError, match="no rows"):
        table("a,b\n", header=True)


def test_what_is_no_text(tmp_path):
    with pytest.raises(DataError, match="not UTF-8 text: see line 2"):
        table_of(b"a,b\n\xff\xfe,2\n", "t")
    with pytest.raises(DataError, match="neither text nor"):
        table_of(b"\x00\x01\x02", "t")
    with pytest.raises(DataError, match="no file"):
        read_table(str(tmp_path / "nothing.csv"))
    with pytest.raises(DataError, match="folder"):
        read_table(str(tmp_path))


def test_svmlight():
    found = table("# a comment\n+1 1:0.5 3:2 # more\n-1 2:1\n")
    assert found.sparse and found.first == 1
    np.testing.assert_array_equal(found.matrix.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    np.testing.assert_array_equal(found.target, [1, -1])
    assert table("1 0:1 2:1\n0 1:1\n").first == 0
    assert table("1 qid:3 1:1\n0 qid:4 1:2\n").matrix.shape == (2, 1)


def test_svmlight_columns_are_those_of_the_training():
    encoder = Encoder().fit(table("1 1:1 3:1\n0 2:1\n"))
    assert encoder.transform(table("1 1:5\n1 1:6\n")).shape == (2, 3)
    with pytest.raises(DataError, match="row 2 has a feature 7, but the model was trained on features up to 3"):
        encoder.transform(table("1 1:5\n1 2:1 7:6\n"))
    with pytest.raises(DataError, match="feature 0"):
        encoder.transform(table("1 0:5\n1 1:6\n"))
    with pytest.raises(DataError, match="trained on sparse data"):
        encoder.transform(table("1,2,3\n"))
    zero = Encoder().fit(table("1 0:1 2:1\n0 1:1\n"))
    np.testing.assert_array_equal(zero.transform(table("1 1:5\n1 2:6\n")).toarray(), [[0, 5, 0], [0, 0, 6]])


def test_too_many_entries():
    class Huge:
        nnz = 2**31

    with pytest.raises(DataError, match="2147483648 non-zero entries, and 2147483647 are the most"):
        require_few_nonzeros("t", Huge())


def test_arrays(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array([1, 0, 1])
    np.savez(tmp_path / "a.npz", X=X, y=y)
    found = read_table(str(tmp_path / "a.npz"))
    np.testing.assert_array_equal(found.matrix, X)
    np.testing.assert_array_equal(found.target, y)
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    assert read_table(str(tmp_path / "a.npy")).matrix.dtype == np.float32
    save_npz(tmp_path / "s.npz", csr_matrix(X))
    assert read_table(str(tmp_path / "s.npz")).sparse
    np.save(tmp_path / "text.npy", np.array([["1", "a"], ["2", "b"]]))
    assert read_table(str(tmp_path / "text.npy")).column(1).tolist() == ["a", "b"]
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(DataError, match="pickled objects, which are never loaded"):
        read_table(str(tmp_path / "objects.npy"))
    np.savez(tmp_path / "b.npz", a=X, b=y)
    with pytest.raises(DataError, match="must hold X and y, but it holds a, b"):
        read_table(str(tmp_path / "b.npz"))
    np.savez(tmp_path / "c.npz", X=X, y=y[:2])
    with pytest.raises(DataError, match="y must have 3 entries"):
        read_table(str(tmp_path / "c.npz"))
    np.save(tmp_path / "d.npy", np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match="3 dimensions"):
        read_table(str(tmp_path / "d.npy"))
    (tmp_path / "e.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:100])
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_table(str(tmp_path / "e.npz"))


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    held = pyarrow.table(
        {
            "a": [1, None, 3],
            "b": ["x", "y", None],
            "c": pyarrow.array(["u", "v", "u"]).dictionary_encode(),
            "d": [True] * 3,
        }
    )
    parquet.write_table(held, tmp_path / "t.parquet")
    found = read_table(str(tmp_path / "t.parquet"))
    assert found.names == ("a", "b", "c", "d") and found.named
    np.testing.assert_array_equal(found.column(0), [1, np.nan, 3])
    assert found.column(1).tolist() == ["x", "y", None] and found.column(2).tolist() == ["u", "v", "u"]
    days = pyarrow.table({"a": pyarrow.array([0, None], pyarrow.date32())})
    parquet.write_table(days, tmp_path / "days.parquet")
    assert read_table(str(tmp_path / "days.parquet")).column(0).tolist() == ["1970-01-01", None]
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        table_of(b"PAR1" + bytes(100), "t")
    feather.write_feather(held, str(tmp_path / "t.feather"))
    again = read_table(str(tmp_path / "t.feather"))
    assert again.names == found.names and again.column(1).tolist() == found.column(1).tolist()
    with pytest.raises(DataError, match="cannot be read as Feather"):
        table_of(b"ARROW1" + bytes(100), "t")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_and_stdin(pack, monkeypatch):
    data = pack(b"a,b\n1,2\n")
    assert table_of(data, "t").names == ("a", "b")
    with pytest.raises(DataError, match="cannot be unpacked"):
        table_of(data[:-8], "t")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_table("-").source == "stdin"


def zipped(**files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


def test_zip_archives():
    """With one table they are that table; anything else in them is named."""
    assert table_of(zipped(**{"t.csv": "a,b\n1,2\n", "__MACOSX/t.csv": "x"}), "t").names == ("a", "b")
    for files, message in [
        ({"xl/workbook.xml": "", "xl/styles.xml": ""}, "workbook of Excel"),
        ({"a.csv": "1", "b.csv": "2"}, "holds 2 files"),
        ({"manifest.json": "{}"}, "model file"),
    ]:
        with pytest.raises(DataError, match=message):
            table_of(zipped(**files), "t")
    with pytest.raises(DataError, match="cannot be unpacked"):
        table_of(zipped(a="1,2\n")[:30], "t")
    inner = zipped(**{"t.csv": "a,b\n1,2\n"})
    with pytest.raises(DataError, match="holds no arrays"):  # unpacked once only, so that it ends
        table_of(zipped(inner=inner), "t")


def test_targets():
    found = table("a,y,b\n1,2,x\n3,4,z\n")
    rest, y, name = found.split(None)
    assert name == "y" and rest.names == ("a", "b") and y.tolist() == [2, 4] and rest.target_place == 1
    assert found.split("b")[2] == found.split("3")[2] == "b"
    assert table("1,2\n3,4\n").split(None)[2] == "2"
    with pytest.raises(DataError, match=r"no column 'c'. It has: 'a', 'y', 'b'"):
        found.split("c")
    with pytest.raises(DataError, match="one column only"):
        table("a\n1\n").split(None)
    assert found.without(["a"]).names == ("y", "b")


# Encoding.


MIXED = "size,colour,same\n1.5,red,7\n2.5,blue,7\n3.5,red,7\n"


def test_categories_and_constants():
    encoder = Encoder().fit(table(MIXED))
    assert encoder.kinds_ == ["number", "category", "constant"]
    assert encoder.get_feature_names_out().tolist() == ["size", "colour=blue", "colour=red"]
    np.testing.assert_array_equal(encoder.transform(table(MIXED)), [[1.5, 0, 1], [2.5, 1, 0], [3.5, 0, 1]])
    # by name, in any order, with other columns around, and without what does not count
    np.testing.assert_array_equal(encoder.transform(table("new,colour,size\n0,blue,9\n")), [[9, 1, 0]])


def test_unseen_categories_are_none_of_the_known():
    encoder = Encoder().fit(table(MIXED))
    with pytest.warns(UnseenCategoryWarning, match="row 2, column 'colour': 'green' was not there in training"):
        out = encoder.transform(table("size,colour\n1,red\n2,green\n"))
    np.testing.assert_array_equal(out, [[1, 0, 1], [2, 0, 0]])


def test_columns_without_names_go_by_place():
    rest, _, _ = table("1,red,0\n2,blue,1\n3,red,0\n").split(None)
    encoder = Encoder().fit(rest)
    np.testing.assert_array_equal(encoder.transform(table("5,blue\n6,red\n")), [[5, 1, 0], [6, 0, 1]])
    np.testing.assert_array_equal(encoder.transform(table("5,blue,1\n6,red,0\n")), [[5, 1, 0], [6, 0, 1]])
    with pytest.raises(DataError, match="has 4 columns, but the model was trained on 2"):
        encoder.transform(table("5,blue,1,2\n6,red,1,3\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n,3\n", "row 2, column 'a' is missing .1 in this column.: give --missing"),
        ("a,b\n1,x\n2,\n", "row 2, column 'b' is missing"),
        ("a,b\n1,\n2,\n", "column 'b' is empty"),
        ("a,b\n1,2\n2,inf\n3,4\n", "row 2, column 'b' is infinite"),
        ("a,b\n1,2\n2,4\noops,4\n", "row 3, column 'a': 'oops' is not a number, but 2 of 3 values are"),
        ("a,b\n1,2\n1,2\n", "every column is constant"),
        ("a,b\n", "has no rows of data, only a header .or is it a row of words.*: at least two are needed"),
        ("a,b\n1,x\n", "has one row of data only: at least two"),
        ("a,b\n" + "".join(f"{i},name{i}\n" for i in range(30)), "'b' is text with 30 different values in 30 rows"),
    ],
)
def test_what_cannot_be_encoded(text, message):
    with pytest.raises(DataError, match=message):
        Encoder().fit(table(text)).transform(table(text))


def test_what_cannot_be_encoded_later():
    encoder = Encoder().fit(table(MIXED))
    for text, message in [
        ("size,colour\nbig,red\n", "row 1, column 'size': 'big' is not a number, and the model was trained on numbers"),
        ("size,colour\n1,red\n,red\n", "row 2, column 'size' is missing"),
        ("size,colour\n1,red\n1,\n", "row 2, column 'colour' is missing"),
        ("size,shade\n1,red\n", "lacks the column 'colour'"),
        ("1 1:2\n", "sparse, but"),
    ]:
        with pytest.raises(DataError, match=message):
            encoder.transform(table(text, known=encoder.names_))
    with pytest.raises(ValueError, match="must be 'error' or 'fill'"):
        Encoder(missing="guess").fit(table(MIXED))


def test_missing_values_filled():
    encoder = Encoder(missing="fill").fit(table("a,b\n1,x\n,\n4,x\n10,y\n"))
    out = encoder.transform(table("a,b\n,x\n5,\n"))
    np.testing.assert_array_equal(out, [[4, 1, 0, 0], [5, 0, 0, 1]])
    encoder = Encoder(missing="fill").fit(table("a,b\n1,x\n4,y\n"))
    np.testing.assert_array_equal(encoder.transform(table("a,b\n5,\n", header=True)), [[5, 0, 0]])


def test_numbers_that_are_categories():
    encoder = Encoder(categorical=("a",)).fit(table("a,b\n1,5\n2,6\n1.0,7\n"))
    assert encoder.categories_ == {"a": ["1", "2"]}
    np.testing.assert_array_equal(encoder.transform(table("a,b\n2,0\n1,0\n")), [[0, 1, 0], [1, 0, 0]])


def test_frames_and_arrays():
    pandas = pytest.importorskip("pandas")
    encoder = Encoder().fit(table(MIXED))
    frame = pandas.DataFrame({"colour": ["blue", "red"], "size": [1, 2]})
    np.testing.assert_array_equal(encoder.transform(frame), [[1, 1, 0], [2, 0, 1]])
    numbers = Encoder().fit(np.array([[1.0, 2], [3, 4]]))
    np.testing.assert_array_equal(numbers.transform([[5, 6]]), [[5, 6]])
    assert as_table(csr_matrix(np.eye(2))).sparse
    objects = np.array([["a", 1.0], ["b", None]], dtype=object)
    assert np.isnan(as_table(objects).column(1)[1])

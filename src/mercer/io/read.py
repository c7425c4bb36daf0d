"""Reading tables: CSV and its relatives, svmlight/LIBSVM, npz, npy, Parquet, Feather; from a file or from stdin ("-").

What a file is, is seen from its content.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..types import Array
from .separated import LOOK, require_distinct, separated
from .tables import DataError, Table, number, table_of_array

_MOST_NONZEROS = 2**31 - 1
_MARKUP = re.compile(r"\s*(?:\{|\[\s*[\[{]|<!doctype|<html|<\?xml)", re.IGNORECASE)
_SVMLIGHT = re.compile(r"[^\s,;:]+(\s+(qid|\d+):[^\s,;:]+)+\s*(#.*)?")


def read_table(
    source: str, *, header: bool | None = None, delimiter: str | None = None, known: Collection[str] = ()
) -> Table:
    """The table in a file, or on stdin where the source is "-".

    header, delimiter: seen from the content where they are not given; a first row with a `known` name is a header.
    """
    name = "stdin" if source == "-" else source
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except IsADirectoryError:
        raise DataError(f"{source} is a folder: give the name of a file.") from None
    except FileNotFoundError:
        raise DataError(f"There is no file {source}.") from None
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror}.") from None
    return table_of(data, name, header=header, delimiter=delimiter, known=known)


def table_of(
    data: bytes, name: str, *, header: bool | None = None, delimiter: str | None = None, known: Collection[str] = ()
) -> Table:
    """The table in the bytes of a file."""
    for magic, unpack in _PACKED.items():
        if data.startswith(magic):
            try:
                data = unpack(data)
            except (
                OSError,
                EOFError,
                ValueError,
                RuntimeError,
                lzma.LZMAError,
                zlib.error,
                zipfile.BadZipFile,
            ) as error:
                raise DataError(f"{name} cannot be unpacked: {str(error).rstrip('.')}.") from None
    if data.startswith((b"PAR1", b"ARROW1")):
        return _require_rows(_arrow(data, name))
    if data.startswith((b"PK\x03\x04", b"\x93NUMPY")):
        return _require_rows(_numpy(data, name))
    text = _decoded(data, name)
    if _looks_like_svmlight(text):
        return _require_rows(_svmlight(data, name))
    try:
        return _require_rows(separated(text, name, header, delimiter, known))
    except csv.Error as error:
        raise DataError(f"{name} cannot be read as a table: {error}.") from None


def _unzipped(data: bytes) -> bytes:
    """The only file of a zip archive; archives of NumPy and model files, which are archives too, stay as they are."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        held = [item for item in archive.namelist() if not item.endswith("/") and not item.startswith("__MACOSX/")]
        if any(item == "manifest.json" or item.endswith(".npy") for item in held):
            return data
        if "xl/workbook.xml" in held:
            raise ValueError("it is a workbook of Excel; save its sheet as CSV")
        if len(held) != 1:
            raise ValueError(f"it holds {len(held)} files, and not one table")
        return archive.read(held[0])


_PACKED = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"PK\x03\x04": _unzipped,
}


def _require_rows(table: Table) -> Table:
    if table.n == 0:
        raise DataError(f"{table.source} has no rows of data.")
    if table.sparse:
        require_few_nonzeros(table.source, table.matrix)
    return table


def require_few_nonzeros(name: str, matrix: Any) -> None:
    """Raise where the entries cannot be counted by the 32-bit integers of sparse matrices."""
    if matrix.nnz > _MOST_NONZEROS:
        raise DataError(
            f"{name} has {matrix.nnz} non-zero entries, and {_MOST_NONZEROS} are the most that can be used: train on a "
            "part of its rows."
        )


def _decoded(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # as Excel writes "Unicode text"
        data = data.decode("utf-16", errors="replace").encode()
    if b"\0" in data[:4096]:
        raise DataError(f"{name} is neither text nor npz, npy, Parquet or Feather.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"{name} is not UTF-8 text: see line {line}. Save it as UTF-8.") from None
    if _MARKUP.match(text):
        raise DataError(f"{name} is JSON, HTML or XML, which is no table: write it as CSV.")
    return text


# svmlight.


def _looks_like_svmlight(text: str) -> bool:
    lines = [line for line in text[:100_000].splitlines()[:LOOK] if line.strip() and not line.startswith("#")]
    return any(_SVMLIGHT.fullmatch(line) for line in lines[:-1] or lines)


def _svmlight(data: bytes, name: str) -> Table:
    """Indices as they are in the file: counted from 1, unless there is a 0."""
    from sklearn.datasets import load_svmlight_file

    try:
        matrix, target = load_svmlight_file(BytesIO(data), zero_based=True)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{name} cannot be read as svmlight: {_bad_line(data) or error}.") from None
    first = 0 if matrix.shape[1] > 0 and matrix[:, [0]].nnz else 1
    matrix = matrix[:, first:]
    if matrix.shape[1] == 0:
        raise DataError(f"{name} has no features: every line is a target alone.")
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right"))
        raise DataError(f"{name}: row {row}, feature {matrix.indices[bad[0]] + first} is not a finite number.")
    return Table(name, matrix.shape[0], matrix=matrix, first=first, target=target)


def _bad_line(data: bytes) -> str | None:
    """The first line that breaks the format, in words."""
    for i, line in enumerate(data.decode(errors="replace").splitlines(), start=1):
        words = line.split("#")[0].split()
        last = -1
        for place, word in enumerate(words):
            index, colon, value = word.partition(":")
            if place == 0 and all(number(part) is not None for part in word.split(",")):
                continue
            if place == 0 or not colon or number(value) is None or not (index.isdigit() or index == "qid"):
                return f"line {i}, {word!r:.40}"
            if index != "qid" and int(index) <= last:
                return f"line {i}, {word!r:.40}: indices must grow"
            last = last if index == "qid" else int(index)
    return None


# Arrays.


def _numpy(data: bytes, name: str) -> Table:
    """An array, or X and y of an archive; pickled objects are refused."""
    try:
        held = np.load(BytesIO(data), allow_pickle=False)
        if isinstance(held, np.ndarray):
            return table_of_array(held, name)
        if "manifest.json" in held.files:
            raise DataError(f"{name} is a model file, not a table.")
        arrays = {key: held[key] for key in held.files}  # of other files, their bytes
        arrays = {key: array for key, array in arrays.items() if isinstance(array, np.ndarray)}
    except DataError:
        raise
    except Exception as error:  # NumPy and zipfile raise what they like
        what = "it holds pickled objects, which are never loaded" if "pickle" in str(error) else str(error)
        raise DataError(f"{name} cannot be read: {what}.") from None
    target = next((arrays[key] for key in ("y", "target", "labels", "y_train") if key in arrays), None)
    if {"data", "indices", "indptr", "shape"} <= set(arrays):
        matrix = _csr(data, arrays, name)
    elif (key := next((key for key in ("X", "x", "data", "X_train") if key in arrays), None)) is not None:
        matrix = arrays[key]
    elif len(arrays) == 1:
        (matrix,) = arrays.values()
    else:
        raise DataError(f"{name} must hold X and y, but it holds {', '.join(sorted(arrays)) or 'no arrays'}.")
    table = table_of_array(matrix, name)
    if target is None:
        return table
    if target.shape != (table.n,):
        raise DataError(
            f"{name}: y must have {table.n} entries, one for each row of X, but its shape is {target.shape}."
        )
    return replace(table, target=target)


def _csr(data: bytes, arrays: dict[str, Array], name: str) -> Any:
    """The sparse matrix by rows, each entry once. Every index is within it, because compiled code trusts them."""
    from scipy.sparse import load_npz

    try:
        for part, kinds in (("data", "biuf"), ("indices", "iu"), ("indptr", "iu"), ("shape", "iu")):
            if arrays[part].dtype.kind not in kinds:
                raise ValueError(f"its {part} hold {arrays[part].dtype}")
        matrix: Any = load_npz(BytesIO(data))
        if max(matrix.shape) > _MOST_NONZEROS:
            raise ValueError(f"it is {matrix.shape[0]} x {matrix.shape[1]}")
        matrix.check_format(full_check=True)
        matrix = matrix.tocsr()
        matrix.sum_duplicates()
        return matrix
    except Exception as error:  # SciPy raises what it likes
        raise DataError(f"{name} cannot be read as a sparse matrix: {str(error).rstrip('.')}.") from None


def _arrow(data: bytes, name: str) -> Table:
    kind = "Parquet" if data.startswith(b"PAR1") else "Feather"
    try:
        import pyarrow
        from pyarrow import feather, parquet
    except ImportError:
        raise DataError(f"{name} is a {kind} file, which needs pyarrow: pip install 'mercer[data]'.") from None
    try:
        held = (parquet if kind == "Parquet" else feather).read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{name} cannot be read as {kind}: {str(error).rstrip('.')}.") from None
    require_distinct(held.column_names, name)
    columns = tuple(_arrow_column(column) for column in held.columns)
    return Table(name, held.num_rows, tuple(held.column_names), named=True, columns=columns)


def _arrow_column(column: Any) -> Array:
    """Numbers as numbers; all else, dates too, as text."""
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return np.array([np.nan if value is None else float(value) for value in column.to_pylist()])
    values = np.empty(len(column), dtype=object)
    values[:] = [None if value is None else str(value) for value in column.to_pylist()]
    return values

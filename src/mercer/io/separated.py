"""Text with separators: CSV, TSV and the like, delimiter and header seen from the first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from io import StringIO

import numpy as np

from ..types import Array
from .tables import MISSING, DataError, Table, number, typed

LOOK = 30  # lines from which delimiter and header are seen
_REMARKS = re.compile(r"(?:[ \t]*#.*(?:\r\n?|\n))+")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")


def separated(
    text: str, name: str, header: bool | None = None, delimiter: str | None = None, known: Collection[str] = ()
) -> Table:
    """The table in a text; whether it has a header, and its delimiter, are found out where they are not told."""
    text = _without_remarks(text, delimiter)
    head = [line for line in text.splitlines()[:LOOK] if line.strip()]
    if not head:
        raise DataError(f"{name} is empty.")
    mark = _delimiter(head) if delimiter is None else delimiter
    first = _cells(head, mark)[0]
    if header is None:
        header = any(cell.strip() in known for cell in first) or _has_header(_cells(head, mark))
    names = tuple(cell.strip() for cell in first) if header else tuple(str(i + 1) for i in range(len(first)))
    require_distinct(names, name)
    lines = text.splitlines(keepends=True)
    skip = next(i for i, line in enumerate(lines) if line.strip()) + 1 if header else 0
    matrix = _all_numbers(lines[skip:], mark, len(names))
    if matrix is not None:
        return Table(name, len(matrix), names, bool(header), matrix=matrix)
    rows = _rows(text, mark, len(names), name)[1 if header else 0 :]
    columns = tuple(typed([row[i] for row in rows]) for i in range(len(names)))
    return Table(name, len(rows), names, bool(header), columns)


def _without_remarks(text: str, delimiter: str | None) -> str:
    """Without the lines at the top that begin with #, in whose place blank ones stand; the last may be the header."""
    found = _REMARKS.match(text)
    if found is None:
        return text
    *blank, last = found[0].splitlines()
    rest = text[found.end() :]
    lines = [line for line in rest.splitlines()[:LOOK] if line.strip()]
    if lines:
        mark = _delimiter(lines) if delimiter is None else delimiter
        rows, (names,) = _cells(lines, mark), _cells([last.lstrip("# \t")], mark)
        if len(names) == len(rows[0]) and _has_header([names, *rows]) and not _has_header(rows):
            return "\n" * len(blank) + last.lstrip("# \t") + "\n" + rest
    return "\n" * (len(blank) + 1) + rest


def _delimiter(lines: list[str]) -> str:
    """The mark that cuts all lines into the same number of pieces, the most pieces first; a comma where none does."""
    best, pieces = ",", 1
    for mark in ("\t", ",", ";", "|", " "):
        try:
            counts = {len(row) for row in _cells(lines, mark)}
        except csv.Error:  # a cell too long: with another mark it may be several
            continue
        if len(counts) == 1 and (count := counts.pop()) > pieces:
            best, pieces = mark, count
    if pieces == 1:  # lines of different lengths: the most frequent mark, so that the error names the line
        found = {mark: lines[0].count(mark) for mark in ("\t", ",", ";", "|", " ")}
        best = max(found, key=lambda mark: found[mark]) if any(found.values()) else ","
    return best


def _cells(lines: list[str], mark: str) -> list[list[str]]:
    """Lines cut into cells; several blanks are one."""
    if mark == " ":
        return [line.split() for line in lines]
    return list(csv.reader(lines, delimiter=mark, skipinitialspace=True))


def _has_header(rows: list[list[str]]) -> bool:
    """No cell of the first row is a number or missing, and below a word there are numbers, or below all other words."""
    first, rest = [cell.strip() for cell in rows[0]], [row for row in rows[1:] if len(row) == len(rows[0])]
    if any(number(cell) is not None or (cell and cell.lower() in MISSING) for cell in first):
        return False
    columns = list(zip(*rest, strict=True)) or [()] * len(first)
    named = [column for name, column in zip(first, columns, strict=True) if name]
    if any(number(cell) is not None for column in named for cell in column):
        return True
    return len(rest) > 1 and all(first) and len(set(first)) == len(first) and all(map(_is_new, first, columns))


def _is_new(cell: str, column: Sequence[str]) -> bool:
    return cell not in column


def require_distinct(names: Sequence[str], source: str) -> None:
    """Raise where two columns have one name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise DataError(f"{source} has two columns with the name {twice[0]!r}: rename one of them.")


def _all_numbers(lines: list[str], mark: str, width: int) -> Array | None:
    """The matrix, where every cell is a number: NumPy reads that many times as fast as Python can."""
    lines = [line for line in lines if line.strip()]
    if not lines:
        return None
    try:
        matrix = np.loadtxt(lines, delimiter=None if mark == " " else mark, comments=None, quotechar='"', ndmin=2)
    except (ValueError, IndexError):
        return None  # text, a missing value or a short line: found, and told, the slow way
    return matrix if matrix.shape[1] == width else None


def _rows(text: str, mark: str, width: int, name: str) -> list[list[str]]:
    """All rows, header included; each must have the same number of cells."""
    if mark == " ":
        numbered = [(i, line.split()) for i, line in enumerate(text.splitlines(), start=1)]
    else:
        reader = csv.reader(StringIO(text, newline=None), delimiter=mark, skipinitialspace=True)
        try:
            numbered = [(reader.line_num, row) for row in reader]
        except csv.Error as error:
            raise DataError(f"{name} cannot be read as a table: line {reader.line_num}, {error}.") from None
    rows = []
    for line, row in numbered:
        if not row or (len(row) == 1 and width > 1 and not row[0].strip()):
            continue
        if len(row) != width:
            cells = f"{len(row)} cell{'s' if len(row) > 1 else ''}"
            quote = "; is a quotation mark not closed?" if any("\n" in cell for cell in row) else "."
            raise DataError(f"{name}: line {line} has {cells}, but the first one has {width}{quote}")
        rows.append([_with_point(cell) for cell in row] if mark == ";" else row)
    return rows


def _with_point(cell: str) -> str:
    """A number with a decimal comma, as it is written where ; separates columns, with a point."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell

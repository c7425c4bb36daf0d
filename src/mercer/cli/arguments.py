"""Arguments that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..memory import parse_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DIGITS = 18
"""Of a whole number; nothing here is counted beyond."""


def number(meaning: str, good: Callable[[float], bool]) -> Callable[[str], float]:
    """A type for argparse: a number, or a fraction such as 1/18, for which `good` holds."""

    def convert(text: str) -> float:
        try:
            top, slash, bottom = text.partition("/")
            value = float(top) / (float(bottom) if slash else 1.0)
        except (ValueError, ZeroDivisionError):
            value = float("nan")
        if not good(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {meaning}")
        return value

    return convert


positive = number("a number greater than 0", lambda value: value > 0)
finite_positive = number("a finite number greater than 0", lambda value: 0 < value < float("inf"))
not_negative = number("a number of at least 0", lambda value: 0 <= value < float("inf"))
part = number("a part between 0 and 1, such as 0.2", lambda value: 0 <= value < 1)


def positive_or_loo(text: str) -> float | str:
    """A type for argparse: a number greater than 0, or the word loo."""
    return text if text == "loo" else finite_positive(text)


def whole(least: int) -> Callable[[str], int]:
    """A type for argparse: a whole number of at least so much."""

    def convert(text: str) -> int:
        if not (text.isdecimal() and len(text) <= _DIGITS and int(text) >= least):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, {least} or more")
        return int(text)

    return convert


def amount(text: str) -> str:
    """A type for argparse: an amount of memory."""
    try:
        parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def add_data(parser: Any, *, target: bool = True) -> None:
    """Where data comes from."""
    parser.add_argument("data", metavar="DATA", help="CSV, TSV, svmlight, npz, npy, Parquet or Feather; - for stdin")
    group = parser.add_argument_group("data")
    if target:
        group.add_argument(
            "--target",
            metavar="COL",
            help="the target, by name or number (default: the one called target, label, class or y, else the last)",
        )
    group.add_argument("--drop", metavar="COL", action="append", default=[], help="leave this column out (repeatable)")
    add_format(group)


def add_format(group: Any) -> None:
    """How a text is to be cut into columns."""
    group.add_argument("--header", choices=("auto", "yes", "no"), default="auto", help="is the first line a header?")
    group.add_argument("--delimiter", metavar="MARK", help="what separates columns (default: seen from the file)")


def add_encoding(parser: Any) -> None:
    """How a table becomes numbers."""
    group = parser.add_argument_group("encoding")
    group.add_argument(
        "--categorical", metavar="COL", action="append", default=[], help="numbers that are categories (repeatable)"
    )
    group.add_argument(
        "--missing", choices=("error", "drop", "fill"), default="error",
        help="missing values: an error, rows left out, or the median (text: a category of its own)",
    )  # fmt: skip
    group.add_argument(
        "--scale", choices=("auto", "standard", "minmax", "none"), default="auto",
        help="auto: standard, but none for sparse data and for kernels on histograms",
    )  # fmt: skip


def add_output(parser: Any, *names: str, help: str, required: bool = False) -> None:
    """Where the result goes, and whether it may replace a file of another kind."""
    parser.add_argument(*names, metavar="FILE", required=required, help=help)
    parser.add_argument("--force", action="store_true", help="replace a file of another kind too")


def add_kernel(group: Any, default: str | None = None) -> None:
    """The kernel as text."""
    group.add_argument(
        "--kernel", metavar="TEXT", default=default, help="such as 'rbf(gamma=scale)', 'poly(degree=3) + linear'"
    )


def add_scoring(group: Any) -> None:
    """Which scores."""
    group.add_argument(
        "--scoring", metavar="NAMES", action="append", default=[],
        help="scikit-learn's scores, such as f1,roc_auc; the first decides (of two classes, the second is positive)",
    )  # fmt: skip


def add_limits(parser: Any) -> None:
    """When to stop."""
    group = parser.add_argument_group("limits")
    group.add_argument("--tol", type=finite_positive, metavar="GAP", help="the relative gap to reach")
    group.add_argument("--time-limit", type=finite_positive, metavar="SECONDS", help="give the best answer by then")
    group.add_argument("--max-iter", type=whole(1), metavar="N", help="rounds of the solver")
    group.add_argument("--memory", type=amount, metavar="AMOUNT", help="such as 500MB")
    group.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of every random choice (default: 0)")


def add_cluster(parser: Any) -> None:
    """Where to train."""
    group = parser.add_argument_group("cluster")
    group.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://host:8786, to train there")
    group.add_argument("--workers", type=whole(1), metavar="N", help="train by so many processes of this machine")

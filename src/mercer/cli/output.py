"""What people and programs see: results on stdout, as text or as JSON; notes on stderr."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text
from sklearn.exceptions import ConvergenceWarning

from ..estimators import ScaleWarning

_WIDE = 200  # characters of a line where nobody looks at a terminal


def console(stderr: bool = False) -> Any:
    """Rich's console: colours on a terminal only, and none where NO_COLOR is set."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _WIDE)


def note(arguments: argparse.Namespace, text: str) -> None:
    """Something to know, on stderr."""
    if not arguments.quiet:
        print(text, file=sys.stderr, flush=True)


def show(arguments: argparse.Namespace, data: dict[str, Any], render: Callable[[Any], None]) -> None:
    """The result: JSON where that was asked for, what `render(console)` prints otherwise."""
    if arguments.json:
        print(json.dumps(plain(data), ensure_ascii=False))
    else:
        render(console())


def pairs(out: Any, rows: dict[str, str]) -> None:
    """Names and values, one to a line."""
    width = max(map(len, rows), default=0)
    for name, value in rows.items():
        lines = str(value).split("\n")
        text = Text.assemble((f"{name:{width}}", "bold"), "  ", lines[0])
        out.print(text, soft_wrap=True)
        for line in lines[1:]:
            out.print(Text(" " * (width + 2) + line), soft_wrap=True)


def brief(text: str) -> str:
    """A text with long decimals rounded, for people."""
    return re.sub(r"\d+\.\d{7,}(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", text)


def in_flags(text: str) -> str:
    """The advice of a status, as it is followed here: by flags, and not by names of Python."""
    text = text.replace("max_epochs", "max_iter")
    return re.sub(r"\b(max_iter|time_limit|tol)\b", lambda found: f"--{found[0].replace('_', '-')}", text)


def plain(value: Any) -> Any:
    """Arrays, NumPy's numbers and infinities as JSON has them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else ("inf" if value > 0 else "-inf")
    return value


@contextmanager
def warnings_as_notes(arguments: argparse.Namespace) -> Iterator[None]:
    """Warnings as notes, each once in a command; what a certificate says anyway is left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            kept = [w for w in caught if not issubclass(w.category, ConvergenceWarning | DeprecationWarning)]
            told = vars(arguments).setdefault("told", set())
            for key, text in dict(map(_key_and_words, (w.message for w in kept))).items():
                if "valid feature names" not in text and key not in told:
                    note(arguments, f"note: {text}")
                told.add(key)


def _key_and_words(message: Any) -> tuple[Any, str]:
    """A warning as people at a terminal need it, and by what it is known as said; that about scales is said once."""
    if not isinstance(message, ScaleWarning):
        return str(message), str(message)
    return ScaleWarning, f"{message.facts} Leave --scale at its default, or take --scale standard or minmax."

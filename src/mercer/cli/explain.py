"""mercer explain: exercises solved step by step, in exact fractions."""

from __future__ import annotations

import argparse
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from ..archives.atomic import write_whole
from ..io import DataError
from ..kernels import kernel as parse
from . import lecture
from .exits import Exit, UsageError
from .options.explain import FORMATS
from .options.lecture import KINDS
from .output import note
from .places import require_place
from .points import new_points, read_points


def run(arguments: argparse.Namespace) -> int:
    """Read the exercise, solve it, write the solution."""
    kind = _format(arguments)
    paths = _paths(arguments)
    for place in paths:
        require_place(arguments, place, "worked solution", arguments.problem)
    sheets = _sheets(arguments)
    if not arguments.output:
        texts = [_text(arguments, kind, sheet) for sheet in sheets]
        together = kind == "json" and len(texts) > 1  # one object, so that it can be read as one
        print('{{"exercise": {}, "answer": {}}}'.format(*texts) if together else "\n".join(texts))
        return Exit.FINE
    for place, sheet in zip(paths.copy(), sheets, strict=True):
        picture = Path(place).with_suffix(".svg") if kind == "markdown" and sheet.picture is not None else None
        if picture is not None:
            require_place(arguments, str(picture), "picture", arguments.problem)
            write_whole(str(picture), sheet.to_svg())
            paths.append(str(picture))
        write_whole(place, _text(arguments, kind, sheet, picture))
    note(arguments, f"written to {' and '.join(paths)}.")
    if arguments.json:
        print(json.dumps({"format": kind, "output": paths}))
    return Exit.FINE


def _text(arguments: argparse.Namespace, kind: str, sheet: Any, picture: Path | None = None) -> str:
    """A sheet in the format that was asked for."""
    if kind == "html":
        return str(sheet.to_html(reveal=arguments.reveal))
    if kind == "markdown":
        return str(sheet.to_markdown(None if picture is None else picture.name))
    return str(getattr(sheet, f"to_{kind}")())


def _paths(arguments: argparse.Namespace) -> list[str]:
    """The files that are written: that of the solution or of the exercise, and that of its answer."""
    if not arguments.output:
        return []
    path = Path(arguments.output)
    answer = arguments.exercise is not None and arguments.answer
    return [arguments.output, *([str(path.with_name(f"{path.stem}_answer{path.suffix}"))] if answer else [])]


def _format(arguments: argparse.Namespace) -> str:
    """The format that was asked for, or that the name of the file tells."""
    if arguments.format:
        if arguments.json and not arguments.output and arguments.format != "json":
            raise UsageError(f"--json and --format {arguments.format} contradict each other: give one of them, or -o.")
        return str(arguments.format)
    if not arguments.output:
        return "json" if arguments.json else "text"
    suffix = Path(arguments.output).suffix.lower()
    found = next((name for name, ending in FORMATS.items() if ending == suffix), None)
    if found is None:
        known = ", ".join(FORMATS.values())
        raise UsageError(f"{arguments.output}: the ending tells the format, {known}; for another one give --format.")
    return found


def _sheets(arguments: argparse.Namespace) -> list[Any]:
    """What is to be written: one sheet, or an exercise and its answer."""
    try:
        explain: Any = import_module("mercer.explain")
    except ImportError as error:
        raise UsageError(f"Worked solutions need SymPy: pip install 'mercer[explain]' ({error}).") from None
    try:
        if arguments.exercise is not None:
            made = explain.exercise(arguments.exercise, arguments.kind)
            return [made.sheet, made.answer] if arguments.answer else [made.sheet]
        if not any(text.strip() for text in arguments.problem):
            raise UsageError("Give points, such as '1,3:+ 2,1:+ 0,1:-', a table, or --exercise SEED.")
        return [_solved(arguments, explain)]
    except (DataError, UsageError):
        raise
    except ImportError as error:
        raise UsageError(str(error)) from None
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error


def _solved(arguments: argparse.Namespace, explain: Any) -> Any:
    first, *more = arguments.problem
    kernel = {} if arguments.kernel is None else {"kernel": parse(arguments.kernel)}
    if arguments.kind in KINDS:
        return lecture.solved(arguments, explain, kernel)
    if arguments.kind == "lagrangian":
        return explain.lagrangian(first, more)
    if re.match(r"(max|min)(imi[sz]e)?\s", first) and not Path(first).exists():
        raise UsageError(f"{first!r:.60} looks like an objective: add --kind lagrangian.")
    if more:
        raise UsageError("Give the points as one text in quotation marks, or one table.")
    if arguments.kind == "kernel-trick":
        points = [point.split(",") for point in first.split()]
        if len(points) != 2 or not kernel:
            raise UsageError("The kernel trick needs two points, such as '1,2 3,4', and --kernel.")
        return explain.kernel_trick(kernel["kernel"], *points)
    if arguments.kind in ("soft", "xor"):
        raise UsageError(f"--kind {arguments.kind} is for --exercise; a soft margin is --C, another one --kernel.")
    X, y = read_points(first, arguments)
    options: dict[str, Any] = {**kernel, "new": new_points(arguments.new)}
    if arguments.kind == "ridge":
        return explain.ridge(X, y, arguments.lam, detail=arguments.detail, **options)
    if arguments.kind == "perceptron":
        told = {"eta": arguments.eta, "all": arguments.all, "detail": arguments.detail}
        return explain.perceptron(X, y, **told, **options)
    return explain.svm(X, y, C=arguments.C, detail=arguments.detail, **options)

"""mercer explain: exercises solved step by step, in exact fractions."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from . import lecture
from .arguments import add_format, add_kernel, add_output, whole

EXAMPLES = """\
  mercer explain "1,3:+ 2,1:+ 0,1:-"                                the hard margin of three points
  mercer explain "0,0:- 0,1:+ 1,0:+ 1,1:-" --kernel "poly(degree=2)" -o xor.html
  mercer explain "1,3:+ 2,1:+ 0,1:-" --new 1,2 --detail short        in seven steps, and a new point
  mercer explain points.csv --C 1 --format latex > sheet.tex        the soft margin; the last column is the label
  mercer explain "1:1 2:3/2 3:2" --kind ridge --lambda 1/2          kernel ridge regression
  mercer explain "1,2 3,4" --kind kernel-trick --kernel "poly(degree=2)"
  mercer explain "max x*y" "x + y = 4" --kind lagrangian
  mercer explain "1,3:+ 2,1:+ 0,1:-" --C 1 --detail duality         the dual derived; also: program, features
  mercer explain "|w1| + 2|w2|" --kind subgradient --at 1,0 --vector 1,1
  mercer explain "w1^2 + 2*w2^2" --kind descent --at 3,1 --rule 1/8 --steps 6 -o path.html
  mercer explain --exercise 7 --answer -o sheet.html                a new exercise; its solution: sheet_answer.html
"""
EXERCISES = ("svm", "perceptron", "ridge", "kernel-trick", "lagrangian", "soft", "xor")
KINDS = (*EXERCISES, *lecture.KINDS)
FORMATS = {"text": ".txt", "markdown": ".md", "latex": ".tex", "html": ".html", "json": ".json"}


def add_arguments(parser: Any) -> None:
    """What explain is told."""
    parser.add_argument("problem", metavar="DATA", nargs="*", help="a table, or points such as '1,3:+ 2,1:+ 0,1:-'")
    parser.add_argument("--kind", choices=KINDS, default="svm", help="default: svm; soft and xor: with --exercise")
    add_kernel(parser)
    parser.add_argument("--C", "-c", dest="C", metavar="X", help="svm: the soft margin (default: the hard one)")
    parser.add_argument("--lambda", dest="lam", metavar="X", default="1", help="ridge (default: 1)")
    parser.add_argument("--eta", metavar="X", default="1", help="perceptron: the step (default: 1)")
    parser.add_argument("--new", metavar="POINT", action="append", help="a point to classify or predict, such as 1,2")
    parser.add_argument("--detail", choices=lecture.DETAILS, default="full",
                        help="svm: short, duality, program, features; ridge: duality; "
                             "perceptron: derivation")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="perceptron: every look of a long run")
    parser.add_argument("--reveal", action="store_true", help="html: sections closed, opened one after the other")
    parser.add_argument("--exercise", type=whole(0), metavar="SEED", help="make a new exercise")
    parser.add_argument("--answer", action="store_true", help="with --exercise: its solution too")
    parser.add_argument("--format", choices=tuple(FORMATS), help="default: by the name of the file, or text")
    add_output(parser, "-o", "--output", help="where it goes (default: stdout)")
    lecture.add_arguments(parser)
    group = parser.add_argument_group("data")
    group.add_argument("--target", metavar="COL", help="the column of labels (default: the last one)")
    add_format(group)


def run(arguments: argparse.Namespace) -> int:
    """Read the exercise, solve it, write the solution."""
    from ..io.atomic import write_whole
    from .exits import Exit
    from .output import note
    from .places import require_place

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
    from .exits import UsageError

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
    from ..io import DataError
    from .exits import UsageError

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
    from ..kernels import kernel as parse
    from .exits import UsageError
    from .points import new_points

    first, *more = arguments.problem
    kernel = {} if arguments.kernel is None else {"kernel": parse(arguments.kernel)}
    if arguments.kind in lecture.KINDS:
        return lecture.solved(arguments, explain, kernel)
    if arguments.kind == "lagrangian":
        return explain.lagrangian(first, more)
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


def read_points(text: str, arguments: argparse.Namespace) -> tuple[list[list[Any]], list[Any]]:
    """Points and targets: written out, or from a table."""
    from .data import read
    from .points import written

    given = written(text)
    if given is not None:
        return given
    arguments.data = text
    table, y, _ = read(arguments).split(arguments.target)
    if table.sparse:
        return table.matrix.toarray().tolist(), y.tolist()
    return [
        list(row) for row in zip(*(table.column(i).tolist() for i in range(len(table.names))), strict=True)
    ], y.tolist()

"""The program: its verbs, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from .. import __version__
from .exits import Exit, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

VERBS = {
    "train": "train a machine on a table and save it",
    "predict": "predictions of a saved machine for a table",
    "evaluate": "how good a saved machine is on a table with its target",
    "tune": "find C and gamma by cross-validation",
    "gram": "is a kernel positive definite on this data? its Gram matrix as a picture",
    "explain": "an exercise solved step by step, in exact fractions",
    "play": "a page in the browser where kernel machines move",
    "plot": "pictures of a machine or of data",
    "inspect": "what is in a model file",
    "convert": "model files to and from other programs",
}
_EXAMPLES = """\
  mercer play                                     a page where machines move: drag a point
  mercer train iris.csv -o iris.mercer            train a machine, print certificate and scores
  mercer predict iris.mercer new.csv > out.csv    predictions
  mercer tune iris.csv --picture grid.png         which C, which gamma?
  mercer explain "1,3:+ 2,1:+ 0,1:-"              the exercise, solved by hand
"""
_CODES = """\
exit codes: 0 fine, 1 internal error, 2 usage, 3 bad data, 4 not converged within the limits (the model is written all
the same), 5 unreadable or unsafe model file, 130 interrupted (train, tune: the best so far is written)"""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse would ask shutil, which loads all that packs and unpacks files."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width() - 2)


@cache
def _width() -> int:
    """The columns of the terminal: what COLUMNS says, what the terminal says, 80."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (AttributeError, ValueError, OSError):
        return 80


class Parser(argparse.ArgumentParser):
    """A parser whose help begins with examples, and whose errors are told like all others."""

    def __init__(self, examples: str = "", **options: object) -> None:
        options.setdefault("formatter_class", Formatter)
        super().__init__(allow_abbrev=False, **options)  # type: ignore[arg-type]
        self.examples = examples

    def format_help(self) -> str:
        """The examples, then the usual."""
        head = f"examples:\n{self.examples.rstrip()}\n\n" if self.examples else ""
        return head + super().format_help()

    def error(self, message: str) -> NoReturn:
        """One sentence; the usage, which is long, is in the help."""
        raise UsageError(f"{message.rstrip('.')}. See {self.prog} --help.")


def parser(chosen: str, alone: bool = False) -> argparse.ArgumentParser:
    """The parser of all verbs, or of the chosen one alone. Only the chosen one knows its arguments."""
    whole = Parser(_EXAMPLES, prog="mercer", description="Kernel methods with certificates.", epilog=_CODES)
    whole.add_argument("--version", action="version", version=f"mercer {__version__}")
    whole.add_argument("--verbose", action="store_true", help="with --version: all that a report of a fault needs")
    verbs = whole.add_subparsers(dest="verb", metavar="VERB", required=True, prog="mercer")
    for name, summary in ((chosen, VERBS[chosen]),) if alone else VERBS.items():
        if name != chosen:
            verbs.add_parser(name, help=summary, description=summary)
            continue
        told = _module(f"options.{name}")
        verb = verbs.add_parser(name, help=summary, description=summary, examples=told.EXAMPLES)
        told.add_arguments(verb)
        common = verb.add_argument_group("output")
        common.add_argument("--json", action="store_true", help="the result as one JSON object on stdout")
        common.add_argument("--quiet", "-q", action="store_true", help="no progress and no notes on stderr")
        verb.set_defaults(usage=verb.format_usage)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; the result is its exit code."""
    _require_streams()
    given = sys.argv[1:] if argv is None else list(argv)
    if given and set(given) == {"--version", "--verbose"}:
        import_module("mercer.report").show()
        return int(Exit.FINE)
    if not given:
        parser("").print_help(sys.stderr)
        return Exit.USAGE
    chosen = next((word for word in given if word in VERBS), "")
    try:
        arguments, unknown = parser(chosen, alone=given[0] == chosen).parse_known_args(given)
        if unknown:
            raise _module("ends").not_understood(unknown[0], arguments)
        code = int(_module(arguments.verb).run(arguments))
        sys.stdout.flush()  # what cannot be written is told here, and not when Python ends
        return code
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    except (Exception, KeyboardInterrupt) as error:
        return int(_module("ends").end(chosen, "--json" in given, error))


def _module(name: str) -> Any:
    """A part of the program that is loaded when it is needed: help and usage errors need few of them."""
    return import_module(f".{name}", __package__)


def _require_streams() -> None:
    """What goes to a closed stdout or stderr is lost; without any stream, print would send the one to the other.

    A character that the encoding of a stream lacks becomes a question mark.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - as long as the program runs
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")

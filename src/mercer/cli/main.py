"""The program: its verbs, and what becomes of errors."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import NoReturn, TextIO

from .. import __version__
from .exits import Exit, UsageError, code_of

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
_LONGEST = 1000
_EXAMPLES = """\
  mercer play                                     a page where machines move: drag a point
  mercer train iris.csv -o iris.mercer            train on the last column, print certificate and scores
  mercer predict iris.mercer new.csv > out.csv    predictions
  mercer tune iris.csv --picture grid.png         which C, which gamma?
  mercer explain "1,3:+ 2,1:+ 0,1:-"              the exercise, solved by hand
"""
_CODES = """\
exit codes: 0 fine, 1 internal error, 2 usage, 3 bad data, 4 not converged within the limits (the model is written all
the same), 5 unreadable or unsafe model file, 130 interrupted (train, tune: the best so far is written)"""


class Parser(argparse.ArgumentParser):
    """A parser whose help begins with examples, and whose errors are told like all others."""

    def __init__(self, examples: str = "", **options: object) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)  # type: ignore[arg-type]
        self.examples = examples

    def format_help(self) -> str:
        """The examples, then the usual."""
        head = f"examples:\n{self.examples.rstrip()}\n\n" if self.examples else ""
        return head + super().format_help()

    def error(self, message: str) -> NoReturn:
        """One sentence; the usage, which is long, is in the help."""
        raise UsageError(f"{message.rstrip('.')}. See {self.prog} --help.")


def parser(chosen: str) -> argparse.ArgumentParser:
    """The parser of all verbs. Only the chosen one is imported, and knows its arguments; nothing heavy is."""
    whole = Parser(_EXAMPLES, prog="mercer", description="Kernel methods with certificates.", epilog=_CODES)
    whole.add_argument("--version", action="version", version=f"mercer {__version__}")
    whole.add_argument("--verbose", action="store_true", help="with --version: all that a report of a fault needs")
    verbs = whole.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        if name != chosen:
            verbs.add_parser(name, help=summary, description=summary)
            continue
        module = import_module(f".{name}", __package__)
        verb = verbs.add_parser(name, help=summary, description=summary, examples=module.EXAMPLES)
        module.add_arguments(verb)
        common = verb.add_argument_group("output")
        common.add_argument("--json", action="store_true", help="the result as one JSON object on stdout")
        common.add_argument("--quiet", "-q", action="store_true", help="no progress and no notes on stderr")
        verb.set_defaults(run=module.run, usage=verb.format_usage)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; the result is its exit code."""
    _require_streams()
    given = sys.argv[1:] if argv is None else list(argv)
    if given and set(given) == {"--version", "--verbose"}:
        from ..report import show

        show()
        return int(Exit.FINE)
    if not given:
        parser("").print_help(sys.stderr)
        return Exit.USAGE
    chosen = next((word for word in given if word in VERBS), "")
    end = partial(_end, chosen, "--json" in given)
    try:
        arguments, unknown = parser(chosen).parse_known_args(given)
        if unknown:
            raise _not_understood(unknown[0], arguments)
        code = int(arguments.run(arguments))
        sys.stdout.flush()  # what cannot be written is told here, and not when Python ends
        return code
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    except KeyboardInterrupt as stop:
        return end(Exit.INTERRUPTED, str(stop) or "interrupted")
    except BrokenPipeError:  # whoever read stdout has gone
        _abandon(sys.stdout)
        return Exit.FINE
    except Exception as error:
        code = code_of(error)
        if code is Exit.INTERNAL:
            if os.environ.get("MERCER_DEBUG"):
                raise
            text = f"internal error: {type(error).__name__}: {error} (MERCER_DEBUG=1 shows where)"
            return end(code, text)
        return end(code, _in_words(error))


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


def _abandon(stream: TextIO) -> None:
    """Nothing more goes there, and what still waits is not tried again when Python ends."""
    with suppress(OSError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _in_words(error: Exception) -> str:
    """The sentence of an error of our own; of one from the system, what it is about and what is wrong."""
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.filename or 'stdout'}: {error.strerror}."
    return str(error)


def _not_understood(word: str, arguments: argparse.Namespace) -> UsageError:
    """The error for an argument that there is not, with the one that may be meant."""
    near = get_close_matches(word, re.findall(r"--[\w-]+", arguments.usage()), 1)
    hint = f"Did you mean {near[0]}?" if near else f"See mercer {arguments.verb} --help."
    return UsageError(f"{word} is not understood. {hint}")


def _end(verb: str, as_json: bool, code: Exit, text: str) -> Exit:
    if len(text) > _LONGEST:  # it quotes an argument of thousands of characters
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    _say(f"mercer {verb}".rstrip() + f": {text}", sys.stderr)
    if as_json:
        _say(json.dumps({"error": text, "exit": int(code)}), sys.stdout)
    return code


def _say(text: str, stream: TextIO) -> None:
    """Print, where that can be done: it may be the very thing that went wrong."""
    try:
        print(text, file=stream, flush=True)
    except OSError:
        _abandon(stream)

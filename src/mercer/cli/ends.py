"""How the program ends where something is wrong: one sentence on stderr, and the exit code."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module

from .exits import Exit, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import TextIO

_LONGEST = 1000


def end(verb: str, as_json: bool, error: BaseException) -> Exit:
    """Say what is wrong, and give the exit code."""
    if isinstance(error, BrokenPipeError):  # whoever read stdout has gone
        _abandon(sys.stdout)
        return Exit.FINE
    code, text = _code_of(error), _in_words(error)
    if code is Exit.INTERNAL:
        if os.environ.get("MERCER_DEBUG"):
            raise error
        text = f"internal error: {type(error).__name__}: {error} (MERCER_DEBUG=1 shows where)"
    if len(text) > _LONGEST:  # it quotes an argument of thousands of characters
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    _say(f"mercer {verb}".rstrip() + f": {text}", sys.stderr)
    if as_json:
        _say(json.dumps({"error": text, "exit": int(code)}), sys.stdout)
    return code


def _code_of(error: BaseException) -> Exit:
    """The usual errors are told without loading what reads files."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    if isinstance(error, UsageError | OSError):
        return Exit.USAGE
    code: Exit = import_module(".faults", __package__).code_of(error)
    return code


def _in_words(error: BaseException) -> str:
    """The sentence of an error of our own; of one from the system, what it is about and what is wrong."""
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.filename or 'stdout'}: {error.strerror}."
    return str(error) or "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def not_understood(word: str, arguments: argparse.Namespace) -> UsageError:
    """The error for an argument that there is not, with the one that may be meant."""
    near = get_close_matches(word, re.findall(r"--[\w-]+", arguments.usage()), 1)
    hint = f"Did you mean {near[0]}?" if near else f"See mercer {arguments.verb} --help."
    return UsageError(f"{word} is not understood. {hint}")


def _say(text: str, stream: TextIO) -> None:
    """Print, where that can be done: it may be the very thing that went wrong."""
    try:
        print(text, file=stream, flush=True)
    except OSError:
        _abandon(stream)


def _abandon(stream: TextIO) -> None:
    """Nothing more goes there, and what still waits is not tried again when Python ends."""
    with suppress(OSError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

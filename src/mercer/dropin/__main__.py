"""`python -m mercer.dropin script.py ...`, or `-m module ...`: run it with the classes patched in."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from . import patch

_USAGE = "usage: python -m mercer.dropin script.py [arguments], or: python -m mercer.dropin -m module [arguments]"


def main() -> None:
    """Run what the command line names, as Python itself would."""
    asked = sys.argv[1:]
    if asked[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return
    if not asked or asked == ["-m"]:
        sys.exit(_USAGE)
    missing = _missing(asked)
    if missing:
        print(f"mercer.dropin: {missing}", file=sys.stderr)
        sys.exit(2)
    patch()
    if asked[0] == "-m":
        sys.argv = asked[1:]
        runpy.run_module(asked[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = asked
        runpy.run_path(asked[0], run_name="__main__")


def _missing(asked: list[str]) -> str:
    """A sentence, where there is nothing of that name to run."""
    if asked[0] != "-m":
        return "" if Path(asked[0]).exists() else f"there is no file {asked[0]}."
    try:
        return "" if find_spec(asked[1]) else f"there is no module {asked[1]}."
    except ModuleNotFoundError as error:  # of the package that it is said to be in
        return f"there is no module {error.name}."


if __name__ == "__main__":
    main()

"""`python -m mercer.dropin script.py ...`, or `-m module ...`: run it with the classes patched in."""

import runpy
import sys

from . import patch


def main() -> None:
    """Run what the command line names, as Python itself would."""
    asked = sys.argv[1:]
    if not asked or asked[0] in ("-h", "--help") or asked == ["-m"]:
        sys.exit(
            "usage: python -m mercer.dropin script.py [arguments], or: python -m mercer.dropin -m module [arguments]"
        )
    patch()
    if asked[0] == "-m":
        sys.argv = asked[1:]
        runpy.run_module(asked[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = asked
        runpy.run_path(asked[0], run_name="__main__")


if __name__ == "__main__":
    main()

"""What explain is told."""

from __future__ import annotations

from ..arguments import add_format, add_kernel, add_output, whole
from . import lecture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    group.add_argument(
        "--target",
        metavar="COL",
        help="the column of labels (default: the one called target, label, class or y, else the last)",
    )
    add_format(group)

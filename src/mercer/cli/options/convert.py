"""What convert is told."""

from __future__ import annotations

from ..arguments import add_output, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer convert iris.mercer -o iris.onnx                  for any ONNX runtime
  mercer convert iris.mercer --to libsvm -o iris.model     for svm-predict (and svm-scale)
  mercer convert iris.mercer --to json                     everything as text, on stdout
  mercer convert libsvm.model -o model.mercer              from a model file of LIBSVM
"""


def add_arguments(parser: Any) -> None:
    """What convert is told."""
    parser.add_argument("model", metavar="MODEL", help="a model file of Mercer or of LIBSVM")
    parser.add_argument(
        "--to", choices=("mercer", "libsvm", "onnx", "json"), help="default: by the name of the file that is written"
    )
    add_output(parser, "-o", "--output", help="where it goes (json: stdout by default)")
    parser.add_argument("--features", type=whole(1), metavar="N", help="columns of a LIBSVM model: it does not say")

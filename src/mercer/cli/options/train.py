"""What train is told."""

from __future__ import annotations

from ..arguments import add_cluster, add_data, add_encoding, add_limits, add_output, add_scoring, part, whole
from .machine import add_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMPLES = """\
  mercer train iris.csv -o iris.mercer                     the last column is the target; a fifth is held out
  mercer train houses.csv --target price --model svr       regression
  mercer train a9a.svm -t 2 -g 0.05 -c 8 -v 5              svmlight data and LIBSVM's flags
  mercer train credit.csv --cv 5 --scoring f1,roc_auc      other scores, by scikit-learn's names
  mercer train wine.csv --kernel "poly(degree=3)" --cv 5   another kernel; scores by cross-validation
  mercer train big/*.parquet --cluster tcp://host:8786     on a Dask cluster, whose workers read the files
"""


def add_arguments(parser: Any) -> None:
    """What train is told."""
    add_data(parser)
    parser.add_argument(
        "more", metavar="MORE", nargs="*", default=[], help="more files with the same columns, for a cluster"
    )
    add_output(parser, "-o", "--output", help="where the model goes (default: nowhere)")
    add_machine(parser)
    add_encoding(parser)
    group = parser.add_argument_group("scores")
    group.add_argument("--test-size", type=part, metavar="PART", help="the part to hold out (default: 0.2; 0: none)")
    group.add_argument(
        "--cv", "-v", type=whole(2), metavar="K", dest="cv", help="K-fold cross-validation, all rows trained on"
    )
    add_scoring(group)
    add_limits(parser)
    add_cluster(parser)

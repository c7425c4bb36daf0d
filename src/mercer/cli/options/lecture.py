"""What explain is told of single kinds."""

from __future__ import annotations

from ..arguments import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("duality", "subgradient", "descent", "hinge", "stochastic", "gram", "rkhs", "maps", "pca", "smo", "rbf",
         "neighbours", "shrinkage")  # fmt: skip
DETAILS = ("full", "short", "duality", "program", "features", "derivation")


def add_arguments(parser: Any) -> None:
    """What these kinds are told."""
    group = parser.add_argument_group("of single kinds")
    group.add_argument("--at", metavar="POINT", help="subgradient, descent, rkhs, neighbours: the point, or the start")
    group.add_argument("--vector", metavar="POINT", help="subgradient: is it one? gram: the weights c")
    group.add_argument("--steps", type=whole(1), metavar="N", help="descent, stochastic, smo: how many")
    group.add_argument("--rule", metavar="ETA", help="descent, stochastic: the step, such as '1/(t+1)'")
    group.add_argument("--order", choices=("epochs", "random"), default="epochs", help="stochastic (default: epochs)")
    group.add_argument(
        "--average-from", type=whole(1), default=1, metavar="T", help="stochastic: the mean (default: 1)"
    )
    group.add_argument("--seed", type=whole(0), default=0, metavar="N", help="stochastic: the order (default: 0)")
    group.add_argument("--w", metavar="POINT", help="hinge: the machine's w, such as 1,1/2")
    group.add_argument("--b", metavar="X", default="0", help="hinge: the machine's b (default: 0)")

"""mercer gram: is a kernel positive definite on this data? Its Gram matrix as a picture."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_data, add_encoding, add_kernel, add_output, amount, whole

EXAMPLES = """\
  mercer gram iris.csv --kernel "rbf(gamma=scale)"             evidence: symmetry, eigenvalues, closure rules
  mercer gram iris.csv --target species --picture gram.png     and a heat map, sorted by class
  mercer gram K.npy --kernel precomputed                       of a matrix of values
"""


def add_arguments(parser: Any) -> None:
    """What gram is told."""
    add_data(parser)
    add_kernel(parser, "rbf(gamma=scale)")
    add_output(parser, "--picture", "-o", help="write a heat map (png, pdf, svg)")
    parser.add_argument(
        "--points", type=whole(1), metavar="N", default=1000, help="draw so many at most (default: 1000)"
    )
    parser.add_argument("--memory", type=amount, metavar="AMOUNT", default="2GB", help="such as 500MB")
    add_encoding(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, encode, look at the kernel, draw."""
    import numpy as np

    from ..gram import evidence
    from ..kernels import Precomputed
    from ..kernels import kernel as parse
    from .exits import Exit, blaming
    from .output import note, show
    from .pictures import require_picture

    if arguments.picture:
        require_picture(arguments, arguments.picture, [arguments.data])  # said before anything is computed
    kernel: Any = parse(arguments.kernel)
    if isinstance(kernel, Precomputed):
        X, labels = _matrix(arguments), None
    else:
        X, labels = _points(arguments, kernel)
    with blaming(arguments.data):
        found = evidence(X) if isinstance(kernel, Precomputed) else evidence(kernel, X, memory=arguments.memory)
        kernel = kernel if isinstance(kernel, Precomputed) else kernel.resolve(X)
    names = (
        "kernel", "n", "asymmetry", "worst_pair", "smallest_eigenvalue", "largest_eigenvalue", "rounding",
        "witness_value", "witness", "method", "proof", "symmetric", "positive_definite",
    )  # fmt: skip
    data = {name: getattr(found, name) for name in names}
    if arguments.picture:
        n = X.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, arguments.points)).astype(int))
        if rows.size < n:
            note(arguments, f"note: {rows.size} of {n} points are drawn; --points draws more.")
        K = X[np.ix_(rows, rows)] if isinstance(kernel, Precomputed) else kernel(X[rows])
        _draw(K, None if labels is None else labels[rows], arguments.picture, data["kernel"])
        data["picture"] = arguments.picture
    show(arguments, data, lambda out: _render(out, found, arguments.picture))
    return Exit.FINE


def _points(arguments: argparse.Namespace, kernel: Any) -> tuple[Any, Any]:
    """The points, encoded and scaled as for training, and labels to sort them by."""
    from dataclasses import replace

    from .data import no_target, read
    from .fitting import prepared

    table = read(arguments)
    if no_target(arguments, table):
        table, labels = replace(table, target=None), None
    else:
        table, labels, _ = table.split(arguments.target)
        labels = labels.astype(str) if labels.dtype == object else labels
    return prepared(arguments, table, kernel), labels


def _matrix(arguments: argparse.Namespace) -> Any:
    """The matrix of values that the table is."""
    import numpy as np

    from ..io import DataError
    from .data import finite_numbers, read

    table = read(arguments)
    if table.sparse:
        raise DataError(f"{table.source} is sparse: a matrix of kernel values is expected.")
    K = np.column_stack([finite_numbers(table, place) for place in range(len(table.names))])
    if K.shape[0] != K.shape[1]:
        raise DataError(f"{table.source} is {K.shape[0]} x {K.shape[1]}: a matrix of kernel values is square.")
    return K


def _draw(K: Any, labels: Any, path: str, title: str) -> None:
    from .output import brief
    from .pictures import canvas

    with canvas(path) as plot:
        plot.gram(K, labels=labels, title=brief(title))


def _render(out: Any, found: Any, picture: str | None) -> None:
    from .output import brief

    out.print(brief(str(found)), soft_wrap=True, markup=False)
    if picture:
        out.print(f"drawn in {picture}", soft_wrap=True, markup=False)

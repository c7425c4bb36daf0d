"""Makes the worked solutions in this folder: `python examples/worked/make.py`."""

from collections.abc import Callable
from pathlib import Path

from mercer import explain

HERE = Path(__file__).parent
XOR, XOR_LABELS = [[1, 1], [-1, -1], [-1, 1], [1, -1]], [-1, -1, 1, 1]
EXAMPLES: dict[str, Callable[[], explain.Solution]] = {
    "svm_three_points": lambda: explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1]),
    "svm_xor": lambda: explain.svm(XOR, XOR_LABELS, kernel="poly"),
    "perceptron_xor": lambda: explain.perceptron(XOR, XOR_LABELS, kernel="poly"),
    "ridge_line": lambda: explain.ridge([[0, 1], [1, 1], [2, 1]], [1, 2, 2], 1),
}
FORMATS = (".html", ".tex", ".md", ".txt")


def main() -> None:
    """Write every example in every format."""
    for name, solve in EXAMPLES.items():
        solution = solve()
        for suffix in FORMATS:
            print(solution.save(HERE / f"{name}{suffix}").name)


if __name__ == "__main__":
    main()

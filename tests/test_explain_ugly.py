"""What makes no sense ends in one sentence of ours, whichever argument of a worked solution it is."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import explain
from mercer.cli import main

THREE = {"X": [[1, 3], [2, 1], [0, 1]], "y": [1, 1, -1]}
GOOD = {
    "svm": {**THREE, "C": 1, "kernel": "linear", "new": [1, 2], "detail": "short"},
    "perceptron": {**THREE, "kernel": "linear", "eta": 1, "new": [1, 2], "detail": "full"},
    "ridge": {"X": [[1], [2]], "t": [1, 2], "lam": 1, "kernel": "linear", "new": 1, "detail": "full"},
    "kernel_trick": {"kernel": "poly", "x": 1, "z": 2, "terms": 3},
    "lagrangian": {"objective_": "min x^2", "constraints": ["x >= 1"], "sense": None},
    "duality": {"objective_": "min x^2", "constraints": ["x >= 1"], "sense": None},
    "subgradient": {"f": "abs(w)", "at": 0, "v": 1},
    "descent": {"f": "abs(w)", "start": 1, "steps": 1, "rule": "1/4"},
    "hinge": {**THREE, "C": 1, "w": [1, 0], "b": 0},
    "stochastic": {**THREE, "C": 1, "steps": 1, "rule": "1/4", "order": "epochs", "average_from": 1, "seed": 0},
    "gram": {"X": [[1], [2]], "kernel": "linear", "c": [1, 1]},
    "rkhs": {"f": [(1, 1)], "g": [(2, 3)], "kernel": "linear", "at": 5},
    "pca": {"X": [[0], [1]], "kernel": "linear"},
    "smo": {**THREE, "C": 1, "kernel": "linear", "steps": 1},
    "shrinkage": {"X": [[1], [2]], "t": [1, 2], "lams": [1]},
    "neighbours": {"X": [0, 1], "y": [1, -1], "at": "1/4", "gammas": [1]},
    "rbf": {"terms": 1},
    "exercise": {"seed": 0, "kind": "svm"},
}
DEEP: list = [1]
for _ in range(3000):
    DEEP = [DEEP]
UGLY = {
    "nan": float("nan"), "infinite": -float("inf"), "nested": [[[1]]], "deep": DEEP, "huge": 10**400,
    "endless": 10**6000, "power": "9**9**9", "digits": "9" * 5000, "code": "__import__('os').getcwd()",
    "parentheses": "(" * 3000 + "x" + ")" * 3000, "array": np.zeros((2, 2, 2)), "none of it": object(), "map": {},
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in explain.__all__ if name.islower() and name != "from_json"])
def test_one_sentence(name):
    refused = 0
    for given in UGLY.values():
        for argument in GOOD.get(name, ["of maps"]):
            try:
                if name == "maps":
                    explain.maps("x", given)
                else:
                    getattr(explain, name)(**{**GOOD[name], argument: given})
            except (ValueError, TypeError) as error:
                text = str(error)
                refused += 1
                assert len(text) < 450, text
                assert text.endswith(".") or "cannot be read" in text, text  # a kernel shows where, on lines of its own
                assert "\n" not in text or "cannot be read" in text, text
    assert refused >= len(UGLY) - 1


def test_one_sentence_for_a_file_that_is_none():
    for given in (*UGLY.values(), "[" * 100_000, "{}", ""):
        with pytest.raises(ValueError, match=r"no worked solution.*\.$"):
            explain.from_json(given)


@pytest.mark.parametrize("given", ["(" * 3000, "9" * 6000, "-" * 3000, "9**9**9", "x.real"])
@pytest.mark.parametrize("arguments", [["--steps"], ["--kind", "descent", "--at=1", "--rule"], ["--seed"]])
def test_one_sentence_on_the_command_line(given, arguments, capsys):
    for words in ([given], ["1:+ 2:-", *arguments[:-1], f"{arguments[-1]}={given}"]):
        assert main(["explain", *words]) != 0
        said = capsys.readouterr().err
        assert said.startswith("mercer explain: ") and said.count("\n") == 1 and len(said) < 1100

"""Whatever is changed in a worked solution, one leaf at a time, in memory or in its file, is noticed."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction

import pytest

from mercer import explain
from mercer.explain import check
from mercer.explain.render import json as json_format
from mercer.kernels import Kernel

XOR, XOR_LABELS = [[1, 1], [-1, -1], [-1, 1], [1, -1]], [-1, -1, 1, 1]
SOLUTIONS = {
    "hard margin": lambda: explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1], new=[1, 2]),
    "interval of b": lambda: explain.svm([[0], [4]], ["no", "yes"], C="1/100"),
    "kernel, ties": lambda: explain.svm([[1], [-1], [1]], [1, -1, 1], kernel="poly"),
    "inseparable": lambda: explain.svm([[0], [1], [2]], [1, -1, 1]),
    "perceptron": lambda: explain.perceptron([[1, 3], [2, 1], [0, -1]], [1, 1, -1], eta="1/2"),
    "kernel perceptron": lambda: explain.perceptron([[1], [-1], [2]], [-1, 1, 1], kernel="poly", new=3),
    "ridge": lambda: explain.ridge([[1], [2]], [1, "1/2"], "1/2", "poly", new=[0]),
    "kernel trick": lambda: explain.kernel_trick("poly", [1], [2]),
    "Gaussian series": lambda: explain.kernel_trick("rbf(gamma=0.5)", 1, "1/2", terms=3),
    "lagrangian": lambda: explain.lagrangian("max x*y", ["x + y = 4"]),
    "sheet": lambda: explain.exercise(3).sheet,
    "dual in full": lambda: explain.svm([[0], [2]], [-1, 1], C="1/4", detail="duality"),
    "program": lambda: explain.svm([[0], [2]], [-1, 1], C="1/4", detail="program"),
    "machine on features": lambda: explain.svm([[1], [-1]], [1, -1], kernel="poly", detail="features"),
    "ridge in full": lambda: explain.ridge([[1], [2]], [1, "1/2"], "1/2", detail="duality"),
    "perceptron derived": lambda: explain.perceptron([[1, 2], [-1, 1]], [1, -1], detail="derivation"),
    "perceptron in features": lambda: explain.perceptron([[1], [-1]], [1, -1], kernel="poly", detail="derivation"),
    "duality": lambda: explain.duality("min x^2", ["x >= 1"]),
    "subgradient": lambda: explain.subgradient("max(w, w^2)", 1, "3/2"),
    "subgradient in the plane": lambda: explain.subgradient("abs(u) + 2*abs(v)", [1, 0], [2, 0]),
    "descent": lambda: explain.descent("abs(u) + 2*abs(v)", [1, 0], 2, "1/(t + 1)"),
    "hinge": lambda: explain.hinge([[0], [2]], [-1, 1], "1/2", 1, -1),
    "stochastic": lambda: explain.stochastic([[0], [2]], [-1, 1], "1/2", 3),
    "Gram matrix": lambda: explain.gram([[1], [-1]], "poly"),
    "witness": lambda: explain.gram([[0, 1], [1, 0]], "precomputed"),
    "functions": lambda: explain.rkhs([(1, 1), (2, 3)], [(-1, 2)], at=5),
    "maps": lambda: explain.maps("sqrt(2)*x", ["x", "-x"]),
    "kernel PCA": lambda: explain.pca([[0], [1], [3]]),
    "pair steps": lambda: explain.smo([[1, 3], [2, 1], [0, 1]], [1, 1, -1], C="1/4"),
    "shrinkage": lambda: explain.shrinkage([[1, 0], [1, 1]], [1, 2], [1, 4]),
    "neighbours": lambda: explain.neighbours([0, 1], [1, -1], "1/4", [1, 4]),
    "series with sigma": lambda: explain.rbf(3),
    "Gaussian": lambda: explain.perceptron([[0], [1]], [1, -1], kernel="rbf(gamma=1)", eta="1/2"),
}
UNNOTICED: dict[str, set[str]] = {}
"""Of each solution, the leaves that may be changed without notice: none."""
OPPOSITES = {
    "accepted": "rejected",
    "rejected": "accepted",
    "support vector": "no influence",
    "no influence": "support vector",
    "positive semidefinite": "positive definite",
    "converged": "cycles",
    "many solutions": "no solution",
    "maximum": "minimum",
    "minimum": "maximum",
    "yes": "no",
    "no": "yes",
}


def changed(leaf) -> Iterator:
    """The leaf made wrong: a number by 7 and by its sign, a word by its opposite, a text by a letter."""
    if isinstance(leaf, bool):
        yield not leaf
    elif isinstance(leaf, int | Fraction):
        yield leaf + 7
        if leaf:
            yield -leaf
    elif isinstance(leaf, Enum):
        yield next(other for other in type(leaf) if other is not leaf)
    elif isinstance(leaf, str) and re.fullmatch(r"-?\d+(/\d+)?", leaf):
        yield from (str(number) for number in changed(Fraction(leaf)))
    elif isinstance(leaf, str):
        opposite = next((word for word in OPPOSITES if word in leaf), None)
        yield leaf.replace(opposite, OPPOSITES[opposite]) if opposite else f"{leaf}x"
        signs = {"=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "<=!": ">=!", ">=!": "<=!", "=!": ">=!"}
        if leaf in signs:
            yield signs[leaf]
    elif leaf is not None:
        yield leaf + 7  # SymPy's


def in_memory(node, path: str = "") -> Iterator[tuple[str, object]]:
    """Every solution with one leaf of it changed, and where."""
    if dataclasses.is_dataclass(node) and not isinstance(node, Kernel):
        for entry in dataclasses.fields(node):
            for where, wrong in in_memory(getattr(node, entry.name), f"{path}.{entry.name}"):
                yield where, dataclasses.replace(node, **{entry.name: wrong})
    elif isinstance(node, tuple):
        for place, part in enumerate(node):
            for where, wrong in in_memory(part, f"{path}[{place}]"):
                yield where, (*node[:place], wrong, *node[place + 1 :])
    elif isinstance(node, Mapping):
        for key, part in node.items():
            for where, wrong in in_memory(part, f"{path}[{key}]"):
                yield where, {**node, key: wrong}
    elif isinstance(node, Kernel):
        yield path, 7 * node
    else:
        for wrong in changed(node):
            yield path, wrong


def in_file(node, path: str = "") -> Iterator[tuple[str, object]]:
    """The same for the tree of a file; what is unchanged is shared."""
    parts = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, part in parts:
        for where, wrong in in_file(part, f"{path}[{key}]"):
            copy = dict(node) if isinstance(node, dict) else list(node)
            copy[key] = wrong
            yield where, copy
    if not isinstance(node, dict | list):
        for wrong in changed(node):
            yield path, wrong


@pytest.fixture(scope="module", params=list(SOLUTIONS))
def named(request):
    return request.param, SOLUTIONS[request.param]()


def test_every_leaf_in_memory(named):
    name, solution = named
    assert solution.check()
    derived, _ = check._derived(solution.problem)
    assert derived is not solution and derived == solution
    leaves, missed = set(), set()
    for path, wrong in in_memory(derived):  # what is the same object need not be compared leaf by leaf
        leaves.add(path)
        if wrong.check():
            missed.add(path)
    assert missed == UNNOTICED.get(name, set())
    assert len(leaves) > 80


@pytest.fixture
def remembered(monkeypatch):
    """Reading a file part by part, where parts that have been read before are not read again: each change is small."""
    plain, known = json_format._decode, {}

    def decode(tree):
        if not isinstance(tree, dict | list):
            return plain(tree)
        if id(tree) not in known:
            known[id(tree)] = tree, plain(tree)
        return known[id(tree)][1]

    monkeypatch.setattr(json_format, "_decode", decode)
    return decode


def test_every_leaf_in_a_file(named, remembered, monkeypatch):
    name, solution = named
    tree = json.loads(solution.to_json())
    assert tree.pop("format")
    whole, plain = remembered(tree), check._derived
    derived, known = plain(solution.problem)
    assert whole == derived, "so that what is the same object need not be compared leaf by leaf"
    monkeypatch.setattr(check, "_derived", lambda p: (whole, known) if p == solution.problem else plain(p))
    missed = set()
    for path, wrong in in_file(tree):
        try:
            if remembered(wrong).check():
                missed.add(path)
        except ValueError:
            continue  # it cannot even be read
    assert missed == UNNOTICED.get(name, set())


def test_a_solution_that_is_falsified_consistently_is_caught():
    solution = explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1])
    other = explain.svm([[1, 3], [2, 1], [0, 2]], [1, 1, -1])
    forged = dataclasses.replace(other, problem=solution.problem)
    report = forged.check()
    assert not report and len(report.failures) > 10
    assert {"its answer", "its picture"} <= set(report.elsewhere)
    moved = solution.to_json().replace('"1/4"', '"1/3"')
    assert not explain.from_json(moved).check()
    bare = json.loads(solution.to_json())
    del bare["problem"]
    with pytest.raises(ValueError, match="holds no data"):
        explain.from_json(json.dumps(bare))


def test_a_mistake_in_the_derivation_itself_is_caught(monkeypatch):
    """The relations are evaluated by what the letters stand for, not by what the derivation put there."""
    from mercer.explain import svm_answer, svm_dual

    check._derived.cache_clear()
    right = svm_dual.quadratic_form
    monkeypatch.setattr(svm_dual, "quadratic_form", lambda Q, symbols: right(Q, symbols) + symbols[0] ** 2)
    monkeypatch.setattr(svm_answer, "root_of", lambda square: svm_dual.Number(square))
    wrong = explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1])
    report = wrong.check()
    check._derived.cache_clear()
    assert len(report.failures) == 3, "the dual, the dual with one multiplier less, the margin"

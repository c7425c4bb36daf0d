"""What the architecture promises: imports go one way, names are there once, files and functions are short.

Each list of exceptions may only shrink: whoever mends one takes it out.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from collections import defaultdict
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

import mercer
from mercer import cli, solvers
from mercer.cli.main import VERBS
from mercer.cli.options.machine import MACHINES
from mercer.io import consistent, registry
from mercer.solvers import Solver

from .estimators import ESTIMATORS
from .sources import PACKAGE, circles, literals, sources
from .zoo import RIDGE_SOLVERS, SOLVERS, SOME_PROBLEMS

LAYERS = (
    "types ties memory amounts shown colours limits arithmetic",
    "params hints parallel _core",
    "parse",
    "kernels",
    "columns archives",
    "gram function",
    "losses inseparable solution",
    "progress",
    "examination",
    "problem",
    "shards costs",
    "solvers",
    "rounds",
    "driver",
    "features online",
    "estimators",
    "dropin distributed io report",
    "search",
    "plot",
    "explain",
    "play",
    "cli",
    "__main__",
)
"""What stands higher knows nothing of what stands below."""
ORDER = {name: place for place, line in enumerate(LAYERS) for name in line.split()}
NUMERICAL = ("columns", "gram", "shards", "solvers", "estimators")

UPWARD = {
    ("kernels", "columns"): "kernel(X, Z) is computed by the columns",
    ("report", ""): "the version",
    ("cli", ""): "the version",
    ("archives", ""): "the version that a model file names",
}
CIRCLES = {
    frozenset({
        "columns", "columns.algebra", "columns.between", "columns.blocks", "columns.choose", "columns.columns",
        "columns.given", "columns.kept", "kernels", "kernels.adaptive", "kernels.base",
        "kernels.blocks", "kernels.custom", "kernels.dot", "kernels.histogram", "kernels.stationary",
        "kernels.transforms",
    }): "kernel(X, Z) is computed by the columns, which know kernels; k + a function of scikit-learn is a kernel",
    frozenset({"gram.gram", "gram.dense", "gram.evidence", "gram.linear", "gram.lowrank", "gram.points"}):
        "a part of a Gram matrix may have another form than the whole",
    frozenset({"solvers.auto", "solvers.landmarks", "solvers.newton", "solvers.newton.method",
               "solvers.newton.in_points", "solvers.ridge.ridge_auto"}):
        "landmarks begin with the solver that is chosen for them",
}  # fmt: skip
IN_EXPLAIN = 3
"""Circles among worked solutions: a solution writes itself in every format, and formats know solutions."""

TWICE = {"SVC", "SVR", "OneClassSVM", "LinearSVC", "KernelRidge"}
"""Drop-ins have the names that they stand in for."""
ARGUMENTS = {
    "_core/reference/blocks.py": 12, "_core/reference/pairs.py": 9, "_core/reference/perceptron.py": 10,
    "_core/reference/points.py": 10, "_core/reference/sparse.py": 9, "_core/reference/tiles.py": 9,
    "_core/reference/whole.py": 11,  # as many as the native function has
    "estimators/fitting.py": 9, "examination.py": 9, "solvers/newton/free_coefficients.py": 10,
}  # fmt: skip
"""More than eight; settings of an estimator or a search, which are given by name, do not count."""
LITERALS = 149
"""Numbers other than 0, 1, 2 and 0.5 that are written out in columns, shards, solvers and estimators, and in what they
share (amounts.py).
"""


def test_imports_go_one_way():
    wrong = {
        (source.folder, name.split(".")[0])
        for source in sources()
        for name, _ in source.imports()
        if source.folder and ORDER.get(name.split(".")[0], len(LAYERS)) > ORDER[source.folder]
    }
    assert wrong <= set(UPWARD)


def test_files_of_one_layer_do_not_know_each_other():
    """But for those beside the folders, which go in the order of the list."""
    for source in sources():
        for name, _ in source.imports():
            here, there = source.folder, name.split(".")[0]
            if here and there and here != there and ORDER[here] == ORDER[there]:
                words = LAYERS[ORDER[here]].split()
                assert words.index(there) < words.index(here), f"{source.name} imports {name}"


def test_no_circles_not_even_by_imports_inside_functions():
    graph = defaultdict(set)
    for source in sources():
        graph[source.name].update(name for name, _ in source.imports() if name)
    found = circles(graph)
    assert not [circle for circle in found if not _explains(circle) and not any(circle <= known for known in CIRCLES)]
    assert sum(map(_explains, found)) <= IN_EXPLAIN


def _explains(circle):
    return all(name.startswith("explain.") for name in circle)


def test_no_class_has_the_name_of_another():
    places = defaultdict(set)
    for source in sources():
        if source.folder != "explain":
            for name in source.classes:
                places[name].add(source.name)
    assert {name for name, where in places.items() if len(where) > 1} <= TWICE


def test_no_file_has_the_name_of_another():
    places = defaultdict(set)
    for source in sources():
        if source.folder in NUMERICAL and source.path.name != "__init__.py":
            places[source.path.name].add(source.name)
    assert not {name for name, where in places.items() if len(where) > 1}


def test_files_and_functions_are_short():
    lengths = {source.path.as_posix(): len(source.text.splitlines()) for source in sources()}
    assert not {name: length for name, length in lengths.items() if length > 400}
    long = [
        f"{source.name}.{function.name}"
        for source in sources()
        for function in source.functions
        if function.end_lineno - function.lineno + 1 > 60
    ]
    assert not long


def test_functions_take_few_arguments():
    most = {}
    for source in sources():
        owners = [node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
        classes = {id(node): owner for owner in owners for node in owner.body}
        for function in source.functions:
            owner = classes.get(id(function))
            count = _arguments(function, owner)
            if count > ARGUMENTS.get(source.path.as_posix(), 8):
                most[f"{source.name}.{function.name}"] = count
    assert not most


def _arguments(function, owner):
    """How many; of an estimator's settings, none: they are its parameters and have names."""
    given = function.args
    if owner is not None and function.name == "__init__" and owner.name in _settings():
        return 0
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _settings():
    return {entry.name for entry in ESTIMATORS} | {"Search"}


def test_numbers_have_names():
    places = ("amounts", "columns", "shards", "solvers", "estimators")
    counted = [source for source in sources() if source.folder in places]
    found = [value for source in counted for value in literals(source)]
    assert len(found) <= LITERALS


def test_the_table_of_estimators():
    for entry in ESTIMATORS:
        found = getattr(import_module(f"mercer.{entry.module}"), entry.name)
        assert getattr(mercer, entry.name) is getattr(mercer.estimators, entry.name) is found
        assert entry.name in mercer.__all__ and entry.name in mercer.estimators.__all__
        assert registry.ESTIMATORS[entry.name] == "mercer.estimators"
        assert entry.name in consistent.RULES
    names = {entry.name for entry in ESTIMATORS}
    assert {name for name, home in mercer._HOME.items() if home == "estimators"} == names
    assert {name for name, home in registry.ESTIMATORS.items() if home == "mercer.estimators"} == names
    assert {verb for entry in ESTIMATORS if (verb := entry.verb)} == set(MACHINES)
    assert set(MACHINES.values()) <= {entry.name for entry in ESTIMATORS if entry.verb}


@pytest.mark.parametrize("entry", ESTIMATORS, ids=lambda entry: entry.name)
def test_the_shapes_in_a_model_file(entry, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    targets = {"labels": np.digitize(X[:, 0], [-0.5, 0.5]), "numbers": X[:, 0] ** 2, "none": None}
    known = getattr(mercer, entry.name)().get_params()
    some = {name: 2 for name in ("n_components", "n_clusters") if name in known}
    machine = getattr(mercer, entry.name)(**some).fit(X, targets[entry.learns_from])
    path = tmp_path / "one.mercer"
    mercer.save(machine, path)
    with zipfile.ZipFile(path) as file:
        manifest = json.loads(file.read("manifest.json"))
    assert manifest["model"]["estimator"] == entry.name
    assert set(entry.shapes) <= set(manifest["model"]["fitted"])
    again = mercer.load(path)
    classes, support = 3 if entry.learns_from == "labels" else 1, len(getattr(again, "support_", ()))
    sizes = {"n": 40, "d": 3, "k": 2, "c": classes, "s": support}
    for name, shape in entry.shapes.items():
        expected = tuple(sizes.get(word) or int(word) for word in shape.split())
        assert np.shape(getattr(again, name)) == expected, name


def test_every_solver_is_in_the_zoo():
    public = {getattr(solvers, name) for name in solvers.__all__}
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Solver) and kind is not Solver}
    assert {type(solver) for solver in (*SOLVERS, *SOME_PROBLEMS, *RIDGE_SOLVERS)} == kinds


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_loads_next_to_nothing(arguments):
    """What takes time to load is not loaded: typing, json, shutil and all that unpacks files, let alone NumPy."""
    told = "import sys\nfrom mercer.cli import main\nmain(sys.argv[1:])\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", told, *arguments], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(PACKAGE.parent)})  # fmt: skip
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"typing", "json", "shutil", "zipfile", "difflib", "dataclasses", "inspect", "numpy"}
    own = {name for name in loaded if name.startswith("mercer.")}
    assert own <= {"mercer.cli", "mercer.cli.main", "mercer.cli.exits", "mercer.cli.arguments", "mercer.cli.options",
                   "mercer.memory", "mercer.cli.options.machine", "mercer.cli.options.lecture",
                   f"mercer.cli.options.{arguments[0]}"}  # fmt: skip


def test_the_command_line_imports_at_the_top():
    """But for what is optional or chosen: Matplotlib, SymPy, Dask."""
    optional = {
        source.name: sorted({name for name, inside in source.imports() if inside})
        for source in sources()
        if source.folder == cli.__name__.split(".")[-1]
    }
    assert {name: inner for name, inner in optional.items() if inner} == {
        "cli.cluster": ["shards.dask"],
        "cli.gram": ["explain.algebra", "explain.exact", "explain.sample"],
        "cli.play": ["play.record"],
    }


def test_thresholds_name_what_the_code_has():
    home = spec_from_file_location("thresholds", PACKAGE.parents[1] / "benchmarks" / "thresholds.py")
    thresholds = module_from_spec(home)
    home.loader.exec_module(thresholds)
    assert all(value > 0 for value, _ in thresholds.CROSSOVERS.values())

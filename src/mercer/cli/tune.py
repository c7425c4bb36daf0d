"""mercer tune: C and gamma by cross-validation, with the shared work of mercer.Search."""

from __future__ import annotations

import argparse
import shlex
from time import perf_counter
from typing import Any

from sklearn.base import clone

from ..io import DataError, save
from .data import read_training
from .exits import Exit, NothingYetError, UsageError
from .faults import blaming
from .fitting import certificate_data, pipeline_of, prepared, trained
from .grid import FOLDS, Grid, search
from .machines import machine_of, targets_of
from .output import note, pairs, show, warnings_as_notes
from .pictures import canvas, require_picture
from .places import require_place
from .scores import in_words
from .scoring import names_of

_KEPT = 0.2  # of the time limit, for training the best
_ROUGH = 1e-3  # the gap to reach where none is asked for: enough to tell which is best


def run(arguments: argparse.Namespace) -> int:
    """Read, encode, score the grid, train the best, draw the grid."""
    names_of(arguments)  # what is wrong is said before anything is trained
    if arguments.output:
        require_place(arguments, arguments.output, "model file", [arguments.data])  # said before anything is trained
    if arguments.picture:
        require_picture(arguments, arguments.picture, [arguments.data, arguments.output])
    limit, arguments.time_limit = arguments.time_limit, None  # for all fits together
    began = perf_counter()
    machine = machine_of(arguments)
    targets = targets_of(machine)
    if targets == "none":
        raise UsageError(f"{arguments.model} has no target to be scored by, so that nothing can be tuned.")
    table, y, target = read_training(arguments, targets)
    if (arguments.cv or 2) > table.n:
        raise DataError(f"{table.source} has {table.n} row(s), too few for {arguments.cv or FOLDS} folds.")
    X = prepared(arguments, table, getattr(machine, "kernel", None))
    with blaming(table.source):
        scale_ranges = {"gamma": arguments.gamma_range, "length_scale": arguments.length_scale_range}
        grid = Grid.of(
            machine if arguments.tol else _rough(machine), X, arguments.C_range, scale_ranges,
            (arguments.steps, arguments.scale_steps or arguments.steps),
        )  # fmt: skip
        share = 1 - _KEPT if arguments.output else 1.0
        with warnings_as_notes(arguments):
            code = search(arguments, grid, X, table, y, targets, None if limit is None else share * limit)
    if code is not Exit.FINE:
        ended = f"{'interrupted' if code is Exit.INTERRUPTED else 'out of time'}: {grid.how_far()}"
        if grid.best() is None:
            raise (KeyboardInterrupt if code is Exit.INTERRUPTED else NothingYetError)(ended)
        note(arguments, f"note: {ended}; the best of them counts.")
    data = grid.data() | {"model": arguments.model, "target": target, "rows": table.n}
    data["command"] = command(arguments, data["best"])
    for hint in grid.at_the_edge():
        note(arguments, f"note: {hint}")
    if arguments.output:
        left = None if limit is None else max(limit - (perf_counter() - began), _KEPT * limit)
        ended_so = _train_best(arguments, grid.best_machine(machine.tol, left), table, y, data)
        code = ended_so if code is Exit.FINE else code
    if arguments.picture:
        _draw(arguments, grid, data)
    show(arguments, data, lambda out: _render(out, grid, data))
    return code


def _train_best(arguments: argparse.Namespace, machine: Any, table: Any, y: Any, data: dict[str, Any]) -> Exit:
    """Train on all rows, and save."""
    pipeline = pipeline_of(arguments, machine, table)
    code = trained(arguments, pipeline, table, y)
    notes = {name: data[name] for name in ("model", "target", "rows")}
    save(pipeline, arguments.output, notes | {"tuned": data["best"]})
    data |= {"output": arguments.output, "certificate": certificate_data(machine)}
    return code


def _draw(arguments: argparse.Namespace, grid: Any, data: dict[str, Any]) -> None:
    """What is scored: as a map where both settings vary, along the one that does, and not at all where none does."""
    gammas, Cs = grid.varied()
    if gammas * Cs < 2:
        note(arguments, "note: one setting with a score makes no picture.")
        return
    with canvas(arguments.picture) as plot:
        draw = plot.grid if min(gammas, Cs) > 1 else plot.path
        draw(grid.results(), title=grid.title())
    data["picture"] = arguments.picture


_TOLD = {
    "target": "--target", "drop": "--drop", "header": "--header", "delimiter": "--delimiter",
    "categorical": "--categorical", "missing": "--missing", "scale": "--scale", "epsilon": "--epsilon", "nu": "--nu",
    "bias": "--bias", "class_weight": "--class-weight", "solver": "--solver", "tol": "--tol", "max_iter": "--max-iter",
    "memory": "--memory", "seed": "--seed",
}  # fmt: skip
_UNSAID = {"header": "auto", "missing": "error", "scale": "auto", "seed": 0}


def command(arguments: argparse.Namespace, best: dict[str, Any]) -> str:
    """The command line that trains the best machine on all rows: it can be run as it stands."""
    words = ["mercer", "train", arguments.data]
    if arguments.model != "svc":
        words += ["--model", arguments.model]
    for name in ("C", "alpha"):
        if name in best:
            words += [f"--{name}", repr(best[name])]
    if "kernel" in best:
        words += ["--kernel", best["kernel"]]
    for name, flag in _TOLD.items():
        given = getattr(arguments, name, None)
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value != _UNSAID.get(name):
                words += [flag, str(value)]
    return shlex.join([*words, "--test-size", "0", "-o", arguments.output or "best.mercer"])


def _rough(machine: Any) -> Any:
    return clone(machine).set_params(tol=max(machine.tol, _ROUGH)) if hasattr(machine, "tol") else machine


def _render(out: Any, grid: Any, data: dict[str, Any]) -> None:
    out.print(grid.table())
    best = data["best"]
    settings = ", ".join(f"{name} = {best[name]:g}" for name in (grid.first, grid.second) if name in best)
    deviation = f" +- {grid.in_words(best['deviation'])}" if "deviation" in best else ""
    rows = {"best": f"{settings}: {grid.in_words(best['score'])}{deviation}"}
    if "scores" in best:
        rows["its scores"] = in_words(best["scores"])
    rows["to train it"] = data["command"]
    if "certificate" in data:
        rows["certificate"] = data["certificate"]["words"]
    rows |= {name: data[key] for name, key in (("drawn in", "picture"), ("saved", "output")) if key in data}
    pairs(out, rows)

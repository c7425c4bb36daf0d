"""mercer train: from a table to a certified model file."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from ..io import DataError, save
from ..solution import Status
from .cluster import on_cluster, train_there
from .coefficients import in_words as coefficients_in_words
from .columns import columns_of
from .columns import in_words as columns_in_words
from .data import last_step, read_training
from .exits import Exit, UsageError
from .fitting import certificates, encoder_of, fit, learned, pipeline_of, proof_in, trained
from .machines import machine_of, targets_of
from .output import brief, in_flags, note, pairs, plain, show, warnings_as_notes
from .places import require_place
from .scores import folds, hold_out, in_words
from .scoring import judged, names_of

_LEAST_ROWS = 10  # for a part of them to be held out unasked


def run(arguments: argparse.Namespace) -> int:
    """Read, encode, scale, train, certify, save, score."""
    if arguments.cv and arguments.test_size:
        raise UsageError("--cv trains on all rows and --test-size on a part of them: give one of the two.")
    if arguments.output:
        require_place(arguments, arguments.output, "model file", [arguments.data])  # said before anything is trained
    machine = machine_of(arguments)
    targets, _ = targets_of(machine), names_of(arguments)  # what is wrong is said before anything is trained
    if on_cluster(arguments):
        return _run_there(arguments, machine, targets)
    table, y, target = read_training(arguments, targets)
    encoder_of(arguments).fit(table).transform(table)  # what is wrong anywhere is said before anything is trained
    train, test = _split(arguments, table, y, targets)
    pipeline = pipeline_of(arguments, machine, table)
    began = perf_counter()
    code = trained(arguments, pipeline, table.take(train), None if y is None else y[train])
    seconds = perf_counter() - began
    machine = last_step(pipeline)
    data = {"model": arguments.model, "target": target, "rows": len(train), "seconds": seconds}
    data |= {"features": int(machine.n_features_in_), "columns": columns_of(pipeline)} | learned(pipeline)
    proof = getattr(machine.certificate_, "proof", None)
    if proof is not None:
        data["certificate"]["words"] = proof_in(table.take(train), proof)
    _save(arguments, pipeline, data)  # before it is scored, which takes a while with --cv
    if code is not Exit.INTERRUPTED and _has_answer(machine):
        folds: list[dict[str, float]] = []
        try:
            data |= _scored(arguments, pipeline, targets, table, y, test, folds)
        except KeyboardInterrupt:  # the machine is there, with the scores of the folds that are done
            code = Exit.INTERRUPTED
            data |= {"cross_validation": _over_folds(folds), "folds": len(folds)} if folds else {}
        _save(arguments, pipeline, data)
    if not arguments.output:
        note(arguments, "note: the model is not saved; give -o model.mercer.")
    show(arguments, data, lambda out: _render(out, data))
    return code


def _run_there(arguments: argparse.Namespace, machine: Any, targets: str) -> int:
    """Train on a cluster, save, and say what was learned."""
    pipeline, data, code = train_there(arguments, machine, targets)
    data |= {"features": int(machine.n_features_in_), "columns": columns_of(pipeline)} | learned(pipeline)
    _save(arguments, pipeline, data)
    if not arguments.output:
        note(arguments, "note: the model is not saved; give -o model.mercer.")
    show(arguments, data, lambda out: _render(out, data))
    return code


def _split(arguments: argparse.Namespace, table: Any, y: Any, targets: str) -> tuple[Any, Any]:
    """The rows to train on, and those that are held out (None: none are)."""
    n, size = table.n, arguments.test_size
    if arguments.cv and arguments.cv > n:
        raise DataError(f"{table.source} has {n} row(s), too few for {arguments.cv} folds.")
    if size is None:
        size = 0.0 if arguments.cv or n < _LEAST_ROWS else 0.2
        if n < _LEAST_ROWS and y is not None and not arguments.cv:
            note(
                arguments,
                f"note: {n} rows are too few to hold out a part unasked: no score (--cv asks for one).",
            )
    if size == 0.0 or y is None:
        return np.arange(n), None
    if not 1 <= round(size * n) <= n - 2:
        raise DataError(f"{table.source} has {n} rows, too few to hold out a part of {size:g}.")
    return hold_out(targets, y, n, size, arguments.seed)


def _save(arguments: argparse.Namespace, pipeline: Any, data: dict[str, Any]) -> None:
    if arguments.output:
        kept = ("model", "target", "rows", "held_out", "cross_validation", "folds")
        save(pipeline, arguments.output, {key: plain(data[key]) for key in kept if key in data})
        data["output"] = arguments.output


def _has_answer(machine: Any) -> bool:
    return all(certificate.has_answer for certificate in certificates(machine))


def _scored(
    arguments: argparse.Namespace, pipeline: Any, targets: str, table: Any, y: Any, test: Any, done: list[Any]
) -> dict[str, Any]:
    """Scores on what was held out, or by cross-validation (those of each fold go to `done`), or of outliers found."""
    with warnings_as_notes(arguments):
        if y is None:
            inside = np.mean(pipeline.predict(table) == 1)
            return {"training": {"part inside": float(inside)}}
        if test is not None:
            return {
                "held_out": judged(pipeline, table.take(test), targets, y[test], names_of(arguments)),
                "held_out_rows": len(test),
            }
    if not arguments.cv:
        return {}
    _cross_validate(arguments, pipeline, targets, table, y, done)
    return {"cross_validation": _over_folds(done)}


def _cross_validate(
    arguments: argparse.Namespace, pipeline: Any, targets: str, table: Any, y: Any, done: list[Any]
) -> None:
    """Append the scores of each fold."""
    for number, (train, test) in enumerate(folds(targets, y, table.n, arguments.cv, arguments.seed), start=1):
        fold = fit(arguments, clone(pipeline), table.take(train), y[train])
        with warnings_as_notes(arguments):
            done.append(judged(fold, table.take(test), targets, y[test], names_of(arguments)))
        note(arguments, f"fold {number} of {arguments.cv}: {in_words(done[-1])}")


def _over_folds(rows: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each score, and the deviation of the first."""
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    first = next(iter(means))
    return means | {f"standard deviation of {first}": float(np.std([row[first] for row in rows]))}


def _render(out: Any, data: dict[str, Any]) -> None:
    certificate = data["certificate"]
    target = f", target {data['target']!r}" if data["target"] else ""
    rows = {"model": f"{data['model']}, {data['rows']} rows, {data['features']} features{target}"}
    if any(column["kind"] != "number" for column in data["columns"]):
        rows["columns"] = columns_in_words(data["columns"])
    if "kernel" in data:
        rows["kernel"] = brief(data["kernel"])
    if "alpha" in data:
        rows["alpha"] = f"{data['alpha']:g}"
    if "support_vectors" in data:
        rows["support vectors"] = str(data["support_vectors"])
    rows |= coefficients_in_words(data)
    rows["time"] = f"{data['seconds']:.2f} s"
    rows["certificate"] = certificate["words"]
    if certificate["status"] != "converged":
        rows["status"] = in_flags(str(Status[certificate["status"].upper()]))
    if "held_out" in data:
        rows["held out"] = f"{in_words(data['held_out'])} ({data['held_out_rows']} rows)"
    if "cross_validation" in data:
        some = f" (interrupted: of {data['folds']} fold{'s' if data['folds'] > 1 else ''})" if "folds" in data else ""
        rows["cross-validation"] = in_words(data["cross_validation"]) + some
    if "training" in data:
        rows["training"] = in_words(data["training"])
    if "output" in data:
        rows["saved"] = data["output"]
    pairs(out, rows)

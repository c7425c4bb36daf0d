"""mercer train on a cluster: files are read, encoded and scaled where the workers are."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .. import distributed
from ..io import DataError, Encoder
from ..types import Array
from .data import read_training, target_values
from .exits import Exit, UsageError
from .faults import blaming
from .fitting import encoder_of, exit_of, pipeline_of
from .output import warnings_as_notes


def on_cluster(arguments: argparse.Namespace) -> bool:
    """Whether the training is to be on a cluster; raises for what does not go together with that."""
    if arguments.cluster is None and arguments.workers is None:
        if arguments.more:
            raise UsageError("Several files are for workers: give --workers N or --cluster ADDRESS.")
        return False
    if arguments.cluster is not None and arguments.workers is not None:
        raise UsageError("--workers starts processes here, and --cluster names others: give one of the two.")
    if arguments.cv or arguments.test_size:
        raise UsageError("On a cluster nothing is held out: leave out --cv and --test-size, and see mercer evaluate.")
    if arguments.missing != "error":
        raise UsageError("On a cluster rows must be complete: leave out --missing.")
    if arguments.data == "-":
        raise UsageError("Workers read the files themselves, and cannot read from a pipe: give names.")
    return True


def train_there(arguments: argparse.Namespace, machine: Any, targets: str) -> tuple[Any, dict[str, Any], Exit]:
    """The fitted pipeline, what there is to say of its data, and how the training ended."""
    first = read_training(arguments, targets)
    encoder = _of_numbers(encoder_of(arguments).fit(first.table), first.table.source)
    pipeline = pipeline_of(arguments, machine, first.table)
    pipeline.steps[0] = ("encode", encoder)
    paths = [str(Path(path).resolve()) for path in (arguments.data, *arguments.more)]
    with _client(arguments) as client:
        began = perf_counter()
        X, y = _blocks(client, arguments, pipeline, paths, targets)
        if y is not None:
            y = target_values(y, targets, first.table, str(first.target))
        with blaming(first.table.source), warnings_as_notes(arguments):
            distributed.fit(machine.set_params(verbose=not arguments.quiet), X, y, client=client)
        seconds = perf_counter() - began
    machine.set_params(verbose=False)
    rows = int(machine.shape_fit_[0])
    return (
        pipeline,
        {"model": arguments.model, "target": first.target, "rows": rows, "seconds": seconds},
        exit_of(machine),
    )


@contextmanager
def _client(arguments: argparse.Namespace) -> Iterator[Any]:
    """A client of the cluster that was named, or of one that is started here."""
    try:
        from ..shards.dask import connected
    except ModuleNotFoundError:
        raise UsageError("A cluster needs Dask: pip install 'mercer[distributed]'.") from None
    with ExitStack() as stack:
        try:
            client = stack.enter_context(connected(arguments.cluster, arguments.workers))
        except OSError as error:
            raise UsageError(f"No scheduler answers at {arguments.cluster}: {error}.") from error
        yield client


def _of_numbers(encoder: Encoder, source: str) -> Encoder:
    """The encoder, which has seen one file only: columns of numbers all stay, also those that do not vary there."""
    if "category" in encoder.kinds_:
        name = encoder.names_[encoder.kinds_.index("category")]
        raise DataError(
            f"{source}: column {name!r} holds categories, which a cluster would have to learn from all files: write it "
            "as numbers, or leave it out by --drop."
        )
    encoder.kinds_ = ["number"] * len(encoder.kinds_)
    return encoder


def _blocks(
    client: Any, arguments: argparse.Namespace, pipeline: Any, paths: list[str], targets: str
) -> tuple[list[Any], Array | None]:
    """Points on the workers, a block for each file, and the target, here; the scaler is fitted on the way."""
    import dask

    steps = dict(pipeline.steps)
    read = [dask.delayed(_read, nout=2)(arguments, path, steps["encode"], targets) for path in paths]
    X, ys = [part[0] for part in read], [] if targets == "none" else [part[1] for part in read]
    scaler: Any = steps.get("scale")
    if scaler is not None:
        for points in X:  # each where it is read; for its block it is read again, so that nobody holds it twice
            scaler = dask.delayed(_learned)(scaler, points)
    *targets_there, scaler = client.gather(client.compute([*ys, dask.delayed(scaler)]))
    if scaler is not None:
        steps["scale"] = scaler
        pipeline.steps[1] = ("scale", scaler)
        X = [dask.delayed(_transformed)(scaler, points) for points in X]
    y = np.concatenate(targets_there) if ys else None
    return X, y


def _read(arguments: argparse.Namespace, path: str, encoder: Encoder, targets: str) -> tuple[Any, Any]:
    """The points and the target of a file, on a worker."""
    table, y, _ = read_training(argparse.Namespace(**{**vars(arguments), "data": path}), targets)
    return encoder.transform(table), y


def _learned(scaler: Any, X: Any) -> Any:
    return deepcopy(scaler).partial_fit(X)


def _transformed(scaler: Any, X: Any) -> Any:
    return scaler.transform(X)

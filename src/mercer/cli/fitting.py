"""Pipelines of encoder, scaler and machine: made, fitted, and how that went in words."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from ..estimators.proofs import sums_of
from ..io import Encoder, Table
from ..kernels import Chi2, ExpChi2, Intersection, Kernel
from ..solution import Status
from ..types import Array
from .coefficients import coefficients
from .data import last_step
from .exits import Exit
from .faults import blaming
from .output import warnings_as_notes


def pipeline_of(arguments: argparse.Namespace, machine: Any, table: Table) -> Any:
    """The unfitted pipeline of a machine for such a table."""
    steps: list[tuple[str, Any]] = [("encode", encoder_of(arguments))]
    scaler = _scaler(arguments.scale, getattr(machine, "kernel", None), table.sparse)
    return Pipeline([*steps, *([("scale", scaler)] if scaler is not None else []), ("model", machine)])


def encoder_of(arguments: argparse.Namespace) -> Encoder:
    """The unfitted encoder."""
    return Encoder(tuple(arguments.categorical), "fill" if arguments.missing == "fill" else "error")


def _scaler(scale: str, kernel: Any, sparse: bool) -> Any:
    if scale == "auto":
        scale = "none" if sparse or _on_histograms(kernel) else "standard"
    if scale == "none":
        return None
    if sparse:  # zeros must stay zeros
        return StandardScaler(with_mean=False) if scale == "standard" else MaxAbsScaler()
    return StandardScaler() if scale == "standard" else MinMaxScaler()


def _on_histograms(kernel: Any) -> bool:
    if not isinstance(kernel, Kernel):
        return False
    return isinstance(kernel, Intersection | Chi2 | ExpChi2) or any(map(_on_histograms, kernel.parts()))


def prepared(arguments: argparse.Namespace, table: Table, kernel: Any) -> Any:
    """The points of a table, encoded and scaled for a kernel, without a machine."""
    X = encoder_of(arguments).fit(table).transform(table)
    scaler = _scaler(arguments.scale, kernel, table.sparse)
    return X if scaler is None else scaler.fit_transform(X)


def fit(arguments: argparse.Namespace, pipeline: Any, table: Table, y: Array | None) -> Any:
    """The pipeline, fitted; what is wrong with the data is a DataError."""
    machine = last_step(pipeline)
    if "verbose" in machine.get_params(deep=False):
        machine.set_params(verbose=not arguments.quiet)
    try:
        with blaming(table.source), warnings_as_notes(arguments):
            pipeline.fit(table, y)
    finally:  # the model is written, even where Ctrl-C has come
        if "verbose" in machine.get_params(deep=False):
            machine.set_params(verbose=False)
    return pipeline


def trained(arguments: argparse.Namespace, pipeline: Any, table: Table, y: Array | None) -> Exit:
    """Fit; how that ended. Ctrl-C ends it with what the machine keeps, and is raised where that is nothing."""
    machine = last_step(pipeline)
    try:
        fit(arguments, pipeline, table, y)
    except KeyboardInterrupt:
        if not hasattr(machine, "certificates_"):
            raise
        return Exit.INTERRUPTED
    return exit_of(machine)


def exit_of(machine: Any) -> Exit:
    """How the training ended, as an exit code."""
    statuses = {certificate.status for certificate in certificates(machine)}
    if Status.INTERRUPTED in statuses:
        return Exit.INTERRUPTED
    return Exit.FINE if statuses <= {Status.CONVERGED} else Exit.LIMITS


def certificates(machine: Any) -> tuple[Any, ...]:
    """The certificates of all problems of a machine."""
    several = getattr(machine, "certificates_", None)
    return (machine.certificate_,) if several is None else tuple(several)


def learned(pipeline: Any) -> dict[str, Any]:
    """What there is to say of a fitted machine, at the end of its pipeline, for JSON."""
    machine = last_step(pipeline)
    data: dict[str, Any] = coefficients(machine)
    if "w" in data:
        data["scaled"] = "scale" in getattr(pipeline, "named_steps", {})
    if hasattr(machine, "kernel_"):
        data["kernel"] = repr(machine.kernel_)
    if hasattr(machine, "alpha_"):
        data["alpha"] = machine.alpha_
    if hasattr(machine, "support_"):
        data["support_vectors"] = len(machine.support_)
    if hasattr(machine, "certificate_"):
        data["certificate"] = certificate_data(machine)
    return data


def proof_in(table: Table, proof: Any) -> str:
    """Why no machine separates the classes, by rows of the table that it learned from, and by its own numbers."""
    columns = [table.column(place) for place in range(len(table.names))]
    numbers = bool(columns) and all(column.dtype.kind == "f" and np.isfinite(column).all() for column in columns)
    even = abs(float(proof.weights @ proof.y)) < 1e-9  # else zero is where scaling has put it
    sums = None
    if numbers and even and proof.sums is not None:
        sums = sums_of(proof.weights, proof.y, np.column_stack(columns))
    rows = np.arange(table.n) if table.rows is None else table.rows
    return str(proof.text(lambda row: f"row {int(rows[row]) + 1}", sums))


def certificate_data(machine: Any) -> dict[str, Any]:
    """The worst certificate, for JSON."""
    certificate = machine.certificate_
    names = (
        "primal", "dual", "gap", "relative_gap", "kkt_violation", "feasibility", "rounding", "converged",
        "lower", "upper",
    )  # fmt: skip
    values = {name: getattr(certificate, name) for name in names if hasattr(certificate, name)}
    return values | {"status": certificate.status.name.lower(), "words": certificate.words()}

"""mercer plot: pictures of a machine or of data."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..features import PolarMap, PolynomialMap
from ..io import DataError, Encoder
from ..kernels import Polynomial
from ..kernels import kernel as parse
from ..plot.style import literal
from .data import first_step, last_step, points_for, read, read_training, target_values
from .exits import Exit, UsageError
from .faults import blaming
from .fitting import certificates, exit_of, fit, pipeline_of, prepared
from .machines import machine_of, targets_of
from .output import in_flags, note, show
from .pictures import canvas, require_picture
from .using import loaded, manifest_of

_LONGEST = 48  # characters of the name of an axis


def run(arguments: argparse.Namespace) -> int:
    """Load or train, then draw."""
    require_picture(arguments, arguments.output, [arguments.data, arguments.on])
    arguments.title = arguments.title and _literal(arguments.title, len(arguments.title))
    code = Exit.FINE
    given = _is_model(arguments.data)
    kind = arguments.kind or ("boundary" if arguments.on or not given else "convergence")
    with canvas(arguments.output) as plot, blaming(arguments.on or arguments.data):
        if given:
            _draw_model(arguments, plot, kind)
        else:
            code = _draw_data(arguments, plot, kind)
    data = {"kind": kind, "output": arguments.output}
    show(arguments, data, lambda out: out.print(f"drawn in {arguments.output}", soft_wrap=True, markup=False))
    return code


def _literal(name: str, longest: int = _LONGEST) -> str:
    """A text as it stands, and not as a formula."""
    return literal(name, longest)


def _is_model(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "manifest.json" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return path.endswith(".mercer")


def _draw_model(arguments: argparse.Namespace, plot: Any, kind: str) -> None:
    if kind == "feature_map":
        raise UsageError("A picture of kind feature_map is of data, not of a model: give a table.")
    model = loaded(arguments.data)
    if kind in ("convergence", "alphas"):
        getattr(plot, kind)(model, title=arguments.title)
        return
    if arguments.on is None:
        raise UsageError(f"A picture of kind {kind} of a model needs points: --on TABLE.")
    told = manifest_of(arguments.data)["notes"].get("target")
    arguments.data = arguments.on
    table, targets, y = read(arguments, model), targets_of(last_step(model)), None
    if arguments.target or told in table.names or table.target is not None:
        table, column, name = table.split(arguments.target or (told if told in table.names else None))
        y = target_values(column, targets if targets != "none" else "labels", table, name)
    _draw(arguments, plot, kind, model, points_for(model, table), y)


def _draw_data(arguments: argparse.Namespace, plot: Any, kind: str) -> Exit:
    """Train and draw; how the training ended."""
    if kind == "feature_map":
        return _draw_map(arguments, plot)
    machine = machine_of(arguments)
    table, y, _ = read_training(arguments, targets_of(machine))
    if kind == "boundary" and arguments.features and not table.sparse:  # of two columns, a machine of these two
        arguments.features = [table.names[table.place(name)] for name in arguments.features]
        table = table.without([name for name in table.names if name not in arguments.features])
    model = fit(arguments, pipeline_of(arguments, machine, table), table, y)
    _draw(arguments, plot, kind, model, table, y)
    code = exit_of(last_step(model))
    if code is not Exit.FINE:
        statuses = dict.fromkeys(str(certificate.status) for certificate in certificates(last_step(model)))
        note(arguments, f"note: the training that is drawn ended so: {in_flags('; '.join(statuses))}.")
    return code


def _draw_map(arguments: argparse.Namespace, plot: Any) -> Exit:
    """Points before and after a feature map, with the line between two classes and what it is in the plane."""
    kernel = parse(arguments.kernel) if arguments.kernel else Polynomial()
    if not isinstance(kernel, Polynomial):
        kernel = Polynomial()
    table, y, _ = read_training(arguments, "labels")
    if arguments.features:
        table = table.without([name for name in table.names if name not in arguments.features])
    X = prepared(arguments, table, kernel)
    phi = PolarMap() if arguments.map == "polar" else PolynomialMap(kernel.degree, float(kernel.gamma), kernel.coef0)
    two = X.shape[1] == 2 and np.unique(y).size == 2
    plot.feature_map(phi, X, y, boundary=two, title=arguments.title)
    return Exit.FINE


def _draw(arguments: argparse.Namespace, plot: Any, kind: str, model: Any, points: Any, y: Any) -> None:
    encoder = first_step(model)
    names: list[str] = []
    if isinstance(encoder, Encoder):
        names, points, model = encoder.get_feature_names_out().tolist(), encoder.transform(points), model[1:]
    if kind in ("convergence", "alphas"):
        getattr(plot, kind)(model, title=arguments.title)
    elif kind == "curve":
        if points.shape[1] != 1:
            raise DataError(f"A curve is of one column, but there are {points.shape[1]}: --drop the others.")
        ax = plot.curve(model, points, y, title=arguments.title)
        ax.set_xlabel(_literal(names[0]) if names else "x")
    elif kind == "gram":
        if not hasattr(last_step(model), "kernel_"):
            raise UsageError(f"{type(last_step(model)).__name__} has no kernel.")
        Z = model[:-1].transform(points) if hasattr(model, "steps") and len(model.steps) > 1 else points
        plot.gram(last_step(model).kernel_(Z), labels=y, title=arguments.title)
    else:
        chosen = _chosen(arguments.features or (), names, points.shape[1])
        ax = plot.boundary(model, points, y, features=chosen, title=arguments.title)
        shown = chosen if chosen else [0, 1] if points.shape[1] == 2 else []
        if names and shown:
            ax.set(xlabel=_literal(names[shown[0]]), ylabel=_literal(names[shown[1]]))


def _chosen(features: Sequence[str], names: list[str], width: int) -> list[int] | None:
    """The places of the two columns to draw, the one across first; None where all that there are will do."""
    lacking = [name for name in features if name not in names]
    if lacking and width > 2:
        raise DataError(f"There is no column {lacking[0]!r}. There are: {', '.join(names) or 'no names'}.")
    return [names.index(name) for name in features] if features and not lacking else None

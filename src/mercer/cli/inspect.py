"""mercer inspect: what is in a model file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..memory import format_bytes
from .coefficients import in_words as coefficients_in_words
from .columns import columns_of
from .columns import in_words as columns_in_words
from .data import last_step
from .exits import Exit
from .fitting import learned
from .output import brief, in_flags, pairs, show
from .scores import in_words
from .using import loaded, manifest_of

_MOST_CLASSES = 12


def run(arguments: argparse.Namespace) -> int:
    """Load, check, describe."""
    model, manifest = loaded(arguments.model), manifest_of(arguments.model)
    machine = last_step(model)
    data: dict[str, Any] = {
        "file": arguments.model,
        "bytes": Path(arguments.model).stat().st_size,
        "schema": manifest["schema"],
        "versions": manifest["versions"],
        "steps": [type(step).__name__ for _, step in model.steps] if hasattr(model, "steps") else [],
        "estimator": type(machine).__name__,
        "parameters": {name: _text(value) for name, value in machine.get_params(deep=False).items()},
        "features": columns_of(model),
        "notes": manifest["notes"],
    }
    for name, attribute in (("classes", "classes_"), ("intercept", "intercept_")):
        if hasattr(machine, attribute):
            data[name] = getattr(machine, attribute)
    data |= learned(model)
    show(arguments, data, lambda out: _render(out, data, machine, format_bytes(data["bytes"])))
    return Exit.FINE


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _render(out: Any, data: dict[str, Any], machine: Any, size: str) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    rows = {"file": f"{data['file']}, {size}, schema {data['schema']}", "written by": versions}
    rows["model"] = " -> ".join(data["steps"]) or data["estimator"]
    rows["settings"] = ", ".join(f"{name}={value}" for name, value in data["parameters"].items() if value is not None)
    if "kernel" in data:
        rows["kernel"] = brief(data["kernel"])
    if "alpha" in data:
        rows["alpha"] = f"{data['alpha']:g}"
    rows["columns"] = columns_in_words(data["features"]) or f"{machine.n_features_in_} without names"
    if "classes" in data:
        more = f", ... ({len(data['classes'])} in all)" if len(data["classes"]) > _MOST_CLASSES else ""
        rows["classes"] = ", ".join(map(str, data["classes"][:_MOST_CLASSES])) + more
    if "support_vectors" in data:
        rows["support vectors"] = str(data["support_vectors"])
    rows |= coefficients_in_words(data)
    if "certificate" in data:
        rows["certificate"] = in_flags(str(machine.certificate_))
    for name, meaning in (("held_out", "held out"), ("cross_validation", "cross-validation")):
        if name in data["notes"]:
            rows[meaning] = in_words(data["notes"][name])
    pairs(out, rows)

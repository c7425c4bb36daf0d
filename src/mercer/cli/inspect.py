"""mercer inspect: what is in a model file."""

from __future__ import annotations

import argparse
from typing import Any

EXAMPLES = """\
  mercer inspect iris.mercer
  mercer inspect iris.mercer --json | jq .certificate
"""
_MOST_NAMES = 12


def add_arguments(parser: Any) -> None:
    """What inspect is told."""
    parser.add_argument("model", metavar="MODEL", help="a model file")


def run(arguments: argparse.Namespace) -> int:
    """Load, check, describe."""
    from pathlib import Path

    from ..memory import format_bytes
    from .data import last_step
    from .exits import Exit
    from .fitting import certificate_data
    from .output import show
    from .using import loaded, manifest_of

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
        "features": _features(model),
        "notes": manifest["notes"],
    }
    for name, attribute in (("kernel", "kernel_"), ("classes", "classes_"), ("intercept", "intercept_")):
        if hasattr(machine, attribute):
            value = getattr(machine, attribute)
            data[name] = repr(value) if name == "kernel" else value
    if hasattr(machine, "support_"):
        data["support_vectors"] = len(machine.support_)
    if hasattr(machine, "certificate_"):
        data["certificate"] = certificate_data(machine)
    show(arguments, data, lambda out: _render(out, data, machine, format_bytes(data["bytes"])))
    return Exit.FINE


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _features(model: Any) -> list[dict[str, Any]]:
    """The columns that the model takes, where it knows their names."""
    from ..io import Encoder
    from .data import first_step

    encoder = first_step(model)
    if isinstance(encoder, Encoder) and not encoder.sparse_:
        return [
            {"name": name, "kind": kind} | ({"categories": encoder.categories_[name]} if kind == "category" else {})
            for name, kind in zip(encoder.names_, encoder.kinds_, strict=True)
        ]
    return [{"name": str(name), "kind": "number"} for name in getattr(model, "feature_names_in_", [])]


def _render(out: Any, data: dict[str, Any], machine: Any, size: str) -> None:
    from .output import brief, pairs
    from .scores import in_words

    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    rows = {"file": f"{data['file']}, {size}, schema {data['schema']}", "written by": versions}
    rows["model"] = " -> ".join(data["steps"]) or data["estimator"]
    rows["settings"] = ", ".join(f"{name}={value}" for name, value in data["parameters"].items() if value is not None)
    if "kernel" in data:
        rows["kernel"] = brief(data["kernel"])
    names = [
        item["name"] if item["kind"] == "number" else f"{item['name']} ({item['kind']})" for item in data["features"]
    ]
    more = f", ... ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
    rows["columns"] = ", ".join(names[:_MOST_NAMES]) + more if names else f"{machine.n_features_in_} without names"
    if "classes" in data:
        rows["classes"] = ", ".join(map(str, data["classes"][:_MOST_NAMES]))
    if "support_vectors" in data:
        rows["support vectors"] = str(data["support_vectors"])
    if "certificate" in data:
        rows["certificate"] = str(machine.certificate_)
    for name, meaning in (("held_out", "held out"), ("cross_validation", "cross-validation")):
        if name in data["notes"]:
            rows[meaning] = in_words(data["notes"][name])
    pairs(out, rows)

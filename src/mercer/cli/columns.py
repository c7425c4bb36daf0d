"""The columns that a model takes, and what becomes of each."""

from __future__ import annotations

from typing import Any

from ..io import Encoder
from .data import first_step

_MOST_NAMES = 12


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Name and kind (number, category, constant) of each column, where the model knows them."""
    encoder = first_step(model)
    if isinstance(encoder, Encoder) and not encoder.sparse_:
        return [
            {"name": name, "kind": kind} | ({"categories": encoder.categories_[name]} if kind == "category" else {})
            for name, kind in zip(encoder.names_, encoder.kinds_, strict=True)
        ]
    return [{"name": str(name), "kind": "number"} for name in getattr(model, "feature_names_in_", [])]


def in_words(columns: list[dict[str, Any]]) -> str:
    """The columns on one line, those that are more or less than a number after the others."""
    kinds = {"number": "", "category": "in categories: ", "constant": "constant, so left out: "}
    told = []
    for kind, words in kinds.items():
        names = [
            f"{column['name']} ({len(column['categories'])})" if kind == "category" else column["name"]
            for column in columns
            if column["kind"] == kind
        ]
        if names:
            more = f", ... ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
            told.append(words + ", ".join(names[:_MOST_NAMES]) + more)
    return "; ".join(told)

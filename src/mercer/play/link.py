"""Links: the state in an address, as state.js writes and reads it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote

from .state import KERNELS, MACHINES, METHODS, RANGES, TEXT, State, read

_KEYS = {
    "machine": "m", "kernel": "k", "text": "t", "C": "C", "gamma": "g", "degree": "d", "coef0": "c", "epsilon": "e",
    "nu": "n", "lambda": "l", "method": "w", "step": "s",
}  # fmt: skip
_LETTERS = {1: "p", -1: "n", 2: "t"}
_START: dict[str, Any] = {
    "machine": MACHINES[0], "kernel": KERNELS[2], "method": METHODS[0], "text": TEXT,
} | {name: row[2] for name, row in RANGES.items()}  # fmt: skip


def to_hash(state: State) -> str:
    """The part of a link after the address of the page."""
    settings = [
        f"{key}={quote(_plain(state.settings[name]), safe='!~*()-._')}"
        for name, key in _KEYS.items()
        if state.settings[name] != _START[name]
    ]
    points = "".join(
        f"{_plain(round(float(x), 3))},{_plain(round(float(y), 3))}{_LETTERS[int(label)]}"
        for (x, y), label in zip(state.points, state.labels, strict=True)
    )
    view = ",".join(_plain(float(f"{value:.4g}")) for value in state.view)
    return "#" + "&".join([*settings, f"v={view}", f"pts={points}"])


def _plain(value: Any) -> str:
    """A number as JavaScript writes it."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def from_link(link: str) -> State:
    """The state of a link, or of its part after #; raises StateError for what is no such link."""
    given = dict(part.partition("=")[::2] for part in link.partition("#")[2].split("&"))
    names = {key: name for name, key in _KEYS.items()}
    data: dict[str, Any] = {}
    for key, value in given.items():
        if key in names:
            data[names[key]] = _number(unquote(value)) if names[key] in RANGES else unquote(value)
    labels = {letter: label for label, letter in _LETTERS.items()}
    rows = re.findall(r"([^pnt]*)([pnt])", unquote(given.get("pts", "")))
    data["points"] = [[*map(_number, cells.split(",")), labels[letter]] for cells, letter in rows]
    data["view"] = [_number(cell) for cell in given.get("v", "").split(",")]
    return read(data)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text

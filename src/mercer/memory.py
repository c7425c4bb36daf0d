"""Amounts of memory as people write them: "2GB", "200 MB", 1_000_000."""

from __future__ import annotations

import re

_UNITS = {"": 1, "b": 1} | {
    name + suffix: base**power
    for power, name in enumerate("kmgt", start=1)
    for suffix, base in (("", 1000), ("b", 1000), ("ib", 1024))
}


DOUBLE = 8
"""Bytes of a float64 number."""

CACHE_LINE = 64
"""Bytes that are loaded together: a vector that lies across two lines takes twice as long."""


class BudgetError(ValueError):
    """The memory that is allowed is too little to work with; the message says how much would do."""


def parse_bytes(amount: int | float | str) -> int:
    """The number of bytes in "2GB" (decimal), "2GiB" (binary) or a plain number."""
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", amount)
        if match and match[2].lower() in _UNITS:
            return int(float(match[1]) * _UNITS[match[2].lower()])
    elif isinstance(amount, int | float) and not isinstance(amount, bool) and 0 < amount < float("inf"):
        return int(amount)
    raise ValueError(f"memory={amount!r} is not an amount of memory: write '2GB', '500MB' or a number of bytes.")


def format_bytes(amount: float) -> str:
    """The amount in the largest unit that leaves a number of at least 1, rounded up so that it always suffices."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            tenths = -int(-amount * 10 // size)
            return f"{tenths / 10:g} {unit}"
    return f"{int(amount)} bytes"

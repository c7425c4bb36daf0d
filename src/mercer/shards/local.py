"""The engine without a cluster: blocks of this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .block import Block, admitted
from .engine import Engine, Verb


class LocalEngine(Engine):
    """Blocks that are here."""

    def __init__(self, chunks: Sequence[Any]) -> None:
        super().__init__(len(chunks))
        self.blocks: list[Block] = [admitted(number, chunk) for number, chunk in enumerate(chunks)]

    def _ask(self, verb: Verb, messages: dict[int, Any], shared: Sequence[Any]) -> dict[int, Any]:
        return {number: verb(self.blocks[number], *args_of(message), *shared) for number, message in messages.items()}

    def tell(self, verb: Verb, messages: dict[int, Any]) -> None:
        self._ask(verb, messages, ())

    def chain(self, verb: Verb, rows: dict[int, Any], parts: Iterable[Any]) -> dict[int, Any]:
        replies: dict[int, Any] = dict.fromkeys(rows)
        for part in parts:
            for number, own in rows.items():
                replies[number] = verb(self.blocks[number], own, replies[number], part)
        return replies


def args_of(message: Any) -> tuple[Any, ...]:
    """A message, or several as a tuple."""
    return message if isinstance(message, tuple) else (message,)

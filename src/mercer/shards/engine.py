"""Engine: who runs functions of blocks, wherever these are. The mathematics needs no more than this.

    ask(verb, messages, *shared)    verb(block, message, *shared) for some blocks: their replies
    tell(verb, messages)            the same, without replies
    chain(verb, rows, parts)        the same with one shared part after the other: replies that grow

Replies come by number of the block, so that sums over blocks have one order, whoever was first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..types import Array
from .block import facts
from .messages import Facts, bytes_of

Verb = Callable[..., Any]


class WorkersLostError(RuntimeError):
    """Nobody is left to do the work."""


class Engine(ABC):
    """Blocks of rows of X, and who works on them. `sent` and `received` count bytes, `rebuilt` blocks told anew."""

    count: int
    """The number of blocks."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.sent: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.rebuilt = 0

    def ask(self, verb: Verb, messages: dict[int, Any], *shared: Any) -> dict[int, Any]:
        """The replies of these blocks; what is shared goes to all of them."""
        replies = self._ask(verb, messages, shared)
        name = verb.__name__
        self.sent[name] += sum(map(bytes_of, messages.values())) + bytes_of(shared) * len(messages)
        self.received[name] += sum(map(bytes_of, replies.values()))
        return {number: replies[number] for number in sorted(replies)}

    @abstractmethod
    def _ask(self, verb: Verb, messages: dict[int, Any], shared: Sequence[Any]) -> dict[int, Any]: ...

    @abstractmethod
    def tell(self, verb: Verb, messages: dict[int, Any]) -> None:
        """The same, where nobody waits for replies, or minds whether there are any."""

    @abstractmethod
    def chain(self, verb: Verb, rows: dict[int, Any], parts: Iterable[Any]) -> dict[int, Any]:
        """The last replies of verb(block, rows, reply before, part), for one part after the other."""

    def renew(self, numbers: Sequence[int]) -> None:
        """Blocks whose knowledge was lost get a place to stay, before they are told anew."""
        self.rebuilt += len(numbers)

    def packed(self, number: int) -> float:
        """Bytes that a block may take for columns made ready."""
        return np.inf

    def room(self, number: int) -> float:
        """Bytes of sums, or of points that are sent, at a time: a worker holds three of them."""
        return np.inf

    @cached_property
    def facts(self) -> list[Facts]:
        """What the blocks are."""
        found = self.ask(facts, dict.fromkeys(range(self.count), ()))
        return [found[number] for number in range(self.count)]

    @cached_property
    def edges(self) -> Array:
        """The first row of each block, and the number of all rows."""
        return np.cumsum([0, *(fact.rows for fact in self.facts)])

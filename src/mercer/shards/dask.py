"""The engine on a Dask cluster: the only file that imports `distributed`.

A block is the result of a task, so that Dask can compute it again from where it came. What it knows of problems is soft
(see block.py) and lives and dies with it. Each exchange is one task per worker, for all of its blocks, by all of its
threads: no worker has a queue, so that nothing is stolen from it, and no task is bound to a worker that may be gone.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from distributed import Client, Future, LocalCluster, default_client, fire_and_forget, get_worker
from distributed import wait as wait_for
from distributed.scheduler import KilledWorker

from ..amounts import ROUNDS
from ..limits import check_limits, now
from ..parallel import GLANCE, threads_given
from ..types import Array
from .block import Block, admitted
from .chunks import BLOCK_BYTES, chunks_of, pieces_of
from .engine import Engine, Verb, WorkersLostError
from .local import args_of
from .messages import bytes_of

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
PATIENCE = 20.0  # All workers are lost after so many seconds without any; the scheduler has as many for an answer.
_SMALL_BYTES = 100_000_000  # Packed copies do not matter, where a worker has no more data than this.
_REMEMBERED = 0.02  # What a worker remembers of a chain of sums is no more than this part of its data,
_SUMS = 0.5 * _REMEMBERED  # and the sums that it works on are this part of it.
_SHARED_BYTES = _SUMS * _SMALL_BYTES  # A message for many workers goes to each with its task, up to this size.
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # terms of many rows are sent once


def client_at_hand(client: Client | None) -> Client:
    """The client to use; the current one, where none is given."""
    if client is not None:
        return client
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "There is no Dask client: start one, as in distributed.Client() for this machine or "
            'distributed.Client("tcp://scheduler:8786"), or give client=.'
        ) from None


@contextmanager
def connected(address: str | None, workers: int) -> Iterator[Client]:
    """A client of the cluster at this address, or of one with so many workers that is started here."""
    if address is not None:
        with Client(address, timeout="20s") as client:
            yield client
        return
    with LocalCluster(n_workers=workers, dashboard_address=":0") as cluster, Client(cluster) as client:
        yield client


class DaskEngine(Engine):
    """Blocks on the workers of a client."""

    def __init__(self, client: Client, blocks: Sequence[Future]) -> None:
        super().__init__(len(blocks))
        self.client, self.blocks = client, list(blocks)
        self.homes: dict[int, str] = {}

    @classmethod
    def of(cls, client: Client, X: Any) -> DaskEngine:
        """The rows of a dask array, a dask data frame, a list of delayed blocks, or an array or data frame that is
        here.
        """
        chunks, name = chunks_of(X), f"mercer-block-{uuid4().hex}"
        with dask.config.set(_QUIET):
            if chunks is not None:
                tasks = [dask.delayed(admitted)(k, c, dask_key_name=f"{name}-{k}") for k, c in enumerate(chunks)]
                return cls(client, client.compute(tasks))
            workers = sorted(_workers(client)) or [""]
            blocks = [
                client.submit(
                    admitted, number, piece, key=f"{name}-{number}", workers=[workers[number % len(workers)]],
                    allow_other_workers=True,
                )
                for number, piece in enumerate(pieces_of(X))
            ]  # fmt: skip
            return cls(client, blocks)

    def packed(self, number: int) -> float:
        return np.inf if self._held[self.homes.get(number, "")] <= _SMALL_BYTES else 0.0

    def room(self, number: int) -> float:
        home = self.homes.get(number, "")
        return _SUMS * max(self._held[home], _SMALL_BYTES) * self.facts[number].nbytes_held / self._held[home]

    @property
    def _held(self) -> Counter[str]:
        """Bytes of data of each worker."""
        held = Counter[str]()
        for number, fact in enumerate(self.facts):
            held[self.homes.get(number, "")] += fact.nbytes_held
        return held

    # Exchanges.

    def _ask(self, verb: Verb, messages: dict[int, Any], shared: Sequence[Any]) -> dict[int, Any]:
        whole = [self.share(part) if bytes_of(part) > _SHARED_BYTES else Letter(part) for part in shared]
        replies: dict[int, Any] = {}
        for bundles in self._turns(messages):
            tasks = {
                home: self._submit(verb, home, numbers, [messages[number] for number in numbers], whole)
                for home, numbers in bundles
            }
            replies |= self._collect(tasks)
        _release(part for part in whole if isinstance(part, Future))
        return replies

    def _turns(self, messages: dict[int, Any]) -> Iterator[list[tuple[str, list[int]]]]:
        """Bundles of blocks of each worker, one after the other: what they are told is never much of its data."""
        room = self._room() if "facts" in vars(self) else np.inf
        left = dict(self._bundles(messages))
        while left:
            turn = {}
            for home, numbers in left.items():
                sizes = np.cumsum([bytes_of(messages[number]) for number in numbers])
                turn[home] = numbers[: max(1, int(np.searchsorted(sizes, room, side="right")))]
            left = {home: rest for home, numbers in left.items() if (rest := numbers[len(turn[home]) :])}
            yield list(turn.items())

    def tell(self, verb: Verb, messages: dict[int, Any]) -> None:
        if self.client.status == "running":  # and only who is known to be there
            for home, numbers in self._bundles(number for number in messages if number in self.homes):
                fire_and_forget(self._submit(verb, home, numbers, [messages[number] for number in numbers], [])[1])

    def chain(self, verb: Verb, rows: dict[int, Any], parts: Iterable[Any]) -> dict[int, Any]:
        bundles, room, sent = self._bundles(rows), self._room(), 0
        told = {home: self.share([rows[number] for number in numbers]) for home, numbers in bundles}
        replies: dict[int, Any] = dict.fromkeys(rows)
        links: dict[str, tuple[list[int], Future]] = {}
        for part in parts:
            whole, before = [self.share(part)], links
            links = {
                home: self._submit(
                    verb, home, numbers, told[home], whole,
                    before[home][1] if before else Letter([replies[number] for number in numbers]), link=True,
                )
                for home, numbers in bundles
            }  # fmt: skip
            done = [future for _, future in before.values()]
            self._wait(done)  # each worker has its next link before it is done with one, and no more than that
            _release([*whole, *done])
            sent += bytes_of(part)
            if sent >= room:  # workers remember every part, until no link can be asked for again
                replies, links, sent = self._collect(links), {}, 0
        if links:
            replies = self._collect(links)
        _release(told.values())
        return replies

    def _room(self) -> float:
        """Bytes of messages that the worker with the fewest data may remember."""
        least = min(self._held.values())
        return _REMEMBERED * least if least > _SMALL_BYTES else BLOCK_BYTES

    def _bundles(self, numbers: Iterable[int]) -> list[tuple[str, list[int]]]:
        """The blocks by their homes, which are looked up where they are not known."""
        numbers = sorted(numbers)
        if any(number not in self.homes for number in numbers):
            self._find()
        bundles: dict[str, list[int]] = {}
        for number in numbers:
            bundles.setdefault(self.homes[number], []).append(number)
        return list(bundles.items())

    def _find(self) -> None:
        """Where the blocks are."""
        self._wait(self.blocks)
        held = self._answer(self.client.scheduler.who_has, keys=[future.key for future in self.blocks]) or {}
        for number, future in enumerate(self.blocks):
            places = sorted(held.get(future.key, ()))
            if self.homes.get(number) not in places:
                self.homes[number] = places[0] if places else ""

    def _submit(
        self, verb: Verb, home: str, numbers: list[int], messages: list[Any] | Future, shared: Sequence[Any],
        before: Any = None, link: bool = False,
    ) -> tuple[list[int], Future]:  # fmt: skip
        """One task for some blocks of a worker: the numbers of the blocks, and the task."""
        place: dict[str, Any] = {"workers": [home], "allow_other_workers": True} if home else {}
        letter = messages if isinstance(messages, Future) else Letter(messages)
        with dask.config.set(_QUIET):
            task = self.client.submit(
                _linked if link else _done, verb, [self.blocks[number] for number in numbers], letter, shared,
                before, key=f"mercer-{verb.__name__.replace('_', '-')}-{uuid4().hex}", pure=False, **place,
            )  # fmt: skip
        return numbers, task

    # Jobs of any kind.

    @property
    def workers(self) -> int:
        """How many there are now; at least 1."""
        return max(1, len(_workers(self.client)))

    def run(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], data: Future) -> list[Any]:
        """What function(*job, data) gives for each job, by whichever worker is free; `data` was shared."""
        with dask.config.set(_QUIET):
            name = f"mercer-{function.__name__.replace('_', '-')}"
            tasks = [
                self.client.submit(_run, function, Letter(job), data, key=f"{name}-{uuid4().hex}", pure=False)
                for job in jobs
            ]
        found = self.gather(tasks)
        _release(tasks)
        return found

    def share(self, part: Any) -> Future:
        """A message for many workers, who get it from one another."""
        with dask.config.set(_QUIET):
            return self.client.submit(_opened, Letter(part), key=f"mercer-message-{uuid4().hex}", pure=False)

    def renew(self, numbers: Sequence[int]) -> None:
        """Each goes to the worker with the fewest blocks: a copy that Dask has fetched for a task may vanish again."""
        super().renew(numbers)
        there = _workers(self.client)
        staying = Counter(dict.fromkeys(there, 0))
        staying.update(home for k, home in self.homes.items() if k not in numbers and home in there)
        for number in numbers:
            place: dict[str, Any] = {}
            if staying:
                worker = min(sorted(staying), key=staying.__getitem__)
                staying[worker] += 1
                place = {"workers": [worker], "allow_other_workers": True}
            key = f"mercer-block-again-{uuid4().hex}"
            self.blocks[number] = self.client.submit(_again, self.blocks[number], key=key, pure=False, **place)
            del self.homes[number]

    # Waiting, never for ever.

    def _collect(self, tasks: dict[str, tuple[list[int], Future]]) -> dict[int, Any]:
        """The replies, by block."""
        futures = [future for _, future in tasks.values()]
        found = self.gather(futures)
        _release(futures)
        replies: dict[int, Any] = {}
        for (numbers, _), some in zip(tasks.values(), found, strict=True):
            replies |= dict(zip(numbers, some, strict=True))
        return replies

    def gather(self, futures: list[Future]) -> list[Any]:
        """What these tasks gave."""
        for _ in range(ROUNDS.again):
            self._wait(futures)
            try:
                found: list[Any] = self.client.sync(self.client._gather, futures, callback_timeout=PATIENCE)
            except TimeoutError:
                continue
            except (KilledWorker, *_CANCELLED, OSError) as error:
                raise WorkersLostError(_WORKERS_LOST.format(error)) from error
            else:
                return found
        raise WorkersLostError(_WORKERS_LOST.format("what they had found could not be fetched"))

    def _wait(self, futures: list[Future]) -> None:
        """Until all are done; raises once there has been no worker for a while."""
        alone = None
        while True:
            check_limits()
            try:
                wait_for(futures, timeout=GLANCE)
            except TimeoutError:
                if self.client.status == "running" and _workers(self.client):
                    alone = None
                    continue
                alone = now() if alone is None else alone
                if now() - alone > PATIENCE or self.client.status == "closed":
                    raise WorkersLostError(_WORKERS_LOST.format("none is left")) from None
            except _CANCELLED as error:
                raise WorkersLostError(_WORKERS_LOST.format("the scheduler has cancelled their tasks")) from error
            else:
                return

    def _answer(self, question: Callable[..., Any], **more: Any) -> Any:
        return _answer(self.client, question, **more)


_WORKERS_LOST = "The workers are lost ({}): start some, and fit again."


def _answer(client: Client, question: Callable[..., Any], **more: Any) -> Any:
    """What the scheduler says, or None."""
    try:
        return client.sync(question, callback_timeout=PATIENCE, **more)
    except (TimeoutError, *_CANCELLED, OSError):
        return None


def _release(futures: Iterable[Future]) -> None:
    """Workers need not keep these results: futures are in cycles, and live until the client collects its garbage."""
    for future in futures:
        future.release()


def _workers(client: Client) -> dict[str, int]:
    """The threads of each worker that is there."""
    return _answer(client, client.scheduler.ncores) or {}


def values_of(engine: DaskEngine, y: Any) -> Any:
    """Targets or weights, here: of a Dask collection, computed there."""
    if y is None:
        return None
    chunks = chunks_of(y)
    if chunks is None:
        return y
    found: list[Array] = [np.asarray(part) for part in engine.gather(engine.client.compute(chunks))]
    return np.concatenate(found)


# What runs on workers.


class Letter:
    """A message that Dask does not look into."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_of(self.content)


def _opened(letter: Letter) -> Letter:
    return letter


def _run(function: Callable[..., Any], job: Letter, data: Letter) -> Any:
    with threads_given(get_worker().state.nthreads):
        return function(*job.content, data.content)


def _again(block: Block) -> Block:
    """The same rows, as a block that knows no problem yet."""
    return Block(block.number, block.X)


def _done(verb: Verb, blocks: list[Block], letter: Letter, shared: list[Letter], before: Any) -> list[Any]:
    """The replies of blocks. Mercer uses all threads of the worker, although nannies hold BLAS to one."""
    with threads_given(get_worker().state.nthreads):
        more = [part.content for part in shared]
        both = zip(blocks, letter.content, strict=True)
        return [verb(block, *args_of(message), *more) for block, message in both]


def _linked(
    verb: Verb, blocks: list[Block], letter: Letter, shared: list[Letter], before: Letter | list[Any]
) -> list[Any]:
    """The same for a link of a chain, whose replies take the place of those before: of a link, or of the client."""
    with threads_given(get_worker().state.nthreads):
        so_far = before.content if isinstance(before, Letter) else before
        both = zip(blocks, letter.content, so_far, strict=True)
        return [verb(block, rows, sums, shared[0].content) for block, rows, sums in both]

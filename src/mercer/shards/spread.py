"""Spread: a shard whose points lie in blocks, on other machines. What a solver sees is the same; each verb is an
exchange.

    name(q), gap(), candidates(q)   every block names its worst points, its share in the gap; the worst are taken
    block(W)                        K of these points, computed here
    move(W, beta)                   those that moved go to all blocks, and each updates its own F and names its worst

So a round is one exchange. What blocks name is by the extreme slopes that the working set has after the move, and by
their own; of these points the client takes those that violate. Their shares in the gap are at the bias of the working
set: at any other than the best, a gap is a little larger.

No message of a round grows with the number of points. Here are the coefficients and terms of all points; F is with the
blocks, and here for those last asked for. A block that was lost, with its F, is told anew: its terms, its coefficients
and K beta, a sum over the support vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import numpy as np

from .._core.core import CHOICE
from ..amounts import ROUNDS
from ..columns import SCRATCH, Columns, padded
from ..columns.columns import BATCH
from ..kernels.points import take
from ..losses import Terms
from ..memory import DOUBLE
from ..parallel import thread_count
from ..types import Array, DType, Index, Points
from . import block as verbs
from .afar import SpreadGram, joined, put
from .compact import Brief, BriefTerms, Coefficients, in_brief
from .engine import WorkersLostError
from .messages import Ask, Begin, Candidates, Lost, Moved, Refresh, Rescaled, Slopes, Summary
from .shard import kept_of

core = CHOICE.functions
_FACTOR = 2  # A block names so many times its fair part of the new points of a working set,
_LEAST = 8  # and at least so many.
_WIDE_BYTES = SCRATCH / 2 / 2 / BATCH  # A point of so many bytes is sent when it is taken.


class Spread:
    """The shard of a problem on a SpreadGram; see Shard for its verbs and what it tells."""

    held: Array | None = None
    stale = False
    everyone = True

    def __init__(self, gram: SpreadGram, dtype: DType, terms: Terms, bias: bool, beta: Array) -> None:
        self.gram, self.engine, self.points = gram, gram.engine, gram.points
        self.dtype, self.terms, self.all_terms, self.bias = np.dtype(dtype), terms, terms, bias
        self.beta = self.all_beta = beta
        self.n, self.F = beta.size, np.zeros(beta.size)
        self.problem, self.round, self.work = f"problem-{uuid4().hex}", 0, 0.0
        self.parts = self.points.parts
        self.wide = sum(fact.nbytes_held for fact in self.engine.facts) >= _WIDE_BYTES * self.engine.edges[-1]
        self.last: Index = np.empty(0, np.intp)  # the working set, oldest first,
        self.W, self.pool = self.last, self.points[:0]  # and in order, with its points
        self.q, self.kept = 0, self.last  # of the working set that is asked for: how many points, and which stay
        self.named: dict[int, Candidates] | None = None  # by blocks, since F last changed
        self.hard = bool(np.isinf(terms.hi - terms.lo)[terms.r == 0.0].any())  # a margin: every round rescales
        self.fetched, self.fetched_at = self.F[:0], -1  # K beta as the blocks had it, after some round
        used = np.flatnonzero(beta)
        self._remember(used, self.points[used])
        self._update_extremes(self._tell(self.parts, gram.recompute(beta)))

    # What blocks are told.

    def _tell(self, numbers: Any, scores: Array) -> dict[int, Summary]:
        """Blocks learn of the problem as it stands; scores are those of all points."""
        return self.engine.ask(verbs.begin, {b: self._begin(b, scores[self.parts[b].places]) for b in numbers})

    def _begin(self, number: int, scores: Array) -> Begin:
        places, rows = self.parts[number]
        return Begin(
            self.problem, self.round, self.gram.kernel, self.dtype.name, self.bias, in_brief(rows),
            BriefTerms.of(self.terms.at(places)), Coefficients.of(self.beta[places]), Brief.of(scores),
            self.points.witnesses, self.engine.packed(number),
        )  # fmt: skip

    def _exchange(self, verb: Callable[..., Any], messages: dict[int, Any], *shared: Any) -> dict[int, Any]:
        """The replies of all; blocks that were lost are told anew. Where the verb changes F, `begin` has done it."""
        replies = self.engine.ask(verb, messages, *shared)
        for _ in range(ROUNDS.again):
            lost = [b for b, reply in replies.items() if isinstance(reply, Lost)]
            if not lost:
                return replies
            self.engine.renew(lost)
            anew = self._rebuild(lost)
            changes = verb in (verbs.move, verbs.rescale, verbs.refresh)
            replies |= anew if changes else self.engine.ask(verb, {b: messages[b] for b in lost}, *shared)
        raise WorkersLostError(
            f"Blocks were lost {ROUNDS.again} times in one exchange: the workers do not live long enough."
        )

    def _rebuild(self, numbers: list[int]) -> dict[int, Summary]:
        scores = np.zeros(self.n)
        places = np.concatenate([self.parts[b].places for b in numbers])
        scores[places] = self.gram.recompute(self.beta, places)
        return self._tell(numbers, scores)

    def _update_extremes(self, replies: dict[int, Summary]) -> float:
        """The extremes over all blocks; how much the blocks say that the dual has risen."""
        self.top = max(reply.top for reply in replies.values())
        self.bottom = min(reply.bottom for reply in replies.values())
        self.free = sum(reply.free for reply in replies.values())
        self.violation = self.top - self.bottom
        self.middle = 0.5 * (self.top + self.bottom) if self.bias else 0.0
        self.total = sum(reply.dual for reply in replies.values())
        named = {b: reply.named for b, reply in replies.items() if reply.named is not None}
        self.named = named if len(named) == len(self.parts) else None
        return sum(reply.gain for reply in replies.values())

    # One round.

    def name(self, q: int) -> None:
        """Every block names its worst points, for a working set of so many, and its share in the gap."""
        self.q = q
        if self.named is None:
            self.named = self._exchange(verbs.ask, self._asked(self.round))

    def _asked(self, number: int) -> dict[int, Ask]:
        """What each block is asked after some round."""
        q, middle = self.q, None if self.hard else self.middle
        self.kept = kept_of(self.last, q)
        most = max(_LEAST, _FACTOR * -(-(q - self.kept.size) // len(self.parts)))
        stay = {b: self.points.place[self._kept_of(b)] for b in self.parts}
        extremes = self.top, self.bottom, middle
        return {b: Ask(self.problem, number, *extremes, most, places, self.wide) for b, places in stay.items()}

    def _kept_of(self, number: int) -> Index:
        """The points of a block among those that stay."""
        return np.asarray(self.kept[self.points.block[self.kept] == number])

    def candidates(self, q: int) -> Index:
        """Half of the last working set, and the worst of those that the blocks name."""
        self.name(q)
        assert self.named is not None
        for b, reply in self.named.items():
            self.F[self._kept_of(b)] = reply.slopes
        found = [(self.parts[b].places[reply.places], reply) for b, reply in self.named.items() if reply.places.size]
        new, points = self.last[:0], self.points[:0]
        if found:
            new, points = np.concatenate([places for places, _ in found]), joined([r.points for _, r in found])
            self.F[new] = np.concatenate([reply.F for _, reply in found])
            best = self._worst(new, max(q - self.kept.size, 2))
            new, points = new[best], self.points[new[best]] if self.wide else take(points, best)
        old = take(self.pool, np.searchsorted(self.W, self.kept)) if self.kept.size else None
        self.last = np.concatenate([self.kept, new])
        order = np.argsort(self.last)
        self.W = self.last[order]
        self.pool = take(joined([part for part in (old, points) if part is not None]), order)
        return self.W

    def _worst(self, new: Index, most: int) -> Index:
        """Of those that were named and violate, the places of at most so many."""
        t, taken, chosen = self.terms, np.zeros(new.size, np.uint8), np.empty(most, np.int64)
        size = core.choose(
            self.F[new], self.beta[new], t.eps[new], t.lo[new], t.hi[new], self.top, self.bottom, taken, chosen
        )
        return np.sort(chosen[:size])

    def block(self, W: Index) -> Array:
        """K of the working set, padded with zeros."""
        columns = Columns(self.gram.kernel, self.pool, self.dtype, thread_count())
        K = np.zeros((padded(W.size),) * 2, self.dtype)
        columns.square(np.arange(W.size), K)
        self.gram.values += columns.counted.values
        self.work += float(W.size) ** 2
        self.K = K[:, : W.size]
        return K

    def move(self, W: Index, beta: Array) -> tuple[float, float]:
        """Take new coefficients; by how much the dual has risen, and the squared length of the move."""
        moved = np.flatnonzero(beta != self.beta[W])
        places, points = W[moved], take(self.pool, moved)
        delta = beta[moved] - self.beta[places]
        self.beta[places] = beta[moved]
        self.round, before = self.round + 1, self.total
        self._ahead(W, moved, delta)
        self._remember(places, points)
        rebuilt = self.engine.rebuilt
        message = Moved(
            self.problem, self.round, points, self.points.block[places], self.points.place[places], beta[moved], delta
        )
        asked = dict.fromkeys(self.parts) if self.hard else self._asked(self.round)
        gain = self._update_extremes(self._exchange(verbs.move, asked, message))
        if self.engine.rebuilt > rebuilt:  # a block that was told anew does not know by how much it has risen
            gain = self.total - before
        self.gram.values += self.n * places.size
        self.work += float(places.size) * self.n
        return gain, float((delta * delta).sum())

    def _ahead(self, W: Index, moved: Index, delta: Array) -> None:
        """The extreme slopes and the bias by the working set alone: late in a descent, the bias is that of all."""
        t, F = self.terms.at(W), self.F[W]
        F[moved] -= t.r[moved] * delta
        core.add_rows(self.K, moved, -delta, F)
        self.top, self.bottom, _ = core.extremes(F, self.beta[W], t.eps, t.lo, t.hi)
        self.middle = 0.5 * (self.top + self.bottom) if self.bias else 0.0

    def scale(self, factor: float) -> None:
        """beta and K beta times a factor, where there are no bounds to keep it."""
        self.beta *= factor
        self.round += 1
        message = Rescaled(self.problem, self.round, factor)
        self._update_extremes(self._exchange(verbs.rescale, dict.fromkeys(self.parts, ()), message))

    def _remember(self, places: Index, points: Points) -> None:
        """Points with a coefficient are kept here: they are what is left, should all workers be lost."""
        self.points.seen.add(self.points.rows[places], points)

    # How far from the best answer.

    def gap(self) -> float:
        """The sum of the shares of all blocks, which have been named."""
        assert self.named is not None
        return sum(reply.share for reply in self.named.values())

    def dual(self) -> float:
        """The dual value, by F as it stands."""
        return self.total

    def scores(self, number: int) -> tuple[Array, float] | None:
        """K beta after this round, by F as the blocks have it, and its error at most; None, once that is past."""
        if number != self.round:
            return None
        F, error = np.empty(self.n), 0.0
        for parts in self.points.waves(np.arange(self.n), DOUBLE):
            told = {b: (self.problem, number, in_brief(self.points.place[part.places])) for b, part in parts.items()}
            replies: dict[int, Slopes] = self._exchange(verbs.slopes, told)
            put(F, parts, {b: reply.F for b, reply in replies.items()})
            error = max(error, *(reply.error for reply in replies.values()))
        scores = self.terms.q - self.terms.r * self.beta - F
        self.fetched, self.fetched_at = scores, self.round
        return scores, error

    def refresh(self, scores: Array) -> None:
        """F from K beta as it really is."""
        known = self.fetched if self.fetched_at == self.round else None
        self.round += 1
        self.points.seen.keep(self.points.rows[np.flatnonzero(self.beta)])
        messages = {b: self._refresh(part.places, scores[part.places], known) for b, part in self.parts.items()}
        self._update_extremes(self._exchange(verbs.refresh, messages))
        self.last = self.W = self.last[:0]
        self.pool = self.points[:0]

    def _refresh(self, places: Index, scores: Array, known: Array | None) -> Refresh:
        """What a block is told: K beta at points where it is not what the block has given."""
        new = None if known is None else np.flatnonzero(scores != known[places])
        values = scores if new is None else scores[new]
        at = None if new is None else in_brief(new)
        return Refresh(self.problem, self.round, Coefficients.of(self.beta[places]), at, Brief.of(values))

    def shrink(self, margin: float, part: float) -> bool:
        """Nobody leaves."""
        return False

    def close(self) -> None:
        """The blocks may forget the problem."""
        self.engine.tell(verbs.forget, dict.fromkeys(self.parts, self.problem))

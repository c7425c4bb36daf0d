"""A sheet whose paths are answered by the workers of a Dask client: each gets the data once, and then settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..limits import Deadline
from ..parallel import thread_count
from .cells import CellAnswer
from .sheet import Sheet


@dataclass(eq=False)
class SpreadSheet(Sheet):
    """The same answers, found by workers. Those of the first path come whatever the time."""

    client: Any = field(default=None, kw_only=True)

    def solve(self) -> None:
        from ..shards.dask import DaskEngine

        folds = range(len(self.splits.made))
        left = [path for path in self.paths if any(self.open(path, fold) for fold in folds)]
        engine = DaskEngine(self.client, [])
        what = self.train_too, self.prune, self.bounds, self.weight
        data = engine.share((self.estimator, self.X, self.y, self.splits, self.memory, *what))
        haste = self.deadline.limited or self.checkpoint is not None
        step = engine.workers if haste else max(1, len(left))  # at a time: then there is a look at the clock
        try:
            for start in range(0, len(left), step):
                if start and self.deadline.limited and self.deadline.left() <= 0.0:
                    return
                seconds = max(self.deadline.left(), 0.0) if self.deadline.limited else None
                jobs = [(path, seconds) for path in left[start : start + step]]
                for found in engine.run(answered, jobs, data):
                    self.answers |= {key: self._here(answer) for key, answer in found.items()}
                self.keep()
        finally:
            data.release()  # workers need not keep it, until the client collects its garbage
            self.keep()

    def _here(self, answer: CellAnswer | Exception) -> CellAnswer | Exception:
        """The answer; a machine that was fitted by itself reads its rows from the X that is here."""
        if isinstance(answer, CellAnswer) and answer.plain is not None:
            answer.plain.X = self.X
        return answer


def answered(path: list[dict[str, Any]], seconds: float | None, data: Any) -> dict[Any, CellAnswer | Exception]:
    """The answers of a path in all folds, by all threads of a worker."""
    estimator, X, y, splits, memory, train_too, prune, bounds, weight = data
    sheet = Sheet(
        estimator, X, y, splits, memory, thread_count(), train_too, Deadline.after(seconds or None), prune,
        bounds=bounds, weight=weight,
    )  # fmt: skip
    sheet.paths = [path]
    sheet.solve()
    for answer in sheet.answers.values():
        if isinstance(answer, CellAnswer) and answer.plain is not None:
            answer.plain.X = None  # it is there already
    return sheet.answers

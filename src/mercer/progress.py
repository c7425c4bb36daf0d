"""What can be seen of a fit while it runs: whoever watches is told of each round; `Line` shows them on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Self

from .solution import Certificate, Solution, Step

_EVERY = 2.0  # seconds between plain lines
_LIVE = 0.1  # and between two looks of the line in a notebook


class Watch:
    """Looks on while problems are solved; an answer of True stops them."""

    def round(self, number: int, step: Step) -> bool:
        """Called after each round on the problem with this number."""
        return False

    def done(self, number: int, solution: Solution) -> bool:
        """Called when the problem with this number is solved."""
        return False


class Watches(Watch):
    """Several at once; any of them may stop the fit."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self.watches = list(watches)

    def round(self, number: int, step: Step) -> bool:
        return any([watch.round(number, step) for watch in self.watches])  # noqa: C419 (all of them are told)

    def done(self, number: int, solution: Solution) -> bool:
        return any([watch.done(number, solution) for watch in self.watches])  # noqa: C419


class Line(Watch):
    """One line: live on a terminal and in a notebook, repeated on stderr now and then elsewhere. A context manager."""

    def __init__(self, name: str, total: int = 1) -> None:
        self.name, self.total = name, total
        self.live: Any = None
        self.cell: Any = None  # of a notebook
        self.text, self.shown = "", ""
        self.solved, self.worst = 0, 0.0
        self.began = self.last = perf_counter()

    def __enter__(self) -> Self:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        if console.is_jupyter:
            from IPython.display import display

            self.cell = display(self._in_cell(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        elif console.is_terminal:
            self.live = Live(console=console, redirect_stdout=False, get_renderable=self._render)
            self.live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self.live is not None:
            self.live.__exit__(*error)
        elif self.text != self.shown:
            self._show()

    def round(self, number: int, step: Step) -> bool:
        self.text = self._words(step.iteration, step, step.support)
        now = perf_counter()
        every = _EVERY if self.cell is None else _LIVE
        if self.live is None and (not self.shown or now - self.last >= every):
            self.last = now
            self._show()
        return False

    def done(self, number: int, solution: Solution) -> bool:
        self.solved += 1
        self.worst = max(self.worst, solution.certificate.relative_gap)
        if self.total > 1:
            solved = f"{self.solved} of {self.total} problems solved"
            self.text = (
                f"{self.name}  {solved}  worst relative gap {self.worst:.1e}  {perf_counter() - self.began:.1f} s"
            )
        elif solution.history:  # as the certificate says, which is computed anew
            certificate, support = solution.certificate, int(solution.support.size)
            told = self._words(solution.iterations, certificate, support)
            self.text = f"{told}  {solution.status.word}"
        return False

    def _words(self, rounds: int, seen: Step | Certificate, support: int) -> str:
        which = f"{self.solved} of {self.total} problems solved  " if self.total > 1 else ""
        return (
            f"{self.name}  {which}round {rounds}  primal {seen.primal:.6g}  dual {seen.dual:.6g}  "
            f"relative gap {seen.relative_gap:.1e}  {support} support vectors  {perf_counter() - self.began:.1f} s"
        )

    def _show(self) -> None:
        self.shown = self.text
        if self.cell is not None:
            self.cell.update(self._in_cell(), raw=True)
        else:
            print(self.text, file=sys.stderr, flush=True)

    def _in_cell(self) -> dict[str, str]:
        """The text, as notebooks take it."""
        return {"text/plain": self.text or self.name}

    def _render(self) -> Any:
        from rich.text import Text

        return Text(self.text, no_wrap=True, overflow="ellipsis")

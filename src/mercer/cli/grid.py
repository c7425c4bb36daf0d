"""A grid of settings and their scores by cross-validation."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Group
from rich.live import Live
from rich.table import Table as Shown
from sklearn.base import clone
from sklearn.model_selection import check_cv

from ..io import Table
from ..kernels import Kernel
from ..kernels import kernel as as_kernel
from ..limits import Deadline
from ..parallel import thread_count
from ..search.auto import scale_path
from ..search.row_numbers import Splits
from ..search.sheet import Sheet
from ..ties import first_largest
from ..types import Array
from .exits import Exit, UsageError
from .fitting import pipeline_of
from .output import console, note
from .scores import folds
from .scoring import judged, names_of

FOLDS = 5
_LEFT_OUT = "leave-one-out R2"
_AROUND = {"gamma": 16.0, "length_scale": 4.0}  # gamma goes from 1/16 to 16 times its default
_RANGES = {"alpha": "C", "length_scale": "length-scale"}  # where a setting has another name on the command line


@dataclass(eq=False)
class Grid:
    """The values of C (or alpha) and gamma (or length_scale) for a machine, and the score of each pair in each fold."""

    machine: Any
    first: str
    """C or alpha."""
    path: str
    """Where gamma or length_scale stands within the kernel; empty where the kernel has neither."""
    Cs: list[float]
    gammas: list[float]
    scored: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    score: str = ""
    others: dict[tuple[int, int], list[dict[str, float]]] = field(default_factory=dict)
    """All scores of each cell and fold, where several were asked for."""

    @classmethod
    def of(cls, machine: Any, X: Any, C_range: Any, scale_ranges: dict[str, Any], steps: tuple[int, int]) -> Grid:
        """The grid of a machine: its weight of mistakes, and gamma or length_scale, where its kernel has one."""
        known = machine.get_params(deep=False)
        first = "C" if "C" in known else "alpha"
        if first not in known:
            raise UsageError(f"{type(machine).__name__} has neither C nor alpha to tune.")
        C_range = C_range or ((0.1, 1000.0) if first == "C" else (1e-4, 10.0))
        path = scale_path(known.get("kernel"))
        grid = cls(machine, first, path, _logarithmic(C_range, steps[0]), [float("nan")])
        for name, given in scale_ranges.items():
            if given and name != grid.second:
                raise UsageError(f"--{_RANGES.get(name, name)}-range: this kernel has no {name} to tune.")
        if path:
            ends = scale_ranges.get(grid.second) or _around(as_kernel(known["kernel"]).resolve(X), path)
            grid.gammas = _logarithmic(ends, steps[1])
        return grid

    @property
    def second(self) -> str:
        """gamma or length_scale."""
        return self.path.split("__")[-1]

    def candidate(self, i: int, j: int) -> Any:
        """An unfitted machine with the i-th gamma and the j-th C."""
        copy = clone(self.machine).set_params(**{self.first: self.Cs[j]})
        return copy.set_params(kernel=self.kernel(i)) if self.path else copy

    def settings(self, i: int, j: int) -> dict[str, Any]:
        """The same, as settings of a pipeline that ends with the machine."""
        kernel = {"model__kernel": self.kernel(i)} if self.path else {}
        return {f"model__{self.first}": self.Cs[j], **kernel}

    def kernel(self, i: int) -> Kernel:
        """The kernel with the i-th gamma."""
        kernel = as_kernel(self.machine.kernel)
        return kernel.with_params(**{self.path: self.gammas[i]}) if self.path else kernel

    def mean(self, i: int, j: int) -> float:
        """The mean score over the folds so far; NaN where there is none."""
        values = self.scored.get((i, j), [])
        return float(np.mean(values)) if values else float("nan")

    def best(self) -> tuple[int, int] | None:
        """The best cell; of equals the one with the smallest C, then gamma."""
        cells = sorted(self.scored, key=lambda cell: (cell[1], cell[0]))
        return cells[first_largest([self.mean(*cell) for cell in cells])] if cells else None

    def best_machine(self, tol: float, time_limit: float | None) -> Any:
        """An unfitted machine with the best settings, to be trained to a tolerance within a time."""
        best = self.best()
        assert best is not None
        machine = self.candidate(*best).set_params(tol=tol)
        return machine if time_limit is None else machine.set_params(time_limit=time_limit)

    def varied(self) -> tuple[int, int]:
        """How many gammas, and how many C, have a score."""
        cells = [cell for cell in self.scored if np.isfinite(self.mean(*cell))]
        return len({i for i, _ in cells}), len({j for _, j in cells})

    def at_the_edge(self) -> list[str]:
        """Where the best cell is at an edge of the grid, better ones may lie outside."""
        best = self.best()
        if best is None:
            return []
        sides = ((self.first, self.Cs, best[1]), (self.second, self.gammas, best[0]))
        return [
            f"the best {name}, {values[place]:g}, is at the edge of the grid: --{_RANGES.get(name, name)}-range "
            "can widen it."
            for name, values, place in sides
            if len(values) > 1 and place in (0, len(values) - 1)
        ]

    def results(self) -> dict[str, Any]:
        """As in scikit-learn's cv_results_, and what the scores are."""
        cells = sorted(self.scored)
        return {
            "params": [
                {self.first: self.Cs[j]} | ({f"kernel__{self.path}": self.gammas[i]} if self.path else {})
                for i, j in cells
            ],
            "mean_test_score": np.array([self.mean(*cell) for cell in cells]),
            "std_test_score": np.array([np.std(self.scored[cell]) for cell in cells]),
            "label": self.score if self.score == _LEFT_OUT else f"mean {self.score} in cross-validation",
        }

    def title(self) -> str:
        """What the scores are."""
        return self.score if self.score == _LEFT_OUT else f"{self.score} by cross-validation"

    def data(self) -> dict[str, Any]:
        """The grid for JSON."""
        best = self.best()
        assert best is not None
        i, j = best
        chosen: dict[str, Any] = {self.first: self.Cs[j], "score": self.mean(i, j)}
        if len(self.scored[best]) > 1:
            chosen["deviation"] = float(np.std(self.scored[best]))
        several = self.others.get(best, [])
        if several and len(several[0]) > 1:
            chosen["scores"] = {name: float(np.mean([one[name] for one in several])) for name in several[0]}
        values: dict[str, Any] = {self.first: self.Cs, "score": self.score, "best": chosen}
        if self.path:
            chosen[self.second], values[self.second] = self.gammas[i], self.gammas
        if "kernel" in self.machine.get_params(deep=False):
            chosen["kernel"] = repr(self.kernel(i))
        values["scored"] = len(self.scored)
        return values | {"scores": [[self.mean(i, j) for j in range(len(self.Cs))] for i in range(len(self.gammas))]}

    def how_far(self) -> str:
        """How much of the grid is done, in words."""
        return f"{len(self.scored)} of {len(self.Cs) * len(self.gammas)} settings are scored"

    def in_words(self, value: float) -> str:
        """A score as people read it."""
        return f"{100 * value:.2f}%" if "accuracy" in self.score else f"{value:.4f}"

    def table(self) -> Any:
        """The scores for rich, the best one marked."""
        table = Shown(box=None, pad_edge=False)
        if self.path:
            table.add_column(self.second, justify="right", style="bold")
        for C in self.Cs:
            table.add_column(f"{C:g}", justify="right", header_style="bold")
        best = self.best()
        for i, gamma in enumerate(self.gammas):
            cells = [self.in_words(self.mean(i, j)) if (i, j) in self.scored else "." for j in range(len(self.Cs))]
            cells = [f"[bold reverse]{text}[/]" if (i, j) == best else text for j, text in enumerate(cells)]
            table.add_row(*([f"{gamma:g}"] if self.path else []), *cells)
        return Group(
            f"{self.score or 'score'} for each {self.first}{f' and {self.second}' if self.path else ''}", table
        )


def search(
    arguments: argparse.Namespace, grid: Grid, X: Any, table: Table, y: Array, targets: str, limit: float | None
) -> Exit:
    """Score the grid, gamma by gamma; what is scored by the time limit or Ctrl-C stays.

    Folds are cut out of the table, so that encoder and scaler see no more than a fold trains on; X are all points.
    """
    names, deadline = names_of(arguments), Deadline.after(limit)
    path = arguments.cv is None and not names and hasattr(grid.machine, "path")
    sheet = None if path else _sheet(arguments, grid, table, y, targets, deadline)
    err = console(stderr=True)
    live = (
        Live(console=err, get_renderable=grid.table, transient=True)
        if err.is_terminal and not arguments.quiet
        else None
    )
    code = Exit.FINE
    try:
        if live:
            live.start()
        for i in range(len(grid.gammas)):
            code = _path(grid, i, X, y, deadline) if sheet is None else _row(grid, i, sheet, targets, names)
            if code is not Exit.FINE:
                break
            if live is None:
                values = ", ".join(f"{C:g}: {grid.in_words(grid.mean(i, j))}" for j, C in enumerate(grid.Cs))
                note(arguments, f"{grid.second} {grid.gammas[i]:g}  {values}" if grid.path else values)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    finally:
        if live:
            live.stop()
    return code


def _sheet(
    arguments: argparse.Namespace, grid: Grid, table: Table, y: Array, targets: str, deadline: Deadline
) -> Sheet:
    """The sheet that scores settings of the whole pipeline."""
    cut = check_cv(folds(targets, y, table.n, arguments.cv or FOLDS, arguments.seed))
    pipeline = pipeline_of(arguments, grid.machine, table)
    memory = getattr(grid.machine, "memory", "2GB")
    return Sheet(pipeline, table, y, Splits(cut, table, y, {}), memory, thread_count(), False, deadline)


def _path(grid: Grid, i: int, X: Any, y: Array, deadline: Deadline) -> Exit:
    """Score all alpha of one gamma by leaving out each row once: one eigendecomposition tells it all."""
    if deadline.limited and deadline.left() <= 0.0:
        return Exit.LIMITS
    errors = grid.candidate(i, 0).path(X, y, np.array(grid.Cs)).errors[:, 0]
    spread = float(np.var(y))
    grid.score = _LEFT_OUT
    for j, error in enumerate(errors.tolist()):
        grid.scored[i, j] = [1.0 - error / spread if spread > 0.0 else float("nan")]
    return Exit.FINE


def _row(grid: Grid, i: int, sheet: Sheet, targets: str, names: list[str]) -> Exit:
    """Score all C of one gamma together."""
    if sheet.deadline.limited and sheet.deadline.left() <= 0.0:
        return Exit.LIMITS
    row = [grid.settings(i, j) for j in range(len(grid.Cs))]
    sheet.paths = []
    sheet.add(row)
    sheet.solve()
    for j, settings in enumerate(row):
        every = []
        for train, test in sheet.splits.made:
            fitted = sheet.machine(settings, train, {})
            every.append(judged(fitted, test, targets, sheet.y[test], names))
        grid.score = next(iter(every[0]))
        grid.scored[i, j], grid.others[i, j] = [found[grid.score] for found in every], every if names else []
    return Exit.FINE


def _around(kernel: Kernel, path: str) -> tuple[float, float]:
    """The ends of a range around what the kernel has."""
    start, factor = float(kernel.get_params()[path]), _AROUND[path.split("__")[-1]]
    return start / factor, start * factor


def _logarithmic(ends: tuple[float, float], steps: int) -> list[float]:
    """Values at equal ratios, with four digits."""
    low, high = ends
    if not low <= high:
        raise UsageError(f"A range goes from low to high, not from {low:g} to {high:g}.")
    values = np.geomspace(low, high, steps) if steps > 1 else [np.sqrt(low * high)]
    return list(dict.fromkeys(float(f"{value:.4g}") for value in values))

"""A grid of settings and their scores by cross-validation."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from ..estimators.base import Machine
from ..estimators.parts import Part
from ..gram import DenseGram
from ..kernels import Kernel
from ..kernels import kernel as as_kernel
from ..kernels.points import Domain, count
from ..memory import parse_bytes
from ..ties import first_largest
from ..types import Array
from .exits import Exit, UsageError
from .output import console, note
from .scores import folds
from .scoring import judged, names_of

FOLDS = 5
_LEFT_OUT = "leave-one-out R2"
_AROUND = {"gamma": 16.0, "length_scale": 4.0}  # gamma goes from 1/16 to 16 times its default
_RANGES = {"alpha": "C", "length_scale": "length-scale"}  # where a setting has another name on the command line
_PRECISE = 1500  # up to so many points, kernel values are float64
_SHARE = 3  # the matrix, its part for a fold, and what a solver needs


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
    def of(cls, machine: Any, X: Any, C_range: Any, scale_ranges: dict[str, Any], steps: int) -> Grid:
        """The grid of a machine: its weight of mistakes, and gamma or length_scale, where its kernel has one."""
        known = machine.get_params(deep=False)
        first = "C" if "C" in known else "alpha"
        if first not in known:
            raise UsageError(f"{type(machine).__name__} has neither C nor alpha to tune.")
        C_range = C_range or ((0.1, 1000.0) if first == "C" else (1e-4, 10.0))
        path = _scale_path(known.get("kernel"))
        grid = cls(machine, first, path, _logarithmic(C_range, steps), [float("nan")])
        for name, given in scale_ranges.items():
            if given and name != grid.second:
                raise UsageError(f"--{_RANGES.get(name, name)}-range: this kernel has no {name} to tune.")
        if path:
            ends = scale_ranges.get(grid.second) or _around(as_kernel(known["kernel"]).resolve(X), path)
            grid.gammas = _logarithmic(ends, steps)
        return grid

    @property
    def second(self) -> str:
        """gamma or length_scale."""
        return self.path.split("__")[-1]

    def candidate(self, i: int, j: int) -> Any:
        """An unfitted machine with the i-th gamma and the j-th C."""
        from sklearn.base import clone

        copy = clone(self.machine).set_params(**{self.first: self.Cs[j]})
        return copy.set_params(kernel=self.kernel(i)) if self.path else copy

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
        from rich.console import Group
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
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


def search(arguments: argparse.Namespace, grid: Grid, X: Any, y: Array, targets: str, limit: float | None) -> Exit:
    """Score the grid, gamma by gamma; what is scored by the time limit or Ctrl-C stays."""
    from rich.live import Live

    deadline = None if limit is None else perf_counter() + limit
    names = names_of(arguments)
    path = arguments.cv is None and not names and hasattr(grid.machine, "path")
    splits = [] if path else folds(targets, y, count(X), arguments.cv or FOLDS, arguments.seed)
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
            code = _path(grid, i, X, y, deadline) if path else _row(grid, i, X, y, targets, splits, deadline, names)
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


def _path(grid: Grid, i: int, X: Any, y: Array, deadline: float | None) -> Exit:
    """Score all alpha of one gamma by leaving out each row once: one eigendecomposition tells it all."""
    if deadline is not None and perf_counter() >= deadline:
        return Exit.LIMITS
    errors = grid.candidate(i, 0).path(X, y, np.array(grid.Cs)).errors[:, 0]
    spread = float(np.var(y))
    grid.score = _LEFT_OUT
    for j, error in enumerate(errors.tolist()):
        grid.scored[i, j] = [1.0 - error / spread if spread > 0.0 else float("nan")]
    return Exit.FINE


def _row(
    grid: Grid, i: int, X: Any, y: Array, targets: str, splits: Any, deadline: float | None, names: list[str]
) -> Exit:
    """Score all C of one gamma; the Gram matrix is computed once, and each fold starts from the C before."""
    shareable = getattr(type(grid.machine), "fit", None) is Machine.fit and hasattr(grid.machine, "memory")
    gram = _shared(grid.kernel(i), X, grid.machine.memory) if shareable else None
    parts = None if gram is None else [Part(gram, y, train, test) for train, test in splits]
    for j in range(len(grid.Cs)):
        values, every = [], []
        for number, (train, test) in enumerate(splits):
            left = None if deadline is None else deadline - perf_counter()
            if left is not None and left <= 0:
                return Exit.LIMITS
            candidate = grid.candidate(i, j)
            if left is not None and "time_limit" in candidate.get_params(deep=False):
                candidate.set_params(time_limit=left)
            fitted = candidate.fit(X[train], y[train]) if parts is None else parts[number].fit(candidate)
            points = X[test] if parts is None else parts[number].tested()
            found = judged(fitted, points, targets, y[test], names)
            grid.score = next(iter(found))
            values.append(found[grid.score])
            every.append(found)
        grid.scored[i, j], grid.others[i, j] = values, every if names else []
    return Exit.FINE


def _shared(kernel: Kernel, X: Any, memory: Any) -> DenseGram | None:
    """The Gram matrix of all points, where there is room for it and for its parts."""
    n = count(X)
    dtype = np.dtype(np.float64 if n <= _PRECISE else np.float32)
    if kernel.domain is not Domain.VECTORS or _SHARE * n * n * dtype.itemsize > parse_bytes(memory):
        return None
    return DenseGram.compute(kernel.resolve(X), X, "dense: shared by all folds", dtype)


def _scale_path(kernel: Any) -> str:
    """The nested name of the first gamma or length_scale of a kernel; empty where it has neither."""
    if kernel is None:
        return ""
    return next((name for name in as_kernel(kernel).get_params() if name.split("__")[-1] in _AROUND), "")


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

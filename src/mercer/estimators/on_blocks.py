"""Machines fitted on rows that are spread over blocks. Targets and weights are here: numbers, one for each row."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d, validate_data

from ..amounts import AT_A_TIME
from ..arithmetic import by_default
from ..kernels import Gaussian, Kernel
from ..kernels import kernel as as_kernel
from ..kernels.adaptive import Adaptive
from ..kernels.points import Domain
from ..limits import Deadline
from ..progress import Line, Watch, Watches
from ..shards.afar import SpreadGram, SpreadPoints
from ..shards.block import Block
from ..shards.engine import Engine
from ..solvers import Decomposition
from ..solvers import solver as as_solver
from ..solvers.newton import NystromNewton
from ..solvers.spread_decomposition import SpreadDecomposition
from ..types import Array
from .checks import advise, keeping, sample_weights, warn_of, warn_of_gaps
from .fitting import fit_machines
from .logistic import KernelLogistic
from .machine import Machine
from .repeated import numbers_of
from .resumed import Checkpoint
from .ridge import KernelRidge
from .ridge_blocks import SpreadRows
from .tasks import Training

_HOW_LONG = ("time_limit", "max_iter", "verbose", "tol")  # settings that may change from one run to the next


@by_default
def fit_on_blocks(
    machine: Any, engine: Engine, y: Any, sample_weight: Any = None, *, columns: Any = None,
    checkpoint: Any = None, watch: Watch | None = None,
) -> Any:  # fmt: skip
    """The machine, fitted as its own fit would do it; `columns` is a data frame with their names, without rows.

    What is found is written to the file `checkpoint` now and then; where it is there already, the fit goes on from it.
    """
    deadline = Deadline.after(machine.time_limit)
    machine._check()
    if getattr(machine, "loss", "") == "logistic":
        raise ValueError("LinearSVC(loss='logistic') is for one machine: give 'hinge' or 'squared_hinge'.")
    _learn_columns(machine, engine, columns)
    training = _training(machine, engine, y, sample_weight)
    gram = SpreadGram(training.kernel, training.points)
    kept = None if checkpoint is None else Checkpoint(checkpoint, training, _fingerprint(engine, machine))
    with keeping(machine) as interrupt, ExitStack() as stack:
        name, total = type(machine).__name__, len(training.tasks)
        watches: list[Watch] = [] if watch is None else [watch]
        if machine.verbose:
            watches.append(stack.enter_context(Line(name, total)))
        solutions = fit_machines(
            gram, training.tasks, _solver(machine), tol=machine.tol, max_iter=machine.max_iter, deadline=deadline,
            watch=Watches(watches) if watches else None, kept=kept,
        )  # fmt: skip
        reason = f"{len(gram.points)} rows are {gram.reason}"
        used = _solver(machine)  # as others know it, and as files hold it
        solver = Decomposition(used.working_set) if isinstance(used, SpreadDecomposition) else used
        solutions = [replace(s, solver=solver, reason="; ".join(filter(None, [reason, s.reason]))) for s in solutions]
        if gram.doubt is not None:
            warn_of(gram.doubt)
        machine._keep(training, solutions, gram)
        if not interrupt.asked:
            warn_of_gaps(machine)
    return machine


@by_default
def fit_ridge_on_blocks(
    machine: KernelRidge, engine: Engine, y: Any, sample_weight: Any = None, *, columns: Any = None
) -> KernelRidge:
    """Ridge regression through landmarks, by sums over the blocks."""
    _learn_columns(machine, engine, columns)
    points = SpreadPoints(engine)
    if y is None:
        raise ValueError("KernelRidge requires y to be passed, but the target y is None.")
    y = np.asarray(y, np.float64)
    check_consistent_length(range(len(points)), y)
    assert_all_finite(y, input_name="y")
    weight = sample_weights(sample_weight, len(points))
    rows = np.flatnonzero(weight)
    fitted: KernelRidge = machine.fit(SpreadRows(points.chosen(rows), y[rows], weight[rows]))
    return fitted


def _learn_columns(machine: Any, engine: Engine, columns: Any) -> None:
    """How many columns there are, and their names, if they have any."""
    require_rows(engine)
    width = next(fact.width for fact in engine.facts if fact.rows)
    validate_data(machine, np.empty((1, width)) if columns is None else columns, skip_check_array=True)


def _fingerprint(engine: Engine, machine: Machine) -> Any:
    """What tells these rows and settings from others, however the rows are cut."""
    starts = {number: int(engine.edges[number]) for number in range(engine.count) if engine.facts[number].rows}
    numbers = [int(number) for number in engine.ask(_number_of, starts).values()]
    settings = {name: value for name, value in machine.get_params(deep=False).items() if name not in _HOW_LONG}
    return sum(numbers) & int(np.iinfo(np.uint64).max), type(machine).__name__, sorted(settings.items(), key=str)


def _number_of(block: Block, start: int) -> int:
    """A number of the rows of a block; those of all blocks sum up to that of all rows, modulo 2^64."""
    numbers = numbers_of(block.X, np.zeros(block.X.shape[0]))
    places = 2 * np.arange(start, start + numbers.size, dtype=np.uint64) + np.uint64(1)
    return int((numbers * places).sum(dtype=np.uint64))


def _solver(machine: Machine) -> SpreadDecomposition | NystromNewton:
    solver = None if machine.solver is None else as_solver(machine.solver)
    if isinstance(machine, KernelLogistic):
        if solver is None or type(solver) is NystromNewton:
            return solver or NystromNewton()
        raise ValueError(f"On blocks of rows the solver of KernelLogistic is NystromNewton (or None), not {solver!r}.")
    if solver is None:
        return SpreadDecomposition()
    if type(solver) is Decomposition:
        return SpreadDecomposition(solver.working_set)
    raise ValueError(f"On blocks of rows the solver is Decomposition (or None), not {solver!r}.")


def _training(machine: Machine, engine: Engine, y: Any, sample_weight: Any) -> Training:
    """What is trained on; see Machine._training."""
    kernel = as_kernel(machine.kernel)
    if kernel.domain is not Domain.VECTORS:
        raise ValueError(f"Blocks hold rows of numbers, and {kernel!r} is a kernel on {kernel.domain.value}.")
    everything = SpreadPoints(engine)
    n = len(everything)
    y = _targets(machine, y, n)
    weight = sample_weights(sample_weight, n)
    rows = np.flatnonzero(weight)
    order, group, tasks = machine._plan(None if y is None else y[rows], weight[rows])
    rows = rows if order is None else rows[order]
    points = everything.chosen(rows)
    some = np.linspace(0, rows.size - 1, min(rows.size, AT_A_TIME.drawn_rows)).astype(int)
    sample = points[some]
    advise(machine, kernel, sample)
    kernel.check(sample, "X")
    resolved = _resolved(kernel, points, weight[rows], sample, weight[rows][some])
    return Training(resolved, points, rows, n, group, tuple(tasks))


def require_rows(engine: Engine) -> None:
    """Raise where there are no rows, or where blocks do not fit together."""
    held = [fact for fact in engine.facts if fact.rows]
    if not held:
        raise ValueError("X has no rows in any of its blocks: there is nothing to learn from.")
    widths, kinds = sorted({fact.width for fact in held}), {fact.sparse for fact in held}
    if len(widths) > 1:
        raise ValueError(f"The blocks of X have {' and '.join(map(str, widths))} columns: all must have the same.")
    if len(kinds) > 1:
        raise ValueError("Some blocks of X are sparse and others are dense: make all of them the same.")


def _targets(machine: Machine, y: Any, n: int) -> Array | None:
    if machine._targets == "nothing":
        return None
    if y is None:
        raise ValueError(f"{type(machine).__name__} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(range(n), y)
    assert_all_finite(y, input_name="y")
    return np.asarray(y, np.float64) if machine._targets == "numbers" else np.asarray(y)


def _resolved(kernel: Kernel, points: SpreadPoints, weight: Array, sample: Any, sample_weight: Array) -> Kernel:
    """The kernel with its parameters found: Gaussian("scale") from all rows, the others from a sample where rows are
    many.
    """
    if len(points) == sample_weight.size:
        return kernel.resolve(sample, weight)
    if isinstance(kernel, Gaussian) and kernel.gamma == "scale":
        size = points.variance(weight) * points.shape[1]
        return replace(kernel, gamma=1.0 / size if size else 1.0)
    if isinstance(kernel, Adaptive) or not kernel.parts():
        return kernel.resolve(sample, sample_weight)
    parts = {f.name: getattr(kernel, f.name) for f in fields(kernel)}  # type: ignore[arg-type]
    found = {
        name: _resolved(part, points, weight, sample, sample_weight)
        for name, part in parts.items()
        if isinstance(part, Kernel)
    }
    return replace(kernel, **found)  # type: ignore[type-var]

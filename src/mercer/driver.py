"""The driver: the one loop around solvers, with tolerance, limits, history, callback, Ctrl-C and status.

A solver only yields iterates; `rounds.Run` follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arithmetic import by_default
from .limits import NEVER, heeded, interruptible, require_limits, until, within
from .problem import Problem
from .rounds import OneColumn, SeveralColumns
from .shards.engine import WorkersLostError
from .solution import Solution, Status, Step
from .solvers import Solver, choose
from .solvers import solver as as_solver
from .solvers.landmarks import least
from .solvers.ridge import Ridge
from .types import Array


@by_default
def solve(
    problem: Any,
    solver: Solver | str | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    time_limit: float | None = None,
    start: Array | Solution | None = None,
    callback: Callable[[Step], Any] | None = None,
    keep: Callable[[Array], Any] | None = None,
) -> Any:
    """Solve to a relative gap of `tol`, proved by a certificate.

    Ends after `max_iter` rounds (None: the work of 2,000 full ones, however small the memory makes them) or
    `time_limit` seconds, at Ctrl-C, or where `callback(step)` returns True, with the best answer so far and an honest
    status. So a loop over problems looks at the status, to end at Ctrl-C: it is INTERRUPTED then, whatever the gap. A
    second Ctrl-C raises KeyboardInterrupt; so does the first, where a problem such as that of OneClassSVM has no answer
    yet. `start` is a Solution, or coefficients, to go on from; `keep(beta)` is given those of each round. Of a Ridge,
    with a column for each target, the answer is a tuple of Solutions.
    """
    several = isinstance(problem, Ridge)
    if not several and not isinstance(problem, Problem):
        raise TypeError(f"solve takes a Problem, such as Problem.of(kernel, X, y), not {type(problem).__name__}.")
    require_limits(tol, max_iter, time_limit, callback)
    if solver is None:
        chosen, reason = choose(problem)
    else:
        chosen, reason = solver if isinstance(solver, Solver) else as_solver(solver), ""
        chosen.check(problem)
    beta = start.beta if isinstance(start, Solution) else start
    limit = within(time_limit)
    with until(NEVER), interruptible() as interrupt:  # the solver has a deadline, what is done with its answer not
        kind = SeveralColumns if several else OneColumn
        run: Any = kind(problem, tol, max_iter, limit, callback, interrupt)
        run.keep, run.polish = keep, run.polish if solver is None else 0
        try:
            begun = run.ready(chosen)
            if begun is not chosen:
                chosen, reason = begun, f"time is too short for a first answer of {chosen!r}"
            run.follow(chosen, beta)
            if run.status is None:
                run.certify(least(problem), Status.OUT_OF_TIME)
        except WorkersLostError:
            if run.last is None:
                raise
            run.keep_what_is_left()
    if interrupt.asked and run.status is Status.CONVERGED and not heeded():
        run.status = Status.INTERRUPTED  # nobody else looks whether Ctrl-C has come: the answer must tell
    return run.solution(chosen, reason)

"""Where time is short: by half of it a solver has shown what it can do, or a cheaper one has the rest.

A solver whose first answer seems to take more than half of the time is not begun, and one that has none by then is
given up. One whose answer is still far from the best at half of the time, as its gap says, has a rival for a while. The
rival has the rest if it finds a better answer, by the primal; else the solver goes on from where it stands. While it
waits it holds what it has, and the rival makes do with a part of the memory.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..amounts import SHARE
from ..costs import first_seconds
from ..limits import Deadline, OutOfTimeError, deadline, now, until
from ..problem import Problem
from ..solution import relative
from ..types import Array
from .auto import cheaper
from .base import Iterate, Solver
from .landmarks import objectives

_HALF = 0.5  # This part of the time is what a first answer may take.
_CLOSE = 0.5**2  # At this relative gap an answer is so good that there is no rival.
_BESIDE = 0.5**2  # of the memory: about what a waiting solver has for blocks and temporaries, and does not need

Iterates = Generator[Iterate, Array | None, None]


def in_time(problem: Any, solver: Solver, start: Array | None) -> Iterates:
    """The iterates of the solver, or of the one that takes its place; of ridge regression that is chosen before."""
    if solver.hurried or not isinstance(problem, Problem):
        yield from solver.iterates(problem, start)
        return
    half = deadline().part(_HALF)
    if first_seconds(problem, solver) <= half.left() and (yield from _with_a_rival(problem, solver, start, half)):
        return
    other = cheaper(problem, solver)
    yield from _found_by(other, in_time(problem, other, None), f"time is too short for a first answer of {solver!r}")


def _with_a_rival(
    problem: Problem, solver: Solver, start: Array | None, half: Deadline
) -> Generator[Iterate, Array | None, bool]:
    """The iterates of the solver, or of its rival; False, where there is none until half of the time is over."""
    iterates, sent, best, answered, tried = solver.iterates(problem, start), None, np.inf, False, problem.gram.afar
    while True:
        began = now()
        try:
            with nullcontext() if answered else until(half):
                iterate = iterates.send(sent)
        except StopIteration:
            return True
        except OutOfTimeError:
            if answered or deadline().passed():
                raise
            return False
        answered = answered or bool(iterate.beta.any())
        if iterate.gap is not None and iterate.dual is not None:
            best = min(best, iterate.dual + iterate.gap)
        sent = yield iterate
        if answered and not tried and half.earlier(now() - began).passed():  # after another round it would be too late
            tried = True
            primal, dual = objectives(problem, iterate)
            del iterate  # and with it what its solver holds, once that is closed
            best = min(best, primal, problem.best_constant[1])
            far = relative(best - dual, best, dual) > _CLOSE
            if far and (yield from _rival(problem, solver, iterates, best)):
                return True


def _rival(problem: Problem, solver: Solver, waiting: Iterates, best: float) -> Generator[Iterate, Array | None, bool]:
    """Better answers of a cheaper solver; False, where it has found none for a while. With the first one, the solver
    that is waiting is closed, and its memory is free.
    """
    note, trial = f"by half of the time better than {solver!r}", deadline().part(SHARE.some)
    other, better, sent = cheaper(problem, solver, _BESIDE), False, None
    iterates, lowest = _found_by(other, other.iterates(problem, None), note), best
    while True:
        try:
            with nullcontext() if better else until(trial):
                found = iterates.send(sent)
        except StopIteration:
            if not better or (roomy := cheaper(problem, solver)) == other:
                return better
            other, iterates, best, sent = roomy, _found_by(roomy, roomy.iterates(problem, None), note), lowest, None
            continue
        except OutOfTimeError:
            if better:
                raise
            return False
        sent, primal = None, objectives(problem, found)[0]
        if primal < best:
            waiting.close()
            better, lowest = True, min(lowest, primal)
            sent = yield found


def _found_by(solver: Solver, iterates: Iterates, note: str) -> Iterates:
    """The same, each with the name of its solver."""
    sent = None
    while True:
        try:
            iterate = iterates.send(sent)
        except StopIteration:
            return
        sent = yield replace(iterate, by=iterate.by or solver, note=note)

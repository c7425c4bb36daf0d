"""Checking a worked solution, from its data alone.

Two things are asked of every step. It must be what the data give: the solution is derived anew, and whatever is shown
differently, be it a number, a sign, a word or a title, is found. And what it says must be true: each relation is
evaluated with what its letters stand for (`world`), by exact arithmetic that had no part in the derivation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from .formula import Chain, Formula, Listing
from .meaning import NOWHERE, NoValueError, agrees, judge
from .problem import Problem
from .world import World

if TYPE_CHECKING:
    from .steps import Prose, Section, Solution, Step, Table


@dataclass(frozen=True)
class Report:
    """How many steps have a check and how many have none, the steps that are wrong, and what else is."""

    checked: int
    unchecked: int
    failures: tuple[Step, ...] = ()
    elsewhere: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.failures and not self.elsewhere

    def __str__(self) -> str:
        if not self:
            from .render.text import prose

            wrong = [f"\n  {prose(step.statement)}" for step in self.failures]
            return self.line() + "".join(
                [*wrong, *(f"\n  {what} is not what the data give" for what in self.elsewhere)]
            )
        return self.line()

    def line(self) -> str:
        """One line about what was checked; nothing where there was nothing."""
        if not self:
            found = [f"{len(self.failures)} of {_steps(self.checked + self.unchecked)}"] if self.failures else []
            return f"NOT TRUE to the data: {' and '.join([*found, *self.elsewhere])}."
        if not self.checked:
            return ""
        without = f"; {_steps(self.unchecked)} {_verb(self.unchecked)} without a check" if self.unchecked else ""
        return f"{_steps(self.checked)} {_verb(self.checked)} checked by machine, in exact arithmetic{without}."


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


@lru_cache(maxsize=32)
def _derived(problem: Problem) -> tuple[Solution | None, dict[int, bool | None]]:
    """The solution derived anew, and a place for what became of its steps: `marks` fills it."""
    try:
        return problem.solve(), {}
    except Exception:  # data from a file may be anything: such data have no solution
        return None, {}


def marks(solution: Solution) -> tuple[bool | None, ...]:
    """Of each step: True (recomputed, and true), False (wrong), None (nothing that could be recomputed)."""
    steps = tuple(solution.steps())
    if solution.problem is None:
        return tuple(evidence(step, Problem()) for step in steps)
    derived, known = _derived(solution.problem)
    if derived is None:
        return (False,) * len(steps)
    found: list[bool | None] = []
    for place, (step, right) in enumerate(zip_longest(steps, derived.steps())):
        if step is not None and step == right and place not in known:
            known[place] = evidence(step, solution.problem)
        found.append(known[place] if step == right else False)
    return tuple(found[: len(steps)])


def check(solution: Solution) -> Report:
    """Derive the solution anew and compare; evaluate each relation that is shown."""
    found = marks(solution)
    failures = tuple(step for step, mark in zip(solution.steps(), found, strict=True) if mark is False)
    checked = sum(1 for mark in found if mark is not None)
    return Report(checked, len(found) - checked, failures, tuple(_beside_the_steps(solution)))


def _beside_the_steps(solution: Solution) -> Iterator[str]:
    """What is wrong beside the steps."""
    if solution.problem is None:
        return
    derived, _ = _derived(solution.problem)
    if derived is None:
        yield "its data"
        return
    same = solution.sections is derived.sections or _shape(solution.sections) == _shape(derived.sections)
    if solution.title != derived.title or not same:
        yield "its titles"
    if dict(solution.answer) != dict(derived.answer):
        yield "its answer"
    if solution.picture != derived.picture:
        yield "its picture"


def _shape(sections: tuple[Step | Section, ...]) -> list[object]:
    """Titles, and how many steps stand below each."""
    from .steps import Section

    return [(part.title, _shape(part.parts)) if isinstance(part, Section) else None for part in sections]


def evidence(step: Step, problem: Problem) -> bool | None:
    """What evaluating the step gives: True and False, or None where something in it cannot be evaluated."""
    try:
        verdicts = list(_verdicts(step, problem))
        if step.proof:
            verdicts.append(problem.prove(step))
    except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError):
        return False  # what makes no sense is not true
    if False in verdicts:
        return False
    return None if not verdicts or None in verdicts else True


def _verdicts(step: Step, problem: Problem) -> Iterator[bool | None]:
    world = problem.world(step.scope) if step.scope else NOWHERE
    for sentence in (step.statement, step.reason):
        yield from _sentence(sentence, world)
    for body in step.mathematics:
        if isinstance(body, Formula):
            yield from _relations(body, world)
        else:
            yield from _table(body, world, problem)


def _table(table: Table, world: World, problem: Problem) -> Iterator[bool | None]:
    """Each cell is what the header says, for the point or the case that its row stands for."""
    for place, row in enumerate(table.rows):
        here = problem.world(table.scopes[place]) if table.scopes and table.scopes[place] else world
        here = here.where(**{table.index: place}) if table.index else here
        for head, cell in zip(table.header, row, strict=True):
            yield from _sentence(cell, here)
            said, shown = (_only_formula(sentence) for sentence in (head, cell))
            if said is not None and shown is not None:
                try:
                    yield agrees(said, shown, here)
                except NoValueError:
                    continue


def _only_formula(sentence: Prose) -> Formula | None:
    """The one formula of a cell, where it is a value; of a chain, which is judged by itself, the last member."""
    found = [part for part in sentence.parts if isinstance(part, Formula)]
    if len(found) != 1 or isinstance(found[0], Listing):
        return None
    return found[0].members[-1] if isinstance(found[0], Chain) else found[0]


def _sentence(sentence: Prose, world: World) -> Iterator[bool | None]:
    for part in sentence.parts:
        if isinstance(part, Formula):
            yield from _relations(part, world)


def _relations(body: Formula, world: World) -> Iterator[bool | None]:
    if isinstance(body, Chain):
        if any(not sign.endswith("!") and sign != ":=" for sign in body.signs):
            yield judge(body, world)
    elif isinstance(body, Listing):
        for item in body.items:
            yield from _relations(item, world)

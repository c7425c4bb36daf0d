"""The answer of a small problem with constraints, and what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .algebraic import from_sympy
from .exact import sympy
from .formula import Formula, Listing, Number, Symbol, Words, chain, combination, equals, point
from .kkt import Candidate, Outcome, Program
from .letters import about
from .optimality import (
    Bounded,
    boundedness,
    convexity,
    irregular_points,
    is_affine,
    second_order,
    symbols_of,
    unbounded_ray,
)
from .steps import All, Assertion, Prose, Section, Step, claims, say

_f = Symbol("f")


def answer(program: Program, candidates: list[Candidate]) -> tuple[Section, dict[str, Any]]:
    """What is proved of the answer."""
    kind = "maximum" if program.sense == "max" else "minimum"
    accepted = [candidate for candidate in candidates if candidate.outcome is Outcome.ACCEPTED]
    points = _unique([candidate.point for candidate in accepted])
    proofs = convexity(program)
    if proofs is not None and points:
        return _convex(program, proofs, points, kind)
    bounded = boundedness(program)
    if bounded is not None:
        extra = irregular_points(program)
        open_ = [program.value(candidate.point) for candidate in candidates if candidate.outcome is Outcome.OPEN]
        if extra is not None and _no_better(program, open_, [*points, *extra]):
            return _compact(program, bounded, points, _unique(extra), kind)
    ray = unbounded_ray(program, points)
    if ray is not None:
        s = Symbol("s")
        line = [combination([a, d], [Number(Fraction(1)), s]) for a, d in zip(ray.start, ray.direction, strict=True)]
        where = equals(point(symbols_of(program)), point(line))
        words = f"There is no {kind}: along {{}} the constraints hold for all large s, and f has no bound."
        steps = (Step(say(words, where), assertion=ray), *_local(program, accepted))
        return Section("The answer", steps), {"status": "unbounded", "solutions": tuple(points)}
    if not points:
        return _none(program), {"status": "none", "solutions": ()}
    note = say(
        f"The problem is not convex, and its feasible set is not seen to be bounded: so a global {kind} is not proved. "
        "What each point is, the second derivatives of the Lagrangian along the active constraints say."
    )
    answer = {"status": "local", "solutions": tuple(points), "values": tuple(program.value(p) for p in points)}
    return Section("The answer", (Step(note), *_local(program, accepted))), answer


def _no_better(program: Program, values: list[Any], points: list[tuple[Any, ...]]) -> bool:
    """Whether a family whose conditions are open cannot matter: its value is known, and no better than a point's."""
    if any(value.free_symbols for value in values) or (values and not points):
        return False
    best = _best_of(program, [program.value(p) for p in points]) if values else None
    return all(_best_of(program, [value, best]) == best for value in values)


def _best_of(program: Program, values: list[Any]) -> Any:
    return (max if program.sense == "max" else min)(reversed(values), key=lambda v: v.evalf(40))


def _none(program: Program) -> Section:
    """No point satisfies the conditions: what could still be an optimum."""
    steps = [Step(say("No point satisfies all conditions."))]
    unseen = (
        irregular_points(program) if not all(is_affine(c.body, program.variables) for c in program.constraints) else []
    )
    if unseen:
        listed = Listing(tuple(_at(program, p) for p in unseen), ",  ")
        words = "But they do not see points where the gradients of active constraints are dependent: {}. Look at these."
        steps.append(Step(say(words, listed)))
    if not program.f.is_polynomial(*program.variables):
        steps.append(Step(say("Nor do they see points where f has no derivative.")))
    return Section("The answer", tuple(steps))


def _unique(points: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(points))


def _at(program: Program, p: tuple[Any, ...]) -> Formula:
    return equals(point(symbols_of(program)), point([from_sympy(entry) for entry in p]))


def _best(
    program: Program, points: list[tuple[Any, ...]], kind: str, why: Prose, proofs: tuple[Assertion, ...]
) -> Section:
    best = program.value(points[0])
    exact = from_sympy(best)
    rounded = about(exact) if not best.free_symbols else None
    shown = equals(_f, exact) if rounded is None else chain(_f, "=", exact, "~", rounded)
    checks: list[Assertion] = [*proofs] if rounded is None else [*proofs, claims(shown)]
    for p in points:
        pairs = zip(symbols_of(program), map(from_sympy, p), strict=True)
        given = {name: entry for name, entry in pairs if name != entry}
        checks.append(claims(equals(from_sympy(program.f), exact), given=given))
    where = Listing(tuple(_at(program, p) for p in points), "  and  ")
    return Section("The answer", (Step(say(f"The {kind} is"), (shown, where), why, All(tuple(checks))),))


def _convex(program: Program, proofs: Any, points: list[tuple[Any, ...]], kind: str) -> tuple[Section, dict[str, Any]]:
    shape = "concave" if program.sense == "max" else "convex"
    where = " where the equalities hold" if program.equalities else ""
    words = say(
        f"f is {shape}{where}, and the feasible set is convex: the conditions suffice, and the {kind} is global"
    )
    if not proofs:
        words = say("the equalities leave no other point")
    section = _best(program, points, kind, words, proofs)
    return section, {"status": "global", "solutions": tuple(points), "value": program.value(points[0])}


def _compact(
    program: Program, bounded: Bounded, points: list[tuple[Any, ...]], extra: list[tuple[Any, ...]], kind: str
) -> tuple[Section, dict[str, Any]]:
    everything = _unique([*points, *extra])
    if not everything:
        words = say(
            "The feasible set is bounded and closed. If it had a point, f would have an optimum on it, and that would "
            "satisfy the conditions. So no point satisfies all constraints."
        )
        return Section("The answer", (Step(words, assertion=bounded),)), {"status": "infeasible", "solutions": ()}
    values = [program.value(p) for p in everything]
    best = _best_of(program, values)
    chosen = [p for p, v in zip(everything, values, strict=True) if sympy().simplify(v - best) == 0]
    words = say(f"the feasible set is bounded and closed, so a {kind} exists, and of all candidates this is the best")
    order = [chain(from_sympy(v), "<=" if program.sense == "max" else ">=", from_sympy(best)) for v in values]
    section = _best(program, chosen, kind, words, (bounded, claims(*order)))
    if extra:
        listed = Listing(tuple(_at(program, p) for p in extra), ",  ")
        note = Step(say("Also looked at: {}, where the gradients of the active constraints are dependent.", listed))
        section = Section(section.title, (note, *section.parts))
    return section, {"status": "global", "solutions": tuple(chosen), "value": best}


def _local(program: Program, accepted: list[Candidate]) -> list[Step]:
    """What the accepted points are, by the second derivatives."""
    kinds = {"positive": "a strict local minimum", "negative": "a strict local maximum", "indefinite": "a saddle"}
    steps = []
    for candidate in accepted:
        where = _at(program, candidate.point)
        f = equals(_f, from_sympy(program.value(candidate.point)))
        curvature = second_order(program, candidate)
        if curvature is None:
            words = say("The point {}, with {}: the second derivatives do not decide what it is.", where, f)
            steps.append(Step(words))
            continue
        words = say(f"The point {{}}, with {{}}, is {kinds[curvature.shape]}:", where, f)
        along = Words("second derivatives of Λ along the active constraints:  ")
        shown = Listing((along, curvature.matrix), "")
        definite = curvature.shape if curvature.shape == "indefinite" else f"{curvature.shape} definite"
        steps.append(Step(words, (shown,), say(f"this matrix is {definite}"), curvature))
    return steps

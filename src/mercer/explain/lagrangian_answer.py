"""The answer of a small problem with constraints, and what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .algebraic import as_symbol, from_sympy
from .exact import NotByHandError, sympy
from .formula import Chain, Formula, Listing, Number, Symbol, Words, chain, combination, condition, matrix, point
from .kkt import Candidate, Outcome, Program, is_affine
from .letters import about
from .optimality import (
    gradients,
    has_multipliers,
    infeasible,
    irregular_points,
    is_bounded,
    is_convex,
    second_order,
    sum_bound,
    unbounded_ray,
)
from .steps import Prose, Section, Step, say

_f = Symbol("f")
Points = list[tuple[Any, ...]]
Answer = tuple[Section, dict[str, Any]]


def symbols_of(program: Program) -> tuple[Symbol, ...]:
    """The variables as they are written."""
    return tuple(as_symbol(v) for v in program.variables)


def answer(program: Program, candidates: list[Candidate]) -> Answer:
    """What is proved of the answer."""
    kind = "maximum" if program.sense == "max" else "minimum"
    accepted = [candidate for candidate in candidates if candidate.outcome is Outcome.ACCEPTED]
    points = list(dict.fromkeys(candidate.point for candidate in accepted))
    weights = infeasible(program)
    if weights is not None:
        return _contradicting(program, weights)
    if points and is_convex(program):
        return _convex(program, points, kind)
    if is_bounded(program):
        extra = irregular_points(program)
        open_ = [program.value(candidate.point) for candidate in candidates if candidate.outcome is Outcome.OPEN]
        if extra is not None and _no_better(program, open_, [*points, *extra]):
            return _compact(program, points, list(dict.fromkeys(extra)), kind)
    summed = _by_sum(program, points, kind)
    if summed is not None:
        return summed
    ray = unbounded_ray(program, points)
    if ray is not None:
        return _unbounded(program, ray, accepted, points, kind)
    if not points:
        return _none(program), {"status": "none", "solutions": ()}
    note = say(
        f"The problem is not convex, and its feasible set is not seen to be bounded: so a global {kind} is not proved. "
        "The second derivatives of the Lagrangian along the active constraints say what each point is."
    )
    answer = {"status": "local", "solutions": tuple(points), "values": tuple(program.value(p) for p in points)}
    return Section("The answer", (Step(note), *_local(program, accepted))), answer


def _contradicting(program: Program, weights: tuple[Fraction, ...]) -> Answer:
    """No point satisfies the constraints: a sum of them says so."""
    bodies = [from_sympy(c.body) for c in program.constraints]
    total = sum(w * _constant(c.body, program) for w, c in zip(weights, program.constraints, strict=True))
    relation = chain(combination(weights, bodies), "=", total, ">", 0)
    words = say(
        "No point satisfies all constraints. With everything on one side, as above, each is at most 0 (or is 0), and "
        "so is their sum with these weights; but it is a positive number:"
    )
    return Section("The answer", (Step(words, (relation,), scope="letters"),)), {
        "status": "infeasible",
        "solutions": (),
    }


def _constant(body: Any, program: Program) -> Fraction:
    found = body.xreplace(dict.fromkeys(program.variables, sympy().Integer(0)))
    return Fraction(int(found.p), int(found.q)) if found.is_Rational else Fraction(0)


def _no_better(program: Program, values: list[Any], points: Points) -> bool:
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


def _at(program: Program, p: tuple[Any, ...]) -> Chain:
    return condition(point(symbols_of(program)), "=", point([from_sympy(entry) for entry in p]))


def _best(program: Program, points: Points, kind: str, why: Prose, proof: str) -> Section:
    """The value, and the points that have it."""
    best = program.value(points[0])
    exact = from_sympy(best)
    rounded = about(exact) if not best.free_symbols else None
    tail = () if rounded is None else ("~", rounded)
    shown = chain(_f, "=!", from_sympy(program.f), "=!", exact, *tail)
    where = Listing(tuple(_at(program, p) for p in points), "  and  ")
    return Section("The answer", (Step(say(f"The {kind} is"), (shown, where), why, proof=proof),))


def _convex(program: Program, points: Points, kind: str) -> Answer:
    shape = "concave" if program.sense == "max" else "convex"
    where = " where the equalities hold" if program.equalities else ""
    words = say(
        f"f is {shape}{where}, and the feasible set is convex: the conditions suffice, and the {kind} is global"
    )
    section = _best(program, points, kind, words, "convex")
    return section, {"status": "global", "solutions": tuple(points), "value": program.value(points[0])}


def _compact(program: Program, points: Points, extra: Points, kind: str) -> Answer:
    everything = list(dict.fromkeys([*points, *extra]))
    if not everything:
        words = say(
            "The feasible set is bounded and closed. If it had a point, f would have an optimum on it, and that would "
            "satisfy the conditions. So no point satisfies all constraints."
        )
        return Section("The answer", (Step(words, proof="bounded"),)), {"status": "infeasible", "solutions": ()}
    values = [program.value(p) for p in everything]
    best = _best_of(program, values)
    chosen = [p for p, v in zip(everything, values, strict=True) if sympy().simplify(v - best) == 0]
    words = say(f"the feasible set is bounded and closed, so a {kind} exists, and of all candidates this is the best")
    section = _best(program, chosen, kind, words, "bounded")
    notes = []
    if extra:
        listed = Listing(tuple(_at(program, p) for p in extra), ",  ")
        words = say("Also looked at: {}, where the gradients of the active constraints are dependent.", listed)
        notes = [Step(words), *(_no_multipliers(program, p) for p in chosen if not has_multipliers(program, p))]
    section = Section(section.title, (*notes, *section.parts))
    return section, {"status": "global", "solutions": tuple(chosen), "value": best}


def _by_sum(program: Program, points: Points, kind: str) -> Answer | None:
    """An optimum that a sum of the constraints proves, at a point that the conditions may not see."""
    bound = sum_bound(program)
    extra = irregular_points(program) if bound is not None else None
    if bound is None or extra is None:
        return None
    limit = program.f.xreplace({bound.variable: bound.root})
    chosen = [p for p in dict.fromkeys([*points, *extra]) if sympy().simplify(program.value(p) - limit) == 0]
    if not chosen:
        return None
    u = as_symbol(bound.variable)
    bodies = [from_sympy(c.body) for c in program.constraints]
    total = combination(bound.weights, bodies)
    signs = ("<=!", 0)
    shown = [chain(total, "=", from_sympy(bound.total), *signs)]
    if bound.total != bound.polynomial:
        shown.append(condition(from_sympy(bound.polynomial), "<=", 0))
    side = ">=" if (program.sense == "max") != (sympy().diff(program.f, bound.variable) > 0) else "<="
    shown.append(condition(u, side, from_sympy(bound.root)))
    words = "Every feasible point satisfies the sum of the constraints, with these weights:"
    reason = "even powers are at least 0" if bound.total != bound.polynomial else ""
    summed = Step(say(words), tuple(shown), say(reason) if reason else Prose(), scope="letters", proof="sum")
    irregular = [_no_multipliers(program, p) for p in chosen if p not in points]
    why = say(f"no feasible point is better, so the {kind} is global")
    section = _best(program, chosen, kind, why, "sum")
    parts = (*irregular, summed, *section.parts)
    return Section("The answer", parts), {"status": "global", "solutions": tuple(chosen), "value": limit}


def _no_multipliers(program: Program, p: tuple[Any, ...]) -> Step:
    """Why the conditions do not see a point: the gradients of its active constraints do not suffice."""
    own, others = gradients(program, p)
    names = symbols_of(program)
    parts: list[Formula] = [condition(Symbol("∇f"), "=", point([from_sympy(entry) for entry in own]))]
    for place, gradient in others:
        letter = Symbol("∇g", str(place + 1))
        parts.append(condition(letter, "=", point([from_sympy(entry) for entry in gradient])))
    words = say(
        "The conditions do not see {}. There the gradients of the active constraints are dependent, and that of f is "
        "no combination of them: no multipliers exist, although this may be the best point:",
        condition(point(names), "=", point([from_sympy(entry) for entry in p])),
    )
    return Step(words, (Listing(tuple(parts), ",   "),), proof="irregular")


def _unbounded(program: Program, ray: tuple[Any, Any], accepted: list[Candidate], points: Points, kind: str) -> Answer:
    s = Symbol("s")
    start, direction = ray
    line = [combination([a, d], [Number(Fraction(1)), s]) for a, d in zip(start, direction, strict=True)]
    where = condition(point(symbols_of(program)), "=", point(line))
    words = f"There is no {kind}: along {{}} the constraints hold for all large s, and f has no bound."
    steps = (Step(say(words, where), proof="ray"), *_local(program, accepted))
    return Section("The answer", steps), {"status": "unbounded", "solutions": tuple(points)}


def _local(program: Program, accepted: list[Candidate]) -> list[Step]:
    """What the accepted points are, by the second derivatives."""
    kinds = {"positive": "a strict local minimum", "negative": "a strict local maximum", "indefinite": "a saddle"}
    steps = []
    for candidate in accepted:
        where = _at(program, candidate.point)
        f = condition(_f, "=", from_sympy(program.value(candidate.point)))
        decided = second_order(program, candidate)
        if decided is None:
            words = say("The point {}, with {}: the second derivatives do not decide what it is.", where, f)
            steps.append(Step(words))
            continue
        reduced, shape = decided
        words = say(f"The point {{}}, with {{}}, is {kinds[shape]}:", where, f)
        along = Words("second derivatives of Λ along the active constraints:  ")
        written = matrix([[from_sympy(entry) for entry in row] for row in reduced.tolist()])
        definite = shape if shape == "indefinite" else f"{shape} definite"
        steps.append(
            Step(words, (Listing((along, written), ""),), say(f"this matrix is {definite}"), proof="curvature")
        )
    return steps


def require_formulas(candidates: Sequence[Candidate]) -> None:
    """Raise where an accepted point could only be written as a root without a formula."""
    from .roots import is_implicit

    for candidate in candidates:
        if candidate.outcome is Outcome.ACCEPTED and any(map(is_implicit, candidate.point)):
            found = ", ".join(f"{float(entry):.6g}" for entry in candidate.point)
            raise NotByHandError(f"A solution, about ({found}), cannot be written with fractions and roots.")

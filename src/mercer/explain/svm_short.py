"""The support vector machine in seven steps: G, the dual, its derivatives, the multipliers, w, t, the margin."""

from __future__ import annotations

from . import letters
from .algebra import solve
from .cases import State
from .formula import Inner, condition, equals, formula
from .letters import alpha_bold, b, f_of, t, w, x_, y_
from .steps import Section, Step, say
from .svm_answer import margin, margin_step, weight_vector, weights
from .svm_cases import MARGIN, cases
from .svm_dual import derivatives, gram_matrix, reduce, signed_gram, solved_step_by_step, substituted, written_out
from .svm_problem import SvmProblem


def short(e: SvmProblem) -> tuple[Section, ...]:
    """Seven sections, and nothing more."""
    r = reduce(e)
    outcome = solve(r.H, r.g)
    interior = outcome.unique and e.free_solution == e.alpha
    solved = (solved_step_by_step(e),) if interior else cases(e).parts
    square = e.squared_norm(e.beta(e.alpha))
    last = margin(e).parts if not square or not e.linear else (margin_step(e, say("The margin is")),)
    return (
        Section("The Gram matrix of the labelled data", (signed_gram(e),) if e.linear else gram_matrix(e).parts),
        Section("The expression to be maximised", (_expression(e),)),
        Section("The partial derivatives", (derivatives(e),)),
        Section("Set to zero, and solved for each multiplier", solved),
        Section("The weight vector w", (weight_vector(e),) if e.linear else weights(e).parts),
        Section("The intercept t", (_intercept(e),)),
        Section("The margin m", last),
    )


def _expression(e: SvmProblem) -> Step:
    """The dual, and what the equality leaves of it, in one step."""
    whole, less = written_out(e), substituted(e)
    balance, solved = (part for part in less.statement.parts if not isinstance(part, str))
    words = say(
        "Maximise over {} the dual. Its equality {} gives {}, which leaves the last two lines:",
        alpha_bold,
        balance,
        solved,
    )
    notes = (*whole.footnotes, *less.footnotes)
    return Step(words, (*whole.mathematics, *less.mathematics), footnotes=notes, scope="eliminated")


def _intercept(e: SvmProblem) -> Step:
    free = e.optima[0].members(State.FREE)
    if not free:
        words = "No multiplier is free. The middle of what the conditions of all points leave is {}."
        return Step(say(words, equals(t, -b, formula(-e.b))), scope="solved")
    i = free[-1]
    score = e.dual.scores(e.alpha)[i]
    inner = Inner(w, e.mapped(x_(i)))
    return Step(
        say(
            "A free support vector has {}, with {}:",
            condition(MARGIN, "=", 1),
            equals(f_of(letters.x), Inner(w, e.mapped(letters.x)) - t),
        ),
        (equals(y_(i) * (inner - t), 1), equals(t, inner - y_(i), formula(score) - e.y[i], formula(-e.b))),
        scope="solved",
    )

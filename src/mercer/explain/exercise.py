"""New exercises with answers in small fractions: a sheet of questions, and the answer sheet apart from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from ..kernels import Linear, Polynomial
from .algebra import solve
from .cases import Finding
from .exact import fraction, labels, require_seed, require_word, sympy
from .formula import Formula, Symbol, condition, point
from .gram import kernel_formula
from .kernel_trick import kernel_trick
from .lagrangian import read_problem, stated
from .letters import lam, x, x_, y_, z
from .perceptron import perceptron
from .perceptron_run import follow
from .picture import Picture
from .problem import Problem
from .ridge import ridge
from .sample import Sample, read_sample
from .steps import Prose, Section, Solution, Step, Table, say
from .svm import svm
from .svm_problem import SvmProblem

_TRIES = 20_000
_LARGEST_DENOMINATOR, _LARGEST = 12, 9


@dataclass(frozen=True)
class Exercise:
    """An exercise: the sheet with the questions, and the worked solution."""

    seed: int
    kind: str
    sheet: Solution
    answer: Solution

    def save(self, folder: str | Path, suffix: str = ".html") -> tuple[Path, Path]:
        """Write sheet and answer into a folder, in the format that the suffix names."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"exercise_{self.kind}_{self.seed}"
        return self.sheet.save(folder / f"{name}{suffix}"), self.answer.save(folder / f"{name}_answer{suffix}")

    # On its own an exercise is its sheet.

    def to_text(self, width: int = 100) -> str:
        """See Solution.to_text."""
        return self.sheet.to_text(width)

    def to_markdown(self) -> str:
        """See Solution.to_markdown."""
        return self.sheet.to_markdown()

    def to_latex(self) -> str:
        """See Solution.to_latex."""
        return self.sheet.to_latex()

    def to_html(self) -> str:
        """See Solution.to_html."""
        return self.sheet.to_html()

    def to_json(self, indent: int | None = 2) -> str:
        """See Solution.to_json."""
        return self.sheet.to_json(indent)

    def __str__(self) -> str:
        return str(self.sheet)

    def __repr__(self) -> str:
        return f"<Exercise {self.kind} {self.seed}: .sheet has the questions, .answer the worked solution>"

    def _repr_html_(self) -> str:
        return self.sheet._repr_html_()


def exercise(seed: int = 0, kind: str = "svm") -> Exercise:
    """A new exercise for each seed.

    kind is "svm", "soft" (a soft margin), "xor", "perceptron", "ridge", "kernel-trick" or "lagrangian".
    """
    sympy()
    require_word("kind", kind, _KINDS)
    require_seed(seed)
    sheet, answer = _made(seed, kind)
    return Exercise(seed, kind, sheet, answer())


@dataclass(frozen=True)
class SheetProblem(Problem):
    """A sheet of questions is made from its seed and the kind of exercise."""

    seed: int
    topic: str

    def solve(self) -> Solution:
        """The sheet."""
        if self.topic not in _KINDS:
            raise ValueError(f"There is no exercise of kind {self.topic!r}.")
        return _made(self.seed, self.topic)[0]


def _made(seed: int, kind: str) -> tuple[Solution, Callable[[], Solution]]:
    """The sheet, and what works out its solution."""
    random = Random(f"{kind} {seed}")  # a text, so that every kind has exercises of its own
    for _ in range(_TRIES):
        made = _KINDS[kind](random)
        if made is not None:
            sheet, answer = made
            title = f"Exercise {seed}: {sheet.title}"
            return Solution(title, sheet.sections, {}, sheet.picture, SheetProblem(seed, kind)), answer
    raise AssertionError(f"no exercise found for kind {kind!r} and seed {seed}")


Made = tuple[Solution, Callable[[], Solution]] | None


def _points(random: Random, n: int, low: int = -3, high: int = 4) -> list[tuple[int, int]]:
    cells = [(u, v) for u in range(low, high + 1) for v in range(low, high + 1)]
    return random.sample(cells, n)


def _small(values: Any) -> bool:
    return all(v.denominator <= _LARGEST_DENOMINATOR and abs(v) <= _LARGEST for v in values)


def _svm(random: Random) -> Made:
    n = random.choice([3, 3, 4])
    return _machine(_points(random, n), [1, -1, *(random.choice([1, -1]) for _ in range(n - 2))], None, Linear())


def _soft(random: Random) -> Made:
    n = random.choice([3, 4])
    C = random.choice([Fraction(1, 4), Fraction(1, 2), Fraction(1)])
    return _machine(_points(random, n), [1, -1, *(random.choice([1, -1]) for _ in range(n - 2))], C, Linear())


def _xor(random: Random) -> Made:
    n = random.choice([3, 4])
    signs = [1, -1, *(random.choice([1, -1]) for _ in range(n - 2))]
    return _machine(_points(random, n, -2, 2), signs, None, Polynomial())


def _machine(X: list[tuple[int, int]], y: list[int], C: Fraction | None, kernel: Any) -> Made:
    e = SvmProblem(**read_sample(X, kernel, ""), labels=labels(y, len(X)), C=C)
    optimal = [verdict for verdict in e.verdicts if verdict.finding is Finding.OPTIMAL]
    if len(optimal) != 1 or optimal[0].interval is not None:
        return None
    if sum(1 for a in e.alpha if a) < 3:
        return None  # two points alone make too short a calculation
    weights = e.weights(e.beta(e.alpha)) if e.linear else ()
    if not _small((*e.alpha, *weights, e.b)) or not e.squared_norm(e.beta(e.alpha)):
        return None
    margin = "the hard margin" if C is None else f"a soft margin, C = {C}"
    asked = [
        "Write down the Gram matrix, with the labels.",
        "Write down the dual problem, and use the equality to eliminate one multiplier.",
        "Set the partial derivatives to zero. Do the values satisfy the bounds? If not, go through the cases.",
        "Which points are support vectors?",
        "Find w." if e.linear else "Write f as a polynomial in the coordinates.",
        "Find the intercept, as b and as t.",
        "Find the margin.",
        "Check all KKT conditions, and that primal and dual have the same value.",
    ]
    words = f"Solve the support vector machine with {margin} by hand, exactly. The kernel is {{}}."
    sheet = _sheet("support vector machine", say(words, condition_of(kernel)), X, _signs(y), asked, Picture.of(e, e.y))
    return sheet, lambda: svm(X, y, C, kernel)


def _perceptron(random: Random) -> Made:
    n = random.choice([3, 4])
    X, y = _points(random, n), [1, -1, *(random.choice([1, -1]) for _ in range(n - 2))]
    e = Sample(**read_sample(X, Linear(), ""))
    run = follow(e.K, tuple(y), Fraction(1), most=8)
    if not run.converged or not 3 <= sum(run.alpha) <= 6:
        return None
    asked = [
        "Run the perceptron from w = 0 with step 1, point by point, until a pass makes no mistake.",
        "Run the dual form beside it. What do the alphas count?",
        "Find w from the alphas.",
        "Between which bounds does the run show the widest margin to lie?",
    ]
    lead = say("Follow the perceptron, in its primal and in its dual form.")
    sheet = _sheet("perceptron", lead, X, _signs(y), asked, Picture.of(e, tuple(y)))
    return sheet, lambda: perceptron(X, y)


def _ridge(random: Random) -> Made:
    X = random.sample(range(-2, 4), 3)
    t = [random.randint(-3, 4) for _ in X]
    weight = random.choice([1, 2, 3])
    points = [(u, 1) for u in X]
    K = Sample(**read_sample(points, Linear(), "")).K
    shifted = [[v + (weight if i == j else 0) for j, v in enumerate(row)] for i, row in enumerate(K)]
    a = solve(shifted, [Fraction(v) for v in t]).particular
    assert a is not None
    if not _small(a) or len(set(t)) == 1:
        return None
    asked = [
        "Write down the Gram matrix K.",
        "Invert K plus lambda times the identity, and find a.",
        "Find w from a, and the line that it stands for (the last coordinate is always 1).",
        "Find the predictions and residuals. How do the residuals go with a?",
        "Solve the normal equations of the primal, and compare.",
    ]
    lead = say(
        "Fit kernel ridge regression with the linear kernel and {}, by hand and exactly.", condition(lam, "=", weight)
    )
    sheet = _sheet("kernel ridge regression", lead, points, (Symbol("t", "i"), t), asked, None)
    return sheet, lambda: ridge(points, t, weight)


def _kernel_trick(random: Random) -> Made:
    kernel = Polynomial(degree=random.choice([2, 2, 3]), coef0=random.choice([0, 1, 2]))
    at, to = _points(random, 2, -2, 3)
    if 0 in (*at, *to):
        return None  # features that are zero show nothing
    asked = [
        "Write out the inner product, and multiply the kernel out.",
        "Part each term into something of x times the same thing of z: find all features.",
        "Fold the inner product of the features into the kernel again.",
        "Find the value for these two points: by the features, and by the kernel.",
    ]
    words = "In the plane, show that {} is an inner product of features. Then take {} and {}."
    pair = (condition(letter, "=", point(map(fraction, given))) for letter, given in ((x, at), (z, to)))
    lead = say(words, condition_of(kernel), *pair)
    return _questions("the kernel trick", Step(lead), asked), lambda: kernel_trick(kernel, at, to)


def _lagrangian(random: Random) -> Made:
    a, b, c = (random.randint(-2, 4) for _ in range(3))
    p, q = random.choice([(1, 1), (1, 2), (2, 1), (1, -1)])
    if p * a + q * b <= c:
        return None  # the constraint would not matter
    objective, sign = random.choice([(f"min (x - ({a}))^2 + (y - ({b}))^2", "<="), ("max x*y", "=")])
    if sign == "=" and (q < 0 or c <= 0):
        return None  # without a maximum, or with one at zero
    answer = read_problem(objective, f"{p}*x + ({q})*y {sign} {c}")
    asked = [
        "Put everything of the constraint on one side, and write down the Lagrangian.",
        "Set its derivatives to zero. Which further conditions are there?",
        "Solve the equations, in each case that there is. Which conditions does a solution violate?",
        "Is what remains the best of all? Why?",
    ]
    lead = Step(say("Solve by Lagrange's multipliers, exactly:"), (stated(answer.program),))
    return _questions("a problem with a constraint", lead, asked), answer.solve


def condition_of(kernel: Any) -> Formula:
    """The formula of the kernel, as it is given."""
    return condition(*_between(kernel_formula(kernel).members))


def _between(members: tuple[Formula, ...]) -> list[Any]:
    return [members[0], *(part for member in members[1:] for part in ("=", member))]


def _signs(y: list[int]) -> tuple[Formula, list[int]]:
    return y_("i"), y


def _sheet(
    title: str, lead: Prose, X: Any, column: tuple[Formula, list[int]], asked: list[str], picture: Picture | None
) -> Solution:
    points: list[Formula] = [point([fraction(v) for v in x]) for x in X]
    table = Table.of_points([(x_("i"), points), column])
    return _questions(title, Step(lead, (table,)), asked, "The data", picture)


def _questions(
    title: str, lead: Step, asked: list[str], heading: str = "The problem", picture: Picture | None = None
) -> Solution:
    questions = tuple(Step(say(f"{place}. {text}")) for place, text in enumerate(asked, 1))
    return Solution(title, (Section(heading, (lead,)), Section("Questions", questions)), {}, picture)


_KINDS: dict[str, Callable[[Random], Made]] = {
    "svm": _svm,
    "soft": _soft,
    "xor": _xor,
    "perceptron": _perceptron,
    "ridge": _ridge,
    "kernel-trick": _kernel_trick,
    "lagrangian": _lagrangian,
}

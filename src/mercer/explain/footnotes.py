"""Where lecture notes often slip: the footnotes of the worked solutions."""

from __future__ import annotations

from .formula import Call, Inner, Product, Series, Symbol, Transposed, condition
from .letters import K, X, a_bold, alpha, b, k, t_bold, w, x, x_, y_
from .steps import say

_a1, _a2 = alpha(0), alpha(1)

THREE_POINTS = say(
    "After substituting {} the quadratic part is {}; one often sees {} as its last term.",
    Symbol("alpha", "3"),
    5 * _a1**2 + 4 * (_a1 * _a2) + 4 * _a2**2,
    3 * _a2**2,
)
ROWS = say("Points are the rows of {}, so the Gram matrix is {}, not {}.", X, X * Transposed(X), Transposed(X) * X)
MAXIMISED = say("The dual is maximised. Some notes write it under 'arg min'.")
LAGRANGIAN = say(
    "The 1 of each constraint belongs inside the sum: each term is {} times the whole of {}. What this shows is the "
    "Lagrangian; the dual comes from it by minimising over {} and {}.",
    Symbol("alpha", "i"),
    y_("i") * (Inner(w, x_("i")) + b) - 1,
    w,
    b,
)
SCALE = say("The 1 on the right of the constraints fixes the scale of {}, not that of the data.", w)
FREE_ONLY = say(
    "{} holds for a free support vector only; with a finite C the multipliers at C take no part in an average.",
    condition(b, "=", y_("i") - Inner(w, x_("i"))),
)
ENTRY_BY_ENTRY = say(
    "The product with the labels is entry by entry: {}. In the form that a solver of quadratic programs takes, this is "
    "its matrix P, and its matrix A is one row, the labels.",
    condition(Symbol("G", "ij"), "=", Product((y_("i"), y_("j"), Symbol("K", "ij")))),
)
LABELS_IN_F = say(
    "The labels belong in the sum: {}.",
    Series(Product((Symbol("alpha", "i"), y_("i"), Call(k, (x_("i"), x)))), "i") + b,
)
SIGN_IN_W = say("The labels belong in the sum: a point of class −1 enters {} with a minus.", w)
MINUS_IN_A = say(
    "The minus stays: {} is {} times the residual {}.",
    Symbol("a", "i"),
    -(1 / Symbol("lambda")),
    Inner(w, Call("φ", (x_("i"),))) - Symbol("t", "i"),
)
SECOND_TERM = say("The second term is {}, linear in {}.", Transposed(a_bold) * K * t_bold, a_bold)
INVERTIBLE = say(
    "{} need not be invertible; {} is, for every positive {}.",
    K,
    K + Symbol("lambda") * Symbol("I", bold=True),
    Symbol("lambda"),
)
WEIGHT = say("{} is a weight that is chosen, not a Lagrange multiplier.", Symbol("lambda"))
ALL_CROSS_TERMS = say("The map of degree p has all the mixed monomials too, not only the powers of single coordinates.")
SERIES_FROM_ZERO = say(
    "The series starts at k = 0, its exponent is negative, and {} is a vector with a component for each k, not a sum.",
    Call("φ", (Symbol("x"),)),
)
GENERAL_DUAL = say(
    "Some notes call this the general form of the dual problem. It is the Lagrangian; the dual is what remains after "
    "optimising it over the variables."
)
B_IS_NOT = say(
    "{}, not {}: the two are the same for points of class +1 only.",
    condition(b, "=", y_("i") - Inner(w, x_("i"))),
    1 - y_("i") * Inner(w, x_("i")),
)
FEASIBLE = say(
    "Where duality is stated in general, the minimum of the primal is over feasible {} only, not over all {}.",
    Symbol("theta"),
    Symbol("theta"),
)
OVER_XI = say(
    "The Lagrangian is minimised over {}, b and also over {}; that is where {} comes from.",
    w,
    Symbol("xi", bold=True),
    condition(Symbol("alpha", "i"), "<=", Symbol("C")),
)
DEGREE = say("f is a polynomial of degree p, the exponent of the kernel; d is the number of coordinates.")
LABELS_IN_RUN = say(
    "Each mistake adds {}: the label belongs there from the first line of the derivation on.", y_("i") * x_("i")
)
SPACE_OF_W = say(
    "{} has an entry for each of the p features, so it lies in the space of dimension p; {} has one for each of the n "
    "points.",
    w,
    Symbol("alpha", bold=True),
)
TERMS_OF_AVERAGE = say(
    "Where {} is averaged from step {} to step T, there are {} terms, and the sum is divided by that number.",
    w,
    Symbol("T", "0"),
    Symbol("T") - Symbol("T", "0") + 1,
)
HALVES = say("Both halves cancel with the 2 of the squares: none is left in the derivative.")
W_NOT_Z = say("It is {} that equals this sum; some notes write {} for it.", w, Symbol("z", bold=True))
PARENTHESES = say(
    "The test is {}, with the label before the whole of f; some notes write {}.",
    condition(y_("i") * (Inner(w, x_("i")) + b), ">=", 1),
    condition(y_("i") * Inner(w, x_("i")) + b, ">=", 1),
)
B_IS_KEPT = say(
    "{} is added to b; some notes lose the old b.", Product((Symbol("eta"), Symbol("n"), Symbol("C"), y_("i")))
)
SQUARE_SUMMABLE = say(
    "For convergence the squares of the steps must have a finite sum, and the steps themselves an infinite one."
)
ALPHA_NOT_BETA = say(
    "The solver gives {}. The machine uses {}; both are called the coefficients.",
    Symbol("alpha", bold=True),
    condition(Symbol("beta", "i"), "=", Symbol("alpha", "i") * y_("i")),
)
ROW_OF_LABELS = say("A is one row, the labels; they do not stand on a diagonal.")

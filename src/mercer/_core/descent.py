"""How loops over points one at a time lay out what they are given: places in rows of numbers."""

from __future__ import annotations

Q, R, EPS, LO, HI, A = range(6)
"""Columns of `points`: the terms of h_i, and K_ii + r. A logistic loss has r = LOGISTIC and its label as q."""
COLUMNS = 8  # one line of cache for each point
LOGISTIC = -1.0

CONSTANT, SUM, SHIFT, MARGIN = range(4)
"""The numbers of a descent: c of K + c, sum beta, a shift of all scores, and the margin beyond which points leave."""

U, LATE, SUMS, SLOPES, VISITS = range(5)
"""The sums of stochastic steps, a row each: beta = scale u; see reference/stochastic.py."""
SCALE, PASSED, STEPS, BIAS, TOTAL, BESIDE, BIAS_RATE = range(7)
"""The numbers of stochastic steps: those sums' own, the bias, the sum of u, c of K + c, and how far the bias moves."""

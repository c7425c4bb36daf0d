"""Newton's method, one design: a Hessian I + Z'DZ in three forms (hessian.py), one line search (line_search.py).

Smooth losses are minimised as they are (IRLS: method.py by K or landmarks, irls.py in features), losses with kinks by
the proximal point method with semismooth steps; free_coefficients.py is for those between their bounds.
"""

from .method import Newton as Newton
from .method import NystromNewton as NystromNewton

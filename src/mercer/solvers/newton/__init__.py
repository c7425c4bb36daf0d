"""Newton's method: for smooth losses (method.py) in three forms of the Hessian (systems.py) or in w (smooth.py), with
landmarks in place of all points; after other methods, with proximal terms (proximal.py) or between bounds (free.py).
"""

from .method import Newton as Newton
from .method import NystromNewton as NystromNewton

"""The native core once more, in NumPy and Python: the same functions with the same arguments, written to be read.

It runs where the package was built without a compiler, or where MERCER_CORE=reference asks for it; and every native
loop is tested against it. Sums may be taken in another order here, so that last digits differ.
"""

from .newton import solve_definite as solve_definite
from .packing import pack as pack
from .pairs import CHUNK as CHUNK
from .pairs import pair_descent as pair_descent
from .points import account as account
from .points import choose as choose
from .points import extremes as extremes
from .points import shares as shares
from .proximal import add_sparse_squares as add_sparse_squares
from .proximal import proximal_point as proximal_point
from .proximal import proximal_slope as proximal_slope
from .proximal import weighted_rows as weighted_rows
from .rows import add_rows as add_rows
from .rows import gather as gather
from .rows import mirror as mirror
from .several import settle_parts as settle_parts
from .several import settle_points as settle_points
from .sparse import sparse_sums as sparse_sums
from .tiles import GROUP as GROUP
from .tiles import HEAVY as HEAVY
from .tiles import PANEL as PANEL
from .tiles import SPAN as SPAN
from .tiles import add as add
from .tiles import add_both as add_both
from .tiles import fill as fill
from .tiles import finish_rows as finish_rows
from .tiles import square as square
from .whole import settle as settle

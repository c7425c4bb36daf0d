"""The native core once more, in NumPy and Python: the same functions with the same arguments, written to be read.

It runs where the package was built without a compiler, or where MERCER_CORE=reference asks for it; and every native
loop is tested against it. Sums may be taken in another order here, so that last digits differ.
"""

from .blocks import FOUND as FOUND
from .blocks import MOST_NEWTON as MOST_NEWTON
from .blocks import measure_cells as measure_cells
from .blocks import settle_cells as settle_cells
from .descent import descend as descend
from .descent import descend_kernel as descend_kernel
from .descent import descend_passes as descend_passes
from .descent import draw as draw
from .descent import in_play as in_play
from .descent import shuffle as shuffle
from .features import combine as combine
from .features import dots as dots
from .features import squares as squares
from .features import weighted as weighted
from .free_step import free_step as free_step
from .left_open import left_open as left_open
from .logistic import entropies as entropies
from .logistic import logistic as logistic
from .logistic import logistic_bends as logistic_bends
from .margins import descend_margins as descend_margins
from .newton import solve_definite as solve_definite
from .one_call import square_points as square_points
from .one_call import sum_points as sum_points
from .one_call import vote_points as vote_points
from .packing import pack as pack
from .pairs import CHUNK as CHUNK
from .pairs import pair_descent as pair_descent
from .perceptron import cast_votes as cast_votes
from .perceptron import learn as learn
from .perceptron import learn_block as learn_block
from .points import account as account
from .points import choose as choose
from .points import extremes as extremes
from .points import shares as shares
from .proximal import add_dense_squares as add_dense_squares
from .proximal import add_sparse_squares as add_sparse_squares
from .proximal import proximal_point as proximal_point
from .proximal import proximal_slope as proximal_slope
from .rows import add_rows as add_rows
from .rows import add_symmetric as add_symmetric
from .rows import gather as gather
from .rows import mirror as mirror
from .several import settle_parts as settle_parts
from .several import settle_points as settle_points
from .sparse import sparse_sums as sparse_sums
from .stochastic import approach as approach
from .stochastic import draws as draws
from .stochastic import draws_kernel as draws_kernel
from .stochastic import losses_and_conjugates as losses_and_conjugates
from .sums import rounded as rounded
from .sums import sum_rows as sum_rows
from .tiles import GROUP as GROUP
from .tiles import HEAVY as HEAVY
from .tiles import PANEL as PANEL
from .tiles import SPAN as SPAN
from .tiles import add as add
from .tiles import add_both as add_both
from .tiles import fill as fill
from .tiles import finish_rows as finish_rows
from .tiles import square as square
from .votes import votes as votes
from .whole import settle as settle

"""Points made ready for many kernel values: one way for each family of kernels, chosen in one place."""

from .between import Between as Between
from .between import block as block
from .between import block_between as block_between
from .between import padded_square as padded_square
from .between import product_between as product_between
from .between import rows_held as rows_held
from .between import square_of as square_of
from .between import value_seconds as value_seconds
from .between import votes_between as votes_between
from .columns import BLOCK as BLOCK
from .columns import PIECE as PIECE
from .columns import SCRATCH as SCRATCH
from .columns import Columns as Columns
from .columns import multiply as multiply
from .columns import padded as padded
from .columns import pieces as pieces
from .columns import sums_between as sums_between
from .given import GivenColumns as GivenColumns
from .kept import Kept as Kept

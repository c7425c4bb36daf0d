"""Points made ready for many kernel values: one way for each family of kernels, chosen in one place."""

from .columns import Columns as Columns

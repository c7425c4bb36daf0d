"""A block of points, their terms, beta and F: what a solver sees."""

from .shard import Shard as Shard

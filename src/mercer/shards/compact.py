"""Numbers of many points in few bytes: what blocks are told, and what they keep.

Most terms of a problem have few different values, most coefficients are 0, and most sets of rows are runs of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..losses import Terms
from ..types import Array, Index

_KINDS = int(np.iinfo(np.uint8).max) + 1  # different values that a code of one byte can tell apart
_LOOKED_AT = _KINDS * _KINDS  # of the values, to learn which they are

Rows: TypeAlias = "slice | Index"
"""Rows of a block: a run of them, or one by one."""


def in_brief(index: Index) -> Rows:
    """These rows, as a run where they are one."""
    if index.size and index[-1] - index[0] == index.size - 1 and (index[1:] > index[:-1]).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return np.asarray(index.astype(np.int32))


def size_of(rows: Rows) -> int:
    """How many they are."""
    return rows.stop - rows.start if isinstance(rows, slice) else rows.size


def some_of(rows: Rows, places: Rows) -> Index:
    """Those at some places among them, one by one."""
    if not isinstance(rows, slice):
        return np.asarray(np.asarray(rows)[places], np.int64)
    if not isinstance(places, slice):
        return np.asarray(places, np.int64) + int(rows.start)
    return np.arange(rows.start + places.start, min(rows.start + places.stop, rows.stop))


def run_of(rows: Rows, part: slice) -> Rows:
    """Those from one place to another."""
    if isinstance(rows, slice):
        return slice(rows.start + part.start, min(rows.start + part.stop, rows.stop))
    return rows[part]


@dataclass(frozen=True, eq=False)
class Brief:
    """A number for each point: the same for all; or kinds, and a code for each; or as they are."""

    values: Array
    codes: Array | None = None

    @classmethod
    def of(cls, values: Array) -> Brief:
        """These numbers."""
        if (values == values[:1]).all():
            return cls(values[:1].copy())
        kinds = np.unique(values[:_LOOKED_AT])
        if kinds.size <= _KINDS:
            codes = np.minimum(np.searchsorted(kinds, values), kinds.size - 1).astype(np.uint8)
            if (kinds[codes] == values).all():
                return cls(kinds, codes)
        return cls(values)

    def at(self, places: Rows) -> Array:
        """Those of some points."""
        if self.codes is not None:
            return np.asarray(self.values[self.codes[places]])
        if self.values.size == 1:
            return np.full(size_of(places), self.values[0])
        return np.ascontiguousarray(self.values[places])


@dataclass(frozen=True, eq=False)
class BriefTerms:
    """The terms of a dual."""

    q: Brief
    r: Brief
    eps: Brief
    lo: Brief
    hi: Brief

    @classmethod
    def of(cls, terms: Terms) -> BriefTerms:
        """These terms."""
        return cls(*map(Brief.of, (terms.q, terms.r, terms.eps, terms.lo, terms.hi)))

    def at(self, places: Rows) -> Terms:
        """Those of some points."""
        return Terms(*(column.at(places) for column in (self.q, self.r, self.eps, self.lo, self.hi)))


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Those that are not 0, by their places."""

    places: Index
    values: Array

    @classmethod
    def of(cls, beta: Array) -> Coefficients:
        """These coefficients."""
        places = np.flatnonzero(beta)
        return cls(places.astype(np.int32), beta[places])

    def at(self, places: Rows) -> Array:
        """Those of some points."""
        out = np.zeros(size_of(places))
        if isinstance(places, slice):
            first, last = np.searchsorted(self.places, (places.start, places.stop))
            out[self.places[first:last] - places.start] = self.values[first:last]
        elif self.places.size:
            near = np.minimum(np.searchsorted(self.places, places), self.places.size - 1)
            found = self.places[near] == places
            out[found] = self.values[near[found]]
        return out

    def changed(self, places: Index, values: Array) -> Coefficients:
        """With other ones at some places."""
        stay = ~np.isin(self.places, places)
        every = np.concatenate([self.places[stay], places]).astype(np.int32)
        both = np.concatenate([self.values[stay], values])
        order = np.argsort(every)
        order = order[both[order] != 0.0]
        return Coefficients(every[order], both[order])

    def times(self, factor: float) -> Coefficients:
        """Each so many times."""
        return Coefficients(self.places, factor * self.values)

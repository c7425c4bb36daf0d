"""One certificate for several machines: that of the worst of them, with the others at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from ..solution import Certificate


@dataclass(frozen=True, eq=False)
class WorstCertificate(Certificate):
    """The certificate with the largest relative gap; `parts` holds all of them, and `name` says which this one is."""

    name: str = ""
    parts: tuple[Certificate, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"the worst of {len(self.parts)} problems, {self.name}: {super().__str__()}"


def worst(certificates: Sequence[Certificate], names: Sequence[str]) -> Certificate:
    """The certificate of them all."""
    if len(certificates) == 1:
        return certificates[0]
    gaps = [certificate.relative_gap for certificate in certificates]
    number = gaps.index(max(gaps))
    values = {f.name: getattr(certificates[number], f.name) for f in fields(Certificate)}
    return WorstCertificate(**values, name=names[number], parts=tuple(certificates))

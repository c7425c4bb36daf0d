"""The same bits of beta and b on every CPU with fused operations, with every number of threads, BLAS and NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mercer._core.core import CHOICE

FUSED = []
if CHOICE.core == "native":
    from mercer._core import _native

    FUSED = [name for name, _ in _native.LEVELS if name != "baseline"]
PLAIN = {"NPY_DISABLE_CPU_FEATURES": "X86_V4,X86_V3,AVX512_ICL,AVX512_SPR", "OPENBLAS_CORETYPE": "Nehalem"}
PLACES = [
    *({"MERCER_LEVEL": level, "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"} for level in FUSED[1:]),
    {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", **PLAIN},
]


def lines(**places):
    """What bits.py prints in a process with these settings."""
    outside = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OMP_", "OPENBLAS_", "NPY_", "MERCER_LEVEL"))
    }
    command = [sys.executable, "-W", "ignore", str(Path(__file__).parent / "bits.py")]
    return subprocess.run(command, env=outside | places, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.skipif(not FUSED, reason="this CPU, or this build, has no fused operations")
def test_the_same_bits_everywhere():
    expected = lines(MERCER_LEVEL=FUSED[0], OMP_NUM_THREADS="1")
    assert len(expected) == 50
    for place in PLACES:
        assert lines(**place) == expected, place

"""Runs pytest as a plain CPU would: `python tests/plain.py -m digits`. Any x86 machine can play it.

NumPy and the native core keep to their baseline, BLAS to a CPU of 2008 without AVX or fused multiply-add, everything
to one thread. What is printed, chosen or compared to the last digit has to be the same as with all that this CPU has.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

X86 = platform.machine().lower() in ("x86_64", "amd64")


def dispatched() -> list[str]:
    """The CPU features beyond its baseline that this NumPy uses here; each version of NumPy has its own names."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return [name for name in __cpu_dispatch__ if __cpu_features__[name]]


def settings() -> dict[str, str]:
    """The environment of a plain CPU."""
    old = {"OPENBLAS_CORETYPE": "Nehalem"} if X86 else {}
    return old | {
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched()),
        "MERCER_LEVEL": "baseline",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def check() -> None:
    """Raise unless the settings have had their effect: else the second run would be the first one again."""
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own)
    import threadpoolctl

    from mercer._core.core import CHOICE

    blas = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
    assert CHOICE.level == "baseline", CHOICE
    assert not dispatched(), f"NumPy still uses {dispatched()}"
    assert all(pool["num_threads"] == 1 for pool in blas), blas
    if X86:
        assert all(pool["architecture"] == "Nehalem" for pool in blas), blas


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        environment = os.environ | settings()
        subprocess.run([sys.executable, __file__, "check"], env=environment, check=True)
        sys.exit(subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:]], env=environment).returncode)

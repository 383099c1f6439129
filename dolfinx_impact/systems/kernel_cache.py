"""Compiler flags for the processor at hand, told apart in DOLFINx's cache of compiled kernels."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import Sequence

from mpi4py import MPI

_NATIVE = "-march=native"
_CPUINFO = Path("/proc/cpuinfo")


def features() -> str:
    """What kernels for this processor may use; where the system does not say, the name of the machine."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.is_file() else []
    told = next((line for line in lines if line.startswith(("flags", "Features"))), platform.node())
    return f"{platform.machine()} {told}"


def told_apart(flags: Sequence[str], comm: MPI.Comm) -> list[str]:
    """The flags, ``-march=native`` with a name that the processor gives to what it means. Collective.

    The cache knows kernels by their flags, and may lie in a folder that machines share: a kernel for a newer
    processor would end an older one without a message. Where the ranks have different processors, kernels are
    those of the common architecture: rank 0 compiles for all.
    """
    if _NATIVE not in flags:
        return list(flags)
    mine = hashlib.sha256(features().encode()).hexdigest()[:12]
    if len(set(comm.allgather(mine))) > 1:
        return [flag for flag in flags if flag != _NATIVE]
    return [*flags, f"-DIMPACT_PROCESSOR_{mine}"]

"""Processor-specific compiler flags that are safe with DOLFINx's cache of compiled kernels."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Sequence
from pathlib import Path

from mpi4py import MPI

_NATIVE = "-march=native"
_CPUINFO = Path("/proc/cpuinfo")


@functools.cache
def features() -> str:
    """Instruction set extensions of this processor; the host name where the system does not list them."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.is_file() else []
    extensions = next((line for line in lines if line.startswith(("flags", "Features"))), platform.node())
    return f"{platform.machine()} {extensions}"


def cache_flags(flags: Sequence[str], comm: MPI.Comm) -> list[str]:
    """The flags, ``-march=native`` supplemented by an identifier of the processor. Collective.

    The cache identifies kernels by their flags and may be shared between machines: a kernel compiled for a
    newer processor would crash an older one. Where the processors of the ranks differ, ``-march=native`` is
    dropped, since rank 0 compiles for all ranks.
    """
    if _NATIVE not in flags:
        return list(flags)
    identifier = hashlib.sha256(features().encode()).hexdigest()[:12]
    if len(set(comm.allgather(identifier))) > 1:
        return [flag for flag in flags if flag != _NATIVE]
    return [*flags, f"-DIMPACT_PROCESSOR_{identifier}"]

"""How many cells a batch of the element kernels has, by processor."""

from __future__ import annotations

from mpi4py import MPI

from ..forces.element_forms import FLAGS
from ..forces.kernel_cache import cache_flags, features

#: Cells of a batch: doubles in vector registers of 256 and of 512 bits.
NARROW, WIDE = 4, 8
#: Processors with this extension, from Ice Lake and Zen 4 on, hardly lower their clock for AVX-512.
_EXTENSION = "avx512_vbmi2"
#: Otherwise compilers prefer halves of registers, and halves of batches for functions of the C library.
_WHOLE = "-mprefer-vector-width=512"


def lanes_of(comm: MPI.Comm) -> int:
    """Cells of a batch: 8 where all ranks have the same processor, one with AVX-512, else 4. Collective."""
    native = "-march=native" in cache_flags(FLAGS, comm)
    return WIDE if native and _EXTENSION in features().split() else NARROW


def flags_of(lanes: int) -> list[str]:
    """Flags of the compiler for batches of so many cells."""
    return [*FLAGS, _WHOLE] if lanes == WIDE else FLAGS

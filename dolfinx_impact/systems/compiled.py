"""Data of a system for compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from ..algebra import kernels
from ..algebra.pair_blocks import PairBlocks

#: ``force(t, u, v, out)`` writes forces into ``out``, shape (size,) [N].
Force = Callable[[float, FloatArray, FloatArray, FloatArray], None]


@dataclass
class Compiled:
    """Data of a system's forces for compiled loops.

    Attributes:
        external, internal, damping: Compiled force callables, or None; see :class:`PointMasses`.
        energy: Compiled stored energy of ``internal``, or None where the forces come from matrices.
        load: Constant loads, shape (size,) [N].
        stiffness: Dense K, shape (size, size) [N/m], or (0, 0).
        pairs: K as a sum over pairs of nodes; empty for none.
        block: Block size of ``pairs``, 0 for none.
        csr: K in CSR format: indptr, indices, data; empty for none.
        patterns: Spatial patterns of time-dependent loads, shape (k, size) [N].
        amplitudes: Amplitudes of the patterns at times (n,), shape (n, k); None for none.
        rate: alpha of the damping force ``alpha M v`` [1/s].
    """

    external: Force | None
    internal: Force | None
    damping: Force | None
    energy: Callable[[FloatArray], float] | None
    load: FloatArray
    stiffness: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    pairs: PairBlocks = field(default_factory=PairBlocks.empty)
    block: int = 0
    csr: tuple[IntArray, IntArray, FloatArray] = field(
        default_factory=lambda: (np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0))
    )
    patterns: FloatArray | None = None
    amplitudes: Callable[[AnyArray], FloatArray] | None = None
    rate: float = 0.0

    @property
    def functions(self) -> bool:
        """Whether there are forces that a function computes."""
        return any((self.external, self.internal, self.damping))

    @property
    def signals(self) -> bool:
        """Whether there are loads that change in time."""
        return self.patterns is not None and len(self.patterns) > 0


def compiled_forces(system: Any) -> Compiled:
    """The forces of a system for a loop on one rank.

    Raises:
        NotCompiled: No numba, several ranks, prescribed motion, or a reason of the system itself.
    """
    if not kernels.load().COMPILED:
        raise kernels.NotCompiled("numba is not installed")
    if system.comm.size > 1:
        raise kernels.NotCompiled("several ranks share the system")
    if system.prescribed.any:
        raise kernels.NotCompiled("the motion of dofs is prescribed")
    found: Compiled = kernels.ask(system, "computes its forces in a way that is not of a compiled kind")
    return found

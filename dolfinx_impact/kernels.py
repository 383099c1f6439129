"""The loops over all dofs: compiled by numba where it is installed, NumPy otherwise."""

from __future__ import annotations

import functools
import importlib.util
import logging
from types import ModuleType

from mpi4py import MPI

logger = logging.getLogger("dolfinx_impact")


@functools.cache
def load() -> ModuleType:
    """The module of loops; both offer the same functions and the same results to rounding."""
    if importlib.util.find_spec("numba") is None:
        from . import _numpy_kernels as numpy_kernels

        if MPI.COMM_WORLD.rank == 0:
            logger.warning("numba is not installed: same results, slower steps")
        return numpy_kernels
    from . import _numba_kernels as numba_kernels

    return numba_kernels

"""Kernels over all dofs: compiled by numba where it is installed, otherwise NumPy."""

from __future__ import annotations

import functools
import importlib.util
import logging
from types import ModuleType
from typing import Any, Callable

from mpi4py import MPI

logger = logging.getLogger("dolfinx_impact")


@functools.cache
def load() -> ModuleType:
    """The module of kernels; both modules have the same functions, with the same results to round-off."""
    if importlib.util.find_spec("numba") is None:
        from . import _numpy as numpy_kernels

        if MPI.COMM_WORLD.rank == 0:
            logger.warning("numba is not installed: same results, slower steps")
        return numpy_kernels
    from . import _numba as numba_kernels

    return numba_kernels


@functools.lru_cache(maxsize=64)
def jit(function: Callable[..., Any], *called: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled by numba and cached on disk; the function itself without numba.

    Args:
        function: A function of arrays and numbers. Numbers and arrays in its closure become compile-time
            constants.
        called: Functions of its module that it calls by their global names.
    """
    if not load().COMPILED:
        return function
    import numba
    from numba.extending import register_jitable

    for each in called:
        register_jitable(error_model="numpy")(each)
    return numba.njit(cache=True, error_model="numpy")(function)


def is_compiled(function: Any) -> bool:
    """Whether the function is compiled by numba, so that compiled loops can call it."""
    return hasattr(function, "py_func") and hasattr(function, "get_compile_result")

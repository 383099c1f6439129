"""Kernels over all dofs: compiled by numba where it is installed, otherwise NumPy."""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from mpi4py import MPI

logger = logging.getLogger("dolfinx_impact")


class NotCompiled(ValueError):
    """Why an object has no part in a compiled loop; the message is what a run says of it."""


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
    compiled: Callable[..., Any] = numba.njit(cache=True, error_model="numpy")(function)
    return compiled


def is_compiled(function: Any) -> bool:
    """Whether the function is compiled by numba, so that compiled loops can call it."""
    return hasattr(function, "py_func") and hasattr(function, "get_compile_result")


def ask(thing: Any, lacking: str) -> Any:
    """Result of ``thing.compiled()``: arrays and compiled functions for a loop.

    Args:
        thing: A system, obstacle or contact law, maybe of a class that derives from nothing.
        lacking: What to say of one without that method, after the name of its class.

    Raises:
        NotCompiled: The reason of the object; no such method, or None from it.
    """
    # Of the object or its class: what an object that delegates by __getattr__ has is the form of another one.
    levels = [getattr(thing, "__dict__", {}), *(vars(kind) for kind in type(thing).__mro__)]
    found = thing.compiled() if any("compiled" in level for level in levels) else None
    if found is None:
        raise NotCompiled(f"{type(thing).__name__} {lacking}")
    return found


def overridden(thing: object, names: Sequence[str], by: str | type = "compiled") -> str | None:
    """The first of ``names`` that is defined closer to the object than ``by``, or None.

    A compiled form stands for the methods of the class that offers it, and of its bases: what a class below
    that one changes is not part of the compiled form, unless the class offers one itself.

    Args:
        thing: The object; what it has of its own, besides its class, counts as closest.
        names: Methods and attributes that the compiled form replaces.
        by: The method that offers the compiled form, or a class.
    """
    kinds = type(thing).__mro__
    levels = [getattr(thing, "__dict__", {}), *(vars(kind) for kind in kinds)]
    if isinstance(by, type):
        end = kinds.index(by) + 1
    else:
        end = next((i for i, level in enumerate(levels) if by in level), len(levels))
    return next((name for name in names if any(name in level for level in levels[:end])), None)

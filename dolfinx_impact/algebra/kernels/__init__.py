"""Kernels over all dofs: compiled by numba where it is installed, otherwise NumPy."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import logging
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from ... import parallel

logger = logging.getLogger("dolfinx_impact")


class NotCompiled(ValueError):
    """Why an object has no part in a compiled loop; the message is what a run says of it."""


class NotDeclared(NotCompiled):
    """A class that derives from one with a compiled form, and does not say whether it has the same."""


@functools.cache
def load() -> ModuleType:
    """The module of kernels; both modules have the same functions, with the same results to round-off."""
    if importlib.util.find_spec("numba") is None:
        from . import _numpy as numpy_kernels

        if parallel.world().rank == 0:
            logger.warning("numba is not installed: same results, slower steps")
        return numpy_kernels
    from . import _numba as numba_kernels

    return numba_kernels


@functools.lru_cache(maxsize=64)
def jit(
    function: Callable[..., Any], *called: Callable[..., Any], allocates: bool = True
) -> Callable[..., Any]:
    """The function compiled by numba and cached on disk; the function itself without numba.

    Args:
        function: A function of arrays and numbers. Numbers and arrays in its closure become compile-time
            constants.
        called: Functions of its module that it calls by their global names.
        allocates: Whether one of them makes an array. Without it references need no counting: that would cost
            as much as a pair of facets, for arrays in tuples.
    """
    if not load().COMPILED:
        return function
    import numba
    from numba.extending import register_jitable

    for each in called:
        register_jitable(error_model="numpy")(each)
    options: dict[str, Any] = {} if allocates else {"_nrt": False}
    compiled: Callable[..., Any] = numba.njit(cache=True, error_model="numpy", **options)(function)
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
        NotCompiled: The reason of the object; no such method, one that is only inherited, or None from it.
    """
    method = declared(thing)
    found = None if method is None else method()
    if found is None:
        raise NotCompiled(f"{type(thing).__name__} {lacking}")
    return found


def declared(thing: Any, form: str = "compiled") -> Callable[..., Any] | None:
    """The method that gives the compiled form of an object, where the object's class names it itself.

    A compiled form stands for whatever the class computes. A class that derives from that one may compute
    something else, so it joins only if its own body says so: ``compiled = Base.compiled``.

    Args:
        thing: The object.
        form: Name of the method.

    Returns:
        The method; None where no class of the object has it, or one has None in its place.

    Raises:
        NotDeclared: A class that only inherits the method.
        NotCompiled: An object with a method of its own in the place of that of its class.
    """
    kind = type(thing)
    if form in vars(kind):
        for name in getattr(thing, "__dict__", {}):
            if isinstance(inspect.getattr_static(kind, name, None), FunctionType):
                raise NotCompiled(f"this {kind.__name__} has a {name}() of its own, not that of its class")
        method: Callable[..., Any] = getattr(thing, form)
        return method
    for base in kind.__mro__:
        if form in vars(base):
            if vars(base)[form] is None:
                return None
            raise NotDeclared(
                f"{kind.__name__} derives from {base.__name__} and may compute something else: if it does "
                f"not, write in the class {form} = {base.__name__}.{form}"
            )
    return None

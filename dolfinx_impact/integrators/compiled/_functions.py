"""Functions that compiled loops call, and the loops compiled for them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types

from ..._types import FloatArray
from ...algebra import kernels


@numba.njit(cache=True, error_model="numpy")
def nothing(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """A force that is not there."""
    out[:] = 0.0


@numba.njit(cache=True, error_model="numpy")
def no_energy(u: FloatArray) -> float:
    """The energy of no force."""
    return 0.0


@numba.njit(cache=True, error_model="numpy")
def no_surface(x: FloatArray, normal: FloatArray) -> float:
    """The gap of no obstacle."""
    return 0.0


def calls_functions(functions: tuple[Callable[..., Any], ...]) -> bool:
    """Whether one of them is not one of the above, which do nothing."""
    return any(each not in (nothing, no_energy, no_surface) for each in functions)


def loop_for(advance: Callable[..., int], *arrays: Any) -> Callable[..., int]:
    """The loop for arguments of these types; functions go in as pointers, in a tuple after the arrays."""
    signature = _signature(*(numba.typeof(each) for each in arrays))
    # Numba would find the types of all arguments at every call, which takes longer than many steps.
    call: Callable[..., int] = _compiled(advance, signature).get_compile_result(signature).entry_point
    return call


_VECTOR = types.float64[::1]
_FORCE = types.void(types.float64, _VECTOR, _VECTOR, _VECTOR)
#: Signatures of what a loop calls: external, internal and damping forces, energy and surface.
_CALLED = (_FORCE, _FORCE, _FORCE, types.float64(_VECTOR), types.float64(_VECTOR, _VECTOR))


def refuse_other_signatures(functions: tuple[Callable[..., Any], ...]) -> None:
    """Raise a NotCompiled for functions that no pointer of a loop can call: it would read other bits."""
    for function, called in zip(functions, _CALLED):
        try:
            made = function.get_compile_result(called).signature.return_type  # type: ignore[attr-defined]
        except Exception as error:  # whatever numba says of code or signature
            line = str(error).partition("\n")[0]
            raise kernels.NotCompiled(f"{function.__name__} cannot be called as {called}: {line}") from None
        if made != called.return_type:
            raise kernels.NotCompiled(f"{function.__name__} returns {made}, not {called.return_type}")


def _signature(*arrays: Any) -> Any:
    with _experimental():
        functions = types.Tuple(tuple(types.FunctionType(called) for called in _CALLED))
        return types.int64(types.int64, *arrays, functions)


@functools.cache
def _compiled(advance: Callable[..., int], signature: Any) -> Any:
    # Nothing is allocated in it, and references need no counting: that would cost as much as a step. A
    # thread that writes a checkpoint goes on meanwhile.
    options = {"error_model": "numpy", "fastmath": False, "_nrt": False, "nogil": True}
    with _experimental():
        return numba.njit(signature, cache=True, **options)(advance)


@contextmanager
def _experimental() -> Iterator[None]:
    """Context without numba's warning that pointers to functions are experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaExperimentalFeatureWarning)
        yield

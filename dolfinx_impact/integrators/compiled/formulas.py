"""Sums and steps over whole arrays: compiled by numba where it is installed."""

from __future__ import annotations

from types import ModuleType

from ...algebra import kernels
from ..central import central_formulas


def for_arrays() -> ModuleType:
    """The module of functions over whole arrays that :mod:`.central_formulas` ends with, or has compiled."""
    if not kernels.load().COMPILED:
        return central_formulas
    from . import _kernels

    return _kernels

"""Oracles: each knows a right answer without knowing the scheme; its docstring says what and why."""

from . import chains, depth, energy, momentum, refused, rest, same, spectrum, ways
from .base import ORACLES, Misfit, Oracle

__all__ = [
    "ORACLES",
    "Misfit",
    "Oracle",
    "chains",
    "depth",
    "energy",
    "momentum",
    "refused",
    "rest",
    "same",
    "spectrum",
    "ways",
]

"""Oracles: each knows a right answer without knowing the scheme; its docstring says what and why."""

from . import (
    chains,
    depth,
    energy,
    halved,
    kept,
    laws,
    momentum,
    pressure,
    refused,
    rest,
    same,
    small,
    spectrum,
    ways,
)
from .base import ORACLES, Misfit, Oracle

__all__ = [
    "ORACLES",
    "Misfit",
    "Oracle",
    "chains",
    "depth",
    "energy",
    "halved",
    "kept",
    "laws",
    "momentum",
    "pressure",
    "refused",
    "rest",
    "same",
    "small",
    "spectrum",
    "ways",
]

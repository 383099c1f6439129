"""A run: the loop over the steps of an integrator, its recorder, watch, step control and checkpoints.

A step itself is made in ``integrators``; what is left after a run lives in ``output``.
"""

from .loop import simulate
from .stability_monitor import Interrupted

__all__ = ["Interrupted", "simulate"]

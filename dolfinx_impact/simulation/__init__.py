"""Runs: loop over the steps of an integrator, recorder, stability monitor, step control and checkpoints.

Time steps are in ``integrators``, results of a run in ``output``.
"""

from .loop import simulate
from .stability_monitor import Interrupted

__all__ = ["Interrupted", "simulate"]

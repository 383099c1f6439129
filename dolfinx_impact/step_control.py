"""The step of explicit schemes on bodies that deform much: looked after, and changed where wanted."""

from __future__ import annotations

from typing import Any

from . import arguments

_TOLERANCE = 1e-3  # of the highest frequency, far below the safety
#: The step grows only where it gains so much, so that it does not go up and down all the time.
_WORTH = 1.25


class StepControl:
    """Finds the critical time step anew during a run, and keeps the step a part of it.

    After a change the scheme starts anew from the state at ``t``: central differences with
    ``v_{1/2} = v + h/2 M^-1 F``. What that changes in the discrete energy is counted as ``dissipated``.

    Args:
        every: Steps between two looks; one takes about as long as 50 steps.
        safety: Step over the critical one, in (0, 1).

    Attributes:
        changes: Number of changes so far.

    Raises:
        ValueError: Numbers out of range.
    """

    def __init__(self, *, every: int = 500, safety: float = 0.8) -> None:
        self.every = arguments.whole("every", every, "be a whole number of steps from 1 on")
        self.safety, self.changes = arguments.number("safety", safety, "lie between 0 and 1", above=0.0), 0
        if not self.safety < 1:
            raise ValueError(f"safety must lie between 0 and 1, but is {safety}")

    def check(self, integrator: Any) -> None:
        """Raise a ValueError for a scheme that cannot change its step, or a system that is no body."""
        if not hasattr(integrator, "change_step"):
            raise ValueError(f"{type(integrator).__name__} cannot change its time step: leave adapt out")
        if not hasattr(integrator.system, "mesh"):
            kind = type(integrator.system).__name__
            raise ValueError(f"the critical time step of a {kind} is not followed: leave adapt out")

    def look(self, integrator: Any, balance: Any) -> None:
        """Change the step where the critical one has changed enough. Collective."""
        critical = critical_now(integrator)
        wanted, too_large = self.safety * critical, critical * (1 + self.safety) / 2
        if integrator.dt <= too_large and wanted < _WORTH * integrator.dt:
            return
        integrator.change_step(wanted)
        integrator.beyond_limit = False
        self.changes += 1
        if balance is not None:
            balance.restart()


def critical_now(integrator: Any) -> float:
    """The critical time step at the integrator's displacements [s]. Collective."""
    return float(integrator.system.critical_time_step(u=integrator.u, tolerance=_TOLERANCE))


def deforms(integrator: Any) -> bool:
    """Whether the critical time step of a scheme changes during the run."""
    system = integrator.system
    return hasattr(integrator, "change_step") and hasattr(system, "mesh") and not system.linear


def watch(integrator: Any) -> None:
    """Note whether the step is above the critical one by now: the energy is watched then. Collective."""
    integrator.beyond_limit = integrator.beyond_limit or integrator.dt > critical_now(integrator)

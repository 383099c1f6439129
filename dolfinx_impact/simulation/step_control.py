"""The step of explicit schemes on bodies that deform much: looked after, and changed where wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import arguments
from ..algebra import kernels
from ..integrators.base import UnstableTimeStep

_TOLERANCE = 1e-3  # of the highest frequency, far below the safety
#: The step grows only where it gains so much, so that it does not go up and down all the time.
_WORTH = 1.25
#: The critical step is found anew where the extreme stretches have changed by this part,
_CHANGED = 0.1
#: and the step is so small that no line between two nodes changes by more in it.
_IN_ONE_STEP = 0.08
#: Steps between two looks at whether a body is turned inside out,
_LOOK = 100
#: and, where nothing changes the step, at the critical one.
_RARELY = 2000


class StepControl:
    """Finds the critical time step anew as a body deforms, and keeps the step a part of it.

    After every step the lines between neighbouring nodes are measured; the critical step is found anew where
    the least or the largest stretch has changed by 10 %. Where lines change fast (an impact) the step is
    smaller still, so that none changes by more than 8 % in it. After a change the scheme starts anew from the
    state at ``t``: central differences with ``v_{1/2} = v + h/2 M^-1 F``. What that changes in the discrete
    energy is counted as ``dissipated``.

    Args:
        every: Most steps between two looks at the critical step; one takes about as long as 50 steps.
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
        if not hasattr(integrator.system, "deformation"):
            kind = type(integrator.system).__name__
            raise ValueError(f"the critical time step of a {kind} is not followed: leave adapt out")

    def adjust(self, integrator: Any, balance: Any, critical: float, rate: float) -> None:
        """Change the step where the critical one has changed enough. Collective.

        Args:
            integrator: The scheme.
            balance: Its balance, or None.
            critical: The critical step [s].
            rate: The largest rate of deformation [1/s].
        """
        wanted, too_large = self.safety * critical, critical * (1 + self.safety) / 2
        if rate > 0:
            wanted = min(wanted, _IN_ONE_STEP / rate)
            too_large = min(too_large, _WORTH * _IN_ONE_STEP / rate)
        if integrator.dt <= too_large and wanted < _WORTH * integrator.dt:
            return
        integrator.change_step(wanted)
        integrator.beyond_limit = False
        self.changes += 1
        if balance is not None:
            balance.restart()


class Watch:
    """Looks at a body that deforms much, and at its critical step, when there is something to see.

    Args:
        integrator: An explicit scheme on a body that :func:`deforms`.
        control: What changes the step, or None: it is noted then that the step is above the critical one, and
            the energy is watched.

    Attributes:
        due: Whether to look at the critical step before the next step.
        every: Steps between two looks at least.
    """

    def __init__(self, integrator: Any, control: StepControl | None) -> None:
        self._s, self._control, self.due = integrator, control, True
        self.every = _LOOK if control is None else min(_LOOK, control.every)
        self._whole = _RARELY if control is None else control.every
        body = integrator.system
        self._deformation, self._squeezed = body.deformation, body.viscosity[1]
        #: What was found when the critical step was: that, the extreme stretches, the rate.
        self._critical, self._then = body.critical_time_step(), (1.0, 1.0, 0.0)
        self._now = self._then
        if control is None and self._squeezed and integrator.n == 0:
            self._warn_of_impacts()

    def state(self) -> NDArray:
        """What a resumed run needs: numbers that all ranks have."""
        return np.array([self._critical, *self._then, *self._now, self.due])

    def resume(self, state: NDArray) -> None:
        """Go on from a :meth:`state`."""
        first, *rest = map(float, state[:7])
        self._critical, self._then, self._now = first, tuple(rest[:3]), tuple(rest[3:])  # type: ignore
        self.due = bool(state[7])

    def follow(self) -> None:
        """See what a step did, where the next one may be changed for it. Collective."""
        if self._control is not None:
            self._now = self._deformation.lines(self._s.u, self._s.v)
            allowed = _WORTH * _IN_ONE_STEP / self._now[2] if self._now[2] > 0 else np.inf
            self.due = self._s.dt > allowed or self._changed()

    def look(self, balance: Any, made: int) -> None:
        """Look at the body after ``made`` steps, at its critical step where it has changed. Collective.

        Raises:
            UnstableTimeStep: An element that is turned inside out.
        """
        s = self._s
        self.refuse_inside_out()
        self._now = self._deformation.lines(s.u, s.v)
        if self._changed() or (made > 0 and made % self._whole == 0):
            self._find_critical()
        self.due = False
        if self._control is not None:
            self._control.adjust(s, balance, self._critical, self._now[2])
        else:
            s.beyond_limit = s.beyond_limit or s.dt > self._critical

    def judge(self) -> None:
        """Note whether the step is above the critical one, where the energy has exploded. Collective."""
        s = self._s
        self.refuse_inside_out()
        self._now = self._deformation.lines(s.u, s.v)
        if self._changed():
            self._find_critical()
        s.beyond_limit = s.dt > self._critical

    def refuse_inside_out(self) -> None:
        """Raise an UnstableTimeStep where an element is turned inside out. Collective."""
        s = self._s
        if not s.system.linear and self._deformation.inside_out(s.u):
            raise UnstableTimeStep(
                f"an element is turned inside out at t = {s.t:.6g} s (step {s.n}): {self.way_out()}"
            )

    def way_out(self) -> str:
        """What to do about a run that was lost."""
        if self._control is not None:
            return "take a smaller safety= of the StepControl, or a law that resists compression more"
        why = "where a body is compressed its critical time step shrinks"
        if self._s.system.linear:
            why = "where a body is compressed fast its quadratic bulk viscosity lowers the critical time step"
        return f"{why}: let the step follow (simulate(..., adapt=StepControl())), or take a smaller time step"

    def _warn_of_impacts(self) -> None:
        """Say so where the first impact alone would make the step too large. Collective."""
        s, v = self._s, self._s.v_mean.copy()
        if s.contact is not None:
            rows, approach = s.contact.rows, np.minimum(s.contact.rows(v), 0.0)
            np.add.at(v, rows.dofs, -(1 + s.contact.restitution) * approach[:, None] * rows.weights)
        critical = s.system.critical_time_step(u=s.u, v=v, tolerance=_TOLERANCE)
        if s.dt > critical and s.system.comm.rank == 0:
            kernels.logger.warning(
                f"at the first impact the quadratic bulk viscosity lowers the critical time step to "
                f"{critical:.6g} s, but the step is {s.dt:.6g} s and the run may explode: take a smaller "
                "one, or let it follow (simulate(..., adapt=StepControl()))"
            )

    def _find_critical(self) -> None:
        s, v = self._s, self._s.v if self._squeezed else None
        self._critical = s.system.critical_time_step(u=s.u, v=v, tolerance=_TOLERANCE)
        self._then = self._now

    def _changed(self) -> bool:
        """Whether the critical step may be another one: where it may have grown, only if that is of use."""
        (least, most, rate), (least_then, most_then, rate_then) = self._now, self._then
        squeeze = self._squeezed**2 * self._s.dt * (rate - rate_then)
        better = self._control is not None and (
            squeeze < -_CHANGED or least > _WORTH * least_then or most < most_then / _WORTH
        )
        worse = squeeze > _CHANGED
        if not self._s.system.linear:
            worse = worse or least < (1 - _CHANGED) * least_then or most > (1 + _CHANGED) * most_then
        return better or worse


def deforms(integrator: Any) -> bool:
    """Whether the critical time step of a scheme changes during the run."""
    system = integrator.system
    constant = getattr(system, "linear", True) and not getattr(system, "viscosity", (0.0, 0.0))[1]
    # The deformation comes last, as it is made when it is asked for.
    return not constant and hasattr(integrator, "change_step") and hasattr(system, "deformation")

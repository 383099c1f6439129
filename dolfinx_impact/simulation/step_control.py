"""Time step of explicit schemes on bodies whose critical step changes: monitoring and adaptation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import arguments
from .._types import FloatArray
from ..algebra import kernels
from ..integrators.base import UnstableTimeStep
from .first_impact import after_first_impacts
from .law_values import LawValues

_TOLERANCE = 1e-3  # relative, of the highest frequency; far below the safety margin
#: Smallest factor by which the step is increased (hysteresis).
_WORTH = 1.25
#: Relative change of the extreme stretches after which the critical step is recomputed,
_CHANGED = 0.1
#: of bodies with history the largest logarithmic strain after which it is,
_STRAINED = 0.07
#: and largest relative change of the distance of two nodes in a step.
_IN_ONE_STEP = 0.08
#: Smallest part of these three that a law which stiffens fast allows.
_FINEST = 0.05
#: Factor by which the step is increased at most, and steps until the next increase.
_RISE, _RISEN = 2.0, 10
#: Steps between two checks for inverted elements,
_LOOK = 100
#: and, without step control, between two computations of the critical step.
_RARELY = 2000


_FALLS = "the critical time step of a body that yields falls as it is compressed"


class StepControl:
    """Adapts the time step to the critical one of a deforming body.

    After every step the distances of neighbouring nodes are evaluated; the critical step is recomputed when
    any of them has changed by 10 %, where a material has history by 7 %, since the last time, or a
    coefficient of a law by 10 %. Where distances change fast (an impact) the step is reduced further, so that
    none changes by more than 8 % in it. Where the critical step changes so fast that the next 10 % would use
    up the margin ``safety``, all of these are reduced in proportion, to a twentieth at least: laws that
    stiffen at a limit are followed in small steps there. The step is at most doubled in ten steps. After a
    change the scheme goes on from the state at ``t``: central differences with half of both steps between the
    half-step velocities, for forces and for the impulses of contact that lasts, which the next sample
    contains; the change of the discrete energy is added to ``dissipated``. :class:`.NohBathe` goes on as it
    is.

    Args:
        every: Largest number of steps between two computations of the critical step; one costs about as much
            as 50 steps.
        safety: Time step over the critical one, in (0, 1).

    Attributes:
        changes: Number of changes of the step so far.

    Raises:
        ValueError: An argument out of its range.
    """

    def __init__(self, *, every: int = 500, safety: float = 0.8) -> None:
        self.every = arguments.whole("every", every, "be a whole number of steps from 1 on")
        self.safety, self.changes = arguments.number("safety", safety, "lie between 0 and 1", above=0.0), 0
        if not self.safety < 1:
            raise ValueError(f"safety must lie between 0 and 1, but is {safety}")

    def check(self, integrator: Any) -> None:
        """Raise a ValueError for a scheme with a fixed step, or a system without ``deformation``."""
        if getattr(integrator, "change_step", None) is None:
            raise ValueError(f"{type(integrator).__name__} cannot change its time step: leave adapt out")
        if not hasattr(integrator.system, "deformation"):
            kind = type(integrator.system).__name__
            raise ValueError(f"the critical time step of a {kind} is not followed: leave adapt out")

    def adjust(self, integrator: Any, balance: Any, critical: float, most: float) -> bool:
        """Change the step if the critical one has changed enough. Collective.

        Args:
            integrator: The scheme.
            balance: Its energy balance, or None.
            critical: Critical time step [s].
            most: Largest step in which no distance changes too much [s].

        Returns:
            Whether the step is to rise further.
        """
        target = min(self.safety * critical, most)
        limit = min(critical * (1 + self.safety) / 2, _WORTH * most)
        if integrator.dt <= limit and target < _WORTH * integrator.dt:
            return False
        further = bool(target > _RISE * integrator.dt)
        target = min(target, _RISE * integrator.dt)
        integrator.change_step(target)
        integrator.beyond_limit = False
        self.changes += 1
        if balance is not None:
            balance.restart()
        return further


class Watch:
    """Monitors deformation and critical time step of a body.

    Args:
        integrator: An explicit scheme for which :func:`deforms` is true.
        control: Control of the step, or None: then ``beyond_limit`` of the integrator is set where the step
            is above the critical one, upon which the stability monitor checks the energy.

    Attributes:
        due: Whether to check the body before the next step.
        every: Largest number of steps between two checks.
    """

    def __init__(self, integrator: Any, control: StepControl | None) -> None:
        self._whole, self._s = integrator, integrator.explicit_part
        self._control, self.due = control, True
        self.every = _LOOK if control is None else min(_LOOK, control.every)
        self._recompute_every = _RARELY if control is None else control.every
        body = self._s.system
        self._deformation, self._quadratic = body.deformation, body.viscosity[1]
        #: Last computed critical step, and extreme stretches and rate of stretch at that time.
        self._critical, self._then = integrator.critical_step(body), (1.0, 1.0, 0.0)
        self._now, self._strain, self._values = self._then, 0.0, LawValues(body)
        self._margin = -math.log(0.8 if control is None else control.safety)
        #: Part of the changes above which the critical step is computed, and steps until the next increase.
        self._fine, self._rises_in = 1.0, 0
        #: Displacements at that time, shape (owned,) [m]; None where the extreme stretches suffice.
        self.marked: FloatArray | None = None
        #: Largest strain of any line since then.
        self._most_strained = _CHANGED if body.history is None else _STRAINED
        if body.history is not None or (control is not None and not body.linear):
            self.mark(self._s.u if body.history is None else np.zeros(body.owned))
        if body.history is not None:
            if control is None and integrator.n == 0 and body.comm.rank == 0:
                kernels.logger.warning(
                    f"{_FALLS}: {self._follow()}take a smaller time step, unless the deformation stays small"
                )
        if control is None and self._quadratic and integrator.n == 0:
            self._warn_of_impacts()

    def state(self) -> FloatArray:
        """State for a restart, replicated, shape (10,)."""
        rest = [self._fine, float(self._rises_in)]
        return np.array([self._critical, *self._then, *self._now, self.due, *rest])

    def resume(self, state: FloatArray) -> None:
        """Restore a :meth:`state`."""
        first, *rest = map(float, state[:7])
        self._critical, self._then, self._now = first, tuple(rest[:3]), tuple(rest[3:])  # type: ignore
        self.due = bool(state[7])
        if len(state) > 8:
            self._fine, self._rises_in = float(state[8]), int(state[9])

    def follow(self) -> None:
        """Evaluate the stretches after a step if there is a step control; updates :attr:`due`. Collective."""
        if self._control is not None:
            self._measure()
            self._rises_in -= 1
            changed = self._changed()  # on all ranks
            self.due = changed or self._s.dt > _WORTH * self._most() or self._rises_in == 0

    def look(self, balance: Any, made: int) -> None:
        """Check the body after ``made`` steps; recompute its critical step where needed. Collective.

        Raises:
            UnstableTimeStep: An inverted element.
        """
        s = self._s
        self.refuse_inside_out()
        self._measure()
        if self._changed() or (made > 0 and made % self._recompute_every == 0):
            self._find_critical()
        self.due = False
        if self._control is not None:
            rises = self._control.adjust(s, balance, self._critical, self._most())
            self._rises_in = _RISEN if rises else 0
        else:
            self._whole.beyond_limit = self._whole.beyond_limit or s.dt > self._critical

    def judge(self) -> None:
        """Set ``beyond_limit`` of the integrator after the energy has exceeded its limit. Collective."""
        s = self._s
        self.refuse_inside_out()
        self._measure()
        if self._changed():
            self._find_critical()
        self._whole.beyond_limit = s.dt > self._critical

    def refuse_inside_out(self) -> None:
        """Raise an UnstableTimeStep if an element of a nonlinear body is inverted. Collective."""
        s = self._s
        if not s.system.linear and self._deformation.inside_out(s.u):
            raise UnstableTimeStep(
                f"an element is turned inside out at t = {s.t:.6g} s (step {s.n}): {self.way_out()}"
            )

    def way_out(self) -> str:
        """Advice for a run that has diverged."""
        if self._control is not None:
            return (
                "take a smaller safety= of the StepControl (0.4 where a law stiffens at a limit), a smaller "
                "every=, or a law that resists compression more"
            )
        why = (
            "where a body is compressed its critical time step shrinks, or where a coefficient of a law rises"
        )
        if self._s.system.linear:
            why = "where a body is compressed fast its quadratic bulk viscosity lowers the critical time step"
        return f"{why}: {self._follow()}take a smaller time step"

    def _follow(self) -> str:
        """Advice to let the step follow, where the scheme can."""
        alone = self._whole is self._s
        return "let the step follow (simulate(..., adapt=StepControl())), or " if alone else ""

    def _warn_of_impacts(self) -> None:
        """Warn if the step is above the critical one at the velocities of the first impact. Collective."""
        s, v = self._s, self._s.v_mean.copy()
        if s.contact is not None:
            v = after_first_impacts(s.contact, s.system.inverse_mass, s.u, v, s.t)
            self._whole.contact_state = s.contact_state = s.contact.now(s.t)  # it was asked elsewhere
        critical = s.critical_step(s.system, u=s.u, v=v, tolerance=_TOLERANCE)
        if s.dt > critical and s.system.comm.rank == 0:
            kernels.logger.warning(
                f"at the first impact the quadratic bulk viscosity lowers the critical time step to "
                f"{critical:.6g} s, but the step is {s.dt:.6g} s and the run may explode: "
                f"{self._follow()}take a smaller one"
            )

    def _measure(self) -> None:
        *extremes, self._strain = self._deformation.lines(self._s.u, self._s.v)
        self._now = tuple(extremes)

    def _most(self) -> float:
        """Largest step in which no distance of nodes changes too much [s]."""
        return self._fine * _IN_ONE_STEP / self._now[2] if self._now[2] > 0 else math.inf

    def _find_critical(self) -> None:
        s, v, before, moved = self._s, self._s.v if self._quadratic else None, self._critical, self._moved()
        self._critical = s.critical_step(s.system, u=s.u, v=v, tolerance=_TOLERANCE)
        changed = abs(math.log(self._critical / before)) if math.isfinite(before + self._critical) else 0.0
        if moved > 0.5 * self._fine * _CHANGED:
            # The secant lags behind a law that stiffens ever faster: it takes time to trust it again.
            wanted = self._margin * moved / (_CHANGED * changed) if changed > 0 else 1.0
            self._fine = max(_FINEST, min(1.0, wanted, _RISE * self._fine))
        self._then = self._now
        self._values.mark()
        if self.marked is not None:
            self.mark(s.u)

    def mark(self, u: FloatArray) -> None:
        """Measure strains from the displacements u on, shape (owned,) or more [m]. Collective."""
        self.marked = u[: self._s.system.owned].copy()
        self._deformation.mark(u)
        self._strain = 0.0

    def _moved(self) -> float:
        """Largest change of distances or coefficients since the critical step was computed. Collective."""
        (least, most, _), (least_then, most_then, _) = self._now, self._then
        stretched = 0.0 if self._s.system.linear else max(1 - least / least_then, most / most_then - 1)
        if self.marked is not None:
            stretched = self._strain * _CHANGED / self._most_strained
        return max(stretched, self._values.change())

    def _changed(self) -> bool:
        """Whether the critical step may have decreased or, with a step control, increased. Collective."""
        (least, most, rate), (least_then, most_then, rate_then) = self._now, self._then
        viscous = self._quadratic**2 * self._s.dt * (rate - rate_then)
        smaller = viscous > _CHANGED or self._moved() > self._fine * _CHANGED
        if self.marked is not None:
            return smaller or viscous < -_CHANGED
        worth = 1 + self._fine * (_WORTH - 1)
        return (
            smaller
            or self._control is not None
            and (viscous < -_CHANGED or least > worth * least_then or most < most_then / worth)
        )


def deforms(integrator: Any) -> bool:
    """Whether the critical time step of a scheme may change during the run."""
    s = integrator.explicit_part
    system = s.system
    constant = getattr(system, "linear", True) and not getattr(system, "viscosity", (0.0, 0.0))[1]
    # The deformation last, as its first access creates it.
    return not constant and hasattr(s, "change_step") and hasattr(system, "deformation")

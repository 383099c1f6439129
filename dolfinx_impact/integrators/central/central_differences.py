"""Central differences in the leapfrog form, with any contact law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._types import AnyArray, FloatArray, Int32Array
from ...algebra.operators import SparseRows
from ...contact.state import Impulses
from ...systems.system import System
from ..base import STEP_ROUNDING, Integrator, revision
from ..compiled.central import CentralLoop
from ..compiled.formulas import for_arrays
from ..energy import CentralDifferenceBalance, EnergyBalance
from ..impulses.contact_laws import Enforcement, VelocityLevel
from ..impulses.delassus_lumped import lumped_delassus
from ..step_buffer import CompiledLoop
from . import central_formulas as formulas
from .step_change import change
from .swept_paths import SweptPaths


class CentralDifferences(Integrator):
    """Leapfrog form: ``u`` at t_n, ``v`` at t_{n+1/2}; lumped mass.

    Fekak et al. (2017), Algorithm 2; Di Stasio et al. (2019), Algorithm 1::

        u_{n+1}   = u_n + h v_{n+1/2}
        v*        = v_{n+1/2} + h M^-1 F(t_{n+1}, u_{n+1}, v_{n+1/2})
        v_{n+3/2} = v* + M^-1 L^T r

    Start: ``v_{1/2} = v_0 + W/2``, ``W = h M^-1 F_0 + M^-1 L^T r_0``, and ``v_{-1/2} = v_0 - W/2``,
    so that the mean of the half-step velocities is v_0 (an impulse at position level acts on
    v_{1/2} whole). A body that starts on an obstacle with ``L v_0 < 0`` has the whole impact there before, at
    velocity level: v_0 is then ``v_0+ = v_0 + M^-1 L^T r_i`` with ``0 <= L (v_0+ + e v_0)  _|_  r_i >= 0``,
    and the impulse at the start is ``r_i + r_0``. Dofs whose motion is prescribed have
    ``v_{n+1/2} = (u_D(t_{n+1}) - u_n) / h``, (57).

    Attributes:
        enforcement: The contact law.
        v_before: The half-step velocity before ``t``, shape (size,) [m/s].
        f: Forces at ``t``, shape (size,) [N].
        v_force: The velocity that they were computed with, shape (size,) [m/s].
        v_start: The velocity at the start, before an impact there, shape (size,) [m/s].
        r_start, r_t_start: Normal and tangential impulses of an impact at the start, shaped as ``r`` and
            ``r_t`` [N s].
        r_change, r_t_change: Those that the last change of the step has added, likewise.
        r_impact, r_t_impact: The part of those before it that was an impact, likewise.
        swept: Impulses of features in the last step, over the dofs, shape (size,) [N s]; None where their
            paths are not tested. ``swept_change`` and ``swept_impact`` are to it what those of r are to r.
        r_features: Sum of the normal impulses of features in the last step [N s], the same on all ranks, see
            :class:`.SweptPaths`; ``r_features_change`` is what the last change of the step has added.
        certificates: What contacts know of the steps so far, in numbers that a checkpoint holds.

    Raises:
        ValueError: A step above the critical one, unless ``allow_unstable``.
    """

    v_shift = 0.5
    follows_history = sweeps = True
    #: What tests the paths of features; None for contacts that do not ask for it.
    _paths: SweptPaths | None = None
    #: Whether impulses of features act in the last step on this rank.
    _sweeping = False
    swept: FloatArray | None = None
    swept_change: FloatArray | None = None
    swept_impact: FloatArray | None = None
    r_features_change = 0.0
    certificates: FloatArray
    state_names: tuple[str, ...] = ("u", "v", "v_before", "f", "r", "r_t", "v_start", "r_start", "r_t_start")

    def __init__(
        self, system: System, dt: float, enforcement: Enforcement, *, allow_unstable: bool = False
    ) -> None:
        super().__init__(system, dt, enforcement.contact, allow_unstable=allow_unstable)
        dt = self.dt
        self.v_before, self.f = np.zeros(system.size), np.zeros(system.size)
        self.v_force: FloatArray = self.v_before
        self.v_start = np.zeros(system.size)
        self.r_start, self.r_t_start = np.zeros_like(self.r), np.zeros_like(self.r_t)
        self.r_change, self.r_t_change = np.zeros_like(self.r), np.zeros_like(self.r_t)
        self.r_impact, self.r_t_impact = np.zeros_like(self.r), np.zeros_like(self.r_t)
        self.swept_change = self.swept_impact = None
        self._nodal_change: FloatArray | None = None  # impulses of a change of the step at its nodes
        self.enforcement, self._loops = enforcement, for_arrays()
        self._kick = dt * system.inverse_mass
        self.look_ahead = dt if system.prescribed.any else 0.0
        if enforcement.contact is not None:
            self._response = self._make_response()
            if enforcement.contact.swept:
                self._test_paths()

    def _test_paths(self) -> None:
        """Prepare the tests of paths, whose impulses and numbers become part of the state. Collective."""
        self._paths = SweptPaths(self)
        self.swept = np.zeros(self.system.size)
        self.certificates = self._paths.table()
        self.state_names = (*self.state_names, "swept", "certificates")

    @property
    def v_mean(self) -> FloatArray:
        """Mean of the half-step velocities around ``t``, Fekak et al. (44b); v_0 at the start [m/s]."""
        if self.n == 0:
            return self.v_start
        return formulas.mean_velocity(self.v_before, self.v)

    def v_mean_at(self, dofs: Int32Array) -> FloatArray:
        """Mean of the half-step velocities of some dofs [m/s]."""
        if self.n == 0:
            return self.v_start[dofs]
        return formulas.mean_velocity(self.v_before[dofs], self.v[dofs])

    @property
    def contact_iterations(self) -> int:
        """Products with H in the last contact problem; 0 where that is solved without iteration."""
        return int(getattr(self._response, "sweeps", 0)) if self.contact is not None else 0

    @property
    def contact_condition(self) -> float:
        """Lower bound of the condition number of the scaled H there, from the steps of the iteration."""
        return float(getattr(self._response, "condition", 1.0)) if self.contact is not None else 1.0

    @property
    def r_features(self) -> float:  # type: ignore[override]
        """See the attributes."""
        return 0.0 if self._paths is None else self._paths.impulse

    def contact_point(self) -> tuple[float, FloatArray]:
        """Time [s] and position [m] at which the active set is decided at velocity level: ``t`` and ``u``."""
        return self.t, self.u

    def end_position(self) -> FloatArray:
        """``u* = u_n + h v*``, one step later [m]."""
        return formulas.leapfrog(self.u, self.v, self.dt)

    def constrained(self, e: float) -> tuple[FloatArray, float]:
        """``(u* + e u_{n-1}) / (1 + e)``, Di Stasio et al. (2019), (19), and ``h / (1 + e)``."""
        weighted = formulas.constrained_position(self.u, self.v, self.v_before, self.dt, e)
        return weighted, formulas.constrained_time(self.dt, e)

    def begin(self) -> None:
        """Impact of points in contact, half a step of the forces and, where contact acts, an impulse."""
        n, system, moved = self.system.owned, self.system, self.system.prescribed
        self._nodal_change = self.swept_change = self.swept_impact = None
        if self._paths is not None:
            self._paths.restart()
        still = system.constrained.copy()
        if moved.any:
            still[moved.dofs] = False
            self.u[moved.dofs] = moved(self.t)
        self.v[:n][still] = 0.0
        self.v_start[:] = self.v
        self._impact_at_start()
        v0 = self.v.copy()
        self.v_force = v0
        self._evaluate_force(v0)
        self.v[:n] = formulas.kicked(v0[:n], 0.5 * self._kick, self.f[:n])
        self._constrain(0.5)
        self.v_before[:] = formulas.velocity_before(v0, self.v)
        if self.contact is not None:
            half = self.enforcement.halves_first_impulse
            response = self._make_response(0.5 if half else 1.0)
            self._resolve_contact(response, first=True)
            if half:
                self.v_before[:] = formulas.velocity_before(v0, self.v)
            self.r += self.r_start
            self.r_t += self.r_t_start

    def _impact_at_start(self) -> None:
        """``v_0+ = v_0 + M^-1 L^T r_i`` where closed points approach: Newton's law with v_0."""
        self.r_start[:], self.r_t_start[:] = 0.0, 0.0
        if self.contact is None or not isinstance(self.enforcement, VelocityLevel):
            return
        impact = self.enforcement.impact(self, self._response)
        self._response.apply(impact, self.v)
        self.set_impulses(impact)
        self.r_start[:], self.r_t_start[:] = self.r, self.r_t
        self.contact.accept(impact.state)  # the active sides of the impact remain active

    def advance(self) -> None:
        """One step; the impulse found acts at its end, t_{n+1}."""
        n, loops = self.system.owned, self._loops
        loops.drift(self.u[:n], self.v[:n], self.dt)  # (44a)
        self._evaluate_force(self.v)
        self.v_force = self.v
        self.v_before, self.v = self.v, self.v_before
        loops.kick(self.v_before[:n], self.f[:n], self._kick, self.v[:n])  # (47), v* without contact
        self._constrain(1.0)
        if self.contact is not None:
            self._resolve_contact(self._response)  # (47), (48)

    def _constrain(self, part: float) -> None:
        """Apply constraints other than contact to the velocity: the prescribed motion of the next step.

        Args:
            part: Part of a step during which forces act on ``v``, 1/2 at the start.
        """
        moved = self.system.prescribed
        if moved.any:
            self.v[moved.dofs] = (moved(self.t + self.dt) - self.u[moved.dofs]) / self.dt

    def _evaluate_force(self, v: FloatArray) -> None:
        """Forces at ``t`` and ``u`` with velocities ``v`` [m/s], into ``f``."""
        self.system.force(self.t, self.u, v, self.f)

    def _make_response(self, factor: float = 1.0) -> Any:
        """Delassus operator of the contact; ``factor`` is the part of the impulse that acts on ``v``."""
        return lumped_delassus(self, factor)

    def change_step(self, dt: float) -> None:
        """Continue with another time step from the state at ``t``. Collective.

        See :func:`.step_change.change`. Forces act over half of both steps, impulses of lasting contact too:
        :attr:`r_change` and :attr:`r_t_change` have what the latter give beside those of the last step.
        """
        for given in (self.r_change, self.r_t_change, self.r_impact, self.r_t_impact):
            given[...] = 0.0
        self.swept_change, self.swept_impact, self.r_features_change = None, None, 0.0
        before = self._nodal_change if self.n == 0 else None  # of an earlier change at this time
        if self.n >= 0 and dt != self.dt:
            change(self, float(dt))
            before = self._add_change(before)
            self.v_force = self.v_start.copy()
            self.r_start[:], self.r_t_start[:] = 0.0, 0.0
        self._nodal_change = before
        self.dt = float(dt)
        self._kick = self.dt * self.system.inverse_mass
        self.look_ahead = self.dt if self.system.prescribed.any else 0.0

    def _add_change(self, before: FloatArray | None) -> FloatArray | None:
        """Nodal impulses of a change of the step, with those of another one ``before`` it [N s]."""
        if self.contact is None:
            return None
        added = np.zeros(self.contact.nodes.loaded.dofs.shape) if before is None else before
        change = self.impulses_of(self.r_change, self.r_t_change, self.swept_change)
        self.contact.nodes.add_impulses(change, added)
        return added

    def add_nodal_impulses(self, out: FloatArray) -> None:
        """See :meth:`.Integrator.add_nodal_impulses`; those of a change of the step just before included."""
        super().add_nodal_impulses(out)
        if self._nodal_change is not None and self.n == 1:
            out += self._nodal_change

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Integrator.resume`."""
        super().resume(state)
        self._sweeping = self.swept is not None and bool(self.swept.any())
        self._nodal_change = self.swept_change = self.swept_impact = None
        self.v_force = self.v_before
        if self.n == 0:
            self.v_force = self.v_before + 0.5 * (self.v - self.v_before)

    def renew(self) -> None:
        """See :meth:`.Integrator.renew`; the forces of the last step remain.

        Raises:
            ValueError: A time step above the critical one of the new matrices.
        """
        if not renewable(self):
            super().renew()
        self._revision = revision(self.system)
        self._kick = self.dt * self.system.inverse_mass
        if self.contact is not None:
            self._response = self._make_response()

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: those at ``t``, the residual ``m a - f - L^T r / h``, (55).

        At the start an impact there is included, over h like all impulses.
        """
        dofs = self.system.prescribed.dofs
        inertia = self.system.mass[dofs] * (self.v[dofs] - self.v_before[dofs]) / self.dt
        return inertia - self.f[dofs] - self.moved_impulses(self.impulses) / self.dt

    @property
    def impulses(self) -> Impulses:
        """See :attr:`.Integrator.impulses`; those of features included."""
        impulses = super().impulses
        impulses.swept = self.swept if self._sweeping else None
        return impulses

    def set_impulses(self, impulses: Impulses) -> None:
        """See :meth:`.Integrator.set_impulses`."""
        super().set_impulses(impulses)
        if self.swept is not None and (self._sweeping or impulses.swept is not None):
            self.swept[:] = 0.0 if impulses.swept is None else impulses.swept
            self._sweeping = impulses.swept is not None

    def state_places(self) -> dict[str, str]:
        """See :meth:`.Integrator.state_places`."""
        places = super().state_places()
        return places if self._paths is None else {**places, "certificates": "number"}

    def _resolve_contact(self, response: Any, first: bool = False) -> None:
        if self._paths is not None:
            self._paths.resolve(response, first=first)
            return
        impulses = self.enforcement.impulses(self, response, first=first)
        self.set_impulses(impulses)
        response.apply(impulses, self.v)

    def balance(self) -> EnergyBalance:
        """Fekak et al. (2017), (84)."""
        return CentralDifferenceBalance(self)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`; every part of the step must be of a compiled kind."""
        return CentralLoop(self, rows, balance)


def renewable(scheme: Integrator) -> bool:
    """Whether an explicit scheme goes on with masses and matrices that were assembled anew. Collective.

    Raises:
        ValueError: A time step above the critical one of the new matrices.
    """
    surfaces = scheme.contact is not None and scheme.contact.velocity_level_only
    if scheme.system is not scheme.body or surfaces:  # the side that has the points depends on the masses
        return False
    critical = scheme.critical_step(scheme.system)
    if scheme.dt > (1 + STEP_ROUNDING) * critical and not scheme.beyond_limit:
        raise ValueError(
            f"the system was reassembled, and the time step {scheme.dt:.6g} s is above its critical one, "
            f"{critical:.6g} s: make a scheme with a smaller step"
        )
    return True

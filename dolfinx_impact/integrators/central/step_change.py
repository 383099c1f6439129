"""A change of the time step of central differences, with the impulses of contacts that last."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from . import central_formulas as formulas


def change(s: Any, dt: float) -> None:
    """Continue central differences from ``t`` with another time step. Collective.

    The half-step velocities around t_n are (h + h')/2 apart, and the contact law is solved for that::

        v_{n+1/2} = v_{n-1/2} + (h + h')/2 M^-1 F_n + M^-1 L^T r',     as in a step, with the law at t_n

    Where the forces of the contact last, ``r' - r = (h' - h)/2 R``; the rest of r is an impact, which has
    acted completely. The state from which the new steps go on is that between both::

        v_n = v_{n+1/2} - h'/2 M^-1 (F_n + L^T R),    with the impulse h' R at t_n

    Args:
        s: The scheme, :class:`.CentralDifferences`.
        dt: The new time step h' [s].
    """
    swept, of_features = None if s.swept is None else s.swept.copy(), s.r_features
    n, h, inverse, moved = s.system.owned, s.dt, s.system.inverse_mass, s.system.prescribed
    last = _of_step(s)
    mean = formulas.mean_velocity(s.v_before, s.v)[moved.dofs]
    s.t0, s.n, s.dt = s.t, 0, dt
    s.v[:n] = formulas.kicked(s.v_before[:n], 0.5 * (h + dt) * inverse, s.f[:n])
    s._constrain(1.0)
    s.v_start[:] = s.v
    if s.contact is not None:
        _resolve(s, last, h)
    if swept is not None:  # impacts, whole
        s.swept_change, s.swept_impact = s.swept - swept, swept
        s.swept[:], s._sweeping = 0.0, False
        s.r_features_change, s._paths.impulse = s.r_features - of_features, 0.0
    s.v_start[:n] -= 0.5 * dt * inverse * s.f[:n]
    s.v_start[moved.dofs] = mean
    s.v_before[:] = formulas.velocity_before(s.v_start, s.v)


def _of_step(s: Any) -> tuple[FloatArray, FloatArray]:
    """Impulses of the last step, copied; those of an impact at the start stand in the velocity before it."""
    if s.contact is None or s.n > 0:
        return s.r.copy(), s.r_t.copy()
    return s.r - s.r_start, s.r_t - s.r_t_start


def _resolve(s: Any, last: tuple[FloatArray, FloatArray], h: float) -> None:
    """Impulses of the mean step into the velocity, and their parts into the attributes of the scheme."""
    dt, between = s.dt, 0.5 * (h + s.dt)
    s.dt = between if getattr(s.enforcement, "of_forces", False) else dt
    s._resolve_contact(s._response)
    s.dt = dt
    s.v_start[:] = s.v
    for name, before in zip(("r", "r_t"), last):
        now = getattr(s, name)
        # What lasts is no larger than the impulses, of which the first one at position level has half.
        added, size = now - before, 2.0 * np.maximum(np.abs(before), np.abs(now))
        lasting = np.clip(2.0 * h / (dt - h) * added, -size, size)
        setattr(s, f"{name}_change", added)
        setattr(s, f"{name}_impact", before - lasting)
        now[...] = dt / h * lasting
    s.impulses_of(-0.5 * s.r, -0.5 * s.r_t).add_to(s.v_start, s.system.inverse_mass)

"""Text representations (``repr``, ``str``) of systems, contacts, obstacles and schemes; not collective."""

from __future__ import annotations

from typing import Any

import numpy as np


def of_body(body: Any) -> str:
    """Nodes, dofs, extent, mass, wave speed and critical time step of a body, for a check of units."""
    parts = []
    for name, form in (
        ("node_count", "{:d} nodes"),
        ("dof_count", "{:d} dofs"),
        ("length", "extent {:.6g} m"),
        ("total_mass", "mass {:.6g} kg"),
        ("wave_speed", "wave speed {:.6g} m/s"),
        ("locking", "{} against locking"),
    ):
        value = getattr(body, name, None)
        if value is not None:
            parts.append(form.format(value))
    if getattr(body, "mass_scaling", None) is not None:
        added = f"{body.added_mass:.6g} kg ({100 * body.added_share:.3g} %) in {body.scaled_cells} cells"
        parts.append(
            f"mass scaling to {body.mass_scaling:.6g} s adds {added if body.scaled_cells else 'no mass'}"
        )
    step = vars(body).get("_critical")
    parts.append("critical step not computed yet" if step is None else f"critical step {step:.6g} s")
    return _line(body, parts)


def of_points(system: Any) -> str:
    """Dofs, mass and critical time step of point masses."""
    low, high = system.mass.min(), system.mass.max()
    mass = f"mass {low:.6g} kg" if low == high else f"masses {low:.6g} to {high:.6g} kg"
    if hasattr(system, "inertia"):
        mass = f"mass {system.mass[0]:.6g} kg, inertia {system.inertia:.6g} kg m2"
    parts = [f"{system.size} dofs", mass]
    if system.constrained.any():
        parts.append(f"{np.count_nonzero(system.constrained)} constrained")
    parts.append(f"length {system.length:.6g} m")
    if system.stiffness is not None:
        parts.append(f"critical step {system.critical_time_step():.6g} s")
    return _line(system, parts)


def of_contact(contact: Any) -> str:
    """Number of points, obstacle, restitution, friction and gap tolerance of a contact."""
    if contact not in contact.members:
        return "; ".join(of_contact(each) for each in contact.members)
    parts = [f"{contact.total} points"]
    if hasattr(contact, "obstacle"):
        parts.append(f"against {contact.obstacle!r}")
    if hasattr(contact, "surfaces"):
        joined = " with ".join(repr(name) for name in contact.surfaces) or "all outer facets"
        themselves = ", with themselves too" if contact.itself else ""
        parts.append(f"{joined}, tied" if contact.tie else f"{joined}{themselves}")
    parts += [f"restitution {plain(contact.restitution)}", f"friction {plain(contact.friction)}"]
    parts.append(f"closed up to {plain(contact.gap_tolerance)} m")
    if contact.drift_correction > 0:
        parts.append(f"drift correction {plain(contact.drift_correction)}")
    return _line(contact, parts)


def of_integrator(integrator: Any) -> str:
    """Contact law, time step (also relative to the critical one) and present time of a scheme."""
    law = getattr(integrator, "enforcement", None) if integrator.contact is not None else None
    step, critical = f"step {integrator.dt:.6g} s", vars(integrator.system).get("_critical")
    if critical is not None and np.isfinite(critical):
        step += f", {integrator.dt / critical:.4g} of the critical one"
    where = "not started" if integrator.n < 0 else f"at t = {integrator.t:.6g} s after {integrator.n} steps"
    return _line(integrator, [*([] if law is None else [type(law).__name__]), step, where])


def of_all(integrator: Any) -> str:
    """Scheme, system and contact, one line each."""
    contact = integrator.contact
    lines = [repr(integrator), repr(integrator.system), "no contact" if contact is None else repr(contact)]
    return "\n  ".join(lines)


def of_shape(shape: Any) -> str:
    """Class and parameters of an obstacle."""
    derived = ("gdim", "flat", "moving", "sides", "thickness", "convex")
    values = {k: v for k, v in vars(shape).items() if not k.startswith("_") and k not in derived}
    values = {k: v for k, v in values.items() if v is not None and v is not False}
    return f"{type(shape).__name__}({', '.join(f'{name} {plain(value)}' for name, value in values.items())})"


def plain(value: Any) -> str:
    """Numbers with six digits, short arrays as vectors, other objects by ``repr``."""
    if isinstance(value, np.ndarray) and value.size > 9:
        return f"of shape {value.shape}"
    if isinstance(value, (np.ndarray, tuple, list)):
        inside = [plain(each) for each in value]
        return inside[0] if len(inside) == 1 else f"({', '.join(inside)})"
    if isinstance(value, bool):
        return repr(value)
    try:
        return f"{value:.6g}"
    except (TypeError, ValueError):
        return repr(value)


def _line(described: Any, parts: list[str]) -> str:
    return f"{type(described).__name__}: {', '.join(parts)}"

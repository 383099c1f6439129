"""Fingerprint that ties a checkpoint to its model: scheme, masses, forces, motions, gaps."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import parallel
from .._types import AnyArray, FloatArray
from ..contact.base import Contact
from ..contact.contact_set import ContactSet
from ..contact.rigid_contact import RigidContact
from ..integrators.base import Integrator, bodies_with_history
from ..integrators.constants import constants, is_constant
from ..materials import HistoryLaw
from ..systems.system import parts, split, system_and_parts

#: Relative tolerance of masses and prescribed motions.
_SAME = 1e-9
#: Relative tolerance of forces, and of the round-off in products of stiffness and displacements.
_SAME_FORCE, _ROUNDING = 1e-7, 1e-13
#: Relative tolerance of the forces of a small deformation, and its amplitude over the length of the body.
_SAME_STIFFNESS, _AMPLITUDE = 1e-6, 1e-3
#: Parts of the elapsed time at which loads and motions are compared too: different signals may cross at one.
_PARTS = (0.0, 0.236, 0.382, 0.618, 0.854)


def description(s: Integrator) -> dict[str, Any]:
    """Scheme, contact law and contact by their classes and constants, and sizes, for JSON. Collective."""
    comm, contact, law = s.system.comm, s.contact, s.enforcement
    scheme: dict[str, Any] = {"class": type(s).__name__, **s.parameters()}
    if law is not None:
        scheme["law"] = {"class": type(law).__name__, **constants(law)}
    points = None if contact is None else _contact(contact)
    dofs = int(parallel.total(comm, float(s.system.owned)))
    found = {"scheme": scheme, "dofs": dofs, "contact": points}
    # Forces do not show how a material will yield: their state is held.
    laws = [m.law for body in bodies_with_history(s.system) for m in body.materials]
    material = [_material(law) for law in laws if isinstance(law, HistoryLaw)]
    found["locking"] = [body.locking for body in system_and_parts(s.system) if getattr(body, "locking", None)]
    return found | ({"material": material} if material else {})


def _material(law: HistoryLaw) -> str:
    """A law with history with its constants, of a user's class also the names of its state."""
    if dataclasses.is_dataclass(law):
        return _in_words(law)
    return f"{_in_words(law, HistoryLaw)} with {', '.join(law.initial_state)}"


#: Packages whose objects are told by their class alone: their values may change in a run.
_FOREIGN = ("dolfinx", "ufl", "basix", "petsc4py", "mpi4py", "numba", "scipy")


def _in_words(value: Any, base: type = object, depth: int = 4) -> str:
    """A constant, or an object as its class with its constants: the same in every process.

    Args:
        value: The constant or object.
        base: A class whose own attributes are no constants.
        depth: Number of objects within each other that are told.
    """
    told = functools.partial(_in_words, depth=depth - 1)
    if isinstance(value, np.generic):
        value = value.item()
    if is_constant(value) or value is None:
        return repr(value)
    if isinstance(value, np.ndarray):
        return np.array_repr(value) if value.size <= 1000 else f"array of {value.shape}, {value.tobytes()!r}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(told, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {told(each)}" for key, each in value.items()) + "}"
    if callable(value) or depth == 0 or type(value).__module__.split(".")[0] in _FOREIGN:
        return type(value).__name__
    if dataclasses.is_dataclass(value):
        parts = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.repr}
    else:
        public = {name: each for name, each in getattr(value, "__dict__", {}).items() if name[0] != "_"}
        parts = {**constants(value, base), **public}
        parts = {name: parts[name] for name in sorted(parts)}
    inner = ", ".join(f"{name}={told(each)}" for name, each in parts.items())
    return f"{type(value).__qualname__}({inner})"


def differences(s: Integrator, stored: Mapping[str, Any]) -> str:
    """In words the difference of a stored :func:`description` from that of ``s``, or "". Collective."""
    for name, mine in description(s).items():
        if stored.get(name) != mine:
            return f"its {name} is {stored.get(name)}, this one's {mine}"
    return ""


def _contact(contact: Contact) -> dict[str, Any]:
    if isinstance(contact, ContactSet):
        return {"members": [_contact(each) for each in contact.members]}
    found = constants(contact, Contact)
    if isinstance(contact, RigidContact):  # files call the surface by the name that it had at first
        found["facets"] = found.pop("surface")
    return {"points": contact.total, **found}


def fingerprint(s: Integrator) -> dict[str, tuple[str, AnyArray]]:
    """Masses, forces, motions and gaps, which distinguish runs. Collective.

    Evaluated at the current state; stiffness and damping also at a small deformation, since they have no
    effect in rigid flight. Loads and motions are summed over times of the run so far.

    Returns:
        For each name the layout of the first axis, see :func:`.places_of`, and the values.
    """
    system: Any = s.system
    sides = list(zip(parts(system), split(system, s.u.copy()), split(system, s.v_mean.copy())))
    columns = [_of_side(s, *each) for each in sides]
    needed = {
        "mass": True,
        "force": True,
        "stiffness": True,
        "loads": system.has_loads,
        "damping": any(side.has_damping for side, _, _ in sides),
        "motion": any(side.prescribed.any for side, _, _ in sides),
    }
    arrays = {
        name: ("dofs", np.stack([each[name] for each in columns], axis=1))
        for name, present in needed.items()
        if present
    }
    if s.contact is not None:
        gap = s.gap()
        # Infinite where nothing is opposite.
        arrays["gap"] = ("points", np.where(np.isfinite(gap), gap, 0.0))
        if s.contact.moving and getattr(s.contact, "obstacle", None) is not None:
            arrays["obstacle"] = ("number", _obstacle(s))
    return arrays


def _of_side(s: Integrator, side: Any, u: FloatArray, v: FloatArray) -> dict[str, AnyArray]:
    """Columns of a system or subdomain, shape (owned,) each; 0 at constrained dofs except for motions."""

    def at(force: Callable[..., None], t: float, u: FloatArray, v: FloatArray) -> FloatArray:
        f = np.zeros(side.size)
        force(t, u, v, f)
        return np.where(side.constrained, 0.0, f[: side.owned])

    shape, motion = _deformation(side), np.zeros(side.owned)
    motion[side.prescribed.dofs] = _over_time(s, side.prescribed)
    force = at(side.force, s.t, u, v)
    return {
        "mass": np.where(side.constrained, 0.0, side.mass),
        "force": force,
        "motion": motion,
        "stiffness": at(side.force, s.t, u + shape, v) - force,
        "damping": at(side.damping, s.t, u, np.divide(shape, s.dt)),
        "loads": _over_time(s, lambda t: at(side.external, t, u, v)),
    }


def _deformation(side: Any) -> FloatArray:
    """Small displacements with stretch and shear, independent of the partition, shape (size,) [m]."""
    u, n = np.zeros(side.size), side.owned
    phase = 1.0 + np.arange(n)
    if hasattr(side, "mesh"):
        along = side.x[: n // side.block] @ np.array([2.0, 1.3, 0.7]) / side.length
        phase = np.add.outer(along, np.arange(side.block)).ravel()
    u[:n] = _AMPLITUDE * side.length * np.sin(phase)
    return u


def _over_time(s: Integrator, value: Callable[[float], FloatArray]) -> FloatArray:
    """Weighted sum of a function of time at times of the run so far and ``look_ahead`` beyond."""
    elapsed = s.t - s.t0
    times = [s.t0 + part * elapsed for part in _PARTS] + [s.t - min(s.dt, elapsed), s.t, s.t + s.look_ahead]
    weighted: AnyArray = np.sum([value(t) / (k + 1) for k, t in enumerate(times)], axis=0)
    return weighted


def _obstacle(s: Integrator) -> FloatArray:
    """Velocities of the faces of a moving obstacle at the vertices of a simplex [m/s]. Collective."""
    contact: Any = s.contact

    def velocities() -> FloatArray:
        dimension = contact.obstacle.gdim
        points = s.system.length * np.vstack([np.zeros(dimension), np.eye(dimension)])
        faces = getattr(contact.obstacle, "faces", (contact.obstacle,))
        return _over_time(s, lambda t: np.array([face.velocity(points, t) for face in faces]))

    return parallel.on_root(s.system.comm, velocities)


def tolerance(s: Integrator, name: str, values: AnyArray) -> float:
    """Largest difference of an array of :func:`fingerprint` due to round-off. Collective."""
    comm, n = s.system.comm, s.system.owned
    largest = max(0.0, parallel.largest(comm, np.abs(values)))
    displacement = max(0.0, parallel.largest(comm, np.abs(s.u[:n])))
    if name in ("mass", "motion"):
        return _SAME * largest
    if name in ("obstacle", "damping"):
        return _SAME_FORCE * largest
    if name == "gap":
        return 1e-9 * s.system.length + 1e-12 * displacement
    step = s.system.critical_time_step()
    stiffness = 4 / step**2 * max(0.0, parallel.largest(comm, s.system.mass)) if np.isfinite(step) else 0.0
    same = _SAME_STIFFNESS if name == "stiffness" else _SAME_FORCE
    return same * largest + _ROUNDING * stiffness * (displacement + s.system.length)

"""What schemes and contact laws do not take: names that their classes declare, refused at the door."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import arguments
from ..contact.base import Contact
from ..systems.system import System, parts

#: What forces other than ``f - K u`` with a constant f have, by the words of messages and tables.
UNSTEADY = ("nonlinear forces", "loads over time", "damping", "prescribed motion")
#: What contacts may have beside a flat obstacle at rest.
OF_CONTACT = ("friction", "surfaces", "moving obstacles", "curved obstacles")
#: All names that ``excludes`` may have; ``"contact"`` stands for any.
NAMES = (*UNSTEADY, *OF_CONTACT, "contact")

_OF_SYSTEM: dict[str, Callable[[System], bool]] = {
    "nonlinear forces": lambda system: not system.linear,
    "damping": lambda system: system.has_damping,
    "prescribed motion": lambda system: system.prescribed.any,
}
_ELSE = "take CDLagrange or MoreauJean"
_CONTACTS: dict[str, tuple[Callable[[Contact], bool], str]] = {
    "contact": (lambda contact: True, "is the formula without contact: give none, or take one of the others"),
    "surfaces": (
        lambda contact: contact.velocity_level_only,
        "does not take contact of surfaces (SurfaceContact), nor of facets with an obstacle "
        f"(RigidContact(..., facets=True)), nor node pairs with friction: {_ELSE}",
    ),
    "moving obstacles": (lambda contact: contact.moving, f"does not support moving obstacles: {_ELSE}"),
    "friction": (
        lambda contact: contact.friction > 0,
        "does not support friction, but the contact has {0.friction}: Coulomb's law is one between "
        "velocities, and an impulse or a force that closes a gap at the end of a step is no measure of the "
        f"pressure in it; set it to 0, or {_ELSE}",
    ),
    "curved obstacles": (lambda contact: not contact.constant, f"takes flat obstacles alone: {_ELSE}"),
}


def _present(system: System) -> list[str]:
    """Those of :data:`UNSTEADY` that the forces of a system have."""
    found = set()
    for each in parts(system):
        has = {name for name, check in _OF_SYSTEM.items() if check(each)}
        # What else is not steady can be a load alone; the loads of a body say it themselves.
        if getattr(getattr(each, "loads", None), "signals", ()) or not (has or each.steady):
            has.add("loads over time")
        found |= has
    return [name for name in UNSTEADY if name in found]


def refuse(
    excludes: Iterable[str], what: str, *, system: System | None = None, contact: Contact | None = None
) -> None:
    """Raise a ValueError for a system or a contact with anything that is excluded, or for names of nothing.

    Args:
        excludes: Some of :data:`NAMES`.
        what: What excludes it, the subject of the message.
        system: The system, or None.
        contact: The contact, or None.
    """
    if isinstance(excludes, str) or not isinstance(excludes, Iterable):
        raise ValueError(f"excludes of {what} must be a tuple of names, ('friction',), but is {excludes!r}")
    excluded = set(excludes)
    unknown = sorted(excluded - set(NAMES))
    if unknown:
        near = arguments.nearest(unknown[0], NAMES)
        raise ValueError(f"excludes of {what} has {unknown[0]!r}: {near}the names are {', '.join(NAMES)}")
    found = [] if system is None else [name for name in _present(system) if name in excluded]
    if found:
        limits = ", ".join(name for name in UNSTEADY if name in excluded)
        functions = " (what a function gives counts as such)" if "nonlinear forces" in found else ""
        raise ValueError(f"{what} takes no {limits}; the system has {', '.join(found)}{functions}: {_ELSE}")
    for name, (has, message) in _CONTACTS.items():
        if contact is not None and name in excluded and has(contact):
            raise ValueError(f"{what} {message.format(contact)}")


def excluded(kind: Any) -> frozenset[str]:
    """The names that a class of schemes and that of its law exclude; for ``"contact"`` those of contacts."""
    names = {*kind.excludes, *getattr(kind.law, "excludes", ())}
    return frozenset((names | set(OF_CONTACT)) - {"contact"} if "contact" in names else names)


def refuse_restitution(contact: Contact | None, what: str) -> None:
    """Raise a ValueError for a contact with restitution."""
    if contact is not None and contact.restitution > 0:
        raise ValueError(
            f"{what} has no restitution, which is a law between velocities, while its forces follow from "
            f"gaps alone; here e = {contact.restitution}: set it to 0, or {_ELSE}"
        )


def refuse_friction_without_tangents(contact: Contact) -> None:
    """Raise a ValueError for friction of a contact that does not say in which directions points slide."""
    for each in contact.members:
        if each.friction > 0 and each.now(0.0).bases.shape[1] < 2:
            raise ValueError(
                f"friction = {each.friction} of a {type(each).__name__} has no tangents to act along: define "
                "local_bases() in its class, the normal and the tangents of each point, shape (p, d, k), or "
                "leave friction out"
            )


def refuse_drift_correction(contact: Contact | None, what: str) -> None:
    """Raise a ValueError where drift is corrected of a law that closes gaps."""
    if contact is not None and contact.drift_correction > 0 and not contact.constant:
        raise ValueError(f"{what} does not drift: leave drift_correction out, or {_ELSE}")


def refuse_swept(contact: Contact | None, what: str) -> None:
    """Raise a ValueError for a contact that asks for tests of paths, which a scheme does not make."""
    if contact is not None and contact.swept:
        raise ValueError(
            f"{what} does not test the paths of edges and points within a step: give SurfaceContact(..., "
            "swept=False), whose certificate then says that nothing was tested, or take CDLagrange"
        )

"""Requirements of formulas and contact laws on contacts and systems: functions that refuse others."""

from __future__ import annotations

from ..contact.base import Contact
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System


def without_friction(given: Contacts, what: str) -> Contact | None:
    """The contact, or None.

    Raises:
        ValueError: A contact with friction.
    """
    contact = as_contact(given)
    if contact is not None and contact.friction > 0:
        raise ValueError(
            f"{what} does not support friction, but the contact has {contact.friction}: Coulomb's law is one "
            "between velocities, and an impulse that closes a gap at the end of a step is no measure of the "
            "pressure in it; set it to 0, or take CDLagrange or MoreauJean"
        )
    return contact


def refuse_restitution_and_friction(contact: Contact, what: str) -> None:
    """Raise a ValueError for a contact with either, or with an obstacle that moves."""
    if contact.moving:
        raise ValueError(f"{what} does not support moving obstacles: take CDLagrange or MoreauJean")
    if contact.restitution > 0 or contact.friction > 0:
        raise ValueError(
            f"{what} has no restitution and no friction, which are laws between velocities, while its "
            f"forces follow from gaps alone; here e = {contact.restitution}, mu = {contact.friction}: set "
            "them to 0, or take CDLagrange or MoreauJean"
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


def refuse_unsteady(system: System, what: str) -> None:
    """Raise a ValueError unless all forces are ``f - K u`` with a constant f."""
    if not system.steady:
        raise ValueError(
            f"{what} takes linear systems, their forces given by a stiffness, under constant loads, without "
            "damping and prescribed motion: take CDLagrange or MoreauJean"
        )


def refuse_surfaces(contact: Contact | None, what: str) -> None:
    """Raise a ValueError for contact of surfaces, whose rows change, and for node pairs with friction."""
    if contact is not None and contact.velocity_level_only:
        raise ValueError(
            f"{what} does not take contact of surfaces (SurfaceContact), nor node pairs with friction: take "
            "CDLagrange or MoreauJean"
        )


def refuse_drift_correction(contact: Contact | None, what: str) -> None:
    """Raise a ValueError where drift is corrected of a law that closes gaps."""
    if contact is not None and contact.drift_correction > 0 and not contact.constant:
        raise ValueError(
            f"{what} does not drift: leave drift_correction out, or take CDLagrange or MoreauJean"
        )

"""Impulses of the contact at dofs: at those with prescribed motion, and at those that they act on."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..contact.base import Contact
from ..contact.state import Impulses
from ..systems.system import System


class MovedImpulses:
    """``L^T r + W^T r_t`` at the dofs whose motion is prescribed, whatever the kind of contact.

    Args:
        system: The system.
        contact: Its contact, or None.
    """

    def __init__(self, system: System, contact: Contact | None) -> None:
        self._contact = contact if system.prescribed.any else None
        self._dofs = system.prescribed.dofs
        self._all = np.zeros(0 if self._contact is None else system.size)
        self._moved = np.zeros(self._dofs.size)

    def __call__(self, impulses: Impulses) -> FloatArray:
        """Impulses on the body, shape (moved dofs,) [N s]; valid until the next call. Collective."""
        if self._contact is not None and (self._contact.L.collective or impulses.r.any()):
            self._all[:] = 0.0
            impulses.add_to(self._all)
            np.take(self._all, self._dofs, out=self._moved)
        else:
            self._moved[:] = 0.0
        return self._moved


def add_nodal_impulses(scheme: Any, out: FloatArray, *, friction: bool = True) -> None:
    """Add the contact impulses of the last step of a scheme at the dofs of ``contact.loaded``. Collective.

    Args:
        scheme: The scheme, with a contact.
        out: Updated, shape (n, k) [N s].
        friction: Whether to add tangential impulses at points too, where they need no L.
    """
    contact = scheme.contact
    at_points, impulses = contact.loaded is contact.L, scheme.impulses
    if not friction and at_points:
        impulses = Impulses(impulses.state, impulses.r)
    if scheme.nodal_impulses is None:
        contact.add_nodal_impulses(impulses, out)
        return
    out += scheme.nodal_impulses
    if at_points and impulses.r_t is not None:
        out += impulses.r_t

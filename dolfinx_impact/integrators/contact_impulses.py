"""Impulses of the contact at dofs: at those with prescribed motion, and at those that they act on."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..contact.base import Contact
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

    def __call__(self, r: FloatArray, r_t: FloatArray) -> FloatArray:
        """Impulses on the body, with the present L, shape (moved dofs,) [N s]; valid until the next call.

        Collective.

        Args:
            r, r_t: Normal and tangential impulses of the points; ``r_t`` of shape (0,) without friction.
        """
        contact = self._contact
        if contact is not None and (contact.L.collective or r.any()):
            self._all[:] = 0.0
            contact.L.add_impulses(r, r_t if r_t.ndim == 2 else None, None, self._all)
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
    at_points = contact.loaded is contact.L
    r_t = scheme.r_t if friction or not at_points else np.zeros(0)
    if scheme.nodal_impulses is None:
        contact.add_nodal_impulses(scheme.r, r_t, out)
        return
    out += scheme.nodal_impulses
    if at_points and r_t.ndim == 2:
        out += r_t

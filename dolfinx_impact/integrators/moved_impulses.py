"""Impulses of the contact at dofs with prescribed motion, which the motion has to bear."""

from __future__ import annotations

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

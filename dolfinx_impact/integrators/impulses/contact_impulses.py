"""Impulses of the contact at dofs: at those with prescribed motion, and at those that they act on."""

from __future__ import annotations

import numpy as np

from ..._types import FloatArray
from ...contact.base import Contact
from ...contact.state import Impulses
from ...systems.system import System


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
        contact = self._contact if impulses.acting else None
        swept = impulses.swept is not None
        if contact is not None and (contact.L.collective or impulses.r.any() or swept):
            self._all[:] = 0.0
            impulses.add_to(self._all)
            np.take(self._all, self._dofs, out=self._moved)
        else:
            self._moved[:] = 0.0
        return self._moved

"""When a contact acts in a step, and what it demands of the velocity after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contact import Contact
from .response import Response


class VelocityLevel:
    """Newton's impact law ``0 <= L(v+ + e v-)  _|_  r >= 0`` on the points that are closed.

    Moreau (1988); Di Stasio et al. (2019), (8). Which points are closed is decided by the
    gap at the position that the formula looks at: the new one for central differences, a
    forecast for the theta method.
    """

    def __init__(self, contact: Contact | None) -> None:
        self.contact = contact
        self._closed: NDArray = np.zeros(0, dtype=bool)

    def look(self, u: NDArray) -> None:
        """Evaluate gap and L at the positions ``u`` and decide what is closed."""
        if self.contact is not None:
            self._closed = self.contact.closed(self.contact.evaluate(u))

    def impulses(self, response: Response, free: NDArray, before: NDArray | None) -> NDArray:
        """Impulses of the step, shape (points of this rank,) [N s]. Collective.

        Args:
            response: The formula's answer to impulses.
            free: Velocities without contact at the end of the step [m/s].
            before: Velocities before it [m/s]; None at the start, where nothing rebounds.
        """
        if self.contact is None:
            return np.zeros(0)
        b = self.contact.rows(free)
        if before is not None and self.contact.restitution > 0.0:
            b += self.contact.restitution * self.contact.rows(before)
        return response.solve(self._closed, b)

"""Penetration at the start of a run, which is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from .._types import FloatArray

if TYPE_CHECKING:
    from .base import Contact

#: Largest penetration at the start that counts as round-off, relative to the system's length.
TOUCHING = 1e-9


def refuse_penetration(
    contact: Contact, gap: FloatArray, x: FloatArray | None, what: str, *, within: str = "the obstacle"
) -> None:
    """Raise a ValueError where points are inside the obstacle at the start. Collective.

    Args:
        contact: The contact.
        gap: Gaps, shape (p,) [m].
        x: Positions of the points, shape (p, gdim) [m], or None.
        what: Name of the points in the message.
        within: Name of what contains them.
    """
    comm = contact.comm
    deepest = -gap.min(initial=np.inf)
    worst = comm.allreduce(float(deepest), op=MPI.MAX)
    if not worst > max(contact.gap_tolerance, TOUCHING * contact.system.length):
        return
    location = None
    if deepest == worst:
        k = int(np.argmin(gap))
        location = f"point {k}" if x is None else "(" + ", ".join(f"{value:.6g}" for value in x[k]) + ") m"
    location = next(each for each in comm.allgather(location) if each is not None)
    raise ValueError(
        f"{within} contains {what} at the start, the deepest at {location}, {worst:.3g} m "
        f"inside: move the body or {within}, or allow it (allow_penetration=True)"
    )

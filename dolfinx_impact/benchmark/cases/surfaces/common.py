"""Bodies of two parts, their contact, and numbers that the cases of surfaces share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import parallel
from ....contact.surfaces import SurfaceContact
from ....integrators import Integrator
from ....systems.solid import Solid
from ...case import Values, contact_law

UPPER, LOWER = "upper/boundary", "lower/boundary"


def contact(body: Solid, p: Values) -> SurfaceContact:
    """Contact of both parts with the parameters of a run. Collective."""
    return SurfaceContact(body, UPPER, LOWER, **contact_law(p))


def momenta(s: Integrator) -> NDArray:
    """Linear momentum and, in the plane, angular momentum about the origin [kg m/s, kg m2/s]. Collective."""
    body: Any = s.system
    gdim, n = body.gdim, body.owned // body.block
    m, v = body.mass[:: body.block], s.v_mean[: body.owned].reshape(n, -1)
    x = body.x[:n, :gdim] + s.u[: body.owned].reshape(n, -1)
    spin = [m @ (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])] if gdim == 2 else []
    found: NDArray = body.comm.allreduce(np.array([*(m @ v), *spin]))
    return found


def mean_velocity(s: Integrator, part: str) -> NDArray:
    """Mean velocity of a part at t by mass, shape (gdim,) [m/s]. Collective."""
    body: Any = s.system
    inside = body._nodes_in(part)[: body.owned // body.block]
    m, v = body.mass[:: body.block][inside], s.v_mean[: body.owned].reshape(-1, body.block)[inside]
    sums = body.comm.allreduce(np.array([*(m @ v), m.sum()]))
    mean: NDArray = sums[:-1] / sums[-1]
    return mean


def condition(s: Integrator) -> float:
    """Condition number of the Delassus operator of the active points, scaled to unit diagonal. Collective."""
    contact, inverse = s.contact, s.system.inverse_mass
    assert contact is not None
    diagonal = contact.L.diagonal(inverse)
    active, before = parallel.gather_rows(contact.comm, diagonal), contact.mine.start
    which, columns = np.flatnonzero(active), []
    work = np.zeros(s.system.size)
    for i in which:
        unit = np.zeros(contact.count)
        if 0 <= i - before < contact.count:
            unit[i - before] = 1.0
        column = contact.L.delassus(inverse, unit, None, work)[0]
        columns.append(parallel.gather_rows(contact.comm, column.copy())[which])
    scale = 1 / np.sqrt(active[which])
    return float(np.linalg.cond(np.array(columns) * np.outer(scale, scale))) if which.size else 1.0

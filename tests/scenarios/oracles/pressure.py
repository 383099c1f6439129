"""The pressure of contact under what rests is the weight over the area, and its forces are the impulses."""

from __future__ import annotations

import numpy as np

from ..compose import RIGID
from . import known
from .base import Misfit, oracle


def _column(s):
    """Blocks of one width on a rigid floor: sections stay plane, the pressure is uniform."""
    same = len({b.width for b in s.blocks}) == 1
    return (
        s.motion == "rest" and s.floor in RIGID and same and s.nu == 0 and s.scheme != "MoreauJeanDecoupled"
    )


@oracle(_column)
def pressure(seen):
    """Every point of a floor under a column has the pressure of its weight.

    Equilibrium of a bar. Means over the last quarter of the run: single steps may give the force of two.
    Points without force are those of other sides. Allowed: 2 %, the settling that is left.
    """
    s, record = seen.scenario, seen.record
    contact = next(
        (c for c in getattr(seen.contact, "members", [seen.contact]) if hasattr(c, "obstacle")), None
    )
    if contact is None or not hasattr(contact, "pressure"):
        return
    members = list(getattr(seen.contact, "members", [seen.contact]))
    first = sum(c.count for c in members[: members.index(contact)])
    last = len(record.t) * 3 // 4
    r = np.mean(record.r[last:], axis=0)[first : first + contact.count]
    values = np.asarray(contact.pressure(r, np.mean(record.dt))) / seen.frame.pressure
    areas = np.asarray(contact.areas())
    total = float((values * areas).sum() * np.mean(record.dt) * seen.frame.pressure)
    yield Misfit("pressure times area and time [N s]", total, r.sum(), 1e-9 * r.sum())
    right = known.weight(s) / known.area(s, 0)
    pressed = values[np.isfinite(values) & (r > 1e-6 * r.max())]
    for what, value in (("largest", pressed.max()), ("smallest", pressed.min())):
        yield Misfit(f"{what} pressure under a column [Pa]", value, right, 0.02 * right)

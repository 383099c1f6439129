"""What must rest rests and is carried with its weight."""

from __future__ import annotations

import numpy as np

from ..compose import MESHED, RIGID
from ..kinds import SIMPLICES
from . import known
from .base import Misfit, oracle


def _rests(s):
    """Not the decoupled step, where drag carries a part of what rests, as it says of itself."""
    return s.motion == "rest" and s.scheme != "MoreauJeanDecoupled"


def _column(s):
    """Blocks of one width, whose section stays plane: a bar under its weight."""
    same = len({s.blocks[i].width for i in s.movable}) == 1
    return (
        _rests(s) and not known.dragged(s) and s.floor in RIGID and same and s.nu == 0 and s.law == "linear"
    )


@oracle(_rests)
def carried(seen):
    """Forces of all contacts on what nothing holds are its weight, once it rests.

    Newton's second law: the mean force over a time T is the weight plus the change of the momentum over T,
    and what damps the motion that is left, ``alpha p``. Allowed: 1 %, the settling that is left.
    """
    s, record = seen.scenario, seen.record
    nodes = np.concatenate([seen.parts[i] for i in s.movable])
    last = len(record.t) * 3 // 4
    force = seen.nodal(record.impulse)[last + 1 :, nodes, -1].sum() / (record.t[-1] - record.t[last])
    p = seen.nodal(record.v, velocity=True)[last:, nodes, -1] @ seen.mass()[nodes]
    change = float((p[-1] - p[0]) / (record.t[-1] - record.t[last]) * seen.frame.time)
    weight = known.weight(s) + change + s.rate * float(p.mean())
    yield Misfit("force on what rests [N]", force, weight, 0.01 * weight)


@oracle(lambda s: _rests(s) and not known.dragged(s))
def still(seen):
    """Damped blocks that were put down have stopped at the end of the run, and stand upright.

    All modes are damped so that 0.3 % is left of the speed, see ``settling_rate``. Sections are symmetric
    about their middle but for the diagonals of triangles and tetrahedra, which lean by their nodal weights;
    allowed is twice that, since nu and the foot add to it. Not on tools and moving floors with friction: they
    carry blocks along, which tilt, stick and slip for good.
    """
    s, record = seen.scenario, seen.record
    v = np.abs(seen.nodal(record.mean[-1], velocity=True))
    wave = np.sqrt(1e6 / 1000.0)
    fall = s.gravity * sum(b.height for b in s.blocks) / wave + (abs(s.traction) + s.push) / (1000.0 * wave)
    for i in s.movable:
        yield Misfit(f"speed of block {i} at rest [m/s]", v[seen.parts[i]].max(), 0.0, 0.05 * fall)
        if s.hypothesis != "axisymmetric":
            u, m = seen.nodal(record.u[-1])[seen.parts[i]], seen.mass()[seen.parts[i]]
            turned = known.rotation(seen.places()[seen.parts[i]], u, m)
            # Facets of a base that do not match have their own settlement.
            allowed = (1e-2 if s.floor in MESHED else 2e-3) + 2 * known.leaning(s)
            yield Misfit(f"rotation of block {i} [rad]", turned, 0.0, allowed)


@oracle(_column)
def settled(seen):
    """Blocks of a column under its weight are compressed by what bars of these moduli are.

    Nodal displacements of elements of degree 1 are exact in bars; without friction nothing holds the section.
    Allowed: 2 %, motion that is left, and 6 % where facets do not pass a uniform pressure on. Contact at
    velocity level keeps the depth of its first touch, so that the floor and the joints have depths of their
    own: to a step of the fastest motion, and 2 % of the settlement; 8 % with triangles, which sink by
    h^2 F / m with central differences where their nodes do not match, as their page says.
    """
    s, record = seen.scenario, seen.record
    u, y = seen.nodal(record.u[-1])[:, -1], seen.places()[:, -1]
    ends = []
    for nodes in (seen.parts[i] for i in s.movable):
        low, high = y[nodes] < y[nodes].min() + 1e-9, y[nodes] > y[nodes].max() - 1e-9
        ends.append((u[nodes[low]].mean(), u[nodes[high]].mean()))
    right = known.settled(s)
    part = 0.02 if known.passes_pressure(s) else 0.06
    compressed = sum(high - low for low, high in ends)
    yield Misfit("settlement by compression [m]", compressed, right, part * abs(right))
    step = np.abs(seen.nodal(record.v, velocity=True)[..., -1]).max() * record.dt.max() / seen.frame.time
    levels = [0.0, *(high for _, high in ends)]
    for i, (low, _) in enumerate(ends):
        depth = levels[i] - low
        part = 0.08 if s.cell in SIMPLICES else 0.02
        yield Misfit(f"depth of block {i} at rest [m]", depth, 0.0, step + part * abs(right))

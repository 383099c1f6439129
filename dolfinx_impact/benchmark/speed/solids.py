"""Cost of contact with obstacles, as a part of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import mesh as dmesh

from ... import parallel
from ...contact.obstacles import Box, Cylinder, Plane, SignedDistance, Sphere, Torus, UnionObstacle
from ...contact.rigid_contact import RigidContact
from ...materials import LinearElastic
from ...systems.solid import Solid
from ..boxes import box
from .timing import interleave, ratio, say, started

LARGE = 69  #: Cells along an edge of the cube whose foot touches obstacles, by default 1e6 dofs.
_ROUNDS = 5
_STEPS = 10


def measure(cells: int = LARGE) -> dict[str, float]:
    """Print and return the parts that contact takes of a step of a linear solid of P1 tetrahedra. Collective.

    Args:
        cells: Cells along an edge of the cube, whose foot touches obstacles.
    """
    cube = box([np.zeros(3), np.ones(3)], [cells] * 3, dmesh.CellType.tetrahedron, bottom="foot")
    body = Solid(cube, density=1.0, law=LinearElastic(1.0, 0.3))
    step = 0.3 / cells  # below the critical one; finding that takes longer than all else
    body.__dict__["_critical"] = 2 * step
    shapes: dict[str, Any] = {
        "plane": Plane((0, 0, 0), (0, 0, 1)),
        "sphere": Sphere((0.5, 0.5, -1.0), 1.0),
        "cylinder": Cylinder((0.5, 0.5, -0.3), (0, 1, 0), 0.3),
        "box": Box.between((0.2, 0.2, -1.0), (0.8, 0.8, 0.0)),
        "torus": Torus((0.5, 0.5, -0.1), (0, 0, 1), 0.3, 0.1),
        "two spheres": UnionObstacle([Sphere((x, 0.5, -0.2), 0.2) for x in (0.2, 0.8)]),
        "callable": SignedDistance(lambda x: x[:, 2] + 0.05 * (1 - np.sin(6 * x[:, 0])), 3),
    }
    contacts = {name: RigidContact(body, "foot", shape, friction=0.3) for name, shape in shapes.items()}
    v0 = body.rigid_velocity((0.0, 0.0, -0.1))
    runs = {name: started(body, step, contacts.get(name), 0.0, v0) for name in ("", *shapes)}
    seconds = interleave({name: s.step for name, s in runs.items()}, _ROUNDS, _STEPS, body.comm)
    dofs, base = int(parallel.total(body.comm, body.owned)), seconds[""]
    part = 3 * contacts["plane"].total / dofs
    head = f"contact with friction, {dofs} dofs, {part:.1%} of them candidates"
    say(body, f"  {head}, part of a step without ({np.median(base) / dofs * 1e9:.1f} ns per dof):")
    found = {}
    for name in shapes:
        share = found[f"contact, {name}"] = ratio(seconds[name] - base, base)
        closed = int(parallel.total(body.comm, np.count_nonzero(runs[name].r)))
        say(body, f"    {name + f' ({closed} points closed)':<40} {share:7.1%}")
    return found

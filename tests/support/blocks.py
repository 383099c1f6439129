"""A block that falls onto a floor, in cells of any kind."""

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
CELLS = {
    "triangle": dmesh.CellType.triangle,
    "quadrilateral": dmesh.CellType.quadrilateral,
    "tetrahedron": dmesh.CellType.tetrahedron,
}


def named(cell):
    """A block a little above z = 0 (y = 0), whose lower side and halves have names."""
    low = [0.0, 0.001] if cell != "tetrahedron" else [0.0, 0.0, 0.001]
    high = [x + 0.1 for x in low]
    make = dmesh.create_rectangle if len(low) == 2 else dmesh.create_box
    mesh = make(COMM, [low, high], [2] * len(low), CELLS[cell])
    d = len(low)
    facets = np.sort(dmesh.locate_entities_boundary(mesh, d - 1, lambda x: np.isclose(x[d - 1], 0.001)))
    tags = dmesh.meshtags(mesh, d - 1, facets, np.ones(facets.size, np.int32))
    cells = np.arange(mesh.topology.index_map(d).size_local, dtype=np.int32)
    upper = dmesh.compute_midpoints(mesh, d, cells)[:, d - 1] > 0.051
    halves = dmesh.meshtags(mesh, d, cells, upper.astype(np.int32))
    return di.NamedMesh(mesh, halves, tags, {"bottom": (d - 1, 1), "near": (d, 0), "far": (d, 1)})


def dropped(cell="tetrahedron", degree=1, obstacle=None, friction=0.2, contact=True, **options):
    """A block that hits a floor at once, started."""
    d = 3 if cell == "tetrahedron" else 2
    law = options.pop("law", di.NeoHookean(1e7, 0.3))
    solid = di.Solid(named(cell), density=1000.0, law=law, degree=degree, **options)
    up = np.eye(d)[-1]
    floor = obstacle or di.Plane(0.0 * up, up)
    wall = di.RigidContact(solid, "bottom", floor, friction=friction) if contact else None
    s = di.CDLagrange(solid, 0.5 * solid.critical_time_step(), wall)
    s.start(0.0, solid.rigid_velocity(3.0 * np.eye(d)[0] - 20.0 * up))
    return s

"""Bars and plates in two parts, HATI on them, and dense matrices to compare with."""

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import HATI, parallel

COMM = MPI.COMM_WORLD
GAP = 0.05
E, DENSITY, SECTION = 3.0, 2.0, 0.5  # a wave takes 0.8 s for a length of 1 m


def divided(mesh, near, **facets):
    """A mesh with cells ``near`` where the midpoints are, ``far`` elsewhere, and named boundary facets."""
    dim = mesh.topology.dim
    mesh.topology.create_connectivity(dim - 1, dim)
    index_map = mesh.topology.index_map(dim)
    cells = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
    found = near(dmesh.compute_midpoints(mesh, dim, cells).T)
    tags = dmesh.meshtags(mesh, dim, cells, np.where(found, 1, 2).astype(np.int32))
    names, tagged = {"near": (dim, 1), "far": (dim, 2), "nowhere": (dim, 9)}, {}
    for number, (name, where) in enumerate(facets.items(), start=3):
        names[name] = (dim - 1, number)
        tagged.update(dict.fromkeys(dmesh.locate_entities_boundary(mesh, dim - 1, where), number))
    order = np.array(sorted(tagged), dtype=np.int32)
    numbers = np.array([tagged[f] for f in order], dtype=np.int32)
    return di.NamedMesh(mesh, tags, dmesh.meshtags(mesh, dim - 1, order, numbers), names)


def bar(elements=12, cut=1 / 3, comm=COMM, near=None):
    """A line from 0 to 1 with the facets ``tip`` at 0 and ``end`` at 1; ``near`` is left of the cut."""
    mesh = dmesh.create_interval(comm, elements, [0.0, 1.0])
    tip, end = lambda x: np.isclose(x[0], 0.0), lambda x: np.isclose(x[0], 1.0)
    return divided(mesh, near or (lambda x: x[0] < cut), tip=tip, end=end)


def plate(kind=dmesh.CellType.quadrilateral, cells=(12, 4), comm=COMM):
    """3 m wide, 1 m high; ``near`` is the lower half, the interface runs along its width."""
    mesh = dmesh.create_rectangle(comm, [[0.0, 0.0], [3.0, 1.0]], cells, cell_type=kind)
    return divided(
        mesh,
        lambda x: x[1] < 0.5,
        tip=lambda x: np.isclose(x[1], 0.0),
        end=lambda x: np.isclose(x[1], 1.0),
        side=lambda x: np.isclose(x[0], 0.0),
    )


def solid(named, part=None, *, nu=None, density=DENSITY, **options):
    """A solid of the material of these tests on a part of the mesh."""
    ratio = 0.0 if named.mesh.topology.dim == 1 else 0.3
    law = di.LinearElastic(E, ratio if nu is None else nu)
    section = SECTION if named.mesh.topology.dim < 3 else 1.0
    return di.Solid(named, density=density, law=law, cross_section=section, cells=part, **options)


def field(body, x):
    """Values at the body's nodes, sorted by coordinates and directions, the same on every rank."""
    rows = body.rows()
    return parallel.gather_rows(body.comm, rows(x))[rows.sorting(body.comm)]


def nodes_in(body, cells):
    """Mask of the nodes of cells of that name, ghosts included."""
    moving = body.rigid_velocity(np.eye(body.gdim)[-1], cells=cells)
    return moving.reshape(-1, body.block)[:, body.gdim - 1] != 0


def everywhere(local):
    return np.concatenate(COMM.allgather(local))


def dense(matrix):
    matrix = matrix.convert("aij")
    return np.vstack(COMM.allgather(matrix[slice(*matrix.getOwnershipRange()), :]))


def dense_bar(nodes):
    """Lumped masses and stiffness of a line from the matrices of its elements."""
    h = np.diff(nodes)
    M, K = np.zeros(nodes.size), np.zeros((nodes.size, nodes.size))
    for i, length in enumerate(h):
        M[i : i + 2] += DENSITY * SECTION * length / 2
        K[i : i + 2, i : i + 2] += E * SECTION / length * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return M, K


def ride(t):
    return 0.02 * np.sin(2.0 * t) ** 2 - t


def glued(
    named,
    ratio,
    *,
    kind=HATI,
    step=0.6,
    contact=True,
    fine=None,
    coarse=None,
    law=None,
    compiled=None,
    gap=GAP,
    normal=None,
    **options,
):
    """HATI on the two parts, against a wall ``gap`` below ``tip``; options of both sides, and of each."""
    near, far = solid(named, "near", **options, **fine or {}), solid(named, "far", **options, **coarse or {})
    dim, wall = near.mesh.geometry.dim, None
    if contact:
        up = np.eye(dim)[-1]
        plane = di.Plane(-gap * up, up if normal is None else normal)
        wall = di.RigidContact(near, "tip", plane, **law or {})
    s = kind(near, far, step * near.critical_time_step(), wall, ratio=ratio)
    s.compiled = compiled
    return s

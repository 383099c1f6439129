"""Sharp parts that meet others, and an oracle of intersections."""

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from support.pairs import made, named


def tetrahedron(points):
    """A mesh of one cell whose boundary is a surface."""
    mesh = made("tetrahedron", np.asarray(points, dtype=float), [[0, 1, 2, 3]])
    return named(mesh, all=lambda x: np.full(x.shape[1], True))


def needle(tip, tilt, length=0.5, width=0.1):
    """A slender cell on its tip, tilted by an angle [rad]."""
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    a = np.cross(axis, [1.0, 0.3, 0.0])
    a /= np.linalg.norm(a)
    b, top = np.cross(axis, a), np.asarray(tip) + length * axis
    ring = [top + width * (np.cos(p) * a + np.sin(p) * b) for p in (0.0, 2.1, 4.2)]
    return tetrahedron([tip, *ring])


def plate(cells, low, high, owner=None):
    """A box of tetrahedra with named ``bottom``, with all cells on one rank if that is given."""
    corners = [np.array(low, dtype=float), np.array(high, dtype=float)]
    comm = MPI.COMM_WORLD if owner is None else MPI.COMM_SELF
    mesh = dmesh.create_box(comm, corners, cells, dmesh.CellType.tetrahedron)
    if owner is not None:
        nodes = mesh.geometry.dofmap
        mesh = made("tetrahedron", mesh.geometry.x, nodes, np.full(len(nodes), owner))
    return named(mesh, bottom=lambda x: np.isclose(x[2], low[2]))


def meeting(upper, lower, v, *, dt=1.0, E=1e-9, solid=(), density=1.0, **options):
    """Two parts of nearly free nodes, the upper one with a velocity, started.

    Returns:
        The scheme and its contact.
    """
    body = di.Solid(
        di.mesh.join({"upper": upper, "lower": lower}),
        density=density,
        law=di.LinearElastic(E, 0.0),
        **dict(solid),
    )
    names = "upper/boundary", "lower/boundary"
    contact = di.SurfaceContact(body, *names, **{"swept": True, **options})
    s = di.CDLagrange(body, dt, contact=contact, allow_unstable=True)
    s.start(0.0, body.rigid_velocity(v, cells="upper"))
    return s, contact


def over_a_plate(speed, tilt=0.0, at=(2.3, 2.2), *, thick=0.1, cells=4, owner=None, **options):
    """A needle that falls on a plate of cells of size 1."""
    low = plate([cells, cells, 1], (0.0, 0.0, -thick), (cells, cells, 0.0), owner)
    return meeting(needle((*at, 0.05), tilt), low, (0.0, 0.0, -speed), **options)


class Intersections:
    """Whether triangles intersect, by the IPC toolkit; on one rank.

    Those of different surfaces, or all where a surface is in contact with itself. Quadrilaterals are the two
    triangles that paths are tested for.

    Args:
        contact: The contact.
    """

    def __init__(self, contact):
        import ipctk

        self._ask = ipctk.has_intersections
        facets = self._facets = contact.facets
        nodes = facets.nodes[facets.surface >= 0][:, facets.shape.corners]
        triangles = np.concatenate([nodes[:, [0, k, k + 1]] for k in range(1, nodes.shape[1] - 1)])
        edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        self._mesh, self._two = ipctk.CollisionMesh(facets.x, edges, triangles), not contact.itself
        if self._two:
            self._mesh.can_collide = ipctk.make_vertex_patches_filter(facets.part)

    def __call__(self, s, lift=1e-9, axis=2):
        """Whether there are any at the displacements of a scheme.

        Args:
            s: The scheme.
            lift: What one of two parts is moved away from the other one [m]: what is round-off.
            axis: The direction of that.
        """
        facets = self._facets
        x = facets.x + s.u.reshape(-1, 3)[facets.local]
        if self._two:
            top = 0 if x[facets.part == 0, axis].mean() > x[facets.part == 1, axis].mean() else 1
            x[facets.part == top, axis] += lift
        return self._ask(self._mesh, x)

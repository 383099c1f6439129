"""Meshes whose cells are on chosen ranks, and two bars with a gap between them."""

import basix.ufl
import numpy as np
from dolfinx import graph
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import _compat

WORLD = MPI.COMM_WORLD
LAW = di.LinearElastic(1000.0, 0.0)
GAP = 0.02


def made(cell, points, cells, ranks=None, comm=WORLD):
    """A mesh from rank 0's arrays; ``ranks`` are the owners of the cells."""
    gdim = points.shape[1]
    here = comm.rank == 0

    def send(*_):
        to = np.asarray(ranks if here else [], dtype=np.int32).reshape(-1, 1)
        links = graph.adjacencylist(to)
        return getattr(links, "_cpp_object", links)

    return dmesh.create_mesh(
        comm,
        cells=np.array(cells if here else np.zeros((0, len(cells[0]))), dtype=np.int64),
        x=points if here else np.zeros((0, gdim)),
        e=basix.ufl.element("Lagrange", cell, 1, shape=(gdim,)),
        partitioner=send if ranks is not None else _compat.cell_partitioner(dmesh.GhostMode.none),
    )


def named(domain, **where):
    """The mesh with facets named by functions of their coordinates."""
    fdim, found, tags = domain.topology.dim - 1, [], []
    for tag, marker in enumerate(where.values(), 1):
        facets = dmesh.locate_entities_boundary(domain, fdim, marker)
        found.append(facets)
        tags.append(np.full(facets.size, tag, dtype=np.int32))
    facets, tags = np.concatenate(found), np.concatenate(tags)
    order = np.argsort(facets)
    tagged = dmesh.meshtags(domain, fdim, facets[order], tags[order])
    return di.NamedMesh(domain, None, tagged, {n: (fdim, i) for i, n in enumerate(where, 1)})


def bars(ranks=None, comm=WORLD, left=8, right=11):
    """Two bars of length 1, with as many elements as said, each on one rank."""
    x = np.concatenate([np.linspace(-1, 0, left + 1) - GAP / 2, np.linspace(0, 1, right + 1) + GAP / 2])
    first = [i for i in range(left + right + 1) if i != left]
    owners = None if ranks is None else [ranks[0]] * left + [ranks[1]] * right
    line = made("interval", x[:, None], [[i, i + 1] for i in first], owners, comm)
    return di.Solid(
        named(
            line,
            left=lambda x: np.isclose(x[0], -GAP / 2),
            right=lambda x: np.isclose(x[0], GAP / 2),
            end=lambda x: x[0] > 0.9,
        ),
        density=1.0,
        law=LAW,
    )

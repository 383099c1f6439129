"""Integrals over segments: as by NumPy from their definitions, for pairs of facets of any shape and place."""

import numpy as np
import pytest
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.segments import compiled, random_pairs, reference

from dolfinx_impact.contact.surfaces.facet_shape import facet_shape

KINDS = ["triangle", "parallelogram", "warped"]


def compare(kind, count, seed, shallow=False):
    """Rounding: 1e-13 of the largest; 1e-12 where the map of a facet is inverted by Newton's method."""
    slaves, masters, weights, heights = random_pairs(kind, count, seed)
    found = compiled(slaves, masters, weights, heights, shallow)
    place = {int(p): m for m, p in enumerate(found.pairs)}
    bound, met = (1e-12 if kind == "warped" else 1e-13), 0
    for p in range(count):
        depth = 0.25 * heights[p].min() if shallow else 0.5 * heights[p].sum()
        limits = 0.6 * found.diameter[p].max(), depth
        overlap, expected = reference(slaves[p], masters[p], weights[p], *limits)
        if expected is False:
            continue
        if expected is None or p not in place:
            assert (expected is None) == (p not in place) or overlap < 1e-9, p
            continue
        met, scale = met + 1, np.ptp(np.vstack([slaves[p], masters[p]]), axis=0).max()
        mass, cross, moment, lowest = (
            getattr(found, n)[place[p]] for n in ("mass", "cross", "moment", "lowest")
        )
        for what, right in zip((mass, cross, moment), expected):
            size = np.abs(expected[0]).max() * (scale if right.ndim == 1 else 1.0)
            # Of slivers the corners are round-off.
            size *= max(1.0, 1e-2 / overlap)
            assert np.abs(what - right).max() <= bound * max(size, np.abs(right).max()), (p, overlap)
        assert lowest == pytest.approx(expected[3], rel=0, abs=1e-11 * scale)
    return met


@pytest.mark.parametrize("kind", KINDS)
def test_integrals_are_those_of_their_definitions(kind):
    assert compare(kind, 100, 0) > 25


def test_where_paths_are_swept_overlap_is_seen_to_a_quarter_of_a_cell():
    assert 10 < compare("triangle", 100, 0, shallow=True) < compare("triangle", 100, 0)


def space(kind, degree):
    mesh = dmesh.create_unit_cube(MPI.COMM_SELF, 1, 1, 1, dmesh.CellType[kind])
    return fem.functionspace(mesh, ("Lagrange", degree))


@pytest.mark.parametrize("degree", [1, 2])
def test_distances_of_quadrilaterals_from_their_triangles(degree):
    shape = facet_shape(space("hexahedron", degree))
    rng, side = np.random.default_rng(3), degree + 1
    x = rng.normal(size=(5, side**2, 3))
    s, t = (each.ravel()[:, None] for each in np.meshgrid(*[np.linspace(0, 1, 41)] * 2))
    for facet, found in zip(x.reshape(5, side, side, 3), shape.warps(x)):
        most = 0.0
        for i, k in np.ndindex(degree, degree):
            a, b, c, d = facet[i, k], facet[i + 1, k], facet[i + 1, k + 1], facet[i, k + 1]
            curved = (1 - s) * (1 - t) * a + s * (1 - t) * b + s * t * c + (1 - s) * t * d
            plane = a + np.where(s > t, (s - t) * (b - a) + t * (c - a), (t - s) * (d - a) + s * (c - a))
            most = max(most, np.linalg.norm(curved - plane, axis=1).max())
        assert found == pytest.approx(most, rel=1e-12)
    assert not facet_shape(space("tetrahedron", degree)).warps(x[:, :3]).any()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_integrals_of_many_pairs(kind):
    assert compare(kind, 10_000, 1) > 2500

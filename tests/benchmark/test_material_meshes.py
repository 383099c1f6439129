"""Meshes of round bars and balls: volumes, names, sizes and orientation of cells, on any number of ranks."""

import numpy as np
import pytest
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.benchmark.cases.materials import meshes
from dolfinx_impact.mesh.named_mesh import exterior_facets

COMM = MPI.COMM_WORLD
LENGTH, RADIUS = 0.0324, 0.0032
NAMES = {
    "axisymmetric": {"face", "end", "side", "axis"},
    "quarter": {"face", "end", "side", "x = 0", "y = 0"},
    "tetrahedra": {"face", "end", "side", "x = 0", "y = 0"},
}


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("geometry", meshes.GEOMETRIES)
def test_a_bar_has_its_volume_its_names_and_cells_of_equal_size(geometry):
    size = 8e-4
    named = meshes.bar(geometry, size, LENGTH, RADIUS)
    assert set(named.names) | set(named.groups) == NAMES[geometry]
    across = named.mesh.geometry.dim - 1
    x = named.mesh.geometry.x
    low, high = (-parallel.largest(COMM, -x[:, across]), parallel.largest(COMM, x[:, across]))
    assert (low, high) == pytest.approx((0.0, LENGTH), abs=1e-15)
    body = di.Solid(
        named,
        density=1.0,
        law=di.LinearElastic(1.0, 0.3),
        hypothesis="axisymmetric" if geometry == "axisymmetric" else None,
    )
    # A polygon of four sides to the quarter; the revolved rectangle is exact.
    share, corners = (1, np.inf) if geometry == "axisymmetric" else (4, 16)
    circle = np.pi if corners == np.inf else corners / 2 * np.sin(2 * np.pi / corners)
    assert share * body.total_mass == pytest.approx(circle * RADIUS**2 * LENGTH, rel=1e-12)
    for name, axis, value in (("face", across, 0.0), ("end", across, LENGTH)):
        assert np.allclose(body.x[body.nodes(name), axis], value, atol=1e-12)
    sizes = np.asarray(
        named.mesh.h(across + 1, np.arange(named.mesh.topology.index_map(across + 1).size_local))
    )
    assert parallel.largest(COMM, sizes) < 2.2 * size and -parallel.largest(COMM, -sizes) > 0.9 * size


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("geometry", ["quarter", "tetrahedra"])
@pytest.mark.parametrize("size", [3.2e-3, 8e-4, 5e-4])
def test_cells_are_not_inverted_and_fit_each_other(geometry, size):
    """Their volumes are those of the quarter, and all facets with one cell lie on a side with a name."""
    named = meshes.bar(geometry, size, 4e-3, RADIUS)
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.3))  # refuses inverted cells
    points, quads = meshes.quarter_disc(size, RADIUS)
    x, y = points[quads[:, [0, 1, 3, 2]]].transpose(2, 0, 1)
    area = 0.5 * np.sum(x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1))
    assert body.total_mass == pytest.approx(area * 4e-3, rel=1e-12)
    mesh = named.mesh
    exterior = np.flatnonzero(exterior_facets(mesh))
    tagged = np.unique(np.concatenate([named.facets(name) for name in NAMES[geometry]]))
    assert np.array_equal(exterior, tagged)


@pytest.mark.parametrize("size", [1e-4, 2e-4, 3.8e-4, 5e-4, 8e-4])
def test_cells_of_a_quarter_of_a_disc_are_about_equal(size):
    points, quads = meshes.quarter_disc(size, RADIUS)
    assert np.hypot(*points.T).max() == pytest.approx(RADIUS, rel=1e-12) and points.min() == 0.0
    x = points[quads]
    sides = np.concatenate(
        [np.linalg.norm(x[:, a] - x[:, b], axis=1) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    )
    assert 0.6 * size < sides.min() and sides.max() < 1.7 * size
    assert np.pi * RADIUS**2 / 4 / size**2 == pytest.approx(len(quads), rel=0.3)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", ["quadrilateral", "triangle"])
@pytest.mark.parametrize("diagonals", ["crossed", "parallel"])
def test_a_ball_touches_the_plane(kind, diagonals):
    named = meshes.ball(1 / 16, 1.0, kind, diagonals)
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.3), hypothesis="axisymmetric")
    assert body.total_mass == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert -parallel.largest(COMM, -body.x[:, 1]) == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(body.x[body.nodes("axis"), 0], 0.0)
    skin = body.x[body.nodes("surface")]
    assert np.allclose(np.hypot(skin[:, 0], skin[:, 1] - 1), 1.0)


@pytest.mark.parametrize(
    "given, words",
    [
        (("quarter", 0.0, 1.0, 1.0), "size must be positive"),
        (("quarter", 2.0, 1.0, 1.0), "at most the radius"),
        (("axisymmetric", 0.1, float("inf"), 1.0), "length inf"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        meshes.bar(*given)

"""Boxes around meshes, and rotations that are known."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

from dolfinx_impact import mesh

COMM = MPI.COMM_WORLD


def box():
    return dmesh.create_box(COMM, [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]], [2, 2, 2])


def rectangle():
    return dmesh.create_rectangle(COMM, [[1.0, 2.0], [2.0, 4.0]], [2, 2])


@pytest.mark.mpi
def test_bounding_box_is_that_of_all_ranks():
    assert np.array_equal(mesh.bounding_box(box()), [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    assert np.array_equal(mesh.bounding_box(rectangle()), [[1.0, 2.0], [2.0, 4.0]])
    line = dmesh.create_interval(COMM, 7, [-3.0, -1.0])
    assert np.array_equal(mesh.bounding_box(mesh.named(line)), [[-3.0], [-1.0]])


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "axis, low, high",
    [
        ((0, 0, 2), [-4, 1, 3], [-2, 2, 6]),
        ((5, 0, 0), [1, -6, 2], [2, -3, 4]),
        ((0, 0.1, 0), [3, 2, -2], [6, 4, -1]),
    ],
)
def test_a_quarter_turn(axis, low, high):
    """Right-handed, whatever the length of the axis."""
    given = box()
    mesh.rotate(given, axis, 90.0)
    assert mesh.bounding_box(given) == pytest.approx(np.array([low, high]), abs=1e-14)


@pytest.mark.mpi
def test_in_the_plane_about_a_point():
    given = rectangle()
    mesh.rotate(mesh.named(given), (0, 0, 1), 90.0, center=(1.0, 2.0, 0.0))
    assert mesh.bounding_box(given) == pytest.approx(np.array([[-1.0, 2.0], [1.0, 3.0]]), abs=1e-15)
    assert not given.geometry.x[:, 2].any()


@pytest.mark.mpi
def test_the_matrix_takes_points_back():
    """It is a rotation; the points of the axis stay, the distances too."""
    given, axis, center = box(), np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, 0.1])
    before = given.geometry.x.copy()
    R = mesh.rotate(given, axis, 34.0, center=center)
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(R) == pytest.approx(1.0)
    assert R @ axis == pytest.approx(axis, rel=1e-14)
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(np.radians(34.0)), rel=1e-14)
    assert center + (given.geometry.x - center) @ R == pytest.approx(before, abs=1e-14)
    assert np.abs(given.geometry.x - before).max() > 0.1


@pytest.mark.parametrize(
    "given, changes, message",
    [
        (box, {"axis": (0, 0, 0)}, "the axis of a rotation must be a direction, but is"),
        (box, {"axis": (0, 1)}, "axis must be three finite numbers, but is"),
        (box, {"axis": (0, 1, np.nan)}, "axis must be three finite numbers, but is"),
        (box, {"center": (0, 1)}, "center must be three finite numbers, but is"),
        (box, {"angle": np.inf}, "angle must be a finite number, but is inf"),
        (rectangle, {"axis": (1, 0, 0)}, "must be a direction along z for a mesh in the plane, but is"),
        (rectangle, {"axis": (0, 1e-3, 1)}, "must be a direction along z for a mesh in the plane, but is"),
    ],
)
def test_bad_input(given, changes, message):
    with pytest.raises(ValueError, match=message):
        mesh.rotate(given(), **{"axis": (0, 0, 1), "angle": 10.0, **changes})

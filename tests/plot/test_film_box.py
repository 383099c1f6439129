"""The box of films and strips, their choice of moments, and the names of parts below the colours."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import plot
from dolfinx_impact.plot import film
from dolfinx_impact.plot.colors import Colors
from dolfinx_impact.plot.solids import Shot

matplotlib = pytest.importorskip("matplotlib.figure")
CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def flight(*shifts):
    """A unit cube at some places."""
    none = np.zeros((0, 3))
    return [Shot(0.1 * i, "", CORNERS + shift, np.zeros(8), none, none) for i, shift in enumerate(shifts)]


@pytest.mark.parametrize("floor", [di.Plane((0, 0, 0), (0, 0, 1)), di.Box((0, 0, -1), (100, 100, 2))])
def test_a_large_floor_is_cut_to_what_moves(floor):
    """Not to the height of the fall; along a flight a little farther than it."""
    fall = film._box(flight([0, 0, 3.0], [0, 0, 0]), floor)
    assert np.allclose(fall[:, :2], [[-0.3, -0.3], [1.3, 1.3]])
    assert fall[0, 2] <= 0.0 and fall[1, 2] >= 4.0
    along = film._box(flight([0, 0, 3.0], [19.0, 0, 0]), floor)
    assert np.allclose(along[:, 0], [-3.0, 23.0]) and np.allclose(along[:, 1], [-0.3, 1.3])


def test_an_obstacle_of_similar_size_is_whole_and_a_large_round_one_cut():
    small = film._box(flight([0, 0, 0]), di.Sphere((0.5, 0.5, -0.5), 0.5))
    assert small[0, 2] < -1.0 < small[0, 2] + 0.1
    large = film._box(flight([0, 0, 0]), di.Sphere((0.5, 0.5, -50.0), 50.0))
    assert np.allclose(large[:, :2], [[-0.6, -0.6], [1.6, 1.6]])


@pytest.mark.parametrize("most, chosen", [(None, 11), (20, 11), (6, 6), (1, 1)])
def test_moments_are_chosen_uniformly(most, chosen):
    moments = [plot.Moment(float(i), np.zeros(2), np.zeros(2)) for i in range(11)]
    times = [each.t for each in film._selected(moments, most)]
    assert len(times) == chosen and times[0] == 0.0 and (chosen == 1 or times[-1] == 10.0)
    assert chosen < 3 or np.ptp(np.diff(times)) == 0.0


@pytest.mark.parametrize("height", [3.0, 9.0])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_names_of_parts_do_not_overlap(count, height):
    paper = matplotlib.Figure(figsize=(8.0, height), layout="constrained")
    axes = paper.subplots()
    names = tuple(f"a long name {i}" for i in range(count))
    Colors("speed", "m/s", 0.0, 1.0, names).add_bar(paper, ax=[axes], shrink=0.4, pad=0.01)
    paper.canvas.draw()
    places = [label.get_window_extent() for label in paper.axes[1].get_xticklabels()]
    assert all(left.x1 <= right.x0 for left, right in zip(places, places[1:]))


def test_the_number_of_pictures_is_checked():
    square = dmesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
    body = di.Solid(square, density=1.0, law=di.LinearElastic(1.0, 0.0))
    moment = plot.Moment(0.0, np.zeros(body.size), np.zeros(body.size))
    with pytest.raises(ValueError, match="pictures must be a whole number from 1 on"):
        plot.strip("a.png", body, [moment], pictures=0)

"""Pictures of solids and obstacles: surfaces lie where the gap is zero, bodies where and as large as said."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import render_solid

pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")
COMM, LOW, HIGH = MPI.COMM_WORLD, (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)


def body(comm=COMM, gdim=3, degree=1):
    """A cube or a square of 0.4 m in the middle, its surface named."""
    corners = [[-0.2] * gdim, [0.2] * gdim]
    make = {2: dmesh.create_rectangle, 3: dmesh.create_box}[gdim]
    mesh = make(comm, corners, [3] * gdim)
    skin = np.sort(dmesh.locate_entities_boundary(mesh, gdim - 1, lambda x: np.full(x.shape[1], True)))
    tags = dmesh.meshtags(mesh, gdim - 1, skin, np.ones(skin.size, np.int32))
    named = di.NamedMesh(mesh, None, tags, {"skin": (gdim - 1, 1)})
    return di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.0), degree=degree)


def floor(gdim=3):
    return di.Plane((*[0.0] * (gdim - 1), -0.3), (*[0.0] * (gdim - 1), 1.0))


def moment(solid, shift, speed=0.0, **options):
    """The body shifted as a whole [m], at a speed along the first direction [m/s]."""
    gdim = solid.block
    u = np.tile(np.asarray(shift, dtype=float), solid.size // gdim)
    v = np.tile([speed, *[0.0] * (gdim - 1)], solid.size // gdim)
    return render_solid.Moment(0.5e-3, u, v, **options)


def pushed(solid, obstacle, force):
    """The contact and a force on each of its points."""
    contact = di.RigidContact(solid, "skin", obstacle)
    return contact, np.tile(np.asarray(force, dtype=float), (contact.count, 1))


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=int)


def red(image):
    return np.argwhere((image[..., 0] > 150) & (image[..., 1] < 60) & (image[..., 2] < 90))


@pytest.mark.serial
@pytest.mark.parametrize(
    "obstacle, area",
    [
        (di.Sphere((0.1, 0, -0.1), 0.7), 4 * np.pi * 0.49),
        (di.Sphere((0.1, 0, -0.1), 0.7, inside=True), 4 * np.pi * 0.49),
        (di.Torus((0, 0, 0), (0, 0, 1), 0.6, 0.2), 4 * np.pi**2 * 0.12),
        (di.Cylinder((0, 0, 0), (0, 1, 0), 0.5), 2 * np.pi * 0.5 * 2.0),
        (di.Plane((0, 0, 0.31), (0, 0, 1)), 4.0),
        (di.Union([di.Plane((0, 0, 0), (0, 0, 1)), di.Plane((0, 0, 0), (-1, 0, 0))]), 4.0),
    ],
)
def test_the_surface_is_where_the_gap_is_zero(obstacle, area):
    found = render_solid.surface(obstacle, LOW, HIGH, cells=40)
    x = np.asarray(found.points, dtype=float)
    assert np.abs(obstacle.gap(x)).max() < 2e-3
    assert found.area == pytest.approx(area, rel=0.015)
    assert np.array_equal(found["normals"], obstacle.normal(x))


@pytest.mark.serial
@settings(max_examples=15)
@given(st.floats(0.2, 0.8), st.floats(-0.15, 0.15), st.floats(0.0, 2.0))
def test_a_moving_circle_in_the_plane(radius, x0, t):
    """Lines as long as the circle, around where it is at that time, with normals away from there."""
    circle = di.Moving(di.Sphere((x0, 0.0), radius), translation=((0.0, 0.02), lambda t: t))
    found = render_solid.surface(circle, (-1.0, -1.0), (1.0, 1.0), t=t)
    x = np.asarray(found.points, dtype=float)
    assert found.compute_cell_sizes()["Length"].sum() == pytest.approx(2 * np.pi * radius, rel=5e-3)
    away = x[:, :2] - [x0, 0.02 * t]
    assert np.linalg.norm(away, axis=1) == pytest.approx(radius, abs=2e-3)
    assert found["normals"][:, :2] == pytest.approx(away / np.linalg.norm(away, axis=1)[:, None], abs=1e-6)
    assert not found["normals"][:, 2].any() and not x[:, 2].any()


@pytest.mark.serial
def test_an_obstacle_outside_of_the_box_is_not_seen(tmp_path):
    far = di.Plane((0, 0, -2), (0, 0, 1))
    assert render_solid.surface(far, LOW, HIGH, cells=4).n_points == 0
    solid = body(MPI.COMM_SELF)
    render_solid.picture(tmp_path / "far.png", solid, [moment(solid, (0, 0, 0))], far, LOW, HIGH, cells=4)
    image = pixels(tmp_path / "far.png")
    obstacle = np.array([0xC9, 0xBF, 0xAE]) / 0xC9
    bright = image[image.sum(axis=2) > 100]
    assert np.mean(np.abs(bright / bright[:, :1].clip(1) - obstacle).max(axis=1) < 0.02) < 1e-3


@pytest.mark.serial
@pytest.mark.parametrize("gdim, degree", [(3, 1), (3, 2), (2, 1), (2, 2)])
def test_bodies_move_as_far_as_the_scale_says(gdim, degree):
    """Shifts to the side and upwards move the body's pixels by as much; the bar is as long as it says."""
    solid = body(MPI.COMM_SELF, gdim, degree)
    shifts = np.zeros((3, gdim))
    shifts[1, 0], shifts[2, -1] = 0.3, 0.25
    pieces = [[render_solid._piece(solid, moment(solid, s, 1.0), None, "speed")] for s in shifts]
    corners = np.full(gdim, -1.0), np.ones(gdim)
    scene = render_solid._Scene(floor(gdim), corners, render_solid._view(gdim, (0, -1, 0.2)), 10, "speed")
    surfaces = scene._surfaces([0.0] * 3)
    scene._frame([*(s.points for s in surfaces), *(p.points for ranks in pieces for p in ranks)])
    images = scene._images(surfaces, pieces, 1.0)
    # The fastest is yellow, the obstacle grey.
    centers = []
    for image in images:
        r, g, b = image.astype(int).transpose(2, 0, 1)
        centers.append(np.argwhere((r - b > 60) & (g - b > 60)).mean(axis=0)[::-1] / 2)
    places = scene._pixels(np.pad(shifts, ((0, 0), (0, 3 - gdim))))
    assert np.diff(centers, axis=0) == pytest.approx(np.diff(places, axis=0), abs=1.5)
    assert np.abs(np.diff(places, axis=0)).max() > 50
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    scene._add_scale(axes)
    (said,) = [text.get_text() for text in axes.texts if "mm" in text.get_text()]
    bar = np.ptp(axes.lines[0].get_xdata())
    ends = scene._pixels(scene._view[:1] * np.array([[0.0], [1e-3 * float(said.split()[0])]]))
    assert bar == pytest.approx(np.ptp(ends[:, 0]), rel=1e-9)
    pyplot.close(figure)


@pytest.mark.serial
def test_arrows_show_forces(tmp_path):
    """The longest arrow and that of the key are to the same scale, on the points where the forces act."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    solid = body(MPI.COMM_SELF)
    contact, forces = pushed(solid, floor(), (0, 0, 0))
    forces[3], forces[5] = (0, 0, 30.0), (12.0, 0, 0)
    piece = render_solid._piece(solid, moment(solid, (0, 0, 0.1), forces=forces), contact, "speed")
    where = solid.x[contact.rows.dofs[[3, 5], 0] // 3] + [0, 0, 0.1]
    assert piece.feet[[3, 5]] == pytest.approx(where)
    view = render_solid._view(3, (0, -1, 0))
    scene = render_solid._Scene(floor(), (np.array(LOW), np.array(HIGH)), view, 5, "speed")
    scene._frame([piece.points])
    figure, axes = pyplot.subplots()
    scene._add_forces(axes, [piece], 30.0)
    arrows, key = axes.collections
    assert np.column_stack([arrows.X, arrows.Y]) == pytest.approx(scene._pixels(where))
    width = scene._size[0]
    assert np.column_stack([arrows.U, arrows.V]) == pytest.approx(
        np.array([[0.0, -0.2 * width], [0.08 * width, 0.0]]), abs=1e-9
    )
    assert key.U[0] == pytest.approx(0.2 * width * 20 / 30) and axes.texts[0].get_text() == "20 N of contact"
    pyplot.close(figure)


@pytest.mark.parametrize("gdim", [2, 3])
def test_a_picture_is_the_same_on_any_number_of_ranks(gdim, shared_path):
    for name, comm in (("shared", COMM), ("alone", MPI.COMM_SELF)):
        solid = body(comm, gdim)
        contact, forces = pushed(solid, floor(gdim), [0.0] * (gdim - 1) + [1.0])
        shift = [0.0] * (gdim - 1)
        moments = [
            moment(solid, [*shift, 0.2], 1.0, title="before,"), moment(solid, [*shift, -0.1], forces=forces),
        ]  # fmt: skip
        path = shared_path / f"{name}.png"
        if comm is COMM or COMM.rank == 0:
            render_solid.picture(
                path, solid, moments, floor(gdim), [-0.5] * gdim, [0.5] * gdim, contact=contact, cells=20
            )
    COMM.barrier()
    drawn = [pixels(shared_path / f"{name}.png") for name in ("shared", "alone")]
    assert drawn[0].shape == drawn[1].shape
    assert np.mean(np.abs(drawn[0] - drawn[1]).max(axis=2) > 40) < 2e-3
    # Arrows in the second moment alone, but the key in both.
    half = drawn[0].shape[1] // 2
    first, second = red(drawn[0][:, :half]), red(drawn[0][:, half:])
    assert len(second) > 2 * len(first) > 0


def test_refusals(shared_path):
    solid, path = body(), shared_path / "no.png"
    good, box = moment(solid, (0, 0, 0)), (LOW, HIGH)

    def draw(moments, *args, **options):
        render_solid.picture(path, solid, moments, floor(), *(args or box), **options)

    with pytest.raises(ValueError, match="shade must be one of speed, displacement, but is 'heat'"):
        draw([good], shade="heat")
    with pytest.raises(ValueError, match="needs moments of a solid in 2 or 3 directions"):
        draw([])
    wrong = good._replace(u=good.u[1:]) if COMM.rank == COMM.size - 1 else good
    with pytest.raises(ValueError, match=r"u and v of shape \(\d+,\), not \(\d+,\) and \(\d+,\)"):
        draw([wrong])
    contact, forces = pushed(solid, floor(), (0, 0, 1))
    with pytest.raises(ValueError, match=r"give it \(contact=\)"):
        draw([good._replace(forces=forces)])
    with pytest.raises(ValueError, match="one a point and direction"):
        draw([good._replace(forces=forces[:, :2])], contact=contact)
    with pytest.raises(ValueError, match="corners low < high"):
        draw([good], HIGH, LOW)
    with pytest.raises(ValueError, match="corners low < high"):
        draw([good], (0, 0), (1, 1))
    with pytest.raises(ValueError, match="a direction in space that is not upwards"):
        draw([good], eye=(0, 0, 1))
    with pytest.raises(ValueError, match="cells must be a whole number from 1 on"):
        draw([good], cells=0)
    assert not path.exists()

"""Strips of solids and obstacles: surfaces lie where the gap is zero, bodies where and as large as said."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import plot
from dolfinx_impact.plot import backdrop, film, marks, section, shots, skin, solids, surfaces

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
    return plot.Moment(0.5e-3, u, v, **options)


def pushed(solid, obstacle, force):
    """The contact and a force on each of its points."""
    contact = di.RigidContact(solid, "skin", obstacle)
    return contact, np.tile(np.asarray(force, dtype=float), (contact.count, 1))


def scene_of(solid, moments, **options):
    """The scene of a strip in a box of 2 m, and its shots; one rank."""
    given = {
        "obstacle": floor(solid.block),
        "contact": None,
        "shade": "speed",
        "top": None,
        "magnify": 1.0,
        "box": ([-1.0] * solid.block, [1.0] * solid.block),
        "clip": None,
        "cells": 10,
        **options,
    }
    wanted = shots.Wanted(**given)
    parts, plane, found = shots.gather(solid, moments, wanted)
    return film._scene(parts, plane, found, wanted), found


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=int)


def red(image):
    return np.argwhere((image[..., 0] > 150) & (image[..., 1] < 60) & (image[..., 2] < 90))


@pytest.mark.parametrize(
    "obstacle, area",
    [
        (di.Sphere((0.1, 0, -0.1), 0.7), 4 * np.pi * 0.49),
        (di.Sphere((0.1, 0, -0.1), 0.7, inside=True), 4 * np.pi * 0.49),
        (di.Torus((0, 0, 0), (0, 0, 1), 0.6, 0.2), 4 * np.pi**2 * 0.12),
        (di.Cylinder((0, 0, 0), (0, 1, 0), 0.5), 2 * np.pi * 0.5 * 2.0),
        (di.Plane((0, 0, 0.31), (0, 0, 1)), 4.0),
        (di.UnionObstacle([di.Plane((0, 0, 0), (0, 0, 1)), di.Plane((0, 0, 0), (-1, 0, 0))]), 4.0),
        (di.Box((0.1, 0, 0), (1, 0.8, 0.6), axes=[[1, 1, 0], [-1, 1, 0], [0, 0, 1]]), 3.76),
        (di.Cylinder((0, -0.4, 0), (0, 1, 0), 0.5, length=0.8), np.pi * 1.3),
        (di.Cone((0, 0, 0.3), (0, 0, -1), 60.0, height=0.4), np.pi * 0.48 * (1 + 1 / np.sin(np.pi / 3))),
        (di.UnionObstacle([di.Box((0, 0, 0), (1, 1, 0.5)), di.Box((0.3, 0, 0.4), (0.4, 1, 0.7))]), 5.4),
    ],
)
def test_the_surface_is_where_the_gap_is_zero(obstacle, area):
    found = surfaces.surface(obstacle, LOW, HIGH, cells=40)
    x = np.asarray(found.points, dtype=float)
    assert np.abs(obstacle.gap(x)).max() < 4e-3
    assert found.area == pytest.approx(area, rel=0.006)
    # Away from edges, where there are several.
    middle, size = np.asarray(found.cell_centers().points, dtype=float), 2e-3
    within = np.abs(obstacle.gap(middle + size * obstacle.normal(middle)) - size) < 1e-3
    found = found.compute_normals(point_normals=False, consistent_normals=False, auto_orient_normals=False)
    facing = np.einsum("ij,ij->i", found.cell_data["Normals"], obstacle.normal(middle))
    assert np.quantile(facing[within], 0.02) > 0.98


@examples(8)
@given(st.floats(0.2, 0.8), st.floats(-0.15, 0.15), st.floats(0.0, 2.0))
def test_a_moving_circle_in_the_plane(radius, x0, t):
    """Lines as long as the circle, around where it is at that time, with normals away from there."""
    circle = di.MovingObstacle(di.Sphere((x0, 0.0), radius), translation=((0.0, 0.02), lambda t: t))
    found = surfaces.surface(circle, (-1.0, -1.0), (1.0, 1.0), t=t)
    x = np.asarray(found.points, dtype=float)
    assert found.compute_cell_sizes()["Length"].sum() == pytest.approx(2 * np.pi * radius, rel=5e-3)
    away = x[:, :2] - [x0, 0.02 * t]
    assert np.linalg.norm(away, axis=1) == pytest.approx(radius, abs=2e-3)
    assert found["normals"][:, :2] == pytest.approx(away / np.linalg.norm(away, axis=1)[:, None], abs=1e-6)
    assert not found["normals"][:, 2].any() and not x[:, 2].any()


@pytest.mark.parametrize(
    "obstacle, rims",
    [
        (di.Cone((0, 0, 0.3), (0, 0, -1), 60.0, height=0.4), [(0.4 * np.sqrt(3), -0.1)]),
        (di.Cylinder((0, 0, -0.5), (0, 0, 1), 0.7, length=0.8), [(0.7, -0.5), (0.7, 0.3)]),
    ],
)
def test_rims_are_round(obstacle, rims):
    """The outline of cones and cylinders lies on circles, not on steps of a grid, and goes around them."""
    found = surfaces.surface(obstacle, LOW, HIGH, cells=20)
    outline = marks.outline(found)
    places = np.asarray(outline.cell_centers().points, dtype=float)
    r, z = np.linalg.norm(np.asarray(outline.points)[:, :2], axis=1), np.asarray(outline.points)[:, 2]
    off = np.min([np.hypot(r - radius, z - height) for radius, height in rims], axis=0)
    assert off.max() < 1e-6 and len(places) >= 48
    length = outline.compute_cell_sizes()["Length"].sum() / 2  # both faces have it
    assert length == pytest.approx(2 * np.pi * sum(radius for radius, _ in rims), rel=2e-3)


def backdrop_of(obstacle, times=(0.0,), eye=(-0.5, -1.0, 0.5)):
    view = solids.view_from(obstacle.gdim, eye)
    corners = np.array([LOW, HIGH])[:, : obstacle.gdim]
    return backdrop.Backdrop(obstacle, corners, times, back=view[2], cells=20, away=0.0)


def test_the_edges_of_stairs_are_drawn():
    """Every edge that is seen of a step, at its place; none where the box cuts."""
    steps = [di.Box.between((-0.7 + 0.5 * i, -2, -2), (2, 2, -0.5 + 0.4 * i)) for i in range(3)]
    (place,) = backdrop_of(di.UnionObstacle(steps)).places
    ends = np.asarray(place.edges.points, dtype=float)
    assert place.edges.n_points and set(np.round(ends[:, 0], 6)) == {-0.7, -0.2, 0.3}
    assert set(np.round(ends[:, 2], 6)) == {-0.5, -0.1, 0.3}
    length = place.edges.compute_cell_sizes()["Length"].sum() / 2  # both faces have it
    assert length == pytest.approx((3 + 2) * 2.0, rel=1e-6)  # three edges, two corners


def test_lines_on_an_obstacle_move_with_it():
    """The grid on a turning cylinder is that of the cylinder at rest, turned."""
    roller = di.Cylinder((0, -0.5, 0), (0, 1, 0), 0.6, length=1.0)
    turning = di.MovingObstacle(roller, rotation=((0, 1, 0), lambda t: t), center=(0, 0, 0))
    first, later = backdrop_of(turning, (0.0, 0.3)).places
    grids = []
    for place in (first, later):
        x = np.asarray(place.seen.points, dtype=float)
        grids.append(marks.grid_lines(place.seen, surfaces.rest_places(turning, x, place.t), 0.2))
    for place, lines in zip((first, later), grids):
        for each in lines:
            back = np.asarray(each.points, dtype=float) @ turning.turn(place.t)
            assert np.abs(back / 0.2 - np.rint(back / 0.2)).min(axis=1).max() < 1e-5
    assert len(grids[0]) == 3


def test_a_moving_obstacle_shows_that_it_moves():
    """Its place, an outline of where it was at first and an arrow as long as it is fast."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    lift = di.MovingObstacle(
        floor(), translation=((0, 0, 1), lambda t: 40 * t**2), translation_rate=lambda t: (0, 0, 80 * t)
    )
    solid = body(MPI.COMM_SELF)
    moments = [moment(solid, (0, 0, 0.1))._replace(t=t) for t in (0.0, 0.02, 0.05)]
    scene, _ = scene_of(solid, moments, obstacle=lift, eye=(0.3, -1, 0.35))
    heights = [np.asarray(place.seen.points)[:, 2].mean() for place in scene._backdrop.places]
    assert heights == pytest.approx([-0.3, -0.284, -0.2], abs=1e-6)
    figure, axes = pyplot.subplots()
    assert scene.add_motion(axes, 0) == []
    arrows = [scene.add_motion(axes, i) for i in (1, 2)]
    lengths = [np.linalg.norm(np.subtract(arrow.xy, arrow.xyann)) for arrow, _ in arrows]
    ways = [0.1 * scene.size[0] * speed * scene._view[1, 2] / 4.0 for speed in (1.6, 4.0)]
    assert lengths == pytest.approx(ways, rel=1e-6)
    assert [text.get_text() for _, text in arrows] == [
        f"obstacle {speed} m/s\noutline: at first" for speed in ("1.6", "4")
    ]
    pyplot.close(figure)
    first, _, last = scene.images(sharp=1)
    off = [np.abs(image.astype(int) - [0x6F, 0x98, 0xC0]).max(axis=2) for image in (first, last)]
    blue = [(each < 30).sum() for each in off]
    assert blue[0] < 10 and blue[1] > 100


def test_the_floor_is_darker_below_the_body():
    """The shadow is below the body, wherever that is above the floor, and as large."""
    found = surfaces.surface(floor(), LOW, HIGH, cells=40)
    x = np.asarray(found.points, dtype=float)
    solid = body(MPI.COMM_SELF)
    for shift in ((0, 0, 0.3), (0.4, -0.3, 0.0)):
        scene, (shot,) = scene_of(solid, [moment(solid, shift)], eye=(0, -1, 0.2))
        light = marks.shadow(found, scene._body.at(shot), np.array([0.0, 0.0, 1.0]))
        off = np.abs(x[:, :2] - shift[:2]).max(axis=1)
        assert light[off < 0.12].max() < 0.75 and np.all(light[off > 0.3] == 1.0)


@pytest.mark.parametrize(
    "cell, degree", [("tetrahedron", 1), ("tetrahedron", 2), ("hexahedron", 1), ("hexahedron", 3)]
)
def test_a_clipped_body_shows_its_inside(cell, degree):
    """Half of a cube and the cut, on any number of ranks, also where the plane runs between cells."""
    mesh = dmesh.create_box(COMM, [[0.0] * 3, [1.0] * 3], [2, 2, 2], getattr(dmesh.CellType, cell))
    solid = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.0), degree=degree)
    moments = [moment(solid, (0, 0, 0.5), 1.0)]
    for clip, area in (("y", 4.0), (((0.3, 0.25, 0.0), (0, 3, 0)), 5.0)):
        wanted = shots.Wanted(None, None, "v_x", None, 1.0, None, (0.3, -1, 0.35), clip, 10)
        parts, plane, found = shots.gather(solid, moments, wanted)
        if COMM.rank == 0:
            cut = section.CutBody(parts, plane).at(found[0])
            x = np.asarray(cut.points)
            assert cut.area == pytest.approx(area, rel=1e-4) and np.allclose(cut["shade"], 1.0)
            assert x.min(axis=0) == pytest.approx([0, (6 - area) / 4, 0.5], abs=1e-4)
            assert x.max(axis=0) == pytest.approx([1, 1, 1.5], abs=1e-4)
    wanted = wanted._replace(clip=((2.0, 0, 0), (1, 0, 0)))
    with pytest.raises(ValueError, match="clip: the plane through .* does not pass the body at rest"):
        shots.gather(solid, moments, wanted)


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_colors_hide_nothing(low):
    """Nowhere so dark that edges vanish; light where there is little, in even steps of lightness."""
    colors = solids.Colors("speed", "m/s", low, 1.0).map(65).colors[:, :3]
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    lightness = np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)
    assert lightness.min() > 30
    ends = lightness[[0, 32]] if low == 0 else lightness[[32]]
    assert ends[0] > 85 and lightness.argmax() in (0, *range(28, 37))
    if low == 0:
        steps = -np.diff(lightness)
        assert steps.min() > 0.5 * steps.mean() and steps.max() < 1.5 * steps.mean()


def test_an_obstacle_outside_of_the_box_is_not_seen():
    far = di.Plane((0, 0, -2), (0, 0, 1))
    assert surfaces.surface(far, LOW, HIGH, cells=4).n_points == 0
    solid = body(MPI.COMM_SELF)
    scene, _ = scene_of(solid, [moment(solid, (0, 0, 0))], obstacle=far, eye=(0.3, -1.0, 0.35), cells=4)
    (image,) = (each.astype(int) for each in scene.images(sharp=1))
    obstacle = np.array([0xC9, 0xBF, 0xAE]) / 0xC9
    bright = image[image.sum(axis=2) > 100]
    assert np.mean(np.abs(bright / bright[:, :1].clip(1) - obstacle).max(axis=1) < 0.02) < 1e-3


@pytest.mark.parametrize("gdim, degree", [(3, 1), (2, 2)])
def test_bodies_move_as_far_as_the_scale_says(gdim, degree):
    """Shifts to the side and upwards move the body's pixels by as much; the bar is as long as it says."""
    solid = body(MPI.COMM_SELF, gdim, degree)
    shifts = np.zeros((3, gdim))
    shifts[1, 0], shifts[2, -1] = 0.3, 0.25
    scene, _ = scene_of(solid, [moment(solid, s, 1.0) for s in shifts], eye=(0, -1, 0.2))
    images = list(scene.images(sharp=1))
    # The fastest is blue, the obstacle grey.
    centers = []
    for image in images:
        r, g, b = image.astype(int).transpose(2, 0, 1)
        centers.append(np.argwhere((b - r > 30) & (b > g)).mean(axis=0)[::-1])
    places = scene.pixels(np.pad(shifts, ((0, 0), (0, 3 - gdim))))
    assert np.diff(centers, axis=0) == pytest.approx(np.diff(places, axis=0), abs=1.5)
    assert np.abs(np.diff(places, axis=0)).max() > 50
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    scene.add_scale(axes)
    (said,) = [text.get_text() for text in axes.texts if "mm" in text.get_text()]
    bar = np.ptp(axes.lines[0].get_xdata())
    ends = scene.pixels(scene._view[:1] * np.array([[0.0], [1e-3 * float(said.split()[0])]]))
    assert bar == pytest.approx(np.ptp(ends[:, 0]), rel=1e-9)
    pyplot.close(figure)


@pytest.mark.parametrize(
    "cell, degree, count",
    [
        ("tetrahedron", 1, 108),
        ("tetrahedron", 2, 432),
        ("tetrahedron", 3, 972),
        ("hexahedron", 1, 54),
        ("hexahedron", 3, 486),
        ("triangle", 1, 18),
        ("triangle", 3, 162),
        ("quadrilateral", 2, 36),
    ],
)
def test_the_skin_is_all_that_is_seen(cell, degree, count):
    """Pieces between nodes cover the surface (in the plane the body) once, on any number of ranks."""
    gdim = 2 if cell in ("triangle", "quadrilateral") else 3
    make = {2: dmesh.create_rectangle, 3: dmesh.create_box}[gdim]
    mesh = make(COMM, [[0.0] * gdim, [1.0] * gdim], [3] * gdim, getattr(dmesh.CellType, cell))
    solid = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.0), degree=degree)
    found = skin.Skin(solid)
    x = found.gather(found.x)
    if COMM.rank == 0:
        corners = x[found.pieces].astype(float)
        assert len(corners) == count
        a, b = corners[:, 1] - corners[:, 0], corners[:, -1] - corners[:, 0]
        areas = np.linalg.norm(np.cross(a, b), axis=1)
        share = 0.5 if corners.shape[1] == 3 else 1.0
        if degree < 3:
            assert share * areas == pytest.approx(share * areas[0], rel=1e-4)
        assert share * areas.sum() == pytest.approx(1.0 if gdim == 2 else 6.0, rel=1e-5)
        if gdim == 3:
            assert np.isclose(corners, 0.0).all(axis=1).any(axis=1).sum() == count // 2


@pytest.mark.mpi
def test_a_rank_without_cells_draws_nothing(shared_path, plain_pixels):
    """Two cells on up to three ranks: skin, stress, picture."""
    corners = [[0.0] * 3, [2.0, 1, 1]]
    mesh = dmesh.create_box(MPI.COMM_WORLD, corners, [2, 1, 1], dmesh.CellType.hexahedron)
    solid = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.0))
    counts = mesh.comm.allgather(len(solid.space.dofmap.list))
    assert mesh.comm.size < 3 or min(counts) == 0
    rest = plot.Moment(0.0, np.zeros(solid.size), np.zeros(solid.size))
    floor = di.Plane((0, 0, -0.1), (0, 0, 1))
    plot.strip(shared_path / "few.png", solid, [rest], obstacle=floor, shade="stress", cells=4)
    MPI.COMM_WORLD.barrier()
    assert pixels(shared_path / "few.png").std() > 10


def test_a_part_of_a_mesh_has_a_skin_of_its_own():
    mesh = dmesh.create_box(MPI.COMM_SELF, [[0.0] * 3, [2.0, 1.0, 1.0]], [2, 1, 1], dmesh.CellType.hexahedron)
    left = dmesh.locate_entities(mesh, 3, lambda x: x[0] <= 1.0 + 1e-9)
    tags = dmesh.meshtags(mesh, 3, left, np.ones(left.size, np.int32))
    solid = di.Solid(
        di.NamedMesh(mesh, tags, None, {"left": (3, 1)}),
        density=1.0,
        law=di.LinearElastic(1.0, 0.0),
        cells="left",
    )
    found = skin.Skin(solid)
    assert len(found.pieces) == 6 and found.x[:, 0].max() == pytest.approx(1.0, rel=1e-14)


def test_magnified_bodies_touch_when_they_touch():
    """The wall moves away by as much as the first gap grows."""
    solid = body(MPI.COMM_SELF)
    scene, (first, last) = scene_of(
        solid, [moment(solid, (0, 0, 0)), moment(solid, (0, 0, -0.1))], magnify=5.0, eye=(0, -1, 0.2)
    )
    wall = np.asarray(scene._backdrop.places[0].seen.points)[:, 2]
    assert wall == pytest.approx(-0.7) and last.points[:, 2].min() == pytest.approx(-0.7)
    assert first.points[:, 2].min() == pytest.approx(-0.2)


@pytest.mark.parametrize("gdim", [2, 3])
def test_a_moved_obstacle_is_where_its_gap_is_zero(gdim):
    """The surface found once and moved with it is that of the moment."""
    axis = () if gdim == 2 else ((0, 1, 0),)
    turn = (*axis, lambda t: 300.0 * t) if axis else (lambda t: 300.0 * t)
    along = (0.1, *[0.0] * (gdim - 1))
    ball = di.MovingObstacle(
        di.Sphere((0.3, *[0.0] * (gdim - 1)), 0.2),
        rotation=turn,
        center=[0.0] * gdim,
        translation=(along, lambda t: t),
    )
    solid = body(MPI.COMM_SELF, gdim)
    scene, (shot,) = scene_of(solid, [moment(solid, [0.0] * gdim)], obstacle=ball, eye=(0, -1, 0), cells=40)
    x = np.asarray(scene._backdrop.places[0].seen.points, dtype=float)
    assert np.abs(ball.gap(x[:, :gdim], shot.t)).max() < 1e-3
    assert np.asarray(scene._backdrop.places[0].seen["normals"])[:, :gdim] == pytest.approx(
        ball.normal(x[:, :gdim], shot.t), abs=0.02
    )
    if gdim == 3:
        # Seen from the free side.
        assert np.asarray(scene._backdrop.places[0].seen["normals"])[:, 1].max() < 0.01


def test_arrows_show_forces(tmp_path):
    """The longest arrow and that of the key are to the same scale, on the points where the forces act."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    solid = body(MPI.COMM_SELF)
    contact, forces = pushed(solid, floor(), (0, 0, 0))
    forces[3], forces[5] = (0, 0, 30.0), (12.0, 0, 0)
    where = solid.x[contact.L.dofs[[3, 5], 0] // 3] + [0, 0, 0.1]
    moments = [moment(solid, (0, 0, 0.1), forces=forces)]
    scene, (shot,) = scene_of(solid, moments, eye=(0, -1, 0), contact=contact)
    assert shot.feet[[3, 5]] == pytest.approx(where)
    figure, axes = pyplot.subplots()
    scene.add_forces(axes, shot)
    arrows, key = axes.collections
    assert np.column_stack([arrows.X, arrows.Y]) == pytest.approx(scene.pixels(where))
    width = scene.size[0]
    assert np.column_stack([arrows.U, arrows.V]) == pytest.approx(
        np.array([[0.0, -0.2 * width], [0.08 * width, 0.0]]), abs=1e-9
    )
    assert key.U[0] == pytest.approx(0.2 * width * 20 / 30) and axes.texts[0].get_text() == "20 N of contact"
    pyplot.close(figure)


@examples(10)
@given(st.integers(13, 200), st.integers(0, 1000))
def test_many_forces_are_shown_by_sums_over_patches(count, seed):
    """Few arrows, the same total force; patches move with the body."""
    random = np.random.default_rng(seed)
    feet = random.random((count, 3)) * [1.0, 0.8, 0.0]
    forces = random.random((count, 3)) * [0.1, 0.1, 1.0]
    found = [
        solids.Shot(t, "", np.zeros((0, 3)), np.zeros(0), feet + [t, 0, 0], forces * (1 + t))
        for t in (0.0, 2.0)
    ]
    patches = solids._patches(found)
    before, after = (solids._sums(shot.feet, shot.forces, patches) for shot in found)
    assert len(before[0]) <= 9 and len(after[0]) == len(before[0])
    assert before[1].sum(axis=0) == pytest.approx(forces.sum(axis=0))
    assert after[1] == pytest.approx(3 * before[1]) and after[0] == pytest.approx(before[0] + [2.0, 0, 0])
    few = [shot._replace(feet=shot.feet[:12], forces=shot.forces[:12]) for shot in found]
    assert solids._patches(few) is None


@pytest.mark.mpi
@pytest.mark.parametrize("gdim", [2, 3])
def test_a_picture_is_the_same_on_any_number_of_ranks(gdim, shared_path, plain_pixels):
    names = ["shared", "alone"] if COMM.size > 1 else ["shared"]
    for name, comm in zip(names, (COMM, MPI.COMM_SELF)):
        solid = body(comm, gdim)
        contact, forces = pushed(solid, floor(gdim), [0.0] * (gdim - 1) + [1.0])
        shift = [0.0] * (gdim - 1)
        moments = [
            moment(solid, [*shift, 0.2], 1.0, title="before,"),
            moment(solid, [*shift, -0.1], forces=forces),
        ]
        path = shared_path / f"{name}.png"
        if comm is COMM or COMM.rank == 0:
            box = ([-0.5] * gdim, [0.5] * gdim)
            plot.strip(path, solid, moments, contact=contact, box=box, cells=20, columns=2)
    COMM.barrier()
    drawn = [pixels(shared_path / f"{name}.png") for name in names]
    assert drawn[0].shape == drawn[-1].shape
    assert np.mean(np.abs(drawn[0] - drawn[-1]).max(axis=2) > 40) < 2e-3
    # Arrows in the second moment alone, but the key in both.
    half = drawn[0].shape[1] // 2
    first, second = red(drawn[0][:, :half]), red(drawn[0][:, half:])
    assert len(second) > 2 * len(first) > 0


def test_refusals(shared_path):
    solid, path = body(), shared_path / "no.png"
    good, box = moment(solid, (0, 0, 0)), (LOW, HIGH)

    def draw(moments, name=path, **options):
        plot.strip(name, solid, moments, **{"obstacle": floor(), "box": box, **options})

    with pytest.raises(ValueError, match="one of speed, displacement, stress, v_x, v_y, v_z, but is"):
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
        draw([good], box=(HIGH, LOW))
    with pytest.raises(ValueError, match="corners low < high"):
        draw([good], box=((0, 0), (1, 1)))
    with pytest.raises(ValueError, match="a direction in space that is not upwards"):
        draw([good], eye=(0, 0, 1))
    for clip in ("w", (0, 0, 1), ((0, 0, 0), (0, 0, 0)), 3):
        with pytest.raises(ValueError, match=r"must be 'x', 'y', 'z' or a plane, \(point, normal\), not"):
            draw([good], clip=clip)
    with pytest.raises(ValueError, match="cells must be a whole number from 1 on"):
        draw([good], cells=0)
    with pytest.raises(ValueError, match="a body in the plane hides nothing: leave out clip"):
        flat = body(gdim=2)
        plot.strip(path, flat, [moment(flat, (0, 0))], clip="x")
    with pytest.raises(ValueError, match="columns must be a whole number from 1 on"):
        draw([good], columns=0)
    with pytest.raises(ValueError, match="magnify must be positive, but is 0"):
        draw([good], magnify=0)
    with pytest.raises(ValueError, match="the obstacle has 2 directions, the body 3"):
        draw([good], obstacle=floor(2))
    lift = di.MovingObstacle(floor(), translation=((0, 0, 1), lambda t: t))
    with pytest.raises(ValueError, match="before a moving obstacle cannot be magnified"):
        draw([good], obstacle=lift, magnify=2.0)
    with pytest.raises(ValueError, match="must be one of dolfinx_impact.obstacles"):
        draw([good], obstacle="floor")
    with pytest.raises(ValueError, match="must end in .png or .svg or .pdf, but is 'no.jpg'"):
        draw([good], shared_path / "no.jpg")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        draw([good], shared_path / "nowhere" / "no.png")
    with pytest.raises(ValueError, match="drawn of a Solid, not of PointMasses"):
        plot.strip(path, di.PointMasses([1.0]), [good])
    assert not list(shared_path.iterdir())


def plate(law=None, at=0.0):
    mesh = dmesh.create_rectangle(MPI.COMM_SELF, [[at, 0.0], [at + 1.0, 1.0]], [2, 2])
    return di.Solid(mesh, density=1000.0, law=law or di.LinearElastic(1e6, 0.3))


@pytest.mark.parametrize("kind", ["law", "forms"])
def test_stress_is_that_of_the_coefficients_of_its_time(kind):
    """A Constant that falls to a tenth in the run: a picture of half time shows the stress of half time."""
    mesh = dmesh.create_rectangle(MPI.COMM_SELF, [[0.0, 0.0], [1.0, 1.0]], [2, 2])
    modulus = fem.Constant(mesh, 1e6)
    if kind == "law":
        law = di.EnergyLaw(lambda F: modulus * ufl.inner(F - ufl.Identity(3), F - ufl.Identity(3)))
        solid = di.Solid(mesh, density=1000.0, law=law)
    else:
        space = fem.functionspace(mesh, ("Lagrange", 1, (2,)))
        u, w = ufl.TrialFunction(space), ufl.TestFunction(space)
        stiffness = 2e6 * ufl.inner(ufl.grad(u), ufl.grad(w)) * ufl.dx
        stress = lambda u: modulus * ufl.grad(u)[0, 0]  # noqa: E731
        solid = di.FormSystem(space, stiffness=stiffness, density=1000.0, stress=stress)
    scheme = di.CDLagrange(solid, 0.5 * solid.critical_time_step())
    scheme.start(lambda x: np.stack([0.01 * x[0], 0 * x[0]]), 0.0)
    times = np.array([0.0, 4.0]) * scheme.dt
    snapshots, seen = plot.Snapshots(times), []

    def softer(s):
        seen.append(di.VonMises(solid)(s.u).max())
        modulus.value = 1e6 * max(0.1, 1 - 0.1 * s.n)

    di.simulate(scheme, t_end=8 * scheme.dt, observers=[snapshots, softer], progress=False)
    _, found = scene_of(solid, snapshots.states, shade="stress", obstacle=None, eye=(0.3, -1.0, 0.35))
    stored = snapshots.states[1].fields["stress"].max()
    assert stored == pytest.approx(seen[3 if len(seen) == 8 else 4], rel=1e-12)
    assert found[1].values.max() == pytest.approx(stored, rel=1e-6)
    assert not plot.Snapshots([0.0]).states and modulus.value < 1e6


def test_bodies_far_from_the_origin_are_where_they_are():
    for at in (0.0, 1e6):
        solid = plate(at=at)
        _, (shot,) = scene_of(solid, [moment(solid, (0.001, 0.0))], obstacle=None, eye=(0.3, -1.0, 0.35))
        found = np.sort(shot.points[:, 0] - at)
        assert found == pytest.approx(np.sort(solid.x[:, 0] - at + 0.001), abs=1e-9)


def test_moments_of_another_body_are_refused(tmp_path, plain_pixels):
    solid, other = plate(), plate(at=1.0)
    scheme = di.CDLagrange(solid, 0.5 * solid.critical_time_step())
    scheme.start(0.0, 0.0)
    snapshots = plot.Snapshots([0.0])
    di.simulate(scheme, t_end=2 * scheme.dt, observers=[snapshots], progress=False)
    with pytest.raises(ValueError, match="the moments are those of another body: draw that one"):
        plot.strip(tmp_path / "no.png", other, snapshots)
    plot.strip(tmp_path / "same.png", plate(), snapshots)  # made anew

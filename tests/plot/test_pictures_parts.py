"""Parts of a joined mesh in colours of their own, and the forces of surfaces on each other."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import plot
from dolfinx_impact.plot import colors, film, section, shots, skin

pytestmark = pytest.mark.mpi
pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")
COMM = MPI.COMM_WORLD
BOX = dmesh.create_box, dmesh.CellType.hexahedron
PLANE = dmesh.create_rectangle, dmesh.CellType.quadrilateral


def pair(gdim=3, comm=COMM):
    """Two cubes or squares of 1 m, side by side 0.2 m apart, of 2 and 3 cells along each edge."""
    make, kind = BOX if gdim == 3 else PLANE
    low = np.zeros(gdim)
    shift = np.array([1.2, 0.0, 0.0])[:gdim]
    meshes = {
        name: make(comm, [low + i * shift, low + 1.0 + i * shift], [2 + i] * gdim, kind)
        for i, name in enumerate(("a", "b"))
    }
    return di.Solid(di.mesh.join(meshes), density=1.0, law=di.LinearElastic(1.0, 0.0))


def at_rest(body, **options):
    return plot.Moment(0.0, np.zeros(body.size), np.zeros(body.size), **options)


def wanted(**options):
    given = {
        "obstacle": None,
        "contact": None,
        "shade": "speed",
        "top": 1.0,
        "magnify": 1.0,
        "box": None,
        "eye": (0.3, -1.0, 0.35),
        "clip": None,
        "cells": 10,
        "parts": ("a", "b"),
    }
    return shots.Wanted(**{**given, **options})


@pytest.mark.parametrize("gdim", [2, 3])
def test_every_piece_has_the_part_where_it_is(gdim):
    found = skin.Skin(pair(gdim), parts=("b", "a"))
    x = found.gather(found.x)
    if COMM.rank == 0:
        middle = x[found.pieces].mean(axis=1)
        assert np.array_equal(found.part_of_pieces, (middle[:, 0] < 1.1).astype(int))
        assert len(found.pieces) == (6 * (4 + 9) if gdim == 3 else 4 + 9)
    else:
        assert found.pieces is None and found.part_of_pieces is None


def test_other_cells_are_left_out():
    body = pair()
    found = skin.Skin(body, parts=("b",))
    x = found.gather(found.x)
    assert COMM.rank > 0 or (x[np.unique(found.pieces), 0].min() == pytest.approx(1.2))
    assert COMM.rank > 0 or len(found.pieces) == 6 * 9


def test_a_cut_has_the_colours_of_the_parts():
    body = pair()
    parts, plane, found = shots.gather(body, [at_rest(body)], wanted(clip="y"))
    if COMM.rank == 0:
        cut = section.CutBody(parts, plane).at(found[0])
        middle = np.asarray(cut.cell_centers().points)
        assert np.array_equal(cut.cell_data["part"], (middle[:, 0] > 1.1).astype(int))
        assert (np.abs(middle[:, 1] - 0.5) < 1e-4).any()


def test_colours_in_a_picture(shared_path, plain_pixels):
    """The left body blue and the right one yellow, dark where the field is at its top."""
    body = pair()
    path, top = shared_path / "parts.png", 2.0
    fast = top * body.rigid_velocity((1.0, 0.0, 0.0), cells="b")
    moment = at_rest(body)._replace(v=fast)
    options = {"parts": ("a", "b"), "top": top, "eye": (0.0, -1.0, 0.0)}
    plot.strip(path, body, [at_rest(body), moment], columns=2, **options)
    if COMM.rank == 0:
        with Image.open(path) as picture:
            image = np.asarray(picture.convert("RGB"), dtype=int)
        half = image[:, : image.shape[1] // 2 - 60]
        blue = (half[..., 2] > half[..., 0] + 40).nonzero()[1]
        yellow = (half[..., 0] > half[..., 2] + 60).nonzero()[1]
        assert blue.size > 5000 and yellow.size > 5000 and blue.max() < np.median(yellow)
        # In the second picture the right body is as dark as the end of its scale.
        later = image[:, image.shape[1] // 2 - 60 :]
        assert ((later[..., 0] > later[..., 2] + 60) & (later.sum(axis=2) > 450)).sum() < 0.2 * yellow.size


@pytest.mark.parametrize("gdim", [2, 3])
def test_opposite_forces_are_not_summed(gdim):
    """Many forces on both surfaces, each sum on its own side and of the size of its share."""
    body = pair(gdim)
    contact = di.SurfaceContact(body, "a/boundary", "b/boundary")
    x = body.x[contact.nodes.loaded.dofs[:, 0] // gdim][:, 0]
    forces = np.zeros(contact.nodes.loaded.dofs.shape)
    forces[:, 0] = np.where(x < 1.1, -1.0, 1.0)
    look = wanted(contact=contact, eye=(0.3, -1.0, 0.35))
    visible, plane, found = shots.gather(body, [at_rest(body, forces=forces)], look)
    if COMM.rank > 0:
        return
    scene = film._scene(visible, plane, found, look)
    feet, sums = scene.arrows(found[0])
    count = {2: (8, 12), 3: (26, 56)}[gdim]
    for side, nodes, sign in ((feet[:, 0] < 1.1, count[0], -1.0), (feet[:, 0] > 1.1, count[1], 1.0)):
        assert 1 < side.sum() <= 27 and sums[side, 0].sum() == pytest.approx(sign * nodes)
    assert (sums[:, 0] < 0).sum() == (feet[:, 0] < 1.1).sum()


def test_sides_of_a_list_of_contacts():
    body = pair(2)
    surfaces = di.SurfaceContact(body, "a/boundary", "b/boundary")
    floor = di.RigidContact(body, "a/boundary", di.Plane((0.0, -1.0), (0.0, 1.0)))
    both = film.as_contact([surfaces, floor])
    sides = shots._sides(both)
    assert len(sides) == len(both.nodes.loaded.dofs)
    assert np.array_equal(np.unique(np.concatenate(COMM.allgather(sides))), [0, 1, 2])


def test_the_film_keeps_the_colours_of_the_scale(shared_path, plain_pixels):
    body = pair()
    path = shared_path / "parts.gif"
    moments = [at_rest(body)._replace(t=t) for t in (0.0, 1.0)]
    plot.animate(path, body, moments, parts=("a", "b"))
    if COMM.rank == 0:
        with Image.open(path) as picture:
            image = np.asarray(picture.convert("RGB"), dtype=int)
        for ramp in colors.RAMPS[:2]:
            for end in (ramp[0], ramp[-1]):
                rgb = [int(end[i : i + 2], 16) for i in (1, 3, 5)]
                # A level of the scale further is as good.
                assert (np.abs(image - rgb).max(axis=2) <= 6).sum() > 5, end


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "options, message",
    [
        ({"parts": ("a",)}, "parts must be 2 to 5 names of cells, but are .'a'."),
        ({"parts": ("a", "c")}, "no cells are named 'c' in the mesh"),
        ({"parts": ("a", "a")}, "parts must not have cells in common"),
        ({"parts": ("a", "b"), "shade": "v_x"}, "shade 'v_x' has a sign, and the colours of parts none"),
    ],
)
def test_bad_parts(options, message, shared_path):
    body = pair(2)
    with pytest.raises(ValueError, match=message):
        plot.strip(shared_path / "bad.png", body, [at_rest(body)], **options)

"""Pairs of facets that are left out of a step because they are far: nothing differs by a bit."""

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.awake import asleep, awake, seen
from support.pairs import made
from support.surfaces import LAW, RUBBER, anywhere, box, layers

import dolfinx_impact as di


def pair(body, *names, **options):
    """The same contact twice, the second without sleep."""
    names = [f"{name}/boundary" for name in names]
    first, second = (di.SurfaceContact(body, *names, allow_penetration=True, **options) for _ in range(2))
    return first.assembly, awake(second).assembly


def differ(one, other, u):
    """What of the closed points differs at ``u``."""
    one.update(u, every=False)
    other.update(u, every=False)
    return [k for k, both in enumerate(zip(seen(one), seen(other))) if not np.array_equal(*both)]


def displaced(body, part, move):
    """Displacements of one part, a function of the places of its nodes."""
    u = np.zeros(body.size)
    at = body.rigid_velocity(np.eye(body.gdim)[-1], cells=part).reshape(-1, body.gdim)[:, -1] > 0
    u.reshape(-1, body.gdim)[at] = move(body.x[at, : body.gdim])
    return u


def runs(make, steps, ask=0):
    """The same motion with and without sleep, compared in each step; steps with impulses, and with sleep."""
    one, other = make(), make()
    awake(other.contact)
    hits = rests = 0
    for k in range(steps):
        one.step()
        other.step()
        both = [(getattr(one, name), getattr(other, name)) for name in ("u", "v", "r", "r_t")]
        if ask and k % ask == 0:
            both.append((one.contact.gap(one.u), other.contact.gap(other.u)))
        assert not anywhere(not all(np.array_equal(*each) for each in both)), k
        hits += anywhere(one.r != 0)
        rests += anywhere(any(asleep(c.assembly) for c in one.contact.members if hasattr(c, "assembly")))
    return hits, rests


@functools.cache
def blocks(kind, far):
    """A turned block above another one; two meshes of them may have their cells on other ranks."""
    d = 2 if kind in ("quadrilateral", "triangle") else 3
    upper = box([3 if d == 3 else 6] * d, [0.1] * (d - 1) + [0.12], [0.5] * (d - 1) + [0.52], kind, 0.3)
    upper.mesh.geometry.x[:, d - 1] += far
    lower = box([6, 6, 1] if d == 3 else [5, 5], [0.0] * (d - 1) + [-0.6], [0.63] * (d - 1) + [0.0], kind)
    return di.mesh.join({"upper": upper, "lower": lower})


def tumbling(kind="quadrilateral", friction=0.3, speed=0.1, far=0.0, spin=0.5, **options):
    """A turned block that spins meets another one."""
    body = di.Solid(blocks(kind, far), law=RUBBER, density=1.0)
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction, **options)
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    d = body.gdim
    e, about = np.eye(d), spin if d == 2 else spin * np.array([0.3, 1.0, 0.2])
    down = body.rigid_velocity(0.1 * e[0] - speed * e[-1], cells="upper", spin=about)
    s.start(0.0, down + body.rigid_velocity(0.5 * speed * e[-1], cells="lower"))
    return s


@pytest.mark.mpi
@pytest.mark.parametrize("kind, steps", [("quadrilateral", 150), ("triangle", 100), ("tetrahedron", 120)])
def test_tumbling_bodies(kind, steps):
    """Gaps of all points are asked for in between: then none sleeps, and more searches are made."""
    hits, rests = runs(lambda: tumbling(kind), steps, ask=17)
    assert hits > 5 and rests > 5


#: Kinds of cells and options of long runs, and which of them are run elsewhere than in the nightly tier too,
#: on one rank: the short runs above are those of several.
KINDS = ("quadrilateral", "triangle", "hexahedron", "tetrahedron")
OPTIONS = ({}, {"drift_correction": True, "friction": 0.0}, {"touching": False})
DAILY = (("quadrilateral", 1), ("triangle", 2), ("tetrahedron", 0))
DAILY_MARKS = (pytest.mark.slow, pytest.mark.one_rank)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "kind, option",
    [
        pytest.param(kind, k, marks=DAILY_MARKS if (kind, k) in DAILY else pytest.mark.nightly)
        for kind in KINDS
        for k in range(len(OPTIONS))
    ],
)
def test_tumbling_bodies_for_long(kind, option):
    hits, _ = runs(lambda: tumbling(kind, **OPTIONS[option]), 2000, ask=101)
    assert hits > 20


def test_a_fast_body_from_far_away():
    hits, rests = runs(lambda: tumbling(speed=0.4, far=1.0, spin=1.0), 250)
    assert hits and rests


def test_the_fast_body_of_a_list():
    """With an obstacle, and a gap tolerance above rounding."""

    def make():
        body = di.Solid(layers(4, 3, gap=0.004, parts=2), law=LAW, density=1.0)
        contacts = [
            di.SurfaceContact(body, "upper/boundary", "lower/boundary", gap_tolerance=1e-4),
            di.RigidContact(body, "lower/bottom", di.Plane((0.0, -0.103), (0.0, 1.0))),
        ]
        s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contacts)
        s.start(0.0, body.rigid_velocity((0.0, -0.2), spin=0.1))
        return s

    assert runs(make, 150)[0]


def states(body, rng, count, step):
    """Displacements on a way: parts turn, shear, and tremble."""
    x, d = body.x[:, : body.gdim], body.gdim
    marks = [
        body.rigid_velocity(np.eye(d)[-1], cells=n).reshape(-1, d)[:, -1] > 0 for n in ("upper", "lower")
    ]
    at, rate = np.zeros_like(x), np.zeros_like(x)
    for mark in marks:
        y = x[mark] - x[mark].mean(axis=0)
        turned = Rotation.from_rotvec(0.4 * rng.normal(size=3) * ([0, 0, 1] if d == 2 else 1)).as_matrix()[
            :d, :d
        ]
        at[mark] = y @ turned.T - y + 0.1 * rng.normal(size=d) + 0.1 * np.sin(3 * y) @ rng.normal(size=(d, d))
        rate[mark] = rng.normal(size=d) + np.sin(4 * y + rng.normal(size=d)) + 0.3 * rng.normal(size=y.shape)
    for k in range(count):
        u = np.zeros(body.size)
        u[: x.size] = (at + k * step * rate / np.abs(rate).max()).ravel()
        yield u


@pytest.mark.parametrize("kind", ["quadrilateral", "triangle", "hexahedron", "tetrahedron"])
def test_states_at_random(kind):
    """Bodies that turn, shear and fold, in and out of each other, with tolerances up to a part of a facet."""
    d = 2 if kind in ("quadrilateral", "triangle") else 3
    upper = box([3 if d == 3 else 9] * d, [0.1] * (d - 1) + [0.05], [0.5] * (d - 1) + [0.5], kind, 0.1)
    lower = box(
        [7] * (d - 1) + [2] if d == 3 else [12] * d, [0.0] * (d - 1) + [-0.6], [0.7] * (d - 1) + [0.0], kind
    )
    body = di.Solid(di.mesh.join({"upper": upper, "lower": lower}), law=LAW, density=1.0)
    one, other = pair(body, "upper", "lower")
    rng, closed, rests = np.random.default_rng(1), 0, 0
    for tolerance in (0.0, 1e-12, 1e-3, 0.03):
        one.tolerance = other.tolerance = tolerance
        for _ in range(3):
            for u in states(body, rng, 8, 0.2 * one.path_between_searches):
                assert not differ(one, other, u)
                closed += np.count_nonzero(one.gap <= tolerance)
                rests += asleep(one)
    assert closed > 50 and rests > 1


@pytest.mark.parametrize("kind", ["quadrilateral", "tetrahedron"])
@pytest.mark.parametrize("tolerance, closed", [(1.5e-3, True), (5e-4, False)])
def test_points_within_the_tolerance_do_not_sleep(kind, tolerance, closed):
    """All facets are apart along their normals, by less than the tolerance or by more."""
    body = di.Solid(layers(4, 5, kind, gap=1e-3), law=LAW, density=1.0)
    one, other = pair(body, "upper", "lower")
    one.tolerance = other.tolerance = tolerance
    assert not differ(one, other, np.full(body.size, 1e-6))
    assert np.any(one.gap <= tolerance) == closed and one.gap.min() > 0.0
    assert asleep(one) != closed


@pytest.mark.parametrize("tolerance, closed", [(1.5e-3, True), (5e-4, False)])
def test_a_corner_within_the_tolerance_does_not_sleep(tolerance, closed):
    """A tip above the middle of a facet."""
    tip = made("triangle", np.array([[0.0, 1e-3], [0.3, 1.0], [-0.3, 1.0]]), [[0, 1, 2]])
    floor = box([7, 2], [-4.0, -2.0], [4.0, 0.0], "triangle")
    body = di.Solid(di.mesh.join({"tip": tip, "floor": floor}), law=LAW, density=1.0)
    one, other = pair(body, "tip", "floor")
    one.tolerance = other.tolerance = tolerance
    assert not differ(one, other, np.full(body.size, 1e-6))
    corners = one.gap[one.mortar.nodes.size :]
    assert np.count_nonzero(corners <= tolerance) == closed


def test_a_corner_in_front_of_one_facet_and_behind_another():
    """A tip above the acute edge of a wedge: its distance is that to the nearer facet, which is far."""
    wedge = box([1, 1], [-1.0, -1.0], [0.0, 0.0], "triangle")
    x = wedge.mesh.geometry.x
    x[:, 0] += 0.5 * x[:, 1]  # the right side leans under the top: an angle of 63 degrees
    tip = made("triangle", np.array([[-0.05, 0.02], [-0.04, 0.42], [-0.06, 0.42]]), [[0, 1, 2]])
    body = di.Solid(di.mesh.join({"tip": tip, "wedge": wedge}), law=LAW, density=1.0)
    one, other = pair(body, "tip", "wedge")
    assert not differ(one, other, np.full(body.size, 1e-6))
    corners = other.gap[other.mortar.nodes.size :]
    assert np.min(corners) == pytest.approx(0.02), "open, though behind the side by more than that"
    assert not np.any(one.gap <= one.tolerance)


def test_a_covered_neighbour_of_a_neighbour():
    """A foot sinks into the first facet; the body is open above a part of the second one, and the third.

    That the third is covered decides about the functions of the second, a part of a closed point.
    """
    body = box([560, 1], [-0.1, 0.0], [3.4, 1.5])
    x = body.mesh.geometry.x
    up, down = np.clip((x[:, 0] - 0.5) / 0.3, 0.0, 1.0), np.clip((x[:, 0] - 1.2) / 0.9, 0.0, 1.0)
    x[:, 1] += (1.0 - x[:, 1] / 1.5) * (1.4 * np.sin(0.5 * np.pi * up) ** 2 - 0.6 - 0.5 * down)
    floor = box([6, 1], [-1.0, -1.0], [5.0, 0.0])
    parts, density = {"body": body, "floor": floor}, {"body": 100.0, "floor": 1.0}
    both = di.Solid(di.mesh.join(parts), law=LAW, density=density)
    one, other = pair(both, "body", "floor")
    assert not differ(one, other, np.full(both.size, 1e-6))
    assert np.any(one.gap <= 0.0)


def test_facets_that_fold():
    """A projected quadrilateral that is not convex has more corners in a segment, and no bounds."""
    body = di.Solid(layers(2, 3, "hexahedron", gap=0.01), law=LAW, density=1.0)
    one, other = pair(body, "upper", "lower")
    rng = np.random.default_rng(0)
    for _ in range(20):
        u = displaced(body, "upper", lambda x: 0.5 * rng.normal(size=x.shape) * [1.0, 1.0, 0.2])
        assert not differ(one, other, u)
    assert np.isinf(one._tables["turn"]).any()

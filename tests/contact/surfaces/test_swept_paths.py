"""Edges and points that would pass through something within a step get impulses in that step."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.spatial.transform import Rotation
from support.needles import Intersections, meeting, needle, over_a_plate, plate, tetrahedron
from support.pairs import made, named
from support.surfaces import momenta, total

import dolfinx_impact as di
from dolfinx_impact.contact.surfaces.assembly import Assembly
from dolfinx_impact.contact.surfaces.swept.segments import Segments
from dolfinx_impact.contact.tunnelling import Tunnelled

ONE = MPI.COMM_WORLD.size == 1


def crossed(v, gap=0.15, **options):
    """Two wedges whose edges cross off their middles, the upper one with a velocity."""
    lower = tetrahedron([[-0.4, 0.0, 0.0], [0.6, 0.0, 0.0], [0.1, -0.3, -0.5], [0.1, 0.3, -0.5]])
    upper = tetrahedron([[0.0, -0.3, gap], [0.0, 0.7, gap], [-0.3, 0.2, gap + 0.5], [0.3, 0.2, gap + 0.5]])
    return meeting(upper, lower, v, **options)


@pytest.mark.mpi
@pytest.mark.parametrize("e", [0.0, 0.6])
@pytest.mark.parametrize("mu", [0.0, 0.05, 2.0])
def test_one_hit_edge_on_edge(e, mu):
    """Case 1: r = (1 + e) |w.v| / sum(w^2/m), r_t what sticks or mu r; without e they just meet."""
    v = np.array([0.02, 0.03, -0.1])
    s, contact = crossed(v, restitution=e, friction=mu)
    assert not len(contact.features().r)
    body, before, gap = s.system, momenta(s)[0], 0.05
    s.step()
    (row,) = zip(*contact.features())
    _, w, n, r, r_t = row
    assert n == pytest.approx([0.0, 0.0, np.sign(n[2])], abs=1e-12) and w.sum() == pytest.approx(
        0.0, abs=1e-15
    )
    m = total([body.mass.sum()])[0] / 24.0  # volumes are equal
    inverse = (w**2).sum() / m
    normal = (1 + e) * 0.1 if e else 0.1 - 0.98 * gap
    assert r == pytest.approx(normal / inverse, rel=1e-13)
    stick, slip = np.linalg.norm(v[:2]) / inverse, mu * r
    assert np.linalg.norm(r_t) == pytest.approx(min(stick, slip), rel=1e-12)
    after, size = momenta(s)
    assert np.abs(after - before)[:3].max() < 1e-14 * size
    assert contact.certificate().added == 1 and contact.certificate().rounds == 1


SPEEDS, TILTS = (0.1, 1.0, 10.0), (0.0, 0.3, 0.7)
PLACES = {"node": (2.0, 2.0), "edge": (2.5, 2.0), "facet": (2.3, 2.2)}


class NoCover(Segments):
    """Segments that cover no features."""

    def cover(self, pairs):
        return np.zeros(len(pairs), dtype=bool)


class Uncovered(Assembly):
    """An assembly with them."""

    @property
    def segments(self):
        return NoCover(self._tables, self._segments, self.roles)


def refuse_cover(contact):
    """All features are tested, whatever faces them."""
    contact.assembly.__class__ = Uncovered


def shoot(speed, tilt, place, *, covered, steps, skin=0.0):
    """The steps of a needle into a plate: momenta, energies, intersections."""
    s, contact = over_a_plate(speed, tilt, PLACES[place], skin=skin)
    if not covered:
        refuse_cover(contact)
    balance, (before, size) = s.balance(), momenta(s)
    balance.start()
    terms, seen = [total(balance.terms())], Intersections(contact) if ONE else None
    for _ in range(steps):
        s.step()
        balance.step()
        terms.append(total(balance.terms()))
        assert not (ONE and seen(s))
    after, _ = momenta(s)
    assert np.abs(after - before)[:3].max() < 1e-13 * size
    kinetic, complementary, _, work, _, contact_work, *_ = np.array(terms).T
    energy = kinetic + complementary
    assert energy.max() <= energy[0] * (1 + 1e-12)
    assert np.abs(energy - energy[0] + work - contact_work).max() < 1e-13 * energy[0]
    said = contact.certificate()
    assert said.passed == 0 and said.tested > 0 and said.added > 0 and said.inside == 0


@pytest.mark.parametrize("covered, skin", [(False, 0.0), (True, 0.01)])
@pytest.mark.parametrize("speed, tilt, place", zip(SPEEDS, TILTS, PLACES))
def test_a_needle_does_not_pierce_a_thin_plate(speed, tilt, place, covered, skin):
    """Case 3: 1, 10 and 100 thicknesses a step."""
    pytest.importorskip("ipctk")
    shoot(speed, tilt, place, covered=covered, skin=skin, steps=6)


@pytest.mark.slow
@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("place", PLACES)
def test_needles_at_any_place(speed, tilt, place):
    """Case 3, whole: also where a side of the needle faces the plate and covers it while it is shallow."""
    pytest.importorskip("ipctk")
    shoot(speed, tilt, place, covered=False, steps=12)
    shoot(speed, tilt, place, covered=True, skin=0.01, steps=12)
    shoot(speed, tilt, place, covered=True, skin=0.004, steps=12)


def test_a_needle_that_nobody_looks_at():
    """Case 15: without tests it is in the plate, and the certificate says that nothing was tested."""
    pytest.importorskip("ipctk")
    s, contact = over_a_plate(0.1, at=(2.3, 2.2), swept=False)
    seen = Intersections(contact)
    inside = False
    for _ in range(12):
        s.step()
        inside |= seen(s)
    said = contact.certificate()
    assert inside and said.passed is None and said.tested == 0 and "not tested" in str(said)
    assert contact.features() is None and contact.events() == []


@pytest.mark.mpi
def test_vertex_on_vertex_stays_symmetric():
    """Case 4: two tips that meet head on, mirror images of each other."""
    ring = [[0.3 * np.cos(p), 0.3 * np.sin(p), 0.5] for p in (0.1, 2.2, 4.3)]
    points = np.array([[0.0, 0.0, 0.05], *ring])
    s, contact = meeting(tetrahedron(points), tetrahedron(points * [1, 1, -1]), (0.0, 0.0, -0.2))
    s.start(
        0.0,
        s.system.rigid_velocity((0.0, 0.0, -0.1), cells="upper")
        + s.system.rigid_velocity((0.0, 0.0, 0.1), cells="lower"),
    )
    for _ in range(5):
        s.step()
    n = s.system.owned // 3
    x, u = s.system.x[:n], s.u[: 3 * n].reshape(n, 3)
    rows = np.vstack(MPI.COMM_WORLD.allgather(np.column_stack([x, u])))
    up = rows[rows[:, 2] > 0]
    for row in rows[rows[:, 2] < 0] * [1, 1, -1, 1, 1, -1]:
        twin = up[np.argmin(np.linalg.norm(up[:, :3] - row[:3], axis=1))]
        assert twin == pytest.approx(row, abs=1e-12)
    assert rows[:, 2].__add__(rows[:, 5])[rows[:, 2] > 0].min() > 0
    assert contact.certificate().added > 0


@pytest.mark.parametrize("shift", [0.0, -0.02, 0.03])
def test_a_blade_on_the_rim_of_a_plate(shift):
    """Case 4: the edge of a blade along the rim, and beside it: parallel edges."""
    pytest.importorskip("ipctk")
    x = 4.0 + shift
    blade = tetrahedron([[x, 1.2, 0.05], [x, 2.7, 0.05], [x - 0.2, 2.0, 0.8], [x + 0.2, 2.0, 0.8]])
    s, contact = meeting(blade, plate([4, 4, 1], (0, 0, -0.1), (4, 4, 0.0)), (0.0, 0.0, -0.3))
    refuse_cover(contact)
    seen = Intersections(contact)
    for _ in range(6):
        s.step()
        assert not seen(s)
    assert contact.certificate().added > 0


def sheets(image, speed, *, offset=0.0, angle=0.0, skin=0.0):
    """Two thin plates, images of each other, whose rims meet; in one plane, or offset, or crossed."""
    thick, gap = 0.1, 0.05
    mesh = plate([2, 4, 1], (0.0, 0.0, 0.0), (2.0, 4.0, thick)).mesh
    x, nodes = mesh.geometry.x - [-gap / 2, 2.0, thick / 2], mesh.geometry.dofmap
    x = x @ Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix().T + [0.0, 0.0, offset / 2]
    right, left = (
        named(made("tetrahedron", each, nodes), all=lambda x: np.full(x.shape[1], True))
        for each in (x, x * image)
    )
    s, contact = meeting(right, left, (0.0, 0.0, 0.0), skin=skin)
    v = np.array([speed, 0.0, 0.0])
    s.start(0.0, s.system.rigid_velocity(-v, cells="upper") + s.system.rigid_velocity(v, cells="lower"))
    return s, contact


def away_from_image(s, image):
    """Largest difference of the displacements of one plate and those of the image of the other one."""
    x, u = s.system.x, s.u.reshape(-1, 3)
    right = x[:, 0] > 0
    apart = np.linalg.norm((x[right] * image)[:, None] - x[~right], axis=2)
    assert apart.min(axis=0).max() < 1e-12
    return np.abs((u[right] * image)[apart.argmin(axis=0)] - u[~right]).max()


MIRROR, ABOUT_Y, ABOUT_Z = (np.array(each) for each in ([-1.0, 1, 1], [-1.0, 1, -1], [-1.0, -1, 1]))


def rim_on_rim(image, speed, *, steps=8, **where):
    """Steps of two sheets without intersections, which need no last resort.

    Without a skin covered rims penetrate by the path of a step, as all surfaces do: cover is refused then.
    """
    s, contact = sheets(image, speed, **where)
    if not contact.skin:
        refuse_cover(contact)
    seen, before, moved = Intersections(contact), momenta(s)[0], []
    for _ in range(steps):
        s.step()
        assert not seen(s, axis=0)
        moved.append(away_from_image(s, image))
    after, size = momenta(s)
    assert np.abs(after - before)[:3].max() < 1e-13 * size
    assert contact.certificate().together == 0 and contact.certificate().passed == 0
    return max(moved), contact.certificate()


@pytest.mark.parametrize("skin", [0.0, 0.01])
@pytest.mark.parametrize("speed, steps", [(0.004, 15), (0.1, 8)])
def test_sheets_that_meet_edge_to_edge_stay_symmetric(speed, steps, skin):
    """Case 4: head on, on the way of a step and far beyond the skin."""
    pytest.importorskip("ipctk")
    moved, said = rim_on_rim(MIRROR, speed, steps=steps, skin=skin)
    assert moved < 1e-12
    assert said.added > 0 or said.skin_used > 0


@pytest.mark.parametrize(
    "image, speed, where",
    [
        (ABOUT_Y, 0.1, {"offset": 0.03}),
        (ABOUT_Y, 0.1, {"offset": 0.08}),
        (ABOUT_Y, 0.02, {"offset": 0.03, "skin": 0.01}),
        (ABOUT_Y, 0.1, {"offset": 0.08, "skin": 0.01}),
        (ABOUT_Z, 0.004, {"angle": 0.3, "skin": 0.01, "steps": 15}),  # shallow segments beside a deep one
        (ABOUT_Z, 0.02, {"angle": 0.3}),
        (ABOUT_Z, 0.1, {"angle": 0.02, "skin": 0.01}),
    ],
)
def test_sheets_that_meet_aside_or_crossed(image, speed, where):
    """Case 4: meshes of the rims do not match then, and roles and the order of nodes break the symmetry."""
    pytest.importorskip("ipctk")
    _, said = rim_on_rim(image, speed, **where)
    assert said.added > 0


@pytest.mark.mpi
def test_a_plate_that_is_held_bears_the_impact():
    """Impulses of both sides add up to nothing, and what the plate's nodes get is what the needle gains."""
    s, contact = over_a_plate(0.1, solid={"fixed": ["lower/boundary"]})
    n, dofs = s.system.owned, contact.nodes.loaded.dofs
    before, first, later = s.v_mean[:n].copy(), np.zeros(dofs.shape), np.zeros(dofs.shape)
    s.add_nodal_impulses(first)
    for _ in range(3):
        s.step()
        s.add_nodal_impulses(later)
    impulses = 0.5 * first + later  # half of that at the start stands in the velocity before it
    gained = total((s.system.mass * (s.v[:n] - before)).reshape(-1, 3).sum(axis=0))
    assert total(impulses.sum(axis=0)) == pytest.approx(0.0, abs=1e-15)
    held = s.system.constrained[dofs]
    borne = total(np.where(held, impulses, 0.0).sum(axis=0))
    assert gained[2] > 0.0 and -borne == pytest.approx(gained, abs=1e-7 * gained[2])
    assert contact.certificate().together == 0


def test_two_prescribed_motions_that_close_on_each_other():
    """Nothing can give way: the run ends in words, with the place."""
    spike = tetrahedron([[2.3, 2.2, 0.05], [2.2, 2.1, 0.5], [2.5, 2.2, 0.5], [2.3, 2.4, 0.5]])
    lower, down = plate([4, 4, 1], (0.0, 0.0, -0.1), (4.0, 4.0, 0.0)), {2: lambda t: -0.01 * t}
    solid = {"fixed": ["lower/boundary"], "prescribed": {"upper/boundary": down}}
    s, _ = meeting(spike, lower, (0.0, 0.0, -0.01), solid=solid)
    with pytest.raises(Tunnelled, match=r"held or move as prescribed .* at \(2"):
        for _ in range(9):
            s.step()
    assert s.n == 4


def pinched(**options):
    """A needle that stands on a held plate, and a heavy lid that comes down on it."""
    low = plate([4, 4, 1], (0.0, 0.0, -0.1), (4.0, 4.0, 0.0))
    lid = plate([4, 4, 1], (0.0, 0.0, 0.6), (4.0, 4.0, 0.7))
    parts = {"pin": needle((2.3, 2.2, 0.02), 0.0), "low": low, "lid": lid}
    body = di.Solid(
        di.mesh.join(parts), density=1.0, law=di.LinearElastic(1e-3, 0.0), fixed=["low/boundary"], **options
    )
    contact = di.SurfaceContact(body, friction=0.2)
    s = di.CDLagrange(body, 0.02, contact=contact, allow_unstable=True)
    s.start(0.0, body.rigid_velocity((0.0, 0.0, -0.05), cells="lid"))
    return s, contact


@pytest.mark.mpi
def test_restart_in_the_middle_of_a_rich_event():
    """Case 13: bit by bit, with certificate and events."""
    s, contact = over_a_plate(1.0, 0.3)
    s.step()
    state, at = s.state(), s.n
    assert contact.certificate().rounds > 1
    t, other = over_a_plate(1.0, 0.3)
    t.resume(state)
    assert t.n == at and other.certificate() == contact.certificate()
    assert t.contact_work(t.v) == s.contact_work(s.v)
    for _ in range(4):
        s.step()
        t.step()
    assert np.array_equal(s.u, t.u) and np.array_equal(s.v, t.v)
    known, same = contact.certificate(), other.certificate()
    assert (known.added, known.rounds, known.together) == (same.added, same.rounds, same.together)
    assert contact.events() == other.events()


@pytest.mark.mpi
def test_another_time_step_in_the_middle_of_a_rich_event():
    """Impulses with those that the change adds are the change of momentum; the energy balance closes."""
    s, contact = over_a_plate(1.0, 0.3)
    balance, n = s.balance(), s.system.owned
    balance.start()
    start, before = total(balance.terms()), s.v_mean[:n].copy()
    impulses = np.zeros(contact.nodes.loaded.dofs.shape)
    s.add_nodal_impulses(impulses)
    impulses *= 0.5
    for k in range(5):
        if k == 1:
            assert total(np.abs(s.swept).sum()) > 0.0
            s.change_step(0.6)
            balance.restart()
        s.step()
        balance.step()
        s.add_nodal_impulses(impulses)
    change, dofs = s.system.mass * (s.v[:n] - before), contact.nodes.loaded.dofs
    own = np.zeros(s.system.size)
    own[dofs] = impulses
    assert total(change.reshape(-1, 3).sum(axis=0)) == pytest.approx(0.0, abs=1e-15)
    assert np.abs(change - own[:n]).max() < 1e-4 * np.abs(change).max()  # forces are small
    kinetic, complementary, _, work, _, contact_work, dissipated, _ = total(balance.terms()) - start
    assert kinetic + complementary + work + dissipated - contact_work == pytest.approx(
        0.0, abs=1e-13 * start[0]
    )


@pytest.mark.mpi
def test_ranks_find_the_same():
    """Case 13: whatever ranks have the cells."""
    runs = []
    for owner in (None, 0):
        s, contact = over_a_plate(1.0, 0.3, owner=owner)
        for _ in range(4):
            s.step()
        n = s.system.owned // 3
        rows = np.column_stack([s.system.x[:n], s.u[: 3 * n].reshape(n, 3)])
        rows = np.vstack(MPI.COMM_WORLD.allgather(rows))
        rows = rows[np.lexsort(np.round(rows[:, :3], 6).T)]
        runs.append((rows, contact.features().r, contact.certificate()))
    (all_u, r, said), (own_u, own_r, own_said) = runs
    assert all_u == pytest.approx(own_u, abs=1e-10) and r == pytest.approx(own_r, rel=1e-9)
    assert (said.added, said.rounds, said.together) == (own_said.added, own_said.rounds, own_said.together)


@pytest.mark.parametrize("make", [di.NohBathe, di.MoreauJean, di.GeneralizedAlpha])
def test_schemes_that_do_not_test_paths(make):
    s, contact = over_a_plate(0.1)
    with pytest.raises(ValueError, match="swept=False"):
        make(s.system, 0.1, contact=contact)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "turn, words", [(4.0, None), (9.0, "parts intersect at the start: .* pairs of facets")]
)
def test_a_strip_that_is_rolled_through_itself_is_refused(turn, words):
    """No node of it is in another part."""
    strip = dmesh.create_rectangle(
        MPI.COMM_WORLD, [(0.0, 0.0), (20.0, 1.0)], [20, 1], dmesh.CellType.triangle
    )
    body = di.Solid(strip, density=1.0, law=di.LinearElastic(1.0, 0.0), cross_section=1.0)

    def rolled(x):
        angle, r = turn * x[0] / 20.0, 20.0 / turn - 0.3 * x[1]
        return np.array([r * np.sin(angle) - x[0], 20.0 / turn - r * np.cos(angle) - x[1]])

    for allowed in (False, True):
        s = di.CDLagrange(body, 1e-3, contact=di.SurfaceContact(body, allow_penetration=allowed))
        if words is None or allowed:
            s.start(rolled, 0.0)
            continue
        with pytest.raises(ValueError, match=words):
            s.start(rolled, 0.0)


@pytest.mark.parametrize("skin", [0.0, 0.002, {"upper/boundary": 0.001}, {"lower/boundary": 0.012}])
def test_no_pair_of_facets_has_less_room_than_is_looked_at(skin):
    """Whatever skins face each other: from the least limit of all pairs on they are looked at one by one."""
    _, contact = over_a_plate(0.1, skin=skin)
    cover, on = contact.paths._cover, np.flatnonzero(contact.facets.surface >= 0)
    limits = cover._limits(*(each.ravel() for each in np.meshgrid(on, on)))
    assert 0.0 < cover._least <= limits.min() * (1 + 1e-12)


@pytest.mark.parametrize("skin", [None, {"block/boundary": 0.009}])
def test_contact_beside_a_corner_does_not_let_it_through(skin):
    """A bent strip stands with a leg on a block, whose corner is under the other leg: no facets face it."""
    foot = np.array([-0.9, 0.012])
    knee = foot + 0.85 * np.array([1.0, np.tan(np.radians(3.2))])
    end, up = knee + 0.6 * np.array([1.0, -np.tan(np.radians(26.4))]), np.array([0.0, 0.15])
    points = np.array([foot, knee, end, foot + up, knee + up, end + up])
    roof = made("triangle", points, [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
    block = made("triangle", np.array([[-1.0, -1], [0, -1], [0, 0], [-1, 0]]), [[0, 1, 2], [0, 2, 3]])
    body = di.Solid(
        di.mesh.join({"block": block, "roof": roof}), density=1.0, law=di.LinearElastic(1e-9, 0.0)
    )
    names = () if skin is None else ("block/boundary", "roof/boundary")
    options = {"skin": 0.0045} if skin is None else {"skin": skin, "self_contact": True, "swept": True}
    contact = di.SurfaceContact(body, *names, **options)
    s = di.CDLagrange(body, 1.0, contact=contact, allow_unstable=True)
    s.start(0.0, body.rigid_velocity((0.0, -0.0045), cells="roof"))
    facets = contact.facets
    corner, at, to = (
        int(np.argmin(np.linalg.norm(facets.x - place, axis=1))) for place in ([0.0, 0.0], knee, end)
    )
    over = 0
    for _ in range(30):
        s.step()
        x = facets.x + np.asarray(s.u).reshape(-1, 2)[facets.local]
        along = x[to] - x[at]
        if 0.0 < (x[corner] - x[at]) @ along < along @ along:
            over += 1
            assert along[0] * (x[corner] - x[at])[1] - along[1] * (x[corner] - x[at])[0] < 0.0
    assert over > 20 and contact.certificate().added > 0

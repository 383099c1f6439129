"""Surfaces in contact with themselves: roles, patches, skin, ties, and all parts without names."""

import basix.ufl
import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support.pairs import named
from support.surfaces import COMM, LAW, against_each_other, anywhere, box, discs, largest, layers, total

import dolfinx_impact as di

SOFT = di.LinearElastic(1e-9, 0.0)


def solid(mesh, law=LAW, **options):
    return di.Solid(mesh, law=law, density=1.0, **options)


def after(body, contact, steps=40, speed=0.01, ratio=0.3):
    s = di.CDLagrange(body, ratio * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, speed))
    impulse = 0.0
    for _ in range(steps):
        s.step()
        impulse += total(s.r.sum())
    return s, impulse


@pytest.mark.mpi
@pytest.mark.parametrize("kind, degree", [("quadrilateral", 1), ("triangle", 2), ("hexahedron", 1)])
def test_all_parts_with_each_other_are_what_named_boundaries_are(kind, degree):
    body = solid(layers(4, 3, kind=kind), degree=degree)
    named, impulse = after(body, di.SurfaceContact(body, "lower/boundary", "upper/boundary"))
    for names, options in (((), {}), (("boundary",), {}), (named.contact.surfaces, {"self_contact": True})):
        s, found = after(body, di.SurfaceContact(body, *names, swept=False, **options))
        assert found == pytest.approx(impulse, rel=1e-12) and impulse > 0
        assert largest(s.v - named.v) < 1e-14


@pytest.mark.mpi
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_smooth_discs_meet_alike(friction):
    body = solid(discs())
    named, impulse = after(
        body, di.SurfaceContact(body, "lower/boundary", "upper/boundary", friction=friction), 60, 0.15, 0.4
    )
    s, found = after(body, di.SurfaceContact(body, friction=friction, swept=False), 60, 0.15, 0.4)
    assert found == pytest.approx(impulse, rel=1e-12) and impulse > 0.1
    assert largest(s.v - named.v) < 1e-13


# -- a strip that lies on itself

LENGTH, WIDTH, THICK, GAP = 2.0, 0.5, 0.05, 1e-4


def strip(cells=32):
    made = box([cells, 4, 1], [0.0, 0.0, 0.0], [LENGTH, WIDTH, THICK], "hexahedron")
    return solid(made, SOFT)


def folded(body, at, shift=0.0, gap=GAP):
    """Displacements of half a turn of what lies beyond a line, and its shift along the strip."""
    x, u = body.x, np.zeros((body.size // 3, 3))
    over = x[:, 0] > at
    u[over, 0] = 2.0 * (at - x[over, 0]) + shift
    u[over, 2] = 2.0 * (THICK - x[over, 2]) + gap
    return u


@pytest.mark.mpi
@pytest.mark.parametrize("at", [0.8, 1.17])  # along a border of patches, and within one
@pytest.mark.parametrize("cells", [0.0, 0.4, 1.3, 3.0])
def test_a_fold_passes_on_a_constant_pressure(at, cells):
    """Pressure 1 on what is covered gives the nodes their own areas, on both sides."""
    body = strip()
    contact = di.SurfaceContact(body, swept=False, allow_penetration=True)
    h, u = LENGTH / 32, folded(body, at, cells * LENGTH / 32, gap=-1e-6)
    gap = contact.evaluate(u.ravel())
    closed = contact.closed(gap)
    force = np.zeros(body.size)
    contact.L.add_transpose(np.where(closed, contact.assembly.area, 0.0), force)
    force = force[: body.owned].reshape(-1, 3)
    x, now = body.x[: len(force)], (body.x + u)[: len(force)]
    top = np.isclose(x[:, 2], THICK)
    # Where both halves lie on each other, away from the ends and from the crease.
    first = max(2.0 * at - LENGTH + cells * h, 0.0)
    inside = top & (now[:, 0] > first + 2.1 * h) & (now[:, 0] < at - 3.1 * h)
    width = np.where(np.isclose(x[:, 1], 0.0) | np.isclose(x[:, 1], WIDTH), 0.5, 1.0) * WIDTH / 4
    sign = np.where(x[:, 0] > at, 1.0, -1.0)
    assert anywhere(inside)
    assert largest(force[inside, 2] - (sign * h * width)[inside]) < 1e-12 * h * WIDTH
    assert largest(total(force.sum(axis=0))) < 1e-15


class Oblique:
    """A square sheet folded about a line across its patches: roles of the halves change within the contact.

    Attributes:
        body: The sheet; ``top`` is what lies upon itself, away from the crease.
        over: Mask of the nodes of the upper half.
    """

    SIDE, CELLS = 2.0, 24
    h = SIDE / CELLS
    centre, across = np.array([1.0, 1.07]), np.array([0.34, -0.94]) / np.hypot(0.34, 0.94)

    def __init__(self):
        mesh = box([self.CELLS, self.CELLS, 1], [0.0] * 3, [self.SIDE, self.SIDE, THICK], "hexahedron").mesh
        self.body = solid(named(mesh, top=lambda x: np.isclose(x[2], THICK) & self._away(x[:2].T)), SOFT)
        self.contact = di.SurfaceContact(self.body, "top", swept=False, allow_penetration=True)
        self.x = self.body.x[:, :2]
        self.over = self._height(self.x) > 0.0

    def _height(self, x):
        return (x - self.centre) @ self.across

    def _away(self, x, cells=2.5):
        return np.abs(self._height(x)) > cells * self.h

    def folded(self, shift, gap):
        """Displacements: the upper half is turned over and moved along the line of the fold."""
        z, u = self.body.x[:, 2], np.zeros((len(self.x), 3))
        along = np.array([-self.across[1], self.across[0]])
        u[:, :2] = shift * along - 2.0 * self._height(self.x)[:, None] * self.across
        u[:, 2] = 2.0 * (THICK - z) + gap
        return np.where(self.over[:, None], u, 0.0)

    def inside(self, shift):
        """Mask of the nodes around which both halves lie on each other."""
        along = shift * np.array([-self.across[1], self.across[0]])
        y = np.where(self.over[:, None], self.x, self.x - along)
        below = y - 2.0 * self._height(y)[:, None] * self.across + np.where(self.over[:, None], along, 0.0)
        far = self._away(self.x, 5.6) & self._away(below, 5.6) & np.isclose(self.body.x[:, 2], THICK)
        for each in (self.x, below):
            far &= ((each > 2.1 * self.h) & (each < self.SIDE - 2.1 * self.h)).all(axis=1)
        return far

    def slaves(self):
        """How many slave facets of segments belong to the upper and to the lower half."""
        facets = self.contact.assembly.facets
        slave = np.unique(self.contact.assembly.segments.closed()[:, 0])
        over = self._height(facets.x[facets.nodes[slave]].mean(axis=1)[:, :2]) > 0.0
        return np.count_nonzero(over), np.count_nonzero(~over)


@pytest.fixture(scope="module")
def oblique():
    return Oblique()


@pytest.mark.mpi
@pytest.mark.parametrize("cells", [0.0, 0.4, 1.3, 3.0])
def test_an_oblique_fold_passes_on_a_constant_pressure(oblique, cells):
    """Case 11: where roles change within the contact too."""
    body, contact, h = oblique.body, oblique.contact, oblique.h
    closed = contact.closed(contact.evaluate(oblique.folded(cells * h, -1e-6).ravel()))
    force = np.zeros(body.size)
    contact.L.add_transpose(np.where(closed, contact.assembly.area, 0.0), force)
    own = body.owned // 3
    inside = oblique.inside(cells * h)[:own]
    right = np.where(oblique.over, 1.0, -1.0)[:own][inside] * h**2
    assert min(oblique.slaves()) > 20
    assert total(np.count_nonzero(inside)) > 80
    assert largest(force.reshape(-1, 3)[:own][inside, 2] - right) < 1e-12 * h**2


def stopped(oblique, shift):
    """Impulses of the nodes of two halves that come to rest, which approach here faster than there."""
    body, v = oblique.body, np.zeros_like(oblique.body.x)
    way = 0.01 * (1.0 + 0.5 * np.sin(3.0 * body.x[:, 0] + 1.0) + 0.3 * np.cos(7.0 * body.x[:, 1]))
    v[:, 2] = np.where(oblique.over, -way, way)
    s = di.CDLagrange(body, 1e-9 * body.critical_time_step(), contact=oblique.contact)
    s.start(oblique.folded(shift, -1e-9).ravel(), v.ravel())
    return (body.mass * (s.v - v.ravel())).reshape(-1, 3)[:, 2]


@pytest.mark.slow
def test_jumps_of_impulses_where_roles_change(oblique):
    """Case 11: one half slides by three cells; nodes lose and get rows, with jumps by up to 5 %."""
    shifts = np.linspace(0.0, 3.0, 49) * oblique.h
    found = [stopped(oblique, shift) for shift in shifts]
    inside, size = oblique.inside(0.0) & oblique.inside(shifts[-1]), np.abs(found).max()
    change = np.abs(np.diff(found, axis=0))[:, inside].max(axis=1)
    for k in np.argsort(-change)[:4]:
        (a, b), (before, after) = shifts[k : k + 2], found[k : k + 2]
        for _ in range(8):
            middle = 0.5 * (a + b)
            between = stopped(oblique, middle)
            if np.abs(between - before)[inside].max() > np.abs(after - between)[inside].max():
                b, after = middle, between
            else:
                a, before = middle, between
        assert np.abs(after - before)[inside].max() < 0.06 * size


@pytest.mark.mpi
@pytest.mark.parametrize("at, most", [(0.8, 60), (1.17, 120)])
def test_a_fold_stops_in_a_few_products(at, most):
    """Two halves that approach come to rest at once; H is well conditioned where roles change."""
    body = strip()
    contact = di.SurfaceContact(body, swept=False, allow_penetration=True)
    u = folded(body, at, 0.4 * LENGTH / 32, gap=-1e-9)
    s = di.CDLagrange(body, 1e-9 * body.critical_time_step(), contact=contact)
    v = np.zeros_like(u)
    v[:, 2] = np.where(body.x[:, 0] > at, -0.01, 0.01)
    s.start(u.ravel(), v.ravel())
    assert 0 < s.contact_iterations <= most
    now, top = (body.x + u)[: body.owned // 3], np.isclose(body.x[: body.owned // 3, 2], THICK)
    h = LENGTH / 32
    met = top & (now[:, 0] > max(2.0 * at - LENGTH, 0.0) + 3 * h) & (now[:, 0] < at - 3.1 * h)
    assert anywhere(met) and largest(s.v[: body.owned].reshape(-1, 3)[met, 2]) < 1e-4


def test_the_sides_of_a_thin_plate_are_none_of_each_other():
    """One cell thick, also when it is squeezed to half its thickness; from both sides others touch it."""
    plate = box([6, 6, 1], [0.0, 0.0, 0.0], [1.0, 1.0, 0.05], "hexahedron")
    upper = box([3, 3, 2], [0.2, 0.2, 0.0505], [0.8, 0.8, 0.3], "hexahedron")
    lower = box([4, 4, 2], [0.2, 0.2, -0.3], [0.8, 0.8, -0.0005], "hexahedron")
    body = solid(di.mesh.join({"plate": plate, "upper": upper, "lower": lower}))
    contact = di.SurfaceContact(body, swept=False)
    u = np.zeros((body.size // 3, 3))
    assert contact.gap(u.ravel()).min() == pytest.approx(5e-4, rel=1e-9)
    thin = np.isclose(body.x[:, 2], 0.05) | np.isclose(body.x[:, 2], 0.0)
    u[thin, 2] = 0.5 * (0.025 - body.x[thin, 2])
    assert contact.gap(u.ravel()).min() == pytest.approx(0.0125 + 5e-4, rel=1e-6)


@pytest.mark.mpi
@pytest.mark.parametrize("names", [(), ("upper/bottom", "lower/top")])
def test_skin_keeps_surfaces_apart(names):
    """One number or one for each surface; at rest the offset surfaces overlap by the path of a step alone."""
    body = solid(layers(4, 3, kind="hexahedron"))
    for skin, distance in ((2e-4, 4e-4), ({"upper/bottom": 3e-4}, 3e-4)):
        contact = di.SurfaceContact(body, *names, swept=False, skin=skin)
        assert contact.comm.allreduce(
            contact.gap(np.zeros(body.size)).min(initial=1.0), min
        ) == pytest.approx(1e-3 - distance, rel=1e-9)
        s, least = after(body, contact, 0, ratio=0.05)[0], np.inf
        n = body.owned // 3
        low, high = (np.isclose(body.x[:n, 2], at) for at in (0.0, 1e-3))
        for _ in range(20):
            s.step()
            z = body.x[:n, 2] + s.u[: body.owned].reshape(-1, 3)[:, 2]
            top = COMM.allreduce(z[low].max(initial=-1.0), max)
            least = min(least, COMM.allreduce(z[high].min(initial=1.0), min) - top)
        path = 0.02 * s.dt
        assert 0.0 < distance - path <= least < distance


@pytest.mark.mpi
def test_what_a_tie_glues_is_in_no_contact():
    low = box([4, 4, 1], [0.0, 0.0, 0.0], [1.0, 1.0, 0.2], "hexahedron")
    middle = box([3, 3, 1], [0.0, 0.0, 0.2], [1.0, 1.0, 0.4], "hexahedron")
    upper = box([2, 2, 1], [0.1, 0.1, 0.4005], [0.9, 0.9, 0.6], "hexahedron")
    body = solid(di.mesh.join({"low": low, "middle": middle, "upper": upper}))
    tie = di.SurfaceContact(body, "low/top", "middle/bottom", tie=True)
    fast = body.rigid_velocity(np.array([0.0, 0.0, -0.02]), cells="upper")
    ends = []
    for contact in (
        di.SurfaceContact(body, swept=False),
        di.SurfaceContact(body, "middle/top", "upper/bottom"),
    ):
        s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=[tie, contact])
        s.start(0.0, fast)
        touched = False
        for _ in range(30):
            s.step()
            touched |= anywhere(s.r[s.contact.parts[1]] > 0)
        assert touched
        ends.append(s.v.copy())
    assert largest(ends[0] - ends[1]) < 1e-13


def test_what_is_refused():
    body = solid(layers(3, 2))
    for names, options, words in (
        ((), {"tie": True}, "a tie takes two surfaces"),
        (("upper/bottom", "lower/top"), {"tie": True, "self_contact": True}, "leave self_contact out"),
        (("upper/bottom", "lower/top"), {"tie": True, "skin": 1e-3}, "leave the other options out"),
        ((), {"skin": -1.0}, "skin must be an offset of at least 0"),
        ((), {"skin": 0.03}, "more than a quarter of the smallest height of a cell"),
        ((), {"skin": {"nothing": 1e-3}}, "named 'nothing'"),
        (("upper/bottom",), {"skin": {"lower/top": 1e-3}}, "no surfaces of this contact"),
        ((), {"self_contact": 1}, "self_contact must be True or False"),
    ):
        with pytest.raises(ValueError, match=words):
            di.SurfaceContact(body, *names, **options)
    held = solid(layers(3, 2), fixed=["upper/boundary", "lower/boundary"])
    with pytest.raises(ValueError, match="nothing to move"):
        di.SurfaceContact(held)
    with pytest.raises(ValueError, match="nodes of the parts at the start, the deepest at"):
        di.SurfaceContact(solid(layers(4, 3, gap=-0.01)))


def test_parts_of_one_name_touch_each_other():
    """One name for facets of several parts: those without the name touch nothing."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], [4, 1], dmesh.CellType.quadrilateral)
    body = solid(di.mesh.join({"a": mesh, "b": box([3, 1], [0.0, 0.201], [1.0, 0.4])}))
    assert di.SurfaceContact(body, "boundary").total > di.SurfaceContact(body, "b/boundary").total > 0


@pytest.mark.mpi
def test_what_lies_behind_a_part_or_lower_beside_it_does_not_lift_a_gap():
    """A block above a thin plate above a floor, and one that stands on the higher of two steps."""
    floor = box([2, 2, 1], [0.0, 0.0, -0.4], [1.0, 1.0, 0.0], "hexahedron")
    plate = box([5, 5, 1], [0.0, 0.0, 0.001], [1.0, 1.0, 0.021], "hexahedron")
    block = box([3, 3, 1], [0.1, 0.1, 0.022], [0.9, 0.9, 0.4], "hexahedron")
    body = solid(di.mesh.join({"floor": floor, "plate": plate, "block": block}))
    contact = di.SurfaceContact(body, swept=False)
    gap = contact.gap(np.zeros(body.size))
    near = gap[np.isfinite(gap) & (gap < 0.3)]
    assert anywhere(near.size > 0) and largest(near - 1e-3) < 1e-12
    high = box([2, 2, 1], [0.0, 0.0, -0.2], [0.5, 1.0, 0.0], "hexahedron")
    low = box([3, 2, 1], [0.5, 0.0, -0.2], [1.0, 1.0, -0.05], "hexahedron")
    top = box([3, 2, 1], [0.05, 0.0, 0.001], [0.95, 1.0, 0.3], "hexahedron")
    body = solid(di.mesh.join({"high": high, "low": low, "top": top}))
    contact = di.SurfaceContact(body, swept=False, allow_penetration=True)
    u = np.zeros((body.size // 3, 3))
    u[body.x[:, 2] > 5e-4, 2] = -0.002
    gap = contact.gap(u.ravel())
    touching = (contact.places(u.ravel())[:, 2] < 0.0) & (contact.places(u.ravel())[:, 2] > -0.01)
    assert anywhere(contact.closed(gap) & touching)
    assert COMM.allreduce(gap[np.isfinite(gap)].min(initial=1.0), min) == pytest.approx(-1e-3, rel=1e-9)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("aside", [0.0, 0.03])
def test_blocks_that_lie_on_each_other_need_no_rows_of_features(aside):
    """Weighted contact alone: neither rims nor edges in the plane, which lie a little inside, get rows."""
    lower = box([4, 4, 4], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], "hexahedron")
    upper = box([4, 4, 4], [0.05, aside, 1.001], [1.05, 1.0 + aside, 2.001], "hexahedron")
    body = solid(di.mesh.join({"lower": lower, "upper": upper}), di.LinearElastic(1.0, 0.3))
    ends = []
    for swept in (True, False):
        contact = di.SurfaceContact(body, swept=swept)
        s, impulse = after(body, contact, 25)
        assert impulse > 0
        ends.append(s.v.copy())
    assert largest(ends[0] - ends[1]) == 0.0


def triangles(x, cells):
    element = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,))
    return dmesh.create_mesh(COMM, cells=np.asarray(cells, np.int64), x=np.asarray(x, dtype=float), e=element)


def test_a_wedge_that_slides_on_a_floor_does_not_enter_a_wall():
    """The floor covers the tip of the wedge; at a concave edge this is no cover from the wall."""
    points, cells, skin = {}, [], 0.05

    def number(*at):
        return points.setdefault(at, len(points))

    for i, j in [(k, -1) for k in range(5)] + [(4, 0), (4, 1)]:
        first, last = number(i, j), number(i + 1, j + 1)
        cells += [[first, number(i + 1, j), last], [first, last, number(i, j + 1)]]
    low = 1e-6 + 2.0 * skin
    wedge = triangles([[1.5, low], [3.7, low], [1.5, low + 0.8]], [[0, 1, 2]])
    channel = triangles(list(points), cells)
    body = di.Solid(
        di.mesh.join({"wedge": wedge, "channel": channel}), density=1e3, law=di.NeoHookean(1e6, 0.3)
    )
    contact = di.SurfaceContact(body, skin=skin)
    s = di.CDLagrange(body, 0.6 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((3.0, -0.02), cells="wedge"))
    tip = np.argmin(np.abs(body.x[:, 0] - 3.7) + np.abs(body.x[:, 1] - low))
    upper, lower = (np.flatnonzero(np.isclose(body.x[:, :2], [4.0, y]).all(axis=1))[0] for y in (1.0, 0.0))
    deepest = -1.0
    for _ in range(int(0.6 / s.dt)):
        s.step()
        x = body.x[:, :2] + s.u.reshape(-1, 2)
        along = x[upper] - x[lower]
        normal = np.array([along[1], -along[0]]) / np.linalg.norm(along)
        deepest = max(deepest, float(normal @ (x[tip] - x[lower])))
    told = contact.certificate()
    assert -0.2 < deepest < 0.0 and told.inside == 0 and told.added > 0
    assert "surfaces did not touch" in str(told)

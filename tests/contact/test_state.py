"""A contact as values: states, impulses, and what questions in between disturb."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import parts
from support.surfaces import LAW, against_each_other, anywhere, layers, until_contact

import dolfinx_impact as di
from dolfinx_impact.contact import Impulses
from dolfinx_impact.contact.contact_set import ContactSet
from dolfinx_impact.integrators import CentralDifferences, VelocityLevel

COMM = MPI.COMM_WORLD


def against_each_other_in_the_plane():
    """Two blocks with different meshes that are apart, the lower one a little above a ball."""

    def block(low, high, cells):
        m = dmesh.create_rectangle(COMM, [low, high], cells, dmesh.CellType.quadrilateral)
        ends = {"bottom": lambda x: np.isclose(x[1], low[1]), "top": lambda x: np.isclose(x[1], high[1])}
        return di.named(m, **ends)

    lower, upper = block((0.0, 0.01), (1.0, 0.5), (4, 2)), block((0.1, 0.52), (0.9, 1.0), (3, 2))
    law = di.NeoHookean(1e6, 0.3)
    return di.Solid(
        di.mesh.join({"a": lower, "b": upper}), density=1000.0, law=law, bulk_viscosity=(0.06, 1.2)
    )


def over_a_disc(friction=0.2, **law):
    mass = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    return mass, di.ObstacleContact(mass, [[0, 1]], di.Sphere((0.0, -1.0), 1.0), friction=friction, **law)


def test_a_state_is_of_its_call():
    mass, contact = over_a_disc()
    above, right = np.array([0.0, -1e-3]), np.array([0.999, -1.0])
    state = contact.at(above, None, 0.0)
    assert state.closed.all() and state.L(np.array([3.0, 2.0])) == pytest.approx([2.0])
    assert state.bases[0] @ [3.0, 2.0] == pytest.approx([2.0, -3.0])
    other = contact.at(right, None, 0.0, every=True)
    assert other.gap == pytest.approx([-1e-3]) and other.L(np.array([3.0, 2.0])) == pytest.approx([3.0])
    for read in (
        lambda: state.L,
        lambda: state.bases,
        lambda: state.surface_velocity(0.0),
        lambda: state.approach_velocity(above, 0.0),
        lambda: state.tangential_velocity(above, 0.0),
        lambda: state.surface_acceleration(0.0, 1e-3),
    ):
        with pytest.raises(RuntimeError, match="this state of a ObstacleContact is an old one.*copy what is"):
            read()
    assert state.closed.all()  # the mask is its own


@pytest.mark.parametrize(
    "scheme, kind",
    [
        (di.CDLagrange, "list"),
        (di.CDLagrange, "box"),
        (di.MoreauJean, "disc"),
        (di.MoreauJean, "box"),
        (di.NohBathe, "disc"),
        (di.NohBathe, "list"),
        (di.GeneralizedAlpha, "list"),
    ],
)
def test_questions_within_a_step_disturb_nothing(scheme, kind):
    """Whoever asks for gaps within a step, at any displacements: the run stays what it was."""

    class Curious(di.PointMasses):
        asked = None

        def force(self, t, u, v, out):
            super().force(t, u, v, out)
            if self.asked is not None:
                for x in (u, u + 0.3, 0 * u - 5.0):
                    self.asked.gap(x, t)
                self.asked.areas(), self.asked.places(u)

    def run(curious):
        mass = Curious([1.0, 1.0], load=[0.0, -9.81])
        disc = di.Sphere((0.0, -1.0), 1.0)
        shape = {"disc": disc, "list": disc, "box": di.Box.between((-0.3, -1.0), (0.3, 0.0))}[kind]
        contact = di.ObstacleContact(mass, [[0, 1]], shape, friction=0.2, restitution=0.3)
        floor = di.ObstacleContact(mass, [[0, 1]], di.Plane((0.0, -0.05), (0.0, 1.0)), friction=0.1)
        s = scheme(mass, 4e-3, contact=[contact, floor] if kind == "list" else contact)
        mass.asked = s.contact if curious else None
        s.start([-0.1, 0.01], [1.0, -0.5])
        return di.simulate(s, t_end=0.2, progress=False)

    plain, asked = run(False), run(True)
    for name in plain:
        np.testing.assert_array_equal(plain[name], asked[name], err_msg=name)
    assert plain["r"].any()


def test_impulses_act_and_work_with_the_rows_of_their_state():
    mass, contact = over_a_disc()
    s = di.CDLagrange(mass, 1e-3, contact)
    s.start([0.0, 0.0], [1.0, -1.0])
    for _ in range(5):
        before = s.v.copy()
        s.step()
        impulses, out = s.impulses, np.zeros(2)
        impulses.add_to(out)
        assert mass.mass * (s.v - before) - 1e-3 * np.array([0.0, -9.81]) == pytest.approx(out, abs=1e-15)
        assert impulses.work(s.v) == pytest.approx(float(out @ s.v), abs=1e-15)
        assert s.contact_work(s.v) == impulses.work(s.v)
    kept = s.impulses
    s.step()
    with pytest.raises(RuntimeError, match="is an old one"):
        kept.add_to(out)


def against(*shapes):
    mass = di.PointMasses([1.0, 1.0])
    return [di.ObstacleContact(mass, [[0, 1]], shape, restitution=0.1 * i) for i, shape in enumerate(shapes)]


def test_a_state_of_several_contacts_is_that_of_each():
    """Also where one has moved on alone; questions that need a state are refused without one."""
    table = di.MovingObstacle(di.Plane((0.0, 0.0), (0.0, 1.0)), translation=((0.0, 1.0), lambda t: 2.0 * t))
    members = against(di.Sphere((-1.0, 0.0), 1.0), table)
    contact = ContactSet(members)
    u, v = np.array([1.0, 0.5]), np.array([3.0, 4.0])
    state = contact.at(u, v, 0.5, every=True)
    n = np.array([2.0, 0.5]) / np.hypot(2.0, 0.5)
    assert state.gap == pytest.approx([np.hypot(2.0, 0.5) - 1.0, -0.5]) and list(state.closed) == [
        False,
        True,
    ]
    assert state.bases[:, 0] == pytest.approx(np.array([n, [0.0, 1.0]]))
    assert state.surface_velocity(0.5) == pytest.approx(np.array([[0.0, 0.0], [0.0, 2.0]]))
    assert state.approach_velocity(v, 0.5) == pytest.approx([n @ v, 2.0])
    assert state.restitutions == pytest.approx([0.0, 0.1])
    assert contact.evaluate(u, 0.5) == pytest.approx(state.gap)
    with pytest.raises(RuntimeError, match="this state of a ContactSet is an old one"):
        state.bases  # noqa: B018
    state = contact.at(u, v, 0.5)
    members[0].at(u, v, 0.5)
    with pytest.raises(RuntimeError, match="this state of a ObstacleContact is an old one"):
        state.surface_velocity(0.5)
    for ask in (contact.local_bases, lambda: contact.surface_velocity(0.0)):
        with pytest.raises(TypeError, match="in a state alone"):
            ask()


@pytest.mark.parametrize("listed", [False, True])
def test_what_was_closed_before_is_known_to_each_contact(listed):
    class Sticky(di.DofBound):
        seen = 0

        def _active_set(self, u, v, t):
            self.seen += int(self.closed_before.sum())
            return super()._active_set(u, v, t)

    mass = di.PointMasses([1.0, 1.0], load=[-9.81, -9.81])
    sticky, other = Sticky(mass, 0, lower=0.0), di.DofBound(mass, 1, lower=0.0)
    s = di.CDLagrange(mass, 1e-3, [sticky, other] if listed else sticky)
    s.start([0.0, 0.0], 0.0)
    for _ in range(10):
        s.step()
    assert sticky.seen >= 9


def test_schemes_may_share_a_flat_contact_but_no_curved_one():
    def two(shape):
        mass = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
        contact = di.ObstacleContact(mass, [[0, 1]], shape)
        schemes = [di.CDLagrange(mass, 1e-3, contact) for _ in range(2)]
        for s in schemes:
            s.start([0.0, 0.0], [0.0, -1.0])
        return schemes

    first, second = two(di.Plane((0.0, 0.0), (0.0, 1.0)))
    first.step(), second.step()
    assert first.impulses.work(np.array([0.0, 1.0])) == first.r[0] > 0
    first, second = two(di.Sphere((0.0, -1.0), 1.0))
    first.step(), second.step()
    with pytest.raises(RuntimeError, match="let each scheme have a contact of its own"):
        first.impulses.work(np.array([0.0, 1.0]))


def test_impulses_without_friction_leave_none_of_the_step_before():
    class Once(VelocityLevel):
        """Friction in the first step alone."""

        def impulses(self, s, response, *, first=False):
            found = super().impulses(s, response, first=first)
            return found if s.n <= 1 else Impulses(found.state, found.r)

    mass = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    floor = di.ObstacleContact(mass, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.2)
    s = CentralDifferences(mass, 1e-3, Once(floor))
    s.start([0.0, 0.0], [1.0, 0.0])
    s.step()
    assert s.r_t[0, 0] == pytest.approx(-0.2 * s.r[0]) and s.r[0] > 0
    s.step()
    assert not s.r_t.any() and s.r[0] > 0


# -- contacts of one's own


@pytest.mark.parametrize("name", ["evaluate", "active_set", "tangential_velocity", "keep", "covered"])
def test_methods_that_nothing_would_ask_are_refused(name):
    own = type("Own", (di.DofBound,), {name: lambda self, *values: None})
    with pytest.raises(TypeError, match=rf"Own defines {name}\(\), which no scheme asks: .* gap\(u, t\)"):
        own(di.PointMasses(1.0), 0, lower=0.0)


@pytest.mark.parametrize("listed", [False, True])
def test_areas_and_pressures_of_ones_own(listed):
    class Known(di.DofBound):
        def areas(self):
            return np.full(self.count, 2.0)

        def pressure(self, r, dt):
            return r / 2.0 / dt

    mass = di.PointMasses([1.0, 1.0])
    known = Known(mass, 0, lower=0.0)
    s = di.CDLagrange(mass, 1e-3, [known, di.DofBound(mass, 1, lower=0.0)] if listed else known)
    r = np.array([3.0, 5.0])[: s.r.size]
    expected = np.array([2.0, np.nan])[: s.r.size], np.array([1.5e3, np.nan])[: s.r.size]
    np.testing.assert_allclose(s.contact.areas(), expected[0])
    for found in (s.contact.pressure(r, 1e-3), s.contact.nodes.normal_pressure(r, 1e-3)):
        np.testing.assert_allclose(found, expected[1])


@pytest.mark.parametrize("listed", [False, True])
def test_a_tie_of_ones_own_holds(listed):
    class Hook(di.DofBound):
        @property
        def bilateral(self):
            return np.ones(self.count, dtype=bool)

    mass = di.PointMasses([1.0, 1.0], load=[9.81, 9.81])
    hook, free = Hook(mass, 0, lower=0.0), di.DofBound(mass, 1, lower=0.0)
    s = di.GeneralizedAlpha(mass, 1e-3, [hook, free] if listed else hook)
    s.start([0.0, 0.0], 0.0)
    for _ in range(10):
        s.step()
    assert abs(s.v[0]) <= 1e-15 and s.r[0] == pytest.approx(-9.81e-3) and s.v[1] > 0.09


def test_gaps_of_all_points_are_asked_for():
    _, contact = over_a_disc()
    with pytest.raises(RuntimeError, match=r"closed points alone: at\(..., every=True\)"):
        contact.at(np.zeros(2)).gap  # noqa: B018


@pytest.mark.mpi
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("first", [0, 5])
def test_an_error_of_one_rank_ends_the_run_on_all(first, listed):
    """In the first gap or in a later one, of a contact alone or in a list."""

    class Failing(di.RigidContact):
        def gap(self, u, t=0.0):
            if t >= (first - 0.5) * step and self.comm.rank == self.comm.size - 1:
                raise ArithmeticError("no gap here")
            return super().gap(u, t)

    bar = parts.solid(parts.bar())
    step = 0.5 * bar.critical_time_step()
    ends = [
        kind(bar, facets, di.Plane((x,), (n,)), allow_penetration=True)
        for kind, facets, x, n in ((Failing, "tip", 0.0, 1.0), (di.RigidContact, "end", 1.0, -1.0))
    ]
    s = di.CDLagrange(bar, step, ends if listed else ends[0])
    with pytest.raises(ArithmeticError, match="no gap here"):
        s.start(0.0, 0.0)
        for _ in range(10):
            s.step()
            s.gap()
    assert s.n == first


@pytest.mark.parametrize("scheme, listed", [(di.CDLagrange, True), (di.NohBathe, False)])
def test_a_look_ahead_at_the_first_impact_disturbs_nothing(scheme, listed):
    """With quadratic bulk viscosity a run looks where surfaces will meet; steps by hand do not."""

    def started():
        body = against_each_other_in_the_plane()
        contact = di.SurfaceContact(body, "a/top", "b/bottom", friction=0.2, drift_correction=True)
        ball = di.Sphere((0.5, -5.0), 5.0)
        wall = di.RigidContact(body, "a/bottom", ball, friction=0.2, drift_correction=True)
        s = scheme(body, 0.3 * scheme.critical_step(body), contact=[contact, wall] if listed else contact)
        s.start(0.0, body.rigid_velocity((0.0, -2.0)) + body.rigid_velocity((0.0, -3.0), cells="b"))
        return s

    run, by_hand = started(), started()
    for end in (22, 32):
        di.simulate(run, t_end=end * run.dt, progress=False)
    for _ in range(32):
        by_hand.step()
    assert by_hand.r.size and np.array_equal(run.u, by_hand.u) and np.array_equal(run.v, by_hand.v)


@pytest.mark.mpi
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_where_nothing_is_closed_a_step_is_that_without_contact(friction):
    body = di.Solid(layers(3, 2, gap=0.05), law=LAW, density=1.0)
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top", friction=friction)
    s, free = (di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=c) for c in (contact, None))
    for each in (s, free):
        each.start(0.0, against_each_other(body, 0.1, 0.05))
        each.step()
    assert not s.impulses.acting and not s.contact_state.closed_anywhere
    assert np.array_equal(s.v, free.v) and not s.r.any() and s.contact_work(s.v) == 0.0
    until_contact(s)
    # On all ranks, also on those without a closed point.
    assert s.impulses.acting and s.contact_state.closed_anywhere and s.contact_iterations > 0
    for _ in range(400):
        s.step()
        if not s.contact_state.closed_anywhere:
            break
    assert not s.impulses.acting and s.contact_iterations == 0 and not anywhere(s.r != 0.0)

"""Contact at position and velocity level: no penetration, Newton's law, energy, known answers."""

import functools
import math

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.integrators.impulses.both_levels import BothLevels
from dolfinx_impact.integrators.one_step.position_step import ActiveSet, Arguments, PositionStep

ALONE, G = MPI.COMM_SELF, 9.81
GAPS, COURANTS = np.linspace(0.013, 0.487, 24), {1: 40, 5: 20, 20: 12, 100: 6}
THETA = pytest.mark.parametrize("theta", [0.5, 1.0])


# -- a bar that flies against a wall, E = rho = A = length = v0 = 1


@functools.cache
def bar():
    made = dmesh.create_interval(ALONE, 50, [0.0, 1.0])
    return di.Solid(
        di.named(made, tip=lambda x: np.isclose(x[0], 1.0)), density=1.0, law=di.LinearElastic(1.0)
    )


def flying(gap, courant, kind=di.MoreauJean, **options):
    """The bar, started; options of the scheme, those of the contact by their names."""
    contact = {name: options.pop(name) for name in ("restitution", "gap_tolerance") if name in options}
    contact = di.RigidContact(bar(), "tip", di.Plane([1.0 + gap], [-1.0]), **contact)
    s = kind(bar(), courant * bar().critical_time_step(), contact=contact, **options)
    s.start(0.0, 1.0)
    return s


def energy(s):
    """Own sums: lumped masses, and springs between neighbours."""
    u = s.u[np.argsort(bar().x[:, 0])]
    return 0.5 * bar().mass @ s.v**2 + 0.5 * np.sum(np.diff(u) ** 2) * 50


def rises(s, steps):
    """Largest rise of the energy in a step; momentum and gap are looked at on the way."""
    before, most, deepest, balance = energy(s), 0.0, 0.0, s.balance()
    balance.start()
    first = balance.kinetic
    for _ in range(steps):
        momentum = bar().mass @ s.v
        s.step()
        balance.step()
        assert bar().mass @ s.v - momentum == pytest.approx(-s.r.sum(), abs=1e-13)
        after = energy(s)
        most, before, deepest = max(most, after - before), after, min(deepest, s.gap().min())
    ends = balance.kinetic + balance.internal_work + balance.dissipated
    assert ends - balance.external - balance.contact - first == pytest.approx(0.0, abs=1e-11)
    return most, deepest


@THETA
@pytest.mark.parametrize("tolerance", [None, 0.0])
@pytest.mark.parametrize(
    "every", [12, pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)]
)
def test_energy_never_rises_and_no_point_is_inside(theta, tolerance, every):
    for courant, steps in COURANTS.items():
        for gap in GAPS[::every]:
            s = flying(gap, courant, theta=theta, position=True, gap_tolerance=tolerance)
            most, deepest = rises(s, steps)
            assert most < 1e-12 and deepest > -1e-14, (courant, gap)


@pytest.mark.parametrize("e", [0.5, 0.9])
def test_with_restitution_energy_never_rises_and_newtons_law_holds(e):
    for courant in (1, 20):
        for gap in GAPS[::12]:
            s = flying(gap, courant, position=True, restitution=e)
            for _ in range(COURANTS[courant]):
                start, tip = energy(s), s.contact.L(s.v)[0]
                s.step()
                assert energy(s) < start + 1e-12
                if s.r > 0:
                    assert s.contact.L(s.v)[0] == pytest.approx(-e * tip, abs=1e-13)


def of_the_forecast(self, s, response, **options):
    state = s.contact.at(s.u_before + 0.5 * s.h * s.v_before, s.v_before, s.t)
    b = s.contact.at(s.u, s.v, s.t, every=True).approach_velocity(s.v, s.t)
    return response.solve(s.contact.now(s.t), b, s.v, s.t, closed=state.closed, last=s.impulses)


def by_the_gap_alone(self, s, response, *, original=BothLevels.impulses, **options):
    s.pressed = np.zeros_like(s.pressed)
    return original(self, s, response, **options)


@pytest.mark.parametrize(
    "wrong, tolerance", [(of_the_forecast, None), (by_the_gap_alone, 0.0)], ids=["forecast", "gap alone"]
)
def test_other_closed_points_create_energy(wrong, tolerance, monkeypatch):
    monkeypatch.setattr(BothLevels, "impulses", wrong)
    most = 0.0
    for gap in GAPS[::4]:
        s = flying(gap, 20, position=True, gap_tolerance=tolerance)
        before = energy(s)
        for _ in range(12):
            s.step()
            most, before = max(most, energy(s) - before), energy(s)
    assert most > 0.1


def test_without_the_position_problem_points_are_inside(monkeypatch):
    none = np.zeros(1, dtype=bool)
    monkeypatch.setattr(Arguments, "active_set", lambda self: ActiveSet(none, none))
    monkeypatch.setattr(Arguments, "misfits", lambda self: np.zeros(0))
    s, deepest = flying(0.1, 20, position=True), 0.0
    for _ in range(8):
        s.step()
        deepest = min(deepest, s.gap()[0])
    assert deepest < -0.1


def test_without_the_velocity_problem_the_impulses_ring(monkeypatch):
    """P = R: at rest under a weight the law for v' fails, which the ball below rests by."""

    def left_out(self):
        s = self._scheme
        s.w[:] = s.v
        s.move()
        s.set_impulses(self.position_impulses())

    monkeypatch.setattr(PositionStep, "update", left_out)
    most, s = 0.0, flying(0.1, 20, position=True)
    for _ in range(12):
        s.step()
        speed = s.contact.L(s.v)[0]
        most = max(most, abs(speed) if s.r[0] > 0 else 0.0)
    assert most > 0.1


def test_equals_acary_bonnefon_where_its_forecast_closes():
    """Same displacements, velocities and impulses up to the first touch that the forecast did not see."""
    touches = 0
    for courant in COURANTS:
        for gap in GAPS[::12]:
            ours, theirs = (
                flying(gap, courant, position=True),
                flying(gap, courant, di.AcaryBonnefon, mass="lumped"),
            )
            for _ in range(COURANTS[courant]):
                forecast = ours.gap() - 0.5 * ours.dt * -ours.contact.L(ours.v)
                ours.step()
                theirs.step()
                if (forecast > ours.contact.gap_tolerance) != (~ours.pressed & (ours.r == 0)):
                    break
                touches += int(ours.r[0] > 0)
                for name, factor in (("u", 1), ("r", 1), ("v", max(1, courant / 20))):  # kicks h F(u)
                    a, b = getattr(ours, name), getattr(theirs, name)
                    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * factor)
    assert touches > 20


# -- a ball that is dropped


@pytest.mark.parametrize("h", [0.01, 0.05, 0.4])
@pytest.mark.parametrize("e", [0.0, 0.6])
@THETA
def test_a_dropped_ball_is_that_of_two_lines(h, e, theta):
    """``u' = max(0, free)``, then ``v' = max(free, -e v)``; at rest the impulse is m g h."""
    system = di.PointMasses(2.0, load=[-2.0 * G])
    contact = di.DofBound(system, 0, lower=0.0, restitution=e)
    s = di.MoreauJean(system, h, theta=theta, contact=contact, position=True)
    s.start(0.3, 0.0)
    u, v, rest = 0.3, 0.0, 0
    for _ in range(max(12, round(0.4 / h))):
        free = v - G * h
        u, pressed = u + h * ((1 - theta) * v + theta * free), False
        if u < 0:
            u, pressed = 0.0, True
        closed = pressed or u <= contact.gap_tolerance
        v, before = max(free, -e * v) if closed else free, v
        s.step()
        assert s.u[0] == pytest.approx(u, abs=1e-14) and s.v[0] == pytest.approx(v, abs=1e-13)
        assert s.r[0] == pytest.approx(2.0 * (v - free), abs=1e-13) and s.gap()[0] >= -1e-15
        rest = rest + 1 if e == 0 and v == before == 0.0 else 0
        if rest >= 2:
            assert s.r[0] == pytest.approx(2.0 * G * h, rel=1e-12)
    assert rest > 2 or e > 0


# -- bodies with known answers


def strip(length, *, push):
    """Half a strip between rigid walls that close by 1e-4 m, then pushed; force at the end, balance."""
    made = dmesh.create_rectangle(
        ALONE, [[0, 0], [0.01, length]], [4, round(400 * length)], dmesh.CellType.quadrilateral
    )
    named = di.named(
        made,
        side=lambda x: np.isclose(x[0], 0.01) & (x[1] > 1e-4),
        axis=lambda x: np.isclose(x[0], 0.0),
        end=lambda x: np.isclose(x[1], 0.0),
    )
    body = di.Solid(
        named,
        density=7850.0,
        law=di.LinearElastic(2.1e9, 0.3),
        fixed={"axis": (0,)},
        prescribed={"end": {1: lambda t: push * max(0.0, t - 1.0)}},
    )
    wall = di.MovingObstacle(
        di.Plane((0.01, 0.0), (-1.0, 0.0)), translation=lambda t: np.array([-1e-4 * min(t, 1.0), 0.0])
    )
    contact = di.RigidContact(body, "side", wall, friction=0.1)
    s = di.MoreauJean(body, 0.25, theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    balance = s.balance()
    balance.start()
    for _ in range(12):
        s.step()
        balance.step()
    return s, balance


def test_a_strip_pushed_between_walls():
    """Pressure ``p0 e^(a s)``: the force grows by it with the length; the balance closes with all terms."""
    E, nu, mu, w, i = 2.1e9, 0.3, 0.1, 0.01, 1e-4
    p0, a = E * i / ((1 - nu**2) * w), mu * nu / ((1 - nu) * w)
    forces, lengths = [], (0.05, 0.08)
    for length in lengths:
        s, b = strip(length, push=4e-4)
        forces.append(s.reactions().sum())
        scale = abs(b.external) + abs(b.contact)
        assert abs(b.kinetic + b.internal_work + b.dissipated - b.external - b.contact) < 1e-10 * scale
        assert np.abs(s.gap()).max() < 1e-15 and np.all(s.r > 0) and s.halved.halved == 0
    exact = p0 * w * (1 - nu) / nu * np.diff(np.exp(a * np.array(lengths)))[0]
    assert forces[1] - forces[0] == pytest.approx(exact, rel=2e-3)


def block(mu, courant, *, slope=0.5, theta=1.0, cells=3):
    """An elastic block on an incline of which gravity is turned."""
    made = dmesh.create_rectangle(ALONE, [[0, 0], [0.1, 0.1]], [cells, cells], dmesh.CellType.quadrilateral)
    named, angle = di.named(made, foot=lambda x: np.isclose(x[1], 0.0)), math.atan(slope)
    gravity = (G * math.sin(angle), -G * math.cos(angle))
    body = di.Solid(named, density=1000.0, law=di.LinearElastic(1e7, 0.3), gravity=gravity)
    contact = di.RigidContact(body, "foot", di.Plane((0, 0), (0, 1)), friction=mu)
    s = di.MoreauJean(body, courant * body.critical_time_step(), theta=theta, contact=contact, position=True)
    s.start(0.0, 0.0)
    return s


@pytest.mark.parametrize(
    "courant, settled", [pytest.param(1, 300, marks=pytest.mark.slow), (20, 10), (100, 10), (1000, 10)]
)
def test_a_block_slides_down_an_incline(courant, settled):
    s = block(0.3, courant)
    mass, angle = s.system.mass[::2], math.atan(0.5)
    for _ in range(settled):
        s.step()
    before = mass @ s.v[::2] / mass.sum()
    for _ in range(10):
        s.step()
    found = (mass @ s.v[::2] / mass.sum() - before) / (10 * s.dt)
    assert found == pytest.approx(G * (math.sin(angle) - 0.3 * math.cos(angle)), rel=1e-4)


@pytest.mark.parametrize("courant", [20, 100])
def test_a_block_stuck_on_an_incline_does_not_creep(courant):
    s, creep = block(0.7, courant), []
    for _ in range(60):
        before = s.u.copy()
        s.step()
        creep.append(np.abs(s.u - before)[s.contact.L.dofs].max())
    assert max(creep[-10:]) < 1e-15
    weight = s.system.mass[::2].sum() * G * math.cos(math.atan(0.5))
    assert s.r.sum() == pytest.approx(weight * s.dt, rel=1e-5)


def test_the_direction_of_slip_is_found_in_space():
    """A mass that slides askew: friction against its way, though the set of points never changes."""
    system = di.PointMasses([1.0] * 3, load=[0.0, 0.0, -G])
    contact = di.ObstacleContact(system, [[0, 1, 2]], di.Plane((0, 0, 0), (0, 0, 1)), friction=0.2)
    s = di.MoreauJean(system, 0.05, theta=1.0, contact=contact, position=True)
    s.start(0.0, [3.0, -4.0, 0.0])
    for n in range(1, 4):
        s.step()
        speed = 5.0 - 0.2 * G * 0.05 * n
        np.testing.assert_allclose(s.v, [0.6 * speed, -0.8 * speed, 0.0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(s.w, s.v, rtol=0, atol=1e-12)


# -- obstacles that move


def test_a_turning_drum_carries_what_sticks():
    """The slip is the way of the mass less that of the drum's material, also over large angles."""
    drum = di.MovingObstacle(
        di.Sphere((0.0, 0.0), 1.0, inside=True), rotation=lambda t: 2.0 * t, center=(0.0, 0.0)
    )
    system = di.PointMasses([1.0, 1.0])
    contact = di.ObstacleContact(system, [[0, 1]], drum, friction=1.0)
    s = di.MoreauJean(system, 0.1, theta=1.0, contact=contact, position=True)
    s.start([0.0, -1.0], [2.0, 0.0])
    for n in range(1, 8):
        s.step()
        at = 2.0 * s.t - math.pi / 2
        np.testing.assert_allclose(s.u, [math.cos(at), math.sin(at)], rtol=0, atol=1e-12)
        assert s.t == pytest.approx(0.1 * n)
        np.testing.assert_allclose(s.v, 2.0 * np.array([-s.u[1], s.u[0]]), rtol=0, atol=1e-9)


def test_a_belt_drags_until_its_speed_is_reached():
    speed = np.array([1.5, 0.0])
    belt = di.MovingObstacle(
        di.Plane((0, 0), (0, 1)), translation=lambda t: t * speed, translation_rate=lambda t: speed
    )
    system = di.PointMasses([1.0, 1.0], load=[0.0, -G])
    contact = di.ObstacleContact(system, [[0, 1]], belt, friction=0.25)
    s = di.MoreauJean(system, 0.1, theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    for n in range(1, 13):
        s.step()
        assert s.v[0] == pytest.approx(min(0.25 * G * 0.1 * n, 1.5), abs=1e-12)
        assert s.v[1] == pytest.approx(0.0, abs=1e-14) and s.gap()[0] == pytest.approx(0.0, abs=1e-15)


# -- rows that depend on each other


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_corners_and_planes_twice_are_solved(mu):
    """A block in a corner, on two planes of which one is there twice: the floor carries the weight."""
    made = dmesh.create_rectangle(ALONE, [[0, 0], [0.1, 0.1]], [2, 2], dmesh.CellType.quadrilateral)
    named = di.named(made, foot=lambda x: np.isclose(x[1], 0.0), left=lambda x: np.isclose(x[0], 0.0))
    body = di.Solid(named, density=1000.0, law=di.LinearElastic(1e7, 0.3), gravity=(-3.0, -G))
    floor, wall = di.Plane((0, 0), (0, 1)), di.Plane((0, 0), (1, 0))
    contacts = [di.RigidContact(body, "foot", floor, friction=mu) for _ in range(2)]
    contacts.append(di.RigidContact(body, "left", wall, friction=mu))
    s = di.MoreauJean(body, 1e-2, theta=1.0, contact=contacts, position=True)
    s.start(0.0, 0.0)
    momentum = np.zeros(2)
    for _ in range(30):
        s.step()
    nodal = np.zeros(s.contact.nodes.loaded.dofs.shape)
    s.add_nodal_impulses(nodal)
    momentum = nodal.sum(axis=0)
    assert momentum == pytest.approx(10.0 * s.dt * np.array([3.0, G]), rel=1e-6)
    assert s.gap().min() > -1e-14 and s.halved.halved == 0


# -- what is refused


def test_what_does_not_fit_is_refused():
    def made(**options):
        contact = {n: options.pop(n) for n in ("touching", "restitution") if n in options}
        contact = di.RigidContact(bar(), "tip", di.Plane([1.1], [-1.0]), **contact)
        return di.MoreauJean(bar(), 0.01, contact=contact, position=True, **options)

    for options, words in (
        ({"theta": 0.4}, "position=True needs theta of at least 1/2, not 0.4"),
        (
            {"mass": "consistent"},
            "acts through the lumped mass, not 'consistent': give mass='lumped', or leave",
        ),
        ({"touching": False}, "closes the points that touch: .* leave touching=False out"),
    ):
        with pytest.raises(ValueError, match=words):
            made(**options)
    ball = di.PointMasses([1.0, 1.0])
    drifting = di.ObstacleContact(ball, [[0, 1]], di.Sphere((0, 0), 1.0, inside=True), drift_correction=True)
    with pytest.raises(ValueError, match="does not drift: leave drift_correction out"):
        di.MoreauJean(ball, 0.1, contact=drifting, position=True)
    with pytest.raises(ValueError, match=r"no position problem: take MoreauJean\(position=True"):
        di.MoreauJeanDecoupled(bar(), 0.01, position=True)
    with pytest.raises(ValueError, match="position must be True or False"):
        made().__class__(bar(), 0.01, position="yes")


def test_no_compiled_loop_runs_it():
    with pytest.raises(ValueError, match=r"position=True\) is found by an iteration"):
        di.simulate(flying(0.1, 5, position=True), t_end=0.5, compiled=True, progress=False)
    s = flying(0.1, 5, position=True)
    run = di.simulate(s, t_end=20 * s.dt, progress=False)
    assert s.halved.steps == 20 and run.balance and run["gap"].min() > -1e-15


def test_a_bound_that_is_far_away_does_not_matter():
    """Gaps of open points round like themselves: they are no misfit of the contact laws."""
    masses = di.PointMasses([1.0, 3.0], load=[-9.81, -29.43])
    near, far = di.DofBound(masses, 0, lower=-0.1), di.DofBound(masses, 1, lower=-1e6)
    s = di.MoreauJean(masses, 0.37, 1.0, contact=[near, far], position=True)
    s.start(0.0, 0.0)
    for _ in range(40):
        s.step()
    assert s.halved.halved == 0 and s.u[0] == pytest.approx(-0.1, abs=1e-12)

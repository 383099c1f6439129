"""Noh-Bathe with impulses against a dense program of its equations, and what the scheme is for."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import noh_bathe as dense

import dolfinx_impact as di
from dolfinx_impact.benchmark.case import defaults
from dolfinx_impact.benchmark.cases.impacting_bar import case as impacting_bar
from dolfinx_impact.benchmark.cases.rotating_spring import case as rotating_spring

SPRINGS = np.array([[3.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]) * 40.0
STIFFNESS = np.kron(SPRINGS, np.eye(2)) + np.diag([5.0, 0.0] * 3)
MASSES = np.repeat([1.0, 2.0, 0.7], 2)
AT = np.array([0.0, 0.3, 0.4, 0.2, 0.8, 0.25])
START = np.array([2.0, -1.0, 0.1, -1.5, -0.6, -0.5])


def points(masses=MASSES):
    """Three masses in a plane with springs to places on the ground, weight, a swing and nonlinear damping."""
    pull = STIFFNESS @ AT

    def load(t, u, v, out):
        out[:] = pull
        out[0] += np.sin(9.0 * t)
        out[1::2] -= 25.0 * masses[1::2]

    def damping(t, u, v, out):
        out[:] = 0.2 * masses * v + 0.05 * v * np.abs(v)

    def force(t, u, v):
        f, d = np.zeros(6), np.zeros(6)
        load(t, u, v, f)
        damping(t, u, v, d)
        return f - d - STIFFNESS @ u

    system = di.PointMasses(masses, load, stiffness=STIFFNESS, damping=damping, length=1.0)
    return system, force


def on(obstacle, dofs, e, mu, size=6, velocity=None, acceleration=None):
    """The dense form of a point on an obstacle; the motion as functions of x and t."""

    def frame(u, t):
        n = obstacle.normal(u[None, dofs], t)[0]
        B = np.zeros((1 if mu is None else 2, size))
        B[0, dofs] = n
        if mu is not None:
            B[1, dofs] = [-n[1], n[0]]
        return B

    def along(given):
        return None if given is None else lambda u, t: frame(u, t)[:, dofs] @ given(u[dofs], t)

    def gap(u, t):
        return obstacle.gap(u[None, dofs], t)[0]

    return dense.Point(gap, frame, e, mu or 0.0, along(velocity), along(acceleration))


PAIRS = [[0, 1], [2, 3], [4, 5]]


def compare(
    system, force, contact, held, h=4e-3, steps=120, u=AT, v=START, within=1e-10, masses=MASSES, unique=True
):
    """Histories of the scheme and of the dense program, and the residual of the balance."""
    s = di.NohBathe(system, h, contact=contact)
    s.start(u, v)
    run = di.simulate(s, t_end=steps * h, progress=False, compiled=False)
    us, vs, rs = dense.run(masses, force, held, h, steps, u, v)
    assert np.abs(run["u"] - us).max() < within * np.abs(us).max()
    assert np.abs(run["v_t"] - vs).max() < within * np.abs(vs).max()
    difference = run["r"] - rs[:, :: rs.shape[1] // run["r"].shape[1]]
    difference = difference if unique else difference.sum(axis=1)
    assert np.abs(difference).max() < within * np.abs(rs).max()
    energy = np.abs(run["kinetic"]).max() + np.abs(run["internal"]).max()
    assert np.abs(run["residual"]).max() < 1e-13 * steps * energy
    return run, rs


@pytest.mark.parametrize("e, mu", [(0.0, None), (0.6, None), (0.0, 0.3), (0.3, 0.8)])
def test_points_with_friction_and_damping_agree_with_the_dense_program(e, mu):
    system, force = points()
    floor = di.Plane((0.0, 0.0), (0.0, 1.0))
    contact = di.ObstacleContact(system, PAIRS, floor, restitution=e, friction=mu or 0.0)
    run, rs = compare(system, force, contact, [on(floor, k, e, mu) for k in PAIRS])
    assert (run["r"] > 0).sum() > 20
    if mu == 0.3:  # some slide, some stick
        normal, tangential = rs[:, 0::2], np.abs(rs[:, 1::2])
        hit = normal > 0
        slides = tangential[hit] > (1 - 1e-9) * mu * normal[hit]
        assert slides.any() and (~slides).any()


@pytest.mark.parametrize("mu", [None, 0.4])
def test_several_faces_uneven_masses_and_several_contacts_agree_with_the_dense_program(mu):
    """H couples normal and tangential directions of a point, and the two walls at a corner."""
    masses = np.array([1.0, 1.7, 2.0, 2.0, 0.7, 0.5])
    system, force = points(masses)
    slope, wall = di.Plane((0.0, 0.0), (0.3, 1.0)), di.Plane((0.35, 0.0), (-1.0, 0.1))
    floor = di.Plane((0.0, -0.25), (0.0, 1.0))
    contact = [
        di.ObstacleContact(system, PAIRS[:2], [slope, wall], friction=mu or 0.0),
        di.ObstacleContact(system, PAIRS[2:], floor, restitution=0.4, friction=mu or 0.0),
    ]
    held = [on(each, k, 0.0, mu) for k in PAIRS[:2] for each in (slope, wall)]
    held.append(on(floor, PAIRS[2], 0.4, mu))
    u = np.array([0.1, 0.3, 0.3, 0.15, 0.8, 0.0])
    v = [1.0, -1.0, 1.1, -1.0, 0.0, -1.0]
    run, _ = compare(system, force, contact, held, steps=60, u=u, v=v, masses=masses)
    assert np.any((run["r"][:, :4:2] > 0) & (run["r"][:, 1:4:2] > 0))  # both faces at once


@pytest.mark.parametrize("mu, rates", [(None, True), (0.35, True), (0.35, False)])
def test_a_floor_that_heaves_and_shakes_agrees_with_the_dense_program(mu, rates):
    """Points follow its acceleration, within what differences in time can tell of that."""
    system, force = points()
    floor, w, size = di.Plane((0.0, 0.0), (0.0, 1.0)), 12.0, np.array([0.02, 0.01])

    def place(t):
        return size * np.sin(w * t)

    def rate(t):
        return size * w * np.cos(w * t)

    moving = di.MovingObstacle(floor, translation=place, translation_rate=rate if rates else None)
    held = [
        on(moving, k, 0.0, mu, velocity=lambda x, t: rate(t), acceleration=lambda x, t: -w * w * place(t))
        for k in PAIRS
    ]
    contact = di.ObstacleContact(system, PAIRS, moving, friction=mu or 0.0)
    # Without rates velocities are differences over 1e-8 s, themselves known to 1e-8.
    run, _ = compare(system, force, contact, held, h=2e-3, steps=80, within=1e-9 if rates else 1e-6)
    assert (run["r"] > 0).sum() > 30


def test_a_table_that_turns_agrees_with_the_dense_program():
    system, force = points()
    table, w, size = di.Plane((0.0, 0.0), (0.0, 1.0)), 4.0, 0.1
    moving = di.MovingObstacle(
        table,
        rotation=lambda t: size * np.sin(w * t),
        rotation_rate=lambda t: size * w * np.cos(w * t),
        center=(0.4, 0.0),
    )

    def velocity(x, t):
        arm = x - [0.4, 0.0]
        return size * w * np.cos(w * t) * np.array([-arm[1], arm[0]])

    def acceleration(x, t):
        arm, rate = x - [0.4, 0.0], size * w * np.cos(w * t)
        return -size * w**2 * np.sin(w * t) * np.array([-arm[1], arm[0]]) - rate**2 * arm

    held = [on(moving, k, 0.0, 0.5, velocity=velocity, acceleration=acceleration) for k in PAIRS]
    contact = di.ObstacleContact(system, PAIRS, moving, friction=0.5)
    compare(system, force, contact, held, h=2e-3, steps=60, within=1e-8)


def test_a_square_that_tumbles_with_friction_agrees_with_the_dense_program():
    """Rigid bodies: levers couple the corners and their normal and tangential impulses."""
    square = di.RigidBody.square(0.1, 1000.0, gravity=(0.0, -9.81))
    floor = di.Plane((0.0, 0.0), (0.0, 1.0))
    contact = di.RigidBodyContact(square, floor, friction=0.4)

    def corner(k):
        def arm(u):
            return square.arms(u[2])[k]

        def bases(u, t):
            x, y = arm(u)
            return np.array([[0.0, 1.0, x], [-1.0, 0.0, y]])

        return dense.Point(lambda u, t: u[1] + arm(u)[1], bases, 0.0, 0.4)

    def force(t, u, v):
        return np.array([0.0, -9.81 * square.mass[0], 0.0])

    u, v = [0.0, 0.113, 0.1], [1.0, -0.5, -2.0]  # two corners that stick have impulses of many shares
    held = [corner(k) for k in range(4)]
    run, _ = compare(
        square, force, contact, held, h=1e-3, steps=25, u=u, v=v, masses=square.mass, unique=False
    )
    assert run["r"].max() > 0


def last_impulse(run):
    return np.flatnonzero(run["r"].any(axis=1))[-1]


def bar(part=0.9, elements=50, **options):
    """The bar of Di Stasio et al. (2019), its step as a part of (l/c) 1.85."""
    p = {**defaults(impacting_bar.PARAMETERS), "elements": elements}
    setup = impacting_bar.Bar().build(p)
    wall = setup.contact
    s = di.NohBathe(setup.system, part * 1.85 * setup.critical, contact=wall)
    s.start(0.0, -p["v0"])
    return di.simulate(s, t_end=p["t_end"], record=wall.approach(), progress=False, **options)


def test_the_bar_leaves_the_wall_without_oscillations():
    """The contact node's velocity from 1e-5 to 8e-5 s after its release: 0.0835 with CD-Lagrange."""
    run = bar()
    t, v = run["t"], run["v_t"][:, 0]
    released = t[last_impulse(run) + 1]
    flight = (t >= released + 1e-5) & (t <= released + 8e-5)
    assert np.sqrt(np.mean((v[flight] / 5.0 + 1) ** 2)) == pytest.approx(0.0022, abs=5e-5)
    energy = run["kinetic"] + run["internal"]
    assert 1 - energy[-1] / energy[0] == pytest.approx(0.028, abs=3e-3)
    assert energy.max() < (1 + 1e-12) * energy[0]
    assert np.abs(run["residual"]).max() < 1e-13 * energy[0]
    assert run["dissipated"][-1] == pytest.approx(energy[0] - energy[-1] + run["contact"][-1], rel=1e-10)
    # One phase; the last substeps push by less than a step's impulse.
    hit = np.flatnonzero(run["r"][:, 0])
    assert np.array_equal(hit, np.arange(hit[0], hit[-1] + 1))


@pytest.mark.parametrize(
    "part, rms", [(1.30 / 1.85, 0.025), (0.7 / 1.85, 0.074), (0.9 * 1.872515 / 1.85, 0.0016)]
)
def test_the_damping_sits_near_the_limit(part, rms):
    run = bar(part)
    t, v = run["t"], run["v_t"][:, 0]
    released = t[last_impulse(run) + 1]
    flight = (t >= released + 1e-5) & (t <= released + 8e-5)
    assert np.sqrt(np.mean((v[flight] / 5.0 + 1) ** 2)) == pytest.approx(rms, rel=0.03)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_ball_gains_no_energy_and_flies_on_parabolas(e):
    ball = di.PointMasses(1.0, load=[-9.81])
    s = di.NohBathe(ball, 2e-3, di.DofBound(ball, 0, lower=0.0, restitution=e))
    s.start(1.0, 0.0)
    run = di.simulate(s, t_end=1.6, progress=False, compiled=False)
    z, energy = run["u"][:, 0], run["kinetic"] + 9.81 * run["u"][:, 0]
    assert energy.max() < (1 + 1e-12) * energy[0]
    assert np.abs(run["residual"]).max() < 1e-12
    top = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) + 1
    heights = e ** (2.0 * np.arange(1, top.size + 1))
    assert np.abs(z[top][:5] - heights[:5]).max(initial=0.0) < 0.02  # the velocity is that of a step before
    in_flight = ~run["r"].any(axis=1)
    in_flight[1:] &= in_flight[:-1]
    at = np.flatnonzero(in_flight[1:-1] & in_flight[2:] & (np.abs(run["v_t"][1:-1, 0]) > 0)) + 1
    assert np.abs(z[at + 1] - 2 * z[at] + z[at - 1] + 9.81 * 4e-6).max() < 1e-14
    if e < 0.6:  # it rests, and does not sink
        assert run["v_t"][-1, 0] == pytest.approx(0.0, abs=1e-14) and np.ptp(z[-20:]) < 1e-14
        assert run["r"][-1, 0] == pytest.approx(9.81 * 2e-3, rel=1e-12) and z[-1] > -0.005


def test_second_order_without_impact_with_nonlinear_forces_that_depend_on_the_velocity():
    def force(t, u, v, out):
        out[:] = np.sin(3 * t) - 4 * u - u**3 - 0.5 * v * np.abs(v) - 0.4 * v

    def end(h):
        s = di.NohBathe(di.PointMasses(1.0, force), h)
        s.start(1.0, 0.5)
        return di.simulate(s, t_end=2.0, progress=False, compiled=False)

    def rates(t, y):
        return [y[1], np.sin(3 * t) - 4 * y[0] - y[0] ** 3 - 0.5 * y[1] * abs(y[1]) - 0.4 * y[1]]

    true = dict(
        zip(("u", "v_t"), solve_ivp(rates, (0, 2), [1, 0.5], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1])
    )
    errors = [[abs(end(h)[each][-1, 0] - true[each]) for each in ("u", "v_t")] for h in (0.02, 0.01, 0.005)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2) < 0.1)


def test_momenta_of_a_spring_that_turns_between_impacts():
    """Linear momentum is exact; the angular one is kept to second order: the forces act at several places."""
    drift = []
    for h in (0.04, 0.02, 0.01):
        p = defaults(rotating_spring.PARAMETERS)
        s = di.NohBathe(rotating_spring.Spring().build(p).system, h)
        s.start([p["x0"], p["y0"]], [p["vx0"], p["vy0"]])
        run = di.simulate(s, t_end=3.0, progress=False, compiled=False)
        (x, y), (vx, vy) = run["u"].T, run["v_t"].T
        drift.append(np.abs((x * vy - y * vx) / (x[0] * vy[0] - y[0] * vx[0]) - 1).max())
    assert np.all(np.log2(np.array(drift[:-1]) / drift[1:]) > 1.9) and drift[-1] < 1e-3
    mutual = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 50
    s = di.NohBathe(di.PointMasses([1.0, 2.0], stiffness=mutual), 0.1)
    s.start([0.0, 0.1], [1.0, -0.2])
    for _ in range(100):
        s.step()
    assert s.v @ [1.0, 2.0] == pytest.approx(0.6, rel=1e-13)


def test_the_energy_of_a_mode_may_rise_within_a_step():
    """What the docstring says: no energy norm decreases for every state."""
    s = di.NohBathe(di.PointMasses(1.0, stiffness=[[1.0]]), 1.67 * 2.0)
    growth = []
    for angle in np.linspace(0.0, np.pi, 60):
        s.start(np.sin(angle), np.cos(angle))
        s.step()
        growth.append(s.u[0] ** 2 + s.v[0] ** 2)
    assert max(growth) == pytest.approx(1.9, abs=0.05), max(growth)


@pytest.mark.parametrize("damped, limit", [(0.0, 2.0 * 1.872515), (1.0, 0.936200 * 4 / (1 + 5**0.5))])
def test_the_critical_step(damped, limit):
    """Stable up to it: at 1.8725 times that of central differences without damping."""

    def damping(t, u, v, out):
        out[:] = damped * v

    system = di.PointMasses(1.0, stiffness=[[1.0]], damping=damping if damped else None)
    assert di.NohBathe.critical_step(system) == pytest.approx(limit, rel=1e-6)
    with pytest.raises(ValueError, match="above the critical one, (3.74|1.15)"):
        di.NohBathe(system, 1.001 * limit)
    ends = []
    for h in (2.0 * 1.865, 2.0 * 1.88):
        s = di.NohBathe(di.PointMasses(1.0, stiffness=[[1.0]]), h, allow_unstable=True)
        s.start(1.0, 0.0)
        for _ in range(1000):
            s.step()
        ends.append(abs(s.u[0]) + abs(s.v[0]))
    assert ends[0] < 1e-2 < 1e3 < ends[1]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"dt": 0.0}, "dt must be"),
        ({"dt": "fast"}, "dt must be"),
        ({"dt": 3.9}, "take a smaller one, or allow it"),
        ({"contact": "floor"}, "contact"),
    ],
)
def test_bad_input(arguments, words):
    system = di.PointMasses(1.0, stiffness=[[1.0]])
    with pytest.raises(ValueError, match=words):
        di.NohBathe(system, **{"dt": 0.1, **arguments})


def test_a_contact_of_another_system():
    one, other = di.PointMasses(1.0), di.PointMasses(1.0)
    with pytest.raises(ValueError, match="another system"):
        di.NohBathe(one, 0.1, di.DofBound(other, 0, lower=0.0))


@pytest.mark.parametrize("e", [0.0, 0.7])
def test_an_impact_at_the_start(e):
    ball = di.PointMasses(2.0)
    s = di.NohBathe(ball, 1e-3, contact=di.DofBound(ball, 0, lower=0.0, restitution=e))
    s.start(0.0, -3.0)
    assert s.r[0] == pytest.approx(2.0 * (1 + e) * 3.0)
    run = di.simulate(s, t_end=0.01, progress=False, compiled=False)
    assert run["v_t"][0, 0] == -3.0 and run["kinetic"][0] == pytest.approx(9.0) and run["contact"][0] == 0.0
    assert run["v_t"][-1, 0] == pytest.approx(3.0 * e) and run["u"][-1, 0] == pytest.approx(0.03 * e)
    assert run["contact"][-1] == pytest.approx(9.0 * (e**2 - 1))
    assert np.abs(run["residual"]).max() < 1e-13


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_what_rests_on_a_slope_at_the_start_does_not_sink(mu):
    """Pressed points stay on the plane from the first substep on: they stick, or slide by Coulomb's law."""
    masses, weight = np.repeat([1.0, 3.0], 2), 9.81
    pull = np.tile([weight * np.sin(0.4), -weight * np.cos(0.4)], 2) * masses
    system = di.PointMasses(masses, load=pull)
    floor = di.Plane((0.0, 0.0), (0.0, 1.0))
    s = di.NohBathe(system, 1e-3, di.ObstacleContact(system, PAIRS[:2], floor, friction=mu))
    s.start([0.0, 0.0, 1.0, 0.0], 0.0)
    assert not s.r.any()
    run = di.simulate(s, t_end=0.1, progress=False, compiled=False)
    assert np.abs(run["gap"]).max() < 1e-17
    assert run["r"][1:] == pytest.approx(
        np.tile(1e-3 * weight * np.cos(0.4) * masses[::2], (100, 1)), rel=1e-12
    )
    slides = max(0.0, np.sin(0.4) - mu * np.cos(0.4)) * weight
    assert run["v_t"][-1, ::2] == pytest.approx(slides * 0.1, rel=1e-12, abs=1e-15)
    assert run["u"][-1, 0] == pytest.approx(0.5 * slides * 0.01, rel=1e-12, abs=1e-15)

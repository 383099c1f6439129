"""Rigid bodies in plane motion: inertia, gap and frames, the closed-form impact, the benchmark's case."""

import functools
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from support import cases
from support.examples import examples

from dolfinx_impact import (
    CDLagrange,
    Contact,
    MoreauJean,
    MovingObstacle,
    Plane,
    PointMasses,
    RigidBody,
    RigidBodyContact,
    Sphere,
    UnionObstacle,
    simulate,
)
from dolfinx_impact.algebra import coulomb
from dolfinx_impact.benchmark.cases.solids.rigid_body import FLIGHT, PARAMETERS, RigidBodyCase
from dolfinx_impact.exact.rigid import RigidImpact

NAMES = ("cd-lagrange", "moreau-jean")
RESULTS = ("vx", "vy", "spin", "impulse_n", "impulse_t")
GROUND = Plane((0.0, 0.0), (0.0, 1.0))


def numbers(low, high):
    return st.floats(low, high, allow_subnormal=False)


def bodies(**options):
    sizes, densities = numbers(0.05, 2.0), numbers(0.1, 1e4)
    disc = st.builds(lambda R, rho: RigidBody.disc(R, rho, **options), sizes, densities)
    square = st.builds(lambda R, rho: RigidBody.square(R, rho, **options), sizes, densities)
    triangle = st.builds(
        lambda R, rho: RigidBody.polygon(R * np.array([[0, 0], [2, 0], [0.5, 1]]), rho, **options),
        sizes,
        densities,
    )
    return st.one_of(disc, square, triangle)


def velocities():
    """Towards the ground; the spin is that of a body of size 1."""
    return st.tuples(numbers(-2, 2), numbers(-2, -0.05), numbers(-1, 1)).map(np.array)


# -- the body


@pytest.mark.parametrize("gravity", [None, (1.0, -9.81)])
def test_masses_inertia_and_weight(gravity):
    disc = RigidBody.disc(0.5, 100.0, thickness=0.2, gravity=gravity)
    m = 100 * 0.2 * math.pi * 0.25
    assert disc.mass == pytest.approx([m, m, m * 0.25 / 2], rel=1e-15)
    square = RigidBody.square(0.5, 100.0, thickness=0.2, gravity=gravity)
    assert square.mass == pytest.approx([20.0, 20.0, 20.0 * 2 * 0.25 / 3], rel=1e-15)
    assert np.allclose(np.hypot(*square.corners.T), 0.5 * math.sqrt(2), rtol=1e-15)
    out = np.full(3, np.nan)
    square.force(0.0, np.zeros(3), np.zeros(3), out)
    assert out == pytest.approx([0, 0, 0] if gravity is None else [20.0, -196.2, 0.0], rel=1e-15)
    assert square.has_loads == (gravity is not None) and square.linear
    assert square.labels == ["x", "y", "angle"]


@given(
    st.lists(numbers(0, 2 * math.pi), min_size=3, max_size=7, unique=True),
    numbers(0.2, 3),
    st.tuples(numbers(-20, 20), numbers(-20, 20)),
    st.booleans(),
)
def test_polygon_has_the_inertia_of_its_triangles(angles, aspect, middle, clockwise):
    angles = np.sort(angles)
    gaps = np.diff(angles, append=angles[0] + 2 * math.pi)
    assume(gaps.min() > 0.05)
    points = np.column_stack([aspect * np.cos(angles), np.sin(angles)]) + middle
    body = RigidBody.polygon(points[::-1] if clockwise else points, 3.0)
    # Reference: fan of triangles; mid-side quadrature is exact for squares of the coordinates.
    surface, first, second = 0.0, np.zeros(2), 0.0
    for i in range(1, len(points) - 1):
        a, b, c = points[0], points[i], points[i + 1]
        area = 0.5 * abs((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0])
        mids = np.array([a + b, b + c, c + a]) / 2 - points[0]
        surface += area
        first += area * mids.mean(axis=0)
        second += area * np.mean(np.sum(mids**2, axis=1))
    center = first / surface
    assert body.mass[0] == pytest.approx(3 * surface, rel=1e-9)
    assert body.inertia == pytest.approx(3 * (second - surface * center @ center), rel=1e-7)
    found = body.corners[::-1] if clockwise else body.corners
    assert np.allclose(found + center, points - points[0], atol=1e-9)


@given(numbers(0.1, 2.0), numbers(-4, 4), numbers(-3, 3))
def test_square_is_a_polygon_wherever_it_lies(R, x, angle):
    square = RigidBody.square(R, 7.0)
    moved = RigidBody.polygon(square.arms(angle) + [x, 2 * x], 7.0)
    assert np.allclose(moved.mass, square.mass, rtol=1e-12)
    assert np.allclose(moved.corners, square.arms(angle), atol=1e-13 * (1 + abs(x)))


@pytest.mark.parametrize(
    "make_body, message",
    [
        (lambda: RigidBody(0.0, 1.0, [[0, 0]]), "mass must be positive .kg., but is 0"),
        (lambda: RigidBody(1.0, math.nan, [[0, 0]]), "inertia must be positive .kg m2., but is nan"),
        (lambda: RigidBody(1.0, 1.0, [[0, 0, 0]]), "at least 1 points of the plane"),
        (lambda: RigidBody(1.0, 1.0, [[0, 0], [1]]), "at least 1 points of the plane"),
        (lambda: RigidBody(1.0, 1.0, [[0, 0]], radius=-1.0), "radius must be at least 0 .m., but is -1"),
        (lambda: RigidBody(1.0, 1.0, [[0, 0]], gravity=(0, 0, -9.81)), "gravity must be 2 numbers"),
        (lambda: RigidBody.disc(-0.1, 1.0), "radius must be positive .m., but is -0.1"),
        (lambda: RigidBody.disc(0.1, 0.0), "density must be positive .kg/m3., but is 0"),
        (lambda: RigidBody.square(0.1, 1.0, thickness=0.0), "thickness must be positive .m., but is 0"),
        (lambda: RigidBody.square(math.inf, 1.0), "R must be positive .m., but is inf"),
        (lambda: RigidBody.polygon([[0, 0], [1, 0]], 1.0), "at least 3 points of the plane"),
        (lambda: RigidBody.polygon([[0, 0], [1, 0], [2, 0]], 1.0), "enclose no area"),
        (
            lambda: RigidBody.polygon([[0, 0], [2, 0], [0.5, 0.5], [0, 2]], 1.0),
            "not those of a convex polygon",
        ),
        (
            lambda: RigidBody.polygon(
                [[math.cos(4 * math.pi * i / 5), math.sin(4 * math.pi * i / 5)] for i in range(5)], 1.0
            ),
            "not those of a convex polygon",
        ),
    ],
)
def test_refused_bodies(make_body, message):
    with pytest.raises(ValueError, match=message):
        make_body()


# -- gap, L and frames


@given(
    bodies(), st.sampled_from(["plane", "outside", "inside"]), numbers(-2, 2), numbers(-2, 2), numbers(-7, 7)
)
def test_rows_are_the_slope_of_the_gap(body, kind, x, y, angle):
    obstacle = {
        "plane": Plane((0.3, -1.0), (-0.6, 0.8)),
        "outside": Sphere((9.0, -8.0), 2.0),
        "inside": Sphere((0.5, 0.1), 11.0, inside=True),
    }[kind]
    contact = RigidBodyContact(body, obstacle)
    u, step = np.array([x, y, angle]), 1e-5
    gap = contact.evaluate(u)
    assert np.array_equal(gap, contact.gap(u))
    slopes = [(contact.gap(u + d) - contact.gap(u - d)) / (2 * step) for d in step * np.eye(3)]
    assert np.allclose(contact.L.weights, np.transpose(slopes), atol=1e-7)
    assert np.array_equal(contact.local_bases()[:, 0], contact.L.weights)
    if kind == "plane":
        # On a plane the gap is that of the nearest points of the body, corner by corner.
        points = u[:2] + body.arms(angle) - body.radius * obstacle.direction
        assert np.allclose(gap, (points - obstacle.point) @ obstacle.direction, atol=1e-13)


@given(bodies(), st.booleans(), numbers(-2, 2), numbers(-7, 7), velocities())
def test_frames_give_the_velocity_of_the_contact_point(body, curved, x, angle, v):
    obstacle = Sphere((0.5, 0.1), 11.0, inside=True) if curved else Plane((0.3, -1.0), (-0.6, 0.8))
    contact, u = RigidBodyContact(body, obstacle), np.array([x, 0.7 * x, angle])
    contact.evaluate(u)
    frames = contact.local_bases()
    normal, tangent = frames[:, 0, :2], frames[:, 1, :2]
    assert np.allclose(np.sum(normal * tangent, axis=1), 0, atol=1e-15)
    assert np.allclose(np.hypot(*tangent.T), 1, rtol=1e-15)

    def material_points(q):
        """Where the points of the body are that touch at u."""
        c, s = np.cos(q[2] - angle), np.sin(q[2] - angle)
        return q[:2] + (body.arms(angle) - body.radius * normal) @ np.array([[c, s], [-s, c]])

    step = 1e-6
    velocity = (material_points(u + step * v) - material_points(u - step * v)) / (2 * step)
    components = [np.sum(velocity * axis, axis=1) for axis in (normal, tangent)]
    assert np.allclose(frames @ v, np.transpose(components), atol=1e-8)


def test_contact_of_a_rolling_disc_does_not_slip():
    contact = RigidBodyContact(RigidBody.disc(0.2, 1.0), GROUND, friction=0.3)
    contact.evaluate(np.array([3.0, 0.2, 1.0]))
    assert contact.count == 1 and not contact.constant
    assert np.allclose(contact.local_bases() @ [1.0, 0.0, -5.0], 0, atol=1e-15)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"obstacle": Plane((0, 0, 0), (0, 0, 1))}, ValueError, "3 directions"),
        ({"restitution": 1.5}, ValueError, r"restitution must lie in \[0, 1\], but is 1.5"),
        ({"friction": -0.1}, ValueError, "friction must be a coefficient of at least 0, but is -0.1"),
        ({"gap_tolerance": -1.0}, ValueError, "gap_tolerance must be a length of at least 0 m, but is -1"),
        ({"body": PointMasses([1.0, 1.0, 1.0])}, TypeError, "takes a RigidBody, not a PointMasses"),
    ],
)
def test_refused_contacts(options, error, message):
    given_options = {"body": RigidBody.disc(0.1, 1.0), "obstacle": GROUND, **options}
    with pytest.raises(error, match=message):
        RigidBodyContact(given_options.pop("body"), given_options.pop("obstacle"), **given_options)


# -- the closed form


def landed(body, angle, v, e, mu):
    """The lowest corners on the ground, their frames and the exact impact; None where not unique."""
    contact = RigidBodyContact(body, GROUND, restitution=e, friction=mu)
    gap = contact.evaluate(np.array([0.3, 0.0, angle]))
    lowest = gap <= gap.min() + 1e-12 * body.length
    arms = body.arms(angle)[lowest] - [0.0, body.radius]
    try:
        impact = RigidImpact(body.mass[0], body.inertia, arms, restitution=e, friction=mu)
    except ValueError:
        return None
    return contact.local_bases()[lowest], impact(v), impact


@given(bodies(), numbers(-4, 4), velocities(), numbers(0, 1), numbers(0, 2))
def test_one_point_against_a_search_for_the_tangential_impulse(body, angle, v, e, mu):
    """Bisection on p_t, with p_n eliminated: no distinction of stick and slip."""
    v = v / [1, 1, body.length]
    found = landed(body, angle, v, e, mu)
    assume(found is not None and len(found[0]) == 1)
    frames, impact, _ = found
    N, T = frames[0]
    T = T * np.sign(T[0])
    inverse = body.inverse_mass
    H = np.array([[N @ (inverse * N), N @ (inverse * T)], [T @ (inverse * N), T @ (inverse * T)]])
    b = np.array([(1 + e) * N @ v, T @ v])
    assume(abs(b[0]) > 1e-6)
    if b[0] > 0:
        assert not impact.normal.any() and np.array_equal(impact.velocity, v) and impact.lost == 0
        return

    def normal(p_t):
        return max(0.0, -(b[0] + H[0, 1] * p_t) / H[0, 0])

    def misfit(p_t):
        p_n = normal(p_t)
        pulled = p_t - (b[1] + H[1, 0] * p_n + H[1, 1] * p_t) / H[1, 1]
        return p_t - np.clip(pulled, -mu * p_n, mu * p_n)

    reach = 2 * np.max(np.abs(np.linalg.solve(H, b))) + mu * -b[0] / (H[0, 0] - mu * abs(H[0, 1]))
    p_t = brentq(misfit, -reach, reach, xtol=1e-15 * reach, rtol=1e-15)
    scale = 1e-9 * reach
    assert impact.tangential == pytest.approx(p_t, abs=scale)
    assert impact.normal[0] == pytest.approx(normal(p_t), abs=scale)


@given(bodies(), st.booleans(), numbers(-4, 4), velocities(), numbers(0, 1), numbers(0, 2))
def test_closed_form_solves_the_cone_problem(body, flat, angle, v, e, mu):
    """One corner, and two at once, where H with its tangential rows is singular."""
    v = v / [1, 1, body.length]
    found = landed(body, 0.0 if flat else angle, v, e, mu)
    assume(found is not None)
    frames, impact, _ = found
    L, inverse = frames.reshape(-1, 3), body.inverse_mass
    b = L @ v
    b[::2] *= 1 + e
    p = coulomb.solve((L * inverse) @ L.T, b, mu, 2)
    speed, mass = np.abs(v * [1, 1, body.length]).max(), body.mass[0]
    after = v + inverse * (L.T @ p)
    assert np.allclose(impact.velocity * [1, 1, body.length], after * [1, 1, body.length], atol=1e-8 * speed)
    assert np.allclose(impact.normal, p[::2], atol=1e-8 * mass * speed)
    # Along x: the tangent of the frames is the normal turned by 90 degrees, (-1, 0).
    assert impact.tangential == pytest.approx(-np.sum(p[1::2]), abs=1e-8 * mass * speed)


@given(numbers(0.05, 2), velocities(), numbers(0, 1), numbers(0, 1))
def test_flat_landing_without_spin(R, v, e, mu):
    """Both corners rebound; the square does not turn, whatever the friction up to 1."""
    v = v * [1, 1, 0]
    body = RigidBody.square(R, 10.0)
    frames, impact, _ = landed(body, 0.0, v, e, mu)
    assert len(frames) == 2
    m, total = body.mass[0], -body.mass[0] * (1 + e) * v[1]
    assert impact.velocity[1] == pytest.approx(-e * v[1], abs=1e-13)
    assert impact.velocity[2] == pytest.approx(0, abs=1e-12 / R)
    stops = abs(m * v[0]) <= mu * total
    p_t = -m * v[0] if stops else -math.copysign(mu * total, v[0])
    assert impact.sticks == stops and impact.tangential == pytest.approx(p_t, abs=1e-13 * m)
    # The moment of the rubbing loads the corner in front.
    assert impact.normal == pytest.approx([(total + p_t) / 2, (total - p_t) / 2], abs=1e-12 * m)


@given(bodies(), numbers(-4, 4), velocities(), numbers(0, 1), numbers(0, 2))
def test_energy_lost_is_the_work_of_the_impulses(body, angle, v, e, mu):
    """At the mean velocity of the contact point; the friction opposes the slip afterwards, not the mean."""
    v = v / [1, 1, body.length]
    found = landed(body, angle, v, e, mu)
    assume(found is not None and len(found[0]) == 1)
    frames, impact, law = found
    mean = (v + impact.velocity) / 2
    (a, b), p_n, p_t = law.arms[0], impact.normal[0], impact.tangential
    work = p_n * (mean[1] + mean[2] * a) + p_t * (mean[0] - mean[2] * b)
    assert impact.lost == pytest.approx(-work, abs=1e-12 * body.mass[0])
    if mu == 0:
        assert impact.lost >= -1e-13 * body.mass[0]
    w_t = impact.velocity[0] - impact.velocity[2] * b
    assert abs(p_t) <= mu * p_n * (1 + 1e-12)
    assert abs(w_t) < 1e-12 if impact.sticks else p_n == 0 or abs(p_t) == pytest.approx(mu * p_n, rel=1e-12)
    assert p_t * w_t <= 1e-12 * body.mass[0]


def test_newton_and_coulomb_together_may_gain_energy():
    """An elastic impact that turns the slip round: the known defect of the law, which the formulas show."""
    law = RigidImpact(1.0, 1 / 12, [[-0.3, -0.4]], restitution=1.0, friction=0.1)
    impact = law([1.0, -1.0, 0.0])
    assert impact.velocity[0] - impact.velocity[2] * -0.4 < 0 < impact.tangential
    assert impact.lost < -0.01


@pytest.mark.parametrize(
    "arms, mu, message",
    [
        ([[0, -1], [1, -1], [2, -1]], 0.0, "one or two contact points"),
        ([[0, -1, 0]], 0.0, "one or two contact points"),
        ([[0, -1], [1, -0.9]], 0.0, "the same height"),
        ([[0.5, -1]], 1.5, "several solutions or none: it must be below 1.5 in this position"),
    ],
)
def test_refused_exact_impacts(arms, mu, message):
    with pytest.raises(ValueError, match=message):
        RigidImpact(1.0, 0.5, arms, restitution=0.5, friction=mu)
    # H_nn / |H_nt| = (1 + 0.25 / 0.5) / (0.5 / 0.5)
    assert RigidImpact(1.0, 0.5, [[0.5, -1]], restitution=0, friction=1.49).friction_limit == 1.5


# -- the schemes


@examples(15)
@given(
    bodies(),
    st.sampled_from([CDLagrange, MoreauJean]),
    st.booleans(),
    numbers(-4, 4),
    velocities(),
    numbers(0, 1),
    st.one_of(st.just(0.0), numbers(0, 1.2)),
    numbers(-1.5, 1.5),
)
def test_schemes_make_the_exact_impact(body, scheme, flat, angle, v, e, mu, slope):
    """On planes of any slope: the exact impact in the axes of the plane, at the position of the scheme."""
    angle, v = 0.0 if flat else angle, v / [1, 1, body.length]
    found = landed(body, angle, v, e, mu)
    assume(found is not None and found[1].normal.any())
    _, exact, law = found
    h = 1e-3 * body.length
    landing = np.array([0.3, -np.min(body.arms(angle)[:, 1]) + body.radius - 1e-10 * body.length, angle])
    start = landing - (2 if scheme is CDLagrange else 1.5) * h * v
    c, s = math.cos(slope), math.sin(slope)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    contact = RigidBodyContact(body, Plane((0, 0), turn[:2, 1]), restitution=e, friction=mu)
    # As near as 1e-11 of the body's size to the flat position the other corner is there too.
    at = turn @ landing + [0, 0, slope]
    assume(np.count_nonzero(contact.closed(contact.gap(at))) == len(law.arms))
    assume(np.min(contact.gap(turn @ (landing - h * v) + [0, 0, slope])) > 1e-9 * body.length)
    integrator = scheme(body, h, contact=contact)
    integrator.start(turn @ start + [0, 0, slope], turn @ v)
    impulses = []
    for _ in range(2):
        integrator.step()
        impulses.append(integrator.r.copy())
    assert not impulses[0].any() and impulses[1].any()
    size = np.array([1, 1, body.length])
    after, speed = turn.T @ integrator.v, np.abs(v * size).max()
    assert np.allclose(after * size, exact.velocity * size, rtol=0, atol=1e-8 * speed)
    assert np.sum(integrator.r) == pytest.approx(np.sum(exact.normal), abs=1e-8 * body.mass[0] * speed)
    if mu > 0:
        along = np.sum(integrator.r_t, axis=0) @ turn[:, 0]
        assert along == pytest.approx(exact.tangential, abs=1e-8 * body.mass[0] * speed)


@pytest.mark.parametrize("scheme", [CDLagrange, MoreauJean])
def test_friction_knows_the_lever_arm_where_mass_and_inertia_are_the_same_number(scheme):
    body = RigidBody(1.0, 1.0, [[0.0, 0.0]], radius=2.0)
    contact = RigidBodyContact(body, GROUND, restitution=0.5, friction=0.9)
    integrator = scheme(body, 0.125, contact=contact)
    integrator.start([0.0, 2.125, 0.0], [2.0, -1.0, 0.0])
    integrator.step()
    integrator.step()
    # H_tt = 1 / m + R^2 / I = 5: p_t = -2 / 5 stops the slip.
    assert integrator.v == pytest.approx([1.6, 0.5, -0.8], abs=1e-14)


@pytest.mark.parametrize("scheme", [CDLagrange, MoreauJean])
@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_a_moving_plane_is_hit_with_the_velocity_against_it(scheme, friction):
    """Seen from a plane that moves steadily the impact is the same."""
    body = RigidBody.square(0.1, 100.0)
    wind = np.array([0.4, 0.25, 0.0])
    moving = MovingObstacle(GROUND, translation=lambda t: t * wind[:2], translation_rate=lambda t: wind[:2])
    after, start = [], [0.0, 0.1 * math.sqrt(1.5) + 1.7e-3, math.radians(15)]
    for plane, extra in ((GROUND, 0 * wind), (moving, wind)):
        contact = RigidBodyContact(body, plane, restitution=0.5, friction=friction)
        integrator = scheme(body, 1e-3, contact=contact)
        integrator.start(start, np.array([1, -1, 2]) + extra)
        for _ in range(4):
            integrator.step()
        after.append(integrator.v - extra)
        assert integrator.v[1] > -0.5
    assert after[1] == pytest.approx(after[0], abs=1e-9)


def test_a_square_in_a_box_has_a_row_for_every_corner_and_wall():
    walls = UnionObstacle([Plane((0, 0), (0, 1)), Plane((1, 0), (-1, 0))])
    body = RigidBody.square(0.1, 1.0)
    contact = RigidBodyContact(body, walls)
    gap = contact.evaluate(np.array([0.5, 0.3, 0.0]))
    assert gap == pytest.approx([0.2, 0.6, 0.2, 0.4, 0.4, 0.4, 0.4, 0.6])
    assert np.allclose(contact.L.weights[:, :2], np.tile([[0, 1], [-1, 0]], (4, 1)))
    assert np.allclose(contact.L.weights[:, 2], [-0.1, -0.1, 0.1, -0.1, 0.1, 0.1, -0.1, 0.1])


@pytest.mark.parametrize("scheme", [CDLagrange, MoreauJean])
def test_a_disc_under_gravity_starts_to_roll(scheme):
    """Friction stops the slip; rolling keeps the angular momentum about the contact point: 2/3 of v."""
    body = RigidBody.disc(0.1, 1000.0, gravity=(0.0, -10.0))
    contact = RigidBodyContact(body, GROUND, friction=0.2)
    integrator = scheme(body, 1e-3, contact=contact)
    integrator.start([0.0, 0.1, 0.0], [0.9, 0.0, 0.0])
    result = simulate(integrator, t_end=0.3, progress=False)
    v = result["v_t"][-1]
    assert v == pytest.approx([0.6, 0.0, -6.0], abs=1e-12)
    rubbing = result["v_t"][:, 0] + 0.1 * result["v_t"][:, 2]
    assert np.all(np.diff(rubbing) <= 1e-12) and rubbing[-1] == pytest.approx(0, abs=1e-12)
    # Slip lasts v / (3 mu g).
    assert result["t"][np.flatnonzero(rubbing > 1e-9)[-1]] == pytest.approx(0.15, abs=2e-3)
    assert result["residual"] == pytest.approx(np.zeros(301), abs=1e-11)


@pytest.mark.parametrize("scheme", [CDLagrange, MoreauJean])
def test_a_square_rests_on_two_corners_on_a_slope(scheme):
    """tan 25 degrees < mu: it stays, both corners carry and rub."""
    slope = math.radians(25)
    c, s = math.cos(slope), math.sin(slope)
    body = RigidBody.square(0.1, 1000.0, gravity=(0.0, -10.0))
    contact = RigidBodyContact(body, Plane((0, 0), (-s, c)), friction=0.5, gap_tolerance=1e-10)
    integrator = scheme(body, 1e-3, contact=contact)
    integrator.start([-0.1 * s, 0.1 * c, slope], np.zeros(3))
    result = simulate(integrator, t_end=0.04, progress=False)
    assert np.max(np.abs(result["v_t"])) < 1e-11
    r = result["r"][-1]
    weight = body.mass[0] * 10.0 * 1e-3
    carrying = r[r > 0]
    assert carrying.size == 2 and carrying.sum() == pytest.approx(weight * c, rel=1e-9)
    # The centre is R above the slope: the lower corner carries more, by the moment of the rubbing.
    assert np.sort(carrying) == pytest.approx([weight * (c - s) / 2, weight * (c + s) / 2], rel=1e-9)


# -- the case


values = functools.partial(cases.values, "rigid-body", shape="square")
run = functools.cache(functools.partial(cases.run, "rigid-body", shape="square"))


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("shape", ["disc", "square"])
@pytest.mark.parametrize(
    "changed, sticks, corners",
    [
        ((), None, 1),
        ((("friction", 0.0),), False, 1),
        ((("friction", 0.7), ("vx0", 0.2)), None, 1),
        ((("angle0", 0.0), ("spin0", 0.0)), None, None),
        ((("angle0", 0.0), ("spin0", 0.0), ("friction", 0.9)), None, None),
        ((("restitution", 1.0), ("vx0", -6.0)), False, 1),
        ((("restitution", 0.0), ("t_end", 5e-3)), None, 1),
        ((("touching", False), ("gap_tolerance", 1e-9)), None, 1),
        ((("every", 4), ("t_end", 1e-3)), None, 1),
    ],
)
def test_every_verdict_of_the_case_holds(scheme, shape, changed, sticks, corners):
    _, result, results, verdicts = run(scheme, shape=shape, **dict(changed))
    assert len(verdicts) == 10
    assert [v.words for v in verdicts if not v.reproduced] == []
    assert results["contact_phases"] >= 1 and results["impact_time"] == pytest.approx(5.5e-4, abs=0.51e-4)
    assert all(np.isfinite(results[name]) and f"{name}_exact" in results for name in RESULTS)
    if sticks is not None:
        assert results["sticks"] == sticks
    assert results["corners"] == (corners or (2 if shape == "square" else 1))
    assert json.loads(json.dumps(results)) == results


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("friction, vx0, side", [(0.3, 1.0, 0), (0.1, 1.0, 1), (0.1, 4.0, -1)])
def test_square_has_the_numbers_of_the_formulas(scheme, friction, vx0, side):
    """Written out for its lowest corner at 20 degrees.

    With the default numbers it sticks; with less friction the normal impulse turns the square so that the
    corner slips backward afterwards, or forward still where it was faster.
    """
    results = run(scheme, friction=friction, vx0=vx0).results
    m, inertia = 7850 * 0.04, 7850 * 0.04 * 2 * 0.01 / 3
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    a, b = -0.1 * (c - s), -0.1 * (c + s)
    L, inverse = np.array([[0, 1, a], [1, 0, -b]]), np.diag([1 / m, 1 / m, 1 / inertia])
    demanded = np.array([-1.5 * (-2 + 5 * a), -(vx0 - 5 * b)])
    if side == 0:
        p_n, p_t = np.linalg.solve(L @ inverse @ L.T, demanded)
        assert results["sticks"] and abs(p_t) < 0.3 * p_n and abs(results["slip"]) < 1e-12
    else:
        p_n = demanded[0] / (1 / m + a * a / inertia - side * friction * a * b / inertia)
        p_t = side * friction * p_n
        assert not results["sticks"] and side * results["slip"] < -0.1
    v = np.array([vx0, -2, 5]) + inverse @ L.T @ [p_n, p_t]
    assert [results[name] for name in RESULTS] == pytest.approx([*v, p_n, p_t], rel=1e-12)
    assert results["coefficient"] == pytest.approx(0.5, rel=1e-13)


@examples(10)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(["disc", "square"]),
    numbers(0.02, 1),
    numbers(1, 1e4),
    velocities(),
    st.one_of(st.sampled_from([0.0, 45.0, 90.0]), numbers(-180, 180)),
    numbers(0, 1),
    numbers(0, 1.2),
)
def test_the_case_holds_for_any_values(scheme, shape, R, rho, v, angle, e, mu):
    changed = {
        "shape": shape,
        "R": R,
        "rho": rho,
        "vx0": v[0],
        "vy0": v[1],
        "spin0": v[2] / R,
        "angle0": angle,
        "restitution": e,
        "friction": mu,
        "h": 1e-4 * R,
        "t_end": 8e-4 * R,
    }
    try:
        _, _, results, verdicts = run(scheme, **changed)
    except ValueError as refused:
        assume(not any(word in str(refused) for word in ("does not approach", "touches the plane")))
        raise
    assert [v.words for v in verdicts if not v.reproduced] == []
    assert results["coefficient"] == pytest.approx(e, abs=1e-11)


def test_both_schemes_make_the_same_impact():
    explicit, implicit = run("cd-lagrange").results, run("moreau-jean").results
    for name in RESULTS:
        assert explicit[name] == pytest.approx(implicit[name], rel=1e-12)
        assert explicit[f"{name}_exact"] == implicit[f"{name}_exact"]


@pytest.mark.parametrize("option", [("forecast", 0.0), ("forecast", 1.0), ("theta", 0.7)])
def test_the_impact_does_not_depend_on_options_of_the_theta_method(option):
    _, _, results, verdicts = run("moreau-jean", **dict([option]))
    assert all(v.reproduced for v in verdicts)
    assert results["spin"] == pytest.approx(run("moreau-jean").results["spin"], rel=1e-12)


def test_a_verdict_fails_where_the_impact_is_another_one(monkeypatch):
    """A contact without the lever arm in its tangential row makes another impact."""
    whole = RigidBodyContact.local_bases

    def short(self):
        frames = whole(self).copy()
        frames[:, 1, 2] = 0.0
        return frames

    monkeypatch.setattr(RigidBodyContact, "local_bases", short)
    verdicts = cases.run("rigid-body", shape="square").verdicts
    failed = {v.words.split(" [")[0] for v in verdicts if not v.reproduced}
    assert {"exact spin", "exact velocity along the plane"} <= failed


@pytest.mark.parametrize(
    "scheme, changed, message",
    [
        ("cd-lagrange", {"R": 0.0}, "R must be positive .m., but is 0"),
        ("cd-lagrange", {"shape": "disc", "R": -1.0}, "radius must be positive .m., but is -1"),
        ("cd-lagrange", {"rho": -1.0}, "density must be positive .kg/m3., but is -1"),
        ("moreau-jean", {"vy0": 2.0}, "does not approach the plane, its normal velocity is 1.7"),
        ("cd-lagrange", {"shape": "disc", "vy0": 0.0}, "does not approach .*, its normal velocity is 0"),
        ("cd-lagrange", {"restitution": -0.1}, r"restitution must lie in \[0, 1\], but is -0.1"),
        ("cd-lagrange", {"friction": -0.1}, "friction must be a coefficient of at least 0, but is -0.1"),
        ("cd-lagrange", {"friction": 2.0}, "several solutions or none: it must be below"),
        ("moreau-jean", {"t_end": 6e-4}, "t_end must be at least 7 h"),
        ("cd-lagrange", {"gap_tolerance": 1e-3}, "touches the plane before its impact at angle0"),
        ("moreau-jean", {"angle0": 1.0, "spin0": 40.0, "h": 2.5e-3, "t_end": 0.1}, "touches the plane"),
    ],
)
def test_refused_parameters(scheme, changed, message):
    with pytest.raises(ValueError, match=message):
        RigidBodyCase().make(scheme, values(scheme, **changed))


def test_the_case_names_what_scripts_rely_on():
    given_names = "shape R rho vx0 vy0 spin0 angle0 restitution friction h courant t_end every gap_tolerance"
    assert set(given_names.split()) == set(PARAMETERS) and RigidBodyCase.schemes == NAMES
    assert issubclass(RigidBodyContact, Contact) and FLIGHT >= 1

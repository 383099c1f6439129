"""CD-Lagrange implicit: forces at the mean velocity, their balance, what it shares with CD-Lagrange."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import complementarity

STIFFNESS = [[30.0, -10.0], [-10.0, 20.0]]


def implicit(system, h, contact=None, **options):
    return di.CDLagrangeImplicit(system, h, contact, **options)


def drag(t, u, v, out):
    """Couples the masses, depends on u too, and feeds energy near u = 0."""
    out[0] = 0.8 * v[0] * abs(v[0]) + 0.5 * (v[0] - v[1])
    out[1] = 0.5 * (v[1] - v[0]) - 0.6 * (1 - u[1] ** 2) * v[1]


def pair(damping=drag, **options):
    return di.PointMasses([1.0, 2.5], stiffness=STIFFNESS, damping=damping, load=[0.0, -3.0], **options)


def trajectory(integrator, u0, v0, t_end):
    integrator.start(u0, v0)
    return di.simulate(integrator, t_end=t_end, progress=False)


@given(e=st.floats(0.0, 1.0), v0=st.floats(-3.0, 3.0), h=st.sampled_from([0.01, 0.05, 0.1]))
@examples(6)
def test_without_velocity_dependence_it_is_cd_lagrange(e, v0, h):
    system = pair(damping=None)
    runs = []
    for scheme in (implicit, di.CDLagrange):
        contact = di.DofBound(system, [0, 1], lower=-0.1, restitution=e)
        runs.append(trajectory(scheme(system, h, contact), [0.2, 0.1], [v0, -1.0], 30 * h))
    for name, size in (("u", 1.0), ("v", 10.0), ("r", 10.0), ("v_t", 10.0)):
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-13 * size


@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_balance_closes_and_newtons_law_holds(e):
    system = pair()
    contact = di.DofBound(system, [0, 1], lower=-0.1, restitution=e)
    result = trajectory(implicit(system, 0.02, contact), [0.2, 0.1], [0.5, -1.0], 4.0)
    scale = max(result["kinetic"].max(), result["internal"].max())
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert result["r"].sum() > 1.0 and np.abs(result["dissipated"]).max() > 0.1 * scale
    v, r = result["v"], result["r"]
    hit = r[1:] > 0
    assert np.abs((v[1:] + e * v[:-1])[hit]).max() < 1e-13
    assert np.all((v[1:] + e * v[:-1])[~hit & (result["gap"][1:] <= 0)] > -1e-13)


def test_step_satisfies_its_equation():
    """M dv = h F(t, u, mean v) + L^T r, written out."""
    system = pair()
    s = implicit(system, 0.05, di.DofBound(system, 1, lower=0.05))
    s.start([0.2, 0.1], [0.5, -4.0])
    pushed = False
    for _ in range(40):
        before, v_before = s.u.copy(), s.v.copy()
        s.step()
        force = np.zeros(2)
        system.force(s.t, s.u, s.v_mean, force)
        impulse = np.array([0.0, s.r[0]])
        assert s.u == pytest.approx(before + 0.05 * v_before, abs=1e-15)
        assert np.array_equal(s.v_before, v_before)
        assert system.mass * (s.v - v_before) == pytest.approx(0.05 * force + impulse, abs=1e-13)
        assert s.v_force == pytest.approx(s.v_mean, abs=1e-14)
        pushed |= s.r[0] > 0
    assert pushed and s.iterations < 6


def test_order_with_velocity_dependent_forces():
    system = pair()

    def slope(t, y):
        force = np.zeros(2)
        system.force(t, y[:2], y[2:], force)
        return [*y[2:], *(force / system.mass)]

    exact = solve_ivp(slope, (0, 1), [0.2, 0.1, 0.5, -1.0], rtol=1e-11, atol=1e-12).y[:2, -1]
    steps = np.array([0.02, 0.01, 0.005])
    orders = {}
    for scheme in (implicit, di.CDLagrange):
        ends = [trajectory(scheme(system, h), [0.2, 0.1], [0.5, -1.0], 1.0)["u"][-1] for h in steps]
        errors = [np.abs(end - exact).max() for end in ends]
        orders[scheme] = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert orders[implicit] == pytest.approx(2.0, abs=0.15)
    assert orders[di.CDLagrange] == pytest.approx(1.0, abs=0.25)


def test_held_masses_stay_and_resting_ones_rest():
    system = pair(fixed=[0])
    scheme = implicit(system, 0.02, di.DofBound(system, 1, lower=0.0))
    result = trajectory(scheme, [0.3, 0.0], [0.0, 0.0], 1.0)
    assert np.all(result["u"][:, 0] == 0.3) and not result["v"][:, 0].any()
    resting = di.PointMasses([1.0], load=[-9.81], damping=lambda t, u, v, out: np.copyto(out, v))
    result = trajectory(implicit(resting, 0.01, di.DofBound(resting, 0, lower=0.0)), 0.0, 0.0, 1.0)
    assert np.abs(result["u"]).max() < 1e-15
    assert result["r"] == pytest.approx(9.81 * 0.01)


def test_no_solution_is_said():
    def jump(t, u, v, out):
        out[:] = 1.0 if v[0] > 0.3 else -1.0

    s = implicit(di.PointMasses(1.0, damping=jump), 1.0)
    s.start(0.0, 0.0)
    with pytest.raises(complementarity.NotConverged, match="Newton did not find the velocity at t = 1 s"):
        for _ in range(3):
            s.step()


def test_what_it_does_not_take():
    with pytest.raises(ValueError, match="take PointMasses, not a object: take CDLagrange"):
        implicit(object(), 0.1)
    with pytest.raises(ValueError, match="above the critical one"):
        implicit(pair(), 1.0)
    assert implicit(pair(), 1.0, allow_unstable=True).beyond_limit


def sliding(scheme, damping, mu=0.3, h=0.01):
    """A mass of 2 kg on a plane, thrown along it at 3 m/s."""
    mass = di.PointMasses([2.0, 2.0], load=[0.0, -20.0], damping=damping)
    floor = di.ObstacleContact(mass, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=mu)
    return trajectory(scheme(mass, h, floor), [0.0, 0.0], [3.0, 0.0], 1.2)


def test_friction_is_that_of_cd_lagrange_where_no_force_depends_on_the_velocity():
    mine, other = sliding(di.CDLagrangeImplicit, None), sliding(di.CDLagrange, None)
    for name in ("u", "v", "r", "r_t", "contact"):
        assert mine[name] == pytest.approx(other[name], abs=1e-12 * np.abs(other[name]).max())
    assert mine["v"][-1] == pytest.approx([0.0, 0.0], abs=1e-13)  # mu g t = 3 m/s after 1 s


def test_friction_beside_drag_and_its_balance():
    """m v' = -mu m g - c v until it stops, where sticking takes both."""
    result = sliding(di.CDLagrangeImplicit, lambda t, u, v, out: np.copyto(out, 0.8 * v), h=4e-3)
    rate, pull = 0.4, 3.0
    exact = (3.0 + pull / rate) * np.exp(-rate * result["t"]) - pull / rate
    moving = exact > 0.02  # without the step in which it stops
    assert result["v_t"][moving, 0] == pytest.approx(exact[moving], abs=2e-6)
    assert np.abs(result["v"][-1]).max() < 1e-13
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"].max()
    assert np.abs(result["r_t"][-10:]).max() < 1e-13

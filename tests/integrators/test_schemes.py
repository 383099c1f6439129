"""Integrators on point masses: orders, balances, complementarity, what a user may do wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import dolfinx_impact as di

GRAVITY = 9.81
SCHEMES = [di.CDLagrange, di.MoreauJean]


def weight(t, u, v, out):
    out[:] = -GRAVITY


def ball(e=0.8, h=1e-2, scheme=di.CDLagrange, height=1.0, speed=0.0, **options):
    system = di.PointMasses(1.0, weight, stiffness=[[0.0]])
    floor = di.DofBound(system, 0, lower=0.0, restitution=e)
    integrator = scheme(system, h, contact=floor, **options)
    integrator.start(height, speed)
    return integrator


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
def test_ball_balance_impulse_and_law(scheme, e):
    integrator = ball(e, scheme=scheme, height=0.25)
    speeds = [np.array(integrator.v)]
    hits = []

    def law(s):
        before, after, r = speeds[-1][0], s.v[0], s.r[0]
        speeds.append(np.array(s.v))
        if r > 0:
            hits.append(after + e * before)
        assert r >= 0

    result = di.simulate(integrator, t_end=2.0, observers=[integrator.balance(), law], progress=False)
    start = 0.25 * GRAVITY
    assert np.abs(result["residual"]).max() < 1e-12 * start
    assert len(hits) > 3 and np.abs(hits).max() < 1e-13
    momentum = speeds[-1][0] - speeds[0][0]
    assert result["r"][1:].sum() == pytest.approx(momentum + GRAVITY * 2.0, rel=1e-12)
    if e == 1.0 and scheme is di.MoreauJean:
        assert np.abs(result["contact"]).max() < 1e-12 * start


@pytest.mark.parametrize("scheme", SCHEMES)
def test_elastic_ball_returns_to_its_height(scheme):
    """After five impacts; the energy between the steps never exceeds what it was before the first one."""
    result = di.simulate(ball(1.0, scheme=scheme, h=5e-3, height=0.2), t_end=2.0, progress=False)
    tops = result["u"][result["t"] > 1.5].max()
    assert np.count_nonzero(result["r"]) == 5 and tops == pytest.approx(0.2, abs=1e-3)
    energy = result["kinetic"] + GRAVITY * result["u"][:, 0]
    assert energy[-80:].max() <= energy[:80].max() + 1e-10


@pytest.mark.parametrize("scheme", SCHEMES)
def test_resting_ball_stays_at_rest(scheme):
    result = di.simulate(ball(0.8, scheme=scheme, height=0.0), t_end=1.0, progress=False)
    assert np.abs(result["u"]).max() < 1e-13 and np.abs(result["v_t"]).max() < 1e-13
    assert result["r"][1:, 0] == pytest.approx(GRAVITY * 1e-2, rel=1e-12)


STIFFNESS = np.array([[30.0, -10.0], [-10.0, 20.0]])


def oscillator(scheme, h, **options):
    system = di.PointMasses(
        [1.0, 2.0], lambda t, u, v, out: out.__setitem__(slice(None), np.sin(3 * t)), stiffness=STIFFNESS
    )
    integrator = scheme(system, h, **options)
    integrator.start([0.1, -0.2], [1.0, 0.0])
    return integrator


def reference():
    """The same two masses at t = 1 by SciPy."""

    def rates(t, y):
        return [*y[2:], *((np.sin(3 * t) - STIFFNESS @ y[:2]) / [1.0, 2.0])]

    return solve_ivp(rates, (0.0, 1.0), [0.1, -0.2, 1.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]


@pytest.mark.parametrize(
    "scheme, options, order",
    [(di.CDLagrange, {}, 2), (di.MoreauJean, {}, 2), (di.MoreauJean, {"theta": 1.0}, 1)],
)
def test_order_and_balance_with_a_load_that_changes(scheme, options, order):
    true, errors = reference(), []
    for steps in (40, 80):
        integrator = oscillator(scheme, 1.0 / steps, **options)
        result = di.simulate(integrator, t_end=1.0, progress=False)
        errors.append(np.abs(integrator.u - true).max())
        assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"].max()
        stored = result["internal"] - result["internal"][0]
        assert result["internal_work"] == pytest.approx(stored, abs=1e-12)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@given(
    masses=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=5),
    e=st.floats(0.0, 1.0),
    seed=st.integers(0, 1000),
)
def test_many_bounds_are_complementary(masses, e, seed):
    """Chains of springs thrown at floors under every mass: w >= 0, r >= 0, r.w = 0 each step."""
    rng, k = np.random.default_rng(seed), len(masses)
    chain = np.diag(np.full(k, 40.0)) - np.diag(np.full(k - 1, 20.0), 1) - np.diag(np.full(k - 1, 20.0), -1)
    system = di.PointMasses(masses, stiffness=chain)
    contact = Floors(system, e)
    for scheme in SCHEMES:
        integrator = scheme(system, 0.2 * system.critical_time_step(), contact=contact)
        integrator.start(rng.uniform(0.0, 0.1, k), rng.uniform(-1.0, 1.0, k))
        for _ in range(40):
            before = integrator.v.copy()
            integrator.step()
            w = integrator.v + e * before
            r = integrator.r
            pushed = r > 0
            assert np.all(r >= 0) and np.abs(w[pushed]).max(initial=0.0) < 1e-12
            assert np.all(w[contact.looked] > -1e-12)


class Floors(di.Contact):
    """A floor at zero under every dof; remembers what was closed."""

    def __init__(self, system, e):
        super().__init__(system, system.rows(), restitution=e)

    def gap(self, u, t=0.0):
        return u.copy()

    def closed(self, gap):
        self.looked = super().closed(gap)
        return self.looked


class SymplecticEuler(di.Integrator):
    """A user's own scheme: v' = v + h M^-1 F(u), u' = u + h v', impulse by Newton's law."""

    def advance(self):
        f, h = np.zeros(self.system.size), self.dt
        self.system.force(self.t, self.u, self.v, f)
        before = self.v.copy()
        self.v += h * self.system.inverse_mass * f
        closed = self.contact.closed(self.contact.evaluate(self.u, self.t))
        law = self.contact.L(self.v + self.contact.restitution * before)
        self.r[:] = np.where(closed, np.maximum(0.0, -law) * self.system.mass, 0.0)
        self.v += self.system.inverse_mass * self.r
        self.u += h * self.v


def test_own_scheme_runs_like_the_built_in_ones():
    integrator = SymplecticEuler(*(lambda b: (b.system, b.dt, b.contact))(ball(0.5, h=1e-3)))
    integrator.start(1.0, 0.0)
    result = di.simulate(integrator, t_end=0.4, progress=False)
    assert result["u"][-1, 0] == pytest.approx(1.0 - GRAVITY * 0.4**2 / 2, abs=5e-3)
    assert not result.balance and np.isfinite(result["residual"]).all()


def test_own_scheme_without_a_step_is_told_so():
    integrator = di.Integrator(di.PointMasses(1.0), 0.1)
    integrator.start(0.0, 0.0)
    with pytest.raises(NotImplementedError, match="has no advance"):
        integrator.step()


def test_every_sums_impulses_and_keeps_the_last_sample():
    whole = di.simulate(ball(), t_end=5.0, progress=False)
    thin = di.simulate(ball(), t_end=5.0, every=7, progress=False)
    assert thin["t"][-1] == whole["t"][-1] and thin["t"].size == 1 + 500 // 7 + 1
    assert thin["r"].sum() == pytest.approx(whole["r"].sum(), rel=1e-14)
    assert np.array_equal(thin["u"][:-1], whole["u"][::7])


def test_unstable_step_is_refused_or_stopped():
    system = di.PointMasses(1.0, stiffness=[[4.0]])
    with pytest.raises(ValueError, match=r"time step 1.1 s is above the critical one, 1 s"):
        di.CDLagrange(system, 1.1)
    di.CDLagrange(system, 1.0 + 5e-7)
    integrator = di.CDLagrange(system, 1.1, allow_unstable=True)
    integrator.start(1.0, 0.0)
    with pytest.raises(di.UnstableTimeStep, match="more than 10 times"):
        di.simulate(integrator, t_end=1e3, progress=False)
    assert integrator.n < 30


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        (lambda: di.CDLagrange(di.PointMasses(1.0), 0.0), ValueError, "dt must be positive"),
        (lambda: di.CDLagrange(di.PointMasses(1.0), np.nan), ValueError, "dt must be positive"),
        (lambda: di.MoreauJean(di.PointMasses(1.0), 0.1, theta=1.5), ValueError, "theta must lie in"),
        (lambda: di.MoreauJean(di.PointMasses(1.0), 0.1, forecast=-1), ValueError, "forecast must lie in"),
        (
            lambda: di.MoreauJean(di.PointMasses(1.0), 0.1, force="end"),
            ValueError,
            "force must be 'trapezoid'",
        ),
        (lambda: di.PointMasses(1.0, stiffness=[[1.0]], internal=weight), ValueError, "either stiffness"),
        (lambda: di.CDLagrange(di.PointMasses(1.0), 0.1).step(), RuntimeError, "call start"),
        (
            lambda: di.simulate(di.CDLagrange(di.PointMasses(1.0), 0.1), t_end=1.0),
            RuntimeError,
            "call .*start",
        ),
        (lambda: di.simulate(ball(), t_end=-1.0), ValueError, "t_end must come after the start"),
        (lambda: di.simulate(ball(), t_end=1.0, every=0), ValueError, "every must be a whole number"),
        (
            lambda: di.CDLagrange(di.PointMasses(1.0), 0.1).start([0.0, 1.0], 0.0),
            ValueError,
            "u0 has 2 values",
        ),
        (
            lambda: di.CDLagrange(di.PointMasses(1.0), 0.1).start(0.0, np.inf),
            ValueError,
            "v0 has values that",
        ),
        (lambda: di.PointMasses([1.0, -1.0]), ValueError, "mass must be positive"),
        (lambda: di.PointMasses([1.0, 1.0], stiffness=[[1.0, 0.0], [1.0, 1.0]]), ValueError, "symmetric"),
        (lambda: di.PointMasses(1.0, force=3.0), TypeError, "force must be callable"),
        (lambda: di.PointMasses(1.0, labels=["a", "b"]), ValueError, "2 labels for 1 dofs"),
    ],
)
def test_bad_input(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong()


def test_history_above_a_gigabyte_is_refused_with_a_step_that_fits():
    with pytest.raises(ValueError, match=r"GB .*every=(\d+)") as caught:
        di.simulate(ball(h=1e-7), t_end=30.0, every=1, progress=False)
    every = int(str(caught.value).split("every=")[1].split()[0])
    samples = 3e8 / every
    assert 1 < every and samples * 8 * 15 < 1.1e9


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_resumes_bit_by_bit(scheme):
    """From a state taken in the middle of the contact."""
    ends = []
    for stop in (None, 150):
        ball = di.PointMasses([1.0, 2.0], stiffness=[[40.0, -40.0], [-40.0, 40.0]])
        made = [scheme(ball, 0.01, contact=di.DofBound(ball, 0, lower=0.0)) for _ in range(2)]
        made[0].start([0.1, 0.3], -1.0)
        for _ in range(stop or 300):
            made[0].step()
        if stop:
            made[1].resume(made[0].state())
            for _ in range(300 - stop):
                made[1].step()
        ends.append(made[1 if stop else 0])
    for name in ("u", "v", "r"):
        np.testing.assert_array_equal(getattr(ends[0], name), getattr(ends[1], name))
    assert ends[0].t == ends[1].t

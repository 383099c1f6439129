"""Newton's method in a compiled loop gives what step by step gives, and leaves to that what it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import NotConverged
from dolfinx_impact.integrators import ThetaMethod
from dolfinx_impact.integrators.compiled.newton import NewtonLoop
from dolfinx_impact.integrators.energy import TERMS, residual
from dolfinx_impact.integrators.step_buffer import compiled_loop

numba = pytest.importorskip("numba")

HISTORIES = ("u", "v", "v_t", "gap", "r")


@numba.njit
def pulse(t, u, v, out):
    """A load that turns, and a wind."""
    out[:] = 0.0
    out[0] += np.sin(3.0 * t) - 0.1 * v[0]
    out[1] += -1.0 + np.cos(2.0 * t)


@numba.njit
def stiffening(t, u, v, out):
    """Springs between neighbouring dofs and to the ground that stiffen."""
    out[:] = 0.0
    for i in range(u.size):
        right = u[i] - u[(i + 1) % u.size]
        out[i] += 2.0 * u[i] + u[i] ** 3 + 5.0 * right**3
        out[(i + 1) % u.size] -= 5.0 * right**3


@numba.njit
def stored(u):
    total = 0.0
    for i in range(u.size):
        total += u[i] ** 2 + 0.25 * u[i] ** 4 + 1.25 * (u[i] - u[(i + 1) % u.size]) ** 4
    return total


@numba.njit
def drag(t, u, v, out):
    """It pushes near the origin and brakes beyond."""
    out[:] = 0.0
    for i in range(u.size):
        out[i] += 0.2 * (u[i] ** 2 - 0.3) * v[i]


FORCES = {
    "energy": {"internal": stiffening, "energy": stored},
    "no energy": {"internal": stiffening},
    "matrix": {"stiffness": np.diag(np.full(6, 4.0)) - 0.5, "force": pulse},
}


def masses(forces, damping=None, fixed=(), size=6, **options):
    mass = np.linspace(1.0, 2.0, size)
    return di.PointMasses(mass, fixed=fixed, damping=damping, **FORCES[forces], **options)


def ran(make, compiled, steps=100, **options):
    s = make()
    return di.simulate(s, t_end=s.t + steps * s.dt, progress=False, compiled=compiled, **options)


def both(make, steps=100, close=1e-10):
    """The histories of ``make()`` step by step and compiled, equal to the rounding of the iterations."""
    plain, compiled = (ran(make, each, steps) for each in (False, True))
    for names in (HISTORIES, ("r_t",) if "r_t" in plain else (), TERMS):
        largest = 1e-6 + max(np.abs(plain[name]).max(initial=0.0) for name in TERMS)
        for name in names:
            scale = largest if name in TERMS else 1e-6 + np.abs(plain[name]).max(initial=0.0)
            np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=close * scale, err_msg=name)
    return plain, compiled


def defect(run):
    energies = {name: run[name] for name in TERMS}
    return np.abs(residual(energies)).max() / max(np.abs(each).max() for each in energies.values())


@examples(6)
@given(
    st.sampled_from(sorted(FORCES)),
    st.sampled_from([0.0, 0.5, 0.7, 1.0]),
    st.sampled_from(["midpoint", "trapezoid"]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([(0.0, 0.0), (0.6, 0.0), (0.0, 0.3)]),
    st.booleans(),
    st.sampled_from([(), (1,)]),
    st.booleans(),
)
def test_any_forces_and_contact(forces, theta, force, forecast, law, damped, fixed, curved):
    """Three points in the plane above a floor, or in a circle; impulses come and go."""

    def make():
        system = masses(forces, drag if damped else None, fixed)
        obstacle = di.Sphere((0.0, 0.0), 0.5, inside=True) if curved else di.Plane((0.0, -0.2), (0.0, 1.0))
        points = [[2, 3], [4, 5]] if fixed else [[0, 1], [2, 3], [4, 5]]
        contact = di.ObstacleContact(system, points, obstacle, restitution=law[0], friction=law[1])
        s = di.MoreauJean(system, 0.02, theta, contact=contact, force=force, forecast=forecast)
        s.start([0.1, 0.3, -0.2, 0.1, 0.3, 0.2], [0.9, 0.0, -1.0, -0.8, 0.2, -1.5])
        return s

    plain, compiled = both(make)
    assert plain["r"].any()
    # Against a curved obstacle L turns within a step.
    assert curved or max(defect(plain), defect(compiled)) < 1e-12


@pytest.mark.parametrize("size", [1, 2, 7, 32])
def test_without_contact(size):
    """Any number of dofs of the loop; the energy is that of the callable."""

    def make():
        s = di.MoreauJean(masses("energy", size=size), 0.05)
        s.start(np.linspace(-0.5, 1.0, size), np.cos(np.arange(size)))
        return s

    run = both(make)[1]
    assert defect(run) < 1e-12
    assert run["internal"][-1] == pytest.approx(stored(run["u"][-1]), rel=1e-13)


def test_the_loop_makes_free_steps_alone(monkeypatch):
    """Steps with an impulse are made by ``step``, all others are not."""

    def make():
        system = masses("energy", size=2)
        s = di.MoreauJean(system, 0.02, contact=di.DofBound(system, 0, lower=-0.3))
        s.start(0.5, 0.0)
        return s

    made, step = [], NewtonLoop._step
    monkeypatch.setattr(
        NewtonLoop, "_step", lambda loop, n: (made.append(loop.integrator.n), step(loop, n))[1]
    )
    run = ran(make, True, 1000)
    hits = np.flatnonzero(run["r"][1:, 0] > 0)
    assert hits.size > 2 and set(hits) <= set(made) and len(made) < 50


def test_what_needs_shorter_corrections_is_left_to_steps():
    """A spring that is a thousand times stiffer beyond 0.1 m, at a step of many of its periods."""

    @numba.njit
    def stop(t, u, v, out):
        out[:] = 0.0
        out[0] += u[0] + (1e9 * (u[0] - 0.1) ** 3 if u[0] > 0.1 else 0.0)

    def make():
        s = di.MoreauJean(di.PointMasses(1.0, internal=stop), 0.05, 1.0)
        s.start(0.0, 5.0)
        return s

    run = both(make, 60)[1]
    assert run["u"].max() < 0.2


@pytest.mark.parametrize("compiled", [False, True])
def test_no_solution_is_told_alike(compiled):
    @numba.njit
    def ends(t, u, v, out):
        out[0] = np.sqrt(1.0 - u[0] * u[0])

    def make():
        s = di.MoreauJean(di.PointMasses(1.0, ends), 0.01)
        s.start(0.0, 1.0)
        return s

    with pytest.raises(
        NotConverged, match="Newton finds no velocity at t = |finds no correction|did not find"
    ):
        ran(make, compiled, 500)


def test_a_run_goes_on_from_a_checkpoint(tmp_path):
    """Compiled, in two parts: the same as in one, to the last bit."""

    def make():
        system = masses("energy", drag)
        contact = di.ObstacleContact(system, [[0, 1], [2, 3]], di.Plane((0.0, -0.2), (0.0, 1.0)))
        s = di.MoreauJean(system, 0.02, contact=contact)
        s.start([0.1, 0.3, -0.2, 0.1, 0.3, 0.2], [0.9, 0.0, -1.0, -0.8, 0.2, -1.5])
        return s

    whole = ran(make, True, 300)
    kept = di.Checkpoint(tmp_path / "half", every=170)
    ran(make, True, 170, checkpoint=kept)
    s = make()
    rest = di.simulate(s, t_end=300 * s.dt, progress=False, compiled=True, restart=tmp_path / "half")
    np.testing.assert_array_equal(rest["u"][-1], whole["u"][-1])
    np.testing.assert_array_equal(rest["dissipated"][-1], whole["dissipated"][-1])


def loop(system, contact=None, **options):
    s = di.MoreauJean(system, 0.01, contact=contact, **options)
    s.start(0.0, 0.0)
    return compiled_loop(s, s.system.rows(), None)


class Own(di.PointMasses):
    def force(self, t, u, v, out):
        super().force(t, u, v, out)


REFUSED = {
    "many": (
        lambda: loop(masses("energy", size=33)),
        "33 dofs are many for Newton's method in a loop: 32 at most",
    ),
    "thin": (
        lambda: (lambda s: loop(s, di.ObstacleContact(s, [[0, 1]], di.Box((1.0, 1.0), (2.0, 2.0)))))(
            masses("energy")
        ),
        "the obstacle is thin: every step looks whether points have passed it",
    ),
    "python": (
        lambda: loop(di.PointMasses(1.0, damping=drag.py_func)),
        "a force of the system is not of a compiled",
    ),
    "own": (lambda: loop(Own(1.0, damping=drag)), "Own derives from PointMasses"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_loop(what):
    make, reason = REFUSED[what]
    with pytest.raises(ValueError, match=reason):
        make()


@pytest.mark.parametrize("kind", [di.MoreauJean, di.MoreauJeanDecoupled, ThetaMethod])
def test_schemes_that_have_it(kind):
    system = masses("energy")
    law = di.integrators.VelocityLevel(None)
    s = ThetaMethod(system, 0.01, law, theta=0.6) if kind is ThetaMethod else kind(system, 0.01)
    s.start(0.0, 0.0)
    assert isinstance(compiled_loop(s, system.rows(), None), NewtonLoop)


@numba.njit
def pushing(t, u, v, out):
    out[:] = -0.05 * v


@numba.njit
def self_excited(t, u, v, out):
    out[0] = -(1.0 - u[0] ** 2) * v[0]


@numba.njit
def spring(t, u, v, out):
    out[:] = u


@numba.njit
def cubic(t, u, v, out):
    out[:] = 1e3 * u**3


@pytest.mark.parametrize("steps", [20, 25, 60])
def test_a_run_that_diverges_ends_at_the_same_step(steps):
    """What damping gives later, when the motion has exploded, explains nothing before."""
    for compiled in (False, True):
        s = di.MoreauJean(di.PointMasses(1.0, internal=cubic, damping=pushing), 0.05, 0.0)
        s.start(0.3, 0.0)
        with pytest.raises(di.UnstableTimeStep, match=r"at t = 0\.55 s \(step 11\) the energy is 236 J"):
            di.simulate(s, t_end=steps * 0.05, progress=False, compiled=compiled)


@pytest.mark.parametrize("t_end", [22.78, 22.79, 22.81])
def test_what_damping_gives_counts_beside_single_steps(t_end):
    """A hit ends the block, just before or after its last step."""

    def make():
        system = di.PointMasses(1.0, internal=spring, damping=self_excited)
        s = di.MoreauJean(system, 0.01, contact=di.DofBound(system, 0, lower=-1.0, restitution=0.9))
        s.start(1e-4, 0.0)
        return s

    run = ran(make, True, round(t_end / 0.01))
    assert run["r"].any() and np.ptp(run["u"]) > 2.0


@pytest.mark.parametrize("k, dt", [(120.0, 0.05), (195.0, 0.02)])
@pytest.mark.parametrize("scheme", [di.MoreauJean, di.CDLagrange])
def test_what_a_depth_in_a_bowl_hides(scheme, k, dt):
    """The stiffness of a point that presses on a curved obstacle is that along its normal there."""

    @numba.njit
    def down(t, u, v, out):
        out[0], out[1] = 0.0, -100.0

    @numba.njit
    def brake(t, u, v, out):
        out[:] = 5.0 * v

    found = []
    for compiled in (False, True):
        system = di.PointMasses(np.ones(2), down, stiffness=np.diag([1.0, k]), damping=brake)
        bowl = di.ObstacleContact(system, [[0, 1]], di.Sphere((0.0, 0.0), 0.5, inside=True))
        s = scheme(system, dt, contact=bowl)
        s.start([0.18, 0.0], 0.0)
        found.append(di.simulate(s, t_end=600 * dt, progress=False, compiled=compiled))
    plain, looped = found
    np.testing.assert_allclose(looped["lost_force"], plain["lost_force"], rtol=1e-6, atol=1e-12)
    assert plain["lost_force"].max() > 0.005 and looped.warnings == plain.warnings


@numba.njit
def whole(u):
    return 3


@numba.njit
def single(u):
    return np.float32(0.5 * u[0] ** 2)


@numba.njit
def with_default(t, u, v, out, c=0.1):
    out[:] = c * v


@pytest.mark.parametrize(
    "forces, reason",
    [
        ({"internal": spring, "energy": whole}, "whole returns .*3.*, not float64"),
        ({"internal": spring, "energy": single}, "single returns float32, not float64"),
        ({"internal": spring, "damping": with_default}, "with_default cannot be called as .*"),
    ],
)
@pytest.mark.parametrize("scheme", [di.MoreauJean, di.CDLagrange])
def test_functions_that_no_pointer_calls(forces, reason, scheme):
    """Long runs go step by step."""
    s = scheme(di.PointMasses(1.0, **forces), 0.01)
    s.start(1.0, 0.0)
    with pytest.raises(ValueError, match=f"no compiled loop for this run: {reason}"):
        di.simulate(s, t_end=1.0, progress=False, compiled=True)
    run = di.simulate(s, t_end=20.0, every=100, progress=False)
    assert run.steps == 2000 and np.isfinite(run["internal"]).all()


@pytest.mark.parametrize("scheme", [di.MoreauJean, di.CDLagrange])
def test_an_obstacle_whose_gap_ends(scheme):
    """A body that gets there may pass: told with and without the loop."""

    @numba.njit
    def surface(x, normal):
        normal[0], normal[1] = 0.0, 1.0
        return x[1] + 0.5 if x[1] > -0.3 else np.nan

    class Ends(di.obstacles.Shape):
        def gap(self, x, t=0.0):
            return np.where(x[:, 1] > -0.3, x[:, 1] + 0.5, np.nan)

        def normal(self, x, t=0.0):
            return np.tile([0.0, 1.0], (len(x), 1))

        def compiled(self):
            return surface

    @numba.njit
    def weight(t, u, v, out):
        out[0], out[1] = 0.0, -1.0

    for compiled in (False, True):
        system = di.PointMasses(np.ones(2), weight, internal=spring)
        s = scheme(system, 0.01, contact=di.ObstacleContact(system, [[0, 1]], Ends(2)))
        s.start([0.0, 0.5], 0.0)
        with pytest.raises(
            ValueError, match=r"the gap of the obstacle is NaN at .*t = 1\.\d+ s: a body may pass"
        ):
            di.simulate(s, t_end=5.0, progress=False, compiled=compiled)


@pytest.mark.parametrize("scheme", [di.MoreauJean, di.CDLagrange])
def test_a_force_that_raises(scheme):
    """The error is told alike, and the state is that of the step in which it comes."""

    @numba.njit
    def limited(t, u, v, out):
        if u[0] > 0.5:
            raise ValueError("too far")
        out[:] = u

    states = []
    for compiled in (False, True):
        s = scheme(di.PointMasses(1.0, internal=limited), 0.01)
        s.start(0.0, 1.0)
        with pytest.raises(ValueError, match="too far"):
            di.simulate(s, t_end=5.0, progress=False, compiled=compiled)
        states.append((s.n, float(s.u[0]), float(s.v[0])))
    assert states[0][1:] == pytest.approx(states[1][1:], rel=1e-12)
    assert 0 <= states[0][0] - states[1][0] <= 1 < states[1][0]


def test_a_force_on_a_fixed_dof_that_is_no_number():
    @numba.njit
    def partly(t, u, v, out):
        out[0], out[1] = u[0], np.nan

    for compiled in (False, True):
        s = di.MoreauJean(di.PointMasses(np.ones(2), internal=partly, fixed=[1]), 0.01)
        s.start(0.0, [1.0, 0.0])
        with pytest.raises(NotConverged):
            di.simulate(s, t_end=1.0, progress=False, compiled=compiled)

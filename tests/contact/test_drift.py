"""Contact at velocity level drifts into obstacles whose normal turns; the gap can be fed back."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import checkpoint

EVERY = pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])


def bead(scheme, correction, *, obstacle=None, load=None, h=1e-2, t_end=5.0, **law):
    body = di.PointMasses([1.0, 1.0], load=load)
    circle = obstacle or di.Sphere([0.0, 0.0], 1.0, inside=True)
    contact = di.ObstacleContact(body, [[0, 1]], circle, drift_correction=correction, **law)
    s = scheme(body, h, contact=contact)
    s.start([1.0, 0.0], [0.0, 1.0])
    return s, di.simulate(s, t_end=t_end, progress=False)


@functools.cache
def turns(scheme, correction):
    """The bead after a time of 3 s."""
    return bead(scheme, correction, t_end=3.0)[1]


@EVERY
def test_a_bead_in_a_circle_keeps_its_place_and_its_energy(scheme):
    """Without the correction r^4 = R^4 + 2 R^2 v^2 h t; with it the depth is that of one step's turning."""
    plain, held = turns(scheme, False), turns(scheme, True)
    assert -plain["gap"].min() == pytest.approx((1 + 2 * 1e-2 * 3.0) ** 0.25 - 1, rel=2e-2)
    assert -held["gap"].min() < 2e-4
    assert held["kinetic"][-1] == pytest.approx(0.5, rel=1e-3)
    assert np.abs(held["residual"]).max() < 1e-13


@EVERY
def test_it_takes_energy_and_never_gives_any(scheme):
    s, run = bead(scheme, 1.0, restitution=0.3, t_end=2.0)
    assert -run["gap"].min() < 5e-4
    for _ in range(200):
        s.step()
        assert s.contact_work(0.5 * (s.v_before + s.v)) <= 1e-17


@EVERY
@given(a=st.floats(0.05, 1.0), friction=st.sampled_from([0.0, 0.1]))
@examples(5)
def test_any_feedback_holds_the_bead(scheme, a, friction):
    _, run = bead(scheme, a, friction=friction, t_end=0.6)
    assert -run["gap"].min() < 1e-4 / a + 1e-4
    assert run["contact"].max() <= 0.0


@EVERY
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_drop_on_a_flat_floor_is_the_same_to_the_bit(scheme, e):
    """Also where the floor is one that might turn, and normals are oblique."""
    for normal in ((0.0, 1.0), (-0.6, 0.8)):
        floor = di.MovingObstacle(di.Plane((0.0, -1.0), normal), translation=((1.0, 0.0), lambda t: 0.0))
        runs = [
            bead(scheme, a, obstacle=floor, load=[0.3, -9.81], restitution=e, t_end=0.7)[1]
            for a in (False, True)
        ]
        for name in ("u", "v", "r", "contact"):
            assert np.array_equal(runs[0][name], runs[1][name])


@EVERY
@given(e=st.floats(0.01, 0.9), height=st.floats(0.0, 0.05), down=st.floats(-1.0, 0.0))
@examples(4)
def test_a_flat_floor_does_not_turn_whatever_bounces_on_it(scheme, e, height, down):
    floor = di.MovingObstacle(di.Plane((0.0, 0.0), (0.0, 1.0)), translation=((1.0, 0.0), lambda t: 0.0))
    runs = []
    for correction in (False, True):
        body = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
        contact = di.ObstacleContact(body, [[0, 1]], floor, restitution=e, drift_correction=correction)
        s = scheme(body, 4e-3, contact=contact)
        s.start([0.0, height], [0.3, down])
        runs.append(di.simulate(s, t_end=0.2, progress=False))
    assert np.array_equal(runs[0]["u"], runs[1]["u"])


def test_it_is_kept_in_checkpoints(shared_path):
    first, _ = bead(di.CDLagrange, True, t_end=0.5)
    second, _ = bead(di.CDLagrange, True, t_end=0.1)
    checkpoint.save(shared_path / "bead.ckpt", first)
    checkpoint.load(shared_path / "bead.ckpt", second)
    for _ in range(5):
        first.step()
        second.step()
    assert np.array_equal(first.u, second.u) and np.array_equal(first.r, second.r)
    third, _ = bead(di.CDLagrange, False, t_end=0.1)
    with pytest.raises(ValueError, match="its contact is"):
        checkpoint.load(shared_path / "bead.ckpt", third)


def test_the_summary_says_how_deep_and_warns_of_drift():
    plain, held = turns(di.CDLagrange, False), turns(di.CDLagrange, True)
    assert plain.penetration == pytest.approx(-plain["gap"].min())
    assert plain.approach == pytest.approx(1e-4, rel=0.7)
    depth = f"largest penetration {plain.penetration:.3g} m"
    assert depth in plain.summary() and "WARNING, the contact drifts" in plain.summary()
    assert "largest penetration" in held.summary() and "WARNING" not in held.summary()
    ball = di.PointMasses(1.0, load=[-9.81])
    for scheme, words in ((di.CDLagrange, "largest penetration"), (di.Carpenter, "no penetration")):
        s = scheme(ball, 1e-3, contact=di.DofBound(ball, 0, lower=0.0))
        s.start(1.0, 0.0)
        run = di.simulate(s, t_end=0.6, every=7, progress=False)
        assert words in run.summary() and "WARNING" not in run.summary()
        assert run.penetration <= 1.01 * run.approach


def test_a_saved_result_knows_its_depth(shared_path):
    _, run = bead(di.CDLagrange, False, t_end=1.0)
    run.save(shared_path / "run.npz")
    again = di.Result.load(shared_path / "run.npz")
    assert (again.penetration, again.approach) == (run.penetration, run.approach)
    assert again.summary().split(" s, ", 1)[1] == run.summary().split(" s, ", 1)[1]


def test_nonlinear_bodies_say_how_far_work_and_energy_are_apart():
    def internal(t, u, v, out):
        out[:] = 4.0 * u**3

    body = di.PointMasses(1.0, internal=internal, energy=lambda u: float(u[0] ** 4))
    s = di.CDLagrange(body, 0.05)
    s.start(1.0, 0.0)
    run = di.simulate(s, t_end=5.0, progress=False)
    apart = np.abs(run["internal"] - run["internal"][0] - run["internal_work"]).max() / run["internal"].max()
    assert apart > 1e-4 and f"internal work and stored energy up to {100 * apart:.2g} %" in run.summary()


@pytest.mark.parametrize("wrong", [1.5, -0.1, "a", np.nan])
def test_feedback_is_a_number_up_to_one(wrong):
    body = di.PointMasses([1.0, 1.0])
    with pytest.raises(ValueError, match=r"drift_correction must be True, False or a number in \(0, 1\]"):
        di.ObstacleContact(body, [[0, 1]], di.Sphere((0, 0), 1.0), drift_correction=wrong)


def test_position_level_does_not_drift():
    body = di.PointMasses([1.0, 1.0])
    contact = di.ObstacleContact(body, [[0, 1]], di.Sphere((0, 0), 1.0, inside=True), drift_correction=True)
    with pytest.raises(ValueError, match="contact at position level does not drift"):
        di.Carpenter(body, 1e-3, contact)

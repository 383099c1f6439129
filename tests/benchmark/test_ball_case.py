"""The bouncing ball: its exact solution, and what the schemes make of it."""

import copy
import functools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import cases

from dolfinx_impact.benchmark.cases.bouncing_ball import case
from dolfinx_impact.exact import BouncingBall

GRAVITY = 9.81
VELOCITY_LEVEL = ("cd-lagrange", "cd-lagrange-implicit", "moreau-jean", "moreau-jean-decoupled")
RESTITUTIONS = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.05, 0.98))
BALLS = st.builds(
    BouncingBall,
    m=st.floats(0.1, 10.0),
    gravity=st.floats(1.0, 20.0),
    z0=st.floats(0.01, 5.0),
    v0=st.floats(-5.0, 5.0),
    restitution=RESTITUTIONS,
)


parameters = functools.partial(cases.values, "bouncing-ball")
run = functools.cache(functools.partial(cases.run, "bouncing-ball"))


# -- the exact solution


@given(ball=BALLS, parts=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3, unique=True))
def test_flight_is_free_fall(ball, parts):
    """Within each flight z(t) is a parabola with z'' = -g, and v its slope."""
    starts = [0.0, *ball.impact_time([1, 2, 3])]
    for flight in range(1 if ball.restitution == 0 else 3):
        length = starts[flight + 1] - starts[flight]
        if length < 1e-3:
            continue
        # Clear of both ends, where rounding decides on which side of the impact a time is.
        a, b = starts[flight] + length * (0.01 + 0.98 * np.array([min(parts), max(parts)]))
        v, z = ball.velocity([a, b]), ball.position([a, b])
        scale = ball.impact_speed + abs(ball.v0)
        assert v[1] - v[0] == pytest.approx(-ball.gravity * (b - a), abs=1e-11 * scale)
        assert z[1] - z[0] == pytest.approx(0.5 * (v[0] + v[1]) * (b - a), abs=1e-11 * scale)
        assert np.diff(ball.energy([a, b])) == pytest.approx(0.0, abs=1e-11 * ball.energy(0.0))
    assert ball.position(0.0) == pytest.approx(ball.z0) and ball.velocity(0.0) == pytest.approx(ball.v0)


@given(ball=BALLS, n=st.integers(1, 12))
def test_impacts_follow_newtons_law(ball, n):
    """z = 0 at the impacts, v after is -e v before, the height after is e^2 that before."""
    e, t = ball.restitution, ball.impact_time(n)
    assert np.all(ball.position(t) <= 1e-10 * max(ball.top, 1e-3))
    if e == 0:
        assert t == ball.first_impact == ball.t_final
        return
    assume(e**n > 1e-4)  # shorter flights are lost in the rounding of t
    nudge = 1e-7 * (ball.impact_time(n + 1) - t)
    before = min(nudge, 1e-7 * (t - (ball.impact_time(n - 1) if n > 1 else 0.0)))
    speed = ball.impact_speed * e ** (n - 1)
    assert ball.velocity(t - before) == pytest.approx(-speed, rel=1e-5)
    assert ball.velocity(t + nudge) == pytest.approx(e * speed, rel=1e-5)
    middle = 0.5 * (t + ball.impact_time(n + 1))
    assert ball.position(middle) == pytest.approx(ball.rebound_height(n), rel=1e-9)


@given(e=st.floats(0.05, 0.98), z0=st.floats(0.01, 5.0), n=st.integers(1, 30))
def test_impact_times_are_those_of_the_paper(e, z0, n):
    ball, unit = BouncingBall(1.0, GRAVITY, z0, 0.0, e), np.sqrt(2 * z0 / GRAVITY)
    assert ball.impact_time(n) == pytest.approx(unit * (2 * (1 - e**n) / (1 - e) - 1), rel=1e-11)
    assert ball.t_final == pytest.approx(unit * (1 + e) / (1 - e), rel=1e-11)
    after = ball.t_final * (1 + 1e-12)
    assert ball.position(after) == 0.0 and ball.velocity(after) == 0.0 and ball.energy(after) == 0.0


def test_elastic_ball_never_rests_and_a_lying_one_always_does():
    ball = BouncingBall(2.0, GRAVITY, 1.0, 0.0, 1.0)
    assert ball.t_final == np.inf
    assert ball.impact_time(7) == pytest.approx(np.sqrt(2 / GRAVITY) * 13)
    assert ball.energy(np.linspace(0, 50, 1001)) == pytest.approx(2.0 * GRAVITY)
    for e in (0.0, 0.5, 1.0):
        lying = BouncingBall(1.0, GRAVITY, 0.0, 0.0, e)
        assert lying.t_final == 0.0
        assert not lying.position([0.0, 1.0]).any() and not lying.velocity([0.0, 1.0]).any()


# -- the schemes


@pytest.mark.parametrize("scheme", ["cd-lagrange", pytest.param("moreau-jean", marks=pytest.mark.slow)])
def test_elastic_ball_keeps_its_height(scheme):
    """100 s at the step of the paper, every step checked."""
    integrator = case.Ball().make(scheme, parameters(scheme, restitution=1.0)).integrator
    top, tops, seen = 0.0, [], 0
    for _ in range(10_000):
        integrator.step()
        if integrator.r[0] > 0:
            tops.append(top)
            seen, top = seen + 1, 0.0
        else:
            top = max(top, integrator.u[0])
    assert seen > 100
    # The first flight begins at its top, which is no step of the loop.
    assert np.abs(np.array(tops[1:]) - 1.0).max() < 1e-11


@pytest.mark.parametrize("scheme", VELOCITY_LEVEL)
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_velocity_level_passes_the_accumulation_point(scheme, e):
    _, result, results, verdicts = run(scheme, restitution=e)
    assert len(verdicts) >= 3 and all(v.reproduced for v in verdicts), verdicts
    ball = case.exact(parameters(scheme, restitution=e))
    late = result["t"] > ball.t_final + case.rest_tolerance(ball, 1e-2)
    assert np.abs(result["v_t"][late]).max() < case.RESTING
    assert result["r"][late] == pytest.approx(GRAVITY * 1e-2, rel=1e-3)
    assert abs(results["final_position"]) < 1e-2 * ball.impact_speed
    assert results["rest_time"] == pytest.approx(ball.t_final, abs=0.06)


@pytest.mark.parametrize("scheme", VELOCITY_LEVEL)
def test_heights_are_those_between_impacts(scheme):
    _, result, results, verdicts = run(scheme, restitution=1.0)
    z, hits = result["u"][:, 0], np.flatnonzero(result["r"][:, 0])
    flights = [z[a + 1 : b].max() for a, b in zip(hits, hits[1:])]
    assert results["heights"][: len(flights)] == flights
    assert len(results["heights"]) - len(flights) == (z[-1] < z[hits[-1] + 1 :].max())
    assert results["impacts"] == len(hits) == 5
    assert any("same height" in v.words and v.reproduced for v in verdicts)
    assert run(scheme, restitution=0.8, every=100).results == run(scheme, restitution=0.8).results


@pytest.mark.parametrize("e, h, t_end", [(0.0, 3e-3, 2.0), (0.5, 1e-2, 5.0), (0.8, 1e-2, 8.0)])
def test_combined_neither_penetrates_nor_breaks_newtons_law(e, h, t_end):
    _, result, results, verdicts = run("combined", restitution=e, h=h, t_end=t_end)
    assert result["gap"].min() > -1e-15 and results["penetration_max"] <= 1e-15
    v, hit = result["v"][:, 0], np.flatnonzero(result["r"][:, 0])
    assert np.abs(v[hit] + e * v[hit - 1]).max() < 1e-14
    assert 0 < result["tau"].max() < h * 5.0
    assert len(verdicts) >= 3 and all(v.reproduced for v in verdicts), verdicts


def test_paoli_schatzman_rises_above_the_drop_height():
    _, result, results, verdicts = run("paoli-schatzman", restitution=1.0)
    assert max(results["heights"]) > 1.03
    assert any("rises above" in v.words and v.reproduced for v in verdicts)
    assert np.abs(result["residual"]).max() < 1e-13 * GRAVITY


@pytest.mark.parametrize("scheme", ["carpenter", "paoli-schatzman"])
def test_explicit_position_level_follows_the_exact_solution(scheme):
    _, result, results, verdicts = run(scheme, restitution=0.0)
    ball = case.exact(parameters(scheme, restitution=0.0))
    assert result["u"][:, 0] == pytest.approx(ball.position(result["t"]), abs=1e-13)
    assert results["penetration_max"] < 1e-15
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts)


def test_carpenter_implicit_blows_up():
    _, result, results, verdicts = run("carpenter-implicit", restitution=0.0)
    assert results["energy_after_impact"] > 5 * GRAVITY  # nothing should be left
    assert max(results["heights"]) > 2.0
    assert any("unstable" in v.words and v.reproduced for v in verdicts)


def test_verdicts_turn_with_the_scheme():
    """A property that a scheme lacks is not reproduced when its run is judged as that of another scheme."""

    def claims(judged_as, ran, **changes):
        problem, *_ = run(ran, **changes)
        other = copy.copy(problem)
        other.scheme = judged_as
        return {v.words: v.reproduced for v in problem.case.verdicts(other)}

    def failed(found):
        return [claim for claim, reproduced in found.items() if not reproduced]

    assert any("same height" in c for c in failed(claims("cd-lagrange", "paoli-schatzman", restitution=1.0)))
    assert any("rests from" in c for c in failed(claims("cd-lagrange", "combined")))
    assert any("never penetrates" in c for c in failed(claims("combined", "cd-lagrange", restitution=0.8)))
    assert any("follows" in c for c in failed(claims("carpenter", "cd-lagrange", restitution=0.0)))
    assert any("unstable" in c for c in failed(claims("carpenter-implicit", "combined", restitution=0.0)))
    assert any("rises above" in c for c in failed(claims("paoli-schatzman", "cd-lagrange", restitution=1.0)))

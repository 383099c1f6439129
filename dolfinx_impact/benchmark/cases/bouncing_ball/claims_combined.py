"""What Acary and Bonnefon (2011) say of their combined scheme and of its elders, on the ball; h = 0.01 s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import ACARY, Measured, above, below, equal, row, table
from ...runs import FailedRun, Run, Runs
from . import case as bouncing_ball
from . import measures as m
from .measures import CASE, DEFECT, DEPTH, EPS, GRAVITY, HEIGHTS, LAW, LOSSY, MJ, PAOLI, PLASTIC, STEP

_STEPS = m.STEPS[:4]
_FORECASTS, _WORDS = {"half": 0.5, "one": 1.0}, {"half": "forecast 1/2", "one": "forecast 1"}
#: How long a ball with this coefficient is followed [s]: to two bounces and a third impact.
_SPANS = {PLASTIC: 1.0, LOSSY: 2.0, m.ELASTIC: 2.0}
_OLD, _NEW = "Background", "The proposed approach"
_SCHATZMAN = "Schatzman-Paoli satisfies the position constraint in discrete time"
_STABLE = "Satisfying the impact law in discrete time gives good stability"
_RESTS = "Spurious oscillations of the velocity are eliminated in lasting contact"


def _drops(runs: Runs, heights: int, es: Sequence[float], forecasts: Any = (0.5, 1.0)) -> list[Run]:
    """One run a forecast, coefficient and drop height."""
    drops = [(w, e, z0) for w in forecasts for e in es for z0 in m.drop_heights(heights)]
    return [runs(CASE, "combined", restitution=e, forecast=w, z0=z0, t_end=_SPANS[e]) for w, e, z0 in drops]


def _worst(runs: Runs, result: str, heights: int = HEIGHTS) -> Measured:
    several = [run.results for run in _drops(runs, heights, (PLASTIC, LOSSY))]
    return Measured(max(of[result] for of in several), holds=all(of["impacts"] for of in several))


def _tau(run: Run) -> NDArray:
    tau = run.history.get("tau")
    if tau is None:
        raise FailedRun(f"{run.summary['scheme']} has no tau")
    return tau[:, 0]


def _tau_order(
    runs: Runs, forecasts: Sequence[float], norm: Any, heights: int = HEIGHTS, steps: m.Steps = _STEPS
) -> Measured:
    """Orders of a norm of the taus of a run, means over drop heights and e = 0, 0.8."""

    def several(w: float, e: float) -> NDArray:
        settings = {"forecast": w, "restitution": e, "t_end": _SPANS[e]}
        return m.study(runs, "combined", lambda run, z0: norm(_tau(run)), heights, steps, **settings)

    found = {f"forecast {w:g}": np.vstack([several(w, e) for e in (PLASTIC, LOSSY)]) for w in forecasts}
    return m.orders(found, heights, steps)


def _drift(runs: Runs, heights: int = HEIGHTS) -> Measured:
    drops = [(z0, e) for e in (PLASTIC, LOSSY) for z0 in m.drop_heights(heights)]
    several = [runs(CASE, MJ, restitution=e, z0=z0, t_end=1) for z0, e in drops]
    kept, deepest = max(run.results[DEFECT] for run in several), [run.results[DEPTH] for run in several]
    note = f"The law is off by {kept:.1e} m/s; {np.count_nonzero(deepest)} of {len(deepest)} runs penetrate"
    return Measured(max(deepest), holds=kept <= LAW, note=note)


def _weighted_depth(run: Run, e: float) -> float:
    u = run["u"][:, 0]
    return max(0.0, -float((u[2:] + e * u[:-2]).min() / (1 + e)))


def _schatzman_steps(runs: Runs, heights: int = HEIGHTS) -> Measured:
    lengths, three, two = m.paoli_phases(runs, heights)
    shortest = min(lengths, default=0)
    note = f"The {len(lengths)} first and second impacts last {shortest} steps or more"
    return Measured(max(0.0, *three, *two), holds=shortest >= 2, note=note)


def _gain(runs: Runs, forecast: float, heights: int = HEIGHTS) -> float:
    several = _drops(runs, heights, tuple(_SPANS), (forecast,))
    energies = [run["kinetic"] + GRAVITY * run["u"][:, 0] for run in several]
    return max(float(energy.max() / energy[0]) - 1 for energy in energies)


def _rise(runs: Runs, heights: int = 3, t_end: float = 100.0) -> float:
    settings = {"restitution": m.ELASTIC, "h": m.STEPS[0], "t_end": t_end, "every": 1000}
    drops = [(w, z0) for w in _FORECASTS.values() for z0 in m.drop_heights(heights)]
    found = [runs(CASE, "combined", forecast=w, z0=z0, **settings).results[m.ENERGY] for w, z0 in drops]
    way = [m.STEPS[0] * m.exact(m.ELASTIC, z0).impact_speed / 2 for _, z0 in drops]
    return max(0.0, *((energy / GRAVITY - z0) / d for energy, (_, z0), d in zip(found, drops, way)))


def _forecast_gain(runs: Runs, heights: int = HEIGHTS) -> Measured:
    half, one = (_gain(runs, forecast, heights) for forecast in _FORECASTS.values())
    return Measured(half - one, note=f"Gained with the forecast 1/2: {half:.2%}, with 1: {one:.1e}")


def _late_speed(run: Run, since: float) -> float:
    return float(np.abs(run["v_t"][run["t"] > since]).max())


def _plastic_rest(runs: Runs, heights: int = HEIGHTS) -> float:
    """Speed from 0.2 s after the impact on [m/s]; stopped h v/2 too high it falls for 0.07, 0.03 s ..."""
    drops = zip(_drops(runs, heights, (PLASTIC,)), 2 * m.drop_heights(heights))
    return max(_late_speed(run, m.exact(PLASTIC, z0).first_impact + 0.2) for run, z0 in drops)


def _lasting(runs: Runs, forecast: float) -> Measured:
    ball, ratios = m.exact(LOSSY), []
    since = ball.t_final + bouncing_ball.rest_tolerance(ball, STEP)
    for h in (STEP, STEP / 4):
        run = runs(CASE, "combined", restitution=LOSSY, forecast=forecast, h=h)
        ratios.append(_late_speed(run, since) / (GRAVITY * h))
    note = f"It goes on at {ratios[0]:.2f} g h, {ratios[1]:.2f} g h at h/4"
    return Measured(ratios[0] * GRAVITY * STEP, note=note)


CLAIMS = table(CASE, ACARY, [
    row("moreau-drift", _OLD, "Moreau-Jean satisfies Newton's law in every step but drifts in position.",
        _drift, above(1e-12), "largest depth [m] over drop heights, e = 0 and 0.8, with the law kept"),
    row("schatzman-position-e0", _OLD, f"{_SCHATZMAN} (e = 0).", m.struck_depth, below(4 * EPS),
        "largest depth [m]; u_(n+1) itself is constrained", scheme=PAOLI, restitution=PLASTIC),
    row("schatzman-position-e08", _OLD, f"{_SCHATZMAN} (e = 0.8).", m.struck_depth, below(4 * EPS),
        "largest depth [m]; u_(n-1) above the ground lets u_(n+1) in", scheme=PAOLI, restitution=LOSSY),
    row("schatzman-constraint", _OLD, f"{_SCHATZMAN} (taken as: for its own weighted position).",
        m.by_coefficient, below(4 * EPS), "depth [m] of it, e = 0, 0.8, 1", scheme=PAOLI, of=_weighted_depth),
    row("schatzman-law", _OLD, "Schatzman-Paoli does not satisfy the impact law in the step.",
        lambda runs: m.by_coefficient(runs, PAOLI, lambda run, e: run.results[DEFECT]), above(LAW),
        "largest |v+ + e v-| [m/s] of a step with an impulse"),
    row("schatzman-steps", _OLD, "Schatzman-Paoli satisfies the impact law in two or three steps.",
        _schatzman_steps, below(8 * EPS / STEP),
        "largest |v+ + e v-| [m/s] over two closed steps, and over three of the mean velocities"),
    row("position", _NEW, "The combined scheme satisfies the position constraint, both forecasts.",
        _worst, below(4 * EPS), "largest depth [m] over drop heights, e = 0 and 0.8; rounding", result=DEPTH),
    row("law", _NEW, "The combined scheme satisfies the impact law at the same time, both forecasts.",
        _worst, below(LAW), "largest |v+ + e v-| [m/s] over drop heights, e = 0 and 0.8", result=DEFECT),
    *(row(f"tau-{id}", _NEW, f"Tau is of order h ({_WORDS[id]}).", _tau_order, equal(1.0),
          "order of the largest tau, mean over drop heights, e = 0, 0.8", forecasts=(w,), norm=np.max)
      for id, w in _FORECASTS.items()),
    row("viability", _NEW, "The multiplier mu of the position vanishes.", _tau_order, equal(1.0),
        "order of the sum of all tau to 2 s, mean of drops, e = 0, 0.8", forecasts=(0.5, 1.0), norm=np.sum),
    *(row(f"heights-{id}", _NEW, f"The solution of (5) is that of (4): exact bounce heights ({_WORDS[id]}).",
          m.study_orders, equal(1.0), "order of error of two bounces, mean of drops, e = 0.8",
          of=lambda run, z0: np.mean(
              np.abs(m.bounces(run, 2)[:2] / m.exact(LOSSY, z0).rebound_height([1, 2]) - 1)),
          schemes=("combined",), steps=_STEPS, forecast=w, restitution=LOSSY, t_end=2.0)
      for id, w in _FORECASTS.items()),
    row("forecast", _NEW, "The forecast has a leading part in the behaviour.", _forecast_gain,
        above(STEP * m.SPEED / 4), "gain of energy with forecast 1/2 less that with 1; half of tau <= h v/2"),
    row("stable-long", _NEW,
        f"{_STABLE} (taken as: over 100 s at e = 1 the energy rises by m g h v/2 at most).", _rise,
        below(1 + GRAVITY * m.STEPS[0] / (0.9 * m.SPEED)), "rise over m g h v/2; one tau: h v/2 + g h^2/2"),
    *(row(f"stability-{id}", _NEW, f"{_STABLE} (taken as: no energy is ever fed; {_WORDS[id]}).",
          _gain, below(1e-13 * m.SPEED), "largest energy over the drop, less 1, e = 0, 0.8, 1", forecast=w)
      for id, w in _FORECASTS.items()),
    row("rest-plastic", _NEW, f"{_RESTS} (e = 0, both forecasts).",
        _plastic_rest, below(LAW), "largest speed [m/s] from 0.2 s after the impact on, over drop heights"),
    *(row(f"rest-{id}", _NEW, f"{_RESTS} (e = 0.8, {_WORDS[id]}).",
          _lasting, below(bouncing_ball.RESTING),
          "largest speed [m/s] long after the rest: tau lifts it off at e v, contact never lasts", forecast=w)
      for id, w in _FORECASTS.items()),
], prefix="acary-ball-")  # fmt: skip

"""Claims that the ball decides on schemes: Di Stasio et al. (2019); combined: Acary, Bonnefon (2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import ACARY, CSMA, DI_STASIO, FailedRun, Measured, Run, Runs, above, below, equal, row, table
from . import case as bouncing_ball
from . import measures as m
from .measures import CASE, CD, EPS, GRAVITY, HEIGHTS, LAW, LOSSY, MJ, PAOLI, PLASTIC, STEP, VELOCITY_LEVEL

_SPRING = "rotating-spring"  #: The case whose flight is no parabola.
_SCHEMES, _REMARK, _CSMA = "Time integration schemes", "Time integration schemes, Remark 3", "Sect. 2.1"
_STEPS = m.STEPS[:4]
_FORECASTS, _WORDS = {"half": 0.5, "one": 1.0}, {"half": "forecast 1/2", "one": "forecast 1"}
#: How long a ball with this coefficient is followed [s]: to two bounces and a third impact.
_SPANS = {PLASTIC: 1.0, LOSSY: 2.0, m.ELASTIC: 2.0}
_OLD, _NEW = "Background", "The proposed approach"
_SCHATZMAN = "Schatzman-Paoli satisfies the position constraint in discrete time"
_STABLE = "Satisfying the impact law in discrete time gives good stability"
_RESTS = "Spurious oscillations of the velocity are eliminated in lasting contact"


def _smooth_rounding(runs: Runs, steps: m.Steps = m.SMOOTH_STEPS) -> Measured:
    """N sums of positions of 1 m, and of velocities that grow to g t."""
    worst = {name: max(m.smooth_errors(runs, name, steps)) for name in VELOCITY_LEVEL}
    return Measured(worst, m.FLIGHT / min(steps) * EPS * (1 + GRAVITY * m.FLIGHT**2 / 2))


def _flight(runs: Runs, t_end: float) -> Measured:
    """Distance of free steps from ``z + h v - g h^2/2`` [m]; one rounds four lengths, and each velocity."""
    worst = []
    for name in VELOCITY_LEVEL:
        run = runs(CASE, name, restitution=LOSSY, t_end=t_end)
        z, v, free = run["u"][:, 0], run["v_t"][:, 0], run["r"][:, 0] == 0
        taylor = z[:-1] + STEP * v[:-1] - GRAVITY * STEP**2 / 2
        worst.append(float(np.abs(z[1:] - taylor)[free[:-1] & free[1:]].max()))
    return Measured(max(worst), (4 + STEP * m.SPEED * t_end / STEP) * EPS)


def _modified_energy(runs: Runs) -> Measured:
    """Change of kinetic and complementary energy and that of the height, at times without an impulse."""
    run = runs(CASE, CD, restitution=m.ELASTIC)
    energy = run["kinetic"] + run["complementary"] + GRAVITY * run["u"][:, 0]
    away = np.abs(energy[run["r"][:, 0] == 0] / energy[0] - 1)
    return Measured(float(away.max()), note=f"At the impulses it dips by {1 - energy.min() / energy[0]:.2g}")


def _newmark_form(runs: Runs, scheme: str, beta: float) -> Measured:
    """Defect of Newmark's formulas with gamma = 1/2 in the steps of the spring without impulse [m]."""
    run = runs(_SPRING, scheme)
    p = run.summary["parameters"]
    u, v, h = run["u"], run["v_t"], float(run.results["h"])
    stretch = 1 - p["l0"] / np.linalg.norm(u, axis=1, keepdims=True)
    a = -p["k"] / p["m"] * stretch * u
    free = (run["r"][:-1, 0] == 0) & (run["r"][1:, 0] == 0)
    position = np.diff(u, axis=0) - h * v[:-1] - h**2 * ((0.5 - beta) * a[:-1] + beta * a[1:])
    velocity = np.diff(v, axis=0) - h / 2 * (a[:-1] + a[1:])
    away = float(max(np.abs(position[free]).max(), h * np.abs(velocity[free]).max()))
    other = float(np.abs(h**2 / 4 * np.diff(a, axis=0)[free]).max())
    return Measured(away, 20 * EPS * p["radius"], note=f"Between beta = 0 and 1/4 lie {other:.2g} m")


def _paoli_three_steps(runs: Runs, heights: int = HEIGHTS) -> Measured:
    _, three, two = m.paoli_phases(runs, heights)
    note = f"Over two closed steps of the half-step velocities: {max(two, default=0.0):.1e}"
    return Measured(max(three, default=0.0), holds=bool(three), note=note)


def _newton(runs: Runs) -> Measured:
    defects = {}
    for name in (*VELOCITY_LEVEL, PAOLI):
        defects[name] = max(m.by_coefficient(runs, name, lambda run, e: run.results[m.DEFECT]).values())
    position = defects.pop(PAOLI)
    return Measured(defects, holds=position > LAW, note=f"Paoli-Schatzman, at position level: {position:.3g}")


def _relaxed(runs: Runs) -> Measured:
    """Smallest violation of the constraint that a family leaves out, h times that of the law [m]."""
    broken, kept = {}, 0.0
    for name in (*VELOCITY_LEVEL, m.CARPENTER, PAOLI):
        results = runs(CASE, name, restitution=PLASTIC).results
        both = results[m.DEPTH], STEP * results[m.DEFECT]
        broken[name], imposed = both if name in VELOCITY_LEVEL else both[::-1]
        kept = max(kept, imposed)
    return Measured(broken, holds=kept <= 4 * EPS, note=f"The one imposed is off by {kept:.1e} at most")


def _plastic_only(runs: Runs) -> Measured:
    elastic, lossy, plastic = m.by_coefficient(runs, PAOLI, m.off_exact).values()
    note = f"For e = 0.8 it is {lossy:.3g}, for e = 1 {elastic:.3g}"
    return Measured(plastic, holds=min(lossy, elastic) > 1e-3, note=note)


def _theoretical_energy(runs: Runs, scheme: str) -> Measured:
    """Largest defect of ``v+^2 = e^2 v-^2``, half of it [J]; what is rounded is of the size of v-^2."""

    def defect(run: Run, e: float) -> float:
        v, hit = run["v"][:, 0], np.flatnonzero(run["r"][1:, 0] > 0) + 1
        return float(np.abs(v[hit] ** 2 - e**2 * v[hit - 1] ** 2).max(initial=0.0)) / 2

    first = m.bounces(runs(CASE, scheme, restitution=LOSSY))[0]
    note = f"At e = 0.8 it bounces to {first:.4f}, not 0.64 m: an impulse comes up to h late"
    return Measured(m.by_coefficient(runs, scheme, defect, (LOSSY, m.ELASTIC)), note=note)


def carpenter_asked(runs: Runs, restitution: float) -> Run:
    """Carpenter's explicit run with this coefficient; the one with e = 0 where that is refused."""
    try:
        return runs(CASE, m.CARPENTER, restitution=restitution)
    except FailedRun:
        return runs(CASE, m.CARPENTER, restitution=PLASTIC)


def carpenter_loss(runs: Runs) -> float:
    """Part of the energy of the drop that Carpenter's explicit scheme loses where e = 1 is asked for."""
    run = carpenter_asked(runs, m.ELASTIC)
    return abs(1 - float(run["v_t"][-1, 0] ** 2 / 2 + GRAVITY * run["u"][-1, 0]) / GRAVITY)


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

    norms = {f"forecast {w:g}": np.vstack([several(w, e) for e in (PLASTIC, LOSSY)]) for w in forecasts}
    return m.orders(norms, heights, steps)


def _drift(runs: Runs, heights: int = HEIGHTS) -> Measured:
    drops = [(z0, e) for e in (PLASTIC, LOSSY) for z0 in m.drop_heights(heights)]
    several = [runs(CASE, MJ, restitution=e, z0=z0, t_end=1) for z0, e in drops]
    kept, deepest = max(run.results[m.DEFECT] for run in several), [run.results[m.DEPTH] for run in several]
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
    energies = [runs(CASE, "combined", forecast=w, z0=z0, **settings).results[m.ENERGY] for w, z0 in drops]
    way = [m.STEPS[0] * m.exact(m.ELASTIC, z0).impact_speed / 2 for _, z0 in drops]
    return max(0.0, *((energy / GRAVITY - z0) / d for energy, (_, z0), d in zip(energies, drops, way)))


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


CLAIMS = table(CASE, DI_STASIO, [
    row("distasio-fig08-rounding", "Fig. 8", "Before the first impact the error is of the order of rounding.",
        _smooth_rounding, below(), "largest norm (35) of the position, h to 1e-4 s; order 1: h / 0.2 s"),
    row("distasio-fig08-order", "Fig. 8", "Both schemes are of second order in the smooth part.",
        _flight, below(), "distance [m] of a free step from Taylor's series of order 2", t_end=m.FLIGHT),
    row("distasio-ball-balance", _SCHEMES, "Moreau-Jean ensures a discrete energy balance for theta = 1/2.",
        lambda runs: m.by_coefficient(runs, MJ, lambda run, e: run.results["balance_residual"]), below(1e-13),
        "largest residual of the balance over the largest energy, e = 1, 0.8, 0"),
    *(row(id, _SCHEMES, text, _newmark_form, below(), "defect [m] of Newmark's formulas in free steps",
          case=_SPRING, scheme=scheme, beta=beta)
      for id, scheme, beta, text in (
          ("distasio-mj-is-newmark", MJ, 0.25,
           "For theta = 1/2 Moreau-Jean is Newmark's constant average acceleration in the smooth part."),
          ("distasio-cd-is-central", CD, 0.0, "CD-Lagrange is the central difference method in flight."))),
    row("distasio-ball-modified-energy", _SCHEMES, "CD-Lagrange conserves a modified energy in flight.",
        _modified_energy, below(1e-13), "relative change of the modified energy, e = 1; rounding"),
    row("csma-ball-order-flight", _CSMA, "Free flight converges as h^2.",
        _flight, below(), "distance [m] of a free step from Taylor's series", paper=CSMA, t_end=5.0),
    row("distasio-ball-carpenter-position", _SCHEMES,
        "Carpenter's explicit scheme satisfies the contact condition on the position exactly, (18).",
        m.struck_depth, below(4 * EPS), "depth [m], e = 0", scheme=m.CARPENTER, restitution=PLASTIC),
    row("distasio-ball-carpenter-is-paoli", _SCHEMES, "Carpenter's scheme is Paoli-Schatzman's with e = 0.",
        lambda runs: np.ptp([runs(CASE, s, restitution=PLASTIC)["u"] for s in (m.CARPENTER, PAOLI)], axis=0),
        below(4 * EPS), "difference [m] of the positions, e = 0: u_(n-1) leaves (19)"),
    row("distasio-ball-paoli-three-steps", _SCHEMES,
        "In lasting contact Paoli-Schatzman imposes Newton's law over three steps, (25).", _paoli_three_steps,
        below(8 * EPS / STEP), "largest |v_(n+1) + e v_(n-1)| [m/s]; rounding of positions over h"),
    row("distasio-ball-paoli-assumption", _SCHEMES, "Contact over three steps in a row is not always met.",
        lambda runs, heights=HEIGHTS: np.mean([n < 3 for n in m.paoli_phases(runs, heights)[0]] or 0.0),
        above(0.0), "part of the first two impacts closed for less, e = 0.5, 0.8, 1"),
    row("distasio-ball-newton", _REMARK, "Only at velocity level Newton's law holds in discrete form.",
        _newton, below(LAW), "largest |v+ + e v-| [m/s] of a step with an impulse, e = 1, 0.8, 0"),
    row("distasio-ball-penetration-step", _REMARK, "The residual penetration falls with the time step.",
        m.study_orders, equal(1.0), "order of the depth, up to h v, e = 0, mean over drop heights",
        schemes=VELOCITY_LEVEL, of=lambda run, z0: run.results[m.DEPTH], restitution=PLASTIC, t_end=0.6),
    row("csma-ball-relaxed", _CSMA, "The discrete condition holds for position or velocity alone.",
        _relaxed, above(1e-12), "depth, or h |v+ + e v-| at position level [m], e = 0", paper=CSMA),
    row("csma-ball-plastic-only", _CSMA, "At position level only e = 0 is represented correctly.",
        _plastic_only, below(1e-13), "distance [m] of Paoli-Schatzman from the exact one, e = 0", paper=CSMA),
    row("csma-ball-injection", _CSMA, "For e > 0 a position-level scheme may inject energy at the impact.",
        lambda runs: runs(CASE, PAOLI, restitution=m.ELASTIC).results[m.ENERGY], above(m.DROP),
        "energy [J] of Paoli-Schatzman after the first impact, e = 1, above the drop", paper=CSMA),
    row("csma-ball-convergence", _CSMA, "At position level the energy is conserved only at convergence.",
        m.study_orders, equal(1.0), "order of the first bounce, e = 1, mean relative error", paper=CSMA,
        schemes=(PAOLI,), of=lambda run, z0: abs(m.bounces(run)[0] / z0 - 1), restitution=1.0, t_end=1.3),
    row("csma-ball-energy", _CSMA, "The impact conserves the theoretical energy.", _theoretical_energy,
        below(4 * EPS * m.SPEED**2), "defect [J] of e^2 times that before", paper=CSMA, per=VELOCITY_LEVEL),
    row("csma-ball-order-impact", _CSMA, "The impact phases converge as h.",
        m.with_impact, equal(1.0), "order of the position, norm (35), e = 0.8, mean over drops", paper=CSMA),
    row("csma-ball-carpenter-excluded", _CSMA, "Carpenter does not conserve the energy at the impact either.",
        carpenter_loss, above(1e-12), "part of the energy lost where e = 1 is asked for", paper=CSMA),
]) + table(CASE, ACARY, [
    row("moreau-drift", _OLD, "Moreau-Jean satisfies Newton's law in every step but drifts in position.",
        _drift, above(1e-12), "largest depth [m] over drop heights, e = 0 and 0.8, with the law kept"),
    row("schatzman-position-e0", _OLD, f"{_SCHATZMAN} (e = 0).", m.struck_depth, below(4 * EPS),
        "largest depth [m]; u_(n+1) itself is constrained", scheme=PAOLI, restitution=PLASTIC),
    row("schatzman-position-e08", _OLD, f"{_SCHATZMAN} (e = 0.8).", m.struck_depth, below(4 * EPS),
        "largest depth [m]; u_(n-1) above the ground lets u_(n+1) in", scheme=PAOLI, restitution=LOSSY),
    row("schatzman-constraint", _OLD, f"{_SCHATZMAN} (taken as: for its own weighted position).",
        m.by_coefficient, below(4 * EPS), "depth [m] of it, e = 0, 0.8, 1", scheme=PAOLI, of=_weighted_depth),
    row("schatzman-law", _OLD, "Schatzman-Paoli does not satisfy the impact law in the step.",
        lambda runs: m.by_coefficient(runs, PAOLI, lambda run, e: run.results[m.DEFECT]), above(LAW),
        "largest |v+ + e v-| [m/s] of a step with an impulse"),
    row("schatzman-steps", _OLD, "Schatzman-Paoli satisfies the impact law in two or three steps.",
        _schatzman_steps, below(8 * EPS / STEP), "largest |v+ + e v-| [m/s] over two or three closed steps"),
    row("position", _NEW, "The combined scheme satisfies the position constraint, both forecasts.",
        _worst, below(4 * EPS), "largest depth [m] over drop heights, e = 0, 0.8; rounding", result=m.DEPTH),
    row("law", _NEW, "The combined scheme satisfies the impact law at the same time, both forecasts.",
        _worst, below(LAW), "largest |v+ + e v-| [m/s] over drop heights, e = 0 and 0.8", result=m.DEFECT),
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
          _lasting, below(bouncing_ball.RESTING), "largest late speed [m/s]: tau lifts it off", forecast=w)
      for id, w in _FORECASTS.items()),
], prefix="acary-ball-")  # fmt: skip

"""The impacting bar with the combined scheme of Acary and Bonnefon (2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import ACARY, Measured, Run, Runs, above, below, equal, row, table
from . import measures as m
from .measures import BAR, CASE, COMBINED, ENERGY, FORECASTS, MESHES, MJ, NEWMARK, PAOLI, PLACES

_Group = Sequence[Run]
#: Coefficients; elements of the mesh that is kept where only the step shrinks.
_RESTITUTIONS, _ONE_MESH = (0.0, 0.8), 10


def _both_laws(runs: Runs, **settings: Any) -> list[Run]:
    """The combined scheme with both restitutions."""
    return [run for e in _RESTITUTIONS for run in m.hits(runs, COMBINED, restitution=e, **settings)]


def _penetration(found: _Group) -> float:
    """The deepest one over h v0."""
    return max(run.results["penetration_max"] / (run.results["h"] * BAR.v0) for run in found)


def _law_broken(run: Run) -> float:
    """Largest ``|v+ + e v-| / v0`` over the steps with an impulse."""
    v, e = run["v"][:, 0], run.summary["parameters"]["restitution"]
    pushed = np.flatnonzero(run["r"][1:, 0]) + 1
    return float(np.max(np.abs(v[pushed] + e * v[pushed - 1])) / BAR.v0)


def tau(run: Run) -> NDArray:
    """The corrections of the position [m]; none with a scheme that has no tau."""
    return run["tau"] if "tau" in run.history else np.zeros_like(run["r"])


def _injected(found: _Group) -> float:
    """Mean of what the balance ends with too much, over the initial energy."""
    return float(np.mean([run["residual"][-1] for run in found])) / ENERGY


def _fitted(groups: Sequence[_Group], of: Callable[[_Group], float], least: float = 0.0) -> Measured:
    sizes = [of(group) for group in groups]
    note = f"From {sizes[0]:.2g} to {sizes[-1]:.2g}"
    return Measured(m.rate([group[0] for group in groups], sizes), holds=min(sizes) > least, note=note)


def _refined(runs: Runs, forecast: float, of: Callable[[_Group], float], least: float = 0.0) -> Measured:
    return _fitted([m.hits(runs, COMBINED, elements=n, forecast=forecast) for n in MESHES[:3]], of, least)


def _multiplier(runs: Runs, restitution: float) -> Measured:
    """One coarse mesh until the bar has left, the step halved several times."""
    settings = {"restitution": restitution, "t_end": 2e-4}
    groups = [m.hits(runs, COMBINED, _ONE_MESH, m.COURANT / 2**k, **settings) for k in range(5)]
    return _fitted(groups, lambda group: np.mean([tau(run).sum() for run in group]))


def _spread(runs: Runs, forecast: float, restitution: float) -> Measured:
    def spread(run: Run) -> float:
        return float(np.std(run["v"][m.in_contact(run)])) / BAR.v0

    made = m.hits(runs, COMBINED, forecast=forecast, restitution=restitution)
    other = spread(runs(CASE, MJ, restitution=restitution))
    return Measured(max(map(spread, made)), note=f"With {MJ} it is {other:.2g}")


def _forecast_ratio(runs: Runs) -> Measured:
    groups = [m.hits(runs, COMBINED, forecast=w) for w in FORECASTS]
    late, early = (max(_injected(group), 1e-12) for group in groups)
    phases = [max(run.results["contact_phases"] for run in group) for group in groups]
    return Measured(max(early / late, late / early), note=f"Phases of contact: {phases[0]} and {phases[1]}")


def _impulse_ratio(runs: Runs) -> float:
    """Largest RMS of the impulses in contact over that of a Newmark scheme as in [7, 4]."""
    groups = (m.hits(runs, scheme) for scheme in (COMBINED, NEWMARK))
    found, newmark = (max(float(np.std(run["r"][m.in_contact(run)])) for run in group) for group in groups)
    return found / newmark


def _bounded(runs: Runs) -> Measured:
    made = [run for w in FORECASTS for run in _both_laws(runs, forecast=w)]
    limit = BAR.force * made[0].results["h"] * BAR.v0 / ENERGY
    most, newmark = max(map(m.highest_energy, made)), m.highest_energy(runs(CASE, NEWMARK))
    return Measured(most - 1, limit, note=f"{NEWMARK} reaches {newmark - 1:.2g}")


def _growth(run: Run) -> float:
    """Largest energy over that three steps after the first impulse (tau acts in the first two), less 1."""
    after = run["t"] > run.results["contact_start"] + 2.5 * run.results["h"]
    energy = m.energy(run)[after]
    return float(np.max(energy) / energy[0]) - 1


def _plastic(runs: Runs, of: Callable[[Run], float]) -> list[float]:
    """A number of all runs of the combined scheme with restitution 0."""
    return [of(run) for w in FORECASTS for run in m.hits(runs, COMBINED, forecast=w)]


def _largest_growth(runs: Runs) -> Measured:
    note = f"With {NEWMARK} it is {_growth(runs(CASE, NEWMARK)):.2g}"
    return Measured(max(_plastic(runs, _growth)), note=note)


def _laws_broken(runs: Runs, scheme: str) -> list[float]:
    return [_law_broken(runs(CASE, scheme, restitution=e)) for e in _RESTITUTIONS]


_QUIET = "Spurious oscillations of the velocity are eliminated in lasting contact, restitution"
_STABLE = "Satisfying the impact law leads to good stability"
_COARSE = f"{MESHES[0]} to {MESHES[2]} elements"
_LAW = "largest |v+ + e v-| over v0 of the steps with an impulse, e = 0 and 0.8"
_DEPTH = f"penetration over h v0, {PLACES}"
CLAIMS = table(CASE, ACARY, [
    *(row(f"{id}-forecast-{w:g}", "(6)", f"{text} (combined scheme, forecast {w:g}).",
          measure, compare, why, forecast=w, **options)
      for w in FORECASTS for id, text, measure, compare, why, options in (
          ("penetration", "The position constraint holds in discrete time",
           lambda runs, forecast: _penetration(_both_laws(runs, forecast=forecast)),
           below(1e-12), f"{_DEPTH}, e = 0 and 0.8; limit: rounding of u", {}),
          ("newton", "Newton's law holds in discrete time at once",
           lambda runs, forecast: max(map(_law_broken, _both_laws(runs, forecast=forecast))),
           below(1e-14), f"{_LAW}; limit: 50 roundings", {}),
          ("tau", "The multiplier tau is of order h",
           _refined, equal(1.0, 0.5), f"order in h of the largest tau [m], mean of {PLACES}, {_COARSE}",
           {"of": lambda group: np.mean([tau(run).max() for run in group])}),
          ("energy", "Being of order h, tau feeds in an energy that vanishes with h",
           _refined, equal(1.0, 0.5), f"order in h of the residual over the initial energy, {_COARSE}",
           {"of": _injected, "least": 1e-9}),
          ("velocity", f"{_QUIET} 0",
           _spread, below(1e-12), "standard deviation of the node's velocity in contact over v0; rounding",
           {"restitution": 0.0}),
          ("velocity-e08", f"{_QUIET} 0.8",
           _spread, below(1e-12), "as at 0; Newton's law makes the node bounce in every second step",
           {"restitution": 0.8}))),
    row("forecast", "(6)", "The choice of the forecast plays a leading part in the global behaviour.",
        _forecast_ratio, above(1.5), f"ratio of the energies that tau feeds in at both, mean of {PLACES}"),
    row("stress", "(6)", "Artifacts on stresses are eliminated in lasting contact.",
        _impulse_ratio, below(0.1), f"RMS of the impulses in contact over that of {NEWMARK}"),
    *(row(f"multiplier{id}", "(5)",
          f"The multiplier of the position constraint tends to zero, restitution {e:g}.", _multiplier,
          above(0.5), f"order in h of the sum of tau [m], {_ONE_MESH} elements, as (5)", restitution=e)
      for id, e in zip(("", "-e08"), _RESTITUTIONS)),
    row("stable", "(6)", f"{_STABLE}.", _bounded, below(),
        "largest gain of energy, part of it; limit: the work of the contact force on the way h v0"),
    row("stable-after", "(6)", f"{_STABLE} (taken as: in plastic contact energy does not grow after it).",
        _largest_growth, below(1e-11), "largest growth from two steps after the impact on; rounding"),
    row("stable-impact", "(6)", f"{_STABLE} (taken as: no impact brings energy in).",
        lambda runs: max(_plastic(runs, m.highest_energy)) - 1, below(1e-11),
        "largest gain of energy, restitution 0; tau gives more than the impact takes"),
    row("moreau-drift", "Background, (4)", "With Moreau-Jean the position constraint is violated.",
        lambda runs: _penetration(m.hits(runs, MJ)), above(1e-6), f"{_DEPTH}; limit: far above rounding"),
    row("moreau-newton", "Background, (4)", "Moreau-Jean enforces Newton's law in every step.",
        _laws_broken, below(1e-14), f"{_LAW}; limit: 50 roundings", scheme=MJ),
    *(row(f"paoli-position{id}", "Background",
          f"Paoli-Schatzman satisfies the position constraint, restitution {e:g}.",
          lambda runs, restitution: _penetration(m.hits(runs, PAOLI, restitution=restitution)), below(1e-12),
          f"{_DEPTH}; the scheme constrains (u_{{n+1}} + e u_{{n-1}})/(1 + e), not u", restitution=e)
      for id, e in zip(("", "-e08"), _RESTITUTIONS)),
    row("paoli-newton", "Background", "Paoli-Schatzman does not satisfy the impact law within the step.",
        _laws_broken, above(1e-6), f"{_LAW}; limit: far above rounding", scheme=PAOLI),
], prefix="acary-bar-")  # fmt: skip

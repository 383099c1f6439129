"""The impacting bar with the combined scheme of Acary and Bonnefon (2011)."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import impacting_bar
from ..convergence import order
from ..runs import Run, Runs
from .bar_measures import (
    BAR, CASE, ENERGY, FORECASTS, MESHES, PARTS, Register, also, highest_energy, impulse_ripple,
    in_contact, listed, steps_of,
)  # fmt: skip
from .claim import ACARY, Claim, Finding

_says = Register()


def _hits(runs: Runs, scheme: str, elements: int = 50, **settings: Any) -> list[Run]:
    """Runs that reach the wall at different parts of a step."""
    step = impacting_bar.PARAMETERS["courant"].default * BAR.length / elements / BAR.wave_speed
    gaps = [BAR.gap - part * step * BAR.v0 for part in PARTS]
    return [runs(CASE, scheme, elements=elements, gap=gap, **settings) for gap in gaps]


def _penetration(found: Sequence[Run]) -> float:
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


def _injected(found: Sequence[Run]) -> float:
    """Mean of what the balance ends with too much, over the initial energy."""
    return float(np.mean([run["residual"][-1] for run in found])) / ENERGY


def _refined_combined(
    runs: Runs, measure: Callable[[Sequence[Run]], float], **settings: Any
) -> tuple[float, list[float]]:  # fmt: skip
    """Order in h of a measure of the combined scheme as mesh and step are refined, and its values."""
    found = [_hits(runs, "combined", elements=n, **settings) for n in MESHES[:3]]
    sizes = [measure(group) for group in found]
    return order(steps_of([group[0] for group in found]), np.maximum(sizes, 1e-15)), sizes


_SCHEME = "(6) and the text after it"
_PLACES = "four places of the impact in its step"
_COARSE = f"{MESHES[0]} to {MESHES[2]} elements"


def _no_penetration(runs: Runs, forecast: float) -> Finding:
    found = [run for e in (0.0, 0.8) for run in _hits(runs, "combined", forecast=forecast, restitution=e)]
    drift = _penetration(_hits(runs, "moreau-jean"))
    why = (
        f"penetration over h v0, restitution 0 and 0.8 and {_PLACES}; limit: rounding of u. With moreau-jean "
        f"it is {drift:.2f}"
    )
    return Finding.below(_penetration(found), 1e-12, why)


def _newton_law(runs: Runs, forecast: float) -> Finding:
    found = [run for e in (0.0, 0.8) for run in _hits(runs, "combined", forecast=forecast, restitution=e)]
    paoli = _law_broken(runs(CASE, "paoli-schatzman", restitution=0.8))
    why = (
        f"largest |v+ + e v-| over v0 of the steps with an impulse, restitution 0 and 0.8 and {_PLACES}; "
        f"limit: 50 roundings. With paoli-schatzman at 0.8 it is {paoli:.2f}"
    )
    return Finding.below(max(map(_law_broken, found)), 1e-14, why)


def _tau_order(runs: Runs, forecast: float) -> Finding:
    def largest(found: Sequence[Run]) -> float:
        return float(np.mean([tau(run).max() for run in found]))

    found, sizes = _refined_combined(runs, largest, forecast=forecast)
    shown = ", ".join(f"{1e6 * size:.2g}" for size in sizes)
    why = (
        f"order in h of the largest tau, mean of {_PLACES}, {shown} µm on {_COARSE}; tolerance: half an order"
    )
    return also(min(sizes) > 0, Finding.equal(found, 1.0, 0.5, why))


def _tau_energy(runs: Runs, forecast: float) -> Finding:
    found, sizes = _refined_combined(runs, _injected, forecast=forecast)
    shown = ", ".join(f"{100 * size:.2g} %" for size in sizes)
    why = (
        f"order in h of the energy that tau feeds in, which is the residual of the balance, {shown} of the "
        f"initial energy on {_COARSE}, mean of {_PLACES}. A tau of order h works against the contact force; "
        "tolerance: half an order"
    )
    return also(min(sizes) > 1e-9, Finding.equal(found, 1.0, 0.5, why))


def _velocity_held(runs: Runs, forecast: float, restitution: float) -> Finding:
    def spread(found: Sequence[Run]) -> float:
        return max(float(np.std(run["v"][in_contact(run)])) / BAR.v0 for run in found)

    found = spread(_hits(runs, "combined", forecast=forecast, restitution=restitution))
    others = ("moreau-jean", "paoli-schatzman") + (("carpenter-implicit",) if restitution == 0 else ())
    compared = {s: spread([runs(CASE, s, restitution=restitution)]) for s in others}
    why = (
        "standard deviation of the contact node's velocity over v0 while the bar touches, restitution "
        f"{restitution:g}; limit: rounding. It is {listed(compared)}"
    )
    if restitution > 0:
        why += ". By Newton's law the node bounces in every second step, tau holds it there: it never rests"
    return Finding.below(found, 1e-12, why)


_QUIET = "Spurious oscillations of the velocity are eliminated in lasting contact, restitution"
for _w in FORECASTS:
    for _name, _sentence, _judge in (
        ("penetration", "The position constraint holds in discrete time", _no_penetration),
        ("newton", "Newton's law holds in discrete time at once", _newton_law),
        ("tau", "The multiplier tau is of order h", _tau_order),
        ("energy", "Being of order h, tau feeds in an energy that vanishes with h", _tau_energy),
        ("velocity", f"{_QUIET} 0", partial(_velocity_held, restitution=0.0)),
        ("velocity-e08", f"{_QUIET} 0.8", partial(_velocity_held, restitution=0.8)),
    ):
        _says(f"acary-bar-{_name}-forecast-{_w:g}", _SCHEME,
              f"{_sentence} (combined scheme, forecast {_w:g}).",
              ACARY)(partial(_judge, forecast=_w))  # fmt: skip


@_says("acary-bar-forecast", _SCHEME,
       "The choice of the forecast plays a leading part in the global behaviour.", ACARY)  # fmt: skip
def _forecast(runs: Runs) -> Finding:
    early, late = (_hits(runs, "combined", forecast=w) for w in reversed(FORECASTS))
    phases = [max(run.results["contact_phases"] for run in found) for found in (late, early)]
    why = (
        f"energy that tau feeds in at forecast 1, {_injected(early):.2%} of the initial one, over that at "
        f"0.5, {_injected(late):.2%}, mean of {_PLACES}; limit: half as much again. Contact takes up to "
        f"{phases[1]} phases instead of {phases[0]}: a node stopped before it arrives is stopped again later"
    )
    return Finding.above(_injected(early) / max(_injected(late), 1e-12), 1.5, why)


def _impulses_held(runs: Runs, against: str, most: float) -> Finding:
    def ripple(scheme: str) -> float:
        return max(impulse_ripple(run, in_contact(run)) for run in _hits(runs, scheme))

    found, other = ripple("combined"), ripple(against)
    why = (
        f"RMS of the impulses over the exact force x h while the bar touches, {found:.2g}, over {other:.2g} "
        f"with {against}; limit: {most:g}. What is left is the ripple of the mesh behind the impact"
    )
    return Finding.below(found / other, most, why)


for _id, _other, _most in (("stress", "carpenter-implicit", 0.1), ("stress-moreau", "moreau-jean", 0.5)):
    _says(f"acary-bar-{_id}", _SCHEME,
          f"Artifacts on stresses, as {_other} has them, are eliminated in lasting contact.",
          ACARY)(partial(_impulses_held, against=_other, most=_most))  # fmt: skip


def _multiplier(runs: Runs, restitution: float) -> Finding:
    def total(found: Sequence[Run]) -> float:
        return float(np.mean([tau(run).sum() for run in found]))

    found, sizes = _refined_combined(runs, total, restitution=restitution)
    shown = ", ".join(f"{1e6 * size:.2g}" for size in sizes)
    why = (
        f"order in h of the sum of tau over the run, {shown} µm on {_COARSE}, restitution {restitution:g}, "
        f"mean of {_PLACES}; limit: half an order"
    )
    if restitution > 0:
        energy = _injected(_hits(runs, "combined", restitution=restitution))
        why += f". tau acts in every bounce of the contact, and feeds in {energy:.0%} of the initial energy"
    return also(min(sizes) > 0, Finding.above(found, 0.5, why))


for _id, _e in (("", 0.0), ("-e08", 0.8)):
    _says(f"acary-bar-multiplier{_id}", "(5)",
          f"The multiplier of the position constraint tends to zero, restitution {_e:g}.",
          ACARY)(partial(_multiplier, restitution=_e))  # fmt: skip


@_says("acary-bar-stable", _SCHEME,
       "Satisfying the impact law leads to good stability: energy does not grow after the impact.", ACARY)
def _stable(runs: Runs) -> Finding:
    found = [run for w in FORECASTS for run in _hits(runs, "combined", forecast=w)]
    newmark = _growth(runs(CASE, "carpenter-implicit"))
    why = (
        "largest growth of the energy later than two steps after the impact, part of it, restitution 0, "
        f"both forecasts, {_PLACES}; limit: rounding. With carpenter-implicit it is {newmark:.2g}"
    )
    return Finding.below(max(map(_growth, found)), 1e-11, why)


@_says("acary-bar-stable-impact", _SCHEME,
       "Satisfying the impact law leads to good stability: no impact brings energy in.", ACARY)  # fmt: skip
def _bounded(runs: Runs) -> Finding:
    found = {w: [highest_energy(run) - 1 for run in _hits(runs, "combined", forecast=w)] for w in FORECASTS}
    why = (
        f"largest energy over the initial one, less 1, restitution 0, {_PLACES}: {max(found[0.5]):.2g} with "
        f"forecast 0.5, {max(found[1.0]):.2g} with forecast 1; limit: rounding. In some places tau feeds in "
        "more than the impact takes away"
    )
    return Finding.below(max(map(max, found.values())), 1e-11, why)


def _growth(run: Run) -> float:
    """Largest energy over that three steps after the first impulse (tau acts in the first two), less 1."""
    after = run["t"] > run.results["contact_start"] + 2.5 * run.results["h"]
    energy = (run["kinetic"] + run["complementary"] + run["internal"])[after]
    return float(np.max(energy) / energy[0]) - 1


@_says("acary-bar-moreau-drift", "Background, (4)",
       "With Moreau-Jean the position constraint is violated.", ACARY)  # fmt: skip
def _drift(runs: Runs) -> Finding:
    why = f"penetration over h v0, the largest of {_PLACES}; limit: far above rounding"
    return Finding.above(_penetration(_hits(runs, "moreau-jean")), 1e-6, why)


@_says("acary-bar-moreau-newton", "Background, (4)",
       "Moreau-Jean enforces Newton's law in every step.", ACARY)  # fmt: skip
def _moreau_law(runs: Runs) -> Finding:
    found = [_law_broken(runs(CASE, "moreau-jean", restitution=e)) for e in (0.0, 0.8)]
    why = "largest |v+ + e v-| over v0 of the steps with an impulse, e = 0 and 0.8; limit: 50 roundings"
    return Finding.below(max(found), 1e-14, why)


def _paoli_position(runs: Runs, restitution: float) -> Finding:
    why = f"penetration over h v0, restitution {restitution:g}, {_PLACES}; limit: rounding of u"
    if restitution > 0:
        why += ". The scheme constrains the mean (u_{n+1} + e u_{n-1})/(1 + e), not the position"
    return Finding.below(_penetration(_hits(runs, "paoli-schatzman", restitution=restitution)), 1e-12, why)


for _id, _e in (("", 0.0), ("-e08", 0.8)):
    _says(f"acary-bar-paoli-position{_id}", "Background",
          f"Paoli-Schatzman satisfies the position constraint, restitution {_e:g}.",
          ACARY)(partial(_paoli_position, restitution=_e))  # fmt: skip


@_says("acary-bar-paoli-newton", "Background",
       "Paoli-Schatzman does not satisfy the impact law within the step.", ACARY)  # fmt: skip
def _paoli_law(runs: Runs) -> Finding:
    found = [_law_broken(runs(CASE, "paoli-schatzman", restitution=e)) for e in (0.0, 0.8)]
    why = (
        f"largest |v+ + e v-| over v0 of the steps with an impulse, restitution 0 ({found[0]:.2g}) and 0.8 "
        f"({found[1]:.2g}), the smaller decides; limit: far above rounding"
    )
    return Finding.above(min(found), 1e-6, why)


CLAIMS: tuple[Claim, ...] = tuple(_says)

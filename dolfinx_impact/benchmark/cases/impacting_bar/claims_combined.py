"""The impacting bar with the combined scheme of Acary and Bonnefon (2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import ACARY, Claim
from ...convergence import order
from ...runs import Run, Runs
from ...verdict import Verdict, also
from .measures import (
    BAR,
    CASE,
    COURANT,
    ENERGY,
    FORECASTS,
    MESHES,
    PLACES,
    Register,
    highest_energy,
    hits,
    impulse_ripple,
    in_contact,
    listed,
    steps_of,
)

_says = Register()
#: Elements of the mesh that is kept where only the step shrinks.
_ONE_MESH = 10


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
) -> tuple[float, list[float]]:
    """Order in h of a measure of the combined scheme as mesh and step are refined, and its values."""
    found = [hits(runs, "combined", elements=n, **settings) for n in MESHES[:3]]
    sizes = [measure(group) for group in found]
    return order(steps_of([group[0] for group in found]), np.maximum(sizes, 1e-15)), sizes


_SCHEME = "(6)"
_COARSE = f"{MESHES[0]} to {MESHES[2]} elements"


def _finer_steps(runs: Runs, halvings: int, **settings: Any) -> list[Run]:
    """The combined scheme on one coarse mesh until the bar has left, its step halved several times."""
    return hits(runs, "combined", _ONE_MESH, COURANT / 2**halvings, t_end=2e-4, **settings)


def _no_penetration(runs: Runs, forecast: float) -> Verdict:
    found = [run for e in (0.0, 0.8) for run in hits(runs, "combined", forecast=forecast, restitution=e)]
    drift = _penetration(hits(runs, "moreau-jean"))
    why = (
        f"penetration over h v0, restitution 0 and 0.8 and {PLACES}; limit: rounding of u. With moreau-jean "
        f"it is {drift:.2f}"
    )
    return Verdict.below(why, _penetration(found), 1e-12)


def _newton_law(runs: Runs, forecast: float) -> Verdict:
    found = [run for e in (0.0, 0.8) for run in hits(runs, "combined", forecast=forecast, restitution=e)]
    paoli = _law_broken(runs(CASE, "paoli-schatzman", restitution=0.8))
    why = (
        f"largest |v+ + e v-| over v0 of the steps with an impulse, restitution 0 and 0.8 and {PLACES}; "
        f"limit: 50 roundings. With paoli-schatzman at 0.8 it is {paoli:.2f}"
    )
    return Verdict.below(why, max(map(_law_broken, found)), 1e-14)


def _tau_order(runs: Runs, forecast: float) -> Verdict:
    def largest(found: Sequence[Run]) -> float:
        return float(np.mean([tau(run).max() for run in found]))

    found, sizes = _refined_combined(runs, largest, forecast=forecast)
    shown = ", ".join(f"{1e6 * size:.2g}" for size in sizes)
    why = (
        f"order in h of the largest tau, mean of {PLACES}, {shown} µm on {_COARSE}; tolerance: half an order"
    )
    return also(min(sizes) > 0, Verdict.equal(why, found, 1.0, 0.5))


def _tau_energy(runs: Runs, forecast: float) -> Verdict:
    found, sizes = _refined_combined(runs, _injected, forecast=forecast)
    shown = ", ".join(f"{100 * size:.2g} %" for size in sizes)
    why = (
        f"order in h of the energy that tau feeds in, which is the residual of the balance, {shown} of the "
        f"initial energy on {_COARSE}, mean of {PLACES}. A tau of order h works against the contact force; "
        "tolerance: half an order"
    )
    return also(min(sizes) > 1e-9, Verdict.equal(why, found, 1.0, 0.5))


def _velocity_held(runs: Runs, forecast: float, restitution: float) -> Verdict:
    def spread(found: Sequence[Run]) -> float:
        return max(float(np.std(run["v"][in_contact(run)])) / BAR.v0 for run in found)

    found = spread(hits(runs, "combined", forecast=forecast, restitution=restitution))
    others = ("moreau-jean", "paoli-schatzman") + (("carpenter-implicit",) if restitution == 0 else ())
    compared = listed({s: spread([runs(CASE, s, restitution=restitution)]) for s in others})
    why = (
        "standard deviation of the contact node's velocity over v0 while the bar touches; limit: rounding. "
        f"Others: {compared}"
    )
    if restitution > 0:
        fine = spread(_finer_steps(runs, 4, forecast=forecast, restitution=restitution))
        why += (
            f". Newton's law makes the node bounce in every second step, tau holds it there. On {_ONE_MESH} "
            f"elements with a sixteenth of the step it is {fine:.2f}"
        )
    return Verdict.below(why, found, 1e-12)


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
        _says(
            f"acary-bar-{_name}-forecast-{_w:g}",
            _SCHEME,
            f"{_sentence} (combined scheme, forecast {_w:g}).",
            ACARY,
        )(partial(_judge, forecast=_w))


@_says(
    "acary-bar-forecast",
    _SCHEME,
    "The choice of the forecast plays a leading part in the global behaviour.",
    ACARY,
)
def _forecast(runs: Runs) -> Verdict:
    early, late = (hits(runs, "combined", forecast=w) for w in reversed(FORECASTS))
    phases = [max(run.results["contact_phases"] for run in found) for found in (late, early)]
    why = (
        f"energy that tau feeds in at forecast 1, {_injected(early):.2%} of the initial one, over that at "
        f"0.5, {_injected(late):.2%}, mean of {PLACES}; limit: half as much again. Contact takes up to "
        f"{phases[1]} phases instead of {phases[0]}: a node stopped before it arrives is stopped again later"
    )
    ratio = max(_injected(early), 1e-12) / max(_injected(late), 1e-12)
    return Verdict.above(why, max(ratio, 1 / ratio), 1.5)


@_says("acary-bar-stress", _SCHEME, "Artifacts on stresses are eliminated in lasting contact.", ACARY)
def _impulses_held(runs: Runs) -> Verdict:
    def ripple(scheme: str) -> float:
        return max(impulse_ripple(run, in_contact(run)) for run in hits(runs, scheme))

    found, newmark = ripple("combined"), ripple("carpenter-implicit")
    why = (
        f"RMS of the impulses over the exact force x h while the bar touches, {found:.2g}, over "
        f"{newmark:.2g} with carpenter-implicit, a Newmark scheme as in [7, 4]; limit: a tenth. What is left "
        "is the ripple of the mesh behind the impact"
    )
    return Verdict.below(why, found / newmark, 0.1)


def _sum_of_tau(found: Sequence[Run]) -> float:
    return float(np.mean([tau(run).sum() for run in found]))


def _multiplier(runs: Runs, restitution: float) -> Verdict:
    found = [_finer_steps(runs, k, restitution=restitution) for k in range(5)]
    sizes = [_sum_of_tau(group) for group in found]
    shown = ", ".join(f"{1e6 * size:.2g}" for size in sizes)
    why = (
        f"order in h of the sum of tau over the run, {shown} µm on {_ONE_MESH} elements with the step "
        f"halved each time ((5) is of one mesh), mean of {PLACES}; limit: half an order"
    )
    if restitution > 0:
        _, kept = _refined_combined(runs, _sum_of_tau, restitution=restitution)
        why += f". With the mesh refined too it stays: {1e6 * kept[-1]:.2g} µm on {MESHES[2]} elements"
    steps = steps_of([group[0] for group in found])
    return also(min(sizes) > 0, Verdict.above(why, order(steps, np.maximum(sizes, 1e-15)), 0.5))


for _id, _e in (("", 0.0), ("-e08", 0.8)):
    _says(
        f"acary-bar-multiplier{_id}",
        "(5)",
        f"The multiplier of the position constraint tends to zero, restitution {_e:g}.",
        ACARY,
    )(partial(_multiplier, restitution=_e))


_STABLE = "Satisfying the impact law leads to good stability"


@_says("acary-bar-stable", _SCHEME, f"{_STABLE}.", ACARY)
def _bounded(runs: Runs) -> Verdict:
    found = [
        run
        for w in FORECASTS
        for e in (0.0, 0.8)
        for run in hits(runs, "combined", forecast=w, restitution=e)
    ]
    newmark = highest_energy(runs(CASE, "carpenter-implicit")) - 1
    limit = BAR.force * found[0].results["h"] * BAR.v0 / ENERGY
    why = (
        f"largest energy over the initial one, less 1, restitution 0 and 0.8, both forecasts, {PLACES}; "
        "limit: the work of the contact force on the way of one step, h v0, which tau may have to undo. "
        f"carpenter-implicit reaches {newmark:.2g}"
    )
    return Verdict.below(why, max(highest_energy(run) - 1 for run in found), limit)


@_says(
    "acary-bar-stable-after",
    _SCHEME,
    f"{_STABLE} (taken as: in plastic contact energy does not grow after the impact).",
    ACARY,
)
def _stable(runs: Runs) -> Verdict:
    found = [run for w in FORECASTS for run in hits(runs, "combined", forecast=w)]
    newmark = _growth(runs(CASE, "carpenter-implicit"))
    why = (
        "largest growth of the energy later than two steps after the impact, part of it, restitution 0, "
        f"both forecasts, {PLACES}; limit: rounding. With carpenter-implicit it is {newmark:.2g}"
    )
    return Verdict.below(why, max(map(_growth, found)), 1e-11)


@_says("acary-bar-stable-impact", _SCHEME, f"{_STABLE} (taken as: no impact brings energy in).", ACARY)
def _never_fed(runs: Runs) -> Verdict:
    found = {w: [highest_energy(run) - 1 for run in hits(runs, "combined", forecast=w)] for w in FORECASTS}
    why = (
        f"largest energy over the initial one, less 1, restitution 0, {PLACES}: {max(found[0.5]):.2g} with "
        f"forecast 0.5, {max(found[1.0]):.2g} with forecast 1; limit: rounding. What is fed in comes once, "
        "where tau gives more than the impact takes"
    )
    return Verdict.below(why, max(map(max, found.values())), 1e-11)


def _growth(run: Run) -> float:
    """Largest energy over that three steps after the first impulse (tau acts in the first two), less 1."""
    after = run["t"] > run.results["contact_start"] + 2.5 * run.results["h"]
    energy = (run["kinetic"] + run["complementary"] + run["internal"])[after]
    return float(np.max(energy) / energy[0]) - 1


@_says(
    "acary-bar-moreau-drift",
    "Background, (4)",
    "With Moreau-Jean the position constraint is violated.",
    ACARY,
)
def _drift(runs: Runs) -> Verdict:
    why = f"penetration over h v0, the largest of {PLACES}; limit: far above rounding"
    return Verdict.above(why, _penetration(hits(runs, "moreau-jean")), 1e-6)


@_says(
    "acary-bar-moreau-newton", "Background, (4)", "Moreau-Jean enforces Newton's law in every step.", ACARY
)
def _moreau_law(runs: Runs) -> Verdict:
    found = [_law_broken(runs(CASE, "moreau-jean", restitution=e)) for e in (0.0, 0.8)]
    why = "largest |v+ + e v-| over v0 of the steps with an impulse, e = 0 and 0.8; limit: 50 roundings"
    return Verdict.below(why, max(found), 1e-14)


def _paoli_position(runs: Runs, restitution: float) -> Verdict:
    why = f"penetration over h v0, restitution {restitution:g}, {PLACES}; limit: rounding of u"
    if restitution > 0:
        why += ". The scheme constrains the mean (u_{n+1} + e u_{n-1})/(1 + e), not the position"
    return Verdict.below(why, _penetration(hits(runs, "paoli-schatzman", restitution=restitution)), 1e-12)


for _id, _e in (("", 0.0), ("-e08", 0.8)):
    _says(
        f"acary-bar-paoli-position{_id}",
        "Background",
        f"Paoli-Schatzman satisfies the position constraint, restitution {_e:g}.",
        ACARY,
    )(partial(_paoli_position, restitution=_e))


@_says(
    "acary-bar-paoli-newton",
    "Background",
    "Paoli-Schatzman does not satisfy the impact law within the step.",
    ACARY,
)
def _paoli_law(runs: Runs) -> Verdict:
    found = [_law_broken(runs(CASE, "paoli-schatzman", restitution=e)) for e in (0.0, 0.8)]
    why = (
        f"largest |v+ + e v-| over v0 of the steps with an impulse, restitution 0 ({found[0]:.2g}) and 0.8 "
        f"({found[1]:.2g}), the smaller decides; limit: far above rounding"
    )
    return Verdict.above(why, min(found), 1e-6)


CLAIMS: tuple[Claim, ...] = tuple(_says)

"""The impacting bar: oscillations of velocity and impulse, Di Stasio et al. (2019), CSMA (2019)."""

from __future__ import annotations

import numpy as np

from ...claim import CSMA, Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict
from .measures import (
    BAR,
    BOTH,
    CASE,
    DISSIPATIVE,
    SIZES,
    TRANSIT,
    Register,
    impulse_span,
    listed,
    on_meshes,
    ringing,
    steps_of,
)

_says = Register()
_TEXT = "Impacting bar"
_SECTION = "Sect. 2.4"


@_says("csma-bar-release-ripple", _SECTION, "The velocity oscillates after the bar has left the wall.", CSMA)
@_says(
    "distasio-fig21-oscillations",
    "Fig. 21; Concluding remarks",
    "After the release the velocity of the contact node oscillates with both schemes.",
)
def _oscillations(runs: Runs) -> Verdict:
    found = {scheme: ringing(runs(CASE, scheme))[0] / BAR.v0 for scheme in BOTH}
    why = (
        "RMS of the velocity over v0, L/c to 1.8 L/c after the release, where the exact one is constant: "
        f"{listed(found)}, the smaller decides; limit: 1 %, a line's width in the figure"
    )
    return Verdict.above(why, min(found.values()), 0.01)


@_says("distasio-fig21-equivalent", "Figs. 21, 22", "Both schemes oscillate alike after the release.")
def _equivalent(runs: Runs) -> Verdict:
    (a, f), (b, g) = (ringing(runs(CASE, scheme)) for scheme in BOTH)
    why = (
        "ratio of the larger RMS of the velocity after the release to the smaller one; tolerance: 10 %, by "
        "convention what a figure does not tell apart. The frequencies of cd-lagrange and moreau-jean are "
        f"{f / 1e3:.0f} and {g / 1e3:.0f} kHz"
    )
    return Verdict.equal(why, max(a, b) / min(a, b), 1.0, 0.1)


@_says("distasio-fig22-impulse", "Fig. 22", "The impulse at the contact node oscillates too.")
def _impulse(runs: Runs) -> Verdict:
    found = {scheme: impulse_span(runs(CASE, scheme)) for scheme in BOTH}
    why = (
        "peak to peak of the impulses over the exact force x h, in the first L/c of the contact less two "
        f"steps: {listed(found)}, the smaller decides; limit: 1 %, a line's width in the figure"
    )
    return Verdict.above(why, min(found.values()), 0.01)


@_says("csma-bar-amplitude", _SECTION, "Smaller steps and elements make these oscillations smaller.", CSMA)
@_says(
    "distasio-bar-amplitude",
    _TEXT,
    "With CD-Lagrange the amplitude of the oscillations decreases with refinement.",
)
def _amplitude(runs: Runs) -> Verdict:
    refined = on_meshes(runs, "cd-lagrange")
    sizes = [ringing(run)[0] for run in refined]
    why = (
        f"order in h of the RMS of the velocity at fixed times after the release, {sizes[0]:.3g} to "
        f"{sizes[-1]:.3g} m/s on {SIZES}. Theory: the tail behind a front on a lattice decays as "
        "(c t/l)^(-1/2), order 1/2 at a fixed time; limit: half of it"
    )
    return Verdict.above(why, order(steps_of(refined), sizes), 0.25)


@_says(
    "distasio-bar-overshoot",
    _TEXT,
    "With CD-Lagrange the amplitude of the oscillations decreases with refinement (taken as: the largest, "
    "the overshoot at the release).",
)
def _overshoot(runs: Runs) -> Verdict:
    refined = on_meshes(runs, "cd-lagrange")
    first = [run["t"] < BAR.contact_end + 1.8 * TRANSIT for run in refined]
    peaks = [-float(run["v_t"][mask].min()) / BAR.v0 - 1 for run, mask in zip(refined, first)]
    sizes = np.maximum(peaks, 1e-12)
    shown = ", ".join(f"{size:.2g}" for size in sizes)
    why = (
        f"order in h of the largest velocity beyond v0, {shown} of v0 on {SIZES}: it should be positive. A "
        "lattice keeps the first peaks behind a front as high on every mesh, and brings them nearer to it"
    )
    return Verdict.above(why, order(steps_of(refined), sizes), 0.1)


@_says("csma-bar-frequency", _SECTION, "Smaller steps and elements make their frequency higher.", CSMA)
@_says("distasio-bar-frequency", _TEXT, "With CD-Lagrange their frequency increases with the refinement.")
def _frequency(runs: Runs) -> Verdict:
    refined = on_meshes(runs, "cd-lagrange")
    found = [ringing(run)[1] for run in refined]
    why = (
        f"order in 1/h of the frequency, {found[0] / 1e3:.0f} to {found[-1] / 1e3:.0f} kHz on {SIZES}. "
        "Theory: 1, that of a mesh is proportional to c/l; limit: half of it"
    )
    return Verdict.above(why, -order(steps_of(refined), np.maximum(found, 1.0)), 0.5)


@_says(
    "csma-bar-high-frequency",
    _SECTION,
    "The mesh brings in high frequencies that the continuous problem does not have.",
    CSMA,
)
@_says(
    "distasio-bar-high-frequency",
    "Impacting bar; Concluding remarks",
    "The discretization brings spurious high frequencies at the contact node.",
)
def _high_frequency(runs: Runs) -> Verdict:
    top = BAR.wave_speed / (np.pi * BAR.length / 50)
    found = {scheme: ringing(runs(CASE, scheme))[1] / top for scheme in BOTH}
    why = (
        f"frequency of the node's velocity over the highest of the lumped chain, c/(pi l) = {top / 1e3:.0f} "
        f"kHz: {listed(found)}, the lower decides; above 1/2 it is of waves of less than six elements"
    )
    return Verdict.above(why, min(found.values()), 0.5)


@_says(
    "csma-bar-scheme-dependent",
    _SECTION,
    "How much of the high frequencies is there depends on the scheme.",
    CSMA,
)
def _scheme_dependent(runs: Runs) -> Verdict:
    found = {s: ringing(runs(CASE, s))[0] / BAR.v0 for s in (*BOTH, "carpenter", "carpenter-implicit")}
    least, *_, next_most, most = sorted(found.values())
    why = (
        f"RMS of the velocity over v0 after the release, the largest over the smallest: {listed(found)}; "
        f"limit: twice. Without the largest the ratio is {next_most / least:.2f}"
    )
    return Verdict.above(why, most / least, 2.0)


@_says(
    "csma-bar-dissipative",
    _SECTION,
    "A dissipative scheme could deal with the spurious high frequencies.",
    CSMA,
)
@_says(
    "distasio-bar-dissipative",
    "Impacting bar; Concluding remarks",
    "A dissipative explicit scheme would damp the oscillations.",
)
def _dissipative(runs: Runs) -> Verdict:
    damped, plain = (ringing(runs(CASE, scheme))[0] for scheme in (DISSIPATIVE, "cd-lagrange"))
    why = (
        f"RMS of the velocity after the release, {damped:.3g} m/s, over {plain:.3g} m/s of cd-lagrange; "
        "limit: a tenth, by convention. The scheme is Tchamwa and Wielgosz's (phi = 1.1); the papers name "
        "EG-alpha, Noh and Bathe's and, implicit, generalized alpha"
    )
    return Verdict.below(why, damped / plain, 0.1)


@_says(
    "distasio-bar-implicit-dissipative",
    _TEXT,
    "Implicit dissipative schemes damp the oscillations, with impacts too.",
)
def _implicit_dissipative(runs: Runs) -> Verdict:
    run, plain = runs(CASE, "moreau-jean", theta=0.55), ringing(runs(CASE, "moreau-jean"))[0]
    damped = ringing(run)[0]
    why = (
        f"RMS of the velocity after the release with moreau-jean, theta = 0.55, {damped:.3g} m/s, over "
        f"{plain:.3g} m/s with theta = 1/2; limit: a tenth, by convention. It loses "
        f"{run.results['energy_lost']:.1%} of the energy. The paper names generalized alpha"
    )
    return Verdict.below(why, damped / plain, 0.1)


CLAIMS: tuple[Claim, ...] = tuple(_says)

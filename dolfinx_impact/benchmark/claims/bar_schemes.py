"""The impacting bar: Di Stasio et al. (2019), Figs. 20-22, and CSMA (2019), 2.4."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..convergence import at_times, norm35, order
from ..runs import Runs
from .bar_measures import (
    BAR, BOTH, CASE, DISSIPATIVE, ENERGY, MESHES, Register, SIZES, TRANSIT, also, error, highest_energy,
    impulse_ripple, listed, on_meshes, position_ripple, ringing, steps_of, vibrating,
)  # fmt: skip
from .claim import CSMA, Claim, Finding

_says = Register()
_TEXT = "Impacting bar, discretization"
_RESULTS = "Impacting bar, Figs. 20-22"


@_says("distasio-bar-critical-step", _TEXT,
       "With 50 elements the largest stable step of explicit schemes is 9.82e-7 s.")  # fmt: skip
def _critical_step(runs: Runs) -> Finding:
    run = runs(CASE, "cd-lagrange", courant=1.0)
    growth = highest_energy(run)
    why = (
        "the critical step of the mesh, (L/N)/c, to the printed digits; the run at it never has more than "
        f"{growth:.6g} of its initial energy"
    )
    return also(growth < 1 + 1e-9, Finding.equal(run.results["critical_time_step"], 9.82e-7, 5e-10, why))


@_says("distasio-bar-step", _TEXT, "The step of 0.7 times the critical one is 6.87e-7 s.")
def _step(runs: Runs) -> Finding:
    run = runs(CASE, "cd-lagrange", courant=0.7)
    growth = highest_energy(run)
    why = (
        f"the step of the run, to the printed digits; the run is stable: its energy is at most {growth:.6g} "
        "of the initial one"
    )
    return also(growth < 1 + 1e-9, Finding.equal(run.results["h"], 6.87e-7, 5e-10, why))


@_says("distasio-bar-one-node", "Impacting bar, Fig. 19", "The contact area is a single node.")
def _one_node(runs: Runs) -> Finding:
    run = runs(CASE, "cd-lagrange")
    share = run.results["first_impulse"] / (BAR.impulse / 2)
    why = (
        "the first impulse over the momentum of the bar: that of one lumped end node, 1/(2 N); "
        f"{run['gap'].shape[1]} contact point"
    )
    return also(run["gap"].shape[1] == 1, Finding.equal(share, 0.01, 1e-12, why))


@_says("distasio-bar-consistent", "Impacting bar, elementary matrices",
       "Only the explicit scheme lumps the mass; Moreau-Jean takes the consistent matrix.")  # fmt: skip
def _consistent(runs: Runs) -> Finding:
    run = runs(CASE, "moreau-jean")
    n, h = run.summary["parameters"]["elements"], run.results["h"]
    cell = BAR.length / n
    mass = BAR.rho * BAR.area * cell / 6 * np.array([[2, 1], [1, 2]])
    stiff = BAR.E * BAR.area / cell * np.array([[1, -1], [-1, 1]])
    A = np.zeros((n + 1, n + 1))
    for k in range(n):
        A[k : k + 2, k : k + 2] += mass + h**2 / 4 * stiff
    expected = BAR.v0 / np.linalg.inv(A)[0, 0]
    lumped = runs(CASE, "cd-lagrange").results["first_impulse"]
    why = (
        "the first impulse of moreau-jean [N s], against v0 / [(M + h^2/4 K)^-1]_11 with the printed "
        f"consistent matrices; limit: rounding. The lumped node of cd-lagrange takes {lumped:.6g}"
    )
    return Finding.equal(run.results["first_impulse"], expected, 1e-10 * expected, why)


@_says("csma-bar-e1-ripple", "2.4", "Spurious oscillations of the position follow the impact.", CSMA)
@_says("distasio-bar-e1-ripple", _TEXT,
       "With restitution 1 the displacement of the contact node oscillates after the impact.")  # fmt: skip
def _elastic_ripple(runs: Runs) -> Finding:
    found = {scheme: position_ripple(runs(CASE, scheme, restitution=1.0)) for scheme in BOTH}
    quiet = max(position_ripple(runs(CASE, scheme)) for scheme in BOTH)
    why = (
        f"RMS of the position during the contact over h v0, {listed(found)}, the smaller decides; with "
        f"restitution 0 it is {quiet:.1g}, and the limit is far above rounding"
    )
    return Finding.above(min(found.values()), 1e-6, why)


def _closer(runs: Runs, name: str) -> Finding:
    found = {s: [error(runs(CASE, s, restitution=e), name) for e in (0.0, 1.0)] for s in BOTH}
    shown = ", ".join(f"{a:.3g} and {b:.3g} with {scheme}" for scheme, (a, b) in found.items())
    why = f"error with e = 0 over that with e = 1, norm (35), the larger ratio of both schemes: {shown}. "
    why += {
        "u": "At e = 1 the position ripples by less than h v0; at e = 0 the node stays inside the wall, and "
             "the bar rebounds slower, by the energy of the node",
        "v_t": "The velocity of moreau-jean changes its sign in every step at e = 1",
    }[name]  # fmt: skip
    return Finding.below(max(a / b for a, b in found.values()), 1.0, why)


for _quantity, _name in (("displacement", "u"), ("velocity", "v_t")):
    _says(f"distasio-bar-e0-{_quantity}", _TEXT,
          f"With restitution 0 the {_quantity} is closer to the analytical one than with 1.",
          )(partial(_closer, name=_name))  # fmt: skip


@_says("csma-bar-convergence", "2.4", "At convergence in space and time energy is conserved.", CSMA)
@_says("distasio-bar-energy-order", _TEXT, "Energy is conserved only as space and time steps converge.")
def _energy_order(runs: Runs) -> Finding:
    found = {}
    for scheme in BOTH:
        refined = on_meshes(runs, scheme)
        lost = [run.results["energy_lost"] for run in refined]
        if min(lost) <= 0:
            return Finding(min(lost), 1.0, 0.1, False, f"{scheme} loses no energy on any mesh")
        found[scheme] = order(steps_of(refined), lost)
    why = (
        f"order of the energy lost, {SIZES} at one Courant number: {listed(found)}, the worse one decides. "
        "It is the energy of a mass proportional to the element"
    )
    return Finding.equal(max(found.values(), key=lambda p: abs(p - 1)), 1.0, 0.1, why)


@_says("distasio-bar-converges", _TEXT,
       "The discrete solution converges to the analytical one in space and time.")  # fmt: skip
def _converges(runs: Runs) -> Finding:
    refined = on_meshes(runs, "cd-lagrange")
    times = refined[0]["t"]
    u, v = (order(steps_of(refined), [error(run, name, times) for run in refined]) for name in ("u", "v_t"))
    why = (
        f"order of the displacement, norm (35) on the times of the coarsest run, {SIZES}; limit: half an "
        f"order. That of the velocity is {v:.2f}: it oscillates behind every jump"
    )
    return also(v > 0.25, Finding.above(u, 0.5, why))


@_says("csma-bar-node-energy", "2.4",
       "The energy dissipated is the kinetic energy of the contact node, which the impact takes away.", CSMA)
@_says("distasio-bar-node-energy", _TEXT, "CD-Lagrange loses the kinetic energy of the contact node.")
def _node_energy(runs: Runs, scheme: str = "cd-lagrange") -> Finding:
    lost = -runs(CASE, scheme)["contact"][-1]
    why = f"work of the contact force over the energy of the lumped end node, E0/(2 N), with {scheme}"
    if scheme == "moreau-jean":
        why += (
            ". No node stops alone without a lumped mass: the impulse stops the mass 1/[(M + h^2/4 "
            "K)^-1]_11, and its energy is lost"
        )
    return Finding.equal(lost / (0.01 * ENERGY), 1.0, 1e-9, why)


_says("distasio-bar-node-energy-implicit", _TEXT,
      "Moreau-Jean loses the kinetic energy of the contact node.",
      )(partial(_node_energy, scheme="moreau-jean"))  # fmt: skip


@_says("distasio-bar-lost-tiny", _TEXT, "The lost energy is tiny on an accurate mesh.")
def _lost_tiny(runs: Runs) -> Finding:
    found = {scheme: runs(CASE, scheme, elements=MESHES[-1]).results["energy_lost"] for scheme in BOTH}
    why = (
        f"part of the energy lost on {MESHES[-1]} elements: {listed(found)}; limit: half a per cent, which "
        "four times fewer elements would lose"
    )
    return Finding.below(max(found.values(), key=abs), 0.005, why)


@_says("distasio-fig20-position", "Fig. 20",
       "The position of the contact node is close to the analytical one.")  # fmt: skip
def _position(runs: Runs) -> Finding:
    found = {scheme: error(runs(CASE, scheme), "u") for scheme in BOTH}
    why = (
        f"norm (35) of the displacement: {listed(found)}; limit: 5 %, what a front smeared over two to three "
        "of the 50 elements leaves"
    )
    return Finding.below(max(found.values()), 0.05, why)


@_says("distasio-fig20-persistent", "Fig. 20", "The contact is persistent.")
def _persistent(runs: Runs) -> Finding:
    found = {scheme: runs(CASE, scheme) for scheme in BOTH}
    late = {s: (run.results["contact_end"] - BAR.contact_end) / run.results["h"] for s, run in found.items()}
    moved = max(map(position_ripple, found.values()))
    why = (
        f"phases of contact, the larger number of both schemes; the node moves by {moved:.1g} h v0 while it "
        f"touches, and the last impulse comes {listed(late)} steps after the exact release"
    )
    return Finding.equal(max(run.results["contact_phases"] for run in found.values()), 1, 0, why)


@_says("distasio-fig21-oscillations", "Fig. 21; Concluding remarks",
       "After the release the velocity of the contact node oscillates with both schemes.")  # fmt: skip
def _oscillations(runs: Runs) -> Finding:
    found = {scheme: ringing(runs(CASE, scheme))[0] / BAR.v0 for scheme in BOTH}
    why = (
        "RMS of the velocity over v0, L/c to 1.8 L/c after the release, where the exact one is constant: "
        f"{listed(found)}, the smaller decides; limit: 1 %, a line's width in the figure"
    )
    return Finding.above(min(found.values()), 0.01, why)


@_says("distasio-fig21-equivalent", "Figs. 21, 22", "Both schemes oscillate alike after the release.")
def _equivalent(runs: Runs) -> Finding:
    (a, f), (b, g) = (ringing(runs(CASE, scheme)) for scheme in BOTH)
    why = (
        "ratio of the larger RMS of the velocity after the release to the smaller one; tolerance: what one "
        "doubling of the mesh changes, sqrt 2. The frequencies of cd-lagrange and moreau-jean are "
        f"{f / 1e3:.0f} and {g / 1e3:.0f} kHz"
    )
    return Finding.equal(max(a, b) / min(a, b), 1.0, np.sqrt(2) - 1, why)


@_says("distasio-fig22-impulse", "Fig. 22", "The impulse at the contact node oscillates too.")
def _impulse(runs: Runs) -> Finding:
    found = {}
    for scheme in BOTH:
        run = runs(CASE, scheme)
        since = run["t"] - BAR.contact_start
        found[scheme] = impulse_ripple(run, (since > 2 * run.results["h"]) & (since < TRANSIT))
    why = (
        "RMS of the impulses over the exact force x h, in the first L/c of the contact less two steps: "
        f"{listed(found)}, the smaller decides; limit: 1 %, a line's width in the figure"
    )
    return Finding.above(min(found.values()), 0.01, why)


@_says("distasio-fig22-release", "Fig. 22", "The oscillations after the release show in the impulse.")
def _impulse_after(runs: Runs) -> Finding:
    found = [runs(CASE, scheme) for scheme in BOTH]
    hits = [np.count_nonzero(run["r"][run["t"] > BAR.contact_end + 3 * run.results["h"]]) for run in found]
    why = (
        "number of impulses more than three steps after the exact release, the smaller one of both schemes. "
        "The node has left for good: what oscillates are the impulses behind the impact, in contact"
    )
    return Finding.above(min(hits), 0, why)


@_says("csma-bar-amplitude", "2.4", "Smaller steps and elements make these oscillations smaller.", CSMA)
@_says("distasio-bar-amplitude", _RESULTS,
       "With CD-Lagrange the amplitude of the oscillations decreases with refinement.")  # fmt: skip
def _amplitude(runs: Runs) -> Finding:
    refined = on_meshes(runs, "cd-lagrange")
    sizes = [ringing(run)[0] for run in refined]
    why = (
        f"order of the RMS of the velocity at fixed times after the release, {sizes[0]:.3g} to "
        f"{sizes[-1]:.3g} m/s on {SIZES}. The tail behind a front on a lattice decays as (c t/l)^(-1/2): "
        "order 1/2 in l at a fixed time"
    )
    return Finding.equal(order(steps_of(refined), sizes), 0.5, 0.1, why)


@_says("distasio-bar-overshoot", _RESULTS,
       "Their largest amplitude, the overshoot at the release, decreases as well.")  # fmt: skip
def _overshoot(runs: Runs) -> Finding:
    refined = on_meshes(runs, "cd-lagrange")
    first = [run["t"] < BAR.contact_end + 1.8 * TRANSIT for run in refined]
    peaks = [-float(run["v_t"][mask].min()) / BAR.v0 - 1 for run, mask in zip(refined, first)]
    sizes = np.maximum(peaks, 1e-12)
    shown = ", ".join(f"{size:.2g}" for size in sizes)
    why = (
        f"order of the largest velocity beyond v0, {shown} of v0 on {SIZES}: it should be positive. A "
        "lattice keeps the first peaks behind a front as high on every mesh, and brings them nearer to it"
    )
    return Finding.above(order(steps_of(refined), sizes), 0.1, why)


@_says("csma-bar-frequency", "2.4", "Smaller steps and elements make their frequency higher.", CSMA)
@_says("distasio-bar-frequency", _RESULTS, "With CD-Lagrange their frequency increases with the refinement.")
def _frequency(runs: Runs) -> Finding:
    refined = on_meshes(runs, "cd-lagrange")
    found = [ringing(run)[1] for run in refined]
    why = (
        f"order in h of the frequency, {found[0] / 1e3:.0f} to {found[-1] / 1e3:.0f} kHz on {SIZES}; that "
        "of a mesh is proportional to c/l"
    )
    return Finding.equal(order(steps_of(refined), np.maximum(found, 1.0)), -1.0, 0.1, why)


@_says("csma-bar-high-frequency", "2.4",
       "The mesh brings in high frequencies that the continuous problem does not have.", CSMA)  # fmt: skip
@_says("distasio-bar-high-frequency", "Impacting bar, first and last paragraph; Concluding remarks",
       "The discretization brings spurious high frequencies at the contact node.")  # fmt: skip
def _high_frequency(runs: Runs) -> Finding:
    top = BAR.wave_speed / (np.pi * BAR.length / 50)
    found = {scheme: ringing(runs(CASE, scheme))[1] / top for scheme in BOTH}
    why = (
        f"frequency of the node's velocity over the highest of the lumped chain, c/(pi l) = {top / 1e3:.0f} "
        f"kHz: {listed(found)}, the lower decides; above 1/2 it is of waves of less than six elements"
    )
    return Finding.above(min(found.values()), 0.5, why)


@_says("distasio-bar-dissipative", _RESULTS + "; Concluding remarks",
       "A dissipative explicit scheme would damp the oscillations.")  # fmt: skip
def _dissipative(runs: Runs) -> Finding:
    damped, plain = (ringing(runs(CASE, scheme))[0] for scheme in (DISSIPATIVE, "cd-lagrange"))
    why = (
        "RMS of the velocity after the release with Tchamwa and Wielgosz's displacement (phi = 1.1), "
        f"{damped:.3g} m/s, over {plain:.3g} m/s of cd-lagrange; limit: a tenth"
    )
    return Finding.below(damped / plain, 0.1, why)


@_says("distasio-bar-forced-dissipation", "Concluding remarks",
       "Finite elements force a dissipative contact law: without it the contact does not last.")  # fmt: skip
def _forced(runs: Runs) -> Finding:
    found = {scheme: runs(CASE, scheme, restitution=1.0).results["contact_phases"] for scheme in BOTH}
    why = f"phases of contact at restitution 1: {listed(found)}, the smaller decides; at 0 there is one"
    return Finding.above(min(found.values()), 1, why)


@_says("csma-bar-e0-quiet", "2.4", "With restitution 0 the oscillations of the position disappear.", CSMA)
def _quiet(runs: Runs) -> Finding:
    found = {scheme: position_ripple(runs(CASE, scheme)) for scheme in BOTH}
    why = f"RMS of the position during the contact over h v0: {listed(found)}; limit: rounding of u over h v0"
    return Finding.below(max(found.values()), 1e-12, why)


@_says("csma-bar-e0-dissipates", "2.4", "With restitution 0 the contact no longer conserves energy.", CSMA)
def _dissipates(runs: Runs) -> Finding:
    found = {scheme: runs(CASE, scheme).results["energy_lost"] for scheme in BOTH}
    kept = max(abs(runs(CASE, scheme, restitution=1.0).results["energy_lost"]) for scheme in BOTH)
    why = f"part of the energy lost: {listed(found)}, the smaller decides; at restitution 1 it is {kept:.1g}"
    return also(kept < 1e-11, Finding.above(min(found.values()), 1e-6, why))


def _influence(runs: Runs, scheme: str, name: str) -> tuple[float, list[float]]:
    """Order and size of the difference that restitution makes, norm (35) on the coarsest run's times."""
    plastic, elastic = (on_meshes(runs, scheme, restitution=e) for e in (0.0, 1.0))
    times = plastic[0]["t"]
    pairs = [[at_times(run["t"], run[name], times) for run in pair] for pair in zip(elastic, plastic)]
    sizes = [norm35(*pair) for pair in pairs]
    return order(steps_of(plastic), np.maximum(sizes, 1e-15)), sizes


@_says("csma-bar-no-influence-u", "2.4",
       "At convergence restitution has no influence any more (displacement).", CSMA)  # fmt: skip
def _no_influence_u(runs: Runs) -> Finding:
    found = {scheme: _influence(runs, scheme, "u")[0] for scheme in BOTH}
    why = (
        f"order in h of the difference between restitution 0 and 1, norm (35) of the displacement, {SIZES}: "
        f"{listed(found)}, the smaller decides; limit: half an order, as for u itself"
    )
    return Finding.above(min(found.values()), 0.5, why)


def _no_influence_v(runs: Runs, scheme: str) -> Finding:
    found, sizes = _influence(runs, scheme, "v_t")
    why = (
        "order in h of the difference between restitution 0 and 1, norm (35) of the velocity at t, "
        f"{sizes[0]:.2g} to {sizes[-1]:.2g} on {SIZES}; limit: half of the velocity's own order 1/2"
    )
    if scheme == "moreau-jean":
        why += ". At restitution 1 its node reverses its velocity in every step, on every mesh"
    return Finding.above(found, 0.25, why)


for _scheme in BOTH:
    _says(f"csma-bar-no-influence-v-{_scheme}", "2.4",
          f"At convergence restitution has no influence any more (velocity, {_scheme}).",
          CSMA)(partial(_no_influence_v, scheme=_scheme))  # fmt: skip


@_says("csma-bar-vibration", "3",
       "At the impact energy turns into spurious oscillations of high frequency.", CSMA)  # fmt: skip
def _vibration(runs: Runs) -> Finding:
    found = {s: vibrating(runs(CASE, s)) / runs(CASE, s).results["energy_lost"] for s in BOTH}
    why = (
        "energy at the end that is not that of the mean velocity (the exact bar has none) over the energy "
        f"that contact takes away: {listed(found)}; the smaller decides, and should be above 1"
    )
    return Finding.above(min(found.values()), 1.0, why)


@_says("csma-bar-formulation", "3",
       "Contact at velocity level has the better energy behaviour than contact at position level.", CSMA)
def _formulation(runs: Runs) -> Finding:
    pairs = (("cd-lagrange", "carpenter"), ("moreau-jean", "carpenter-implicit"))
    lost = [[runs(CASE, scheme).results["energy_lost"] for scheme in pair] for pair in pairs]
    why = (
        "error of the energy at velocity over that at position level, the larger ratio of the explicit "
        "({0[0]:.4f}, {0[1]:.4f} lost) and the implicit schemes ({1[0]:.4f}, {1[1]:.4f})"
    )
    return Finding.below(max(abs(a / b) for a, b in lost), 1.0, why.format(*lost))


CLAIMS: tuple[Claim, ...] = tuple(_says)

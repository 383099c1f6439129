"""HATI on the split bar: Fekak et al. (2017), Sects. 1, 2.2 to 2.5 and Appendix 2.2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...claim import FEKAK, Figure, Measured, Runs, Verdict, above, below, equal, row, table
from ...convergence import order
from ..impacting_bar.measures import energy
from . import measures as m
from .measures import CASE, CD, COURANT, FINE, LINE, OTHERS, RATIOS, SCHEME, TOTAL, V0


def _over_ratios(runs: Runs, result: str, courant: float = FINE) -> list[float]:
    return [runs(CASE, SCHEME, ratio=ratio, courant=courant).results[result] for ratio in RATIOS]


def _whole(runs: Runs, result: str) -> float:
    return float(runs(CASE, CD, courant=FINE).results[result])


def _jump(runs: Runs) -> float:
    coarse = max(_over_ratios(runs, "velocity_jump", courant=COURANT)) / V0
    return max(coarse, *(m.fine_jump(runs, ratio) for ratio in RATIOS))


def _apart(runs: Runs) -> Measured:
    def apart(ratio: int, courant: float) -> float:
        u = runs(CASE, SCHEME, ratio=ratio, courant=courant)["u"]
        return float(np.abs(u[:, 1] - u[:, 2]).max() / np.abs(u[:, 1]).max())

    far = apart(100, COURANT)
    return Measured(apart(10, FINE), note=f"With m = 100, courant {COURANT}, it is {far:.2g}")


def _more_lost(runs: Runs) -> Measured:
    lost = [runs(CASE, kind, ratio=10, courant=FINE).results["energy_lost"] for kind in (SCHEME, TOTAL)]
    found, otherwise = np.subtract(lost, _whole(runs, "energy_lost"))
    return Measured(found, note=f"With the total velocity at the beginning it is {otherwise:.2g}")


def _solves(runs: Runs) -> Measured:
    counts = [count for ratio in (1, 10, 100) for count in m.solves(runs, ratio, 3)]
    return Measured(max(counts), holds=min(counts) == 2)


def _growths(runs: Runs, ratios: Sequence[int] = (1, 10, 100, 500), t_end: float = 1e-2) -> dict[str, float]:
    settings = {"load": "pulse", "courant": COURANT, "t_end": t_end}
    made = {f"m = {m}": runs(CASE, SCHEME, ratio=m, **settings) for m in ratios}
    return {name: float(energy(run).max() / run["external"].max()) for name, run in made.items()}


def _taken(runs: Runs) -> Measured:
    taken = [-m.taken(runs(CASE, SCHEME, ratio=ratio, courant=FINE)) for ratio in RATIOS]
    growth = [b / a if a > 0 else 0.0 for a, b in zip(taken, taken[1:])]
    return Measured(min(growth), note=f"It takes {taken[0]:.2g} to {taken[-1]:.2g} of the energy")


def _taken_order(runs: Runs) -> float:
    courants = (0.4, 0.2, FINE)
    taken = [abs(m.taken(runs(CASE, SCHEME, ratio=1, courant=courant))) for courant in courants]
    return order(courants, np.maximum(taken, 1e-16))


def _convergence(runs: Runs) -> Measured:
    u, v = (_over_ratios(runs, name) for name in ("error_u", "error_v"))
    rises = all(a < b for a, b in zip(v, v[1:]))
    return Measured(order(RATIOS, np.maximum(u, 1e-16)), holds=rises, note=f"From {u[0]:.2g} to {u[-1]:.2g}")


def _late(runs: Runs) -> float:
    run = runs(CASE, SCHEME, ratio=100, courant=FINE)
    return (run.results["contact_start"] - _whole(runs, "contact_start")) / run.results["h"]


def _slow(runs: Runs) -> Measured:
    results = runs(CASE, SCHEME, load="pulse", ratio=500, courant=FINE).results
    return Measured(results["error_u"], holds=results["error_v"] < LINE)


def _others(runs: Runs) -> Measured:
    made = {kind: [runs(CASE, kind, ratio=r, courant=FINE).results for r in (10, 2)] for kind in OTHERS}
    jump = max(results["velocity_jump"] for each in made.values() for results in each) / V0
    ratios = {OTHERS[kind]: near["error_u"] / far["error_u"] for kind, (far, near) in made.items()}
    return Measured(ratios, holds=jump < 1e-12)


def _explicit_limit(runs: Runs) -> Measured:
    energies = energy(runs(CASE, SCHEME, ratio=10, courant=COURANT))
    integrator = m.made(runs, ratio=10, courant=COURANT)
    steps = integrator.dt / integrator.coarse.system.critical_time_step()
    note = f"The coarse step is {steps:.2g} times the critical explicit one of the implicit part"
    return Measured(energies.max() / energies[0], holds=steps > 2, note=note)


_SHOWN = ", ".join(map(str, RATIOS))
_DIFFER = "Energy is dissipated at the interface only when time scales differ (taken as: "
_OTHER_PAPERS = "this compares methods of other papers, not written down here; the GC method runs here"
CLAIMS = table(CASE, FEKAK, [
    row("continuity", "Sects. 1, 2.4.1, (59)", "Velocities are continuous at the interface in fine steps.",
        _jump, below(1e-12), f"largest difference of both copies over v0, m = {_SHOWN}; limit: rounding"),
    row("glued", "Sect. 2.2, (23)", "The interface forces glue the subdomains to each other.",
        _apart, below(LINE), f"largest difference of both displacements, relative, m = 10, courant {FINE}"),
    row("free-velocity", "Sect. 2.5, (74)",
        "The free velocity of the implicit side is linear between coarse times: that couples the sides.",
        _more_lost, below(LINE), f"part of the energy lost beyond the undivided bar, m = 10, courant {FINE}"),
    row("solves", "Sect. 2.5, Algorithm 1",
        "A coarse step takes one free and one constrained problem on the implicit part, fine steps none.",
        _solves, equal(2, 0), "largest number of linear systems in a coarse step, m = 1, 10 and 100"),
    row("stable", "Sects. 1, 2.4", "The method is stable.",
        _growths, below(1.01), f"largest energy over the work of the pulse, in 10 ms, courant {COURANT}"),
    row("ratio-controls", "Sect. 2.4", "The ratio m controls the energy dissipated at the interface.",
        _taken, above(1.5), f"smallest growth from one of m = {_SHOWN} to the next, courant {FINE}"),
    row("equal-steps", "Sect. 2.4", f"{_DIFFER}(93) is zero for m = 1).",
        lambda runs: m.taken(runs(CASE, SCHEME, ratio=1, courant=COURANT)), below(1e-12),
        "interface energy over the largest energy; a pseudo-energy vanishes, (93) does not"),
    row("equal-steps-order", "Sect. 2.4", f"{_DIFFER}with m = 1 it falls as the step squared).",
        _taken_order, equal(2.0, 0.2), "order in the step of the interface energy; each step leaves a cube"),
    row("balance", "Appendix 2.2, (91)", "The discrete energy balance of the coupled parts is closed.",
        lambda runs: max(_over_ratios(runs, "balance_residual", courant=COURANT)), below(1e-11),
        "largest residual, relative, with the mean of the multipliers in (93); limit: rounding"),
    row("balance-printed", "Appendix 2.2, (93)",
        "The balance is closed with the increments of the multipliers in the interface energy, as printed.",
        lambda runs: max(m.residual_as_printed(runs, ratio) for ratio in (1, 10)), below(1e-11),
        "largest residual, relative; an increment times a displacement is no work: their mean is meant"),
    row("convergence", "Sect. 3.2; Abstract", "HATI agrees with the fine explicit run (as m falls).",
        _convergence, above(1.0), f"order in m of the error (94) of the tip's displacement, m = {_SHOWN}"),
    row("fine-contact", "Sects. 2.4.1, (56); 4", "Contact is integrated with the fine step.",
        _late, below(1.0), "delay of the impact against the undivided bar over the fine step, m = 100"),
    row("fast-phenomena", "Abstract; Sect. 1", "The fine explicit part reproduces fast phenomena.",
        lambda runs: np.divide(_over_ratios(runs, "first_impulse"), _whole(runs, "first_impulse")) - 1,
        below(1e-9), f"first impulse over that of the undivided bar, less 1, m = {_SHOWN}"),
    row("slow-phenomena", "Abstract; Sect. 1", "The coarse implicit part reproduces slow phenomena.",
        _slow, below(LINE), "error (94) of the tip's displacement, twenty coarse steps in a pulse of 1 ms"),
    row("any-newmark", "Sect. 1", "Any Newmark integrators can be coupled, with steps of their own (three).",
        _others, below(0.5), f"error (94) with m = 2 over that with m = 10, other constants, courant {FINE}"),
    row("explicit-limit", "Sect. 2.2; Sect. 3.2", "The fine step has to suit the explicit part alone.",
        _explicit_limit, below(1 + 1e-9), "largest energy over the initial one; limit: 1 but for rounding"),
    row("other-methods", "Sect. 1",
        "BGC-micro is the GC method for Newmark schemes; BGC-macro has no pseudo-energy there.",
        lambda runs: Verdict.undecided(_OTHER_PAPERS), None),
], prefix="fekak-hati-")  # fmt: skip
FIGURES: tuple[Figure, ...] = ()

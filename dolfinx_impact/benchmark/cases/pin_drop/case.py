"""A long beam falls on a small pin: HATI with a fine explicit zone of contact on a large body in space.

The beam bends for tens of milliseconds after an impact on a tip whose thin layers allow steps of tens of
nanoseconds. Its slow motion is what HATI takes with large steps; Fekak et al. (2017),
doi:10.1007/s00466-017-1397-0, have bars and frames alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import parallel
from ....integrators import Integrator, Option, find_scheme
from ....integrators.hati import HATI
from ....integrators.options import check
from ....output.result import Result
from ....simulation.loop import simulate
from ... import drawings
from ...case import COMMON, CONTACT, Case, Judged, Problem, Values, balance_verdict
from ...verdict import Verdict
from ..split_bar.case import SplitLog
from . import model

_POSITIVE = "(0, inf)"
PARAMETERS = {
    "along": Option(100, "-", "elements along the beam, a multiple of 4", interval="[8, 4000]"),
    "across": Option(4, "-", "elements across the beam each way, a multiple of 4", interval="[4, 40]"),
    "layers": Option(6, "-", "layers of elements of the pin", interval="[2, 100]"),
    "tip": Option(1e-3, "m", "height of the lowest layer; each other one is higher", interval=_POSITIVE),
    "length": Option(4.0, "m", "length of the beam", interval=_POSITIVE),
    "side": Option(0.1, "m", "width and height of the beam; the pin is half as wide", interval=_POSITIVE),
    "width": Option(0.08, "m", "extent of the pin along the beam", interval=_POSITIVE),
    "pin": Option(0.05, "m", "height of the pin", interval=_POSITIVE),
    "E": Option(2.1e11, "Pa", "Young's modulus", interval=_POSITIVE),
    "nu": Option(0.3, "-", "Poisson's ratio", interval="(-1, 0.5)"),
    "rho": Option(7850.0, "kg/m3", "density", interval=_POSITIVE),
    "gap": Option(1e-5, "m", "distance to the floor at t = 0", interval="[0, inf)"),
    "v0": Option(1.0, "m/s", "speed towards the floor", interval=_POSITIVE),
    **COMMON,
    "courant": Option(0.9, "-", "(fine) step over the critical one of what is explicit"),
    "h": Option(None, "s", "(fine) time step; the other way to give it is courant"),
    "t_end": Option(2e-3, "s", "end time"),
}


def checked(p: Values) -> Values:
    """The parameters; ValueError for those of no such mesh."""
    check(PARAMETERS, p)
    for name in ("along", "across"):
        if p[name] % 4:
            raise ValueError(f"{name} must be a multiple of 4, but is {p[name]}")
    wide = p["along"] * p["width"] / p["length"]
    if abs(wide - 2 * round(wide / 2)) > 1e-9 or not 1 < wide < p["along"]:
        raise ValueError(
            "the pin must have an even number of elements along the beam: along width / length, but that is "
            f"{wide:g}"
        )
    if not p["tip"] * p["layers"] < p["pin"]:
        raise ValueError(
            f"{p['layers']} layers of at least tip = {p['tip']:g} m are no pin of {p['pin']:g} m: take fewer "
            "or thinner ones"
        )
    return p


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    p, chosen = checked(p), find_scheme(scheme)
    parts = model.bodies(p, chosen.divided)
    h = model.explicit_step(parts, p)
    system = (parts[0], parts[1]) if chosen.divided else parts[0]
    integrator = chosen.bind(system, h, model.floor(parts[0], p), p, allow_unstable=allow_unstable)
    integrator.start(0.0, lambda x: np.outer([0.0, 0.0, -p["v0"]], np.ones(x.shape[1])))
    log = SplitLog(integrator)

    def judge(result: Result) -> Judged:
        results = measure(result, log, integrator, p)
        return results, verdicts(results, result, integrator, p)

    dofs = int(parallel.total(parts[0].comm, np.count_nonzero(sum(b.active for b in parts))))
    effective = {"h": h, "courant": h / parts[0].critical_time_step(), "t_end": p["t_end"]}
    return Problem(integrator, p["t_end"], model.rows(integrator, p), log, judge, dofs, effective)


def measure(result: Result, log: SplitLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run. Collective."""
    log.close()
    critical = integrator.system.critical_time_step()
    return {
        "balance_residual": log.relative_residual(),
        "critical_time_step": critical,
        "h": integrator.dt / integrator.substeps,
        **{name: getattr(log, name) for name in CONTACT},
        "velocity_jump": log.jump,
        "interface_energy": float(result["interface"][-1]),
        "interface_formula_gap": log.formula_gap(result),
        "difference": difference(result, integrator, p),
    }


def bent(t: NDArray, u: NDArray, p: Values) -> NDArray:
    """How far the recorded nodes are from the free fall, shape (n, 3) [m]."""
    return np.asarray(u + p["v0"] * t[:, None])


def apart(t: NDArray, found: tuple[NDArray, NDArray], true: tuple[NDArray, NDArray], p: Values) -> float:
    """Largest difference of two histories at the times t over the largest motion beside the free fall.

    Args:
        t: Times [s], shape (n,).
        found, true: Times [s] and displacements [m] of each.
    """
    ours, theirs = (
        np.column_stack([np.interp(t, times, column) for column in bent(times, u, p).T])
        for times, u in (found, true)
    )
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def difference(result: Result, integrator: Integrator, p: Values) -> float | None:
    """Difference of the recorded nodes of HATI to the undivided explicit body. Collective."""
    if not isinstance(integrator, HATI) or integrator.beyond_limit:
        return None
    true = model.explicit_run(p, integrator.fine.dt)
    end, every, record = float(result["t"][-1]), integrator.ratio, model.rows(true, p)
    run = simulate(true, t_end=end, record=record, energies=False, every=every, progress=False)
    return apart(result["t"], (result["t"], result["u"]), (run["t"], run["u"]), p)


def verdicts(results: dict[str, Any], result: Result, integrator: Integrator, p: Values) -> list[Verdict]:
    """The balance, and for HATI continuity, the sign of the interface's energy and the explicit run."""
    found = [balance_verdict(results["balance_residual"], 1e-11, result.steps)]
    if not isinstance(integrator, HATI):
        return found
    words = "velocities are continuous at coarse times (jump over v0)"
    found.append(Verdict.below(words, results["velocity_jump"] / p["v0"], 1e-12))
    if integrator.ratio == 1:
        words = "the interface energy is -(dt/4) sum [L_E W] . <Lambda> (relative)"
        found.append(Verdict.below(words, results["interface_formula_gap"], 1e-12))
    taken = abs(results["interface_energy"]) / float(result["kinetic"][0])
    words = "the interface's energy is small beside the kinetic energy at the start"
    found.append(Verdict.below(words, taken, 0.02))
    if results["difference"] is not None:
        words = "displacements beside the free fall are those of the undivided, explicit body (relative)"
        found.append(Verdict.below(words, results["difference"], 0.03))
    return found


_ABOUT = (
    "A long beam falls on a small pin with a fine mesh, which is explicit with small steps; the beam is "
    "implicit with steps hundreds of times larger."
)
PIN_DROP = Case(PARAMETERS, ("cd-lagrange", "hati"), make, _ABOUT, drawings.pin_drop, defaults={"ratio": 100})

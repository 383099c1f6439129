"""A long beam falls on a small pin: HATI with a fine explicit zone of contact on a large body in space.

The beam bends for tens of milliseconds after an impact on a tip whose thin layers allow steps of tens of
nanoseconds: they get thinner towards it, by one factor, and alone limit an explicit step. Its slow motion is
what HATI takes with large steps; Fekak et al. (2017), doi:10.1007/s00466-017-1397-0, have bars and frames
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .... import HATI, NamedMesh, Plane, Result, RigidContact, Solid, SparseRows, named
from ....integrators import Integrator, Option, Scheme
from ...boxes import Brick, BrickGrid, bricks_mesh
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, Verdicts, defaults, vertical
from ...run_log import CONTACT
from ...verdict import Verdict
from ..solids.common import POSITIVE, contact, elastic, material
from ..split_bar.case import SplitLog

PARAMETERS = {
    "along": Option(100, "-", "elements along the beam, a multiple of 4", interval="[8, 4000]"),
    "across": Option(4, "-", "elements across the beam each way, a multiple of 4", interval="[4, 40]"),
    "layers": Option(6, "-", "layers of elements of the pin", interval="[2, 100]"),
    "tip": Option(1e-3, "m", "height of the lowest layer; each other one is higher", interval=POSITIVE),
    "length": Option(4.0, "m", "length of the beam", interval=POSITIVE),
    "side": Option(0.1, "m", "width and height of the beam; the pin is half as wide", interval=POSITIVE),
    "width": Option(0.08, "m", "extent of the pin along the beam", interval=POSITIVE),
    "pin": Option(0.05, "m", "height of the pin", interval=POSITIVE),
    **material(2.1e11, 7850.0),
    "gap": Option(1e-5, "m", "distance to the floor at t = 0", interval="[0, inf)"),
    "v0": Option(1.0, "m/s", "speed towards the floor", interval=POSITIVE),
    **COMMON,
    "courant": Option(0.9, "-", "(fine) step over the critical one of what is explicit"),
    "h": Option(None, "s", "(fine) time step; the other way to give it is courant"),
    "t_end": Option(2e-3, "s", "end time"),
}
#: Recorded displacements along z: an end of the beam, the middle of its top, a quarter point below.
LABELS = ("end", "middle", "quarter")


def layers(p: Values) -> NDArray:
    """Heights of the layers of the pin from its tip to z = 0, shape (layers + 1,) [m]."""
    n, first, height = p["layers"], p["tip"], p["pin"]

    def beyond(q: float) -> float:
        return float(first * np.sum(q ** np.arange(n)) - height)

    grown = first * brentq(beyond, 1.0, 100.0, xtol=1e-14) ** np.arange(n)
    heights: NDArray = np.concatenate([[0.0], np.cumsum(grown)]) - height
    heights[-1] = 0.0
    return heights


def pinned_beam(p: Values) -> NamedMesh:
    """The mesh: cells ``"pin"`` and ``"beam"``, facets ``"tip"``. Collective."""
    length, side = ((-p[name] / 2, p[name] / 2) for name in ("length", "side"))
    x, y = np.linspace(*length, p["along"] + 1), np.linspace(*side, p["across"] + 1)
    z = np.concatenate([layers(p)[:-1], y - y[0]])
    pin = Brick("pin", (-p["width"] / 2, p["width"] / 2), (side[0] / 2, side[1] / 2), (-p["pin"], 0.0))
    beam = Brick("beam", length, side, (0.0, p["side"]))
    return named(
        bricks_mesh([BrickGrid((x, y, z), [pin, beam])], ("pin", "beam")),
        tip=lambda x: x[2] < -p["pin"] * (1 - 1e-9),
    )


def bodies(p: Values, divided: bool) -> tuple[Solid, ...]:
    """The pin, explicit, and the beam; or the undivided body. Collective."""
    mesh = pinned_beam(p)
    if not divided:
        return (elastic(mesh, p),)
    return elastic(mesh, p, cells="pin"), elastic(mesh, p, cells=mesh.other_cells("pin"))


def floor(body: Solid, p: Values) -> RigidContact:
    """Contact of the tip with a floor ``gap`` below. Collective."""
    plane = Plane((0.0, 0.0, -p["pin"] - p["gap"]), (0.0, 0.0, 1.0))
    return contact(body, "tip", plane, p)


def rows(integrator: Integrator, p: Values) -> SparseRows:
    """Displacements along z at :data:`LABELS`, nodes as ``along`` is a multiple of 4. Collective."""
    body: Any = integrator.coarse.system if isinstance(integrator, HATI) else integrator.system
    places = [(-p["length"] / 2, 0.0, 0.0), (0.0, 0.0, p["side"]), (p["length"] / 4, 0.0, 0.0)]
    chosen = vertical(body, places, LABELS)
    return integrator.coarse_rows(chosen) if isinstance(integrator, HATI) else chosen


def bent(t: NDArray, u: NDArray, p: Values) -> NDArray:
    """How far the recorded nodes are from the free fall, shape (n, 3) [m]."""
    return np.asarray(u + p["v0"] * t[:, None])


def difference(result: Result, integrator: Integrator, p: Values) -> float | None:
    """Largest difference of the recorded nodes of HATI to the undivided explicit body. Collective.

    It is relative to the largest motion beside the free fall.
    """
    if not isinstance(integrator, HATI) or integrator.beyond_limit:
        return None
    settings = {**defaults(EXPLICIT.options), **p, "h": integrator.fine.dt, "every": integrator.ratio}
    whole = PinDrop().make("cd-lagrange", settings)
    true, t = whole.simulate([], t_end=float(result["t"][-1]), energies=False), result["t"]
    ours, theirs = (
        np.column_stack([np.interp(t, run["t"], column) for column in bent(run["t"], run["u"], p).T])
        for run in (result, true)
    )
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


class PinDrop(Case):
    """The beam with its pin, divided or not, above the floor."""

    parameters, schemes = PARAMETERS, ("cd-lagrange", "hati")
    about = (
        "A long beam falls on a small pin with a fine mesh, which is explicit with small steps; the beam is "
        "implicit with steps hundreds of times larger."
    )
    balance_limits = (1e-11, 1e-11)
    log_type = SplitLog
    defaults = {"ratio": 100}

    def _refuse(self, p: Values) -> None:
        for name in ("along", "across"):
            if p[name] % 4:
                raise ValueError(f"{name} must be a multiple of 4, but is {p[name]}")
        wide = p["along"] * p["width"] / p["length"]
        if abs(wide - 2 * round(wide / 2)) > 1e-9 or not 1 < wide < p["along"]:
            count = f"along width / length, but that is {wide:g}"
            raise ValueError(f"the pin must have an even number of elements along the beam: {count}")
        if not p["tip"] * p["layers"] < p["pin"]:
            pin = f"{p['layers']} layers of at least tip = {p['tip']:g} m are no pin of {p['pin']:g} m"
            raise ValueError(f"{pin}: take fewer or thinner ones")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Pin and beam, or both as one body, and the floor. Collective."""
        parts = bodies(p, scheme.divided)
        system = parts if scheme.divided else parts[0]

        def down(x: NDArray) -> NDArray:
            return np.outer([0.0, 0.0, -p["v0"]], np.ones(x.shape[1]))

        return Setup(system=system, contact=floor(parts[0], p), v0=down)

    def record(self, integrator: Integrator, setup: Setup, p: Values) -> SparseRows:
        """Displacements of the beam. Collective."""
        return rows(integrator, p)

    def measure(self, run: Problem) -> Results:
        """Contact and interface, and the undivided body. Collective."""
        s, log = run.integrator, run.log
        return {
            "critical_time_step": s.system.critical_time_step(),
            **{name: getattr(log, name) for name in CONTACT},
            "velocity_jump": log.jump,
            "interface_energy": float(run.result["interface"][-1]),
            "interface_formula_gap": log.formula_gap(run.result),
            "difference": difference(run.result, s, run.p),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """The interface of HATI, and the explicit run."""
        s, results = run.integrator, run.results
        if not isinstance(s, HATI):
            return
        words = "velocities are continuous at coarse times (jump over v0)"
        yield Verdict.below(words, results["velocity_jump"] / run.p["v0"], 1e-12)
        if s.ratio == 1:
            words = "the interface energy is -(dt/4) sum [L_E W] . <Lambda> (relative)"
            yield Verdict.below(words, results["interface_formula_gap"], 1e-12)
        taken = abs(results["interface_energy"]) / float(run.result["kinetic"][0])
        words = "the interface's energy is small beside the kinetic energy at the start"
        yield Verdict.below(words, taken, 0.02)
        if results["difference"] is not None:
            words = "displacements beside the free fall are those of the undivided, explicit body (relative)"
            yield Verdict.below(words, results["difference"], 0.03)

"""A bar divided along its length, explicit at its tip and implicit elsewhere: HATI, Fekak et al. (2017).

Its tip at x = 0 flies towards a wall at ``x = -gap``, or with ``load=pulse`` is pushed along +x: u that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....algebra.operators import SparseRows
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import CDLagrange, Integrator, Option, find_scheme
from ....integrators.hati import HATI
from ....integrators.options import check
from ....materials import LinearElastic
from ....output.observer import ObserverLike
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values, balance_verdict
from ...convergence import norm35
from ...verdict import Verdict
from ..impacting_bar import case as impacting_bar
from ..impacting_bar.case import Results, histories

#: Courant number and end time [s] unless given, by load.
USUAL = {"none": (0.8, 1.6e-4), "pulse": (0.08, 1.5e-3)}
PULSE_FORCE, PULSE_DURATION = 1e4, 1e-3  #: Largest force of the pulse [N] and its duration [s].
_PULSE = f"{PULSE_FORCE:g} sin^2(pi t / 1 ms) N pushes the tip into the bar for 1 ms"
_LOADS = f"none: the bar flies against a wall; pulse: at rest, no wall, and a force {_PULSE}"
LABELS = ("tip", "interface_e", "interface_i")
PARAMETERS = {
    "elements": Option(40, "-", "elements along the bar", interval="[2, 10000000]"),
    "explicit_elements": Option(10, "-", "elements of the explicit part, from the tip on"),
    **{name: impacting_bar.PARAMETERS[name] for name in ("E", "rho", "length", "area")},
    "gap": Option(1e-4, "m", "distance to the wall at t = 0 (load none)", interval="[0, inf)"),
    "v0": Option(5.0, "m/s", "speed towards the wall (load none)", interval="[0, inf)"),
    "load": Option("none", "-", _LOADS, ("none", "pulse")),
    **COMMON,
    "courant": Option(None, "-", "fine step over (length of an element) / c (default: 0.8, pulse 0.08)"),
    "h": Option(None, "s", "fine time step; the other way to give it is courant"),
    "t_end": Option(None, "s", "end time (default: 1.6e-4, pulse 1.5e-3)"),
}
#: Ratios whose errors a study compares, by load, and the most fine steps that its runs may have.
RATIOS = {"none": (100, 10, 2, 1), "pulse": (500, 100, 10, 1)}
STUDY_STEPS = 20_000
ERRORS = {"error_u": "u", "error_v": "v_t"}  #: Errors by name, and the history whose error each is.


def settled(p: Values) -> dict[str, Any]:
    """The parameters with all that depends on the load; ValueError for values of no divided bar."""
    check(PARAMETERS, p)
    count, explicit = p["elements"], p["explicit_elements"]
    if not 1 <= explicit < count:
        allowed = f"1 to {count - 1} of the {count} elements, so that both parts have some"
        raise ValueError(f"explicit_elements must be {allowed}, but is {explicit}")
    transit, (courant, t_end) = p["length"] / count / impacting_bar.exact(p).wave_speed, USUAL[p["load"]]
    courant = p["h"] / transit if p["h"] is not None else p["courant"] or courant
    found = {"h": p["h"] or courant * transit, "courant": courant, "t_end": p["t_end"] or t_end}
    return {**p, **found, "v0": 0.0 if p["load"] == "pulse" else p["v0"]}


def pulse(t: Any) -> Any:
    """Force on the tip at the times ``t`` [s], along +x [N]."""
    t = np.asarray(t, dtype=np.float64)
    inside = (t >= 0) & (t <= PULSE_DURATION)
    return np.where(inside, PULSE_FORCE * np.sin(np.pi * t / PULSE_DURATION) ** 2, 0.0)


def build(p: Values, divided: bool) -> tuple[tuple[Solid, ...], RigidContact | None]:
    """Explicit and implicit part, or the whole bar, and the wall of the first. Collective."""
    parameters = {name: p[name] for name in ("length", "elements", "explicit_elements")}
    named = mesh.read(mesh.package_mesh("split_bar.geo"), gdim=1, parameters=parameters)
    loaded = p["load"] == "pulse"
    bar = partial(Solid, named, density=p["rho"], law=LinearElastic(p["E"]), cross_section=p["area"])
    push: Any = {"tip": ([1 / p["area"]], pulse)} if loaded else None
    first = bar(cells="explicit" if divided else None, traction=push)
    bodies = (first, bar(cells="implicit")) if divided else (first,)
    if loaded:
        return bodies, None
    closed = {"gap_tolerance": p["gap_tolerance"], "touching": p.get("touching", True)}
    return bodies, RigidContact(first, "tip", Plane([-p["gap"]], [1.0]), **closed)


def rows(integrator: Integrator, bodies: tuple[Solid, ...], p: Values) -> SparseRows:
    """Tip and both copies of the interface, towards the wall or in the direction of the pulse. Collective."""
    places = [(bodies[0], "tip"), (bodies[0], "interface"), (bodies[-1], "interface")]
    parts = [body.rows(body.nodes(name)) for body, name in places]
    if isinstance(integrator, HATI):
        parts[2] = integrator.coarse_rows(parts[2])
    which = np.repeat(np.arange(3), [part.count for part in parts])
    sign = 1.0 if p["load"] == "pulse" else -1.0
    dofs, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("dofs", "weights"))
    return SparseRows(dofs, sign * weights, which[:, None], [LABELS[i] for i in which])


class SplitLog(RunLog):
    """The log with the ``jump``: largest difference of the two copies' velocities at coarse times [m/s]."""

    state_names = (*RunLog.state_names, "jump")
    share_names = ("_energy",)

    def __init__(self, integrator: Integrator) -> None:
        super().__init__(integrator)
        self._integrator, self.jump, self._energy = integrator, 0.0, 0.0
        self._equal = isinstance(integrator, HATI) and integrator.substeps == 1
        self._last = _interface(integrator) if self._equal else ()

    def observers(self) -> list[ObserverLike]:
        """What a run needs to keep this log."""
        return [self, self.after_step] if isinstance(self._integrator, HATI) else [self]

    def after_step(self, integrator: Any) -> None:
        """Note the interface after one step of HATI. Collective."""
        self.jump = max(self.jump, integrator.velocity_jump())
        if self._equal:
            (kick, force), self._last = self._last, _interface(integrator)
            self._energy -= integrator.dt / 8 * float((self._last[0] - kick) @ (force + self._last[1]))

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """See :meth:`.RunLog.resume`; the integrator is where it was."""
        super().resume(state)
        self._last = _interface(self._integrator) if self._equal else ()

    def formula_gap(self, result: Result) -> float | None:
        """Interface energy less ``-(dt/4) sum_n [L_E W]_n . <Lambda>_n``, m = 1, over the largest one."""
        if not self._equal:
            return None
        largest = max(float(np.max(np.abs(result[name]))) for name in ("kinetic", "internal", "external"))
        apart = float(result["interface"][-1] - parallel.total(self._comm, self._energy))
        return apart / largest if largest > 0 else apart


def _interface(integrator: Any) -> tuple[NDArray, ...]:
    """``L_E W`` [m/s] and Lambda [N] at ``t``, shape (pairs of this rank,)."""
    fine, at = integrator.fine, integrator.interface.dofs
    return fine.v[at] - fine.v_before[at], integrator.multipliers.copy()


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    p, chosen = settled(p), find_scheme(scheme)
    bodies, wall = build(p, chosen.divided)
    system = (bodies[0], bodies[1]) if chosen.divided else bodies[0]
    integrator = chosen.bind(system, p["h"], wall, p, allow_unstable=allow_unstable)
    integrator.start(0.0, -p["v0"])
    log = SplitLog(integrator)

    def judge(result: Result) -> tuple[Results, list[Verdict]]:
        results = measure(result, log, integrator, p)
        return results, verdicts(results, result, integrator, p)

    dofs = int(parallel.total(bodies[0].comm, np.count_nonzero(sum(b.active for b in bodies))))
    effective = {name: p[name] for name in ("h", "courant", "t_end", "v0")}
    study = partial(ratio_verdicts, p) if chosen.divided else list
    return Problem(integrator, p["t_end"], rows(integrator, bodies, p), log, judge, dofs, effective, study)


def measure(result: Result, log: SplitLog, integrator: Integrator, p: Values) -> Results:
    """The numbers of a run; None for what it does not have. Collective."""
    critical = integrator.system.critical_time_step()
    return {
        **impacting_bar.measure(result, log, integrator, {**p, "dimension": 1}, critical),
        "h": p["h"],
        "velocity_jump": log.jump,
        "interface_energy": float(result["interface"][-1]),
        "interface_formula_gap": log.formula_gap(result),
        **reference_errors(result, integrator, p),
    }


def reference_errors(result: Result, integrator: Integrator, p: Values) -> dict[str, float | None]:
    """Errors (94) of the tip against the undivided explicit bar, if it moves and is stable. Collective."""
    if p["courant"] > 1 + 1e-6:
        return dict.fromkeys(ERRORS)
    (bar,), wall = build(p, divided=False)
    explicit, end = CDLagrange(bar, p["h"], contact=wall), result.steps * p["h"]
    explicit.start(0.0, -p["v0"])
    record, every = rows(explicit, (bar,), p), integrator.substeps
    true = simulate(explicit, t_end=end, record=record, energies=False, every=every, progress=False)
    if not true["u"][:, 0].any():
        return dict.fromkeys(ERRORS)
    at = np.rint(result["t"] / integrator.dt).astype(np.intp)
    return {error: norm35(result[name][:, 0], true[name][at, 0]) for error, name in ERRORS.items()}


def verdicts(results: Results, result: Result, integrator: Integrator, p: Values) -> list[Verdict]:
    """What the paper says of the interface and of the impact, decided from the run."""
    found = []
    if integrator.balance().closes:
        found.append(balance_verdict(results["balance_residual"], 1e-11, result.steps))
    if isinstance(integrator, HATI):
        # The interface energy (93) has no sign in theory, only a pseudo-energy has one.
        scale = p["v0"] or float(np.max(np.abs(result["v_t"])))
        if scale > 0:
            unit = "v0" if p["v0"] else "the largest speed"
            words = f"velocities are continuous at coarse times (jump over {unit})"
            found.append(Verdict.below(words, results["velocity_jump"] / scale, 1e-13))
        if integrator.ratio == 1:
            words = "the interface energy is -(dt/4) sum [L_E W] . <Lambda> (relative)"
            found.append(Verdict.below(words, results["interface_formula_gap"], 1e-12))
        elif whole(p):
            words = "the interface dissipates: its energy at the end over the largest kinetic one"
            taken = results["interface_energy"] / float(np.max(result["kinetic"]))
            found.append(Verdict(words, taken, 0.0, 1e-12, taken <= 1e-12))
    # A coarse step within which waves cross several elements damps the impact.
    small = integrator.substeps * p["courant"] <= 1 + 1e-6
    if p["load"] == "none" and whole(p) and small:
        found.append(impacting_bar.impulse_verdict(results))
    return found


def whole(p: Values) -> bool:
    """Whether a run contains the whole impact or the whole pulse."""
    if p["load"] == "pulse":
        return p["t_end"] >= 1.2 * PULSE_DURATION
    return p["v0"] > 0 and p["t_end"] >= 1.2 * impacting_bar.exact(p).contact_end


def ratio_verdicts(p: Values) -> list[Verdict]:
    """Whether HATI goes to the undivided explicit bar as its ratio falls at one fine step. Collective."""
    if not whole(p) or p["t_end"] > STUDY_STEPS * p["h"] or p["courant"] > 1 + 1e-6:
        return []
    found = []
    for ratio in RATIOS[p["load"]]:
        problem = make("hati", {**p, "ratio": ratio})
        found.append([*reference_errors(histories(problem), problem.integrator, p).values()])
    rises = np.sum(np.diff(np.array(found, dtype=np.float64), axis=0) >= 0, axis=0)
    words = f"of the tip falls as the ratio does, {', '.join(map(str, RATIOS[p['load']]))} (rises)"
    return [Verdict.below(f"{name} {words}", int(n), 0) for name, n in zip(ERRORS, rises)]


_ABOUT = (
    "A bar is divided along its length: explicit with small steps at the tip that hits a wall, "
    "implicit with large steps elsewhere. The interface must not disturb the waves."
)
SPLIT_BAR = Case(PARAMETERS, ("cd-lagrange", "hati"), make, _ABOUT, drawings.split_bar)

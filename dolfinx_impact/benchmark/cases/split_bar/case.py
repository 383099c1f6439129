"""A bar divided along its length, explicit at its tip and implicit elsewhere: HATI, Fekak et al. (2017).

Its tip at x = 0 flies towards a wall at ``x = -gap``, or with ``load=pulse`` is pushed along +x: u that way.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import HATI, LinearElastic, Plane, Result, RigidContact, Solid, SparseRows, mesh, parallel
from ....integrators import Integrator, Option, Scheme, find_scheme
from ....output.observer import ObserverLike
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, contact_law, defaults
from ...convergence import norm35
from ...run_log import RunLog
from ...verdict import Verdict, Verdicts
from ..impacting_bar import case as impacting_bar

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


def pulse(t: Any) -> Any:
    """Force on the tip at the times ``t`` [s], along +x [N]."""
    t = np.asarray(t, dtype=np.float64)
    inside = (t >= 0) & (t <= PULSE_DURATION)
    return np.where(inside, PULSE_FORCE * np.sin(np.pi * t / PULSE_DURATION) ** 2, 0.0)


class SplitLog(RunLog):
    """The log with the ``jump``: largest difference of the two copies' velocities at coarse times [m/s]."""

    state_names = (*RunLog.state_names, "jump")
    share_names = ("_energy",)

    def _prepare(self, setup: Any, p: Values) -> None:
        self.jump = self._energy = 0.0
        self._equal = isinstance(self._scheme, HATI) and self._scheme.substeps == 1
        self._last = _interface(self._scheme) if self._equal else ()

    def observers(self) -> list[ObserverLike]:
        """Observers that keep this log."""
        return [self, self.after_step] if isinstance(self._scheme, HATI) else [self]

    def after_step(self, integrator: Any) -> None:
        """Note the interface after one step of HATI. Collective."""
        self.jump = max(self.jump, integrator.velocity_jump())
        if self._equal:
            (kick, force), self._last = self._last, _interface(integrator)
            self._energy -= integrator.dt / 8 * float((self._last[0] - kick) @ (force + self._last[1]))

    def _resume(self) -> None:
        self._last = _interface(self._scheme) if self._equal else ()

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


def reference_errors(result: Result, integrator: Integrator, p: Values) -> dict[str, float | None]:
    """Errors (94) of the tip against the undivided explicit bar, if it moves and is stable. Collective."""
    if p["courant"] > 1 + 1e-6:
        return dict.fromkeys(ERRORS)
    whole, end = SplitBar().make("cd-lagrange", {**defaults(EXPLICIT.options), **p}), result.steps * p["h"]
    true = whole.simulate([], t_end=end, energies=False, every=integrator.substeps)
    if not true["u"][:, 0].any():
        return dict.fromkeys(ERRORS)
    at = np.rint(result["t"] / integrator.dt).astype(np.intp)
    return {error: norm35(result[name][:, 0], true[name][at, 0]) for error, name in ERRORS.items()}


def whole(p: Values) -> bool:
    """Whether a run contains the whole impact or the whole pulse."""
    if p["load"] == "pulse":
        return p["t_end"] >= 1.2 * PULSE_DURATION
    return p["v0"] > 0 and p["t_end"] >= 1.2 * impacting_bar.exact(p).contact_end


class SplitBar(Case):
    """Explicit and implicit part, or the whole bar, and the wall of the first."""

    parameters, schemes = PARAMETERS, ("cd-lagrange", "hati")
    about = (
        "A bar is divided along its length: explicit with small steps at the tip that hits a wall, "
        "implicit with large steps elsewhere. The interface must not disturb the waves."
    )
    balance_limits = (1e-11, 1e-11)
    log_type = SplitLog

    def _refuse(self, p: Values) -> None:
        count, explicit = p["elements"], p["explicit_elements"]
        if not 1 <= explicit < count:
            allowed = f"1 to {count - 1} of the {count} elements, so that both parts have some"
            raise ValueError(f"explicit_elements must be {allowed}, but is {explicit}")

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The parameters with all that depends on the load."""
        courant, t_end = USUAL[p["load"]]
        usual = {"courant": p["courant"] or courant, "t_end": p["t_end"] or t_end}
        return {**p, **usual, "v0": 0.0 if p["load"] == "pulse" else p["v0"]}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Parts and wall; the step is a part of (length of an element) / c. Collective."""
        sizes = {name: p[name] for name in ("length", "elements", "explicit_elements")}
        named = mesh.read(mesh.package_mesh("split_bar.geo"), gdim=1, parameters=sizes)
        loaded, law = p["load"] == "pulse", LinearElastic(p["E"])
        bar = partial(Solid, named, density=p["rho"], law=law, cross_section=p["area"])
        push: Any = {"tip": ([1 / p["area"]], pulse)} if loaded else None
        first = bar(cells="explicit" if scheme.divided else None, traction=push)
        plane = Plane([-p["gap"]], [1.0])
        wall = None if loaded else RigidContact(first, "tip", plane, **contact_law(p))
        transit = p["length"] / p["elements"] / impacting_bar.exact(p).wave_speed
        system = (first, bar(cells="implicit")) if scheme.divided else first
        return Setup(system=system, contact=wall, critical=transit, v0=-p["v0"])

    def record(self, integrator: Integrator, setup: Setup, p: Values) -> SparseRows:
        """Tip and both copies of the interface, towards the wall or along the pulse. Collective."""
        last = setup.system[-1] if isinstance(setup.system, tuple) else setup.system
        places = ((setup.body, "tip"), (setup.body, "interface"), (last, "interface"))
        parts = [body.rows(body.nodes(name)) for body, name in places]
        if isinstance(integrator, HATI):
            parts[2] = integrator.coarse_rows(parts[2])
        which = np.repeat(np.arange(3), [part.count for part in parts])
        sign = 1.0 if p["load"] == "pulse" else -1.0
        dofs, weights = (np.concatenate([getattr(x, name) for x in parts]) for name in ("dofs", "weights"))
        return SparseRows(dofs, sign * weights, which[:, None], [LABELS[i] for i in which])

    def measure(self, run: Problem) -> Results:
        """The numbers of a bar and of the interface; None for what it does not have. Collective."""
        return {
            **impacting_bar.measured(run, impacting_bar.exact(run.p).impulse),
            "critical_time_step": run.integrator.system.critical_time_step(),
            "velocity_jump": run.log.jump,
            "interface_energy": float(run.result["interface"][-1]),
            "interface_formula_gap": run.log.formula_gap(run.result),
            **reference_errors(run.result, run.integrator, run.p),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Continuity and energy of the interface of HATI, and the impulse of the impact."""
        p, results, s = run.p, run.results, run.integrator
        divided, scale = isinstance(s, HATI), p["v0"] or float(np.max(np.abs(run.result["v_t"])))
        if divided and scale > 0:
            unit = "v0" if p["v0"] else "the largest speed"
            words = f"velocities are continuous at coarse times (jump over {unit})"
            yield Verdict.below(words, results["velocity_jump"] / scale, 1e-13)
        # The interface energy (93) has no sign in theory, only a pseudo-energy has one.
        if divided and s.ratio == 1:
            words = "the interface energy is -(dt/4) sum [L_E W] . <Lambda> (relative)"
            yield Verdict.below(words, results["interface_formula_gap"], 1e-12)
        elif divided and whole(p):
            words = "the interface dissipates: its energy at the end over the largest kinetic one"
            taken = results["interface_energy"] / float(np.max(run.result["kinetic"]))
            yield Verdict(words, taken, 0.0, 1e-12, taken <= 1e-12)
        # A coarse step within which waves cross several elements damps the impact.
        if p["load"] == "none" and whole(p) and s.substeps * p["courant"] <= 1 + 1e-6:
            yield Verdict.equal(impacting_bar.Bar.words[0], results["impulse_ratio"], 1.0, 0.02)

    def study(self, problem: Problem) -> Verdicts:
        """Whether HATI goes to the undivided explicit bar as its ratio falls at one fine step. Collective."""
        p, errors = problem.p, []
        if not find_scheme(problem.scheme).divided or not whole(p):
            return
        if p["t_end"] > STUDY_STEPS * p["h"] or p["courant"] > 1 + 1e-6:
            return
        for ratio in RATIOS[p["load"]]:
            made = self.make("hati", {**p, "ratio": ratio})
            result = made.simulate([], energies=False, every=1)
            errors.append([*reference_errors(result, made.integrator, p).values()])
        rises = np.sum(np.diff(np.array(errors, dtype=np.float64), axis=0) >= 0, axis=0)
        words = f"of the tip falls as the ratio does, {', '.join(map(str, RATIOS[p['load']]))} (rises)"
        yield from (Verdict.below(f"{name} {words}", int(n), 0) for name, n in zip(ERRORS, rises))

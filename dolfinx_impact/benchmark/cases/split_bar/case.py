"""A bar divided along its length, explicit at its tip and implicit elsewhere: HATI, Fekak et al. (2017).

The bar lies along x with its tip at x = 0. It flies towards -x against a wall at ``x = -gap``, or, with
``load=pulse``, rests until a force pushes its tip along +x. Displacements are recorded towards the wall,
those of the pulse along +x, in the direction of the force.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....algebra.operators import SparseRows
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import CDLagrange, Integrator, Option, find_scheme
from ....integrators.hati import HATI
from ....materials import LinearElastic
from ....output.observer import ObserverLike
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict
from ..impacting_bar import case as impacting_bar

#: Courant number and end time [s] unless given, by load.
USUAL = {"none": (0.8, 1.6e-4), "pulse": (0.08, 1.5e-3)}
#: Largest force of the pulse [N] and its duration [s].
PULSE_FORCE, PULSE_DURATION = 1e4, 1e-3
LABELS = ("tip", "interface_e", "interface_i")
PARAMETERS = {
    "elements": Option(40, "-", "elements along the bar"),
    "explicit_elements": Option(10, "-", "elements of the explicit part, from the tip on"),
    **{name: impacting_bar.PARAMETERS[name] for name in ("E", "rho", "length", "area")},
    "gap": Option(1e-4, "m", "distance to the wall at t = 0 (load none)"),
    "v0": Option(5.0, "m/s", "speed towards the wall (load none)"),
    "load": Option(
        "none",
        "-",
        "none: the bar flies against a wall; pulse: at rest, no wall, and a force "
        f"{PULSE_FORCE:g} sin^2(pi t / 1 ms) N pushes the tip into the bar for 1 ms",
        ("none", "pulse"),
    ),
    **COMMON,
    "courant": Option(None, "-", "fine step over (length of an element) / c (default: 0.8, pulse 0.08)"),
    "h": Option(None, "s", "fine time step; the other way to give it is courant"),
    "t_end": Option(None, "s", "end time (default: 1.6e-4, pulse 1.5e-3)"),
}
#: Ratios whose errors a study compares, by load, and the most fine steps that its runs may have.
RATIOS = {"none": (100, 10, 2, 1), "pulse": (500, 100, 10, 1)}
STUDY_STEPS = 20_000


def settled(p: Values) -> dict[str, Any]:
    """The parameters with all that depends on the load; with the pulse the bar is at rest.

    Raises:
        ValueError: Values that describe no divided bar.
    """
    if not 2 <= p["elements"] <= 10_000_000:
        raise ValueError(f"elements must be 2 to 10000000, but is {p['elements']}")
    if not 1 <= p["explicit_elements"] < p["elements"]:
        raise ValueError(
            f"explicit_elements must be 1 to {p['elements'] - 1} of the {p['elements']} elements, so that "
            f"both parts have some, but is {p['explicit_elements']}"
        )
    transit = p["length"] / p["elements"] / impacting_bar.exact(p).wave_speed
    courant, t_end = USUAL[p["load"]]
    if p["h"] is not None:
        courant = p["h"] / transit
    elif p["courant"] is not None:
        courant = p["courant"]
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

    def part(cells: str | None) -> Solid:
        push = {"tip": ([1 / p["area"]], pulse)} if loaded and cells != "implicit" else None
        return Solid(
            named,
            cells=cells,
            density=p["rho"],
            law=LinearElastic(p["E"]),
            cross_section=p["area"],
            traction=push,
        )

    bodies = (part("explicit"), part("implicit")) if divided else (part(None),)
    if loaded:
        return bodies, None
    wall = RigidContact(
        bodies[0],
        "tip",
        Plane([-p["gap"]], [1.0]),
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    return bodies, wall


def rows(integrator: Integrator, bodies: tuple[Solid, ...], p: Values) -> SparseRows:
    """Tip and both copies of the interface, towards the wall or in the direction of the pulse. Collective."""
    first, last = bodies[0], bodies[-1]
    places = [(first, "tip"), (first, "interface"), (last, "interface")]
    parts = [body.rows(body.nodes(name)) for body, name in places]
    if isinstance(integrator, HATI):
        parts[2] = integrator.coarse_rows(parts[2])
    which = np.repeat(np.arange(3), [part.count for part in parts])
    sign = 1.0 if p["load"] == "pulse" else -1.0
    return SparseRows(
        np.concatenate([part.dofs for part in parts]),
        sign * np.concatenate([part.weights for part in parts]),
        which[:, None],
        [LABELS[i] for i in which],
    )


class SplitLog(RunLog):
    """The log with what happens at the interface.

    Args:
        integrator: The integrator, started.

    Attributes:
        jump: Largest difference of the two copies' velocities at coarse times [m/s].
        closed_form: The interface energy of equal steps, ``-(dt/4) sum_n [L_E W]_n . <Lambda>_n`` [J]; None
            for others; after :meth:`close`.
    """

    state_names = (*RunLog.state_names, "jump")
    share_names = ("_energy",)

    def __init__(self, integrator: Integrator) -> None:
        super().__init__(integrator)
        self._integrator, self.jump, self._energy = integrator, 0.0, 0.0
        self.closed_form: float | None = None
        self._divided = isinstance(integrator, HATI)
        self._equal = self._divided and integrator.substeps == 1
        if self._equal:
            self._kick, self._multipliers = _interface(integrator)

    def observers(self) -> list[ObserverLike]:
        """What a run needs to keep this log."""
        return [self, self.after_step] if self._divided else [self]

    def after_step(self, integrator: Any) -> None:
        """Note the interface after one step of HATI. Collective."""
        self.jump = max(self.jump, integrator.velocity_jump())
        if self._equal:
            kick, multipliers = _interface(integrator)
            mean = (self._multipliers + multipliers) / 2
            self._energy -= integrator.dt / 4 * float((kick - self._kick) @ mean)
            self._kick, self._multipliers = kick, multipliers

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """See :meth:`.RunLog.resume`; the integrator is where it was."""
        super().resume(state)
        if self._equal:
            self._kick, self._multipliers = _interface(self._integrator)

    def close(self) -> None:
        """Bring the numbers up to the last step. Collective."""
        super().close()
        self.closed_form = parallel.total(self._comm, self._energy) if self._equal else None


def _interface(integrator: Any) -> tuple[NDArray, NDArray]:
    """``L_E W`` [m/s] and Lambda [N] at ``t``, shape (pairs of this rank,)."""
    fine, at = integrator.fine, integrator.interface.dofs
    return fine.v[at] - fine.v_before[at], integrator.multipliers.copy()


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    p = settled(p)
    chosen = find_scheme(scheme)
    bodies, wall = build(p, chosen.divided)
    system = (bodies[0], bodies[1]) if chosen.divided else bodies[0]
    integrator = chosen.bind(system, p["h"], wall, p, allow_unstable=allow_unstable)
    integrator.start(0.0, -p["v0"])
    log = SplitLog(integrator)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(result, log, integrator, p)
        return results, verdicts(results, result, integrator, p)

    return Problem(
        integrator,
        p["t_end"],
        rows(integrator, bodies, p),
        log,
        judge,
        dofs=int(parallel.total(bodies[0].comm, np.count_nonzero(sum(b.active for b in bodies)))),
        effective={name: p[name] for name in ("h", "courant", "t_end", "v0")},
        study=lambda: ratio_verdicts(p) if chosen.divided else [],
    )


def measure(result: Result, log: SplitLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run; None for what it does not have. Collective."""
    log.close()
    system, impulse = integrator.system, impacting_bar.exact(p).impulse
    momentum = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    along, mass = (
        parallel.total(system.comm, float(np.sum(x[: system.owned]))) for x in (momentum, system.mass)
    )
    had, kept = (
        sum(float(result[name][i]) for name in ("kinetic", "complementary", "internal")) for i in (0, -1)
    )
    given = had + float(result["external"][-1])
    error_u, error_v = reference_errors(result, integrator, p)
    return {
        "balance_residual": log.relative_residual(),
        "critical_time_step": system.critical_time_step(),
        "h": p["h"],
        "contact_start": log.contact_start,
        "contact_end": log.contact_end,
        "contact_phases": log.contact_phases,
        "first_impulse": log.first_impulse,
        "impulse_sum": log.impulse_sum,
        "impulse_ratio": log.impulse_sum / impulse if impulse > 0 else None,
        "energy_lost": 1 - kept / given if given > 0 else 0.0,
        "penetration_max": log.deepest,
        "rebound_velocity": along / mass,
        "velocity_jump": log.jump,
        "interface_energy": float(result["interface"][-1]),
        "interface_formula_gap": _formula_gap(result, log),
        "error_u": error_u,
        "error_v": error_v,
    }


def _formula_gap(result: Result, log: SplitLog) -> float | None:
    """Interface energy less its closed form over the largest energy of the run, None for m > 1."""
    if log.closed_form is None:
        return None
    largest = max(float(np.max(np.abs(result[name]))) for name in ("kinetic", "internal", "external"))
    apart = float(result["interface"][-1] - log.closed_form)
    return apart / largest if largest > 0 else apart


def reference(p: Values, steps: int, every: int) -> Result:
    """The undivided bar by CD-Lagrange with the fine step, sampled every so many steps. Collective."""
    bodies, wall = build(p, divided=False)
    explicit = CDLagrange(bodies[0], p["h"], contact=wall)
    explicit.start(0.0, -p["v0"])
    return simulate(
        explicit,
        t_end=steps * p["h"],
        record=rows(explicit, bodies, p),
        energies=False,
        every=every,
        progress=False,
    )


def reference_errors(result: Result, integrator: Integrator, p: Values) -> tuple[float | None, float | None]:
    """Norm (94) of u and v_t of the tip over the history's samples, against :func:`reference`. Collective.

    None where the tip stays at rest, and for steps that no explicit scheme can make.
    """
    if p["courant"] > 1 + 1e-6:
        return None, None
    true = reference(p, result.steps, integrator.substeps)
    at = np.rint(result["t"] / integrator.dt).astype(np.intp)
    return _norm94(result["u"], true["u"][at]), _norm94(result["v_t"], true["v_t"][at])


def _norm94(found: NDArray, true: NDArray) -> float | None:
    size = float(np.sum(np.abs(true[:, 0])))
    return float(np.sum(np.abs(found - true)[:, 0])) / size if size > 0 else None


def verdicts(results: dict[str, Any], result: Result, integrator: Integrator, p: Values) -> list[Verdict]:
    """What the paper says of the interface and of the impact, decided from the run."""
    found = []
    if integrator.balance().closes:
        found.append(balance_verdict(results["balance_residual"], 1e-11, result.steps))
    if isinstance(integrator, HATI):
        found += _interface_verdicts(results, result, integrator.ratio, p)
    # A coarse step within which waves cross several elements damps the impact.
    small = integrator.substeps * p["courant"] <= 1 + 1e-6
    if p["load"] == "none" and p["v0"] > 0 and whole(p) and small:
        found.append(
            Verdict.equal(
                "the impulse is that of an elastic rebound, 2 m v0 (ratio)",
                results["impulse_ratio"],
                1.0,
                0.02,
            )
        )
    return found


def whole(p: Values) -> bool:
    """Whether a run contains the whole impact or the whole pulse."""
    if p["load"] == "pulse":
        return p["t_end"] >= 1.2 * PULSE_DURATION
    return p["v0"] > 0 and p["t_end"] >= 1.2 * impacting_bar.exact(p).contact_end


def _interface_verdicts(results: dict[str, Any], result: Result, ratio: int, p: Values) -> list[Verdict]:
    """Verdicts on the interface; its energy (93) has no sign in theory, only a pseudo-energy has one."""
    found = []
    scale = p["v0"] or float(np.max(np.abs(result["v_t"])))
    if scale > 0:
        unit = "v0" if p["v0"] > 0 else "the largest speed"
        found.append(
            Verdict.below(
                f"velocities are continuous at coarse times (jump over {unit})",
                results["velocity_jump"] / scale,
                1e-13,
            )
        )
    if ratio == 1:
        found.append(
            Verdict.below(
                "the interface energy is -(dt/4) sum [L_E W] . <Lambda> (relative)",
                results["interface_formula_gap"],
                1e-12,
            )
        )
    elif whole(p):
        taken = results["interface_energy"] / float(np.max(result["kinetic"]))
        found.append(
            Verdict(
                "the interface dissipates: its energy at the end over the largest kinetic one",
                taken,
                0.0,
                1e-12,
                taken <= 1e-12,
            )
        )
    return found


def errors(ratio: int, p: Values) -> tuple[float | None, float | None]:
    """:func:`reference_errors` of HATI with another ratio at the same fine step. Collective."""
    problem = make("hati", {**p, "ratio": ratio})
    result = simulate(
        problem.integrator, t_end=problem.t_end, record=problem.record, energies=False, progress=False
    )
    return reference_errors(result, problem.integrator, p)


def ratio_verdicts(p: Values) -> list[Verdict]:
    """Whether HATI goes to the undivided explicit bar as its ratio falls at one fine step. Collective."""
    if not whole(p) or p["t_end"] > STUDY_STEPS * p["h"] or p["courant"] > 1 + 1e-6:
        return []
    ratios = RATIOS[p["load"]]
    found = np.array([errors(m, p) for m in ratios], dtype=np.float64)
    order = ", ".join(map(str, ratios))
    return [
        Verdict.below(
            f"{name} of the tip falls as the ratio does, {order} (rises)",
            int(np.sum(np.diff(found[:, i]) >= 0)),
            0,
        )
        for i, name in enumerate(("error_u", "error_v"))
    ]


SPLIT_BAR = Case(
    PARAMETERS,
    ("cd-lagrange", "hati"),
    make,
    about="A bar is divided along its length: explicit with small steps at the tip that hits a wall, "
    "implicit with large steps elsewhere. The interface must not disturb the waves.",
    drawing=drawings.split_bar,
)

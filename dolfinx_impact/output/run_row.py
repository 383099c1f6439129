"""A run as one row of a table: what was computed, and its scalars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray
from ..integrators.energy import PLASTIC, TERMS
from ..systems.system import parts

if TYPE_CHECKING:
    from .result import Result

#: What a result knows of its scheme and system.
PARAMETERS: dict[str, str | int | float] = {
    "scheme": "",
    "system": "",
    "contact": "",
    "dofs": math.nan,
    "dt": math.nan,
    "critical_time_step": math.nan,
}


def parameters(integrator: Any) -> dict[str, str | int | float]:
    """The :data:`PARAMETERS` of a run: classes, number of dofs over all ranks, the last (fine) time step."""
    bodies, contact = parts(integrator.body), integrator.contact
    critical = vars(integrator.system).get("_critical")
    values: dict[str, str | int | float] = {
        "scheme": type(integrator).__name__,
        "system": " + ".join(type(each).__name__ for each in bodies),
        "contact": "" if contact is None else " + ".join(type(each).__name__ for each in contact.members),
        "dofs": sum(int(getattr(each, "dof_count", each.size)) for each in bodies),
        "dt": float(integrator.dt / integrator.substeps),
        "critical_time_step": math.nan if critical is None else float(critical),
    }
    return {**PARAMETERS, **values}


def row(run: Result, relative_residual: float) -> dict[str, str | int | float]:
    """See :meth:`.Result.row`."""
    t = run["t"]
    return {
        **PARAMETERS,
        **run.parameters,
        "t_start": float(t[0]) if len(t) else math.nan,
        "t_end": float(t[-1]) if len(t) else math.nan,
        "steps": run.steps,
        "samples": len(t),
        "seconds": float(run.seconds),
        **_contact(run),
        **_energies(run),
        "balance": run.balance,
        "balance_residual": relative_residual,
        "newton_mean": run.newton.get("newton_mean", math.nan),
        "newton_max": run.newton.get("newton_max", math.nan),
        "halved": run.newton.get("halved", math.nan),
        "turned": float(run.turned),
        "added_share": float(run.added_share),
        "warnings": len(run.warnings),
    }


def _contact(run: Result) -> dict[str, int | float]:
    """Number of points, times, impulses, depth and peaks; ties count as points alone."""
    r = run.get("r", np.zeros((len(run["t"]), 0)))[:, ~run.tied]
    impulses = r.sum(axis=1) + run.get("r_features", np.zeros(len(r)))
    hits = np.flatnonzero((r > 0).any(axis=1) | (impulses > 0))
    r_t = run["r_t"][:, ~run.tied] if "r_t" in run else np.zeros((0, 0, 1))
    return {
        "contact_points": int(run.tied.size),
        "tied_points": int(run.tied.sum()),
        "contact_start": float(run["t"][hits[0]]) if hits.size else math.nan,
        "contact_end": float(run["t"][hits[-1]]) if hits.size else math.nan,
        "impulse": float(impulses.sum()),
        "impulse_peak": float(impulses.max(initial=0.0)),
        "friction_impulse": float(np.linalg.norm(r_t, axis=-1).sum()),
        "penetration": float(run.penetration),
        "gap_least": -_largest(-_untied(run, run["gap"])) if "gap" in run else math.nan,
        "pressure_peak": math.nan if run.pressure is None else _largest(_untied(run, run.pressure)),
        "u_peak": _largest(np.abs(run["u"])) if "u" in run else math.nan,
        "v_peak": _largest(np.abs(run["v_t"])) if "v_t" in run else math.nan,
    }


def _energies(run: Result) -> dict[str, float]:
    """Energies at the ends and their peaks, works up to the end, and what is lost of them [J]."""
    known, unknown = "kinetic" in run and len(run["t"]) > 0, np.full(1, math.nan)
    e = {name: run[name] if known else unknown for name in TERMS}
    e[PLASTIC] = run[PLASTIC] if known and PLASTIC in run else 0.0 * e["kinetic"]
    lost = e["dissipated"] + e[PLASTIC] - e["contact"] - e["interface"]
    return {
        "kinetic_start": float(e["kinetic"][0]),
        "kinetic_end": float(e["kinetic"][-1]),
        "kinetic_peak": float(e["kinetic"].max()),
        "internal_end": float(e["internal"][-1]),
        "internal_peak": float(e["internal"].max()),
        "external": float(e["external"][-1]),
        "contact_work": float(e["contact"][-1]),
        "dissipated": float(e["dissipated"][-1]),
        "interface": float(e["interface"][-1]),
        "plastic_work": float(e[PLASTIC][-1]),
        "lost": float(lost[-1]),
    }


def _untied(run: Result, values: AnyArray) -> AnyArray:
    """Columns of the points that are no ties; all where no impulses say which points these are."""
    return values[:, ~run.tied] if values.shape[1] == run.tied.size else values


def _largest(values: AnyArray) -> float:
    """The largest finite entry; NaN without any."""
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else math.nan

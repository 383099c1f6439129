"""Classes of the schemes on the Signorini benchmarks, as Doyen, Ern and Piperno (2011) tell them apart.

Cells give the range over places of the impact in a step, and name the classes that differ among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....algebra.complementarity import NotConverged
from ....integrators import SCHEMES, UnstableTimeStep, find_scheme
from ....simulation.loop import simulate
from ... import runner
from ...case import defaults
from ...convergence import norm35
from ...report.wording import CLASSIFICATION
from ...runs import Run, Runs
from .. import CASES as EVERY_CASE
from . import case as signorini

IMPACT, BOUNCES = CASES = ("signorini-impact", "signorini-bounces")
PHASES = 9  #: Places of the impact within a step.
#: Conventions: parts of m_i v_i / h up to which the force does not oscillate, and from which it does much.
NO_OSCILLATION, LARGE_OSCILLATION = 0.01, 0.5
#: Courant numbers between which the limit is looked for, and how closely.
COURANT, RESOLUTION = (0.25, 1.5), 2e-3
#: Growth of the energy in a stable run. (Beyond the limit it explodes, or, with a penalty that the
#: bar leaves again, comes to 5 to 100 times as much; below it is kept to a few per cent.)
_BOUNDED = 2.0

_NAMED = ("cd-lagrange", "noh-bathe", "moreau-jean", "generalized-alpha", "carpenter-implicit", "combined")
_CLASSES = {"oscillation": ("none", "small", "large"), "energy": ("conserved", "dissipated", "gained")}


class Row(NamedTuple):
    """A row of the table: a scheme and its settings, with which it is about the stability limit alone."""

    scheme: str
    settings: Mapping[str, float] = {}

    @classmethod
    def named(cls, name: str) -> Row:
        """The row of that name."""
        scheme, *settings = name.split()
        pairs = (each.partition("=") for each in settings)
        return cls(scheme, {key: float(value) for key, _, value in pairs})

    @property
    def name(self) -> str:
        """For example ``dep-5.3 eps=0.01``."""
        return " ".join([self.scheme, *(f"{name}={value:g}" for name, value in self.settings.items())])


def rows(schemes: Iterable[str]) -> list[Row]:
    """The rows of these schemes; classes of the user have theirs below those of the catalogue."""
    chosen = list(schemes)
    built_in = [s for s in SCHEMES if s in EVERY_CASE[IMPACT].schemes and (s in _NAMED or s[:4] == "dep-")]
    table = []
    for scheme in sorted((s for s in built_in if s in chosen), key=lambda s: s in _NAMED):
        table.append(Row(scheme))
        if SCHEMES[scheme].explicit and SCHEMES[scheme].contact == "penalty":
            table += [Row(scheme, {"eps": eps}) for eps in (1e-3, 1e-2)]
    return table + [Row(scheme) for scheme in chosen if ":" in scheme]


def criteria() -> list[str]:
    """How cells and classes come about, in words."""
    none, large = (f"{100 * part:g} %" for part in (NO_OSCILLATION, LARGE_OSCILLATION))
    return [
        f"phases: the bar starts k/{PHASES} of a step further down its path, k = 0 to {PHASES - 1}; cells "
        "give the smallest and the largest value",
        f"force: {IMPACT} less 0.1 s at both ends of the contact; std and largest of the deviation from the "
        f"exact force; oscillation none up to {none}, large from {large} of m_i v_i/h of the contact node on",
        f"energy: relative change of E - F.u in {BOUNCES}; after 4 periods conserved up to "
        f"{_node_energy():g} = 1/(2N), the share of the contact node in the kinetic energy of the bar",
        "largest Courant number of explicit schemes, over their own limit without contact: bisected to "
        f"{RESOLUTION:g} over a period of {BOUNCES}, stable where E - F.u, 0 on the ground, stays below "
        f"{_BOUNDED:g} times that at the start",
        "predicted Courant number: sqrt(2/(1 + sqrt(1 + k^2))), k = dx/(eps E), 0 without penalty; rows "
        "with an eps are about this limit alone",
        f"errors: sum |x - exact| / sum |exact| over {IMPACT}, of contact force and displacement",
    ]


def classify(runs: Runs, row: Row, phases: Sequence[int] = range(PHASES)) -> dict[str, Any]:
    """The cells of a row: pairs of smallest and largest value, lists of classes, None where not asked."""
    cells: dict[str, Any] = dict.fromkeys(CLASSIFICATION)
    if not row.settings:
        cells |= _of_runs(runs, row.scheme, phases)
    if (predicted := predicted_courant(runs, row)) is not None:
        limits: list[float | None] = [None]
        for k in phases:
            limits.append(courant_limit(runs, row, k, limits[-1]))
        cells |= {"courant": _range(limits), "courant_predicted": predicted}
    return {"name": row.name, "scheme": row.scheme, "settings": dict(row.settings), **cells}


def _of_runs(runs: Runs, scheme: str, phases: Sequence[int]) -> dict[str, Any]:
    made = ([runs(case, scheme, **start(runs, case, scheme, k)) for k in phases] for case in CASES)
    impacts, bounces = made
    name, case, p = runs.scheme(scheme), EVERY_CASE[IMPACT], impacts[0].summary["parameters"]
    # It takes the momentum m_i v_i of the contact node in a step, and acts by a shift from the end of this.
    force = float(p["rho"] * p["length"] / (2 * p["elements"]) * signorini.exact(p).impact_speed / p["h"])
    shift = case.make(name, runner.parse(case, name, []), False).integrator.r_shift
    seen = {
        "oscillation": {oscillation(run.results["force_oscillation"] / force) for run in impacts},
        "energy": {energy(run.results["energy_change_4"], _node_energy()) for run in bounces},
    }
    return {
        "force_std": _range(run.results["force_oscillation"] for run in impacts),
        "force_max_deviation": _range(run.results["force_max_deviation"] for run in impacts),
        "force_predicted": force,
        "energy_change_1": _range(run.results["energy_change_1"] for run in bounces),
        "energy_change_4": _range(run.results["energy_change_4"] for run in bounces),
        "force_error": _range(force_error(run, shift) for run in impacts),
        "displacement_error": _range(run.results["error_u"] for run in impacts),
        **{name: [word for word in _CLASSES[name] if word in words] for name, words in seen.items()},
        "changes": [name for name, words in seen.items() if len(words) > 1],
    }


def _range(values: Iterable[float | None]) -> list[float] | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return [min(known), max(known)] if known else None


# -- phases and classes


def start(runs: Runs, case: str, scheme: str, phase: int) -> dict[str, float]:
    """Where the bar starts: k/9 of a step later on the same path, so that the impact is the same."""
    p, explicit = defaults(EVERY_CASE[case].parameters), find_scheme(runs.scheme(scheme)).explicit
    late = phase / PHASES * (signorini.EXPLICIT_STEP if explicit else signorini.IMPLICIT_STEP)
    return {"h0": p["h0"] - p["v0"] * late - p["g0"] * late**2 / 2, "v0": p["v0"] + p["g0"] * late}


def oscillation(part: float) -> str:
    """The class of a force whose deviation has the standard deviation ``part`` of ``m_i v_i / h``."""
    return _CLASSES["oscillation"][(part > NO_OSCILLATION) + (part >= LARGE_OSCILLATION)]


def energy(change: float, limit: float) -> str:
    """The class of a relative change."""
    return _CLASSES["energy"][0 if abs(change) <= limit else 1 + (change > 0)]


def _node_energy() -> float:
    return 1 / (2 * EVERY_CASE[BOUNCES].parameters["elements"].default)


def force_error(run: Run, shift: float) -> float:
    """The contact force against the exact one where it acts, norm (35) over all steps."""
    p = run.summary["parameters"]
    true = signorini.exact(p).force(run["t"] + shift * p["h"])
    return norm35(run["r"][:, :1] / p["h"], true[:, None])


# -- stability


def predicted_courant(runs: Runs, row: Row) -> float | None:
    """The closed form for central differences with lumped masses, None for schemes that are not explicit."""
    scheme = find_scheme(runs.scheme(row.scheme))
    if not scheme.explicit or scheme.contact == "own":
        return None
    chosen = {**EVERY_CASE[BOUNCES].parameters, **scheme.parameters}
    p = {**defaults(chosen), **row.settings}
    k = p["length"] / p["elements"] / (p["eps"] * p["E"]) if scheme.contact == "penalty" else 0.0
    return math.sqrt(2 / (1 + math.sqrt(1 + k**2)))


def courant_limit(runs: Runs, row: Row, phase: int = 0, near: float | None = None) -> float | None:
    """The largest Courant number with bounded energy or None, sought first near that of another phase."""
    bounded = _bounded(runs, row, phase)
    for low, high in (COURANT,) if near is None else ((near, near + RESOLUTION), COURANT):
        if bounded(low) and not bounded(high):
            break
    else:
        return None
    while high - low > (1 + 1e-9) * RESOLUTION:
        middle = (low + high) / 2
        low, high = (middle, high) if bounded(middle) else (low, middle)
    return low


def _bounded(runs: Runs, row: Row, phase: int) -> Callable[[float], bool]:
    """Whether the bouncing bar keeps its energy bounded over a period at a Courant number."""
    name, case = runs.scheme(row.scheme), EVERY_CASE[BOUNCES]
    given = {**start(runs, BOUNCES, row.scheme, phase), **row.settings}
    known = runner.options_of(case, name)
    p = runner.parse(case, name, [f"{key}={value}" for key, value in given.items() if key in known])
    exact, setup, chosen = signorini.exact(p), signorini.SIGNORINI_BOUNCES.build(p), find_scheme(name)
    weight = p["rho"] * p["length"] * p["g0"]

    def bounded(courant: float) -> bool:
        h = courant * chosen.critical_ratio(setup.body) * exact.transit / p["elements"]
        integrator = chosen.bind(setup.body, h, setup.contact, p, allow_unstable=True)
        integrator.start(p["h0"], -p["v0"])
        try:
            with np.errstate(all="ignore"):
                run = simulate(integrator, t_end=exact.period, progress=False)
        except (UnstableTimeStep, NotConverged):
            return False
        kept = run["kinetic"] + run["internal"] - run["external"] + weight * p["h0"]
        return bool(np.max(kept) <= _BOUNDED * kept[0])

    return bounded

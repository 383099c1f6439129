"""The two bars: orders of convergence and operations of a step, Fekak et al. (2017), Figs. 9, 10, Sect. 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ....integrators import find_scheme
from ...claim import FEKAK, Measured, above, below, equal, row, table
from ...convergence import order
from ...effort import Effort, effort
from ...runs import Runs
from . import case
from . import measures as m
from .measures import BAR, CASE, CD, MESHES, MJ, WINDOW

#: How far a fitted order may be from the paper's.
_TOLERANCE = 0.15
_PAPER = {CD: 1.0, MJ: 0.5}
_NAMES = {"u": "displacement", "v_t": "velocity"}
_ADVANTAGES = "Sect. 4; Algorithm 2"
_STUDIES = (
    ("fig09", "Fig. 9", False, "time (tip of the bar)"),
    ("fig10", "Fig. 10", True, "space (all nodes of the bar)"),
)
_COURANTS = (("", "h = c dt", 1.0), ("-courant-0.8", "at 0.8 of the critical step", 0.8))


def _fitted(runs: Runs, nodes: bool, scheme: str, name: str) -> Measured:
    found = m.convergence(runs, scheme, name, nodes=nodes)
    whole = f"over all times the order is {order(found.steps, found.whole):.2f}"
    return Measured(found.order, note=f"{found.after[0]:.2g} to {found.after[-1]:.2g}; {whole}")


def _advantage(runs: Runs, name: str, courant: float) -> Measured:
    ours, theirs = (m.convergence(runs, scheme, name, courant) for scheme in (CD, MJ))
    note = f"Errors on the finest mesh: {ours.after[-1]:.2g} and {theirs.after[-1]:.2g}"
    return Measured(ours.order - theirs.order, note=note)


def _filled(t: NDArray, v: NDArray) -> NDArray:
    """Points of a velocity graph with its jumps, shape (n, 2): times over the window, velocities over v0."""
    line = np.column_stack([t / WINDOW, v / BAR.v0])
    counts = np.maximum(np.ceil(np.linalg.norm(np.diff(line, axis=0), axis=1) / 5e-4).astype(int), 1)
    parts = [
        a + np.linspace(0, 1, n, endpoint=False)[:, None] * (b - a) for a, b, n in zip(line, line[1:], counts)
    ]
    return np.vstack([*parts, line[-1:]])


def hausdorff(found: tuple[NDArray, NDArray], true: tuple[NDArray, NDArray]) -> float:
    """Hausdorff distance of two filled-in graphs of (t, v), over the window and v0."""
    a, b = (_filled(*graph) for graph in (found, true))
    return float(max(cKDTree(a).query(b)[0].max(), cKDTree(b).query(a)[0].max()))


def _exact_graph() -> tuple[NDArray, NDArray]:
    """Times and velocities of the exact tip, both values at its jumps."""
    start, end = BAR.contact_start, BAR.contact_end
    return np.array([0, start, start, end, end, WINDOW]), BAR.v0 * np.array([1.0, 1, 0, 0, -1, -1])


def _graph_order(runs: Runs, courant: float) -> Measured:
    found = [runs(CASE, CD, elements=n, courant=courant, t_end=WINDOW) for n in MESHES]
    far = [hausdorff((run["t"], run["v_t"][:, 0]), _exact_graph()) for run in found]
    summed = order(m.steps_of(found), m.convergence(runs, CD, "v_t", courant).whole)
    return Measured(order(m.steps_of(found), far), summed, note=f"Distances {far[0]:.2g} to {far[-1]:.2g}")


def _effort(runs: Runs) -> Effort:
    """Of every step of the run: flight, impact, contact, release."""
    run = runs(CASE, CD)
    return effort(case.make(runs.scheme(CD), run.summary["parameters"]).integrator, run.summary["steps"])


def _detections(runs: Runs) -> Measured:
    run, made = runs(CASE, CD), _effort(runs)
    late = (run.results["contact_start"] - BAR.contact_start) / run.results["h"]
    note = f"Contact begins {late:.2f} steps after the exact impact"
    return Measured(int(made.contacts.max()), holds=int(made.contacts.min()) == 1, note=note)


def _iterations(runs: Runs) -> Measured:
    made = _effort(runs)
    solved, pushed = int(made.systems.sum()), int(made.pressed.sum())
    note = f"{solved} linear systems in {len(made.forces)} steps, {pushed} with an impulse"
    return Measured(int(made.forces.max()), holds=solved == 0 and pushed > 0, note=note)


def _numbers(runs: Runs) -> int:
    """The numerical parameters of the scheme; choices in words are none."""
    runs(CASE, CD)
    return sum(isinstance(o.default, float) for o in find_scheme(runs.scheme(CD)).parameters.values())


def _others_change(runs: Runs, scheme: str) -> float:
    moved, k = m.motion(runs, scheme), m.meeting(runs(CASE, scheme))
    change, tip = np.abs(moved.v[k] - moved.v[k - 1]), moved.x <= 1e-9
    return float(change[~tip].max() / change[tip].max())


def _constraints(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    opening, impulse = -run["v"].sum(axis=1) / (2 * BAR.v0), run["r"][:, 0]
    closed = run["gap"][:, 0] <= run.summary["parameters"]["gap_tolerance"]
    off = {
        "closing velocities": np.max(-opening[closed], initial=0.0),
        "negative impulses": np.max(-impulse) / (np.ptp(impulse) or 1.0),
        "opening under impulses": np.max(np.abs(opening) * (impulse > 0)),
        "impulses at open gaps": float(np.any(impulse[~closed] != 0)),
    }
    return Measured(max(off.values()), holds=np.count_nonzero(impulse) > 1)


CLAIMS = table(CASE, FEKAK, [
    *(row(f"{id}-{quantity}-{scheme}", f"Sect. 3.1, {where}{part}",
          f"After the release the order in {what} is {expected:g} for the {quantity} ({scheme}).",
          _fitted, equal(expected, _TOLERANCE), "order of the error after the release, norm (94), h = c dt",
          nodes=nodes, scheme=scheme, name=name)
      for id, where, nodes, what in _STUDIES
      for part, (name, quantity) in zip("ab", _NAMES.items()) for scheme, expected in _PAPER.items()),
    *(row(f"higher-order-{quantity}{id}", "Abstract; Sects. 3.1, 4",
          f"CD-Lagrange has a higher order than Moreau-Jean ({words}, {quantity}).",
          _advantage, above(0.25), "order of cd-lagrange less that of moreau-jean, tip after the release",
          name=name, courant=courant)
      for name, quantity in _NAMES.items() for id, words, courant in _COURANTS),
    row("moreau-order-one", "Sect. 1",
        "Moreau-Jean is of order one, also with impacts (here: mesh and step refined together).",
        lambda runs: min(m.convergence(runs, MJ, name).order for name in _NAMES),
        equal(1.0, _TOLERANCE), "order of displacement and velocity of the tip; theta = 1 diffuses"),
    *(row(f"hausdorff{id}", "Appendix 3",
          f"The summed norm (94) shows the order of the Hausdorff distance of the filled graphs ({words}).",
          _graph_order, equal(tolerance=_TOLERANCE), "order of the Hausdorff distance against that in (94)",
          courant=courant)
      for id, words, courant in _COURANTS),
    row("no-detection", _ADVANTAGES, "Events are not detected.",
        _detections, equal(1, 0), "evaluations of the gap in a step, with impact and release"),
    row("no-iteration", _ADVANTAGES, "Equilibrium and contact take no iteration.",
        _iterations, equal(1, 0), "largest number of evaluations of the forces in a step"),
    row("no-parameters", _ADVANTAGES, "The scheme has no numerical parameters of its own.",
        _numbers, equal(0, 0), "number of numerical parameters besides those of the case"),
    row("diagonal", "Sect. 2.3.2, (49)",
        "H is diagonal, as the mass is lumped and the meshes match: no system is solved for the impulses.",
        lambda runs: Measured(_others_change(runs, CD), note=f"{MJ}: {_others_change(runs, MJ):.2f}"),
        below(1e-12), "largest change of velocity of other nodes over the tip's at the impact"),
    row("constraints", "Sect. 2.3.2, (47)",
        "Closed gaps have v >= 0, lambda >= 0 and v lambda = 0 after the step, exactly.",
        _constraints, below(1e-12), "largest violation, velocities over 2 v0; limit: rounding"),
], prefix="fekak-bars-")  # fmt: skip

"""The two bars: orders of convergence, Fekak et al. (2017), Figs. 9 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...claim import FEKAK, Measured, above, equal, row, table
from ...convergence import order
from ...runs import Runs
from . import measures as m
from .measures import BAR, CASE, CD, MESHES, MJ, WINDOW

#: How far a fitted order may be from the paper's.
_TOLERANCE = 0.15
_PAPER = {CD: 1.0, MJ: 0.5}
_NAMES = {"u": "displacement", "v_t": "velocity"}
_STUDIES = (
    ("fig09", "Fig. 9", m.convergence_in_time, "time (tip of the bar)"),
    ("fig10", "Fig. 10", m.convergence_in_space, "space (all nodes of the bar)"),
)
_COURANTS = (("", "h = c dt", 1.0), ("-courant-0.8", "at 0.8 of the critical step", 0.8))


def _fitted(runs: Runs, study: Any, scheme: str, name: str) -> Measured:
    found = study(runs, scheme, name)
    return Measured(found.order, note=found.described())


def _advantage(runs: Runs, name: str, courant: float) -> Measured:
    ours, theirs = (m.convergence_in_time(runs, scheme, name, courant) for scheme in (CD, MJ))
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
    summed = order(m.steps_of(found), m.convergence_in_time(runs, CD, "v_t", courant).whole)
    return Measured(order(m.steps_of(found), far), summed, note=f"Distances {far[0]:.2g} to {far[-1]:.2g}")


CLAIMS = table(CASE, FEKAK, [
    *(row(f"{id}-{quantity}-{scheme}", f"Sect. 3.1, {where}{part}",
          f"After the release the order in {what} is {expected:g} for the {quantity} ({scheme}).",
          _fitted, equal(expected, _TOLERANCE), "order of the error after the release, norm (94), h = c dt",
          study=study, scheme=scheme, name=name)
      for id, where, study, what in _STUDIES
      for part, (name, quantity) in zip("ab", _NAMES.items()) for scheme, expected in _PAPER.items()),
    *(row(f"higher-order-{quantity}{id}", "Abstract; Sects. 3.1, 4",
          f"CD-Lagrange has a higher order than Moreau-Jean ({words}, {quantity}).",
          _advantage, above(0.25), "order of cd-lagrange less that of moreau-jean, tip after the release",
          name=name, courant=courant)
      for name, quantity in _NAMES.items() for id, words, courant in _COURANTS),
    row("moreau-order-one", "Sect. 1",
        "Moreau-Jean is of order one, also with impacts (here: mesh and step refined together).",
        lambda runs: min(m.convergence_in_time(runs, MJ, name).order for name in _NAMES),
        equal(1.0, _TOLERANCE), "order of displacement and velocity of the tip; theta = 1 diffuses"),
    *(row(f"hausdorff{id}", "Appendix 3",
          f"The summed norm (94) shows the order of the Hausdorff distance of the filled graphs ({words}).",
          _graph_order, equal(tolerance=_TOLERANCE), "order of the Hausdorff distance against that in (94)",
          courant=courant)
      for id, words, courant in _COURANTS),
], prefix="fekak-bars-")  # fmt: skip

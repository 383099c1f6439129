"""The two bars: orders of convergence, Fekak et al. (2017), Figs. 9 and 10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...claim import Claim, Finding
from ...convergence import order
from ...runs import Runs
from .measures import (
    BAR,
    CASE,
    CD,
    MESHES,
    MJ,
    SIZES,
    WINDOW,
    Convergence,
    Register,
    convergence_in_space,
    convergence_in_time,
    steps_of,
)

_says = Register()
#: How far a fitted order may be from the paper's.
_TOLERANCE = 0.15
_PAPER = {CD: 1.0, MJ: 0.5}
_NAMES = {"u": "displacement", "v_t": "velocity"}
_Study = Callable[..., Convergence]
_FIGURES: dict[str, tuple[str, _Study, str]] = {
    "fig09": ("Fig. 9", convergence_in_time, "time (tip of the bar)"),
    "fig10": ("Fig. 10", convergence_in_space, "space (all nodes of the bar)"),
}


def _order(runs: Runs, study: _Study, scheme: str, name: str) -> Finding:
    found = study(runs, scheme, name)
    why = (
        f"order of the error of the {_NAMES[name]} after the release, norm (94), h = c dt, with {scheme}: "
        f"{found.described()}"
    )
    if name == "u":
        why += ". It swings about its trend: how late in a step the bars meet is an accident of each mesh"
    return Finding.equal(found.order, _PAPER[scheme], _TOLERANCE, why)


for _id, (_where, _study, _what) in _FIGURES.items():
    for _part, (_name, _quantity) in zip("ab", _NAMES.items()):
        for _scheme, _expected in _PAPER.items():
            _says(
                f"{_id}-{_quantity}-{_scheme}",
                f"Sect. 3.1, {_where}{_part}",
                f"After the release the order in {_what} is {_expected:g} for the {_quantity} ({_scheme}).",
            )(partial(_order, study=_study, scheme=_scheme, name=_name))


def _higher(runs: Runs, name: str, courant: float) -> Finding:
    ours, theirs = (convergence_in_time(runs, scheme, name, courant) for scheme in (CD, MJ))
    why = (
        f"order of cd-lagrange, {ours.order:.2f}, less that of moreau-jean, {theirs.order:.2f}: "
        f"{_NAMES[name]} of the tip after the release, norm (94), courant {courant:g}, {SIZES}; limit: a "
        f"quarter. The errors on the finest mesh are {ours.after[-1]:.2g} and {theirs.after[-1]:.2g}"
    )
    if courant < 1 and name == "v_t":
        why += ". Below the critical step the velocity of cd-lagrange oscillates behind every jump"
    return Finding.above(ours.order - theirs.order, 0.25, why)


for _name, _quantity in _NAMES.items():
    _says(
        f"higher-order-{_quantity}",
        "Abstract; Sects. 3.1, 4",
        f"CD-Lagrange has a higher order than Moreau-Jean (h = c dt, {_quantity}).",
    )(partial(_higher, name=_name, courant=1.0))
    _says(
        f"higher-order-{_quantity}-courant-0.8",
        "Abstract; Sects. 3.1, 4",
        "CD-Lagrange has a higher order than Moreau-Jean generally (taken as: at the 0.8 of the critical "
        f"step of Fig. 4 too, {_quantity}).",
    )(partial(_higher, name=_name, courant=0.8))


@_says(
    "moreau-order-one",
    "Sect. 1",
    "Moreau-Jean is of order one, in smooth and in nonsmooth phases (taken as: of this finite element "
    "bar, mesh and step refined together).",
)
def _moreau_order(runs: Runs) -> Finding:
    found = {name: convergence_in_time(runs, MJ, name).order for name in _NAMES}
    why = (
        f"order of the displacement, {found['u']:.2f}, and the velocity, {found['v_t']:.2f}, of the tip "
        f"after the release, norm (94), h = c dt, {SIZES}; the smaller decides, tolerance {_TOLERANCE}. "
        "theta = 1 diffuses with a viscosity of order dt, which smears fronts over a length of order sqrt(dt)"
    )
    return Finding.equal(min(found.values()), 1.0, _TOLERANCE, why)


def _filled(t: NDArray, v: NDArray) -> NDArray:
    """Points of a velocity's graph, straight between samples, jumps included, shape (n, 2) [-].

    Times over the window, velocities over v0.
    """
    line = np.column_stack([t / WINDOW, v / BAR.v0])
    lengths = np.linalg.norm(np.diff(line, axis=0), axis=1)
    counts = np.maximum(np.ceil(lengths / 5e-4).astype(int), 1)
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


def _same_order(runs: Runs, courant: float) -> Finding:
    found = [runs(CASE, CD, elements=n, courant=courant, t_end=WINDOW) for n in MESHES]
    far = [hausdorff((run["t"], run["v_t"][:, 0]), _exact_graph()) for run in found]
    summed = order(steps_of(found), convergence_in_time(runs, CD, "v_t", courant).whole)
    slope = order(steps_of(found), far)
    why = (
        f"order of the Hausdorff distance of the filled graphs of the tip's velocity, {far[0]:.2g} to "
        f"{far[-1]:.2g} of window and v0 on {SIZES}, courant {courant:g}, against that in the norm (94), "
        f"{summed:.2f}; tolerance: {_TOLERANCE}"
    )
    if courant < 1:
        why += ". The overshoot behind a jump gets narrower, not lower"
    return Finding.equal(slope, summed, _TOLERANCE, why)


_SAME = "The summed norm (94) shows the order of the Hausdorff distance of the filled graphs"
_says("hausdorff", "Appendix 3", f"{_SAME} (h = c dt).")(partial(_same_order, courant=1.0))
_says("hausdorff-courant-0.8", "Appendix 3", f"{_SAME} (taken as: at 0.8 of the critical step too).")(
    partial(_same_order, courant=0.8)
)

CLAIMS: tuple[Claim, ...] = tuple(_says)

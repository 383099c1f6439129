"""The two bars: orders of convergence, Fekak et al. (2017), Figs. 9 and 10."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...claim import FEKAK, Claims, Measured
from ...convergence import order
from ...runs import Runs
from . import measures as m
from .measures import BAR, CASE, CD, MESHES, MJ, WINDOW

CLAIMS = Claims(CASE, FEKAK, prefix="fekak-bars-")
#: How far a fitted order may be from the paper's.
_TOLERANCE = 0.15
_PAPER = {CD: 1.0, MJ: 0.5}
_NAMES = {"u": "displacement", "v_t": "velocity"}


def fitted(runs: Runs, study: Callable[..., m.Convergence], scheme: str, name: str) -> Measured:
    """Order of the error after the release, norm (94), h = c dt."""
    found = study(runs, scheme, name)
    return Measured(found.order, note=found.described())


for _figure, _study, _what in (
    ("Fig. 9", m.convergence_in_time, "time (tip of the bar)"),
    ("Fig. 10", m.convergence_in_space, "space (all nodes of the bar)"),
):
    for _part, (_name, _quantity) in zip("ab", _NAMES.items()):
        for _scheme, _expected in _PAPER.items():
            CLAIMS.equal(
                f"fig{_figure[5:]:0>2}-{_quantity}-{_scheme}",
                f"Sect. 3.1, {_figure}{_part}",
                f"After the release the order in {_what} is {_expected:g} for the {_quantity} ({_scheme}).",
                _expected,
                _TOLERANCE,
                study=_study,
                scheme=_scheme,
                name=_name,
            )(fitted)


def advantage(runs: Runs, name: str, courant: float) -> Measured:
    """Order of cd-lagrange less that of moreau-jean, tip after the release, norm (94); limit: a quarter."""
    ours, theirs = (m.convergence_in_time(runs, scheme, name, courant) for scheme in (CD, MJ))
    note = f"Errors on the finest mesh: {ours.after[-1]:.2g} and {theirs.after[-1]:.2g}"
    return Measured(ours.order - theirs.order, note=note)


for _name, _quantity in _NAMES.items():
    for _id, _words, _courant in (
        ("", "h = c dt", 1.0),
        ("-courant-0.8", "at 0.8 of the critical step", 0.8),
    ):
        CLAIMS.above(
            f"higher-order-{_quantity}{_id}",
            "Abstract; Sects. 3.1, 4",
            f"CD-Lagrange has a higher order than Moreau-Jean ({_words}, {_quantity}).",
            0.25,
            name=_name,
            courant=_courant,
        )(advantage)


@CLAIMS.equal(
    "moreau-order-one",
    "Sect. 1",
    "Moreau-Jean is of order one, also with impacts (here: mesh and step refined).",
    1.0,
    _TOLERANCE,
)
def moreau_order(runs: Runs) -> float:
    """Order of displacement and velocity of the tip after the release, the smaller; theta = 1 diffuses."""
    return min(m.convergence_in_time(runs, MJ, name).order for name in _NAMES)


def _filled(t: NDArray, v: NDArray) -> NDArray:
    """Points of a velocity's graph, jumps included, shape (n, 2): times over the window, velocities over v0."""
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


_SAME = "The summed norm (94) shows the order of the Hausdorff distance of the filled graphs"


@CLAIMS.equal("hausdorff", "Appendix 3", f"{_SAME} (h = c dt).", tolerance=_TOLERANCE, courant=1.0)
@CLAIMS.equal(
    "hausdorff-courant-0.8",
    "Appendix 3",
    f"{_SAME} (at 0.8 of the critical step).",
    tolerance=_TOLERANCE,
    courant=0.8,
)
def same_order(runs: Runs, courant: float) -> Measured:
    """Order of the Hausdorff distance of the graphs of the tip's velocity, against that in the norm (94)."""
    found = [runs(CASE, CD, elements=n, courant=courant, t_end=WINDOW) for n in MESHES]
    far = [hausdorff((run["t"], run["v_t"][:, 0]), _exact_graph()) for run in found]
    summed = order(m.steps_of(found), m.convergence_in_time(runs, CD, "v_t", courant).whole)
    return Measured(
        order(m.steps_of(found), far), summed, note=f"Distances {far[0]:.2g} to {far[-1]:.2g}, {m.SIZES}"
    )

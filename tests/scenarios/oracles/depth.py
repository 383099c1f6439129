"""No node lies deeper in a foreign cell, or in an obstacle, than allowed: tests of its own."""

from __future__ import annotations

import numpy as np

from ..compose import CURVED, MESHED
from ..contacts import BOWL, CONE, TORUS, bowl, funnel
from ..layout import bounds
from .base import Misfit, oracle


def _rigid(s):
    return (
        s.floor != "none"
        and "penalty" not in s.takes
        and s.floor not in MESHED
        and s.hypothesis != "axisymmetric"
    )


@oracle(_rigid)
def obstacle(seen):
    """Nodes of the lowest block lie in a rigid obstacle by no more than two steps of their fastest approach.

    Distances by the formulas of a half plane and a circle. Contact at velocity level stops a node in the step
    after it has entered; the drift over curved obstacles is less than another step. Lasting contact keeps the
    depth of its first touch: 0.1 mm of 1 m. Decoupled impulses leave the stiffness out, which drives a node
    on where the step is far above the critical one: twice as deep. At position level nothing is inside but
    what began there, to 1e-9 m. Not penalties, whose depth is the force over their stiffness.
    """
    s, record = seen.scenario, seen.record
    x = (seen.places() + seen.nodal(record.u))[:, seen.parts[0]]
    if s.facets == "bottom":
        ref = seen.places()[seen.parts[0]]
        normal = np.array([-np.sin(s.tilt), np.cos(s.tilt)])
        height = ref[:, [0, -1]] @ normal
        x = x[:, height < height.min() + 1e-9]
    if s.floor in CURVED and s.drive:
        x = x - s.drive * (record.t - record.t[0])[:, None, None] / seen.frame.time * np.eye(s.gdim)[0]
    gap = curved_gap(s, x) if s.floor in CURVED else flat_gap(s, x)
    approach = np.abs(np.diff(x, axis=0)).max()
    steps = 4 if s.scheme == "MoreauJeanDecoupled" and s.part > 2.0 else 2
    allowed = steps * approach + 1e-4
    if s.position:
        allowed = max(-gap[0].min(), 1e-9)
    yield Misfit("depth in the obstacle [m]", max(-gap.min(), 0.0), 0.0, allowed)


def flat_gap(s, x):
    """Distances from half planes and boxes [m]; in a box the depth to its nearest side."""
    gap = x[..., -1]
    if s.floor == "planes":
        gap = np.minimum(gap, x[..., 0] + 0.8)
    if s.floor == "box":
        gap = np.where(np.abs(x[..., 0]) < 2.0, gap, 1.0)
    if s.floor == "union":
        wall = np.maximum(x[..., 0] + 0.8, x[..., -1] - 0.9)
        gap = np.minimum(np.where(np.abs(x[..., 0]) < 2.0, gap, 1.0), wall)
    return gap


def curved_gap(s, x):
    """Distances from a circle, a sphere, and curves that turn about a vertical axis [m]."""
    if s.floor in ("cone", "funnel", "torus"):
        centre = {"cone": 0.0, "funnel": funnel(s), "torus": -TORUS[1]}[s.floor]
        out = x[..., :-1] - (0.05 if s.floor == "torus" else 0.0) * np.eye(s.gdim)[0, :-1]
        r, z = np.linalg.norm(out, axis=-1), x[..., -1] - centre
        if s.floor == "torus":
            return np.hypot(r - TORUS[0], z) - TORUS[1]
        along, across = np.cos(np.radians(CONE)), np.sin(np.radians(CONE))
        return across * z - along * r if s.floor == "funnel" else along * r + across * z
    centre, radius = np.zeros(s.gdim), BOWL if s.floor == "bowl" else 2.0
    centre[[0, -1]] = (0.0, bowl(s)) if s.floor == "bowl" else (0.05, -2.0)
    way = (x - centre)[..., [0, -1]] if s.floor == "cylinder" else x - centre
    return (np.linalg.norm(way, axis=-1) - radius) * (-1.0 if s.floor == "bowl" else 1.0)


@oracle(lambda s: len(s.blocks) > 1 and s.hypothesis != "axisymmetric")
def above(seen):
    """A block that was above another one and comes down on it is not below it in the end.

    Blocks stand over each other by most of their width, and no run is long enough to slide off: heights of
    their middles, with half of the lower block's height allowed. Blocks that are glued may topple together:
    of them the distance of their middles stays. Not where steps are so long that the run says so.
    """
    s, record = seen.scenario, seen.record
    if any("parts may pass through each other" in text for text in seen.run.warnings):
        return
    x = seen.places() + seen.nodal(record.u[-1])
    y = x[:, -1]
    for i in range(1, len(s.blocks)):
        if s.joint == "tie" and i > s.movable[0]:
            now, before = (
                np.linalg.norm(each[seen.parts[i]].mean(axis=0) - each[seen.parts[i - 1]].mean(axis=0))
                for each in (x, seen.places())
            )
            what = f"distance of the middles of the glued blocks {i - 1} and {i} [m]"
            yield Misfit(what, now, before, 0.5 * s.blocks[i].height)
            continue
        if s.motion == "flying" or (s.floor == "corner" and i == 1):
            continue
        height = y[seen.parts[i]].mean() - y[seen.parts[i - 1]].mean()
        yield Misfit(
            f"block {i} below block {i - 1} by [m]", max(-height, 0.0), 0.0, 0.5 * s.blocks[i].height
        )


def polygons(seen, i):
    """Corners of the outline of a block in the plane, in order, by its corners at zero displacement."""
    s = seen.scenario
    low, high = bounds(s)[i]
    ref = seen.places()[seen.parts[i]]
    edge = []
    sides = ((1, low[1], 0, 1), (0, high[0], 1, 1), (1, high[1], 0, -1), (0, low[0], 1, -1))
    for axis, value, along, sign in sides:
        on = np.flatnonzero(np.abs(ref[:, axis] - value) < 1e-9)
        edge.extend(on[np.argsort(sign * ref[on, along])][:-1])
    return seen.parts[i][np.array(edge)]


def depth(x: np.ndarray, outline: np.ndarray) -> float:
    """Largest depth of the points in a polygon, by crossings of a ray and distances of segments [m]."""
    a, b = outline, np.roll(outline, -1, axis=0)
    d, r = b - a, x[:, None] - a
    crosses = (a[:, 1] > x[:, None, 1]) != (b[:, 1] > x[:, None, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = a[:, 0] + (x[:, None, 1] - a[:, 1]) * d[:, 0] / d[:, 1]
    inside = (crosses & (x[:, None, 0] < at)).sum(axis=1) % 2 == 1
    part = np.clip((r * d).sum(axis=-1) / (d**2).sum(axis=-1), 0.0, 1.0)
    distance = np.linalg.norm(r - part[..., None] * d, axis=-1).min(axis=1)
    return float(distance[inside].max(initial=0.0))


def _plane_pairs(s):
    plane = s.gdim == 2 and s.degree == 1 and s.hypothesis != "axisymmetric"
    return plane and len(s.blocks) > 1 and s.tilt == 0 and s.floor != "corner" and s.joint != "tie"


@oracle(_plane_pairs)
def cells(seen):
    """No node of a block lies deep in another block at the end of the run.

    The outline of a block is the polygon of its outer nodes. Weighted gaps are means over facets: a node may
    lie as deep as a facet is bent, and corners 0.07 of a cell in random pairs, as measured; allowed are 0.15
    of the longer facet and two steps of approach.
    """
    s, record = seen.scenario, seen.record
    x = seen.places() + seen.nodal(record.u[-1])
    step = np.abs(seen.nodal(record.v, velocity=True)).max() * record.dt.max() / seen.frame.time
    longest = max(max(b.width / b.across, b.height / b.up) for b in s.blocks)
    for i in range(1, len(s.blocks)):
        for one, other in ((i, i - 1), (i - 1, i)):
            deep = depth(x[polygons(seen, one)], x[polygons(seen, other)])
            what = f"depth of nodes of block {one} in block {other} [m]"
            yield Misfit(what, deep, 0.0, 0.15 * longest + 2 * step)

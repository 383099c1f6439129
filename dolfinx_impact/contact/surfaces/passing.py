"""Detection of parts that pass through each other within one step, unseen by the gaps at its ends."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI
from scipy.spatial import cKDTree

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ..tunnelling import Tunnelled
from .assembly import Assembly
from .facets import Facets
from .tables import DEPTH, FACING

#: Part of the depth in which overlap is seen from which on a node may have gone unseen.
_DEEP = 0.5
#: Largest number of places at which the path of a node is sampled in the search for facets.
_MAX_SAMPLES = 64


class PassingCheck:
    """Checks the paths of surface nodes between the active sets of two steps.

    A node has passed through a surface if it came from outside through a facet that one of its own facets
    faces, this one lies behind that surface as a whole at the end, deeper than half of what segments see, and
    no segment or point at its facets is closed there. Nodes that slide off an edge lie beside the
    surface; those of a part that sinks in deeply, but seen, have closed segments; a corner that swings in has
    facets that stick out.

    Args:
        assembly: Gaps and segments of the contact.
        surfaces: Names of the surfaces.
    """

    def __init__(self, assembly: Assembly, surfaces: tuple[str, ...]) -> None:
        self._assembly, self._names = assembly, surfaces or ("the outer surface",)
        self._shortest = _DEEP * assembly.depth
        self._now = np.zeros(0)
        self._t = 0.0

    def accept_step(self, t: float) -> None:
        """Take the positions of the last evaluation as those of the end of a step, at ``t`` [s]."""
        self._assembly.keep_positions()
        self._t = t

    def refuse(self, u: FloatArray) -> None:
        """Raise a :class:`.Tunnelled` where nodes have passed through a surface on their way to ``u``.

        Collective; on most steps, in which nothing moves far enough, without communication.
        """
        assembly = self._assembly
        if not 2.0 * assembly.path > self._shortest:
            return
        facets = assembly.all_facets()
        before, now = assembly.kept_positions(facets), assembly.all_positions(facets, u)
        if not (np.isfinite(before).all() and np.isfinite(now).all()):
            return
        comm, found = assembly.body.comm, []
        for first, second in assembly.pairs:
            for surface, other in ((first, second), (second, first)):
                crossed = _crossings(facets, before, now, surface, other, (comm.rank, comm.size))
                found.append(np.column_stack([crossed, np.full(len(crossed), other)]))
        every = parallel.gather_rows(comm, np.concatenate(found).astype(np.float64)).astype(np.int64)
        if not len(every):
            return
        seen = self._seen(facets)
        for node, facet, other in every[~seen[every[:, 0]]]:
            if _passed(facets, before, now, node, facet, other):
                raise self._error(facets, before, now, node, facet, other)

    def _seen(self, facets: Facets) -> BoolArray:
        """Nodes of all facets at which the present contact is closed, shape (nodes,). Collective."""
        marks, closed = np.zeros(len(facets.x), dtype=np.int8), self._assembly.closed_nodes()
        marks[self._assembly.facets.node_number[closed]] = 1
        self._assembly.body.comm.Allreduce(MPI.IN_PLACE, marks, op=MPI.MAX)
        return marks > 0

    def _error(
        self, facets: Facets, before: FloatArray, now: FloatArray, node: int, facet: int, other: int
    ) -> Tunnelled:
        shift = (now - before)[facets.nodes[facet]].mean(axis=0)
        path = float(np.linalg.norm((now - before)[node] - shift))
        place = ", ".join(f"{value:.6g}" for value in before[node])
        depth = DEPTH * (_heights(facets, facets.part[node])[node] + facets.height[facet])
        own, opposite = self._names[facets.part[node]], self._names[other]
        return Tunnelled(
            f"surfaces pass through each other in one step: a node of {own!r} goes {path:.3g} m through "
            f"{opposite!r}, from ({place}) m at t = {self._t:.6g} s, and overlap is seen to {depth:.3g} m; "
            "take a smaller time step"
        )


def _heights(facets: Facets, surface: int) -> FloatArray:
    """Largest height of the cells at the facets of a surface at each node, shape (nodes,) [m]."""
    chosen, heights = facets.of(surface), np.zeros(len(facets.x))
    np.maximum.at(heights, facets.nodes[chosen], facets.height[chosen][:, None])
    return heights


def _crossings(
    facets: Facets, before: FloatArray, now: FloatArray, surface: int, other: int, share: tuple[int, int]
) -> IntArray:
    """Nodes of a surface, of this rank's share, and facets of another one through which they came in.

    Positions are taken as linear in time within the step, in the frame that moves with the other surface.
    """
    of_other, every = facets.of(other), facets.surface_nodes(surface)
    now = now - (now - before)[facets.nodes[of_other]].mean(axis=(0, 1))
    nodes, limits = every[share[0] :: share[1]], _DEEP * DEPTH * _heights(facets, surface)
    sweep = np.linalg.norm(now - before, axis=1)
    swept = sweep[facets.nodes[of_other]].max(axis=1)
    nodes = nodes[sweep[nodes] + swept.max() > limits[nodes]]
    node, place = _near(facets, before, now, nodes, of_other, swept)
    facet = of_other[place]
    s0, s1 = (_distances(facets, x, node, facet) for x in (before, now))
    tolerance = 1e-9 * facets.diameter[facet]
    came = (s0 >= -tolerance) & (s1 < -limits[node] - _DEEP * DEPTH * facets.height[facet])
    node, facet, s0, s1 = node[came], facet[came], np.maximum(s0[came], 0.0), s1[came]
    part = (s0 / (s0 - s1))[:, None]
    corners = facets.nodes[facet][:, facets.shape.corners]
    point = before[node] + part * (now - before)[node]
    at = before[corners] + part[:, None] * (now - before)[corners]
    through = _inside(at, point)
    return np.column_stack([node[through], facet[through]])


def _near(
    facets: Facets, before: FloatArray, now: FloatArray, nodes: IntArray, others: IntArray, swept: FloatArray
) -> tuple[IntArray, IntArray]:
    """Pairs of nodes and of places among facets whose paths come near each other."""
    none = np.zeros(0, dtype=np.int64)
    if not nodes.size:
        return none, none
    x0, x1 = before[nodes], now[nodes]
    radius = float((0.5 * facets.diameter[others] * 1.5 + swept).max())
    longest = float(np.linalg.norm(x1 - x0, axis=1).max())
    samples = min(_MAX_SAMPLES, 1 + int(np.ceil(longest / radius)))
    parts = np.linspace(0.0, 1.0, samples + 1)
    points = (x0 + parts[:, None, None] * (x1 - x0)).reshape(-1, x0.shape[1])
    centres = 0.5 * (before + now)[facets.nodes[others]].mean(axis=1)
    lists = cKDTree(centres).query_ball_point(points, radius + 0.5 * longest / samples)
    index = np.repeat(np.tile(np.arange(nodes.size), samples + 1), [len(each) for each in lists])
    place = np.array([k for each in lists for k in each], dtype=np.int64)
    pairs = np.unique(index * len(others) + place)
    return nodes[pairs // len(others)], pairs % len(others)


def _distances(facets: Facets, x: FloatArray, node: IntArray, facet: IntArray) -> FloatArray:
    """Signed distances of nodes to the planes of facets, shape (pairs,) [m]."""
    normals, _ = facets.normals(x)
    arm = x[node] - x[facets.nodes[facet]].mean(axis=1)
    return np.asarray(np.einsum("pi,pi->p", normals[facet], arm))


def _inside(corners: FloatArray, point: FloatArray) -> BoolArray:
    """Whether points project into facets with corners of shape (pairs, corners, gdim) along their normal."""
    count, slack = corners.shape[1], 1e-9
    if corners.shape[2] == 2:
        along = corners[:, 1] - corners[:, 0]
        at = np.einsum("pi,pi->p", along, point - corners[:, 0]) / np.einsum("pi,pi->p", along, along)
        return np.asarray((at >= -slack) & (at <= 1.0 + slack))
    last = corners[:, 3] - corners[:, 1] if count == 4 else corners[:, 2] - corners[:, 0]
    first = corners[:, 2] - corners[:, 0] if count == 4 else corners[:, 1] - corners[:, 0]
    normal = np.cross(first, last)
    inside = np.ones(len(point), dtype=bool)
    for k in range(count):
        edge = corners[:, (k + 1) % count] - corners[:, k]
        side = np.einsum("pi,pi->p", np.cross(edge, point - corners[:, k]), normal)
        inside &= side >= -slack * np.einsum("pi,pi->p", normal, normal)
    return inside


def _passed(facets: Facets, before: FloatArray, now: FloatArray, node: int, facet: int, other: int) -> bool:
    """Whether one of the facets at a node that faced another facet lies behind that surface as a whole."""
    normals, _ = facets.normals(before)
    own = np.flatnonzero((facets.nodes == node).any(axis=1) & (facets.surface == facets.part[node]))
    facing = own[normals[own] @ normals[facet] < FACING]
    return any(all(_behind(facets, now, each, facet, other) for each in facets.nodes[g]) for g in facing)


def _behind(facets: Facets, x: FloatArray, node: int, facet: int, other: int) -> bool:
    """Whether a node lies deep behind a facet of a surface that looks to the same side as another one."""
    normals, _ = facets.normals(x)
    chosen = facets.of(other)
    chosen = chosen[normals[chosen] @ normals[facet] > -FACING]
    nodes = np.full(chosen.size, node)
    corners = x[facets.nodes[chosen][:, facets.shape.corners]]
    depths = _DEEP * DEPTH * (_heights(facets, facets.part[node])[node] + facets.height[chosen])
    deep = _distances(facets, x, nodes, chosen) < -depths
    return bool(np.any(deep & _inside(corners, x[nodes])))

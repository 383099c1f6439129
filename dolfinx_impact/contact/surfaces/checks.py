"""Surfaces that overlap at the start, or that face away from each other, are refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from dolfinx import geometry

from ... import _compat, parallel
from ..._types import FloatArray
from ...systems.continuum import Continuum
from ...systems.mass_lumping import scalar_element
from ..penetration import TOUCHING, refuse_penetration
from .facets import Facets
from .pair import DEPTH

#: Sum of the normals over the area below which a surface is closed, or nearly so.
_OPEN = 0.5
#: Facets whose distance is computed, those with the nearest centres.
_NEAREST = 32


def refuse_facing_away(facets: Facets, first: int, second: int, names: tuple[str, ...]) -> None:
    """Raise a ValueError for two open surfaces with outward normals that point away from each other."""
    normals, sizes = facets.normals(facets.x)
    means, centres = [], []
    for k in (first, second):
        chosen = facets.of(k)
        weights = sizes[chosen] / sizes[chosen].sum()
        means.append(weights @ normals[chosen])
        centres.append(weights @ facets.x[facets.nodes[chosen]].mean(axis=1))
    towards = centres[1] - centres[0]
    if min(float(np.linalg.norm(mean)) for mean in means) < _OPEN:
        return
    # What lies less deep is an overlap, of which another message tells.
    deep = 2.0 * DEPTH * max(facets.height[facets.of(first)].max(), facets.height[facets.of(second)].max())
    if means[0] @ towards < -deep and means[1] @ towards > deep and means[0] @ means[1] < 0:
        raise ValueError(
            f"the surfaces {names[first]!r} and {names[second]!r} face away from each other: name the facets "
            "that lie opposite (or allow it, allow_penetration=True)"
        )


def refuse_overlap(contact: Any, u: FloatArray) -> None:
    """Raise a ValueError where surfaces overlap at ``u``, on the surface or deep inside. Collective."""
    names = " and ".join(repr(name) for name in contact.surfaces)
    refuse_penetration(
        contact, contact.gap(u), contact.places(u), f"nodes of the surfaces {names}", within="the other part"
    )
    with _displaced(contact.body, u):
        deepest, where = _deepest_inside(contact, contact.assembly.positions(u))
    if deepest > max(contact.gap_tolerance, TOUCHING * contact.system.length):
        shown = ", ".join(f"{value:.6g}" for value in where)
        raise ValueError(
            f"the surfaces {names} overlap at the start, the deepest at ({shown}) m, {deepest:.3g} m inside "
            "the other part: move the parts, or allow it (allow_penetration=True)"
        )


@contextlib.contextmanager
def _displaced(body: Continuum, u: FloatArray) -> Iterator[None]:
    """Move the nodes of the mesh by ``u`` for a while."""
    element = body.mesh.ufl_domain().ufl_coordinate_element().sub_elements[0]
    shapes = scalar_element(body.space).tabulate(0, element.basix_element.points)[0]
    at = u.reshape(-1, body.block)[np.asarray(body.space.dofmap.list)][..., : body.gdim]
    cells, x, rest = _compat.geometry_dofmap(body.mesh), body.mesh.geometry.x, body.mesh.geometry.x.copy()
    moved = rest[cells]
    moved[..., : body.gdim] += np.einsum("gn,cni->cgi", shapes, at)
    x[cells] = moved
    try:
        yield
    finally:
        x[:] = rest


def _deepest_inside(contact: Any, x: FloatArray) -> tuple[float, FloatArray]:
    """Largest depth of a surface node in cells of another part, and its place. Collective.

    Args:
        contact: The contact; the mesh of its body is in the present state.
        x: Positions of the nodes, shape (nodes, gdim) [m].
    """
    body, facets, mesh = contact.body, contact.facets, contact.body.mesh
    points = np.zeros((len(x), 3))
    points[:, : body.gdim] = x
    inside = np.zeros(len(x))
    if mesh.topology.index_map(mesh.topology.dim).size_local:
        tree = geometry.bb_tree(mesh, mesh.topology.dim)
        near = geometry.compute_collisions_points(tree, points)
        hits = geometry.compute_colliding_cells(mesh, near, points)
        number = body.space.dofmap.index_map.local_to_global(
            np.arange(body.size // body.block, dtype=np.int32)
        )
        dofmap = np.asarray(body.space.dofmap.list)
        for i in range(len(x)):
            cells = hits.links(i)
            cells = cells if body.cells is None else cells[np.isin(cells, body.cells)]
            own = number[dofmap[cells]] == facets.global_nodes[i]
            inside[i] = not np.all(own.any(axis=1))
    inside = parallel.gather_rows(body.comm, inside[None, :]).max(axis=0)
    deep = np.flatnonzero((inside > 0) & (facets.part >= 0))
    if not deep.size:
        return 0.0, np.zeros(0)
    depth = np.array([_distance(facets, x, i) for i in deep])
    worst = int(np.argmax(depth))
    return float(depth[worst]), x[deep[worst]]


def _distance(facets: Facets, x: FloatArray, node: int) -> float:
    """Distance of a node to the nearest facets of the other surfaces [m]."""
    others = np.flatnonzero((facets.surface >= 0) & (facets.surface != facets.part[node]))
    corners, point = np.zeros((others.size, facets.shape.corners.size, 3)), np.zeros((1, 3))
    corners[..., : x.shape[1]], point[0, : x.shape[1]] = (
        x[facets.nodes[others][:, facets.shape.corners]],
        x[node],
    )
    nearest = np.argsort(np.linalg.norm(corners.mean(axis=1) - point, axis=1))[:_NEAREST]
    vectors = [geometry.compute_distance_gjk(point, corners[k].copy()) for k in nearest]
    return min(float(np.linalg.norm(each)) for each in vectors)

"""Which of two surfaces is the slave, and which facet of a pair where a surface may touch itself."""

from __future__ import annotations

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from ...algebra.contact_operator import ascending
from ...algebra.operators import coordinate_order
from .facets import AllFacets
from .search import Candidates
from .sides import smooth_sides

#: Part of the facets of a connected part that one of its patches has at most.
_OF_PART = 8
#: Cosine of the largest angle of a normal of a patch with the mean one: they span less than 120 degrees.
_SPAN = 0.5
#: A direction along no edge of usual meshes: facets of one patch are ordered along it.
_OBLIQUE = np.array([0.61, 0.53, 0.59])
#: Digits to which values that decide between facets are compared.
_DIGITS = 9


class Roles:
    """Roles of the facets of a surface that is in contact with itself: constants of the mesh.

    The facet with the smaller key is the slave: the connected part (less mass per area first, then the finer
    one), in it the patch, in it the coordinate along an oblique direction. Patches are few and large, since
    the Delassus operator is well conditioned where roles do not change from facet to facet. No pairs are
    facets of cells with a common vertex, as the sides of a plate that is one cell thick.

    Args:
        facets: All facets.
        length: A length of the body [m].

    Attributes:
        key: Place of each facet in the order of roles, shape (facets,).
        body_part: Number of the connected part of each facet, shape (facets,).
        side: Number of its smooth side, shape (facets,).

    Raises:
        ValueError: All nodes of the surface are held.
    """

    def __init__(self, facets: AllFacets, length: float) -> None:
        self.body_part = facets.body_part
        self.side = smooth_sides(facets)
        self._vertices = facets.cell_vertices
        chosen = facets.of(0)
        centres = facets.x[facets.nodes].mean(axis=1)
        places: FloatArray = np.zeros((len(centres), 3))
        places[:, : centres.shape[1]] = centres
        places = coordinate_order(places, length)
        patch = np.zeros(len(centres), np.int64)
        normals, _ = facets.normals(facets.x)
        for part in np.unique(facets.body_part[chosen]):
            of_part = chosen[facets.body_part[chosen] == part]
            patch[of_part] = _patches(places[of_part], normals[of_part])
        oblique = np.round(places @ _OBLIQUE, 3)
        keys = np.column_stack([_order_of_parts(facets)[facets.body_part], patch, oblique, places])
        self.key: IntArray = np.empty(len(centres), np.int64)
        self.key[ascending(keys)] = np.arange(len(centres))

    def chosen(self, found: Candidates) -> Candidates:
        """Candidate pairs without those of cells with a common vertex."""
        near = self.neighbours(*found.pairs.T)
        return found.taken(~near) if near.any() else found

    def neighbours(self, first: IntArray, second: IntArray) -> BoolArray:
        """Whether cells of two facets have a common vertex, shape (n,)."""
        same = np.flatnonzero(self.body_part[first] == self.body_part[second])
        a, b = self._vertices[first[same]], self._vertices[second[same]]
        found = np.zeros(first.size, dtype=bool)
        found[same] = (a[:, :, None] == b[:, None, :]).any(axis=(1, 2))
        return found


def _order_of_parts(facets: AllFacets) -> IntArray:
    """Place of each connected part in the order of roles: less mass per area, then more facets per area."""
    chosen, values = facets.of(0), []
    parts = np.arange(int(facets.body_part.max()) + 1)
    for part in parts:
        of_part = chosen[facets.body_part[chosen] == part]
        values.append(_mobility(facets, of_part) if of_part.size else (0.0, 0.0))
    compliance, fineness = (_rounded(np.array(each)) for each in zip(*values))
    if not compliance.any():
        raise ValueError("all nodes of the surfaces are fixed or prescribed: contact has nothing to move")
    order: IntArray = np.argsort(np.lexsort((parts, -fineness, -compliance)))
    return order


def _rounded(values: FloatArray) -> FloatArray:
    largest = np.abs(values).max(initial=0.0)
    return values if largest == 0.0 else np.round(values / largest, _DIGITS)


def _patches(places: FloatArray, normals: FloatArray) -> IntArray:
    """Numbers of patches in the order of a tree, shape (n,).

    Bisection by the direction of the normals until these span less than 120 degrees, so that a patch faces
    itself only after a sharp fold and the two sides of a thin wall are patches as a whole; then by places,
    along the longest axis, until a patch has an eighth of the facets.
    """
    patch, number = np.zeros(len(places), np.int64), 0
    waiting: list[IntArray] = [np.arange(len(places))]
    while waiting:
        facets = waiting.pop()
        halves = _by_normals(facets, normals) or _by_places(facets, places)
        if halves is None:
            patch[facets], number = number, number + 1
        else:
            waiting += halves
    return patch


def _by_normals(facets: IntArray, normals: FloatArray) -> list[IntArray] | None:
    """Facets on both sides of the direction along which most of the normals lie; None for a small span."""
    n = normals[facets]
    mean = n.sum(axis=0)
    if bool((n @ mean > _SPAN * np.linalg.norm(mean)).all()):
        return None
    for axis in np.argsort(-np.round(np.abs(n).sum(axis=0), 3), kind="stable"):
        up = np.round(n[:, axis], _DIGITS) > 0.0
        if up.any() and not up.all():
            return [facets[up], facets[~up]]
    return None


def _by_places(facets: IntArray, places: FloatArray) -> list[IntArray] | None:
    """Halves of facets along the longest axis; None for a small patch."""
    if _OF_PART * len(facets) <= len(places) or len(facets) == 1:
        return None
    x = places[facets]
    order = facets[np.lexsort((*x.T[::-1], x[:, int(np.argmax(np.round(np.ptp(x, axis=0))))]))]
    return [order[len(order) // 2 :], order[: len(order) // 2]]


def slave_and_master(facets: AllFacets, first: int, second: int) -> tuple[int, int]:
    """The side with less mass per area is the slave, then the one with more facets per area, then the first.

    Constrained nodes are infinitely heavy. With this choice the slave part of H dominates that of the master.

    Args:
        facets: AllFacets of all surfaces.
        first, second: Numbers of two surfaces; the first is that of the earlier part of the mesh.

    Raises:
        ValueError: Both sides have no dof that moves freely.
    """
    compliance, fineness = zip(*(_mobility(facets, facets.of(each)) for each in (first, second)))
    if max(compliance) == 0.0:
        raise ValueError("all nodes of both surfaces are fixed or prescribed: contact has nothing to move")
    if abs(compliance[0] - compliance[1]) > 1e-9 * max(compliance):
        return (first, second) if compliance[0] > compliance[1] else (second, first)
    if abs(fineness[0] - fineness[1]) > 1e-9 * max(fineness):
        return (first, second) if fineness[0] > fineness[1] else (second, first)
    return first, second


def _mobility(facets: AllFacets, chosen: IntArray) -> tuple[float, float]:
    """Mean of area per mass of the nodes of some facets [m2/kg], and facets per area [1/m2]."""
    _, sizes = facets.normals(facets.x)
    nodes, n = facets.nodes[chosen], facets.nodes.shape[1]
    area = np.bincount(nodes.ravel(), np.repeat(sizes[chosen] / n, n), len(facets.x))
    at = np.unique(nodes)
    compliance = area[at] * facets.inverse_mass[at].mean(axis=1)
    return float(compliance.mean()), float(chosen.size / sizes[chosen].sum())

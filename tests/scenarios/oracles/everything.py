"""Contact of everything with everything is that of named pairs where no more can meet, and nothing passes."""

from __future__ import annotations

import warnings

import numpy as np

from ..kinds import MESHED
from ..observe import build
from .base import Misfit, oracle

#: Steps of a run: parts that are thrown meet in them.
STEPS = 60


@oracle(
    lambda s: (
        (s.general == "unswept" and s.motion != "rest")
        or (s.sharp and s.floor in ("plane", "moving", "planes") and not s.general)
    ),
    runs=True,
)
def named(s):
    """Without tests of paths all surfaces at once are the named pairs, and facets on planes their nodes.

    The parts are convex and thrown one above the other, none meets itself, and a facet is nearest to a plane
    at a node. Rows and points come in another order: allowed 1e-9. Not skins, which move surfaces, nor after
    a facet had a part above and one below, where its roles are other ones.
    """
    joint = s.joint if s.joint == "tie" else "together"
    yield from _alike(s, s.changed(general="", sharp=False, joint=joint), "the named pairs")


@oracle(lambda s: s.general and s.joint == "tie" and s.floor not in MESHED and not s.sharp, runs=True)
def glued(s):
    """Between parts that a tie glues to each other nothing else acts, neither within nor at the rim."""
    yield from _alike(s, s.changed(general=""), "ties alone")


def _alike(one, other, what):
    """Misfits of the ends of two runs; velocities at rest are round-off."""
    names = "u" if one.motion == "rest" else "uv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (build(each)["scheme"] for each in (one, other))
        ends = [(one.u, other.u), (one.v, other.v)]
        for _ in range(STEPS):
            before = [(a.copy(), b.copy()) for a, b in ends]
            one.step()
            other.step()
            if _has_both_roles(one.contact):
                ends = before
                break
    for name, (a, b) in zip(names, ends):
        size = np.abs(b).max() + 1e-300
        yield Misfit(f"{name} with {what}, difference", np.abs(a - b).max(), 0.0, 1e-9 * size)


def _has_both_roles(contact):
    """Whether a node of closed segments of a contact of all surfaces is one of slaves and of masters."""
    for each in contact.members:
        if getattr(each, "itself", False):
            slaves, masters = (each.facets.nodes[k] for k in each.assembly.segments.closed().T)
            if np.intersect1d(slaves, masters).size:
                return True
    return False


@oracle(lambda s: s.general in ("swept", "skin"))
def passed(seen):
    """A run whose paths are tested says that nothing passed, and covered surfaces stay near each other.

    They penetrate by the motion of points that the mean gap of a segment lets in, a small part of a cell, at
    corners that slide off others up to 0.3 of the flatter one.
    """
    every = seen.contact if isinstance(seen.contact, list) else [seen.contact]
    for contact in every:
        if getattr(contact, "swept", False):
            said = contact.certificate()
            passed = -1.0 if said.passed is None else float(said.passed)
            yield Misfit("pairs of features that passed", passed, 0.0, 0.0)
            yield Misfit("penetration of covered surfaces over the height of a cell", said.deepest, 0.0, 0.3)


@oracle(lambda s: s.general == "skin" and s.joint != "tie")
def apart(seen):
    """Surfaces with a skin never intersect: no edge passes through a facet, by a test of its own.

    Every tenth state and the last. Facets of higher degree are their linear parts and quadrilaterals two
    triangles; what shares a node is no pair. Not where parts are glued, whose facets touch.
    """
    facets = (seen.contact[-1] if isinstance(seen.contact, list) else seen.contact).facets
    d = facets.x.shape[1]
    polygons = _linear(facets.nodes[facets.surface >= 0], d)
    sides = np.stack([polygons, np.roll(polygons, -1, axis=1)], axis=2).reshape(-1, 2)
    edges = polygons if d == 2 else np.unique(np.sort(sides, axis=1), axis=0)
    pieces = [polygons] if d == 2 else [polygons[:, [0, k, k + 1]] for k in range(1, polygons.shape[1] - 1)]
    pieces = np.concatenate(pieces)
    i, k = np.nonzero(~(edges[:, None, :, None] == pieces[None, :, None, :]).any(axis=(2, 3)))
    crossed = 0
    for u in np.vstack([seen.record.u[::10], seen.record.u[-1:]]):
        x = facets.x + u.reshape(-1, d)[facets.local]
        crossed += np.count_nonzero(_pass(x[edges[i]], x[pieces[k]]))
    yield Misfit("edges that pass through facets", float(crossed), 0.0, 0.0)


def _linear(nodes, d):
    """Corners of the linear parts of facets: segments, triangles or quadrilaterals."""
    n = nodes.shape[1]
    if d == 2:
        return np.concatenate([nodes[:, k : k + 2] for k in range(n - 1)])
    if n == 3:
        return nodes
    grid = nodes.reshape(len(nodes), round(n**0.5), -1)
    corners = grid[:, :-1, :-1], grid[:, 1:, :-1], grid[:, 1:, 1:], grid[:, :-1, 1:]
    return np.stack(corners, axis=3).reshape(-1, 4)


def _pass(edges, pieces):
    """Whether edges, shape (n, 2, d), pass through triangles or, in two dimensions, segments (n, d, d)."""
    origin = edges[:, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = np.concatenate([edges[:, :1] - edges[:, 1:], pieces[:, 1:] - pieces[:, :1]], axis=1)
        volume = np.linalg.det(columns)
        right = (origin - pieces[:, :1])[:, 0]
        # Cramer's rule for origin + t (end - origin) = piece_0 + sum w_k (piece_k - piece_0).
        places = []
        for column in range(columns.shape[1]):
            changed = columns.copy()
            changed[:, column] = right
            places.append(np.linalg.det(changed) / volume)
    t, weights = places[0], np.array(places[1:])
    small = 1e-9
    inside = (weights > small).all(axis=0) & (weights.sum(axis=0) < 1 - small)
    return (t > small) & (t < 1 - small) & inside

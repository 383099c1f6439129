"""Frictional contact of one node with two or three faces in 3D: enumeration of contact states.

The faces share the three dofs of the node, so that H has rank 3, ``H = F F^T``, and w depends only on the
momentum change ``y = F^T x`` of the node: ``w = F y + c``. Faces with an impulse have ``w_N = 0``, which
leaves a line of y for two of them and a point for three. Each y determines the slip directions, and thereby
the directions of the sliding impulses; y must lie in the span of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy import optimize

from .._types import FloatArray

_RANK, _INDEPENDENT = 1e-12, 1e-6
#: Distances on the line from the point of least slip of a face, relative to the largest velocity.
_DISTANCES = np.concatenate([[0.0], np.logspace(-13, 5, 180)])
_LINE = np.concatenate([-_DISTANCES[:0:-1], _DISTANCES])
_PARTS, _ZOOMS = np.linspace(0.0, 1.0, 33), 5
#: Slip velocities below this fraction of the largest velocity count as sticking.
_STICK = 1e-11
#: Edges of the friction pyramid, the distance beyond which y is outside of the cone, and refinements.
_FAN, _OUTSIDE, _ROUNDS = np.linspace(-1.0, 1.0, 33), 0.05, 8


def factor(S: FloatArray) -> FloatArray | None:
    """F with ``S = F F^T``, shape (p, 3, 3), for two or three faces of one node; None for other problems.

    Also None for linearly dependent normals, as between parallel walls.
    """
    if len(S) not in (6, 9):
        return None
    values, vectors = np.linalg.eigh(S)
    if values[-4] > _RANK * values[-1]:
        return None
    F: FloatArray = (vectors[:, -3:] * np.sqrt(np.maximum(values[-3:], 0.0))).reshape(-1, 3, 3)
    return F if np.linalg.svd(F[:, 0], compute_uv=False)[-1] > _INDEPENDENT else None


def can_stick(F: FloatArray, c: FloatArray) -> bool:
    """Whether some momentum change brings the node to rest at all faces, as without restitution."""
    rows = F.reshape(-1, 3)
    y = np.linalg.lstsq(rows, -c, rcond=None)[0]
    return bool(np.max(np.abs(rows @ y + c)) <= _RANK * np.max(np.abs(c)))


def candidates(F: FloatArray, c: FloatArray, m: FloatArray) -> Iterator[FloatArray]:
    """Candidate impulses: all faces sticking, then three and two active faces, shape (3 p,) each.

    Args:
        F: See :func:`factor`.
        c: Free velocities, shape (3 p,).
        m: Coulomb's coefficients of the faces, shape (p,).
    """
    by_face = c.reshape(-1, 3)
    yield from _sticking(F, c, m)
    for size in (3, 2):
        for active in map(list, combinations(range(len(F)), size)):
            impulses = _pair if size == 2 else _triple
            for part in impulses(F[active], by_face[active], m[active]):
                x = np.zeros(by_face.shape)
                x[active] = part
                yield x.ravel()


def _sticking(F: FloatArray, c: FloatArray, m: FloatArray) -> Iterator[FloatArray]:
    """Candidates with zero contact velocity at all faces."""
    if can_stick(F, c):
        y = np.asarray(np.linalg.lstsq(F.reshape(-1, 3), -c, rcond=None)[0], dtype=np.float64)
        yield from (x.ravel() for x in _decomposed(F, c.reshape(-1, 3), m, y))


def _decomposed(F: FloatArray, c: FloatArray, m: FloatArray, y: FloatArray) -> Iterator[FloatArray]:
    """Impulses with the sum y: against the slip of sliding faces, in the cones of sticking ones, (p, 3).

    A cone is represented by edges of an inscribed pyramid, which are refined around the impulse.
    """
    w = F[:, 1:] @ y + c[:, 1:]
    middle = np.arctan2(-w[:, 1], -w[:, 0])
    spread = np.where(np.linalg.norm(w, axis=1) <= _STICK * np.max(np.abs(c)), np.pi, 0.0)
    for turn in range(_ROUNDS):
        angle = middle[:, None] + spread[:, None] * _FAN
        edges = np.stack([np.ones_like(angle), *(m[:, None] * (np.cos(angle), np.sin(angle)))], axis=-1)
        try:
            weights, rest = optimize.nnls(np.einsum("pec,pck->kpe", edges, F).reshape(3, -1), y)
        except RuntimeError:
            return
        x = np.einsum("pe,pec->pc", weights.reshape(angle.shape), edges)
        if rest <= 1e-14 * np.linalg.norm(y) or turn == _ROUNDS - 1:
            yield x
            return
        if rest > _OUTSIDE * np.linalg.norm(y):
            return
        leans = (spread > 0.0) & x[:, 1:].any(axis=1)
        middle[leans] = np.arctan2(x[leans, 2], x[leans, 1])
        spread[leans] /= 8.0


def _directions(F: FloatArray, c: FloatArray, m: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sliding impulses per normal impulse, and their momentum changes, at y, shape (..., p, 3) each."""
    w = np.einsum("pck,...k->...pc", F[:, 1:], y) + c[:, 1:]
    size = np.linalg.norm(w, axis=-1, keepdims=True)
    slip = np.divide(w, size, out=np.zeros_like(w), where=size > 0.0)
    impulses = np.concatenate([np.ones(size.shape), -m[:, None] * slip], axis=-1)
    return impulses, np.einsum("...pc,pck->...pk", impulses, F)


def _triple(F: FloatArray, c: FloatArray, m: FloatArray) -> Iterator[FloatArray]:
    """Candidates with three active faces, whose normals determine y."""
    y = np.asarray(np.linalg.solve(F[:, 0], -c[:, 0]), dtype=np.float64)
    yield from _decomposed(F, c, m, y)


def _pair(F: FloatArray, c: FloatArray, m: FloatArray) -> Iterator[FloatArray]:
    """Candidates with two active faces: roots of ``y . d_1 x d_2`` on the line ``w_N = 0``, or one sticks."""
    along = np.cross(F[0, 0], F[1, 0])
    along /= np.linalg.norm(along)
    start = np.linalg.lstsq(F[:, 0], -c[:, 0], rcond=None)[0]

    def misfit(s: FloatArray) -> FloatArray:
        y = start + s[..., None] * along
        momenta = _directions(F, c, m, y)[1]
        defect: FloatArray = np.einsum("...k,...k->...", y, np.cross(momenta[..., 0, :], momenta[..., 1, :]))
        return defect

    a, rate = F[:, 1:] @ start + c[:, 1:], F[:, 1:] @ along
    slowest = -np.sum(a * rate, axis=1) / np.maximum(np.sum(rate**2, axis=1), 1e-300)
    least = np.linalg.norm(a + slowest[:, None] * rate, axis=1)
    for k in np.flatnonzero(least <= _STICK * np.max(np.abs(c))):
        yield from _decomposed(F, c, m, start + slowest[k] * along)
    s = np.sort((slowest[:, None] + np.max(np.abs(c)) * _LINE).ravel())
    low, high = _brackets(s, misfit(s))
    for _ in range(_ZOOMS):
        if not low.size:
            return
        s = low[:, None] + (high - low)[:, None] * _PARTS
        values = misfit(s)
        first = np.argmax(np.sign(values[:, 1:]) != np.sign(values[:, :1]), axis=1)
        rows = np.arange(len(s))
        low, high, ends = s[rows, first], s[rows, first + 1], (values[rows, first], values[rows, first + 1])
    root = low + (high - low) * ends[0] / (ends[0] - ends[1])
    for y in start + root[:, None] * along:
        impulses, momenta = _directions(F, c, m, y)
        sizes = np.linalg.lstsq(momenta.T, y, rcond=None)[0]
        if np.all(sizes >= 0.0):
            yield sizes[:, None] * impulses


def _brackets(s: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals of ``s`` with a sign change of ``values``."""
    change = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))
    return s[change], s[change + 1]

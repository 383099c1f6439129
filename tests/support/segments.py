"""Integrals over segments of pairs of facets by NumPy alone, from their definitions, and pairs at random."""

from types import SimpleNamespace

import numpy as np
from mpi4py import MPI
from scipy.spatial.transform import Rotation

from dolfinx_impact.contact.surfaces.facet_shape import FacetShape
from dolfinx_impact.contact.surfaces.tables import Tables

#: Nodes in the order of the boundary; those of a quadrilateral are (s, t) = (0, 0), (0, 1), (1, 0), (1, 1).
CORNERS = {3: [0, 1, 2], 4: [0, 2, 3, 1]}
#: Rules of a triangle: Dunavant, Int. J. Numer. Meth. Eng. 21 (1985), degree 4; Gauss in a collapsed square.
_A, _B = 0.445948490915965, 0.091576213509771
_SIX = np.array([[_A, _A], [_A, 1 - 2 * _A], [1 - 2 * _A, _A], [_B, _B], [_B, 1 - 2 * _B], [1 - 2 * _B, _B]])
_SIX_WEIGHTS = np.repeat([0.223381589678011, 0.109951743655322], 3) / 2.0
_X, _W = (lambda x, w: ((x + 1) / 2, w / 2))(*np.polynomial.legendre.leggauss(6))
_MANY = np.array([[x, (1 - x) * y] for x in _X for y in _X])
_MANY_WEIGHTS = np.array([w * v * (1 - x) for x, w in zip(_X, _W) for v in _W])


def normal(at):
    """Area vector of a facet with these corners."""
    a, b = (at[1] - at[0], at[2] - at[0]) if len(at) == 3 else (at[2] - at[0], at[3] - at[1])
    return 0.5 * np.cross(a, b)


def clipped(polygon, by):
    """Part of a polygon on the left of all edges of another one."""
    for o, e in zip(by, np.roll(by, -1, axis=0) - by):
        side = [e[0] * (p[1] - o[1]) - e[1] * (p[0] - o[0]) for p in polygon]
        kept = []
        for i, p in enumerate(polygon):
            if (side[i] >= 0) != (side[i - 1] >= 0):
                kept.append(polygon[i - 1] + side[i - 1] / (side[i - 1] - side[i]) * (p - polygon[i - 1]))
            if side[i] >= 0:
                kept.append(p)
        polygon = kept
    return np.array(polygon).reshape(-1, 2)


def functions(y, points):
    """Shape functions of a projected facet at points of the plane, shape (points, n)."""
    if len(y) == 3:
        s, t = np.linalg.solve(np.column_stack([y[1] - y[0], y[2] - y[0]]), (points - y[0]).T)
        return np.column_stack([1 - s - t, s, t])
    u, w, q = y[2] - y[0], y[1] - y[0], y[3] - y[2] - y[1] + y[0]
    st = np.linalg.solve(np.column_stack([u, w]), (points - y[0]).T).T
    for _ in range(20):
        s, t = st[:, :1], st[:, 1:]
        J = np.stack([u + q * t, w + q * s], axis=2)
        st = st - np.linalg.solve(J, (y[0] + s * u + t * w + s * t * q - points)[..., None])[..., 0]
    s, t = st.T
    return np.column_stack([(1 - s) * (1 - t), (1 - s) * t, s * (1 - t), s * t])


def is_convex(y):
    edges = np.roll(y, -1, axis=0) - y
    return bool(np.all(edges[:, 0] * np.roll(edges[:, 1], -1) > edges[:, 1] * np.roll(edges[:, 0], -1)))


def is_affine(y):
    return len(y) == 3 or np.abs(y[3] - y[2] - y[1] + y[0]).max() <= 1e-13 * np.ptp(y, axis=0).max()


def reference(slave, master, weights, largest_gap, depth):
    """Overlap over the larger facet, and int N N^T, int N N_m^T, int N g and the least gap.

    None beyond the limits; False where a projected facet is not convex, so that its map has no inverse.
    """
    order = CORNERS[len(slave)]
    own, other = normal(slave[order]), normal(master[order])
    ns, nm = own / np.linalg.norm(own), other / np.linalg.norm(other)
    n = weights[1] * nm - weights[0] * ns
    n /= np.linalg.norm(n)
    a = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    axes = np.stack([a, np.cross(n, a)]) / np.linalg.norm(a)
    o = slave[0]
    ys, ym = ((x - o) @ axes.T for x in (slave, master))
    if not (is_convex(ys[order][::-1]) and is_convex(ym[order])):
        return 0.0, False if ns @ nm < -0.5 else None
    polygon = clipped(list(ys[order]), ym[order])
    area = 0.0
    if len(polygon) >= 3:
        x, y = (polygon - polygon[0]).T
        area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    overlap = area / max(np.linalg.norm(own), np.linalg.norm(other))
    if ns @ nm >= -0.5 or overlap == 0.0:
        return overlap, None
    exact = is_affine(ys) and is_affine(ym)
    rule, w = (_MANY, _MANY_WEIGHTS) if exact else (_SIX, _SIX_WEIGHTS)
    points, dA = [], []
    for p, q in zip(polygon[1:-1], polygon[2:]):
        J = np.column_stack([p - polygon[0], q - polygon[0]])
        points.append(polygon[0] + rule @ J.T)
        dA.append(w * abs(np.linalg.det(J)) / abs(n @ ns))
    points, dA = np.concatenate(points), np.concatenate(dA)
    N, Nm = functions(ys, points), functions(ym, points)
    g = (N @ (slave - o) - Nm @ (master - o)) @ n
    at_corners = (functions(ys, polygon) @ (slave - o) - functions(ym, polygon) @ (master - o)) @ n
    mean = dA @ g / dA.sum()
    if not -depth <= mean <= largest_gap:
        return overlap, None
    return overlap, ((N.T * dA) @ N, (N.T * dA) @ Nm, N.T @ (dA * g), at_corners.min())


def compiled(slaves, masters, weights, heights, shallow=False):
    """What the package finds for pairs of facets, shape (pairs, n, 3): which have segments, and integrals."""
    count, n = slaves.shape[:2]
    quad = n == 4
    shape = FacetShape(
        2, not quad, np.array([0.0, 1.0]), np.array(CORNERS[n]), np.zeros((0, 0, n), int), np.arange(n)
    )
    tables = Tables(shape, 3, MPI.COMM_SELF, divided=True)
    tables.set(shallow=int(shallow))
    x = np.stack([slaves, masters], axis=1).reshape(-1, 3)
    facets, vectors = (
        2 * count,
        {name: np.zeros((2 * count, 3)) for name in ("centre", "normal", "normal_then")},
    )
    arms = x.reshape(facets, n, 3) - x.reshape(facets, n, 3).mean(axis=1, keepdims=True)
    diameter = 2.0 * np.linalg.norm(arms, axis=2).max(axis=1)
    none, every = np.zeros((0,), np.int64), np.arange(count + 1)
    tables.set(
        nodes=len(x), rest=x, u=np.zeros_like(x), u_then=np.zeros_like(x), x=np.zeros_like(x),
        moved=np.zeros(len(x)), used=facets, in_use=np.arange(facets), facet=np.arange(len(x)).reshape(-1, n),
        flatness=weights.ravel(), diameter=diameter, height=heights.ravel(), skin=np.zeros(facets), **vectors,
        **{name: np.zeros(facets) for name in ("radius", "size", "shift", "turn")},
        sharp_start=np.zeros(facets + 1, np.int64), sharp=none,
        pair=np.arange(facets).reshape(-1, 2), above=np.zeros(count), beside=np.full(count, -np.inf),
        lever=np.zeros(count), wakeful=np.zeros(count, np.uint8), segment=np.empty((count, 2), np.int32),
        common_normal=np.empty((count, 3)), mass=np.empty((count, n, n)), cross=np.empty((count, n, n)),
        moment=np.empty((count, n)), lowest=np.empty(count), parts=count, start=every,
        parts_used=count, part_used=np.arange(count),
        part_facet=np.arange(0, facets, 2),
        slot=np.zeros((count, n), np.int32), first=np.zeros(count, np.int32),
        last=np.zeros(count, np.int32), state=np.zeros(count, np.uint8), slots=1,
        awake=np.zeros(1, np.uint8), covered=np.zeros(1, np.uint8), tolerance=0.0, axisymmetric=0,
    )  # fmt: skip
    found = tables.functions.find_segments(tables.pointer, 1)
    names = ("mass", "cross", "moment", "lowest")
    return SimpleNamespace(
        pairs=tables["segment"][:found, 0] // 2, diameter=diameter.reshape(-1, 2),
        **{name: tables[name][:found] for name in names},
    )  # fmt: skip


def random_pairs(kind, count, seed):
    """Pairs of facets that may meet, shape (pairs, n, 3) each: slaves above masters, leaning and warped."""
    rng = np.random.default_rng(seed)
    base = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]] if kind == "triangle" else
                    [[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]])  # fmt: skip
    base = base - base.mean(axis=0)
    sides = []
    for sign in (-1.0, 1.0):
        shear = np.eye(3) + np.pad(rng.uniform(-0.4, 0.4, (count, 2, 2)), ((0, 0), (0, 1), (0, 1)))
        x = np.einsum("pij,kj->pki", shear, base * [1.0, sign, 1.0])
        if kind == "warped":
            x = x + rng.uniform(-0.12, 0.12, x.shape)
        thin = rng.choice([1.0, 1.0, 0.02], count)
        x[..., 1:] *= thin[:, None, None]
        size = rng.choice([0.05, 0.4, 1.0, 1.0], count)
        lean = rng.normal(size=(count, 3)) * rng.choice([0.0, 0.2, 0.6], count)[:, None]
        spin = Rotation.from_rotvec(rng.uniform(-4.0, 4.0, (count, 1)) * np.eye(3)[2])
        turned = (Rotation.from_rotvec(lean) * spin).as_matrix()
        sides.append(size[:, None, None] * np.einsum("pij,pkj->pki", turned, x))
    slaves, masters = sides
    slaves += (
        rng.uniform(-0.7, 0.7, (count, 1, 3))
        * [1.0, 1.0, 0.3]
        * rng.choice([0.0, 1.0], (count, 1, 1), p=[0.2, 0.8])
    )
    touch = rng.random(count) < 0.1  # a corner above a corner
    slaves[touch] += (masters[touch, 0] - slaves[touch, 1])[:, None] + [0.0, 0.0, 0.05]
    weights = 1.0 / (0.01 + rng.choice([0.0, 0.3, np.pi / 2], (count, 2)) ** 2)
    return slaves, masters, weights, rng.uniform(0.2, 2.0, (count, 2))

"""Facets of small meshes, as the features of surfaces are made from them."""

from types import SimpleNamespace

import numpy as np

ICOSAHEDRON = [
    *([0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4], [11, 10, 2]),
    *([10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9], [4, 9, 5], [2, 4, 11]),
    *([6, 2, 10], [8, 6, 7], [9, 8, 1]),
]


def no_cover(pairs):
    """No pair of facets has a segment."""
    return np.zeros(len(pairs), bool)


def facets(x, nodes, *, degree=1, surface=None):
    """Facets with what features read of them: segments, triangles, or quadrilaterals of a degree."""
    dim, n = x.shape[1] - 1, degree + 1
    simplex = dim == 2 and nodes.shape[1] == 3
    corners = np.array(
        [0, degree] if dim == 1 else [0, 1, 2] if simplex else [0, n * degree, n * n - 1, degree]
    )
    points = np.linspace(0.0, 1.0, 2 if simplex else n)
    shape = SimpleNamespace(dim=dim, simplex=simplex, points=points, corners=corners)
    arms = x[nodes] - x[nodes].mean(axis=1, keepdims=True)
    surface = np.zeros(len(nodes), int) if surface is None else np.asarray(surface)
    diameter = 2.0 * np.linalg.norm(arms, axis=2).max(axis=1)
    return SimpleNamespace(x=x, nodes=nodes, shape=shape, surface=surface, diameter=diameter)


def joined(*meshes):
    """Nodes and facets of several meshes, and the number of the mesh of each node."""
    starts = np.cumsum([0, *(len(x) for x, _ in meshes)])
    nodes = np.vstack([facets + start for (_, facets), start in zip(meshes, starts)])
    return np.vstack([x for x, _ in meshes]), nodes, np.repeat(np.arange(len(meshes)), np.diff(starts))


def cube(n, at=(0.0, 0.0, 0.0), *, triangles=False):
    """Surface of a unit cube, n x n squares a side, outward."""
    number, quads = {}, []
    for axis in range(3):
        for side in (0, n):
            for i, j in np.ndindex(n, n):
                places = np.zeros((4, 3), int)
                places[:, axis] = side
                places[:, (axis + 1) % 3], places[:, (axis + 2) % 3] = (
                    i + np.r_[0, 0, 1, 1],
                    j + np.r_[0, 1, 0, 1],
                )
                quad = [number.setdefault(tuple(place), len(number)) for place in places.tolist()]
                quads.append(quad if side else [quad[k] for k in (0, 2, 1, 3)])
    x, quads = np.array(list(number), float) / n + np.array(at), np.array(quads)
    return x, np.vstack([quads[:, [0, 2, 3]], quads[:, [0, 3, 1]]]) if triangles else quads


def ball(radius=1.0, at=(0.0, 0.0, 0.0)):
    """A sphere of 80 triangles."""
    long = (1.0 + np.sqrt(5.0)) / 2.0
    plane = np.array([[-1, long, 0], [1, long, 0], [-1, -long, 0], [1, -long, 0]])
    x = np.vstack([np.roll(plane, k, axis=1) for k in range(3)])
    points, middle, triangles = [*map(tuple, x)], {}, []
    for corners in ICOSAHEDRON:
        halves = []
        for a, b in zip(corners, [*corners[1:], corners[0]]):
            key = min(a, b), max(a, b)
            if key not in middle:
                middle[key] = len(points)
                points.append(tuple((x[a] + x[b]) / 2.0))
            halves.append(middle[key])
        (a, b, c), (ab, bc, ca) = corners, halves
        triangles += [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
    points = np.array(points)
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    return points + np.array(at), np.array(triangles)


def tetrahedron(height, width, at, turn):
    """A needle whose tip points down before it is turned about the tip."""
    x = np.array(
        [[0, 0, 0], [width, 0, height], [-width / 2, 0.8 * width, height], [-width / 2, -0.8 * width, height]]
    )
    return x @ turn.T + np.array(at), np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])


def grid(n, degree, dim):
    """A flat sheet of n x n quadrilaterals of a degree (in two dimensions a line), one unit a facet."""
    size = n * degree + 1
    number = np.arange(size**dim).reshape((size,) * dim)
    starts = [degree * np.array(place) for place in np.ndindex((n,) * dim)]
    nodes = [number[tuple(slice(k, k + degree + 1) for k in start)].ravel() for start in starts]
    axes = np.meshgrid(*[np.linspace(0.0, n, size)] * dim, indexing="ij")
    return np.column_stack([*(axis.ravel() for axis in axes), np.zeros(size**dim)]), np.array(nodes)

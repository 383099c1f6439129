"""Grid lines on an obstacle, its outline, and the shadow of the body on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray

#: Darkness of the shadow, its blur over the size of the body, pixels across the body.
_DARK, _SOFT, _FINE = 0.32, 0.05, 160


def grid_lines(found: Any, places: FloatArray, spacing: float) -> list[Any]:
    """Equidistant lines along the axes of the obstacle at rest, which move with it.

    Args:
        found: Surface of triangles.
        places: Positions of its points in the obstacle at rest, shape (n, 3) [m].
        spacing: Distance of the lines [m].
    """
    triangles = found.faces.reshape(found.n_cells, 4)[:, 1:]
    a, b, c = (places[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    lines = []
    for axis in range(3):
        # The coordinate is constant on a face normal to the axis, which has no contour lines.
        oblique = np.abs(normals[:, axis]) < 0.9 * sizes
        if not oblique.any():
            continue
        along = places[:, axis]
        part = type(found)(found.points, faces=found.faces.reshape(found.n_cells, 4)[oblique].ravel())
        first, last = np.ceil(np.min(along) / spacing), np.floor(np.max(along) / spacing)
        part.point_data["along"] = along
        if last >= first:
            lines.append(part.contour(list(spacing * np.arange(first, last + 1)), scalars="along"))
    return [each for each in lines if each.n_points]


def outline(found: Any, corners: FloatArray | None = None) -> Any:
    """Edges and boundary of a visible surface, except the cuts by a box.

    Args:
        found: The surface; faces that meet at an edge share no points.
        corners: Corners of the box, shape (2, 3) [m], or None.
    """
    edges = found.extract_feature_edges(
        boundary_edges=True, feature_edges=False, manifold_edges=False, non_manifold_edges=False
    )
    if corners is None or not edges.n_cells:
        return edges
    middle = np.asarray(edges.cell_centers().points)
    near = 1e-5 * np.max(np.diff(corners, axis=0))
    cut = (np.abs(middle - corners[0]) < near) | (np.abs(middle - corners[1]) < near)
    lines = edges.lines.reshape(edges.n_cells, 3)[~cut.any(axis=1)]
    if not len(lines):
        return type(edges)()
    used, ends = np.unique(lines[:, 1:], return_inverse=True)
    lines[:, 1:] = ends.reshape(-1, 2)
    return type(edges)(edges.points[used], lines=lines.ravel())


def shadow(found: Any, body: Any, up: FloatArray) -> FloatArray:
    """Brightness of a surface in the shadow of a body, 0 to 1, shape (n,).

    The blurred silhouette of the body, on faces whose normals have a component towards the light.

    Args:
        found: The surface, with normals.
        body: Mesh of pyvista that casts the shadow.
        up: Unit vector towards the light.
    """
    from PIL import Image, ImageDraw, ImageFilter
    from scipy.ndimage import map_coordinates

    right = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    across = np.array([right, np.cross(up, right)]) / np.linalg.norm(right)
    flat = np.asarray(body.points, dtype=np.float64) @ across.T
    size = np.max(np.ptp(flat, axis=0))
    pixel, room = size / _FINE, 4 * _SOFT * size
    low = flat.min(axis=0) - room
    shape = np.ceil((np.ptp(flat, axis=0) + 2 * room) / pixel).astype(int) + 1
    image = Image.new("L", (int(shape[0]), int(shape[1])))
    draw, pixels = ImageDraw.Draw(image), (flat - low) / pixel
    for face in body.regular_faces if body.is_all_triangles else body.irregular_faces:
        draw.polygon([tuple(corner) for corner in pixels[face].tolist()], fill=255)
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(_SOFT * _FINE)), dtype=np.float64) / 255
    where = (np.asarray(found.points, dtype=np.float64) @ across.T - low) / pixel
    dark = map_coordinates(soft, where.T[::-1], order=1, mode="constant")
    return np.asarray(1.0 - _DARK * dark * np.clip(np.asarray(found["normals"]) @ up, 0.0, 1.0))

"""Sketches of the gap and of every obstacle with its free side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .svg import Point, Sketch, ellipse


def gap() -> list[Sketch]:
    """Gap, normal and free side."""
    s = Sketch("Gap g, normal n and free side of an obstacle; an impulse r acts where a node is closed", 235)
    ground = [(x, 62 + 26 * math.sin(x / 95)) for x in range(6, 416, 8)]
    s.area([*ground, (414, 4), (6, 4)], "obstacle")
    s.line(ground)
    nodes = [(130, 150), (190, 128), (240, 76), (302, 92), (350, 130)]
    top = [(362, 196), (230, 216), (126, 198)]
    s.area([*nodes, *top], "body")
    for node in nodes:
        s.point(node)
    n = (-0.26, 0.965)
    foot = (143, 90)
    s.arrow(foot, (foot[0] + 2, 146), "muted", both=True)
    s.text((136, 112), "open: g > 0", "end")
    s.arrow((60, 77), (60 + 44 * n[0], 77 + 44 * n[1]), "normal")
    s.text((40, 116), "n", "end", "normal")
    s.arrow((240, 76), (240 - 2, 140), "force")
    s.text((246, 140), "r n,  r ≥ 0", "start", "force")
    s.text((240, 34), "closed: g ≤ 0")
    s.text((60, 206), "free side: g > 0")
    s.text((74, 30), "obstacle: g < 0")
    s.text((262, 182), "body")
    return [s]


_LOW, _HIGH = (6.0, 26.0), (134.0, 112.0)  #: Of the picture in a tile.


def _tile(name: str, shapes: Sequence[Sequence[Point]], normals: Iterable[tuple[Point, Point]]) -> Sketch:
    """An obstacle, and normals into its free side, each from a point in a direction."""
    s = Sketch(f"{name} and its free side", 118, 140)
    s.box(_LOW, _HIGH, "frame")
    for shape in shapes:
        s.area(shape, "obstacle edge")
    for (x, y), (nx, ny) in normals:
        size = 17 / math.hypot(nx, ny)
        s.arrow((x, y), (x + size * nx, y + size * ny), "normal")
    s.text((70, 10), name, kind="code")
    return s


def _hollow(name: str, hole: Sequence[Point], normals: Iterable[tuple[Point, Point]]) -> Sketch:
    """An obstacle around a free side: the frame but for a hole, of which the first point is the highest."""
    (x0, y0), (x1, y1) = _LOW, _HIGH
    top = hole[0]
    around = [(top[0], y1), (x1, y1), (x1, y0), (x0, y0), (x0, y1), (top[0], y1)]
    s = _tile(name, [], [])
    s.area([*around, *hole, top], "obstacle")
    s.area(hole, "edge")
    for (x, y), (nx, ny) in normals:
        s.arrow((x, y), (x + 17 * nx, y + 17 * ny), "normal")
    return s


def _star(x: float, y: float, r: float, out: int = 1) -> list[tuple[Point, Point]]:
    ways = [(math.cos(a), math.sin(a)) for a in (0.5, math.pi / 2, 2.64, -0.6, -2.5)]
    return [((x + r * a, y + r * b), (out * a, out * b)) for a, b in ways]


def obstacles() -> list[Sketch]:
    """Every obstacle with its free side."""
    ring = [ellipse(70, 69, 32)[(i + 12) % 48] for i in range(48)]
    pipe = [ellipse(70, 69, 34)[(i + 12) % 48] for i in range(48)]
    steps = [(6, 26), (134, 26), (134, 84), (96, 84), (96, 64), (54, 64), (54, 44), (6, 44)]
    waves = [(x, 58 + 12 * math.cos((x - 6) / 10.2)) for x in range(6, 135, 4)]
    slope = [
        ((x, 58 + 12 * math.cos((x - 6) / 10.2)), (1.18 * math.sin((x - 6) / 10.2), 1.0))
        for x in (22, 70, 102)
    ]
    room = [(28, 104), (112, 104), (112, 38), (28, 38)]
    funnel = [(24, 108), (70, 34), (116, 108)]
    corner = [((28, 70), (1, 0)), ((70, 38), (0, 1)), ((112, 70), (-1, 0))]
    tori = [ellipse(38, 66, 16), ellipse(102, 66, 16)]
    s = _tile(
        "MovingObstacle",
        [[(6, 26), (134, 26), (134, 54), (6, 54)]],
        [((30, 54), (0, 1)), ((110, 54), (0, 1))],
    )
    s.arrow((70, 54), (70, 96), "force")
    s.text((78, 88), "motion", "start", "force")
    side = (0.83, 0.55)
    return [
        _tile(
            "Plane", [[(6, 26), (134, 26), (134, 54), (6, 54)]], [((x, 54), (0, 1)) for x in (30, 70, 110)]
        ),
        _tile("Sphere", [ellipse(70, 66, 24)], _star(70, 66, 24)),
        _hollow("Sphere, inside=True", pipe, _star(70, 69, 34, -1)),
        _tile(
            "Cylinder",
            [[(22, 48), (118, 48), (118, 82), (22, 82)]],
            [((x, 82), (0, 1)) for x in (44, 70, 96)] + [((118, 65), (1, 0))],
        ),
        _hollow("Cylinder, inside=True", ring, _star(70, 69, 32, -1)[:3]),
        _tile(
            "Box",
            [[(38, 44), (102, 44), (102, 86), (38, 86)]],
            [((70, 86), (0, 1)), ((102, 65), (1, 0)), ((38, 65), (-1, 0)), ((70, 44), (0, -1))],
        ),
        _hollow("Box, inside=True", room, corner),
        _tile("Cone", [[(22, 34), (118, 34), (70, 92)]], [((94, 63), side), ((46, 63), (-side[0], side[1]))]),
        _hollow("Cone, inside=True", funnel, [((47, 71), (0.85, 0.53)), ((93, 71), (-0.85, 0.53))]),
        _tile("Torus", tori, _star(38, 66, 16)[:3] + _star(102, 66, 16)[:3]),
        _tile("UnionObstacle", [steps], [((26, 44), (0, 1)), ((74, 64), (0, 1)), ((114, 84), (0, 1))]),
        _tile("SignedDistance", [[*waves, (134, 26), (6, 26)]], slope),
        s,
    ]

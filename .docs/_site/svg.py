"""Drawings of a few lines: SVG in a page itself, whose text can be selected.

Colours come from the style sheet of the site, so that drawings are dark where the page is. x goes right, y
up, both in pixels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

Point = tuple[float, float]
_WIDTH = 420  #: Of sketches; as wide as a small screen, so that text stays legible there.


class Sketch:
    """A drawing with a title for those who cannot see it; y is up."""

    def __init__(self, title: str, height: float, width: float = _WIDTH) -> None:
        self.title, self.height, self.width = title, height, width
        self.parts: list[str] = []

    def _at(self, p: Point) -> str:
        return f"{p[0]:.4g},{self.height - p[1]:.4g}"

    def line(self, points: Iterable[Point], kind: str = "line", closed: bool = False) -> None:
        """A line through points; with ``closed`` a filled area."""
        name = "polygon" if closed else "polyline"
        self.parts.append(f'<{name} class="{kind}" points="{" ".join(map(self._at, points))}"/>')

    def area(self, points: Iterable[Point], kind: str = "body") -> None:
        """A filled polygon."""
        self.line(points, kind, closed=True)

    def box(self, low: Point, high: Point, kind: str = "body") -> None:
        """A filled rectangle."""
        self.area([low, (high[0], low[1]), high, (low[0], high[1])], kind)

    def grid(self, low: Point, high: Point, cells: tuple[int, int], kind: str = "body") -> list[Point]:
        """A rectangle of cells; returns its nodes, row by row from below."""
        self.box(low, high, kind)
        xs = [low[0] + (high[0] - low[0]) * i / cells[0] for i in range(cells[0] + 1)]
        ys = [low[1] + (high[1] - low[1]) * i / cells[1] for i in range(cells[1] + 1)]
        for x in xs[1:-1]:
            self.line([(x, low[1]), (x, high[1])], "thin")
        for y in ys[1:-1]:
            self.line([(low[0], y), (high[0], y)], "thin")
        return [(x, y) for y in ys for x in xs]

    def point(self, p: Point, kind: str = "dot", radius: float = 4) -> None:
        """A point, or with a larger radius a circle."""
        x, y = self._at(p).split(",")
        self.parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius:g}"/>')

    def arrow(self, start: Point, end: Point, kind: str = "line", both: bool = False) -> None:
        """An arrow, with ``both`` a dimension line."""
        self.line([start, end], kind)
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        for tip, way in ((end, angle), (start, angle + math.pi))[: 1 + both]:
            wings = [(tip[0] - 8 * math.cos(way + a), tip[1] - 8 * math.sin(way + a)) for a in (0.4, -0.4)]
            self.area([tip, *wings], f"{kind} tip")

    def hatch(self, points: Sequence[Point]) -> None:
        """A rigid surface: a line with strokes on its right."""
        self.line(points)
        for (x, y), (x1, y1) in zip(points, points[1:]):
            length = math.hypot(x1 - x, y1 - y)
            t, count = ((x1 - x) / length, (y1 - y) / length), max(1, round(length / 10))
            for i in range(count):
                at = (i + 0.7) * length / count
                a = (x + at * t[0], y + at * t[1])
                self.line([a, (a[0] + 7 * (t[1] - t[0]), a[1] - 7 * (t[0] + t[1]))], "thin")

    def text(self, p: Point, words: str, anchor: str = "middle", kind: str = "") -> None:
        """Words; ``v_n`` and ``v_{n+1}`` have a subscript, and ``h^-`` a superscript."""
        inner = escape(words)
        for sign, dy in (("_", 4), ("^", -5)):
            low = rf'<tspan class="small" dy="{dy}">\1</tspan><tspan dy="{-dy}">&#8203;</tspan>'
            inner = re.sub(rf"\{sign}\{{([^}}]*)\}}", low, inner)
            inner = re.sub(rf"(?<=[\w>])\{sign}([\w+-])", low, inner)
        x, y = self._at(p).split(",")
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{inner}</text>')

    def svg(self) -> str:
        """The drawing as markup."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{1.1 * self.width:g}"'
        title = escape(self.title)
        head = f'<svg role="img" aria-label="{title}" {size} xmlns="http://www.w3.org/2000/svg">'
        return "\n".join([head, f"<title>{title}</title>", *self.parts, "</svg>"])


def ellipse(x: float, y: float, rx: float, ry: float | None = None, parts: int = 48) -> list[Point]:
    """Points of an ellipse, or a circle, the first one on the right."""
    angles = (2 * math.pi * i / parts for i in range(parts))
    return [(x + rx * math.cos(a), y + (ry or rx) * math.sin(a)) for a in angles]

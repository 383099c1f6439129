"""Line drawings of mechanical set-ups as SVG: bodies, walls, springs, arrows, labels."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

Point = tuple[float, float]
Place = Callable[[float, float], Point]  #: Where a point of the unit square lies.

_INK, _BODY, _ACCENT, _PALE = "#1b2733", "#d3e3f1", "#b3261e", "#7f8c98"
#: What is cut out of a body.
HOLE = "#fff"
#: Distance and length of the hatches of what does not move, and length of an arrow's head.
_HATCH, _HEAD = 7.0, 7.0
_SYMBOL = 2  #: A label may be so long to be set in italics, as a symbol.


class Sketch:
    """A drawing of a width and a height, y upwards; every method adds to it and returns it."""

    def __init__(self, width: float = 240.0, height: float = 150.0) -> None:
        self._width, self._height = width, height
        self._parts: list[str] = []

    def svg(self, title: str) -> str:
        """The drawing as an element of a page; the title is for those who cannot see it."""
        return (
            f'<svg viewBox="0 0 {self._width:g} {self._height:g}" role="img" '
            f'aria-label="{html.escape(title)}" xmlns="http://www.w3.org/2000/svg" fill="none" '
            f'stroke="{_INK}" stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round" '
            f'font-family="Liberation Sans, Arial, sans-serif" font-size="13">{"".join(self._parts)}</svg>'
        )

    # -- lines

    def line(self, *points: Point, dashed: bool = False, thin: bool = False, filled: bool = False) -> Sketch:
        """A line through points; dashed and pale for what is only thought; closed and filled for a body."""
        style = f' fill="{_BODY}"' if filled else ""
        style += f' stroke="{_PALE}"' if dashed or thin else ""
        style += (' stroke-dasharray="4 3"' if dashed else "") + (' stroke-width="0.7"' if thin else "")
        return self._add(f'<poly{"gon" if filled else "line"} points="{self._points(points)}"{style}/>')

    def circle(self, center: Point, radius: float, fill: str = _BODY) -> Sketch:
        """A circle; by default a body."""
        x, y = self._at(center)
        return self._add(f'<circle cx="{x}" cy="{y}" r="{radius:g}" fill="{fill}"/>')

    def nodes(self, *points: Point) -> Sketch:
        """Points with a mass."""
        for x, y in map(self._at, points):
            self._add(f'<circle cx="{x}" cy="{y}" r="3" fill="{_INK}" stroke="none"/>')
        return self

    def label(self, at: Point, text: str, anchor: str = "middle") -> Sketch:
        """Words, or a symbol in italics, on the base line ``at``; ``anchor`` is start, middle or end."""
        x, y = self._at(at)
        style = 'font-style="italic"' if len(text) <= _SYMBOL else 'font-size="11.5"'
        place = f'x="{x}" y="{y}" text-anchor="{anchor}"'
        return self._add(f'<text {place} fill="{_INK}" stroke="none" {style}>{html.escape(text)}</text>')

    # -- parts of a set-up

    def block(self, corner: Point, width: float, height: float, across: int = 1, up: int = 1) -> Sketch:
        """A rectangular body with its cells; ``corner`` is the lower left one."""
        return self.grid(lambda s, t: (corner[0] + width * s, corner[1] + height * t), across, up)

    def grid(self, place: Place, across: int, up: int, fine: int = 1) -> Sketch:
        """A body with its cells, wherever ``place`` puts the points (s, t) of the unit square."""
        ends = [k / (across * fine) for k in range(across * fine + 1)]
        sides = [k / (up * fine) for k in range(up * fine + 1)]
        outline = [place(s, 0) for s in ends] + [place(1, t) for t in sides]
        outline += [place(s, 1) for s in reversed(ends)] + [place(0, t) for t in reversed(sides)]
        self.line(*outline, filled=True)
        for s in ends[fine:-1:fine]:
            self.line(*(place(s, t) for t in sides), thin=True)
        for t in sides[fine:-1:fine]:
            self.line(*(place(s, t) for s in ends), thin=True)
        return self

    def spokes(self, center: Point, inner: float, outer: float, number: int) -> Sketch:
        """Cell edges of a disc or a ring along its radii."""
        for angle in (2 * math.pi * k / number for k in range(number)):
            self.line(turned(center, inner, angle), turned(center, outer, angle), thin=True)
        return self

    def fixed(self, a: Point, b: Point) -> Sketch:
        """The face of what does not move, hatched on the right of the way from a to b."""
        place, length = _way(a, b)
        self.line(a, b)
        for start in ((k + 0.7) * _HATCH for k in range(int(length // _HATCH))):
            self.line(place(start, 0), place(start - _HATCH / 1.3, -_HATCH / 1.3), thin=True)
        return self

    def ring(self, center: Point, radius: float) -> Sketch:
        """A circular wall around what is inside."""
        self.circle(center, radius, "none")
        for angle in (k * _HATCH / radius for k in range(round(2 * math.pi * radius / _HATCH))):
            outer = turned(center, radius + 6, angle + 6 / radius)
            self.line(turned(center, radius, angle), outer, thin=True)
        return self

    def spring(self, a: Point, b: Point, turns: int = 5, wide: float = 5.0) -> Sketch:
        """A spring between two points."""
        place, length = _way(a, b)
        sides = [0.0, *(wide * (-1) ** k for k in range(1, 2 * turns)), 0.0]
        points = (place(length * (0.15 + 0.7 * k / (2 * turns)), side) for k, side in enumerate(sides))
        return self.line(a, *points, b)

    def dashpot(self, a: Point, b: Point, wide: float = 5.0) -> Sketch:
        """A damper along x."""
        middle = (a[0] + b[0]) / 2
        self.line(a, (middle, a[1])).line((middle, a[1] - wide + 1), (middle, a[1] + wide - 1))
        cup = [(middle - 8, a[1] + wide), (middle + 8, a[1] + wide), (middle + 8, a[1] - wide)]
        return self.line(*cup, (middle - 8, a[1] - wide)).line((middle + 8, a[1]), b)

    # -- arrows

    def arrow(self, a: Point, b: Point, text: str = "", side: float = 9.0) -> Sketch:
        """A velocity or a force from a to b, with a label on its left, ``side`` away."""
        return self._stroke([a, b])._head(a, b, _ACCENT)._beside(a, b, text, side)

    def turn(self, center: Point, radius: float, begin: float, end: float, text: str = "") -> Sketch:
        """A spin about a point, from one angle to another [degrees]."""
        angles = [math.radians(begin + (end - begin) * k / 24) for k in range(25)]
        points = [turned(center, radius, angle) for angle in angles]
        before = turned(points[-1], 3 * _HEAD, angles[-1] - math.copysign(math.pi / 2, end - begin))
        self._stroke(points)._head(before, points[-1], _ACCENT)
        at = turned(center, radius + 9, angles[12])
        return self.label((at[0], at[1] - 4), text) if text else self

    def dimension(self, a: Point, b: Point, text: str, side: float = 8.0) -> Sketch:
        """A length between two points, with a label on the left of the way."""
        return self.line(a, b, thin=True)._head(a, b, _PALE)._head(b, a, _PALE)._beside(a, b, text, side)

    # -- markup

    def _stroke(self, points: Sequence[Point]) -> Sketch:
        return self._add(f'<polyline points="{self._points(points)}" stroke="{_ACCENT}" stroke-width="1.8"/>')

    def _beside(self, a: Point, b: Point, text: str, side: float) -> Sketch:
        if not text:
            return self
        place, length = _way(a, b)
        x, y = place(length / 2, side)
        rise = (b[1] - a[1]) / length
        anchor = "middle" if abs(rise) <= 0.8 else "end" if side * rise > 0 else "start"
        return self.label((x, y - 4), text, anchor)

    def _head(self, a: Point, b: Point, ink: str) -> Sketch:
        place, length = _way(a, b)
        size = _HEAD if length > 2 * _HEAD else length / 2.2
        wings = [place(length - size, -way * 0.4 * size) for way in (1, -1)]
        return self._add(f'<polygon points="{self._points([b, *wings])}" fill="{ink}" stroke="none"/>')

    def _at(self, point: Point) -> tuple[str, str]:
        return f"{point[0]:.1f}", f"{self._height - point[1]:.1f}"

    def _points(self, points: Sequence[Point]) -> str:
        return " ".join(",".join(self._at(point)) for point in points)

    def _add(self, element: str) -> Sketch:
        self._parts.append(element)
        return self


def turned(center: Point, radius: float, angle: float) -> Point:
    """The point of a circle at an angle [rad]."""
    return center[0] + radius * math.cos(angle), center[1] + radius * math.sin(angle)


def inclined(origin: Point, angle: float) -> Place:
    """From lengths along and across a direction at an angle [rad] through the origin to points."""
    tx, ty = math.cos(angle), math.sin(angle)
    return lambda along, up: (origin[0] + along * tx - up * ty, origin[1] + along * ty + up * tx)


def _way(a: Point, b: Point) -> tuple[Place, float]:
    """From lengths along and on the left of the way from a to b to points, and the length of the way."""
    x, y = b[0] - a[0], b[1] - a[1]
    return inclined(a, math.atan2(y, x)), math.hypot(x, y)

"""Where the blocks of a scenario stand, and the frame, units and names in which its program is written."""

from __future__ import annotations

import math

import numpy as np

from .compose import MESHED, Scenario

E, RHO = 1e6, 1000.0
NAMES = ("base", "a", "b", "c", "d")


class Frame:
    """Base frame to the frame of the program: lengths, directions, axial vectors, and SI units to its own."""

    def __init__(self, s: Scenario):
        self.d = d = s.gdim
        c, n = math.cos(s.turn), math.sin(s.turn)
        self.Q = np.eye(d)
        if s.turn:
            i, j = (0, d - 1)
            self.Q[[i, i, j, j], [i, j, i, j]] = c, -n, n, c
        if s.mirror:
            self.Q = self.Q @ np.diag([-1.0] + [1.0] * (d - 1))
        self.length, self.mass, self.time = s.units
        self.shift = (
            s.shift * np.array([3.0, -7.0, 2.0][:d]) if s.hypothesis != "axisymmetric" else np.zeros(d)
        )
        if s.hypothesis == "axisymmetric":
            self.shift[1] = -7.0 * s.shift

    @property
    def plain(self):
        return not self.shift.any() and self.length == 1 and np.array_equal(self.Q, np.eye(self.d))

    def place(self, *x):
        return shown(self.length * (self.Q @ np.array(x) + self.shift))

    def along(self, *x, unit=1.0):
        return shown(unit * (self.Q @ np.array(x)))

    @property
    def speed(self):
        return self.length / self.time

    @property
    def acceleration(self):
        return self.length / self.time**2

    @property
    def pressure(self):
        return self.mass / (self.length * self.time**2)

    @property
    def density(self):
        return self.mass / self.length**3

    def back(self, x, velocity=False):
        """Places at the program's coordinates in the base frame, shape (n, d)."""
        return x @ self.Q / (self.speed if velocity else self.length)


def shown(x):
    """Numbers as short as they are."""
    if np.ndim(x) == 0:
        value = float(x)
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return "(" + ", ".join(shown(each + 0.0) for each in x) + ")"


def names(s: Scenario) -> list[str]:
    """Names of the blocks."""
    made = list(NAMES[: len(s.blocks)]) if s.floor in MESHED else list(NAMES[1 : 1 + len(s.blocks)])
    return [f"{name}_{9 - i}" for i, name in enumerate(made)][::-1] if s.swapped else made


def up(s: Scenario, x: float, y: float) -> tuple[float, ...]:
    """A vector of the plane x, y in two or three dimensions."""
    return (x, y) if s.gdim == 2 else (x, 0.0, y)


def bounds(s: Scenario) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Low and high corners of the blocks in the base frame; movable ones stand on y = 0."""
    made, level = [], 0.0
    for i, b in enumerate(s.blocks):
        held = s.floor in MESHED and i == 0
        low = -b.height if held else level + b.gap
        x0 = 0.0 if s.hypothesis == "axisymmetric" else -0.5 * b.width + b.offset
        if s.gdim == 2:
            made.append(((x0, low), (x0 + b.width, low + b.height)))
        else:
            made.append(((x0, -0.5 * b.width, low), (x0 + b.width, 0.5 * b.width, low + b.height)))
        level = low + b.height
    return made


def lean(s: Scenario) -> float:
    """Part of a body force that acts aside."""
    aside = s.motion != "rest" and s.floor != "tool" and s.hypothesis != "axisymmetric"
    return 0.5 if aside and s.joint != "pairs" else 0.0

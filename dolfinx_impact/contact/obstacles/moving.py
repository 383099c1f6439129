"""Obstacles with prescribed rigid motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ... import arguments
from ..._types import FloatArray, IntArray
from ...systems.loads import Signal, checked_signal, derivative, known_until, vector
from .shapes import Obstacle, Shape, minus, unit

#: Step of central differences relative to the scale of the function, of least total error.
STEP = float(np.finfo(float).eps ** (1 / 3))


class MovingObstacle(Shape):
    """An obstacle with a prescribed rigid motion ``x = c + R(t) (X - c) + d(t)``.

    X is a point of the given obstacle; it rotates about the center c, which is translated by d.

    Args:
        obstacle: The obstacle in its reference position.
        translation: The displacement d [m]: ``(direction, signal)``, the product of both (the direction is
            not normalised), several such pairs, or a function of time that returns a vector.
        rotation: The angle [rad]: a signal in 2D, counter-clockwise; ``(axis, signal)`` in 3D, right-handed.
        center: A point of the axis of rotation [m].
        translation_rate: The velocity ``d'`` [m/s], a function of time that returns a vector; by default
            differences of the translation.
        rotation_rate: Signal of the angular velocity [rad/s]; by default differences of the angle.
        time_scale: Time scale of the motion [s]; the difference step is 6e-6 of it, within the times at which
            the signals are defined and not before 0.

    Raises:
        ValueError: No motion, a rotation without center or in 1D, vectors without one finite number per
            direction, signals with values that are not finite, a rate without the motion.
    """

    moving, fallible, _name = True, True, "moving obstacle"

    def __init__(
        self,
        obstacle: Obstacle,
        *,
        translation: Any = None,
        rotation: Any = None,
        center: ArrayLike | None = None,
        translation_rate: Callable[[float], ArrayLike] | None = None,
        rotation_rate: Signal | None = None,
        time_scale: float = 1e-3,
    ) -> None:
        arguments.part(obstacle)
        super().__init__(obstacle.gdim)
        if translation is None and rotation is None:
            raise ValueError("a moving obstacle needs a translation or a rotation: give one of them")
        if rotation is not None and center is None:
            raise ValueError("a rotation needs its center: a point [m] of the axis that it turns about")
        if (translation is None and translation_rate) or (rotation is None and rotation_rate):
            raise ValueError("a rate is given of a motion that is not: give the translation or rotation too")
        arguments.number("time_scale", time_scale, "be a positive time [s]", above=0.0)
        self.obstacle, self.flat = obstacle, obstacle.flat and rotation is None
        self.sides, self.thickness = getattr(obstacle, "sides", 1), getattr(obstacle, "thickness", np.inf)
        self.center = np.zeros(self.gdim) if center is None else vector("center", center, self.gdim)
        self._shift = _Shift(translation, self.gdim)
        self._spin = _spin(rotation, self.gdim)
        self._h = STEP * time_scale
        self._rates = (
            _checked_vector("translation_rate", translation_rate, self.gdim),
            None if rotation_rate is None else checked_signal("rotation_rate", rotation_rate, "rad/s"),
        )

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """Faces of the obstacle, each with this motion."""
        faces = self.obstacle.faces
        return (self,) if faces == (self.obstacle,) else tuple(self._with(face) for face in faces)

    def _with(self, obstacle: Obstacle) -> MovingObstacle:
        """Another obstacle with the same motion."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.obstacle, other.flat = obstacle, obstacle.flat and self._spin is None
        other.sides, other.thickness = getattr(obstacle, "sides", 1), getattr(obstacle, "thickness", np.inf)
        return other

    def displacement(self, t: float) -> FloatArray:
        """Displacement d(t) of the center, shape (gdim,) [m]."""
        shift: FloatArray = _finite(self._shift(t), "translation", t)
        return shift

    def turn(self, t: float) -> FloatArray:
        """Rotation matrix R(t), shape (gdim, gdim)."""
        if self._spin is None:
            return np.eye(self.gdim)
        generator, angle = self._spin
        phi = float(_finite(angle(t), "rotation", t))
        # Rodrigues: G^3 = -G.
        return np.eye(self.gdim) + math.sin(phi) * generator + (1 - math.cos(phi)) * generator @ generator

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points ``x`` at ``t`` [m]."""
        return self.obstacle.gap(self._back(x, t), t)

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit normals into the free side at ``x`` and ``t``."""
        normals = self.obstacle.normal(self._back(x, t), t)
        return normals if self._spin is None else normals @ self.turn(t).T

    def side_gaps(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """See :class:`.EdgedObstacle`."""
        inner: Any = self.obstacle
        return inner.side_gaps(self._back(x, t), t) if self.sides > 1 else super().side_gaps(x, t)

    def side_normals(self, x: FloatArray, side: IntArray, t: float = 0.0) -> FloatArray:
        """See :class:`.EdgedObstacle`."""
        if self.sides == 1:
            return super().side_normals(x, side, t)
        inner: Any = self.obstacle
        normals: FloatArray = inner.side_normals(self._back(x, t), side, t) @ self.turn(t).T
        return normals

    def velocity(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Velocities of the obstacle's material points at ``x`` and ``t``, shape (p, gdim) [m/s]."""
        self._check(x)
        shift_rate, spin_rate = self._rates
        own = np.zeros(x.shape)
        if self._shift.any:
            rate = shift_rate(t) if shift_rate else _derivative(self._shift, t, self._h, self._shift.until)
            for column, value in zip(own.T, np.asarray(rate)):
                column += value
        if self._spin is not None:
            generator, angle = self._spin
            spin = spin_rate(t) if spin_rate else _derivative(angle, t, self._h, known_until(angle))
            own += spin * (x - self.center - self.displacement(t)) @ generator.T
        if self.obstacle.moving:
            own += self.obstacle.velocity(self._back(x, t), t) @ self.turn(t).T
        return own

    def acceleration(self, x: FloatArray, t: float, step: float) -> FloatArray:
        """Accelerations of the obstacle's material points at ``x`` and ``t``, shape (p, gdim) [m/s2].

        Args:
            x: Positions, shape (p, gdim) [m].
            t: Time [s].
            step: Distance of the points of differences in time [s].
        """
        self._check(x)
        shift_rate, spin_rate = self._rates
        until, inner = self._shift.until, self.obstacle
        own = np.zeros(x.shape)
        if shift_rate is not None:
            own += derivative(shift_rate, t, step, until)
        elif self._shift.any:
            own += derivative(self._shift, t, step, until, 2)
        if self._spin is not None:
            generator, angle = self._spin
            until = known_until(angle)
            rate = spin_rate(t) if spin_rate else derivative(angle, t, step, until)
            growth = derivative(spin_rate or angle, t, step, until, 1 if spin_rate else 2)
            arms = x - self.center - self.displacement(t)
            own += arms @ (growth * generator + rate**2 * generator @ generator).T
        if inner.moving:
            back, turn = self._back(x, t), self.turn(t)
            own += acceleration(inner, back, t, step) @ turn.T
            if self._spin is not None:  # Coriolis
                own += 2 * rate * inner.velocity(back, t) @ turn.T @ generator.T
        return own

    def carried(self, x: FloatArray, t: float, to: float) -> FloatArray:
        """Positions at the time ``to`` of the material points at ``x`` and ``t``, shape (p, gdim) [m]."""
        back = carried(self.obstacle, self._back(x, t), t, to)
        if self._spin is None:
            return minus(back, -self.displacement(to))
        moved: FloatArray = (back - self.center) @ self.turn(to).T + self.center + self.displacement(to)
        return moved

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding box of the moved bounding box [m]; unbounded for a rotated unbounded obstacle."""
        low, high = self.obstacle.bounds(t)
        shift = self.displacement(t)
        if self._spin is None:
            return low + shift, high + shift
        if not np.all(np.isfinite([low, high])):
            return super().bounds()
        corners = np.array(list(product(*zip(low, high)))) - self.center
        moved = corners @ self.turn(t).T + self.center + shift
        return moved.min(axis=0), moved.max(axis=0)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """See :class:`.Shape`."""
        return bool(getattr(self.obstacle, "convex", False))

    def sharp_points(self, t: float = 0.0) -> FloatArray:
        """See :meth:`.Shape.sharp_points`."""
        inner: Any = self.obstacle
        return (
            self._moved(inner.sharp_points(t), t)
            if hasattr(inner, "sharp_points")
            else super().sharp_points()
        )

    def sharp_edges(self, t: float = 0.0) -> FloatArray:
        """See :meth:`.Shape.sharp_edges`."""
        inner: Any = self.obstacle
        if not hasattr(inner, "sharp_edges"):
            return super().sharp_edges()
        ends = inner.sharp_edges(t)
        return self._moved(ends.reshape(-1, self.gdim), t).reshape(ends.shape)

    def _moved(self, x: FloatArray, t: float) -> FloatArray:
        """Positions at ``t`` of points of the reference position, shape (p, gdim) [m]."""
        moved: FloatArray = (x - self.center) @ self.turn(t).T + self.center + self.displacement(t)
        return moved

    def rest(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """See :meth:`.Shape.rest`."""
        inner, at = getattr(self.obstacle, "rest", None), self._back(x, t)
        return at if inner is None else inner(at, t)

    def _back(self, x: FloatArray, t: float) -> FloatArray:
        """Reference positions X of points at ``x`` and ``t``, shape (p, gdim) [m]."""
        self._check(x)
        if self._spin is None:
            return minus(x, self.displacement(t))
        return (x - self.center - self.displacement(t)) @ self.turn(t) + self.center


def acceleration(obstacle: Any, x: FloatArray, t: float, step: float) -> FloatArray:
    """Accelerations of an obstacle's material points at ``x`` and ``t``, shape (p, gdim) [m/s2].

    Of an obstacle without a method ``acceleration`` by differences of its velocity along the paths.
    """
    if not getattr(obstacle, "moving", False):
        return np.zeros(x.shape)
    if hasattr(obstacle, "acceleration"):
        own: FloatArray = obstacle.acceleration(x, t, step)
        return own
    v, until = obstacle.velocity(x, t), getattr(obstacle, "until", math.inf)
    along: FloatArray = derivative(lambda time: obstacle.velocity(x + (time - t) * v, time), t, step, until)
    return along


def carried(obstacle: Any, x: FloatArray, t: float, to: float) -> FloatArray:
    """Positions at ``to`` of an obstacle's material points at ``x`` and ``t``, shape (p, gdim) [m].

    Of an obstacle without a method ``carried`` by the mean of its velocities at both times, along the paths.
    """
    if not getattr(obstacle, "moving", False):
        return x
    if hasattr(obstacle, "carried"):
        own: FloatArray = obstacle.carried(x, t, to)
        return own
    v, way = obstacle.velocity(x, t), to - t
    along: FloatArray = x + 0.5 * way * (v + obstacle.velocity(x + way * v, to))
    return along


def _finite(value: Any, name: str, t: float) -> Any:
    if not np.all(np.isfinite(value)):
        raise ValueError(f"the {name} of a moving obstacle must be finite, but is {value} at t = {t:.6g} s")
    return value


class _Shift:
    """Displacement as a function of time, from any form of the ``translation`` argument."""

    def __init__(self, given: Any, gdim: int) -> None:
        self.any, self.until, self._gdim = given is not None, math.inf, gdim
        self._function: Callable[[float], ArrayLike] | None = None
        self._directions: FloatArray = np.zeros((0, gdim))
        self._signals: list[Signal] = []
        if callable(given):
            self._function = _checked_vector("translation", given, gdim)
        elif given is not None:
            for direction, signal in _pairs("translation", given):
                row = vector("the direction of a translation", direction, gdim)
                self._directions = np.vstack([self._directions, row])
                self._signals.append(checked_signal("translation", signal, "m"))
                self.until = min(self.until, known_until(signal))

    def __call__(self, t: float) -> FloatArray:
        if self._function is not None:
            return np.asarray(self._function(t), dtype=np.float64)
        return np.array([float(signal(t)) for signal in self._signals]) @ self._directions


def _pairs(name: str, given: Any) -> Sequence[tuple[Any, Any]]:
    """List of (direction, signal) from one pair or several."""
    rows = given if isinstance(given, (list, tuple)) else []
    pairs = [rows] if len(rows) == 2 and callable(rows[1]) else rows
    good = [isinstance(pair, (list, tuple)) and len(pair) == 2 and callable(pair[1]) for pair in pairs]
    if not good or not all(good):
        raise ValueError(f"{name}: give (direction, signal) with a function of time as signal, not {given}")
    return [(direction, signal) for direction, signal in pairs]


def _spin(given: Any, gdim: int) -> tuple[FloatArray, Signal] | None:
    """Generator G of the rotation, ``G y = axis x y``, and the signal of the angle."""
    if given is None:
        return None
    if gdim == 1:
        raise ValueError("nothing turns on a line: leave the rotation out")
    if gdim == 2:
        return np.array([[0.0, -1.0], [1.0, 0.0]]), checked_signal("rotation", given, "rad")
    if callable(given):
        raise ValueError("a rotation in 3D needs its axis: give (axis, signal)")
    ((axis, signal),) = _pairs("rotation", given)
    x, y, z = unit("rotation", "axis", axis, 3)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), checked_signal("rotation", signal, "rad")


def _checked_vector(name: str, function: Any, gdim: int) -> Callable[[float], ArrayLike] | None:
    if function is None:
        return None
    if not callable(function):
        raise ValueError(f"{name}: a function of time is needed, not {function!r}")
    vector(f"the {name} at t = 0", function(0.0), gdim)
    return cast(Callable[[float], ArrayLike], function)


def _derivative(function: Callable[[float], Any], t: float, h: float, until: float) -> Any:
    """Central difference; one-sided at t = 0 and at the end of the signal."""
    before, after = max(t - h, min(t, 0.0)), min(t + h, max(t, until))
    return (np.asarray(function(after)) - np.asarray(function(before))) / (after - before)

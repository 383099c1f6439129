"""Obstacles defined by a user-defined signed distance function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import ufl
from numpy.typing import ArrayLike
from ufl.core.expr import Expr

from ..._types import FloatArray
from ...algebra.expressions.reader import NotRead, Reader
from ...algebra.expressions.tape import Tape
from .moving import STEP
from .shapes import Shape, positive


class SignedDistance(Shape):
    """The obstacle is the set where a signed distance function is negative.

    The function takes a NumPy array ``x`` of shape (p, gdim) and returns shape (p,), or it is a UFL
    expression in ``ufl.SpatialCoordinate(mesh)``, or a function that returns one for the UFL vector x. It is
    evaluated at arbitrary points, without compilation or communication; a UFL expression is differentiated
    exactly.

    Args:
        function: The signed distance [m], positive on the free side. Where its gradient is not of unit
            length, the gap is not a distance.
        gdim: Geometric dimension, 1 to 3.
        gradient: Gradient as a function of ``x``, shape (p, gdim), for a function of arrays; by default by
            central differences.
        length: Smallest radius of curvature of the shape [m]; the difference step is 6e-6 of it.
        probe: Points at which the functions are tested at construction, shape (p, gdim) [m]; by default the
            origin and the points at 1 m from it on each axis.

    Raises:
        ValueError: Another dimension; a function that fails or returns another shape or values that are not
            finite, at the probe and at every later call; a UFL expression that is not a scalar in x.
    """

    _name = "signed distance"

    fallible = True

    def __init__(
        self,
        function: Callable[[Any], Any] | Any,
        gdim: int,
        *,
        gradient: Callable[[FloatArray], ArrayLike] | None = None,
        length: float = 1e-2,
        probe: ArrayLike | None = None,
    ) -> None:
        if gdim not in (1, 2, 3):
            raise ValueError(f"a signed distance has 1, 2 or 3 directions, not {gdim}")
        super().__init__(int(gdim))
        self._h = STEP * positive("length over which the shape bends", length)
        expression = _expression(function, self.gdim)
        self._function: Callable[[FloatArray], ArrayLike]
        self._gradient: Callable[[FloatArray], ArrayLike]
        if expression is not None:
            if gradient is not None:
                raise ValueError("a UFL expression has its own gradient: leave gradient out")
            known = _UflFunction(expression, self.gdim)
            self._function, self._gradient = known, known.gradient
        elif callable(function):
            self._function, self._gradient = function, gradient or self._differences
        else:
            raise ValueError(f"a signed distance is a function of x or a UFL expression, not {function!r}")
        points = np.vstack([np.zeros(self.gdim), np.eye(self.gdim)]) if probe is None else np.asarray(probe)
        if points.ndim != 2 or points.shape[1] != self.gdim:
            raise ValueError(f"probe must be points of shape (p, {self.gdim}), but has shape {points.shape}")
        self.gap(points.astype(np.float64))
        if gradient is not None:
            slopes = _called("gradient", gradient, points.astype(np.float64), points.shape)
            if not np.all(np.isfinite(slopes)) or not slopes.any():
                raise ValueError(
                    f"the gradient must be finite and not zero, but is {slopes.tolist()} at "
                    f"{points.tolist()} m"
                )
        self.normal(points.astype(np.float64))

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points ``x``, shape (p,) [m]."""
        self._check(x)
        values = _called("signed distance", self._function, x, (len(x),))
        if not np.all(np.isfinite(values)):
            place = x[np.flatnonzero(~np.isfinite(values))[0]]
            raise ValueError(
                f"the signed distance is not finite at x = {place.tolist()} m: a body may pass everywhere; "
                "where it is tried first, choose with probe="
            )
        return values

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Normalised gradients; the first axis where the gradient vanishes."""
        self._check(x)
        slope = np.array(_called("gradient", self._gradient, x, x.shape))
        # The exact gradient of sqrt(max(q, 0)^2) + ... is 0/0 at points where differences are well defined.
        undefined = ~np.all(np.isfinite(slope), axis=1)
        slope[undefined] = self._differences(x[undefined])
        size = np.linalg.norm(slope, axis=1)
        none = ~(np.isfinite(size) & (size > 0))
        slope[none], size[none] = np.eye(self.gdim)[0], 1.0
        normals: FloatArray = slope / size[:, None]
        return normals

    def _differences(self, x: FloatArray) -> FloatArray:
        steps = self._h * np.eye(self.gdim)
        return np.column_stack([(self.gap(x + step) - self.gap(x - step)) / (2 * self._h) for step in steps])


def _expression(function: Any, gdim: int) -> Expr | None:
    """The UFL expression, given directly or as a function of x; None for a function of arrays.

    A function that accepts both is taken as UFL, for the exact gradient.
    """
    if isinstance(function, Expr):
        return function
    if callable(function):
        with contextlib.suppress(Exception):  # any error of a function of arrays called with a UFL vector
            value = function(_space(gdim))
            return value if isinstance(value, Expr) else None
    return None


def _space(gdim: int) -> ufl.SpatialCoordinate:
    """Spatial coordinate x in ``gdim`` dimensions, for expressions without a mesh."""
    import basix.ufl

    cell = ("interval", "triangle", "tetrahedron")[gdim - 1]
    element = basix.ufl.element("Lagrange", cell, 1, shape=(gdim,))
    return ufl.SpatialCoordinate(ufl.Mesh(element))


def _called(
    name: str, function: Callable[[FloatArray], ArrayLike], x: FloatArray, shape: tuple[int, ...]
) -> FloatArray:
    try:
        values = np.asarray(function(x.copy()), dtype=np.float64)
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith("the signed distance"):
            raise
        first = f", the first at {x[0].tolist()} m" if len(x) else ""
        raise ValueError(
            f"the {name} fails at points x of shape {x.shape}{first}: {type(error).__name__}: {error}"
        ) from error
    if values.shape != shape:
        raise ValueError(f"the {name} at x of shape {x.shape} must have shape {shape}, not {values.shape}")
    return values


class _UflFunction:
    """A scalar UFL expression in x and its gradient as functions of points.

    The expression is translated once into a list of NumPy calls, with common subexpressions shared.

    Args:
        expression: A scalar in :func:`ufl.SpatialCoordinate`, numbers and constants.
        gdim: Geometric dimension.

    Raises:
        ValueError: An expression that is not scalar, of another dimension, or with other terminals
            (coefficients, normals, cell sizes).
    """

    def __init__(self, expression: Any, gdim: int) -> None:
        if expression.ufl_shape != () or expression.ufl_free_indices:
            raise ValueError(
                f"a signed distance is a scalar, but the expression has shape {expression.ufl_shape}"
            )
        places = ufl.algorithms.extract_type(expression, ufl.classes.SpatialCoordinate)
        if not places:
            raise ValueError("the expression does not depend on x: use ufl.SpatialCoordinate(mesh)")
        for each in places:
            if each.ufl_shape != (gdim,):
                raise ValueError(f"the expression has {each.ufl_shape[0]} directions, but gdim is {gdim}")
        tape = Tape()
        self._reader = Reader(tape, dict.fromkeys(places, np.array([tape.input(i) for i in range(gdim)])))
        try:
            value, slopes = (self._reader.read(each) for each in (expression, ufl.grad(expression)))
        except NotRead as error:
            raise ValueError(
                f"the expression contains {error}, which has no value at any place in space: use "
                "ufl.SpatialCoordinate, numbers and constants"
            ) from None
        self._value, self._gradient = tape.function([int(value)]), tape.function(list(slopes))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Values at the points ``x``, shape (p, gdim); shape (p,)."""
        return self._value(x, self._reader.parameters())[:, 0]

    def gradient(self, x: FloatArray) -> FloatArray:
        """Gradients at the points ``x``, shape (p, gdim)."""
        return self._gradient(x, self._reader.parameters())

"""Evaluation of UFL expressions in x by NumPy at arbitrary points: no mesh, compilation or communication."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import ufl
from scipy.special import erf
from ufl import classes
from ufl.algorithms.apply_algebra_lowering import apply_algebra_lowering
from ufl.algorithms.apply_derivatives import apply_derivatives

from ..._types import FloatArray

_SIMPLICES = ("interval", "triangle", "tetrahedron")

#: UFL operators that act entry by entry, and their NumPy functions.
_ENTRYWISE: dict[type, Callable[..., Any]] = {
    classes.Sum: np.add, classes.Product: np.multiply, classes.Division: np.divide,
    classes.Power: np.power, classes.Abs: np.abs, classes.MinValue: np.minimum, classes.MaxValue: np.maximum,
    classes.Sqrt: np.sqrt, classes.Exp: np.exp, classes.Ln: np.log, classes.Erf: erf,
    classes.Sin: np.sin, classes.Cos: np.cos, classes.Tan: np.tan,
    classes.Asin: np.arcsin, classes.Acos: np.arccos, classes.Atan: np.arctan, classes.Atan2: np.arctan2,
    classes.Sinh: np.sinh, classes.Cosh: np.cosh, classes.Tanh: np.tanh,
    classes.Conditional: np.where, classes.LT: np.less, classes.LE: np.less_equal, classes.GT: np.greater,
    classes.GE: np.greater_equal, classes.EQ: np.equal, classes.NE: np.not_equal,
    classes.AndCondition: np.logical_and, classes.OrCondition: np.logical_or,
    classes.NotCondition: np.logical_not,
    classes.Conj: np.positive, classes.Real: np.positive, classes.Variable: lambda value, label=None: value,
}  # fmt: skip


def space(gdim: int) -> ufl.SpatialCoordinate:
    """Spatial coordinate x in ``gdim`` dimensions, for expressions without a mesh."""
    import basix.ufl

    element = basix.ufl.element("Lagrange", _SIMPLICES[gdim - 1], 1, shape=(gdim,))
    return ufl.SpatialCoordinate(ufl.Mesh(element))


class Function:
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
        places = [each for each in ufl.algorithms.extract_type(expression, classes.SpatialCoordinate)]
        if not places:
            raise ValueError("the expression does not depend on x: use ufl.SpatialCoordinate(mesh)")
        if any(each.ufl_shape != (gdim,) for each in places):
            raise ValueError(f"the expression has {places[0].ufl_shape[0]} directions, but gdim is {gdim}")
        self._value = _Calls([(expression, ())])
        gradient = ufl.grad(expression)
        self._gradient = _Calls([(gradient, (i,)) for i in range(gdim)])

    def __call__(self, x: FloatArray) -> FloatArray:
        """Values at the points ``x``, shape (p, gdim); shape (p,)."""
        return self._value(x)[:, 0]

    def gradient(self, x: FloatArray) -> FloatArray:
        """Gradients at the points ``x``, shape (p, gdim)."""
        return self._gradient(x)


class _Calls:
    """Sequence of NumPy calls that evaluates components of expressions.

    Args:
        outputs: Pairs of an expression and the component to evaluate.
    """

    def __init__(self, outputs: Sequence[tuple[Any, tuple[int, ...]]]) -> None:
        self._calls: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        self._known: dict[Any, int] = {}
        lowered = {id(e): apply_derivatives(apply_algebra_lowering(e)) for e, _ in outputs}
        self._outputs = [self._enter(lowered[id(e)], component, {}) for e, component in outputs]

    def __call__(self, x: FloatArray) -> FloatArray:
        values: list[Any] = []
        with np.errstate(all="ignore"):
            for function, operands in self._calls:
                values.append(function(*(values[i] for i in operands)) if operands else function(x))
        return np.column_stack([np.broadcast_to(values[i], len(x)) for i in self._outputs]).astype(float)

    def _enter(self, node: Any, component: tuple[int, ...], indices: dict[int, int]) -> int:
        """Number of the call for a component of a node at values of its free indices."""
        key = (node, component, tuple(indices[i] for i in getattr(node, "ufl_free_indices", ())))
        if key not in self._known:
            call = self._translate(node, component, indices)
            if isinstance(call, int):
                self._known[key] = call
            else:
                self._calls.append(call)
                self._known[key] = len(self._calls) - 1
        return self._known[key]

    def _translate(self, node: Any, component: tuple[int, ...], indices: dict[int, int]) -> Any:
        """The call for a component of a node, or the number of an equivalent existing call."""
        parts = node.ufl_operands
        if isinstance(node, classes.Indexed):
            at = (int(i) if isinstance(i, classes.FixedIndex) else indices[i.count()] for i in parts[1])
            return self._enter(parts[0], tuple(at), indices)
        if isinstance(node, classes.ComponentTensor):
            bound = {i.count(): value for i, value in zip(parts[1], component)}
            return self._enter(parts[0], component[len(bound) :], indices | bound)
        if isinstance(node, classes.ListTensor):
            return self._enter(parts[component[0]], component[1:], indices)
        if isinstance(node, classes.IndexSum):
            (index,) = parts[1]
            each = [indices | {index.count(): i} for i in range(node.dimension())]
            return lambda *values: sum(values), tuple(self._enter(parts[0], component, i) for i in each)
        for kind, function in _ENTRYWISE.items():
            if isinstance(node, kind):
                return function, tuple(
                    self._enter(part, component if getattr(part, "ufl_shape", ()) else (), indices)
                    for part in parts
                    if not isinstance(part, classes.Label)
                )
        return _leaf(node, component), ()


def _leaf(node: Any, component: tuple[int, ...]) -> Callable[[FloatArray], Any]:
    """Evaluation of terminals: x, numbers and constants."""
    if isinstance(node, classes.SpatialCoordinate):
        return lambda x: x[:, component[0]]
    if isinstance(node, classes.Zero):
        return lambda x: 0.0
    if isinstance(node, classes.Identity):
        return lambda x: float(component[0] == component[1])
    if isinstance(node, classes.ScalarValue):
        number = float(node)
        return lambda x: number
    if isinstance(node, classes.Constant) and hasattr(node, "value"):
        return lambda x: node.value[component]
    raise ValueError(
        f"the expression contains {type(node).__name__}, which has no value at any place in space: use "
        "ufl.SpatialCoordinate, numbers and constants"
    )

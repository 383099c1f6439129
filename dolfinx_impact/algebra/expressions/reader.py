"""UFL expressions read onto a tape, component by component."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from ufl import classes
from ufl.algorithms.apply_algebra_lowering import apply_algebra_lowering
from ufl.algorithms.apply_derivatives import apply_derivatives
from ufl.algorithms.remove_complex_nodes import remove_complex_nodes

from ..._types import FloatArray
from .tape import Tape

_OPERATIONS = {
    classes.Sum: "+", classes.Product: "*", classes.Division: "/", classes.Power: "pow",
    classes.LT: "<", classes.LE: "<=", classes.EQ: "==", classes.NE: "!=", classes.Conditional: "select",
    classes.AndCondition: "and", classes.OrCondition: "or", classes.NotCondition: "not",
}  # fmt: skip
#: Comparisons whose operands change places.
_REVERSED = {classes.GT: "<", classes.GE: "<="}
_FUNCTIONS = {
    classes.Ln: "log", classes.Exp: "exp", classes.Sqrt: "sqrt", classes.Abs: "fabs", classes.Erf: "erf",
    classes.Sin: "sin", classes.Cos: "cos", classes.Tan: "tan", classes.Asin: "asin", classes.Acos: "acos",
    classes.Atan: "atan", classes.Atan2: "atan2", classes.Sinh: "sinh", classes.Cosh: "cosh",
    classes.Tanh: "tanh", classes.MinValue: "min", classes.MaxValue: "max",
}  # fmt: skip
_OF_INDEX = (classes.Indexed, classes.ComponentTensor, classes.ListTensor, classes.IndexSum)
#: Values of free indices, by the number of the index.
_Indices = tuple[tuple[int, int], ...]


class NotRead(ValueError):
    """An expression that is not read; the message is the name of what is in the way."""


class Reader:
    """Reads the components of UFL expressions onto a tape, each subexpression once.

    Constants that are no inputs become parameters.

    Args:
        tape: Where the operations go.
        inputs: Numbers of the components of terminals, by terminal.
        functions: The functions to write, by their names on the tape; all by default. Without ``"min"`` and
            ``"max"`` these are selections.
    """

    def __init__(
        self, tape: Tape, inputs: dict[Any, FloatArray], functions: Collection[str] | None = None
    ) -> None:
        self._tape, self._inputs = tape, inputs
        written = {kind: name for kind, name in _FUNCTIONS.items() if functions is None or name in functions}
        self._names = _OPERATIONS | _REVERSED | written
        self._values: list[FloatArray] = [np.zeros(0)]  # what they hold, not copies
        self._starts: dict[fem.Constant, int] = {}
        self._known: dict[tuple[Any, tuple[int, ...], _Indices], int] = {}

    def stand_for(self, constant: fem.Constant, numbers: FloatArray) -> None:
        """Let a constant stand for the components ``numbers``."""
        self._inputs[constant] = numbers

    def read(self, expression: Any) -> FloatArray:
        """Numbers of all components, in the shape of the expression.

        Raises:
            NotRead: A terminal that is no input, number or constant, or an operation that the tape lacks.
        """
        plain = remove_complex_nodes(apply_derivatives(apply_algebra_lowering(ufl.as_ufl(expression))))
        found = np.zeros(plain.ufl_shape, dtype=np.int64)
        for component in np.ndindex(*plain.ufl_shape):
            found[component] = self._component(plain, component, ())
        return found

    def parameters(self) -> FloatArray:
        """Values of the parameters now, shape (m,)."""
        return np.concatenate(self._values)

    def _component(self, e: Any, component: tuple[int, ...], indices: _Indices) -> int:
        free = set(e.ufl_free_indices)
        indices = tuple(pair for pair in indices if pair[0] in free)
        key = (e, component, indices)
        if key not in self._known:
            self._known[key] = self._new(e, component, indices)
        return self._known[key]

    def _new(self, e: Any, component: tuple[int, ...], indices: _Indices) -> int:
        tape, kind = self._tape, type(e)
        if isinstance(e, classes.Terminal):
            return self._terminal(e, component)
        if kind in _OF_INDEX:
            return self._of_index(e, component, indices)
        if kind is classes.Variable:
            return self._component(e.ufl_operands[0], component, indices)
        if kind not in self._names and kind not in (classes.MinValue, classes.MaxValue):
            raise NotRead(kind.__name__)
        arguments = [
            self._component(each, component if each.ufl_shape else (), indices) for each in e.ufl_operands
        ]
        if kind in self._names:
            ordered = reversed(arguments) if kind in _REVERSED else arguments
            return tape.apply(self._names[kind], *ordered)
        less = tape.apply("<", *(arguments if kind is classes.MinValue else reversed(arguments)))
        return tape.apply("select", less, *arguments)

    def _terminal(self, e: Any, component: tuple[int, ...]) -> int:
        if e in self._inputs:
            return int(self._inputs[e][component])
        if isinstance(e, fem.Constant):
            return self._constant(e, component)
        if isinstance(e, classes.Zero):
            return self._tape.constant(0.0)
        if isinstance(e, classes.ScalarValue):
            return self._tape.constant(float(e))
        if isinstance(e, classes.Identity):
            return self._tape.constant(float(component[0] == component[1]))
        raise NotRead(type(e).__name__)

    def _constant(self, e: fem.Constant, component: tuple[int, ...]) -> int:
        if e not in self._starts:
            self._starts[e] = sum(each.size for each in self._values)
            self._values.append(e.value.reshape(-1))
        at = int(np.ravel_multi_index(component, e.ufl_shape)) if component else 0
        return self._tape.parameter(self._starts[e] + at)

    def _of_index(self, e: Any, component: tuple[int, ...], indices: _Indices) -> int:
        values = dict(indices)
        if isinstance(e, classes.Indexed):
            tensor, chosen = e.ufl_operands
            at = tuple(int(i) if isinstance(i, classes.FixedIndex) else values[i.count()] for i in chosen)
            return self._component(tensor, at, indices)
        if isinstance(e, classes.ComponentTensor):
            inner, names = e.ufl_operands
            more = tuple((i.count(), value) for i, value in zip(names, component))
            return self._component(inner, (), indices + more)
        if isinstance(e, classes.ListTensor):
            return self._component(e.ufl_operands[component[0]], component[1:], indices)
        summand, (index,) = e.ufl_operands
        total = self._tape.constant(0.0)
        for value in range(e.dimension()):
            term = self._component(summand, component, (*indices, (index.count(), value)))
            total = self._tape.apply("+", total, term)
        return total

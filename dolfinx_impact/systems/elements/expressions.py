"""UFL expressions of a law as operations on scalars: what element kernels are generated from."""

from __future__ import annotations

from collections.abc import Sequence
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

_FUNCTIONS = {
    classes.Ln: "log",
    classes.Exp: "exp",
    classes.Sqrt: "sqrt",
    classes.Sin: "sin",
    classes.Cos: "cos",
    classes.Abs: "fabs",
}
_BINARY = {classes.Sum: "+", classes.Product: "*", classes.Division: "/", classes.Power: "pow"}
_COMPARED = {classes.LT: "<", classes.LE: "<=", classes.EQ: "==", classes.NE: "!="}
_JOINED = {classes.AndCondition: "and", classes.OrCondition: "or", classes.NotCondition: "not"}
#: Values of free indices, by the number of the index.
_Indices = tuple[tuple[int, int], ...]


class NotGenerated(ValueError):
    """An expression that no kernel is generated from; the message names what is in the way."""


class Reader:
    """Reads the components of UFL expressions onto a tape, each subexpression once.

    Args:
        tape: Where the operations go.
        inputs: The components of tensor-valued ``fem.Constant`` that stand for batches, by constant.

    Attributes:
        constants: All other constants met, in the order of their parameters.
    """

    def __init__(self, tape: Tape, inputs: dict[Any, FloatArray]) -> None:
        self._tape, self._inputs = tape, inputs
        self.constants: list[fem.Constant] = []
        self._values: list[FloatArray] = [np.zeros(0)]  # what they hold, not copies
        self._starts: dict[fem.Constant, int] = {}
        self._known: dict[tuple[Any, tuple[int, ...], _Indices], int] = {}

    def stand_for(self, constant: fem.Constant, numbers: FloatArray) -> None:
        """Let a constant stand for batches, the components ``numbers``."""
        self._inputs[constant] = numbers

    def read(self, expression: Any) -> FloatArray:
        """Numbers of all components, in the shape of the expression.

        Raises:
            NotGenerated: A function of space, a coefficient, or an operation that kernels do not have.
        """
        try:
            return self._components(expression)
        except RecursionError:
            raise NotGenerated("an expression is nested too deeply for element kernels") from None

    def _components(self, expression: Any) -> FloatArray:
        plain = remove_complex_nodes(apply_derivatives(apply_algebra_lowering(ufl.as_ufl(expression))))
        found = np.zeros(plain.ufl_shape, dtype=np.int64)
        for component in np.ndindex(*plain.ufl_shape):
            found[component] = self._component(plain, component, ())
        return found

    def parameters(self) -> FloatArray:
        """Values of the constants now."""
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
        if isinstance(e, classes.Zero):
            return tape.constant(0.0)
        if isinstance(e, classes.ScalarValue):
            return tape.constant(float(e))
        if isinstance(e, classes.Identity):
            return tape.constant(float(component[0] == component[1]))
        if isinstance(e, fem.Constant):
            return self._constant(e, component)
        if kind in (classes.Variable, classes.Label):
            return self._component(e.ufl_operands[0], component, indices)
        if kind in (classes.Indexed, classes.ComponentTensor, classes.ListTensor, classes.IndexSum):
            return self._of_index(e, component, indices)
        if kind is classes.Conditional:
            return tape.apply("select", *(self._component(each, (), indices) for each in e.ufl_operands))
        arguments = [self._component(each, component, indices) for each in self._operands(e)]
        for names in (_FUNCTIONS, _BINARY, _COMPARED, _JOINED):
            if kind in names:
                return tape.apply(names[kind], *arguments)
        if kind in (classes.GT, classes.GE):
            return tape.apply("<" if kind is classes.GT else "<=", *reversed(arguments))
        if kind in (classes.MinValue, classes.MaxValue):
            less = tape.apply("<", *(arguments if kind is classes.MinValue else reversed(arguments)))
            return tape.apply("select", less, *arguments)
        raise NotGenerated(f"{kind.__name__} has no code in element kernels")

    def _operands(self, e: Any) -> Sequence[Any]:
        known = (*_FUNCTIONS, *_BINARY, *_COMPARED, *_JOINED)
        more = (classes.GT, classes.GE, classes.MinValue, classes.MaxValue)
        if type(e) not in (*known, *more):
            raise NotGenerated(f"{type(e).__name__} has no code in element kernels")
        operands: Sequence[Any] = e.ufl_operands
        return operands

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

    def _constant(self, e: fem.Constant, component: tuple[int, ...]) -> int:
        if e in self._inputs:
            return int(self._inputs[e][component])
        if e not in self._starts:
            self._starts[e] = sum(each.value.size for each in self.constants)
            self.constants.append(e)
            self._values.append(e.value.reshape(-1))
        at = int(np.ravel_multi_index(component, e.ufl_shape)) if component else 0
        return self._tape.parameter(self._starts[e] + at)

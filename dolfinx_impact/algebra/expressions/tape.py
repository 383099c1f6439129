"""Expressions as a list of operations on numbers without repetitions: values and derivatives.

UFL's own derivatives are no substitute for those here. Read onto the same tape, ``ufl.diff`` of the energies
of laws gives forces of 1.2 to 4 times as many operations (Mooney-Rivlin: 410 for 208), and the tangents of
``ufl.derivative`` in a direction 1.3 to 7 times as many (960 for 477), those of a second ``ufl.diff`` 3 to 24
times; tangents of a neo-Hookean hexahedron with mean dilatation take 5.7 times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from ..._types import FloatArray

#: Operations by NumPy; not finite where C's are not, as in a branch that is not taken.
NUMPY: dict[str, Callable[..., Any]] = {
    "+": np.add, "*": np.multiply, "/": np.divide, "pow": np.power, "fabs": np.abs, "sqrt": np.sqrt,
    "min": np.minimum, "max": np.maximum, "exp": np.exp, "log": np.log, "erf": erf,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "select": np.where,
}  # fmt: skip
#: Largest whole exponent of a power that is written as products.
_MOST_FACTORS = 8
#: Operations without operands.
LEAVES = ("constant", "input", "state", "parameter", "step")
CONDITIONS = ("<", "<=", "==", "!=", "and", "or", "not")


class Operation(NamedTuple):
    """An operation: its name, and the numbers of its arguments; a value for constants, a place for inputs."""

    name: str
    arguments: tuple[int, ...] = ()
    value: float = 0.0


class Tape:
    """Operations in the order of evaluation, each once; expressions are their numbers.

    Inputs ``"input"`` and ``"state"`` are numbers of a point, ``"parameter"`` and ``"step"`` of all.

    Attributes:
        operations: The operations.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}

    def _add(self, operation: Operation) -> int:
        if operation not in self._numbers:
            self._numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return self._numbers[operation]

    # -- expressions

    def constant(self, value: float) -> int:
        """A number."""
        return self._add(Operation("constant", (), float(value)))

    def input(self, place: int) -> int:
        """Entry ``place`` of the inputs of a point."""
        return self._add(Operation("input", (place,)))

    def state(self, place: int) -> int:
        """Entry ``place`` of the state of a point."""
        return self._add(Operation("state", (place,)))

    def parameter(self, place: int) -> int:
        """Entry ``place`` of the parameters."""
        return self._add(Operation("parameter", (place,)))

    def step(self) -> int:
        """The time since the state."""
        return self._add(Operation("step"))

    def value(self, number: int) -> float | None:
        """The number that an expression is, None where it depends on inputs or parameters."""
        operation = self.operations[number]
        return operation.value if operation.name == "constant" else None

    def apply(self, name: str, *arguments: int) -> int:
        """The operation of that name on expressions, simplified where arguments are 0, 1 or numbers."""
        values = [self.value(each) for each in arguments]
        if all(value is not None for value in values):
            with np.errstate(all="ignore"):
                return self.constant(float(NUMPY[name](*values)))
        if name in ("select", "and", "or"):
            return self._logical(name, arguments)
        if name == "+":
            return self._sum(*arguments)
        if name == "*":
            return self._product(*arguments)
        if name == "/" and (values[0] == 0.0 or values[1] == 1.0):
            return arguments[0]
        if name == "pow":
            return self._power(*arguments)
        return self._add(Operation(name, arguments))

    def _logical(self, name: str, arguments: tuple[int, ...]) -> int:
        """Conditions that are numbers, 0 for false, decide."""
        known = self.value(arguments[0])
        if name == "select" and known is not None:
            return arguments[1] if known else arguments[2]
        for one, other in (arguments, arguments[::-1]) if name != "select" else ():
            known = self.value(one)
            if known is not None:
                return other if bool(known) == (name == "and") else one
        return self._add(Operation(name, arguments))

    def _sum(self, a: int, b: int) -> int:
        if self.value(a) == 0.0:
            return b
        if self.value(b) == 0.0:
            return a
        return self._add(Operation("+", (min(a, b), max(a, b))))

    def _product(self, a: int, b: int) -> int:
        for one, other in ((a, b), (b, a)):
            if self.value(one) == 0.0:
                return one
            if self.value(one) == 1.0:
                return other
        return self._add(Operation("*", (min(a, b), max(a, b))))

    def _power(self, base: int, exponent: int) -> int:
        value = self.value(exponent)
        if value is None or not 0 <= value <= _MOST_FACTORS or value != round(value):
            return self._add(Operation("pow", (base, exponent)))
        power = self.constant(1.0)
        for _ in range(round(value)):
            power = self._product(power, base)
        return power

    def minus(self, a: int) -> int:
        """``-a``."""
        return self.apply("*", self.constant(-1.0), a)

    def function(self, numbers: Sequence[int]) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Expressions of inputs and parameters as a function of points, evaluated by NumPy.

        Returns:
            A function of the inputs, shape (p, n), and the parameters, shape (m,): shape (p, k).
        """
        constants, calls = {}, []
        leaves: dict[str, list[tuple[int, int]]] = {"input": [], "parameter": []}
        for each in self.needed(numbers):
            name, arguments, value = self.operations[each]
            if name == "constant":
                constants[each] = value
            elif name in leaves:
                leaves[name].append((each, arguments[0]))
            else:
                calls.append((each, NUMPY[name], arguments))

        def values(inputs: FloatArray, parameters: FloatArray) -> FloatArray:
            found: dict[int, Any] = dict(constants)
            found.update((each, inputs[:, place]) for each, place in leaves["input"])
            found.update((each, parameters[place]) for each, place in leaves["parameter"])
            with np.errstate(all="ignore"):
                for each, function, arguments in calls:
                    found[each] = function(*[found[argument] for argument in arguments])
            columns = [np.broadcast_to(found[each], len(inputs)) for each in numbers]
            return np.column_stack(columns).astype(np.float64)

        return values

    def values(
        self, numbers: Sequence[int], parameters: FloatArray, inputs: Sequence[float] = ()
    ) -> FloatArray:
        """Values of expressions at one point, shape (k,)."""
        found: FloatArray = self.function(numbers)(np.array([inputs]), parameters)[0]
        return found

    # -- derivatives

    def _slopes(self, number: int) -> list[tuple[int, int]]:
        """Arguments of an operation, and its derivatives with respect to them."""
        name, arguments, _ = self.operations[number]
        if name in (*LEAVES, *CONDITIONS):
            return []
        a, b = arguments[0], arguments[-1]
        if name == "+":
            return [(a, self.constant(1.0)), (b, self.constant(1.0))]
        if name == "*":
            return [(a, b), (b, a)]
        if name == "/":
            inverse = self.apply("/", self.constant(1.0), b)
            return [(a, inverse), (b, self.minus(self.apply("*", number, inverse)))]
        if name == "pow":
            found = [(a, self._slope_of_power(a, b, number))]
            if self.value(b) is None:
                found.append((b, self.apply("*", number, self.apply("log", a))))
            return found
        return [(a, self._slope_of_call(name, a, number))]

    def _slope_of_power(self, a: int, b: int, number: int) -> int:
        exponent = self.value(b)
        if exponent is not None and exponent < 1:  # saves a power; infinite at zero anyway
            return self.apply("*", b, self.apply("/", number, a))
        less = self.apply("+", b, self.constant(-1.0))
        return self.apply("*", b, self.apply("pow", a, less))

    def _slope_of_call(self, name: str, a: int, number: int) -> int:
        one = self.constant(1.0)
        if name == "log":
            return self.apply("/", one, a)
        if name == "exp":
            return number
        if name == "sqrt":
            return self.apply("/", self.constant(0.5), number)
        if name == "sin":
            return self.apply("cos", a)
        if name == "cos":
            return self.minus(self.apply("sin", a))
        if name != "fabs":
            raise NotImplementedError(f"the tape does not differentiate {name!r}: let UFL do it")
        zero, minus = self.constant(0.0), self.constant(-1.0)  # 0 at 0 as in UFL
        positive = self.apply("select", self.apply("<", zero, a), one, zero)
        return self.apply("select", self.apply("<", a, zero), minus, positive)

    def gradient(self, number: int, variables: Sequence[int]) -> list[int]:
        """Derivatives of an expression with respect to some inputs.

        By the reverse mode; with conditions by the forward mode, which selects the derivative of a branch:
        that of the other one, which may not be finite, is not even multiplied by zero.
        """
        zero, needed = self.constant(0.0), self.needed([number])
        if any(self.operations[each].name == "select" for each in needed):
            changes = [
                {other: self.constant(float(other == each)) for other in variables} for each in variables
            ]
            return [self.directional([number], change)[0] for change in changes]
        slopes = {number: self.constant(1.0)}
        for each in reversed(needed):
            if each not in slopes or slopes[each] == zero:
                continue
            for argument, slope in self._slopes(each):
                more = self.apply("*", slopes[each], slope)
                slopes[argument] = self.apply("+", slopes.get(argument, zero), more)
        return [slopes.get(each, zero) for each in variables]

    def directional(self, numbers: Sequence[int], change: dict[int, int]) -> list[int]:
        """Derivatives of expressions along ``change``, the changes of some inputs, by the forward mode."""
        zero, changes = self.constant(0.0), dict(change)
        for each in self.needed(numbers):
            if each in changes:
                continue
            name, arguments, _ = self.operations[each]
            if name == "select":
                one, other = (changes[argument] for argument in arguments[1:])
                changes[each] = one if one == other else self.apply("select", arguments[0], one, other)
                continue
            total = zero
            for argument, slope in self._slopes(each):
                total = self.apply("+", total, self.apply("*", slope, changes.get(argument, zero)))
            changes[each] = total
        return [changes[each] for each in numbers]

    def replaced(self, numbers: Sequence[int], values: dict[int, int]) -> list[int]:
        """Expressions with other ones in the place of some inputs."""
        new = dict(values)
        for each in self.needed(numbers):
            name, arguments, _ = self.operations[each]
            if each not in new and name in LEAVES:
                new[each] = each
            elif each not in new:
                new[each] = self.apply(name, *(new[argument] for argument in arguments))
        return [new[each] for each in numbers]

    def needed(self, numbers: Iterable[int]) -> list[int]:
        """All operations that some expressions depend on, themselves included, in order."""
        needed: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                if self.operations[number].name not in LEAVES:
                    waiting.extend(self.operations[number].arguments)
        return sorted(needed)

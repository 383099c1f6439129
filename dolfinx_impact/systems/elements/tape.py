"""Scalar expressions as a list of operations without repetitions: derivatives, and C code of the batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Operations on numbers, for constants; not finite where C's are not, as in a branch that is not taken.
_FOLDED: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "*": np.multiply,
    "/": np.divide,
    "pow": np.power,
    "log": np.log,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "fabs": np.abs,
}
#: Largest whole exponent of a power that is written as products.
_MOST_FACTORS = 8
#: Inputs and the arrays of their names in C.
_INPUTS = {"input": "x", "state": "z", "parameter": "p"}
_LEAVES = ("constant", *_INPUTS, "step")


class Operation(NamedTuple):
    """An operation: its name, and the numbers of its arguments; a value for constants, a place for inputs."""

    name: str
    arguments: tuple[int, ...] = ()
    value: float = 0.0


class Tape:
    """Operations in the order of evaluation, each once; expressions are their numbers.

    Inputs ``"input"`` and ``"state"`` are batches of numbers, one for each cell, ``"parameter"`` and
    ``"step"`` the same number for all cells.

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
        """Entry ``place`` of the inputs of a cell."""
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
        if name in _FOLDED and all(value is not None for value in values):
            with np.errstate(all="ignore"):
                return self.constant(float(_FOLDED[name](*values)))
        if name == "+":
            return self._sum(*arguments)
        if name == "*":
            return self._product(*arguments)
        if name == "/" and (values[0] == 0.0 or values[1] == 1.0):
            return arguments[0]
        if name == "pow":
            return self._power(*arguments)
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
        if value is None or value != round(value) or not 0 <= value <= _MOST_FACTORS:
            return self._add(Operation("pow", (base, exponent)))
        power = self.constant(1.0)
        for _ in range(round(value)):
            power = self._product(power, base)
        return power

    def minus(self, a: int) -> int:
        """``-a``."""
        return self.apply("*", self.constant(-1.0), a)

    # -- derivatives

    def _slopes(self, number: int) -> list[tuple[int, int]]:
        """Arguments of an operation, and its derivatives with respect to them."""
        name, arguments, _ = self.operations[number]
        if name in (*_LEAVES, "<", "<=", "==", "!=", "and", "or", "not"):
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
        zero, minus = self.constant(0.0), self.constant(-1.0)  # of fabs, 0 at 0 as in UFL
        positive = self.apply("select", self.apply("<", zero, a), one, zero)
        return self.apply("select", self.apply("<", a, zero), minus, positive)

    def gradient(self, number: int, variables: Sequence[int]) -> list[int]:
        """Derivatives of an expression with respect to some inputs.

        By the reverse mode; with conditions by the forward mode, which selects the derivative of a branch:
        that of the other one, which may not be finite, is not even multiplied by zero.
        """
        zero, needed = self.constant(0.0), self._needed([number])
        if any(self.operations[each].name == "select" for each in needed):
            changes = [
                {other: self.constant(float(other == each)) for other in variables} for each in variables
            ]
            return [self.directional([number], change)[0] for change in changes]
        slopes = {number: self.constant(1.0)}
        for each in sorted(needed, reverse=True):
            if each not in slopes or slopes[each] == zero:
                continue
            for argument, slope in self._slopes(each):
                more = self.apply("*", slopes[each], slope)
                slopes[argument] = self.apply("+", slopes.get(argument, zero), more)
        return [slopes.get(each, zero) for each in variables]

    def directional(self, numbers: Sequence[int], change: dict[int, int]) -> list[int]:
        """Derivatives of expressions along ``change``, the changes of some inputs, by the forward mode."""
        zero, changes = self.constant(0.0), dict(change)
        for each in sorted(self._needed(numbers)):
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
        for each in sorted(self._needed(numbers)):
            name, arguments, _ = self.operations[each]
            if each not in new and name in _LEAVES:
                new[each] = each
            elif each not in new:
                new[each] = self.apply(name, *(new[argument] for argument in arguments))
        return [new[each] for each in numbers]

    def _needed(self, numbers: Sequence[int]) -> set[int]:
        """All operations that some expressions depend on, themselves included."""
        needed: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                if self.operations[number].name not in _LEAVES:
                    waiting.extend(self.operations[number].arguments)
        return needed

    # -- code

    def code(self, outputs: dict[str, int]) -> list[str]:
        """C statements that assign expressions to the given variables.

        Batches have the type ``batch``, conditions ``mask``, numbers ``double``.
        """
        kinds: dict[int, str] = {}
        lines = []
        for number in sorted(self._needed(list(outputs.values()))):
            operation = self.operations[number]
            kinds[number] = self._kind(operation, kinds)
            if operation.name not in _LEAVES:
                lines.append(f"const {kinds[number]} t{number} = {self._term(operation, kinds)};")
        for name, number in outputs.items():
            term = self._name(number)
            lines.append(f"{name} = {term};" if kinds[number] == "batch" else f"{name} = spread({term});")
        return lines

    def _kind(self, operation: Operation, kinds: dict[int, str]) -> str:
        if operation.name in _LEAVES:
            return "batch" if operation.name in ("input", "state") else "double"
        if operation.name in ("<", "<=", "==", "!=", "and", "or", "not"):
            return "mask"
        if operation.name == "select" or any(kinds[each] == "batch" for each in operation.arguments):
            return "batch"
        return "double"

    def _name(self, number: int) -> str:
        name, arguments, value = self.operations[number]
        if name == "constant":
            named = {np.inf: "INFINITY", -np.inf: "-INFINITY"}
            return f"({value!r})" if np.isfinite(value) else f"({named.get(value, 'NAN')})"
        if name in _INPUTS:
            return f"{_INPUTS[name]}[{arguments[0]}]"
        return "h" if name == "step" else f"t{number}"

    def _term(self, operation: Operation, kinds: dict[int, str]) -> str:
        name, arguments, _ = operation
        terms = [self._name(each) for each in arguments]
        wide = [
            term if kinds[each] in ("batch", "mask") else f"spread({term})"
            for each, term in zip(arguments, terms)
        ]
        if name in ("<", "<=", "==", "!="):
            return f"(mask)({wide[0]} {name} {wide[1]})"
        if name in ("and", "or"):
            return f"{terms[0]} {'&' if name == 'and' else '|'} {terms[1]}"
        if name == "not":
            return f"~{terms[0]}"
        if name == "select":
            return f"chosen({', '.join(wide)})"
        if name in ("+", "*", "/"):
            return f"{terms[0]} {name} {terms[1]}"
        batch = any(kinds[each] == "batch" for each in arguments)
        return f"batch_{name}({', '.join(wide)})" if batch else f"{name}({', '.join(terms)})"

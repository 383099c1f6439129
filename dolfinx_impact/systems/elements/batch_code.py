"""What element kernels compute of UFL expressions: C statements for the batches of ``batches.h``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.expressions.reader import NotRead, Reader
from ...algebra.expressions.tape import CONDITIONS, LEAVES, Operation, Tape

#: Functions that ``batches.h`` has.
_FUNCTIONS = ("log", "exp", "sqrt", "sin", "cos", "fabs")
#: Inputs and the arrays of their names.
_INPUTS = {"input": "x", "state": "z", "parameter": "p"}


class NotGenerated(ValueError):
    """An expression that no kernel is generated from; the message names what is in the way."""


class LawReader(Reader):
    """Reads expressions that kernels are generated from; see :class:`.Reader`."""

    def __init__(self, tape: Tape, inputs: dict[Any, FloatArray]) -> None:
        super().__init__(tape, inputs, _FUNCTIONS)

    def read(self, expression: Any) -> FloatArray:
        """Numbers of all components, in the shape of the expression.

        Raises:
            NotGenerated: A function of space, a coefficient, or an operation that kernels do not have.
        """
        try:
            return super().read(expression)
        except NotRead as error:
            raise NotGenerated(f"{error} has no code in element kernels") from None
        except RecursionError:
            raise NotGenerated("an expression is nested too deeply for element kernels") from None


def statements(tape: Tape, outputs: dict[str, int]) -> list[str]:
    """C statements that assign expressions to the given variables.

    Batches have the type ``batch``, conditions ``mask``, numbers ``double``.
    """
    kinds: dict[int, str] = {}
    names: dict[int, str] = {}
    lines = []
    for number in tape.needed(outputs.values()):
        operation = tape.operations[number]
        kinds[number] = _kind(operation, [kinds.get(each, "") for each in operation.arguments])
        if operation.name in LEAVES:
            names[number] = _leaf(operation)
            continue
        names[number] = f"t{number}"
        arguments = operation.arguments
        term = _term(operation.name, [names[each] for each in arguments], [kinds[each] for each in arguments])
        lines.append(f"const {kinds[number]} t{number} = {term};")
    for name, number in outputs.items():
        lines.append(f"{name} = {_batch(names[number], kinds[number])};")
    return lines


def _kind(operation: Operation, arguments: Sequence[str]) -> str:
    """The type of an operation on arguments of these types."""
    if operation.name in LEAVES:
        return "batch" if operation.name in ("input", "state") else "double"
    if operation.name in CONDITIONS:
        return "mask"
    return "batch" if operation.name == "select" or "batch" in arguments else "double"


def _leaf(operation: Operation) -> str:
    name, arguments, value = operation
    if name == "constant":
        named = {np.inf: "INFINITY", -np.inf: "-INFINITY"}
        return f"({value!r})" if np.isfinite(value) else f"({named.get(value, 'NAN')})"
    return "h" if name == "step" else f"{_INPUTS[name]}[{arguments[0]}]"


def _batch(term: str, kind: str) -> str:
    return f"spread({term})" if kind == "double" else term


def _term(name: str, terms: Sequence[str], kinds: Sequence[str]) -> str:
    """An operation on arguments of these types."""
    wide = [_batch(term, kind) for term, kind in zip(terms, kinds)]
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
    return f"batch_{name}({', '.join(wide)})" if "batch" in kinds else f"{name}({', '.join(terms)})"

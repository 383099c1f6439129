"""Constants of schemes, contact laws and contacts: numbers and words that tell one run from another."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Arguments that are no constants: the parts of a scheme, and its step, which may change in a run.
PARTS = ("self", "system", "solid", "body", "fine", "coarse", "dt", "contact", "enforcement")
_MISSING = object()


def constants(described: Any, base: type = object) -> dict[str, bool | int | float | str]:
    """Numbers and words that an object keeps under its constructors' arguments' names, or its class has.

    Args:
        described: The object; an attribute that belongs to an argument has its name, with or without a
            leading underscore.
        base: A class whose own attributes are no constants; those of classes derived from it are.
    """
    names = dict.fromkeys(name for kind in type(described).__mro__ for name in arguments_of(kind))
    for kind in type(described).__mro__:
        if issubclass(kind, base) and kind not in base.__mro__:
            names |= dict.fromkeys(class_constants(kind))
    values = {name.lstrip("_"): value_of(described, name) for name in names}
    return {name: value for name, value in values.items() if is_constant(value)}


def scheme_constants(scheme: Any, base: type) -> dict[str, bool | int | float | str]:
    """Constants of a scheme: arguments of its constructor and, in a user-defined class, class attributes.

    A class of this package is known by its name: only its constructor counts, and where that hands further
    arguments on (``**options``) those above it.

    Args:
        scheme: The scheme.
        base: The base class of all schemes, whose attributes are no constants.

    Raises:
        ValueError: An argument of a user-defined constructor that no attribute has the name of.
    """
    found: dict[str, Any] = {}
    for kind in type(scheme).__mro__:
        built_in = kind.__module__.startswith(__name__.split(".")[0] + ".")
        parts = () if built_in else _first_arguments(kind, 3 if hasattr(scheme, "coarse") else 2)
        for name in arguments_of(kind):
            if name in parts:
                continue
            value = value_of(scheme, name)
            if value is _MISSING and not built_in:
                raise ValueError(
                    f"a {type(scheme).__name__} cannot be stopped and resumed: its argument {name} is no "
                    f"attribute, so that runs with another value look alike; keep self.{name}, or write "
                    "parameters()"
                )
            found.setdefault(name, value)
        if not built_in and issubclass(kind, base):
            own = (name for name in class_constants(kind) if name not in vars(base))
            found = {**{name.lstrip("_"): value_of(scheme, name) for name in own}, **found}
        if built_in and "__init__" in vars(kind) and not _hands_on(kind):
            break
    return {name: value for name, value in found.items() if is_constant(value)}


def arguments_of(kind: type) -> Iterator[str]:
    """Names of the arguments of a class's own constructor, without those of :data:`PARTS` and ``allow_*``."""
    if "__init__" not in vars(kind) or kind is object:
        return
    for name, argument in inspect.signature(vars(kind)["__init__"]).parameters.items():
        named = argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        if named and name not in PARTS and not name.startswith("allow_"):
            yield name


def _first_arguments(kind: type, count: int) -> list[str]:
    """Names of the first arguments of a class's own constructor: system and step, under any names."""
    if "__init__" not in vars(kind):
        return []
    return list(inspect.signature(vars(kind)["__init__"]).parameters)[1 : count + 1]


def class_constants(kind: type) -> Iterator[str]:
    """Names of the public numbers and words that a class declares itself."""
    return (name for name, value in vars(kind).items() if is_constant(value) and not name.startswith("_"))


def value_of(described: Any, name: str) -> Any:
    """Attribute of this name, with or without a leading underscore; the object's own before the class's."""
    own = (vars(described)[each] for each in (name, f"_{name}") if each in vars(described))
    value = next(own, getattr(described, name, getattr(described, f"_{name}", _MISSING)))
    return value.item() if isinstance(value, np.generic) else value


def is_constant(value: Any) -> bool:
    """Whether a value is a number or a word."""
    return isinstance(value, (bool, int, float, str))


def _hands_on(kind: type) -> bool:
    """Whether a constructor takes further named arguments for the one above it."""
    arguments = inspect.signature(vars(kind)["__init__"]).parameters.values()
    return any(each.kind is each.VAR_KEYWORD for each in arguments)

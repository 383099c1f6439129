"""User-defined contacts whose methods do not take the time, an attribute before it was an argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .. import _deprecated

#: Methods whose last argument is the time, and the number of arguments before it.
_METHODS = {
    "warn_of_long_steps": 3,
    "gap": 1,
    "evaluate": 1,
    "evaluate_along": 2,
    "active_set": 2,
    "speeds": 2,
}


class Time:
    """Deprecated attribute of a contact: time of the last evaluation [s]; it cannot be set."""

    def __get__(self, contact: Any, kind: type) -> Any:
        if contact is None:
            return self
        _deprecated.warn(f"{type(contact).__name__}.time", "an argument, as in gap(u, t)", 2)
        return vars(contact).get("_under_way", contact._evaluated_at)

    def __set__(self, contact: Any, t: float) -> None:
        raise AttributeError(
            f"the time of a {type(contact).__name__} is an argument now: write gap(u, t), evaluate(u, t) or "
            "active_set(u, v, t) in place of contact.time = t"
        )


def adapt(cls: type, root: type) -> str:
    """Let methods of a new class that do not take the time be called with it.

    Args:
        cls: The class.
        root: The base class of all contacts.

    Returns:
        One of these methods, empty for none: it is at fault for obstacles that move.
    """
    found = ""
    for name, before in _METHODS.items():
        owner = next(kind for kind in cls.__mro__ if name in vars(kind))
        # Bases that are contacts have been adapted themselves; others are not.
        if (owner is cls or not issubclass(owner, root)) and not _takes_time(vars(owner)[name], before):
            setattr(cls, name, _without_time(vars(owner)[name], before))
            found = found if name == "warn_of_long_steps" else name
    return found or getattr(cls, "_timeless", "")


def _takes_time(method: Any, before: int) -> bool:
    """Whether a method takes a further argument after that many."""
    if not inspect.isfunction(method):
        return True
    kinds = [each.kind for each in inspect.signature(method).parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Parameter.VAR_POSITIONAL in kinds or sum(k in positional for k in kinds) > before + 1


def _without_time(function: Callable[..., Any], before: int) -> Callable[..., Any]:
    """The method as one that also takes the time, and drops it; calls within it are at the same time."""

    @functools.wraps(function)
    def method(self: Any, *values: Any, **named: Any) -> Any:
        t = named.pop("t", values[before] if len(values) > before else None)
        if t is None or "_under_way" in vars(self):
            return function(self, *values[:before], **named)
        self._under_way = t
        try:
            return function(self, *values[:before], **named)
        finally:
            del self._under_way
            self._evaluated_at = t

    return method

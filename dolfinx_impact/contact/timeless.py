"""User-defined contacts whose methods take no time, and the deprecated attribute ``time``.

The time of ``gap``, ``evaluate``, ... was an attribute before it was an argument. Methods without the
argument go on working: they are called without the time. What they call without one in turn, of the base
class or of the class itself, is evaluated at the time of the call under way. To this end the class has a
*stand-in* between itself and its base, which adds the time; classes whose methods take the time have none.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any, Callable

#: Methods whose last argument is the time, and the number of arguments before it.
_METHODS = {"gap": 1, "evaluate": 1, "evaluate_along": 2, "active_set": 2, "speeds": 2}


class Time:
    """Deprecated attribute of a contact: time of the last evaluation [s].

    Once it has been set, calls without a time are evaluated at it.
    """

    def __get__(self, contact: Any, kind: type) -> Any:
        if contact is None:
            return self
        _warn(contact)
        return _time_of(contact)

    def __set__(self, contact: Any, t: float) -> None:
        _warn(contact)
        if not hasattr(contact, "_time_asked"):
            contact.__class__ = _stand_in(type(contact))  # type: ignore[arg-type]
        contact._time_asked = t


def adapt(cls: type, root: type) -> None:
    """Let methods of a new class that take no time be called with one.

    Args:
        cls: The class.
        root: The base class of all contacts.
    """
    timeless = {}
    for name, before in _METHODS.items():
        owner = next(kind for kind in cls.__mro__ if name in vars(kind))
        # Bases that are contacts have been adapted themselves; others are not.
        if (owner is cls or not issubclass(owner, root)) and not _takes_time(vars(owner)[name], before):
            timeless[name] = _without_time(vars(owner)[name], before)
    if timeless:
        for name, method in timeless.items():
            setattr(cls, name, method)
        base = next(kind for kind in cls.__bases__ if issubclass(kind, root))
        cls.__bases__ = tuple(_stand_in(kind) if kind is base else kind for kind in cls.__bases__)


def _warn(contact: Any) -> None:
    text = "time is an argument now, as in gap(u, t): the attribute goes with version 0.3.0"
    warnings.warn(f"{type(contact).__name__}.{text}", DeprecationWarning, stacklevel=3)


def _time_of(contact: Any) -> float:
    """Time of the last call that gave one [s]."""
    first = getattr(contact, "members", (contact,))[0]
    return float(getattr(contact, "_time_asked", first._evaluated_at))


def _takes_time(method: Any, before: int) -> bool:
    """Whether a method takes a further argument after that many."""
    if not inspect.isfunction(method):
        return True
    kinds = [each.kind for each in inspect.signature(method).parameters.values()]
    positional = [kind for kind in kinds if kind in (inspect.Parameter.POSITIONAL_ONLY,
                                                     inspect.Parameter.POSITIONAL_OR_KEYWORD)]  # fmt: skip
    return inspect.Parameter.VAR_POSITIONAL in kinds or len(positional) > before + 1


def _without_time(function: Callable[..., Any], before: int) -> Callable[..., Any]:
    """The method as one that also takes a time, which it notes and drops."""

    @functools.wraps(function)
    def method(self: Any, *values: Any, **given: Any) -> Any:
        if "t" in given:
            self._time_asked = given.pop("t")
        elif len(values) > before:
            self._time_asked = values[before]
        return function(self, *values[:before], **given)

    return method


@functools.cache
def _stand_in(base: type) -> type:
    """A class like ``base`` in which the time may be left out: it is that of the last call that gave one."""

    def adding_time(name: str, before: int) -> Callable[..., Any]:
        def method(self: Any, *values: Any, **given: Any) -> Any:
            if "t" in given:
                self._time_asked = given["t"]
            elif len(values) > before:
                self._time_asked = values[before]
            elif len(values) == before:
                values += (_time_of(self),)
            else:
                given["t"] = _time_of(self)
            return getattr(super(kind, self), name)(*values, **given)

        return method

    methods = {name: adding_time(name, before) for name, before in _METHODS.items()}
    about = {"__module__": base.__module__, "__qualname__": base.__qualname__, "__doc__": base.__doc__}
    kind: type = type(base)(base.__name__, (base,), {**about, **methods, "_stands_in": True})
    return kind

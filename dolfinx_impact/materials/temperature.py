"""Temperature at the start of bodies of metals whose yield stress depends on it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ..arguments import number, shown
from .hardening import JohnsonCook


def at_temperature(law: Any, temperature: float | None) -> Any:
    """The law, or the laws by name, of a body of one temperature at the start.

    Laws whose yield stress is :class:`.JohnsonCook` with ``m`` start at it; others beside them, in a mapping,
    stay as they are. The law is copied with its attributes: what a class of one's own derives of its
    hardening in its constructor stays that of the law.

    Args:
        law: A law, or a mapping from names of parts to laws.
        temperature: Temperature at the start [K]; with None the law is returned as it is.

    Raises:
        ValueError: A temperature that is not positive, or not below the melting temperature of a law; a law
            that starts at another one of its own; no law that depends on the temperature.
    """
    if temperature is None:
        return law
    value = number("start_temperature", temperature, "be positive [K]", above=0.0)
    laws = dict(law) if isinstance(law, Mapping) else {"": law}
    hot = {name: _started(each, value) for name, each in laws.items() if _depends(each)}
    if not hot:
        given = ", ".join(shown(each) for each in laws.values())
        raise ValueError(
            "start_temperature is for metals whose yield stress depends on the temperature, as "
            f"J2Plasticity(E, nu, hardening=JohnsonCook(A, B, n, C, m=...)), but law is {given}"
        )
    return {**laws, **hot} if isinstance(law, Mapping) else hot[""]


def _depends(law: Any) -> bool:
    hardening = getattr(law, "hardening", None)
    return isinstance(hardening, JohnsonCook) and hardening.m is not None


def _started(law: Any, temperature: float) -> Any:
    hardening = law.hardening
    if hardening.start_temperature == temperature:
        return law
    if hardening.start_temperature is not None:
        raise ValueError(
            f"start_temperature of the body is {temperature:g} K, that of its law "
            f"{hardening.start_temperature:g} K: give one of them, or the same"
        )
    if not temperature < hardening.melting_temperature:
        raise ValueError(
            f"start_temperature must be below the melting temperature {hardening.melting_temperature:g} K, "
            f"but is {temperature:g}"
        )
    return _with(law, hardening=_with(hardening, start_temperature=temperature))


def _with(law: Any, **changed: Any) -> Any:
    """A copy with other constants: classes of a user may have constructors of their own."""
    found = copy.copy(law)
    for name, value in changed.items():
        object.__setattr__(found, name, value)  # the classes of the package are frozen
    return found

"""What steps cost, counted: evaluations of the forces and of the contact, linear systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..integrators import Integrator


@dataclass(frozen=True)
class Effort:
    """Counts of consecutive steps, each of shape (steps,)."""

    forces: NDArray  #: Evaluations of the forces, those of numerical tangents not counted.
    systems: NDArray  #: Tangents, each of which makes a linear system.
    contacts: NDArray  #: Evaluations of the gap with its directions.
    pressed: NDArray  #: Whether an impulse acts.


def effort(integrator: Integrator, steps: int) -> Effort:
    """Make ``steps`` steps with a scheme that was started, and count."""
    system, contact = integrator.system, integrator.contact
    count, rows = {"force": 0, "tangents": 0, "evaluate": 0}, []
    inner = {"tangents": "force", "active_set": "evaluate"}  # what may be called within, and is not counted

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(*state: Any) -> Any:
            before = dict(count)
            result = call(*state)
            if name in inner:
                count[inner[name]] = before[inner[name]]
            count["evaluate" if name == "active_set" else name] += 1
            return result

        return replacement

    for owner in (system, contact):
        for name in (*count, "active_set"):
            if hasattr(owner, name):
                setattr(owner, name, counted(name, getattr(owner, name)))
    for _ in range(steps):
        before = tuple(count.values())
        integrator.step()
        rows.append([*np.subtract(tuple(count.values()), before), bool(integrator.r.any())])
    forces, systems, contacts, pressed = np.array(rows).T
    return Effort(forces, systems, contacts, pressed > 0)

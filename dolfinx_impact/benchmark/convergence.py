"""Errors and orders of convergence as Di Stasio et al. (2019) measure them, and what steps cost, counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..integrators import Integrator


def norm35(given: ArrayLike, true: ArrayLike) -> float:
    """``sum |f_i - f(t_i)| / sum |f(t_i)|``, (35) there; shapes (n,), or (n, k) for vectors (Euclidean)."""
    f, reference = (np.asarray(x, dtype=np.float64).reshape(len(np.atleast_1d(x)), -1) for x in (given, true))
    return float(np.linalg.norm(f - reference, axis=1).sum() / np.linalg.norm(reference, axis=1).sum())


def at_times(t: NDArray, values: NDArray, times: NDArray) -> NDArray:
    """Samples ``values``, shape (n, ...), of a run at ``times`` [s] among its own ``t``, or a ValueError."""
    nearest = np.clip(np.searchsorted(t, times - 0.5 * (t[1] - t[0])), 0, len(t) - 1)
    if np.max(np.abs(t[nearest] - times)) > 1e-6 * (t[1] - t[0]):
        raise ValueError("the runs were not sampled at the same times")
    return values[nearest]


def order(steps: Sequence[float] | NDArray, errors: Sequence[float] | NDArray) -> float:
    """Slope of log(error) over log(step), fitted by least squares."""
    return float(np.polyfit(np.log(np.asarray(steps)), np.log(np.asarray(errors)), 1)[0])


def scatter(steps: Sequence[float], count: int) -> float:
    """Standard deviation of an order fitted to means of so many errors, each drawn evenly from [0, C h]."""
    x = np.log(steps)
    return float(1 / np.sqrt(3 * count * np.sum((x - x.mean()) ** 2)))


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
    kinds = {"force": "force", "tangents": "system", "damping_tangent": "system", "at": "at"}
    count, rows = dict.fromkeys(kinds.values(), 0), []

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(*state: Any, **how: Any) -> Any:
            before = dict(count)
            result = call(*state, **how)
            if kinds[name] == "system":  # what is called within is not counted
                count.update(before)
            count[kinds[name]] += 1
            return result

        return replacement

    for owner in (system, contact):
        for name in kinds:
            if hasattr(owner, name):
                setattr(owner, name, counted(name, getattr(owner, name)))
    for _ in range(steps):
        before = tuple(count.values())
        integrator.step()
        rows.append([*np.subtract(tuple(count.values()), before), bool(integrator.r.any())])
    forces, systems, contacts, pressed = np.array(rows).T
    return Effort(forces, systems, contacts, pressed > 0)

"""Runs of the discrete arch, and what is measured of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...runs import Run, Runs
from . import case
from .chain import Chain
from .equilibrium import Equilibrium, static_equilibrium

CASE = "discrete-arch"
CD, MJ = "cd-lagrange", "moreau-jean"


def stopped_run(runs: Runs, damping: float) -> Run:
    """A run until the criterion of termination is met."""
    return runs(CASE, CD, damping=damping, stop_ratio=case.SMALL_RATIO, t_end=3000)


def arch(run: Run) -> Chain:
    """The chain of a run."""
    chain: Chain = case.Arch().build(run.summary["parameters"]).system
    return chain


def heights(run: Run) -> NDArray:
    """Heights of the internal nodes, shape (n, 10) [m]."""
    return run["u"][:, 3:-2:2]


def depth(run: Run) -> float:
    """Way of one step at the largest speed downwards [m]; of a run with every step."""
    return float(run.results["h"] * -run["v"][:, 1::2].min())


def inertia(run: Run) -> NDArray:
    """The vertical impulse of damping of every step but the first, -mu h sum M v . y [N s]."""
    p, v = run.summary["parameters"], run["v"][:, 1::2].sum(axis=1)
    lagged = run["t_v"][0] != run["t"][0]
    # The velocity of the forces: v_{n+1/2} in central differences, the mean of both ends else.
    acting = v[:-1] if lagged else (v[1:] + v[:-1]) / 2
    return -p["damping"] * run.results["h"] * p["m"] * acting[: len(run["t"]) - 1]


def contact(run: Run) -> NDArray:
    """The impulse of contact of every step but the first, summed over the nodes [N s]."""
    return run["r"][1:].sum(axis=1)


def frozen(run: Run) -> Equilibrium:
    """Statics with the floor under every node at the depth at which it was stopped."""
    floor = -run.summary["parameters"]["floor"] + np.minimum(run["gap"][-1], 0.0)
    return static_equilibrium(arch(run), floor, run["u"][-1])


def remaining(run: Run) -> float:
    """Largest distance that a node still has to go, at its depth, to rest [m]."""
    return case.distance(run["u"][-1], frozen(run).positions)


def since(run: Run) -> int:
    """Sample after the release from which on the ratio of inertia to contact is small, or the last one."""
    after = run["t"][1:] > run.summary["parameters"]["release"]
    large = np.flatnonzero(after & (np.abs(inertia(run)) >= case.SMALL_RATIO * contact(run)))
    first = int(large[-1]) + 2 if large.size else int(np.argmax(after)) + 1
    return min(first, len(run["t"]) - 1)


def touching_nodes(run: Run) -> str:
    """Those that press at the end, in words."""
    return f"nodes {', '.join(map(str, run.results['active_nodes'])) or 'none'}"

"""What is seen of a run from outside: own records of u, v, nodal impulses and forces, from public outputs."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np

import dolfinx_impact as di

from . import program
from .compose import Scenario


class Record:
    """Observer that keeps what a step leaves, over the local dofs."""

    def __init__(self):
        self.t, self.t_v, self.u, self.v, self.mean, self.impulse, self.r, self.dt = ([] for _ in range(8))
        self.reactions, self.ends, self.remembered, self.gaps = [], [], [], []

    def look(self, s: Any) -> None:
        self.t.append(s.t)
        self.t_v.append(s.v_time)
        self.dt.append(s.dt)
        self.u.append(whole(s, s.u))
        self.v.append(whole(s, s.v))
        self.mean.append(whole(s, s.v_mean))
        self.r.append(s.r.copy())
        self.impulse.append(nodal_impulses(s))
        if getattr(s, "position", False):  # velocities of the position problem, and accelerations
            self.ends.append(s.w.copy())
            self.remembered.append(s.a.copy() if hasattr(s, "a") else np.zeros(0))
            self.gaps.append(s.gap().copy())
        self.reactions.append(
            s.reactions() if hasattr(s, "reactions") and s.system.prescribed.any else np.zeros(0)
        )

    def arrays(self) -> None:
        for name in ("t", "t_v", "u", "v", "mean", "impulse", "dt"):
            setattr(self, name, np.array(getattr(self, name)))


def whole(s: Any, x: Any) -> np.ndarray:
    """Values on all dofs; of a divided body each of its part, of two copies the explicit one."""
    if not isinstance(s, di.HATI):
        return np.array(x)
    fine, coarse = s.system.split(np.asarray(x))
    values, active = coarse.copy(), np.flatnonzero(s.system.fine.active)  # of owned dofs; no ghosts
    values[active] = fine[active]
    return values


def nodal_impulses(s: Any) -> np.ndarray:
    """Impulses of the last step on all dofs [N s]."""
    total, contact = np.zeros(whole(s, s.u).size), s.contact
    if contact is None:
        return total
    dofs = contact.nodes.loaded.dofs
    part = np.zeros(dofs.shape)
    s.add_nodal_impulses(part)
    np.add.at(total, dofs, part)
    return total


@dataclasses.dataclass
class Seen:
    """A scenario that has run."""

    scenario: Scenario
    frame: Any
    body: Any
    scheme: Any
    contact: Any
    run: Any
    record: Record
    parts: list[np.ndarray]
    warned: list[str]
    coarse: Any = None

    def places(self):
        d = self.scenario.gdim
        return self.frame.back(self.body.x[:, :d]) - self.frame.shift

    def mass(self):
        """Nodal masses, shape (nodes,) [kg]."""
        mass = self.body.mass if self.coarse is None else self.body.mass + self.coarse.mass
        return np.array(mass[:: self.scenario.gdim]) / self.frame.mass

    def nodal(self, x, velocity=False):
        """Fields over the nodes in the base frame, shape (..., nodes, d) [m] or [m/s]."""
        d = self.scenario.gdim
        x = np.asarray(x)
        return self.frame.back(x.reshape(*x.shape[:-1], -1, d), velocity)


def build(s: Scenario, further: str = "") -> dict[str, Any]:
    """The names that the program of a scenario leaves behind; with a further line it ends with the body."""
    left: dict[str, Any] = {}
    lines = program.program(s)
    if further:
        body = next(i for i, line in enumerate(lines) if line.startswith("body = "))
        lines = [*lines[:body], further, lines[body]]
    exec(compile("\n".join(lines), f"<scenario {s.seed}>", "exec"), left)
    return left


def see(s: Scenario, **options: Any) -> Seen:
    """Run a scenario. Collective."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        left = build(s)
        body, scheme, record = left["body"], left["scheme"], Record()
        record.look(scheme)
        adapt = di.StepControl() if s.adapt else None
        t_end = s.late + (s.duration or s.steps * scheme.dt)
        run = di.simulate(
            scheme, t_end=t_end, observers=[record.look], progress=False, adapt=adapt, **options
        )
    record.arrays()
    up = np.eye(s.gdim)[-1]
    if s.ratio and "divided" in s.takes:
        parts = [np.arange(body.size // s.gdim)]
        told = [str(each.message) for each in warned]
        return Seen(s, program.Frame(s), body, scheme, left["contact"], run, record, parts, told, left["far"])
    fields = [body.rigid_velocity(up, cells=name) for name in program.names(s)]
    parts = [np.flatnonzero(field[s.gdim - 1 :: s.gdim]) for field in fields]
    told = [str(each.message) for each in warned]
    return Seen(s, program.Frame(s), body, scheme, left["contact"], run, record, parts, told)

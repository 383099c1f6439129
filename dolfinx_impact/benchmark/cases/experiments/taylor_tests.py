"""Taylor tests that were measured: the final lengths and faces of metal cylinders that hit a rigid wall.

Axisymmetric, quadrilaterals with mean dilatation, metals by Johnson and Cook with constants of other tests, a
flat wall that only pushes. Not in the model: an elastic wall, damage, texture. The case runs every shot of a
set, by speed: its history, steps and numbers of the contact are those of the last, fastest one, and
``balance_residual`` is the largest of all.

The final length is the mean over the last tenth of a run, about a period of the ringing of what has stopped.
It is the number without tuning. The face depends on the lubrication, which no source tells: friction 0.1
in the place of none narrows it by 6 to 8 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from .... import Result, Solid
from ....integrators import Option, Scheme
from ....output.observer import ObserverLike
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts
from ...run_log import Steps
from ..materials import common as materials
from ..materials import meshes, taylor_bar
from ..solids import common
from . import taylor_data
from .taylor_data import METALS, Shot

#: Time of a run over the length of the cylinder [s/m], by which all of it has come to rest; a hot one yields
#: at a smaller stress, which stops it later.
DURATION, HOT_DURATION = 3.5e-3, 5e-3
#: Largest part by which the length may still change, from one tenth of a run to the last.
SETTLED = 1e-3
_OWN = " (default that of the metal)", " (default that of each shot)"
PARAMETERS = {
    "set": Option("copper-wilkins", "-", "metal and source of the shots", tuple(taylor_data.SETS)),
    "shots": Option(0, "-", "number of shots, first and last by speed and others between; 0: all",
                    interval="[0, inf)"),
    **common.friction(0.0),
    "cells": Option(16, "-", "across the diameter, even", interval="[2, inf)"),
    "C": Option(None, "-", "coefficient of the rate" + _OWN[0], interval="[0, inf)"),
    "temperature": Option(None, "K", "at the start" + _OWN[1], interval="(0, inf)"),
    **materials.times("3.5 us for each mm of length, hot 5 us", 50),
}  # fmt: skip


class LengthLog(RunLog):
    """The length of the cylinder at every step.

    Attributes:
        times, lengths: [s, m]
    """

    state_names = (*RunLog.state_names, "times", "lengths")

    def _prepare(self, setup: Setup, p: Values) -> None:
        self._heights = setup.body.x[setup.beside, 1]
        self.times: list[float] = []
        self.lengths: list[float] = []

    def _follow(self, steps: Steps) -> None:
        z = self._heights + steps.u[: steps.count, 1::2]
        ends = np.stack([each.max(axis=1, initial=-np.inf) for each in (z, -z)])
        self._comm.Allreduce(MPI.IN_PLACE, ends, op=MPI.MAX)
        self.lengths.extend(map(float, ends.sum(axis=0)))
        self.times.extend(map(float, steps.t[: steps.count]))

    def length(self, tenth: int = 10) -> float:
        """Mean over a tenth of the run, the last by default: cylinders ring, by up to 0.4 % of it [m]."""
        times, end = np.array(self.times), self.times[-1]
        inside = (times >= (tenth - 1) / 10 * end) & (times <= tenth / 10 * end)
        return float(np.mean(np.array(self.lengths)[inside])) if inside.any() else self.lengths[-1]

    def change(self) -> float:
        """Part by which the length differs between the last two tenths of the run."""
        return abs(self.length(9) / self.length() - 1)


@dataclass(eq=False, repr=False)
class Series(Problem):
    """The run of a cylinder after those of the slower ones of its set.

    Attributes:
        earlier: The results of these, after :meth:`simulate`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.earlier: list[Results] = []

    def simulate(self, observers: Sequence[ObserverLike] | None = None, **how: Any) -> Result:
        """All runs, the history of the last one; see :meth:`.Problem.simulate`. Collective."""
        before = self.case.before  # type: ignore[attr-defined]
        if before and (how.get("checkpoint") is not None or how.get("restart") is not None):
            raise ValueError(
                f"{len(before) + 1} shots are as many runs, and a checkpoint holds one: take one of them, "
                "--set shots=1, or all without a checkpoint"
            )
        for make in before:
            problem = make()
            self.earlier.append(problem.judge(problem.simulate(**how))[0])
        return super().simulate(observers, **how)


class Cylinder(materials.MetalCase):
    """The last one of some shots; the makers of the runs before it."""

    parameters = PARAMETERS
    problem_type = Series
    log_type = LengthLog

    def __init__(self, shots: Sequence[Shot] = (), before: Sequence[Callable[[], Problem]] = ()) -> None:
        super().__init__()
        self.shots, self.before = shots, before

    def _refuse(self, p: Values) -> None:
        if p["cells"] % 2:
            raise ValueError(f"cells must be even, half of them beside the axis, but is {p['cells']}")

    def end(self, p: Values, scheme: Scheme) -> float:
        """The time by which the cylinder has come to rest [s]."""
        shot = self.shots[-1]
        return shot.L0 * (HOT_DURATION if _start(shot, p) > taylor_data.ROOM else DURATION)

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Cylinder and wall; its outline is recorded. Collective."""
        shot = self.shots[-1]
        metal, named = (
            METALS[shot.metal],
            meshes.bar("axisymmetric", shot.D0 / p["cells"], shot.L0, shot.D0 / 2),
        )
        law, start = metal.law(p["C"]), _start(shot, p)
        body = Solid(named, density=metal.rho, law=law, start_temperature=start, **common.symmetric(2))
        outline = np.unique(np.concatenate([body.nodes(part) for part in ("face", "side", "end")]))
        outline = outline[outline < body.owned // body.block]
        wall, v0 = common.floor(body, "face", p), common.towards(body, {"v0": shot.v})
        return Setup(system=body, contact=wall, record=body.rows(outline), v0=v0, beside=outline)

    def measure(self, run: Problem) -> Results:
        """Numbers of the contact, and of every shot. Collective."""
        assert isinstance(run, Series)
        residuals = [each["balance_residual"] for each in (*run.earlier, run.results)]
        shots = [shot for each in run.earlier for shot in each["shots"]]
        every = {"balance_residual": max(residuals), "shots": [*shots, self._last(run)]}
        return {**run.log.numbers(), **every}

    def _last(self, run: Problem) -> Results:
        """What the run predicts beside what was measured of its shot. Collective."""
        shot, log = self.shots[-1], run.log
        radius, _ = taylor_bar.shape(run.integrator.system, run.integrator.u)
        return {
            "v": shot.v,
            "L0": shot.L0,
            "D0": shot.D0,
            "temperature": _start(shot, run.p),
            "length_ratio": log.length() / shot.L0,
            "length_ratio_measured": shot.length_ratio,
            "face_ratio": 2 * radius / shot.D0,
            "face_ratio_measured": shot.face_ratio,
            "length_change": log.change(),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether all cylinders have come to rest, and the lengths of those that are claimed."""
        found = run.results["shots"]
        words = "lengths have settled (largest change from the last tenth but one of a run to the last)"
        yield Verdict.below(words, max(each["length_change"] for each in found), SETTLED)
        for shot, each in zip(self.shots, found):
            if (part := taylor_data.allowed(shot)) is not None:
                words = f"final length over the first is that measured at {shot.v:g} m/s"
                yield Verdict.equal(words, each["length_ratio"], shot.length_ratio, part * shot.length_ratio)


def _start(shot: Shot, p: Values) -> float:
    """Temperature at the start [K]."""
    return float(shot.temperature if p["temperature"] is None else p["temperature"])


class TaylorTests(Cylinder):
    """Cylinders of copper, steel and aluminium, cold and hot, hit a rigid wall; their lengths were measured.

    Metals by Johnson and Cook with constants of other tests: nothing is fitted. A run is a set of shots.
    """

    def make(self, scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
        """The fastest shot, started; those before it are made by its :meth:`Series.simulate`. Collective."""
        self.check(p)
        shots, how = taylor_data.picked(p["set"], p["shots"]), (scheme, dict(p), allow_unstable)
        before = [partial(Cylinder([each]).make, *how) for each in shots[:-1]]
        return Cylinder(shots, before).make(scheme, p, allow_unstable)

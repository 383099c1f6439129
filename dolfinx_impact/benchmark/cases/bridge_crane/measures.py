"""Measures of the claims on the bridge crane: runs, wheels, impacts, oscillations, CPU time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from ....output.observer import Observer
from ... import claim
from ...claim import FailedRun, Row, Run, Runs
from ...convergence import at_times, norm35
from ...run_log import RunLog
from . import case

CASE = "bridge-crane"
CD, HATI = "cd-lagrange", "hati"
#: The paper's explicit step [s], its ratio, and a higher one for the small explicit part.
PAPER_STEP, RATIO, HIGH_RATIO = 1e-3 / 3500, 100, 350
WINDOW = 2e-4  #: End of the window of the paper's Fig. 17 [s].
#: Part of an axis that a line in a figure is wide; and what two curves differ by that look alike.
LINE, ALIKE = 0.01, 0.05
OSCILLATION = 200.0  #: Oscillations are what is faster [Hz]: ten times the highest frequency of the record.
_SAMPLE = 1e-3  #: Distance of the samples of long runs [s].


@dataclass(frozen=True)
class Shaking:
    """How the crane is shaken: once with the paper's steps, once with coarser ones and all samples."""

    record: str = "builtin"  #: Acceleration of the ground,
    t_end: float = 1.0  #: and how long it lasts [s].
    h: float = PAPER_STEP  #: Explicit step [s],
    ratio: int = RATIO  #: and ratio with the paper's explicit part,
    high: int = HIGH_RATIO  #: and with the small one.
    step: float = 1e-5  #: The coarser step, of which each is a sample [s],
    ratios: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 350)  #: and ratios compared with it.
    damped: float = 0.7  #: Length of the run with numerical damping [s],
    timed: float = 0.05  #: and of those whose CPU time is measured [s].


REPORT = Shaking()


#: A row of the table of claims, whose measure is to be given the shaking ``s`` too.
row: Callable[..., Callable[..., Row]] = partial(partial, claim.row)


def explicit(runs: Runs, s: Shaking) -> Run:
    """Explicit throughout, with the small step; samples 1 ms apart."""
    return runs(CASE, CD, h=s.h, t_end=s.t_end, record=s.record, every=max(1, round(_SAMPLE / s.h)))


def divided(runs: Runs, s: Shaking, partition: str = "paper") -> Run:
    """HATI with the small step; the paper's explicit part and ratio, or the small one and the high ratio."""
    return of_ratio(runs, s, partition, s.ratio if partition == "paper" else s.high, s.h)


def of_ratio(runs: Runs, s: Shaking, partition: str, ratio: int, h: float | None = None) -> Run:
    """HATI with any ratio and by default the coarser step; samples 1 ms apart, or a coarse step."""
    h = h or s.step
    settings = {"h": h, "partition": partition, "ratio": ratio, "every": max(1, round(_SAMPLE / h / ratio))}
    return runs(CASE, HATI, t_end=s.t_end, record=s.record, **settings)


def sampled(runs: Runs, s: Shaking, scheme: str = CD, *, h: float | None = None, **more: Any) -> Run:
    """A run of the whole crane with the coarser step, every step a sample."""
    return runs(CASE, scheme, **{"h": h or s.step, "t_end": s.t_end, "record": s.record, **more})


def apart(run: Run, true: Run, name: str, until: float = np.inf) -> float:
    """Norm (94) of an energy, or ``u``, ``v_t`` of all wheels, at the rarer samples before ``until`` [s]."""
    times = min((run["t"], true["t"]), key=len)
    # The last coarse step may end later than the other run.
    times = times[times < min(until, run["t"][-1] + 1e-9, true["t"][-1] + 1e-9)]
    ours, reference = (np.ravel(at_times(each["t"], each[name], times)) for each in (run, true))
    return norm35(ours, reference)


def largest_energy(run: Run) -> float:
    """The largest kinetic, internal or external energy in the samples [J]."""
    return max(float(np.abs(run[name]).max()) for name in ("kinetic", "internal", "external"))


def lift_off(run: Run) -> float:
    """The first time at which no wheel presses on its girder [s]; the end for none."""
    free = np.flatnonzero(~run["r"].any(axis=1))
    return float(run["t"][free[0] if free.size else -1])


def closures(run: Run, wheel: int = 0) -> NDArray:
    """The samples in which a wheel touches and did not in the one before; every step is a sample."""
    touching = run["r"][:, wheel] > 0
    return 1 + np.flatnonzero(touching[1:] & ~touching[:-1])


def touches(run: Run, wheel: int = 0) -> NDArray:
    """How many steps the contacts after each of the :func:`closures` last."""
    touching = np.append(run["r"][:, wheel] > 0, False)
    ends = 1 + np.flatnonzero(touching[:-1] & ~touching[1:])
    began = closures(run, wheel)
    return np.array([ends[ends > k][0] - k for k in began], dtype=np.intp)


def first_impact(run: Run) -> int:
    """The sample in which a wheel first comes down; a FailedRun where none does."""
    impacts = closures(run)
    if not impacts.size:
        raise FailedRun("no wheel comes down")
    return int(impacts[0])


def oscillation(run: Run, above: float = OSCILLATION) -> NDArray:
    """The part of the wheels' velocities above a frequency [Hz], shape (n, 8) [m/s]."""
    rate = 1 / float(run["t"][1] - run["t"][0])
    filtered = signal.butter(4, above, "highpass", fs=rate, output="sos")
    return np.asarray(signal.sosfiltfilt(filtered, run["v_t"], axis=0))


def rms(values: NDArray) -> float:
    """Root of the mean square; 0 for none."""
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


class _Contacts(RunLog):
    """Time, impulse and gap of the first wheel in every time step, within a window of time."""

    def __init__(self, integrator: Any, window: tuple[float, float]) -> None:
        super().__init__(integrator)
        self._window, self.steps = window, []  # type: ignore[var-annotated]

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        inside = (t >= self._window[0]) & (t <= self._window[1])
        self.steps.append(np.column_stack([t, r[:, 0], gap[:, 0]])[inside])


def zoomed(runs: Runs, scheme: str, window: tuple[float, float], **settings: Any) -> NDArray:
    """Times [s], impulses [N s] and gaps [m] of a wheel in the fine steps of a window, shape (n, 3)."""
    return _zoomed(*_given(runs, scheme, **settings), window)


@lru_cache(maxsize=8)
def _zoomed(scheme: str, parameters: str, window: tuple[float, float]) -> NDArray:
    problem = case.CraneCase().make(scheme, {**json.loads(parameters), "t_end": window[1]})
    log = _Contacts(problem.integrator, window)
    problem.simulate([log], every=10**6, energies=False)
    return np.vstack(log.steps)


def _given(runs: Runs, scheme: str, **settings: Any) -> tuple[str, str]:
    """The scheme, and all parameters of a run with it: those of a short one."""
    short = runs(CASE, scheme, **{**settings, "t_end": 10 * settings["h"]})
    return runs.scheme(scheme), json.dumps(dict(short.summary["parameters"]), sort_keys=True)


class _CpuTimes(Observer):
    """Notes the CPU time whenever steps are handed on."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def follow(self, steps: Any) -> None:
        self.times.append(time.process_time())


def speeds(runs: Runs, s: Shaking, h: float, *parts: tuple[str, int]) -> NDArray:
    """CPU time of the explicit run over those of HATI with some partitions and ratios; energies on."""
    chosen = [(CD, {}), *((HATI, {"partition": partition, "ratio": ratio}) for partition, ratio in parts)]
    whole, *others = _cpu_times(tuple(_given(runs, name, h=h, **more) for name, more in chosen), s.timed)
    return whole / np.array(others)


@lru_cache(maxsize=8)
def _cpu_times(chosen: tuple[tuple[str, str], ...], timed: float) -> tuple[float, ...]:
    """CPU time of the steps alone [s]: the least of two turns, in which all are run."""
    turns = []
    for turn in range(3):
        # The first turn is short: it loads what is compiled.
        ends = [timed if turn else min(timed, 40 * HIGH_RATIO * json.loads(p)["h"]) for _, p in chosen]
        turns.append([_cpu_time(*given, end) for given, end in zip(chosen, ends)])
    return tuple(map(min, zip(*turns[1:])))


def _cpu_time(scheme: str, parameters: str, t_end: float) -> float:
    problem = case.CraneCase().make(scheme, {**json.loads(parameters), "t_end": t_end})
    clock = _CpuTimes()
    problem.simulate([*problem.observers(), clock], every=10**6)
    return clock.times[-1] - clock.times[0]

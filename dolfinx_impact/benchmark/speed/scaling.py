"""How solids scale from one rank to two, what their set-up takes and how much memory they need.

Measurements take turns, and the shortest time counts: other work on the machine never makes it faster.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mpi4py import MPI

from ..report.wording import faster
from .ranks import KINDS

ROUNDS = 5
#: Time that a job steps in each round, and until when its set-up and a round must be over [s].
_SECONDS, _SETUP_LIMIT, _ROUND_LIMIT = 0.5, 900.0, 120.0
_END = 10.0  #: Patience with a job that was told to end [s].
#: What would make mpirun take itself for a part of the MPI job that this process is.
_OF_THE_JOB = ("PMIX_", "OMPI_COMM_WORLD_", "PMI_", "HYDRA_", "MPIR_")
#: Ranks may move to a core that is free: the machine may have other work.
_UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none"}
_PACKAGE = Path(__file__).resolve().parents[2]


def measure(
    sizes: Iterable[int], kinds: Iterable[str] = tuple(KINDS), rounds: int = ROUNDS
) -> dict[str, dict[str, float]]:
    """Print and return what was measured, by kind of body and number of dofs, or a RuntimeError of a job."""
    check()
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"
    print(f"CD-Lagrange with contact on a plane, the best of {rounds} rounds; {machine}", flush=True)
    return {f"{kind}, {size}": _scaling(kind, size, rounds) for kind in kinds for size in sizes}


def check() -> None:
    """Raise a ValueError on several ranks, a RuntimeError without ``mpirun``."""
    if (ranks := MPI.COMM_WORLD.size) > 1:
        raise ValueError(f"scaling starts its own ranks: run it without mpirun, not on {ranks} ranks")
    if shutil.which("mpirun") is None:
        raise RuntimeError("scaling needs mpirun, which is not on PATH: install MPI's launcher")


def _scaling(kind: str, size: int, rounds: int) -> dict[str, float]:
    """Strong scaling, against two processes that know nothing of each other, then weak scaling."""
    with Job(kind, size, 1) as one:
        with Job(kind, size, 2) as two, Job(kind, size // 2, 1) as left, Job(kind, size // 2, 1) as right:
            jobs = {"one": [one], "two": [two], "apart": [left, right]}
            told = {"one": one.setup(), "two": two.setup(), "apart": left.setup(), "": right.setup()}
            strong = _interleave(jobs, rounds)
        with Job(kind, size, 2, doubled=True) as large:
            told["large"] = large.setup()
            weak = _interleave({"one": [one], "large": [large]}, rounds)
    found = _of_steps(told, strong, weak) | _of_setup(told)
    _print(kind, told, found)
    return found


def _of_steps(told: dict[str, Any], strong: dict[str, Any], weak: dict[str, Any]) -> dict[str, float]:
    dofs = told["one"]["dofs"]
    found: dict[str, float] = {"dofs": dofs}
    for what in ("step", "run"):
        alone, two = strong["one"][what], strong["two"][what]
        found |= {f"{what}, ns, 1 rank": 1e9 * alone / dofs, f"{what}, ns, 2 ranks": 1e9 * two / dofs}
        found[f"{what}, speed-up"] = alone / two
        # Of twice the work: what two ranks get done in the time that one needs for half of it.
        share = told["large"]["dofs"] / dofs / 2
        found[f"{what}, weak efficiency"] = share * weak["one"][what] / weak["large"][what]
    halves = (told["apart"]["dofs"] + told[""]["dofs"]) / dofs
    found["step, speed-up of the machine"] = halves * strong["one"]["step"] / strong["apart"]["step"]
    found["load"] = float(os.getloadavg()[0])
    return found


def _of_setup(told: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, ranks in (("one", "1 rank"), ("two", "2 ranks")):
        setup, dofs = told[name], told[name]["dofs"]
        mesh, whole = setup["memory"]["mesh"], setup["memory"]["first step"]
        stages = {**setup["seconds"], "set-up": sum(setup["seconds"].values())}
        found |= {f"{stage}, s, {ranks}": seconds for stage, seconds in stages.items()}
        memory = {"mesh": mesh, "body and scheme": whole - mesh, "most": setup["most"]}
        found |= {f"{what}, bytes a dof, {ranks}": held / dofs for what, held in memory.items()}
        share = setup["most_points"] * int(ranks[0]) / setup["points"]
        found[f"contact points of a rank over the mean, {ranks}"] = share
    return found


def _print(kind: str, told: dict[str, Any], found: dict[str, float]) -> None:
    def pair(key: str, digits: int, name: str = "") -> str:
        numbers = " ".join(f"{found[f'{key}, {ranks}']:7.{digits}f}" for ranks in ("1 rank", "2 ranks"))
        return f"  {f'{name or key} on 1 and 2 ranks':<44} {numbers}"

    points, large = told["one"]["points"], told["large"]["dofs"]
    print(f"\n{kind}, {found['dofs']:.0f} dofs, {points} contact points, load {found['load']:.1f}")
    for what, name in (("step", "step"), ("run", "step with energies")):
        ratio = found[f"{what}, speed-up"]
        numbers = pair(f"{what}, ns", 1, f"{name}, ns a dof")
        print(f"{numbers}   {faster(ratio)}, efficiency {ratio / 2:.0%}")
    machine = found["step, speed-up of the machine"]
    print(f"  {'two processes with half of it each':<60}   {faster(machine)}")
    weak = ", ".join(f"{found[f'{what}, weak efficiency']:.0%}" for what in ("step", "run"))
    print(f"  weak scaling, {large} dofs on 2 ranks: efficiency {weak} with energies")
    for stage in (*told["one"]["seconds"], "set-up"):
        print(pair(f"{stage}, s", 2))
    for what in ("mesh", "body and scheme", "most"):
        print(pair(f"{what}, bytes a dof", 0))
    uneven = "contact points of a rank over the mean"
    print(f"  {uneven:<44} {'':>7} {found[f'{uneven}, 2 ranks']:7.2f}", flush=True)


def _interleave(jobs: dict[str, list[Job]], rounds: int) -> dict[str, dict[str, float]]:
    """The shortest times per step of each group of jobs; those of a group step at the same time."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, group in jobs.items():
            for job in group:
                job.order(_SECONDS)
            answers = [job.answer(_ROUND_LIMIT) for job in group]
            now = {what: max(each[what] for each in answers) for what in answers[0]}
            best[name] = {what: min(now[what], best.get(name, now)[what]) for what in now}
    return best


class Job:
    """A job of :mod:`.ranks` with a kind and a number of dofs; ``mpirun`` runs it in a ``with`` block."""

    def __init__(self, kind: str, size: int, ranks: int, *, doubled: bool = False) -> None:
        self._what = f"{kind} with {size} dofs on {ranks} rank{'s' if ranks > 1 else ''}"
        body = [f"{__package__}.ranks", kind, str(size), str(int(doubled))]
        self._command = ["mpirun", "-n", str(ranks), sys.executable, "-m", *body]

    def __enter__(self) -> Job:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_JOB)}
        paths = os.pathsep.join(filter(None, [str(_PACKAGE), kept.get("PYTHONPATH")]))
        self._errors = tempfile.TemporaryFile("w+")
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        own = {**pipes, "env": kept | _UNBOUND | {"PYTHONPATH": paths}, "start_new_session": True}
        # Without buffers, since answers are waited for by their file descriptor.
        self._process = subprocess.Popen(self._command, bufsize=0, **own)
        self._input: Any = self._process.stdin
        self._output: Any = self._process.stdout
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._input.close()  # which tells it to end
        # The ranks share mpirun's group; mpirun had better end them itself.
        for number in (*([0] if kind is None else []), signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self._process.pid, number)
                self._process.wait(_END)
                break
        self._process.wait()
        self._output.close()
        self._errors.close()

    def setup(self) -> dict[str, Any]:
        """Facts of the set-up, as the job tells them."""
        return self.answer(_SETUP_LIMIT)

    def order(self, seconds: float) -> None:
        """Have it make steps for about so long [s]."""
        with suppress(BrokenPipeError):  # it has ended, as its silence will tell
            self._input.write(f"{round(1e3 * seconds)}\n".encode())

    def answer(self, limit: float) -> dict[str, Any]:
        """Its next answer; a RuntimeError when it has ended, or did not answer within ``limit`` [s]."""
        until = time.monotonic() + limit
        while select.select([self._output], [], [], max(0.0, until - time.monotonic()))[0]:
            line = self._output.readline()
            if line.startswith(b"{"):  # mpirun may have something to say as well
                return json.loads(line)
            if not line:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(1.0)
                self._errors.seek(0)
                lines = [each.strip() for each in self._errors if each.strip()]
                # What Python said, without what mpirun says of it.
                told = [each for each in lines if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)\b", each)]
                said = " / ".join(told[-1:] or lines[-6:])
                raise RuntimeError(f"{self._what} ended early: {said or 'it said nothing'}")
        raise RuntimeError(f"{self._what}: no answer within {limit:g} s")

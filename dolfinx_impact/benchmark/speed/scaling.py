"""How steps of solids scale from one rank to two, what their set-up takes and how much memory they need.

The jobs live beside each other and wait without using their cores; measurements take turns in rounds, and
the shortest time of each job counts: other work on the machine never makes it faster.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mpi4py import MPI

from ..report.wording import faster
from .ranks import KINDS

ROUNDS = 5
#: Time that a job steps in each round, and until when its set-up and a round must be over [s].
_SECONDS, _SETUP_LIMIT, _ROUND_LIMIT = 0.5, 900.0, 120.0
#: Patience with a job that was told to end [s].
_END = 10.0
#: What would make mpirun take itself for a part of the MPI job that this process is.
_OF_THE_JOB = ("PMIX_", "OMPI_COMM_WORLD_", "PMI_", "HYDRA_", "MPIR_")
#: Ranks may move to a core that is free: the machine may have other work.
_UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none"}
_PACKAGE = Path(__file__).resolve().parents[2]


def measure(
    sizes: Iterable[int], kinds: Iterable[str] = tuple(KINDS), rounds: int = ROUNDS
) -> dict[str, dict[str, float]]:
    """Print and return what was measured, by kind and size; starts ``mpirun`` itself.

    Args:
        sizes: Numbers of dofs.
        kinds: Which of :data:`.ranks.KINDS`.
        rounds: Number of rounds.

    Raises:
        ValueError: On several ranks.
        RuntimeError: No ``mpirun``, or a job that failed or took too long.
    """
    check()
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"
    print(f"CD-Lagrange with contact on a plane, the best of {rounds} rounds; {machine}", flush=True)
    return {f"{kind}, {size}": _scaling(kind, size, rounds) for kind in kinds for size in sizes}


def check() -> None:
    """Refuse what cannot be measured here.

    Raises:
        ValueError: On several ranks.
        RuntimeError: No ``mpirun``.
    """
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
    found = {"dofs": told["one"]["dofs"]} | _of_steps(told, strong, weak) | _of_setup(told)
    _print(kind, told, found)
    return found


def _of_steps(told: dict[str, Any], strong: dict[str, Any], weak: dict[str, Any]) -> dict[str, float]:
    dofs = told["one"]["dofs"]
    found: dict[str, float] = {}
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
    both = [
        {name[: -len(end)]: value for name, value in found.items() if name.endswith(end)}
        for end in (", 1 rank", ", 2 ranks")
    ]
    points, large = told["one"]["points"], told["large"]["dofs"]
    print(f"\n{kind}, {found['dofs']:.0f} dofs, {points} contact points, load {found['load']:.1f}")
    for what, name in (("step", "step"), ("run", "step with energies")):
        ratio = found[f"{what}, speed-up"]
        numbers = _pair(name, "ns a dof", both, 1, f"{what}, ns")
        print(f"{numbers}   {faster(ratio)}, efficiency {ratio / 2:.0%}")
    machine = found["step, speed-up of the machine"]
    print(f"  {'two processes with half of it each':<60}   {faster(machine)}")
    weak = ", ".join(f"{found[f'{what}, weak efficiency']:.0%}" for what in ("step", "run"))
    print(f"  weak scaling, {large} dofs on 2 ranks: efficiency {weak} with energies")
    rows = [(stage, "s", 2) for stage in (*told["one"]["seconds"], "set-up")]
    rows += [(what, "bytes a dof", 0) for what in ("mesh", "body and scheme", "most")]
    for name, unit, digits in rows:
        print(_pair(name, unit, both, digits, f"{name}, {unit}"))
    uneven = both[1]["contact points of a rank over the mean"]
    print(f"  {'contact points of a rank over the mean':<44} {'':>7} {uneven:7.2f}", flush=True)


def _pair(name: str, unit: str, both: list[dict[str, float]], digits: int, key: str) -> str:
    numbers = " ".join(f"{each[key]:7.{digits}f}" for each in both)
    return f"  {f'{name}, {unit} on 1 and 2 ranks':<44} {numbers}"


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
    """A job of :mod:`.ranks`, started by ``mpirun``; a ``with`` block ends it.

    Args:
        kind: One of :data:`.ranks.KINDS`.
        size: Dofs.
        ranks: Ranks.
        doubled: Whether the body is twice as large.
    """

    def __init__(self, kind: str, size: int, ranks: int, *, doubled: bool = False) -> None:
        self._what = f"{kind} with {size} dofs on {ranks} rank{'s' if ranks > 1 else ''}"
        module = "dolfinx_impact.benchmark.speed.ranks"
        self._command = ["mpirun", "-n", str(ranks), sys.executable, "-m", module, kind, str(size)]
        self._command.append(str(int(doubled)))
        self._lines: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> Job:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_JOB)}
        paths = os.pathsep.join(filter(None, [str(_PACKAGE), kept.get("PYTHONPATH")]))
        environment, pipe = kept | _UNBOUND | {"PYTHONPATH": paths}, subprocess.PIPE
        pipes: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "start_new_session": True}
        self._process = subprocess.Popen(self._command, env=environment, text=True, **pipes)
        self._errors: list[str] = []
        self._readers = [threading.Thread(target=each, daemon=True) for each in (self._read, self._listen)]
        for reader in self._readers:
            reader.start()
        return self

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _listen(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()  # which tells it to end
        except BrokenPipeError:
            pass
        # The ranks share mpirun's group; mpirun had better end them itself.
        for number in (*([None] if kind is None else []), signal.SIGTERM, signal.SIGKILL):
            try:
                if number is not None:
                    os.killpg(self._process.pid, number)
                self._process.wait(_END)
                return
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()

    def setup(self) -> dict[str, Any]:
        """What the job tells of its set-up."""
        return self.answer(_SETUP_LIMIT)

    def order(self, seconds: float) -> None:
        """Have it make steps for about so long [s]."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{round(1e3 * seconds)}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, as its silence will tell

    def answer(self, limit: float) -> dict[str, Any]:
        """Its next answer.

        Raises:
            RuntimeError: When it has ended, or did not answer within ``limit`` [s].
        """
        until = time.monotonic() + limit
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"{self._what}: no answer within {limit:g} s") from None
            if not line:
                self._readers[1].join(1.0)
                lines = [each.strip() for each in self._errors if each.strip()]
                # What Python said, without what mpirun says of it.
                told = [each for each in lines if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)\b", each)]
                said = " / ".join(told[-1:] or lines[-6:])
                raise RuntimeError(f"{self._what} ended early: {said or 'it said nothing'}")
            if line.startswith("{"):  # mpirun may have something to say as well
                return json.loads(line)

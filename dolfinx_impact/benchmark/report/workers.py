"""Processes that do independent tasks beside each other for rank 0; no MPI among them."""

from __future__ import annotations

import importlib
import json
import os
import queue
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from mpi4py import MPI

from ...parallel import OF_THE_JOB
from ...simulation.loop import Interrupted, stop_signals

T = TypeVar("T")

Task = tuple[str, ...]  #: What a process does: words that say which of the tasks it knows.
_PATIENCE = 0.2  #: Seconds between two looks at whether to go on.
_START = f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); import {__name__} as w; w.serve()"


class Workers(AbstractContextManager["Workers"]):
    """``count`` workers that live until the ``with`` block ends, however it ends.

    Each is a Python process with one thread and a session of its own, so that signals of the terminal reach
    this process alone; a worker ends when this process does. The function of a task is what ``maker``,
    ``module:function``, returns for ``argument`` (sent as JSON). ``folder`` is for temporary files.
    """

    def __init__(self, count: int, maker: str, argument: Any, folder: Path, cores: Sequence[int]) -> None:
        self._hello = {"maker": maker, "argument": argument, "cores": list(cores)}
        self._count, self._folder = count, folder
        self._running: dict[int, subprocess.Popen] = {}
        self._doing: dict[int, tuple[Task, float]] = {}

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.communicate()

    def do(self, lanes: Sequence[Sequence[Task]], poll: Callable[[], None]) -> Iterator[tuple[Task, Any]]:
        """Yield tasks with answers, ``{"ended": status}`` where the process ended; ``poll`` may stop it.

        Tasks in a lane share runs.
        """
        schedule = Schedule(lanes)
        with selectors.DefaultSelector() as selector:
            for place, process in self._running.items():  # from an earlier call
                selector.register(process.stdout, selectors.EVENT_READ, place)  # type: ignore[arg-type]
            for place in range(min(self._count, schedule.left)):
                self._hand_out(place, schedule, selector)
            while self._doing:
                poll()
                for key, _ in selector.select(_PATIENCE):
                    place = key.data
                    line = self._running[place].stdout.readline()  # type: ignore[union-attr]
                    task, _ = self._doing.pop(place)
                    if line.endswith(b"\n"):
                        answer = json.loads(line)
                    else:
                        selector.unregister(key.fileobj)
                        process = self._running.pop(place)
                        process.kill()  # of one that closed its pipe and lives, nothing more can be known
                        process.communicate()
                        answer = {"ended": process.returncode}
                    self._hand_out(place, schedule, selector)
                    yield task, answer

    def running(self) -> list[tuple[Task, float]]:
        """The tasks in progress and their seconds."""
        now = time.perf_counter()
        return [(task, now - begun) for task, begun in self._doing.values()]

    def _hand_out(self, place: int, schedule: Schedule, selector: Any) -> None:
        task = schedule.next(place)
        if task is None:
            return
        if place not in self._running:
            kept = {name: value for name, value in os.environ.items() if not name.startswith(OF_THE_JOB)}
            own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(self._folder)}
            command = [sys.executable, "-c", _START, json.dumps(sys.path)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = subprocess.Popen(command, env=kept | own, start_new_session=True, **pipes)
            self._running[place] = process
            _send(process.stdin, self._hello)
            selector.register(process.stdout, selectors.EVENT_READ, place)
        with suppress(BrokenPipeError):  # it has ended, as its silence will tell
            _send(self._running[place].stdin, task)
        self._doing[place] = task, time.perf_counter()


class Schedule:
    """The order of the tasks in ``lanes``, as in :meth:`Workers.do`."""

    def __init__(self, lanes: Sequence[Sequence[Task]]) -> None:
        self._lanes = [list(lane) for lane in lanes]
        self._lane: dict[int, int] = {}  # of each worker

    @property
    def left(self) -> int:
        """Tasks that nobody does yet."""
        return sum(map(len, self._lanes))

    def next(self, worker: int) -> Task | None:
        """The next task for a worker: of its lane, of the first free one, or from the end of the fullest."""
        mine = self._lane.get(worker)
        if mine is None or not self._lanes[mine]:
            free = [i for i, lane in enumerate(self._lanes) if lane and i not in self._lane.values()]
            if not free:
                fullest = max(self._lanes, key=len, default=[])
                return fullest.pop() if fullest else None
            mine = self._lane[worker] = free[0]
        return self._lanes[mine].pop(0)


def _send(stream: IO[bytes] | None, what: Any) -> None:
    assert stream is not None
    stream.write(json.dumps(what).encode() + b"\n")
    stream.flush()


def serve() -> None:
    """Do the tasks that come by the standard input, until it ends; what they print goes to stderr."""
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    hello = json.loads(given.readline())
    os.sched_setaffinity(0, hello["cores"])
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(given, tasks), daemon=True).start()
    module, _, name = hello["maker"].partition(":")
    do = getattr(importlib.import_module(module), name)(hello["argument"])
    while True:
        _send(answers, do(tasks.get()))


def _listen(given: IO[bytes], tasks: queue.SimpleQueue[Task]) -> None:
    """Queue the tasks; at their end, or that of the sender, the process ends whatever it does."""
    for line in given:
        tasks.put(json.loads(line))
    os._exit(0)


# -- what the ranks of this job do meanwhile

_DONE = 1 << 16  #: Larger than the number of any signal.


def on_first_rank(work: Callable[[Callable[[], None]], T]) -> T:
    """``work(poll)`` on rank 0, its result or its exception on all ranks; a signal to any stops it.

    ``poll`` raises Interrupted then; what ``work`` raises instead, with what it has written, is raised.
    """
    comm, result, error, left = MPI.COMM_WORLD, None, None, ""
    with stop_signals() as caught:
        heard = 0

        def listen(say: int = 0) -> None:
            """Hear the loudest that any rank says, waiting for it asleep. Collective."""
            nonlocal heard
            said, loudest = np.array([say or max(caught, default=0)]), np.zeros(1, dtype=int)
            request = comm.Iallreduce(said, loudest, op=MPI.MAX)
            while not request.Test():
                time.sleep(0.01)
            heard = int(loudest[0])

        def poll() -> None:
            listen()
            if heard:
                raise Interrupted(heard)

        if comm.rank == 0:
            try:
                result = work(poll)
            except Interrupted as stop:
                left = stop.left
            except Exception as stopped:
                error = stopped
            if not heard:
                listen(_DONE)
        else:
            while not heard:
                listen()
    if heard != _DONE:
        raise Interrupted(heard, comm.bcast(left, root=0))
    result, error = comm.bcast((result, error), root=0)
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def usable_cores() -> list[int]:
    """Of all ranks on the machine of rank 0, since they sleep meanwhile. Collective."""
    everyone = MPI.COMM_WORLD.allgather((socket.gethostname(), os.sched_getaffinity(0)))
    return sorted(set().union(*(cores for host, cores in everyone if host == everyone[0][0])))

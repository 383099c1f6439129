"""Runs of a study: one after the other, in processes or in groups of the ranks of an MPI job."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from multiprocessing import connection
from typing import Any

import dolfinx.jit
import numpy as np
from mpi4py import MPI

from .. import arguments, parallel
from .._version import __version__
from ..algebra.kernels import logger
from ..output.atomic_file import locked
from ..simulation.stability_monitor import Interrupted, handled, stop_signals
from .records import Records, plain

STARTING = "DOLFINX_IMPACT_STARTS_A_RUN"  #: In the environment of a process that imports the user's script.
NO_GUARD, STOPPED = 97, 2  #: Exit status: the script starts a study; a signal.
_LOOK, _GRACE = 0.1, 10.0  #: Seconds between two looks, and for others to end after Ctrl-C or an error.
_COMPILES = (300, "others may compile the same, all of them slowly")  #: Seconds for a form of DOLFINx.


def make_all(take: Callable[[], int], function: Any, records: Records, comm: MPI.Comm, limit: float) -> int:
    """Make the runs whose numbers rank 0 takes, up to -1; the signal that came, or 0. Collective."""
    own = comm.Dup()
    try:
        with stop_signals() as caught:
            while not caught and (i := own.bcast(take() if comm.rank == 0 else 0)) >= 0:
                try:
                    make(function, records, i, comm, own, limit)
                except Interrupted as stopped:
                    caught.append(stopped.number)
    finally:
        own.Free()
    return max(caught, default=0)


def make(function: Any, records: Records, i: int, comm: MPI.Comm, own: MPI.Comm, limit: float) -> None:
    """Make a run and keep its row, as ``ended.json`` if it exceeded its limit. Collective.

    What is agreed on goes by ``own``, the same ranks: the function may leave its ``comm`` halfway.

    Raises:
        Interrupted: A signal, on all ranks of ``comm``; the run has no row.
    """
    place, parameters, begun = records.place(i), records.parameters[i], time.perf_counter()
    late, caught, results, failed = list[bool](), list[int](), dict[str, Any](), ("", "")

    def stop(number: int, _: Any) -> None:
        caught.append(number)
        if comm.size == 1:  # else when the function returns: other ranks may wait for this one
            raise Interrupted(number)

    def ring(*_: Any) -> None:
        late.append(True)
        signal.raise_signal(signal.SIGTERM)  # to ``simulate``, which stores the run, or to ``stop``

    with contextlib.ExitStack() as stack:
        # A process of a study that was killed may live on for a moment.
        parallel.on_root(own, lambda: stack.enter_context(locked(place)))
        timed = comm.rank == 0 and limit > 0  # else the timer may be another's
        stack.enter_context(handled({signal.SIGINT: stop, signal.SIGTERM: stop}))
        stack.enter_context(handled({signal.SIGALRM: ring} if timed else {}))
        group = parallel.Group(comm)
        try:
            try:
                if timed:
                    signal.setitimer(signal.ITIMER_REAL, limit)
                with parallel.within(group):
                    results = _checked(function(dict(parameters), comm, place), i, records)
            finally:
                if timed:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt as stopped:
            caught.append(getattr(stopped, "number", signal.SIGINT))
        except BaseException as error:
            said = "".join(traceback.format_exception_only(error)).strip()
            failed = said, traceback.format_exc()
        _meet(own, parameters, failed[0])
        everyone = own.allgather((bool(late), max(caught, default=0), failed))
        exceeded, number = (max(each[k] for each in everyone) for k in (0, 1))
        if number and not exceeded:
            raise Interrupted(int(number))
        said, trace = next((each[2] for each in everyone if each[2][0]), ("", ""))
        said = f"more than limit={limit:g} s" if exceeded else said
        row = dict(parameters=parameters, results={} if said else results, error=said, traceback=trace)
        row |= dict(seconds=time.perf_counter() - begun, steps=group.steps)
        row |= dict(version=__version__, module=records.module)
        parallel.on_root(own, lambda: records.keep(i, row, "ended.json" if exceeded else "row.json"))


def _checked(results: Any, i: int, records: Records) -> dict[str, Any]:
    """Results that a row can hold; a ValueError for others. A parameter may be among them, as it is."""
    if not isinstance(results, Mapping) or not all(isinstance(name, str) for name in results):
        raise ValueError(
            f"the function must return {{'name': number}}, but returned {arguments.shown(results)}"
        )
    way_out = "save arrays in the folder of the run, and return numbers"
    mine, found = records.parameters[i], dict[str, Any]()
    taken = {"error"}.union(*records.parameters)
    for name, value in results.items():
        found[name] = plain(f"result {name!r}", value, way_out, tuples=name in mine)
        same = name in mine and (found[name] == mine[name] or repr(found[name]) == repr(mine[name]))  # NaN
        if name in taken and not same:
            raise ValueError(f"the table has {name!r} already, give that result another name")
    return {name: value for name, value in found.items() if name not in mine}


def _meet(own: MPI.Comm, parameters: Mapping[str, Any], failed: str) -> None:
    """Wait for the other ranks of a run, and tell what failed on this one if they do not come. Collective."""
    met, until = own.Ibarrier(), time.monotonic() + _GRACE
    while failed and not met.Test() and time.monotonic() < until:
        time.sleep(_LOOK / 10)
    if failed and not met.Test():
        logger.error(
            f"rank {own.rank} of the run {parameters} failed and waits for the others, which may wait for it "
            f"for ever: {failed}"
        )
    met.Wait()


# -- processes


def in_processes(
    count: int, function: Any, records: Records, todo: list[int], limit: float, tell: Callable[[int], None]
) -> int:
    """Make runs in processes that each take the next one when they are free; the signal that came, or 0."""
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    given = (counter, todo, pickle.dumps(function), records, limit)
    with stop_signals() as caught, contextlib.ExitStack() as stack:
        processes = dict(_started(context, stack, *given) for _ in range(min(count, len(todo))))
        while processes and not caught:
            connection.wait([each.sentinel for each in processes], _LOOK)
            for each in [each for each in processes if not each.is_alive()]:
                if not processes.pop(each).value:
                    raise RuntimeError(_why(each.exitcode))
                if counter.value < len(todo):  # it was lost in a run
                    processes.update([_started(context, stack, *given)])
            tell(len(processes))
        until = time.monotonic() + _GRACE
        for each in processes:
            os.kill(each.pid, signal.SIGINT)
        for each in processes:
            each.join(max(0.0, until - time.monotonic()))
    return max(caught, default=0)


def _started(context: Any, stack: contextlib.ExitStack, *given: Any) -> tuple[Any, Any]:
    """A process that makes runs, and ends with this one, or with ``stack``; whether it makes them."""
    serves = context.Value("b", 0, lock=False)
    process = context.Process(target=_serve, args=(serves, *given), daemon=True)
    with parallel.outside_of_the_job(), handled({signal.SIGINT: signal.SIG_IGN}):
        os.environ[STARTING] = "yes"
        process.start()
    stack.callback(process.kill)
    return process, serves


def _why(status: int) -> str:
    guard = 'put the call, and what else happens once, below `if __name__ == "__main__":`'
    if status == NO_GUARD:
        return f"every process of a study imports the script, which starts the study again: {guard}"
    return (
        f"a process that makes runs ended with exit status {status}, in none of them, by the error above if "
        f"there is one; every process imports the script: {guard}"
    )


def _serve(
    serves: Any, counter: Any, todo: list[int], pickled: bytes, records: Records, limit: float
) -> None:
    """Make the next run until all are taken."""
    del os.environ[STARTING]
    os.setpgrp()  # Ctrl-C of the terminal is for the parent, which tells this process
    threading.Thread(target=_follow_parent, daemon=True).start()
    dolfinx.jit.DOLFINX_DEFAULT_JIT_OPTIONS["timeout"] = _COMPILES
    function = pickle.loads(pickled)

    def take() -> int:
        with counter.get_lock():
            counter.value += 1
            return todo[counter.value - 1] if counter.value <= len(todo) else -1

    serves.value = 1  # a process that ends from here on was lost in a run, whatever its exit status
    try:
        stopped = make_all(take, function, records, MPI.COMM_WORLD, limit)
    except BaseException:  # as of a full disk
        serves.value = 0
        raise
    if stopped:
        os._exit(STOPPED)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


# -- groups of ranks


def in_groups(
    world: Any, ranks: int, function: Any, records: Records, todo: list[int], limit: float, tell: Any
) -> int:
    """The same in groups of so many ranks. Collective."""
    groups, mine = world.size // ranks, world.rank // ranks
    comm = world if ranks == world.size else world.Split(mine, world.rank)
    counter = MPI.Win.Allocate(8 if world.rank == 0 else 0, 8, comm=world)
    if world.rank == 0:
        np.frombuffer(counter.tomemory(), np.int64)[:] = 0
    world.barrier()

    def take(count: int = 1) -> int:
        first = np.zeros(1, np.int64)
        counter.Lock(0)
        counter.Fetch_and_op(np.array([count]), first, 0)
        counter.Unlock(0)
        return int(first[0])

    def next_run() -> int:
        tell(groups)
        k = take()
        return todo[k] if k < len(todo) else -1

    stopped, failed = 0, None
    try:
        stopped = make_all(next_run, function, records, comm, limit) if mine < groups else 0
    except Exception as error:  # as of a full disk
        failed = error
    if stopped or failed:
        take(len(todo))  # no group begins another one
    ended = world.Ibarrier()
    while not ended.Test():
        time.sleep(_LOOK / 10)
    counter.Free()
    parallel.agree(world, failed)
    return int(world.allreduce(stopped, MPI.MAX))

"""``study``: checks what is given, makes the runs that have no row yet, returns the table."""

from __future__ import annotations

import contextlib
import inspect
import json
import multiprocessing
import os
import pickle
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from .. import arguments, parallel
from .._version import __version__
from ..algebra.kernels import logger
from ..output.atomic_file import locked, whole_file
from ..simulation.stability_monitor import Interrupted
from .records import Records, Table, combinations, hashed
from .runs import NO_GUARD, STARTING, in_groups, in_processes

_LEAST = 0.1  #: Seconds between two looks at the rows.


def study(
    function: Any,
    parameters: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    folder: str | Path,
    *,
    workers: int | None = None,
    ranks: int = 1,
    again: bool = False,
    strict: bool = False,
    limit: float | None = None,
) -> Table:
    """Call a function for many parameters, beside each other; the table of its results. Collective.

    Each run has a folder, in which its row is written when it ends. What has a row is not run again: a study
    that was stopped or killed goes on where it is called again. Rows are those of parameters, source of the
    function and version of the package; what the function calls may change without being seen.

    Args:
        function: ``f(p, comm, folder)`` of the parameters, a dict, of the communicator for its meshes, and
            of the folder of the run, a ``Path``; returns ``{name: number}`` (or text, or None; no arrays).
            It is defined by ``def`` at the top of a file.
        parameters: A dict of lists, of which all combinations are run, or a list of dicts. Values are
            numbers, texts, None, and tuples of these.
        folder: The folder of the study, of one function; made where it does not exist.
        workers: Number of processes, each with one thread; by default the cores. Without effect under
            ``mpirun``, where groups of ranks make the runs.
        ranks: Ranks of each run; more than one under ``mpirun`` only. What is left over is idle.
        again: Whether runs that have a row are made anew, in empty folders.
        strict: Whether runs that failed are an error at the end instead of a warning.
        limit: Longest time of a run [s]. One that takes longer is stopped, in ``simulate`` after a step and
            stored if it has a checkpoint, elsewhere between two lines of Python, on several ranks when the
            function returns. It has an error, but is made again by another call.

    Returns:
        The table, replicated. Rows stand in the order of the parameters and do not depend on the number of
        processes or groups; failed ones have their error in the column ``error``. ``table.csv`` and
        ``table.json`` of the folder have the rows so far.

    Raises:
        ValueError: Parameters of other kinds or twice the same, a function that no other process can import,
            a folder of something else or in use, more ``ranks`` than there are; a call in another thread
            than the main one, or in a process of another study.
        RuntimeError: Failed runs with ``strict``; processes that do not start: a script without
            ``if __name__ == "__main__":`` around the call.
        Interrupted: Ctrl-C or SIGTERM, after the table was written.
    """
    if STARTING in os.environ:
        sys.exit(NO_GUARD)
    if threading.current_thread() is not threading.main_thread() or multiprocessing.current_process().daemon:
        raise ValueError(
            "di.study is called in the main thread of a program, neither in another thread nor in a process "
            "that another study or multiprocessing started"
        )
    world = parallel.world()
    must = "be positive [s] and at most 1e9, or None"
    longest = 0.0 if limit is None else arguments.number("limit", limit, must, above=0.0, most=1e9)
    count = len(os.sched_getaffinity(0)) if workers is None else arguments.whole("workers", workers)
    ranks = arguments.whole("ranks", ranks)
    if ranks > world.size:
        job = f"an MPI job of {world.size}" if world.size > 1 else "a program without mpirun"
        raise ValueError(
            f"ranks={ranks} are more than {job} has: start it by mpirun -n {ranks}, or a multiple"
        )
    again, strict = arguments.flag("again", again), arguments.flag("strict", strict)
    with contextlib.ExitStack() as stack:

        def prepare() -> tuple[Records, list[int]]:
            records = _records(function, parameters, Path(folder).absolute(), stack)
            return records, _missing(records, again)

        records, todo = parallel.on_root(world, prepare)
        board = _Board(records, len(todo))
        if world.size > 1:
            stopped = in_groups(world, ranks, function, records, todo, longest, board.look)
        else:
            stopped = in_processes(count, function, records, todo, longest, board.look)
        table = parallel.on_root(world, lambda: board.end(complete=not stopped))
    if stopped:
        done = f"{len(table)} of {len(records.parameters)} runs have a row in {str(folder)!r}"
        raise Interrupted(stopped, f"{done}: the same call goes on")
    if failed := [row for row in table if row["error"]]:
        words = f"{len(failed)} of {len(table)} runs failed, see the column 'error'; the first: {failed[0]}"
        if strict:
            raise RuntimeError(words)
        if world.rank == 0:
            logger.warning(words)
    return table


def _source(function: Any) -> str:
    """Source of a function that another process can import; a ValueError for any other."""
    way_out = "define it by `def` at the top of a file, as f(p, comm, folder)"
    name = getattr(function, "__qualname__", arguments.shown(function))
    if not inspect.isfunction(function) or "<" in name:
        raise ValueError(f"{name} has no name by which another process can import it: {way_out}")
    if function.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        raise ValueError(
            f"{name} is defined in a notebook or an interactive session, from which no other process can "
            f"import it: write it to a file, there by %%writefile runs.py and from runs import {name}"
        )
    try:
        inspect.signature(function).bind({}, None, None)
        pickle.dumps(function)
        return inspect.getsource(function)
    except (TypeError, pickle.PicklingError, OSError) as error:
        raise ValueError(f"{name} cannot be the function of a study ({error}): {way_out}") from None


def _records(function: Any, parameters: Any, folder: Path, stack: contextlib.ExitStack) -> Records:
    """The records in their folder, which is locked until the end of ``stack``."""
    source, file = _source(function), Path(inspect.getfile(function))
    records = Records(
        folder, combinations(parameters), hashed((source, __version__)), hashed(file.read_text())
    )
    about, mine = folder / "study.json", f"{file.name}:{function.__qualname__}"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file: give the name of a folder")
    folder.mkdir(parents=True, exist_ok=True)
    stack.enter_context(
        locked(folder, f"another study runs in {str(folder)!r}: wait, or give another folder")
    )
    found = json.loads(about.read_text())["function"] if about.exists() else mine
    foreign = not about.exists() and any(not each.name.startswith(".") for each in folder.iterdir())
    if found != mine or foreign:
        what = "things that are no study" if foreign else f"the runs of {found}, not of {mine}"
        raise ValueError(f"{str(folder)!r} has {what}: give another folder")
    with whole_file(about) as stream:
        stream.write(json.dumps({"function": mine}).encode())
    return records


def _missing(records: Records, again: bool) -> list[int]:
    """The runs without a row, with their folders; tells of rows that are not used, or may be outdated."""
    if stale := records.stale():
        shown = ", ".join(stale[:5]) + (", ..." if len(stale) > 5 else "")
        logger.warning(
            f"stale, of an earlier function or version, and made anew: {len(stale)} row(s), {shown}"
        )
    rows = [None if again else records.row(i) for i in range(len(records.parameters))]
    if older := sum(row["module"] != records.module for row in rows if row):
        logger.warning(
            f"{older} row(s) are kept, made before the file of the function changed elsewhere: again=True "
            "makes them anew"
        )
    todo = [i for i, row in enumerate(rows) if row is None]
    for i in todo:
        if again:
            shutil.rmtree(records.place(i), ignore_errors=True)
        records.place(i).mkdir(exist_ok=True)
        (records.place(i) / "ended.json").unlink(missing_ok=True)
    return todo


class _Board:
    """Keeps the files of the table as new as a tenth of the time allows, and a line on a terminal."""

    def __init__(self, records: Records, todo: int) -> None:
        self._records, self._begun, self._next, self._rows = records, time.perf_counter(), 0.0, -1
        self._total, self._before = len(records.parameters), len(records.parameters) - todo
        self._shown = sys.stderr.isatty() and parallel.world().rank == 0

    def look(self, running: int) -> None:
        """Write the rows so far where there are more of them; the end tells of a disk that is full."""
        begun = time.perf_counter()
        if begun < self._next:
            return
        table = self._records.table()
        if len(table) > self._rows:
            with contextlib.suppress(OSError):
                table.write()
        now, self._rows = time.perf_counter(), len(table)
        self._next = now + max(_LEAST, 9 * (now - begun))
        if self._shown:
            left = (self._total - len(table)) * (now - self._begun) / max(1, len(table) - self._before)
            failed = sum(bool(row["error"]) for row in table)
            words = f"{len(table)} of {self._total} runs done, {running} running, {failed} failed"
            line = f"\r{words}, {timedelta(seconds=round(left))} left\033[K"
            print(line, end="", file=sys.stderr, flush=True)

    def end(self, complete: bool) -> Table:
        """The table, written; a complete one has all runs."""
        if self._shown and self._rows >= 0:
            print(file=sys.stderr)
        table = self._records.table(complete)
        table.write()
        return table

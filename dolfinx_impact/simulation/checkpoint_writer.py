"""Writer of the checkpoints of a run: gathers between two steps, writes while the run goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from .. import parallel
from .._types import AnyArray
from .._version import __version__
from ..integrators.base import Integrator
from ..output.atomic_file import whole_file
from ..output.history_file import HistoryFile
from .parallel_layout import KeyedLayout, Layout, places_of
from .recorder import Recorder
from .run_fingerprint import description, fingerprint

FORMAT, VERSION = "dolfinx_impact checkpoint", 6


class Writer:
    """Writes checkpoints, each of which replaces the one before when it is whole. All methods are collective.

    Arrays are gathered at once. Files are written by a thread of rank 0 while the run goes on: the history
    first, flushed to the disk, then the checkpoint. The next checkpoint waits for them.

    Use as a context manager; at its end the thread has ended, but after an error it is not said whether the
    last checkpoint was written.

    Args:
        path: The file.
        integrator: The scheme.
        about: See :func:`.checkpoint.save`.
        every: Steps between two checkpoints of a run.
        history: Whether the samples of a run are stored.
        stamp: Stamp of the history file that the run has read, or None.
    """

    def __init__(
        self,
        path: Path,
        integrator: Integrator,
        about: Mapping[str, Any],
        *,
        every: int = 1,
        history: bool = False,
        stamp: Mapping[str, Any] | None = None,
    ) -> None:
        self.every = every
        self._path, self._integrator, self._about = path, integrator, dict(about)
        self._target = path.absolute()  # the thread must not follow a change of the folder
        self._history, self._stamp = history, stamp
        # What does not change in a run is found once.
        self._places: dict[str, Layout] | None = None
        self._head: dict[str, Any] = {}
        self._samples = -1  # in the history file; not known yet
        self._file = HistoryFile(self._target)
        self._pool = ThreadPoolExecutor(1) if parallel.world().rank == 0 else None
        self._writing: Future[None] | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *stop: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def way_on(self) -> str:
        """Hint how to resume an interrupted run."""
        return f"go on from {str(self._path)!r}"

    def write(
        self, run: Iterable[tuple[str, str | Layout, Any]] = (), recorder: Recorder | None = None
    ) -> None:
        """Store the scheme between two steps, and what belongs to its run.

        Args:
            run: State of the run: names, layouts and rank-local parts of its arrays.
            recorder: The recorder of the run.

        Raises:
            OSError: On every rank, if the checkpoint before could not be written; an earlier one is intact.
        """
        self.wait()
        head, arrays = self._gathered(run)
        anew, rows = False, None
        if recorder is not None:
            head["columns"] = recorder.layout.columns
        if recorder is not None and self._history:
            first = self._first(recorder)
            anew, rows = first == 0, recorder.layout.collect(recorder.samples(first))
            self._samples = recorder.count

        def work() -> None:
            with self._file.appended(rows, anew) as stamp:
                about = {**head, "history": None if stamp is None else stamp._asdict()}
                _archive(self._target, {"about": np.array(json.dumps(about)), **arrays})

        if self._pool is not None:
            self._writing = self._pool.submit(work)

    def wait(self) -> None:
        """Wait until the last checkpoint is on the disk.

        Raises:
            OSError: On every rank, if it could not be written; an earlier one is intact.
        """
        failed: Exception | None = None
        writing, self._writing = self._writing, None
        try:
            if writing is not None:
                writing.result()
        except OSError as error:
            reason, name = error.strerror or error, repr(str(self._path))
            failed = OSError(f"the checkpoint {name} was not written ({reason}); an earlier one is intact")
        except Exception as error:
            failed = error
        parallel.agree(parallel.world(), failed)

    def _first(self, recorder: Recorder) -> int:
        """Number of the first sample that is not in the history file yet; 0 begins a new one."""
        if self._samples < 0:
            self._samples = parallel.on_root(parallel.world(), lambda: self._file.take_over(self._stamp))
        intact = parallel.on_root(parallel.world(), self._file.intact)
        first = self._samples if intact and not recorder.thinned else 0
        recorder.thinned = False
        return first

    def _gathered(
        self, run: Iterable[tuple[str, str | Layout, Any]]
    ) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The description, and on rank 0 the arrays."""
        s, arrays = self._integrator, {}
        if self._places is None:
            self._places, self._head = places_of(s), description(s)
        places = self._places

        def add(name: str, place: str | Layout, local: Any) -> None:
            values = (places[place] if isinstance(place, str) else place).gather(local)
            if parallel.world().rank == 0:
                arrays[name] = np.array(values)  # the run goes on

        for name, layout in places.items():
            if isinstance(layout, KeyedLayout):
                add(keys_of(name), "number", layout.keys())
        state = s.state()
        for name, where in s.state_places().items():
            add(f"scheme/{name}", where, state[name])
        for name, (where, values) in fingerprint(s).items():
            add(f"model/{name}", where, values)
        for name, place, local in run:
            add(name, place, local)
        head = {"format": FORMAT, "version": VERSION, "package": __version__, **self._head}
        return {**head, "about": self._about, "members": list(arrays)}, arrays


def _archive(path: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Write arrays as NumPy's archive, which replaces an earlier one when it is whole."""
    with whole_file(path) as file, zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                write: Any = np.lib.format.write_array
                write(entry, values, allow_pickle=False)


def keys_of(layout: str) -> str:
    """Name in the archive of the keys of a layout."""
    return "nodes" if layout == "dofs" else f"nodes.{layout}"

"""What is read of a checkpoint: arrays that rank 0 holds by name, and the history of a run among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import parallel
from .._types import AnyArray, FloatArray
from ..integrators.base import Integrator
from .parallel_layout import Layout, Replicated
from .sample_rows import SampleRows

#: Name of the samples among the arrays of a run.
SAMPLES = "history/samples"


class StoredArrays:
    """Arrays of a checkpoint, in its file or in memory. All methods but :meth:`below` are collective.

    Args:
        source: Name of the file, for messages.
        names: Paths of the arrays in the file, the same on every rank.
        load: The array of a path; called on rank 0 alone.

    Attributes:
        source: See above.
        places: Layouts of the first axes of arrays by name, see :func:`.places_of`.
        replicated: Whether every rank has a complete system of its own, whose layouts know of no other rank.
    """

    def __init__(self, source: str, names: Iterable[str], load: Callable[[str], AnyArray]) -> None:
        self.source, self._names, self._load = source, frozenset(names), load
        self.places: Mapping[str, Layout] = {"number": Replicated(parallel.world())}
        self.replicated = False

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def below(self, folder: str) -> list[str]:
        """Names of the arrays in a folder of the file, relative to it."""
        return sorted(name[len(folder) + 1 :] for name in self._names if name.startswith(f"{folder}/"))

    def read(self, name: str, place: str | Layout) -> AnyArray:
        """Rank-local part of an array.

        Args:
            name: Path of the array in the file.
            place: Layout of its first axis, or its name; ``"number"`` for all of it on every rank.

        Raises:
            ValueError: An array that is missing, damaged, or of another size.
        """
        layout = self.places[place] if isinstance(place, str) else place
        values = self.whole(name, getattr(layout, "size", None))
        return layout.scatter(parallel.world().bcast(values, root=0) if self.replicated else values)

    def whole(self, name: str, size: int | None = None) -> AnyArray | None:
        """The complete array on rank 0, None on others; a ValueError unless it has ``size`` entries."""
        values, error = None, None
        if parallel.world().rank == 0:
            try:
                values = self._load(name)
            except Exception as caught:
                error = ValueError(f"{self.source} is damaged: {name} cannot be read ({caught})")
        if values is not None and size is not None and values.shape[:1] != (size,):
            error = self.other(f"{name} has {values.shape[0] if values.ndim else 'no'} entries, not {size}")
        parallel.agree(parallel.world(), error)
        return values

    def in_memory(self, *folders: str) -> StoredArrays:
        """The arrays in some folders, read now: they outlast the file."""
        names = sorted(name for name in self._names if name.startswith(folders))
        arrays = {name: self.whole(name) for name in names}
        kept = StoredArrays(self.source, names, arrays.__getitem__)  # type: ignore[arg-type]
        kept.places, kept.replicated = self.places, self.replicated
        return kept

    def put(self, name: str, read: Callable[[], AnyArray]) -> None:
        """Add an array of another file, which rank 0 reads now. Its errors are raised on all ranks."""
        values: dict[str, AnyArray] = {}
        error, load = None, self._load
        if parallel.world().rank == 0:
            try:
                values[name] = read()
            except (OSError, ValueError) as caught:
                error = caught
        parallel.agree(parallel.world(), error)
        self._names |= {name}
        self._load = lambda wanted: values[wanted] if wanted in values else load(wanted)

    def other(self, difference: str) -> ValueError:
        """The error of a checkpoint of another run, with the difference in words."""
        return ValueError(f"{self.source} is a checkpoint of another run: {difference}")


class RunHistory:
    """A run up to its checkpoint: records, energies, states of observers, step control and monitors.

    Made by :func:`.checkpoint.resume`; ``simulate(scheme, ..., history=history)`` continues the run.

    Args:
        integrator: The resumed scheme.
        arrays: Arrays of the run.
        about: Description in the file.

    Attributes:
        arrays: See above.
        stamp: See :class:`.history_file.Stamp`; None where samples are not stored.
        steps: Number of steps of the run so far.
        left: Number of further steps to :attr:`t_end`.
        t: Time of the checkpoint [s].
        t_end: End time of the stored run [s].
        changes: Number of changes of the time step so far.
        seconds: Wall-clock time of the run so far [s].
        every: Steps between two samples.
        begin: Number of the step of the first sample; where samples are not stored, the last step.
    """

    def __init__(self, integrator: Integrator, arrays: StoredArrays, about: Mapping[str, Any]) -> None:
        self._integrator, self._n, self.arrays = integrator, integrator.n, arrays
        steps, left, t_end, beyond, changes = arrays.read("run/counts", "number")
        integrator.beyond_limit = bool(beyond)
        self.steps, self.left, self.changes = int(steps), int(left), int(changes)
        self.t, self.t_end = integrator.t, float(t_end)
        self.seconds = float(arrays.read("run/seconds", "number"))
        self.stamp, self._columns = about["history"], about["columns"]
        _, self.every, begin = map(int, arrays.read("history/seen", "number"))
        self.begin = begin if SAMPLES in arrays else self.steps

    def __repr__(self) -> str:
        return f"RunHistory({self.steps} steps to t = {self.t:.6g} s, of {self.arrays.source})"

    def misfit(self, integrator: Integrator) -> ValueError | None:
        """The error of a scheme that does not stand where this history ends, of this rank."""
        if integrator is not self._integrator:
            return ValueError(f"history is that of another scheme: {self!r}")
        if integrator.n != self._n or integrator.t != self.t:
            return ValueError(
                f"the scheme is at t = {integrator.t:.6g} s, where its history does not end: {self!r}; "
                "resume it anew"
            )
        return None

    def samples(self, layout: SampleRows) -> tuple[FloatArray, FloatArray]:
        """The samples and the last step of this rank, rows of ``Steps.table``. Collective.

        Without stored samples the last step is the only one.

        Raises:
            ValueError: Samples of other rows, points or energies than those of the run here.
        """
        for name, mine in layout.columns.items():
            stored = self._columns.get(name, 0)  # files of earlier versions do not have all of them
            if stored != mine:
                raise self.arrays.other(
                    f"its history has {stored} columns of {name}, this run's {mine}; give record= and the "
                    "contact of the stored run"
                )
        last: FloatArray = self.arrays.read("history/last", layout)
        return self.arrays.read(SAMPLES, layout) if SAMPLES in self.arrays else last, last[0]

"""Checkpoints: atomically written files from which a run resumes, on any number of ranks.

The file is a NumPy archive (``np.load`` reads it). ``about`` is a JSON text: format, scheme, size of the
model. Arrays over dofs are in the order of ``nodes``, those over contact points in the order of the columns
of a history.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import arguments, parallel
from .._types import AnyArray
from .._version import __version__
from ..integrators.base import Integrator
from ..output.atomic_file import refuse_unwritable, whole_file
from .parallel_layout import KeyedLayout, places_of
from .run_fingerprint import description, differences, fingerprint, tolerance

FORMAT, VERSION = "dolfinx_impact checkpoint", 4


class Checkpoint:
    """Where and how often :func:`.simulate` stores the run; the file is replaced atomically.

    Args:
        path: The file, in an existing folder.
        every: Steps between two checkpoints; coarse steps with HATI.
        about: Further entries of the description in the file, serialisable in JSON.

    Raises:
        ValueError: ``every`` below 1.
    """

    def __init__(self, path: str | Path, *, every: int, about: Mapping[str, Any] | None = None) -> None:
        try:
            self.every = arguments.whole("every", every)
        except ValueError:
            shown = arguments.shown(every)
            raise ValueError(f"a checkpoint is written every so many steps, from 1 on, not {shown}") from None
        if not isinstance(path, (str, Path)):
            raise ValueError(f"a checkpoint needs the path of its file, not {arguments.shown(path)}")
        self.path, self.about = Path(path), dict(about or {})

    def way_on(self) -> str:
        """Hint how to resume an interrupted run."""
        return f"go on from {str(self.path)!r}"

    def check(self, integrator: Integrator) -> None:
        """Raise if a run cannot be stored, before its start. Collective.

        Raises:
            ValueError: A scheme that does not declare its state, or does not store its constants.
            OSError: A folder that does not exist or is not writable.
        """
        integrator.state_places()
        integrator.parameters()
        refuse_unwritable(self.path)


def save(path: str | Path, integrator: Integrator, *, about: Mapping[str, Any] | None = None) -> None:
    """Store the state of a scheme between two steps. Rank 0 writes; collective.

    Args:
        path: The file.
        integrator: The scheme, started.
        about: Further entries of the description in the file, serialisable in JSON.

    Raises:
        ValueError: A scheme that does not declare its state.
        OSError: On every rank, if the file cannot be written; an earlier one is intact.
    """
    with Writer(path, integrator, about or {}):
        pass


def load(path: str | Path, integrator: Integrator) -> None:
    """Resume from a file of :func:`save` or :class:`Checkpoint`, instead of ``start``. Collective.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: Not a checkpoint of this format; another scheme, mesh, material, load or contact.
    """
    with Stored(path) as stored:
        stored.resume(integrator)


def refuse_other(path: str | Path, about: Mapping[str, Any]) -> None:
    """Raise unless a file has these entries ``about``, for options of a script. Collective.

    Args:
        path: The file, of a run or a scheme that was stored with ``about``.
        about: The entries by name.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: Not a checkpoint of this format; an entry that is another one, or missing.
    """
    with Stored(path) as stored:
        earlier = stored.about.get("about", {})
    for name, value in about.items():
        if earlier.get(name) != value:
            raise ValueError(
                f"{str(path)!r} is a checkpoint of another run: its {name} is {earlier.get(name)}, "
                f"not {value}"
            )


class Writer:
    """Writes arrays one by one into a new checkpoint, which replaces an earlier one if there is no error.

    Use as a context manager; all methods are collective.

    Args:
        path: The file.
        integrator: The scheme, whose state is written first.
        about: See :func:`save`.

    Attributes:
        places: Parallel layouts of the first axis of arrays, by name.
    """

    def __init__(self, path: str | Path, integrator: Integrator, about: Mapping[str, Any]) -> None:
        self._path, self._about, self._integrator = Path(path), dict(about), integrator
        self._error: BaseException | None = None
        self._stack = ExitStack()
        self._archive: zipfile.ZipFile | None = None
        self.places = places_of(integrator)

    def __enter__(self) -> Writer:
        s = self._integrator
        header = {"format": FORMAT, "version": VERSION, "package": __version__, **description(s)}
        if MPI.COMM_WORLD.rank == 0:
            try:
                file = self._stack.enter_context(whole_file(self._path))
                self._archive = self._stack.enter_context(zipfile.ZipFile(file, "w", allowZip64=True))
            except OSError as error:
                self._error = error
        self.add("about", "number", np.array(json.dumps({**header, "about": self._about})))
        for name, place in self.places.items():
            if isinstance(place, KeyedLayout):
                self.add(_keys(name), "number", place.keys())
        state = s.state()
        for name, place in s.state_places().items():
            self.add(f"scheme/{name}", place, state[name])
        for name, (place, values) in fingerprint(s).items():
            self.add(f"model/{name}", place, values)
        return self

    def add(self, name: str, place: str, local: Any) -> None:
        """Write an array.

        Args:
            name: Path of the array in the archive.
            place: Layout of its first axis, one of ``places``, or ``"number"`` for the value of rank 0.
            local: Rank-local part.
        """
        values = local if place == "number" else self.places[place].gather(local)
        if self._archive is None or self._error is not None:
            return
        try:
            with self._archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                write: Any = np.lib.format.write_array
                write(entry, np.asarray(values), allow_pickle=False)
        except OSError as error:
            self._error = error

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        failed = self._error or error
        try:
            self._stack.__exit__(type(failed) if failed else None, failed, None)
        except OSError as caught:
            failed = failed or caught
        if error is None:
            raised = None
            if failed is not None:
                reason = getattr(failed, "strerror", None) or failed
                name = repr(str(self._path))
                raised = OSError(
                    f"the checkpoint {name} was not written ({reason}); an earlier one is intact"
                )
            parallel.agree(MPI.COMM_WORLD, raised)


class Stored:
    """A checkpoint opened for reading. Use as a context manager; all methods are collective.

    Args:
        path: The file.

    Attributes:
        about: Description in the file.
        places: Parallel layouts as in :class:`Writer`, of the resumed scheme.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: Not a checkpoint, or one of another version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self._data = Path(path), None
        self._name = repr(str(path))
        self.about: dict[str, Any] = parallel.on_root(MPI.COMM_WORLD, self._open)
        self._names = frozenset(self.about.pop("names"))
        self._shared = True
        self.places: dict[str, Any] = {}

    def _open(self) -> dict[str, Any]:
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no checkpoint {self._name}")
        try:
            data: Any = np.load(self.path, allow_pickle=False)
            about = json.loads(str(data["about"]))
            kind, version = about["format"], about["version"]
        except Exception as error:
            raise ValueError(f"{self._name} is no checkpoint, or a damaged one: {error}") from None
        if kind != FORMAT or version != VERSION:
            raise ValueError(
                f"{self._name} is a {kind} of version {version}, but this package ({__version__}) reads "
                f"version {VERSION} alone: resume it with the one that wrote it ({about.get('package')}), or "
                "start the run anew"
            )
        self._data = data
        return {**about, "names": list(data.files)}

    def __enter__(self) -> Stored:
        return self

    def __exit__(self, *stop: Any) -> None:
        if self._data is not None:
            self._data.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def below(self, folder: str) -> list[str]:
        """Names of the arrays in a folder of the archive, relative to it."""
        return sorted(name[len(folder) + 1 :] for name in self._names if name.startswith(f"{folder}/"))

    def read(self, name: str, place: str) -> AnyArray:
        """Rank-local part of an array; see :meth:`Writer.add`.

        Raises:
            ValueError: An array that is missing, damaged, or of another size.
        """
        if place == "number":
            return np.asarray(MPI.COMM_WORLD.bcast(self._global(name), root=0))
        layout = self.places[place]
        values = self._global(name, getattr(layout, "size", None))
        # Replicated systems have the complete array on every rank.
        share: AnyArray = layout.scatter(values if self._shared else MPI.COMM_WORLD.bcast(values, root=0))
        return share

    def _global(self, name: str, size: int | None = None) -> AnyArray | None:
        """The complete array on rank 0, None on others; a ValueError unless it has ``size`` entries."""
        values, error = None, None
        if self._data is not None:
            try:
                values = self._data[name]
            except Exception as caught:
                error = ValueError(f"{self._name} is damaged: {name} cannot be read ({caught})")
        if values is not None and size is not None and len(values) != size:
            error = self._other(f"{name} has {len(values)} entries, not {size}")
        parallel.agree(MPI.COMM_WORLD, error)
        return values

    def _other(self, difference: str) -> ValueError:
        return ValueError(f"{self._name} is a checkpoint of another run: {difference}")

    def resume(self, integrator: Integrator, new_step: bool = False) -> None:
        """Restore the state of a scheme.

        Args:
            integrator: The scheme, started or not.
            new_step: Whether its time step is set to the stored one.

        Raises:
            ValueError: A checkpoint of another run; the state of the scheme is unchanged then.
        """
        s = integrator
        other = differences(s, self.about)
        if other:
            raise self._other(other)
        self.places, self._shared = places_of(s), s.system.comm.size == MPI.COMM_WORLD.size
        for name, place in self.places.items():
            if isinstance(place, KeyedLayout):
                self._match(name, place)
        before, dt = s.state(), s.dt
        state = self._read_state(s, before)
        if new_step and float(state["dt"]) != dt:
            s.change_step(float(state["dt"]))  # type: ignore[attr-defined]
        try:
            s.resume(state)
            self._compare(s)
        except ValueError:
            if s.dt != dt:
                s.change_step(dt)  # type: ignore[attr-defined]
            s.resume(before)
            raise

    def _match(self, name: str, place: KeyedLayout) -> None:
        """Match the keys of a layout with those of the file. Collective."""
        if _keys(name) not in self:
            raise self._other("its material has no history, the one here has")
        keys = self._global(_keys(name))
        problem = place.find(keys if self._shared else MPI.COMM_WORLD.bcast(keys, root=0))
        if problem:
            raise self._other(f"the mesh is another one, {problem}")

    def _read_state(self, s: Integrator, before: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        state = {name: np.array(values) for name, values in before.items()}
        for name, place in s.state_places().items():
            values = self.read(f"scheme/{name}", place)
            if values.shape[1:] != state[name].shape[1:]:
                raise self._other(f"{name} has the shape {values.shape}, not {state[name].shape}")
            if values.ndim:
                state[name][: len(values)] = values
            else:
                state[name] = values
        return state

    def _compare(self, s: Integrator) -> None:
        """Raise a ValueError if masses, forces, motions or gaps differ from those of the file."""
        messages = {
            "mass": "its masses are not those here",
            "force": "its material or loads are not those here",
            "stiffness": "its material is not the one here",
            "damping": "its damping is not the one here",
            "loads": "its loads are not those here",
            "motion": "its prescribed motion is not the one here",
            "gap": "its contact is not the one here",
            "obstacle": "its obstacle does not move as the one here",
        }
        present = fingerprint(s)
        for name in messages:
            if (name in present) != (f"model/{name}" in self):
                raise self._other(f"{messages[name]} (one of both has none)")
        for name, (place, values) in present.items():
            stored = self.read(f"model/{name}", place)
            if stored.shape != values.shape:
                raise self._other(messages[name])
            error = np.where(np.isnan(stored) & np.isnan(values), 0.0, np.abs(stored - values))
            largest = max(0.0, parallel.largest(s.system.comm, np.nan_to_num(error, nan=np.inf)))
            if not largest <= tolerance(s, name, values):
                raise self._other(f"{messages[name]} ({name} differs by {largest:.3g})")


def _keys(layout: str) -> str:
    """Name in the archive of the keys of a layout."""
    return "nodes" if layout == "dofs" else f"nodes.{layout}"

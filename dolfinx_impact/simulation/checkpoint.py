"""Checkpoints: atomically written files from which a run resumes, on any number of ranks.

The file is a NumPy archive (``np.load`` reads it). ``about`` is a JSON text: format, scheme, size of the
model, names of the arrays. Arrays over dofs are in the order of ``nodes``, those over contact points in the
order of the columns of a history. The history of a run is in a file beside it, see
:mod:`~dolfinx_impact.output.history_file`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import arguments, parallel
from .._types import AnyArray
from .._version import __version__
from ..contact.base import RANKS
from ..integrators.base import Integrator
from ..integrators.user_schemes import as_integrator
from ..output import history_file
from ..output.atomic_file import refuse_unwritable
from ..output.history_file import Stamp
from .checkpoint_writer import FORMAT, VERSION, Writer, keys_of
from .parallel_layout import KeyedLayout, places_of
from .run_fingerprint import differences, fingerprint, tolerance
from .run_history import SAMPLES, RunHistory, StoredArrays


class Checkpoint:
    """Where and how often :func:`.simulate` stores the run; the file is replaced atomically.

    Its size does not grow with the run: each checkpoint appends the samples since the last to a file beside
    it, of ``run.npz`` to ``run.npz.history``. Copy or move both together.

    Args:
        path: The file, in an existing folder.
        every: Steps between two checkpoints; coarse steps with HATI.
        about: Further entries of the description in the file, serialisable in JSON.
        history: Whether to store the samples. Without them the result of a resumed run begins at the
            checkpoint, with ``r = 0`` there: its samples are those of the whole run from there on. Steps,
            seconds, penetration, energies and states of observers are those of the whole run all the same;
            the ``residual`` is that since its first sample.

    Raises:
        ValueError: ``every`` below 1; an ``about`` that JSON does not take.
    """

    def __init__(
        self, path: str | Path, *, every: int, about: Mapping[str, Any] | None = None, history: bool = True
    ) -> None:
        try:
            self.every = arguments.whole("every", every)
        except ValueError:
            shown = arguments.shown(every)
            raise ValueError(f"a checkpoint is written every so many steps, from 1 on, not {shown}") from None
        if not isinstance(path, (str, Path)):
            raise ValueError(f"a checkpoint needs the path of its file, not {arguments.shown(path)}")
        if not isinstance(history, bool):
            raise ValueError(
                f"history says whether samples are stored, True or False, but is {arguments.shown(history)}: "
                "a run is continued by simulate(..., history=...)"
            )
        self.path, self.about, self.history = Path(path), _described(about), history

    def writer(self, integrator: Integrator, history: RunHistory | None = None) -> Writer:
        """What writes the checkpoints of a run, which continues a history or none. Collective."""
        stamp = None if history is None else history.stamp
        return Writer(self.path, integrator, self.about, every=self.every, history=self.history, stamp=stamp)

    def check(self, integrator: Integrator) -> None:
        """Raise if a run cannot be stored, before its start. Collective.

        Raises:
            ValueError: A scheme that does not declare its state, or does not store its constants.
            OSError: A folder that does not exist or is not writable.
        """
        integrator.state_places()
        integrator.parameters()
        refuse_unwritable(self.path)
        if self.history:
            refuse_unwritable(history_file.beside(self.path))


def _described(about: Mapping[str, Any] | None) -> dict[str, Any]:
    """Entries of the description, as they can be written."""
    try:
        json.dumps(entries := dict(about or {}))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"about= must be what JSON takes, names with numbers and texts, as about={{'load': 2.5}}: {error}"
        ) from None
    return entries


def save(path: str | Path, integrator: Integrator, *, about: Mapping[str, Any] | None = None) -> None:
    """Store the state of a scheme between two steps. Rank 0 writes; collective.

    Args:
        path: The file.
        integrator: The scheme, started.
        about: Further entries of the description in the file, serialisable in JSON.

    Raises:
        ValueError: A scheme that does not declare its state; an ``about`` that JSON does not take.
        OSError: On every rank, if the file cannot be written; an earlier one is intact.
    """
    with Writer(Path(path), integrator, _described(about)) as writer:
        writer.write()
        writer.wait()


def load(path: str | Path, integrator: Integrator) -> None:
    """Resume from a file of :func:`save` or :class:`Checkpoint`, instead of ``start``. Collective.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: Not a checkpoint of this format; another scheme, mesh, material, load or contact.
    """
    with Stored(path) as stored:
        stored.resume(integrator)


def resume(path: str | Path, integrator: Integrator, *, new_step: bool = False) -> RunHistory | None:
    """Resume the scheme of a stored run, instead of ``start``, and read its history. Collective.

    ``simulate(integrator, ..., history=resume(path, integrator))`` continues the run.

    Args:
        path: A file of :class:`Checkpoint`, or of :func:`save`.
        integrator: The scheme, started or not.
        new_step: Whether the scheme takes the stored time step, which a :class:`.StepControl` has adapted.

    Returns:
        The history of the run so far; None for a file of :func:`save`, which has none.

    Raises:
        FileNotFoundError: The file does not exist, or its history file.
        ValueError: Not a checkpoint of this format; another scheme, mesh, material, load or contact; the
            history file of another run, or a damaged one.
    """
    with Stored(path) as stored:
        stored.resume(integrator, new_step)
        return stored.history(integrator)


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


class Stored(StoredArrays):
    """A checkpoint opened for reading. Use as a context manager; all methods are collective.

    Args:
        path: The file.

    Attributes:
        about: Description in the file.
        places: See :class:`.StoredArrays`; of the resumed scheme.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: Not a checkpoint, or one of another version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.source = Path(path), repr(str(path))
        self._data: Any = None
        self.about: dict[str, Any] = parallel.on_root(parallel.world(), self._open)
        super().__init__(self.source, self.about["members"], lambda name: self._data[name])

    def _open(self) -> dict[str, Any]:
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no checkpoint {self.source}")
        try:
            data: Any = np.load(self.path, allow_pickle=False)
            about = json.loads(str(data["about"]))
            kind, version = about["format"], about["version"]
        except Exception as error:
            raise ValueError(f"{self.source} is no checkpoint, or a damaged one: {error}") from None
        if kind != FORMAT or version != VERSION:
            raise ValueError(
                f"{self.source} is a {kind} of version {version}, but this package ({__version__}) reads "
                f"version {VERSION} alone: resume it with the one that wrote it ({about.get('package')}), or "
                "start the run anew"
            )
        missing = sorted(set(about.get("members", ())) - set(data.files))
        if missing:
            raise ValueError(f"{self.source} is damaged: it has no {', '.join(missing)}")
        self._data = data
        return dict(about)

    def __enter__(self) -> Stored:
        return self

    def __exit__(self, *stop: Any) -> None:
        if self._data is not None:
            self._data.close()

    def history(self, integrator: Integrator) -> RunHistory | None:
        """History of the stored run, None if there is none; after :meth:`resume`."""
        if "run/counts" not in self:
            return None
        kept = self.in_memory("run/", "history/", "balance/", "observer-")
        if self.about["history"] is not None:
            kept.put(SAMPLES, lambda: history_file.read(self.path, Stamp(**self.about["history"])))
        return RunHistory(integrator, kept, self.about)

    def resume(self, integrator: Integrator, new_step: bool = False) -> None:
        """Restore the state of a scheme.

        Args:
            integrator: The scheme, started or not.
            new_step: Whether its time step is set to the stored one.

        Raises:
            ValueError: A checkpoint of another run, or a scheme without checkpoints; its state is unchanged.
        """
        s = integrator if isinstance(integrator, Integrator) else as_integrator(integrator)
        s.state_places()
        other = differences(s, self.about)
        if other:
            raise self.other(other)
        self.places, self.replicated = places_of(s), s.system.comm.size != parallel.world().size
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
        if keys_of(name) not in self:
            raise self.other("its material has no history, the one here has")
        keys = self.whole(keys_of(name))
        problem = place.find(parallel.world().bcast(keys, root=0) if self.replicated else keys)
        if problem:
            raise self.other(f"the mesh is another one, {problem}")

    def _read_state(self, s: Integrator, before: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        state = {name: np.array(values) for name, values in before.items()}
        for name, place in s.state_places().items():
            if f"scheme/{name}" not in self and name.rpartition(".")[2] == RANKS:
                continue
            values = self.read(f"scheme/{name}", place)
            if values.shape[1:] != state[name].shape[1:]:
                raise self.other(f"{name} has the shape {values.shape}, not {state[name].shape}")
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
                raise self.other(f"{messages[name]} (one of both has none)")
        for name, (place, values) in present.items():
            stored = self.read(f"model/{name}", place)
            if stored.shape != values.shape:
                raise self.other(messages[name])
            error = np.where(np.isnan(stored) & np.isnan(values), 0.0, np.abs(stored - values))
            largest = max(0.0, parallel.largest(s.system.comm, np.nan_to_num(error, nan=np.inf)))
            if not largest <= tolerance(s, name, values):
                raise self.other(f"{messages[name]} ({name} differs by {largest:.3g})")

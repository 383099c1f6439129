"""Writer of checkpoints: array by array into a new file, which replaces an earlier one when it is whole."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._version import __version__
from ..integrators.base import Integrator
from ..output.atomic_file import whole_file
from .parallel_layout import KeyedLayout, Layout, places_of
from .run_fingerprint import description, fingerprint

FORMAT, VERSION = "dolfinx_impact checkpoint", 4


class Writer:
    """Writes arrays one by one into a new checkpoint, which replaces an earlier one if there is no error.

    Use as a context manager; all methods are collective.

    Args:
        path: The file.
        integrator: The scheme, whose state is written first.
        about: See :func:`save`.
    """

    def __init__(self, path: str | Path, integrator: Integrator, about: Mapping[str, Any]) -> None:
        self._path, self._about, self._integrator = Path(path), dict(about), integrator
        self._error: BaseException | None = None
        self._stack = ExitStack()
        self._archive: zipfile.ZipFile | None = None
        self._places = places_of(integrator)

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
        for name, place in self._places.items():
            if isinstance(place, KeyedLayout):
                self.add(keys_of(name), "number", place.keys())
        state = s.state()
        for name, where in s.state_places().items():
            self.add(f"scheme/{name}", where, state[name])
        for name, (where, values) in fingerprint(s).items():
            self.add(f"model/{name}", where, values)
        return self

    def add(self, name: str, place: str | Layout, local: Any) -> None:
        """Write an array.

        Args:
            name: Path of the array in the archive.
            place: Layout of its first axis, or its name in :func:`.places_of`.
            local: Rank-local part.
        """
        layout = self._places[place] if isinstance(place, str) else place
        values = layout.gather(local)
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


def keys_of(layout: str) -> str:
    """Name in the archive of the keys of a layout."""
    return "nodes" if layout == "dofs" else f"nodes.{layout}"

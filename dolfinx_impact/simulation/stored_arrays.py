"""Arrays that rank 0 holds by name, and of which every rank takes its part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mpi4py import MPI

from .. import parallel
from .._types import AnyArray
from .parallel_layout import Layout, Replicated


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
        self.places: Mapping[str, Layout] = {"number": Replicated(MPI.COMM_WORLD)}
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
        return layout.scatter(MPI.COMM_WORLD.bcast(values, root=0) if self.replicated else values)

    def whole(self, name: str, size: int | None = None) -> AnyArray | None:
        """The complete array on rank 0, None on others; a ValueError unless it has ``size`` entries."""
        values, error = None, None
        if MPI.COMM_WORLD.rank == 0:
            try:
                values = self._load(name)
            except Exception as caught:
                error = ValueError(f"{self.source} is damaged: {name} cannot be read ({caught})")
        if values is not None and size is not None and values.shape[:1] != (size,):
            error = self.other(f"{name} has {values.shape[0] if values.ndim else 'no'} entries, not {size}")
        parallel.agree(MPI.COMM_WORLD, error)
        return values

    def in_memory(self, *folders: str) -> StoredArrays:
        """The arrays in some folders, read now: they outlast the file."""
        names = sorted(name for name in self._names if name.startswith(folders))
        arrays = {name: self.whole(name) for name in names}

        def load(name: str) -> AnyArray:
            values = arrays[name]
            assert values is not None  # on rank 0
            return values

        kept = StoredArrays(self.source, names, load)
        kept.places, kept.replicated = self.places, self.replicated
        return kept

    def other(self, difference: str) -> ValueError:
        """The error of a checkpoint of another run, with the difference in words."""
        return ValueError(f"{self.source} is a checkpoint of another run: {difference}")

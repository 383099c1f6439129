"""PVD files: a collection of the times of a run, with a VTU file for each rank and time."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from dolfinx import fem

from ..atomic_file import whole_file
from .file_format import FileFormat, refuse_others, something_else
from .vtu import Piece, array_of, document

#: Files in the folder; with those that a killed run has left.
_OURS = r"\d{6,}(-\d+)?\.p?vtu|\.\d{6,}(-\d+)?\.p?vtu\..{8}"


class PVD(FileFormat):
    """``drop.pvd`` with its pieces in the folder ``drop.pieces``, for elements of any degree.

    A sample is ``drop.pieces/000012.vtu`` on one rank, and on several ``000012.pvtu`` with
    ``000012-0.vtu``, ``000012-1.vtu``, ... of the ranks that have cells. Every file is written whole, those
    of a sample before the collection names them: what it names can be read at any time.
    """

    about = "VTU"
    grows = False

    def __init__(self, path: Path, functions: Sequence[fem.Function]) -> None:
        super().__init__(path, functions)
        self._folder = _folder(path)
        self._piece = Piece(functions[0].function_space)
        self._with_cells = np.flatnonzero(self.mesh.comm.allgather(len(self._piece.cells)))
        self._times: list[float] = []
        self._unpublished: list[Path] = []
        self._t = 0.0

    @staticmethod
    def clear(path: Path) -> None:
        """Remove an earlier collection, then its pieces."""
        folder = _folder(path)
        if path.is_dir():
            raise something_else(path)
        if folder.exists():
            refuse_others(path, folder, _OURS)
        path.unlink(missing_ok=True)
        if folder.exists():
            shutil.rmtree(folder)

    def open(self) -> None:
        """Make the folder."""
        if self.mesh.comm.rank == 0:
            self._folder.mkdir()

    def write(self, t: float) -> None:
        """Write the piece of this rank."""
        self._t = float(t)
        if len(self._piece.cells):
            self._unpublished.append(self._file(self.mesh.comm.rank))
            with whole_file(self._unpublished[0]) as file:
                self._piece.write(file, self._piece.fields(self.functions))

    def publish(self) -> None:
        """Add the sample to the collection."""
        if self.mesh.comm.rank == 0:
            if self.mesh.comm.size > 1:
                self._unpublished.append(self._file())
                with whole_file(self._file()) as file:
                    file.writelines(self._joined())
            with whole_file(self.path) as file:
                file.writelines(self._collection())
        self._times.append(self._t)
        self._unpublished = []

    def close(self) -> None:
        """Nothing is left to do."""

    def files(self) -> list[Path]:
        """The collection and the folder of the pieces."""
        return [self.path, self._folder]

    def abandon(self) -> None:
        """Remove what was written of a sample that is not in the collection."""
        for file in self._unpublished:
            file.unlink(missing_ok=True)
        self._unpublished = []

    def _file(self, rank: int | None = None) -> Path:
        """The file of a rank, or that of all, of the sample that is written."""
        return self._folder / _name(len(self._times), self.mesh.comm.size > 1, rank)

    def _joined(self) -> tuple[bytes, bytes]:
        """The pieces of the ranks, and what arrays they have."""
        fields = self._piece.fields(self.functions)
        arrays = "".join(f"{array_of('PDataArray', name, values)}/>\n" for name, values in fields.items())
        points = f"{array_of('PDataArray', 'Points', self._piece.x)}/>\n"
        pieces = "".join(f'<Piece Source="{self._file(rank).name}"/>\n' for rank in self._with_cells)
        inside = f"<PPointData>\n{arrays}</PPointData>\n<PPoints>\n{points}</PPoints>\n{pieces}"
        return document("PUnstructuredGrid", inside)

    def _collection(self) -> tuple[bytes, bytes]:
        """All times with that of this sample, each with its file."""
        several = self.mesh.comm.size > 1
        lines = (
            f'<DataSet timestep="{t!r}" part="0" '
            f"file={quoteattr(f'{self._folder.name}/{_name(number, several)}')}/>\n"
            for number, t in enumerate([*self._times, self._t])
        )
        return document("Collection", "".join(lines))


def _folder(path: Path) -> Path:
    return path.with_suffix(".pieces")


def _name(number: int, several: bool, rank: int | None = None) -> str:
    """Name of the file of a sample, of one rank of several or of all."""
    if not several:
        return f"{number:06d}.vtu"
    return f"{number:06d}.pvtu" if rank is None else f"{number:06d}-{rank}.vtu"

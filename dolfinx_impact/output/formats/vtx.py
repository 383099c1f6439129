"""VTX files of ADIOS2, by DOLFINx."""

from __future__ import annotations

import shutil
from pathlib import Path

from dolfinx import io

from .file_format import FileFormat, refuse_others


class VTX(FileFormat):
    """A folder ``drop.bp`` of ADIOS2: the mesh once, for elements of any degree. For ParaView alone."""

    about = "VTX"

    @staticmethod
    def clear(path: Path) -> None:
        """Remove an earlier folder."""
        if path.exists():
            refuse_others(path, path, r"(data|md|mmd|profiling)\..*")
            shutil.rmtree(path)

    def open(self) -> None:
        """Open the writer of DOLFINx."""
        self._writer = io.VTXWriter(
            self.mesh.comm, self.path, self.functions, engine="BP4", mesh_policy=io.VTXMeshPolicy.reuse
        )

    def write(self, t: float) -> None:
        """Append a sample."""
        self._writer.write(t)

    def files(self) -> list[Path]:
        """Those in the folder."""
        return [self.path / name for name in ("data.0", "md.0", "md.idx")]

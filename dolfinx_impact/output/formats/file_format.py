"""Base class of the formats: how a file of fields is opened, written, completed and removed."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from dolfinx import fem


class FileFormat:
    """A file of functions on a mesh, as a format writes it; :class:`.FieldFile` handles the errors.

    All ranks of the mesh call :meth:`open`, :meth:`write` and :meth:`close`, which may communicate;
    :meth:`publish` is called on all ranks after all have written.

    Args:
        path: The file.
        functions: Functions of each sample, in one scalar element or its blocked vector element.

    Attributes:
        path, functions: The arguments.
        mesh: Their mesh.
    """

    #: What the format is, for messages.
    about: ClassVar[str]
    #: Whether one file has the samples of all ranks and grows with each, with the mesh in front.
    grows: ClassVar[bool] = True

    def __init__(self, path: Path, functions: Sequence[fem.Function]) -> None:
        self.path, self.functions = path, list(functions)
        self.mesh = functions[0].function_space.mesh
        self._writer: Any = None

    @staticmethod
    def refuse(degree: int, curved: bool) -> None:
        """Raise a ValueError for elements that the format does not support.

        Args:
            degree: Polynomial degree of the functions.
            curved: Whether the geometry has other nodes than the functions.
        """

    @staticmethod
    def clear(path: Path) -> None:
        """Remove an earlier file of this format and what belongs to it, and nothing else; not collective.

        Raises:
            OSError: Something else of this name.
        """
        raise NotImplementedError

    def open(self) -> None:
        """Begin the file, before the first sample."""
        raise NotImplementedError

    def write(self, t: float) -> None:
        """Write the functions at time ``t`` [s]."""
        raise NotImplementedError

    def publish(self) -> None:
        """Make the sample that all ranks have written a part of the file."""

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()
        self._writer = None

    def files(self) -> list[Path]:
        """Files that nobody else may replace while this one is written."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Leave the file after an error; a library's writer is leaked: its destructor ends the process."""
        if self._writer is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(getattr(self._writer, "_cpp_object", self._writer)))
        self._writer = None


def something_else(path: Path) -> OSError:
    """The error of a name that is taken by something of another kind."""
    return OSError(f"could not write {str(path)!r}: there is something else of this name")


def refuse_others(path: Path, folder: Path, ours: str) -> None:
    """Refuse to remove what does not belong to a file of fields; nothing is removed.

    Args:
        path: The file to be written, for the message.
        folder: What may be its folder.
        ours: Regular expression of the names in the folder that may be removed.

    Raises:
        OSError: It is no folder, or there are other files in it.
    """
    if not folder.is_dir():
        raise something_else(folder)
    others = sorted(file.name for file in folder.iterdir() if not re.fullmatch(ours, file.name))
    if others:
        which = "it" if folder == path else repr(folder.name)
        raise OSError(
            f"could not write {str(path)!r}: {which} is a folder of other files, with {others[0]!r}"
        )

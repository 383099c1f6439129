"""Formats of files of fields by suffix: how each is opened, written, completed and removed.

Errors, full disks and failing ranks are those of :class:`.FieldFile`, schedule and values those of
:class:`.FieldWriter`.
"""

from .file_format import FileFormat
from .pvd import PVD
from .vtx import VTX
from .xdmf import XDMF

#: The formats by the suffix of the file.
FORMATS: dict[str, type[FileFormat]] = {".bp": VTX, ".pvd": PVD, ".xdmf": XDMF}

__all__ = ["FORMATS", "FileFormat"]

"""Pictures of runs: histories and energies (matplotlib), strips and animations of solids (pyvista).

:func:`history` and :func:`energy` plot a :class:`.Result`; :func:`strip` and :func:`animate` (GIF, MP4) draw
a solid and its obstacle at the moments stored by :class:`Snapshots`, those of ``frames`` a frame of beams.
For pictures of your own :func:`pyplot` and :func:`load_pyvista` are the libraries, imported when they are
called. Data for other programs: ``output``.
"""

from . import frames
from .drawing import load_pyvista, pyplot
from .film import animate, strip
from .histories import energy, history, style
from .snapshots import Moment, Snapshots

__all__ = [
    "Moment",
    "Snapshots",
    "animate",
    "energy",
    "frames",
    "history",
    "load_pyvista",
    "pyplot",
    "strip",
    "style",
]

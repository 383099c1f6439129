"""Pictures of runs: histories and energies (matplotlib), strips and animations of solids (pyvista).

:func:`history` and :func:`energy` plot a :class:`.Result`; :func:`strip` and :func:`animate` (GIF, MP4) draw
a solid and its obstacle at the moments stored by :class:`Snapshots`. Data for other programs: ``output``.
"""

from .drawing import pyplot
from .film import animate, strip
from .histories import energy, history, style
from .snapshots import Moment, Snapshots

__all__ = ["Moment", "Snapshots", "animate", "energy", "history", "pyplot", "strip", "style"]

"""Pictures of runs: histories beside exact ones and energies (matplotlib), strips and films (pyvista).

:func:`history` and :func:`energy` draw what a run recorded; :func:`strip` and :func:`animate` (GIF, MP4) a
solid and its obstacle at the moments that :class:`Snapshots` kept. Numbers for other programs: ``output``.
"""

from .drawing import pyplot
from .film import animate, strip
from .histories import energy, history, style
from .snapshots import Moment, Snapshots

__all__ = ["Moment", "Snapshots", "animate", "energy", "history", "pyplot", "strip", "style"]

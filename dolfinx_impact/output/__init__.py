"""Output of runs: histories, fields for ParaView, stresses, atomic files; observers that measure.

Pictures are in ``plot``, checkpoints in ``simulation``.
"""

from .atomic_file import refuse_unwritable, whole_file, write_whole
from .contact_force import ContactForce, ImpulseHistory
from .fields import FieldWriter
from .history_field import HistoryField
from .observer import Observer
from .peak_stress import Peak, PeakStress
from .permanent_set import PermanentSet
from .result import Result, relative_residual
from .rigid_part import RigidMotion, displacements_from_rigid, rigid_motion
from .stress import VonMises

__all__ = [
    "ContactForce",
    "FieldWriter",
    "HistoryField",
    "ImpulseHistory",
    "Observer",
    "Peak",
    "PeakStress",
    "PermanentSet",
    "Result",
    "RigidMotion",
    "VonMises",
    "displacements_from_rigid",
    "refuse_unwritable",
    "relative_residual",
    "rigid_motion",
    "whole_file",
    "write_whole",
]

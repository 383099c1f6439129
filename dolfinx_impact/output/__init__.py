"""Output of runs: histories, fields for ParaView, stresses, atomic files; base class of observers.

Pictures are in ``plot``, checkpoints in ``simulation``.
"""

from .atomic_file import refuse_unwritable, whole_file, write_whole
from .fields import FieldWriter
from .history_field import HistoryField
from .observer import Observer
from .result import Result, relative_residual
from .stress import VonMises

__all__ = [
    "FieldWriter",
    "HistoryField",
    "Observer",
    "Result",
    "VonMises",
    "refuse_unwritable",
    "relative_residual",
    "whole_file",
    "write_whole",
]

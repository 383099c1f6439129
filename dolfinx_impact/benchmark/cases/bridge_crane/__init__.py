"""The bridge crane in an earthquake: case, measures, claims and figures of its papers.

For scripts that vary it: names of the parts and sections of its beams, their masses [kg], the ground motion
and the landings of the wheels.
"""

from .events import EventLog, Events
from .model import BEAMS, MASSES, SECTIONS, horizontal_hold
from .record import record as ground_acceleration

__all__ = ["BEAMS", "MASSES", "SECTIONS", "EventLog", "Events", "ground_acceleration", "horizontal_hold"]

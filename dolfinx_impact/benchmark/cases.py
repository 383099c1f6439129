"""The cases of the benchmark by name."""

from __future__ import annotations

from typing import Mapping

from .case import Case
from .discrete_arch import DISCRETE_ARCH
from .impacting_bar import IMPACTING_BAR
from .rotating_spring import ROTATING_SPRING

CASES: Mapping[str, Case] = {
    "rotating-spring": ROTATING_SPRING,
    "impacting-bar": IMPACTING_BAR,
    "discrete-arch": DISCRETE_ARCH,
}

"""Measured Taylor tests, and constants of their metals from other tests.

The shots stand in ``taylor_shots.csv``: 79 of those that B. Banerjee collected
(https://github.com/bbanerjee/HighRateExptData, folder TaylorData, commit e936876, MIT licence; see also
arXiv:cond-mat/0512466). It is a second hand: the column ``source`` names the first. Values are those of its
tables, or were digitised from printed profiles, which is good to 4 % of the diameter of the face.
"""

from __future__ import annotations

import csv
import functools
import math
from importlib import resources
from typing import NamedTuple

from .... import J2Plasticity, JohnsonCook

ROOM = 295.0  #: Temperature of cold shots [K].


class Metal(NamedTuple):
    """Constants of a metal in SI units, rates over 1/s; none is fitted to Taylor tests."""

    E: float
    nu: float
    rho: float
    A: float
    B: float
    n: float
    C: float
    m: float
    melting: float  #: [K]
    heat: float  #: Specific heat [J/(kg K)].
    source: str  #: Where they were read.

    def law(self, C: float | None = None) -> J2Plasticity:
        """The law; ``C`` is another coefficient of the rate."""
        hardening = JohnsonCook(
            self.A, self.B, self.n, self.C if C is None else C, m=self.m, reference_temperature=293.0,
            melting_temperature=self.melting, heat_capacity=self.rho * self.heat, heat_fraction=0.9,
        )  # fmt: skip
        return J2Plasticity(self.E, self.nu, hardening=hardening)


METALS = {
    "copper": Metal(
        124e9, 0.34, 8960.0, 90e6, 292e6, 0.31, 0.025, 1.09, 1356.0, 383.0,
        "OFHC copper of Johnson and Cook, Proc. 7th Int. Symp. Ballistics (1983), 541-547, as two public "
        "codes have it (one prints C = 0.0025, a slip)",
    ),
    "4340": Metal(
        200e9, 0.29, 7830.0, 792e6, 510e6, 0.26, 0.014, 1.03, 1793.0, 477.0,
        "4340, Rc 30, of Johnson and Cook, Eng. Fract. Mech. 21 (1985), 31-48, as quoted, also by the crate "
        "oxiphysics-materials; E, nu, density and specific heat as in get_properties.m of "
        "github.com/ijd2104/ShearBands, which has A and B in shear",
    ),
    "6061-T6": Metal(
        69e9, 0.33, 2700.0, 324e6, 114e6, 0.42, 0.002, 1.34, 925.0, 896.0,
        "Lesuer, Kay and LeBlanc, LLNL UCRL-JC-134118 (2001), table 1, as a public code quotes it; these and "
        "the melting temperature also in material_wave32_test.cpp of github.com/lxidea/NexusSim (others have "
        "855 to 934 K, which moves lengths by 0.4 % at most); E, B, n and specific heat in al_6061.py of "
        "github.com/sandialabs/Payette",
    ),
}  # fmt: skip


class Shot(NamedTuple):
    """A shot: a cylinder and its speed, and what was measured of it."""

    set: str
    metal: str
    heat: str  #: Heat treatment, in words.
    source: str
    D0: float  #: Diameter [m].
    L0: float  #: Length [m].
    v: float  #: Speed [m/s].
    temperature: float  #: At the start [K].
    length_ratio: float  #: Final length over L0.
    face_ratio: float | None  #: Final diameter of the face over D0; None where it was not measured.
    length_read: str  #: How it was read: ``"table"`` or ``"digitised"``.
    face_read: str
    note: str


def _shot(row: dict[str, str]) -> Shot:
    D0, L0 = 1e-3 * float(row["D0_mm"]), 1e-3 * float(row["L0_mm"])

    def ratio(name: str, size: float) -> float | None:
        """A ratio, given as such or as a length [mm]."""
        if row[f"{name}_ratio"]:
            return float(row[f"{name}_ratio"])
        return 1e-3 * float(row[f"{name}_mm"]) / size if row[f"{name}_mm"] else None

    length = ratio("length", L0)
    assert length is not None
    words = (row[name] for name in ("set", "metal", "heat", "source"))
    how = (row[name] for name in ("length_read", "face_read", "note"))
    numbers = D0, L0, float(row["v_m_per_s"]), float(row["T_K"]), length, ratio("face", D0)
    return Shot(*words, *numbers, *how)  # type: ignore[call-arg, arg-type]


@functools.cache
def shots() -> dict[str, tuple[Shot, ...]]:
    """All shots by set, in the order of their speeds."""
    text = resources.files(__package__).joinpath("taylor_shots.csv").read_text(encoding="utf-8")
    every = sorted(map(_shot, csv.DictReader(text.splitlines())), key=lambda shot: shot.v)
    return {name: tuple(shot for shot in every if shot.set == name) for name in SETS}


#: The sets, and the part that the final length of a claimed shot may be off: 2 to 6 % for the scatter between
#: shots (0.3 to 2 %), the mesh (0.3 %), and the heat of a bar that is not the one of the constants.
SETS: dict[str, float | None] = {
    "copper-wilkins": 0.03,
    "copper-etp-hot": 0.05,
    "copper-etp-cold": 0.06,
    "copper-ofhc-gust": None,
    "copper-ofhc-johnson": None,
    "copper-house": None,
    "4340-house": 0.02,
    "4340-gust-cold": 0.02,
    "4340-gust-hot": 0.05,
    "4340-johnson": None,
    "6061-house": 0.04,
    "6061-wilkins": 0.04,
}
_LABORATORIES = (
    "near 190 m/s laboratories differ by 15 % of the length of copper, by its annealing, which is not stated"
)
#: Why sets are reported, not claimed.
REPORTED = {
    "copper-ofhc-gust": _LABORATORIES,
    "copper-ofhc-johnson": _LABORATORIES,
    "copper-house": _LABORATORIES + "; this one is half hard by its behaviour",
    "4340-johnson": "two of the three cylinders are at most 12.7 mm long, and shots of other laboratories "
    "under the same conditions differ from these by as much as the prediction",
}
#: Aluminium that is faster [m/s] strains beyond 2.5, for which the law has no damage, and the part allowed.
FAST, FAST_ALLOWED = 310.0, 0.06
#: How far below and above the faces with friction 0.1 and without a measured one may be, over them.
FACE_BELOW, FACE_ABOVE = 0.04, 0.06


def allowed(shot: Shot) -> float | None:
    """The part that the final length may be off; None where it is reported, not claimed."""
    if shot.note:
        return None
    return FAST_ALLOWED if shot.metal == "6061-T6" and shot.v > FAST else SETS[shot.set]


def picked(name: str, count: int) -> list[Shot]:
    """So many shots of a set, all for 0: the first and the last by speed and, evenly by number, others."""
    every = shots()[name]
    if count == 1:
        return [every[len(every) // 2]]
    if not 0 < count < len(every):
        return list(every)
    return [every[math.floor(k * (len(every) - 1) / (count - 1) + 0.5)] for k in range(count)]

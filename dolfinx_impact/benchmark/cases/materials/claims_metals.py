"""Metals that yield: the Taylor test and the plastic wave beside what is known of them."""

from __future__ import annotations

from typing import Any

from ...claim import Measured, Row, below, equal, row, table
from ...convergence import order
from ...runs import Runs
from . import plastic_wave, taylor_bar

CD = "cd-lagrange"
TAYLOR, WAVE = "taylor-bar", "plastic-wave"
SIMO, FOULK = "Simo, Comput. Methods Appl. Mech. Engrg. 99 (1992)", "Foulk et al. (2021)"
SHOCKS = "Rankine-Hugoniot conditions"
#: Sizes of cells at which each geometry is judged [m].
SIZES = {"axisymmetric": 4e-4, "quarter": 5e-4, "tetrahedra": 5e-4}
STATES = ("stress", "strain")
CELLS = (100, 200, 400)  #: Cells along the bar.
PLAIN = {"geometry": "tetrahedra", "locking": "none", "size": 8e-4}


def metal(case: str, id: str, source: str, setting: str, /, *given: Any, **more: Any) -> Row:
    """A row for a case; claim, measure, comparison and reason are ``given``."""
    return row(f"{case}-{id}", f"{case}, {setting}", *given, per=(CD,), case=case, paper=source, **more)


def _beside(runs: Runs, scheme: str, name: str, geometry: str) -> Measured:
    """A length [mm] beside that of the independent code with cells of the same size."""
    run = runs(TAYLOR, scheme, geometry=geometry, size=SIZES[geometry])
    known = taylor_bar.known(dict(run.summary["parameters"]))
    assert known is not None
    bound = {"face_radius": known.radius, "length_end": known.length}[name]
    return Measured(1e3 * run.results[name], bound, taylor_bar.ALLOWED[geometry] * bound)


def _radius(runs: Runs, scheme: str, **settings: Any) -> float:
    return float(1e3 * runs(TAYLOR, scheme, **settings).results["face_radius"])


def _worked(runs: Runs, scheme: str) -> float:
    found = runs(TAYLOR, scheme, geometry="axisymmetric", size=SIZES["axisymmetric"]).results
    return float(found["plastic_work"] / found["energy_start"])


def _ratios(runs: Runs, scheme: str, state: str, names: tuple[str, ...]) -> dict[str, float]:
    found = runs(WAVE, scheme, state=state).results
    return {name.replace("_", " "): found[name] / found[f"{name}_exact"] for name in names}


def errors(runs: Runs, scheme: str, state: str) -> list[float]:
    """Errors of the velocity as cells and step are refined together."""
    return [runs(WAVE, scheme, state=state, cells=n).results["error"] for n in CELLS]


def _order(runs: Runs, scheme: str, state: str) -> float:
    return order([1 / n for n in CELLS], errors(runs, scheme, state))


_SPEEDS, _STRESSES = ("speed_elastic", "speed_plastic"), ("stress_precursor", "stress_face")
_LOW, _HIGH = plastic_wave.ORDERS
CLAIMS = table("", "", [
    *(metal(TAYLOR, f"{what}-{geometry}", SIMO, f"{geometry}, cells of {1e3 * size:g} mm, the wall pushes",
            f"The {words} is that of an independent code with cells of the same size", _beside, equal(),
            f"{words} [mm]", name=name, geometry=geometry)
      for geometry, size in SIZES.items()
      for what, name, words in (("radius", "face_radius", "radius of the face"),
                                ("length", "length_end", "length of the bar"))),
    metal(TAYLOR, "literature", FOULK, "axisymmetric, cells of 0.4 mm, the face held",
          "With the face held its radius is that of the literature", _radius,
          equal(taylor_bar.LITERATURE, 0.015 * taylor_bar.LITERATURE), "radius of the face [mm]",
          wall="fixed", size=4e-4),
    metal(TAYLOR, "work", SIMO, "axisymmetric, cells of 0.4 mm, the wall pushes",
          "Nearly all energy becomes plastic work", _worked, equal(*taylor_bar.WORKED),
          "plastic work over the energy at the start"),
    metal(TAYLOR, "plain", SIMO, "plain tetrahedra, cells of 0.8 mm", "Plain tetrahedra lock", _radius,
          below(taylor_bar.LOCKED), "radius of the face [mm], 7.37 in the limit of small cells", **PLAIN),
    *(metal(WAVE, f"speeds-{state}", SHOCKS, f"one-dimensional {state}, 400 cells",
            "Precursor and plastic front have the speeds of the shocks", _ratios,
            equal(1.0, plastic_wave.SPEEDS), "over the exact ones", state=state, names=_SPEEDS)
      for state in STATES),
    *(metal(WAVE, f"stresses-{state}", SHOCKS, f"one-dimensional {state}, 400 cells",
            "Mean stresses behind both fronts are those of the shocks", _ratios,
            equal(1.0, plastic_wave.MEANS), "over the exact ones", state=state, names=_STRESSES)
      for state in STATES),
    *(metal(WAVE, f"order-{state}", SHOCKS, f"one-dimensional {state}, 100 to 400 cells",
            "The error falls with an order of about 2/3, not 1, as cells and step are refined", _order,
            equal((_LOW + _HIGH) / 2, (_HIGH - _LOW) / 2), "order of the mean error of the velocity",
            state=state) for state in STATES),
])  # fmt: skip

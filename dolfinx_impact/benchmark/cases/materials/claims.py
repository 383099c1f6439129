"""Rubber that hardly changes its volume, and metals that yield: what elements reach beside what is known."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...claim import Measured, Runs, above, below, equal, table
from ...convergence import order
from ..solids import claims as solids
from . import cook_membrane, plastic_wave, rubber_block, taylor_bar

CD = "cd-lagrange"
COOK, RUBBER, TAYLOR, WAVE = "cook-membrane", "rubber-block", "taylor-bar", "plastic-wave"
COOKS = "Cook, J. Struct. Div. ASCE 100 (1974)"
PATCH = "Nagtegaal et al., Comput. Methods Appl. Mech. Eng. 4 (1974)"
NODAL = "Bonet, Burton, Commun. Numer. Meth. Eng. 14 (1998)"
SIMO, FOULK = "Simo, Comput. Methods Appl. Mech. Engrg. 99 (1992)", "Foulk et al. (2021)"
SHOCKS = "Rankine-Hugoniot conditions"
KINDS, SHAPES = ("quadrilateral", "triangle"), ("block", "ball")
#: Sizes of cells at which each geometry is judged [m].
SIZES = {"axisymmetric": 4e-4, "quarter": 5e-4, "tetrahedra": 5e-4}
STATES = ("stress", "strain")
CELLS = (100, 200, 400)  #: Cells along the bar.
PLAIN = {"locking": "none"}
PLAIN_BAR = {**PLAIN, "geometry": "tetrahedra", "size": 8e-4}
#: A row for a case, as of the solids.
known = partial(solids.known, per=(CD,))


def _pressure(runs: Runs, scheme: str) -> Measured:
    plain, smooth = (runs(RUBBER, scheme, **more).results["mean_pressure"] for more in (PLAIN, {}))
    return Measured(plain / smooth, note=f"Mean pressures [Pa]: {plain:.4g}, {smooth:.4g}")


def _beside(runs: Runs, scheme: str, name: str, geometry: str) -> Measured:
    """A length [mm] beside that of the independent code with cells of the same size."""
    run = runs(TAYLOR, scheme, geometry=geometry, size=SIZES[geometry])
    of_code = taylor_bar.known(run.summary["parameters"])
    assert of_code is not None
    bound = {"face_radius": of_code.radius, "length_end": of_code.length}[name]
    return Measured(1e3 * run.results[name], bound, taylor_bar.ALLOWED[geometry] * bound)


def _radius(runs: Runs, scheme: str, **settings: Any) -> float:
    return float(1e3 * runs(TAYLOR, scheme, **settings).results["face_radius"])


def _worked(runs: Runs, scheme: str) -> float:
    results = runs(TAYLOR, scheme, geometry="axisymmetric", size=SIZES["axisymmetric"]).results
    return float(results["plastic_work"] / results["energy_start"])


def _ratios(runs: Runs, scheme: str, state: str, names: tuple[str, ...]) -> dict[str, float]:
    results = runs(WAVE, scheme, state=state).results
    return {name.replace("_", " "): results[name] / results[f"{name}_exact"] for name in names}


def errors(runs: Runs, scheme: str, state: str) -> list[float]:
    """Errors of the velocity as cells and step are refined together."""
    return [runs(WAVE, scheme, state=state, cells=n).results["error"] for n in CELLS]


def _order(runs: Runs, scheme: str, state: str) -> float:
    return order([1 / n for n in CELLS], errors(runs, scheme, state))


_BOTH_SHAPES = {shape: {"shape": shape} for shape in SHAPES}
_TIP = "tip over that of Q4 elements on a fine mesh"
_ROUGH = "rms of cells less the mean of their neighbours, over the variation of the pressure"
_SPEEDS, _STRESSES = ("speed_elastic", "speed_plastic"), ("stress_precursor", "stress_face")
_LOW, _HIGH = plastic_wave.ORDERS
CLAIMS = table("", "", [
    *(known(COOK, f"tip-{cell}", COOKS, f"{cell}s, 24 along each side",
            f"{way} does not lock at nu = 0.4999", "tip_ratio",
            equal(1.0, cook_membrane.ALLOWED), _TIP, cell=cell)
      for cell, way in zip(KINDS, ("Mean dilatation", "Nodal pressure"))),
    *(known(COOK, f"plain-{cell}", COOKS, f"plain {cell}s, 24 along each side",
            f"Plain {cell}s lock", "tip_ratio", below(0.65), _TIP, cell=cell, **PLAIN) for cell in KINDS),
    *(known(RUBBER, f"smooth-{cell}", source, f"{cell}s, block and ball",
            f"The pressure of {cell}s by {way} has no checkerboard", "roughness",
            below(rubber_block.SMOOTH), _ROUGH, over=_BOTH_SHAPES, cell=cell)
      for cell, way, source in zip(KINDS, ("mean dilatation", "nodal pressure"), (PATCH, NODAL))),
    *(known(RUBBER, f"volume-{cell}", source, f"{cell}s, block and ball",
            f"Volumes of {cell}s are kept to a thousandth", "volume_change",
            below(rubber_block.KEPT), "largest relative change", over=_BOTH_SHAPES, cell=cell)
      for cell, source in zip(KINDS, (PATCH, NODAL))),
    *(known(RUBBER, f"plain-{shape}", PATCH, f"plain triangles, {shape}",
            "The pressure of plain triangles is a checkerboard", "roughness",
            above(1.0), _ROUGH, shape=shape, cell="triangle", **PLAIN) for shape in SHAPES),
    known(RUBBER, "plain-quadrilateral", PATCH, "plain quadrilaterals, block",
          "Plain quadrilaterals resist by several times the pressure", _pressure,
          above(5.0), "mean pressure over that of mean dilatation"),
    known(RUBBER, "parallel", NODAL, "triangles with parallel diagonals, block",
          "By nodal pressure triangles with parallel diagonals keep a checkerboard", "roughness",
          above(rubber_block.SMOOTH), _ROUGH, cell="triangle", diagonals="parallel"),
    *(known(TAYLOR, f"{what}-{geometry}", SIMO, f"{geometry}, cells of {1e3 * size:g} mm, the wall pushes",
            f"The {words} is that of an independent code with cells of the same size", _beside, equal(),
            f"{words} [mm]", name=name, geometry=geometry)
      for geometry, size in SIZES.items()
      for what, name, words in (("radius", "face_radius", "radius of the face"),
                                ("length", "length_end", "length of the bar"))),
    known(TAYLOR, "literature", FOULK, "axisymmetric, cells of 0.4 mm, the face held",
          "With the face held its radius is that of the literature", _radius,
          equal(taylor_bar.LITERATURE, 0.015 * taylor_bar.LITERATURE), "radius of the face [mm]",
          wall="fixed", size=4e-4),
    known(TAYLOR, "work", SIMO, "axisymmetric, cells of 0.4 mm, the wall pushes",
          "Nearly all energy becomes plastic work", _worked, equal(*taylor_bar.WORKED),
          "plastic work over the energy at the start"),
    known(TAYLOR, "plain", SIMO, "plain tetrahedra, cells of 0.8 mm", "Plain tetrahedra lock", _radius,
          below(taylor_bar.LOCKED), "radius of the face [mm], 7.37 in the limit of small cells", **PLAIN_BAR),
    *(known(WAVE, f"speeds-{state}", SHOCKS, f"one-dimensional {state}, 400 cells",
            "Precursor and plastic front have the speeds of the shocks", _ratios,
            equal(1.0, plastic_wave.SPEEDS), "over the exact ones", state=state, names=_SPEEDS)
      for state in STATES),
    *(known(WAVE, f"stresses-{state}", SHOCKS, f"one-dimensional {state}, 400 cells",
            "Mean stresses behind both fronts are those of the shocks", _ratios,
            equal(1.0, plastic_wave.MEANS), "over the exact ones", state=state, names=_STRESSES)
      for state in STATES),
    *(known(WAVE, f"order-{state}", SHOCKS, f"one-dimensional {state}, 100 to 400 cells",
            "The error falls with an order of about 2/3, not 1, as cells and step are refined", _order,
            equal((_LOW + _HIGH) / 2, (_HIGH - _LOW) / 2), "order of the mean error of the velocity",
            state=state) for state in STATES),
])  # fmt: skip

"""Nearly incompressible bodies: what elements that do not lock reach, beside plain ones."""

from __future__ import annotations

from typing import Any

from ...claim import Measured, Row, above, below, equal, row, table
from ...runs import Runs
from . import cook_membrane, rubber_block

CD = "cd-lagrange"
COOK, RUBBER = "cook-membrane", "rubber-block"
COOKS = "Cook, J. Struct. Div. ASCE 100 (1974)"
PATCH = "Nagtegaal et al., Comput. Methods Appl. Mech. Eng. 4 (1974)"
NODAL = "Bonet, Burton, Commun. Numer. Meth. Eng. 14 (1998)"
CELLS = ("quadrilateral", "triangle")
SHAPES = ("block", "ball")
PLAIN = {"locking": "none"}


def soft(case: str, id: str, source: str, setting: str, /, *given: Any, **more: Any) -> Row:
    """A row for a case; claim, measure, comparison and reason are ``given``."""
    return row(f"{case}-{id}", f"{case}, {setting}", *given, per=(CD,), case=case, paper=source, **more)


def _tip(runs: Runs, scheme: str, **settings: Any) -> float:
    return float(runs(COOK, scheme, **settings).results["tip_ratio"])


def _rubber(runs: Runs, scheme: str, name: str, **settings: Any) -> dict[str, float]:
    """A result of both shapes."""
    return {shape: runs(RUBBER, scheme, shape=shape, **settings).results[name] for shape in SHAPES}


def _rough(runs: Runs, scheme: str, **settings: Any) -> float:
    return float(runs(RUBBER, scheme, **settings).results["roughness"])


def _pressure(runs: Runs, scheme: str) -> Measured:
    plain, found = (runs(RUBBER, scheme, **more).results["mean_pressure"] for more in (PLAIN, {}))
    return Measured(plain / found, note=f"Mean pressures [Pa]: {plain:.4g}, {found:.4g}")


_TIP = "tip over that of Q4 elements on a fine mesh"
_ROUGH = "rms of cells less the mean of their neighbours, over the variation of the pressure"
CLAIMS = table("", "", [
    *(soft(COOK, f"tip-{cell}", COOKS, f"{cell}s, 24 along each side",
           f"{way} does not lock at nu = 0.4999", _tip, equal(1.0, cook_membrane.ALLOWED), _TIP, cell=cell)
      for cell, way in zip(CELLS, ("Mean dilatation", "Nodal pressure"))),
    *(soft(COOK, f"plain-{cell}", COOKS, f"plain {cell}s, 24 along each side",
           f"Plain {cell}s lock", _tip, below(0.65), _TIP, cell=cell, **PLAIN) for cell in CELLS),
    *(soft(RUBBER, f"smooth-{cell}", source, f"{cell}s, block and ball",
           f"The pressure of {cell}s by {way} has no checkerboard", _rubber,
           below(rubber_block.SMOOTH), _ROUGH, name="roughness", cell=cell)
      for cell, way, source in zip(CELLS, ("mean dilatation", "nodal pressure"), (PATCH, NODAL))),
    *(soft(RUBBER, f"volume-{cell}", source, f"{cell}s, block and ball",
           f"Volumes of {cell}s are kept to a thousandth", _rubber,
           below(rubber_block.KEPT), "largest relative change", name="volume_change", cell=cell)
      for cell, source in zip(CELLS, (PATCH, NODAL))),
    *(soft(RUBBER, f"plain-{shape}", PATCH, f"plain triangles, {shape}",
           "The pressure of plain triangles is a checkerboard", _rough,
           above(1.0), _ROUGH, shape=shape, cell="triangle", **PLAIN) for shape in SHAPES),
    soft(RUBBER, "plain-quadrilateral", PATCH, "plain quadrilaterals, block",
         "Plain quadrilaterals resist by several times the pressure", _pressure,
         above(5.0), "mean pressure over that of mean dilatation"),
    soft(RUBBER, "parallel", NODAL, "triangles with parallel diagonals, block",
         "By nodal pressure triangles with parallel diagonals keep a checkerboard", _rough,
         above(rubber_block.SMOOTH), _ROUGH, cell="triangle", diagonals="parallel"),
])  # fmt: skip

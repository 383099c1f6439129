"""What theory says of contact that lasts: Lame's shrink fit and Hertz's contact at rest."""

from __future__ import annotations

from typing import Any

from ...claim import Measured, Runs, above, below, equal, table
from ...convergence import order
from ..solids.claims import JOHNSON, MJ, known, result
from . import hertz_static, shaft_in_ring

RING, HERTZ, STATIC = "shaft-in-ring", "hertz-static", "static"
TIMOSHENKO = "Timoshenko, Goodier, Theory of Elasticity (1970)"
#: A solid shaft, a hollow one, and one in a ring of aluminium.
FITS: dict[str, dict[str, Any]] = {
    "a solid shaft": {},
    "a hollow shaft": {"bore": 0.01},
    "aluminium": {"E_ring": 7e10, "nu_ring": 0.33},
}
CELLS, RESOLUTIONS = (4, 8, 16), (5, 10, 20)
#: Small, so that the radii at which both parts are meshed are one.
CLOSE = {"interference": 1e-7, "gap_tolerance": 1e-14}
#: Pushes without and with Poisson's ratio.
PUSHES: dict[str, dict[str, Any]] = {
    "nu = 0": {"nu_shaft": 0.0, "nu_ring": 0.0},
    "nu = 0, hollow": {"nu_shaft": 0.0, "nu_ring": 0.0, "bore": 0.01},
    "nu = 0.3": {},
}
#: The second body: flat, convex, concave, and a softer concave one.
SHAPES: dict[str, dict[str, Any]] = {
    "flat": {},
    "convex": {"radius2": 0.02},
    "concave": {"radius2": -0.02},
    "soft": {"radius2": -0.02, "E2": 1e10, "nu2": 0.4},
}


def _ratios(runs: Runs, scheme: str, name: str, over: dict[str, Any], **settings: Any) -> dict[str, float]:
    """A result over the exact one by the words of the settings ``over``."""
    found = {words: runs(RING, scheme, **settings, **more).results for words, more in over.items()}
    return {words: results[name] / results[f"{name}_exact"] for words, results in found.items()}


def fit_errors(runs: Runs, scheme: str) -> list[float]:
    """Relative errors of the pressure as cells are refined."""
    found = [runs(RING, scheme, cells=cells, **CLOSE).results for cells in CELLS]
    return [abs(each["pressure"] / each["pressure_exact"] - 1) for each in found]


def hertz_errors(runs: Runs, scheme: str, geometry: str) -> list[float]:
    """Errors of the pressure as facets are refined."""
    over = [{"resolution": each} for each in RESOLUTIONS]
    return list(result(HERTZ, "pressure_error", runs, scheme, over=over, geometry=geometry))


def _fit_order(runs: Runs, scheme: str) -> float:
    return order([1 / cells for cells in CELLS], fit_errors(runs, scheme))


def _hertz_order(runs: Runs, scheme: str, geometry: str) -> Measured:
    errors = hertz_errors(runs, scheme, geometry)
    words = ", ".join(f"{each:.2g}" for each in errors)
    return Measured(order([1 / each for each in RESOLUTIONS], errors), note=f"Errors: {words}")


def _widths(runs: Runs, scheme: str, geometry: str) -> dict[str, float]:
    found = {words: runs(HERTZ, scheme, geometry=geometry, **more).results for words, more in SHAPES.items()}
    return {words: each["half_width"] / each["half_width_exact"] for words, each in found.items()}


_EIGHT = "8 cells across the ring"
_TEN = "10 facets over the half-width; flat, convex, concave, soft"
_BOTH = {"line": "cylinders", "point": "spheres"}
CLAIMS = table("", "", [
    known(RING, "pressure", TIMOSHENKO, f"{_EIGHT}; solid, hollow, aluminium",
          "An interference that closes gives Lame's pressure",
          _ratios, equal(1.0, shaft_in_ring.ALLOWED), "pressure over Lame's", per=(STATIC, MJ),
          name="pressure", over=FITS),
    known(RING, "hoop", TIMOSHENKO, f"{_EIGHT}; solid, hollow, aluminium",
          "The hoop stress at the bore of the ring is Lame's",
          _ratios, equal(1.0, shaft_in_ring.ALLOWED), "hoop stress over Lame's", per=(STATIC,),
          name="hoop_stress", over=FITS),
    known(RING, "order", TIMOSHENKO, "4, 8 and 16 cells across the ring",
          "The pressure converges with the square of the size of the cells",
          _fit_order, above(1.8), "order of the relative error", per=(STATIC,)),
    known(RING, "push", TIMOSHENKO, f"{_EIGHT}, friction 0.1; nu 0, nu 0 with a bore, nu 0.3",
          "The shaft is pushed out with the force of Coulomb's law, raised by Poisson's ratio",
          _ratios, equal(1.0, shaft_in_ring.ALLOWED), "force over the exact one", per=(STATIC,),
          name="push_force", over=PUSHES, push=2e-5),
    known(RING, "inside", TIMOSHENKO, _EIGHT, "No node of one part is in the other one",
          "depth", below(shaft_in_ring.NOTHING_INSIDE), "largest depth [m]", per=(STATIC,)),
    *(known(HERTZ, f"{geometry}-force", JOHNSON, _TEN,
            f"The load of {words} is Hertz's of their largest pressure or approach",
            "force_ratio", equal(1.0, hertz_static.FORCE), "load over Hertz's", per=(STATIC,),
            over=SHAPES, geometry=geometry) for geometry, words in _BOTH.items()),
    *(known(HERTZ, f"{geometry}-pressure", JOHNSON, _TEN, f"The pressure of {words} is Hertz's",
            "pressure_error", below(hertz_static.PRESSURE), "relative, in L2", per=(STATIC,),
            over=SHAPES, geometry=geometry) for geometry, words in _BOTH.items()),
    *(known(HERTZ, f"{geometry}-width", JOHNSON, _TEN, f"The half-width of the contact of {words} is Hertz's",
            _widths, equal(1.0, hertz_static.FORCE), "by the second moment of the forces, over Hertz's",
            per=(STATIC,), geometry=geometry) for geometry, words in _BOTH.items()),
    *(known(HERTZ, f"{geometry}-order", JOHNSON, "5, 10 and 20 facets over the half-width",
            f"The pressure of {words} converges to Hertz's",
            _hertz_order, above(0.9), "order of the error in L2", per=(STATIC,), geometry=geometry)
      for geometry, words in _BOTH.items()),
])  # fmt: skip

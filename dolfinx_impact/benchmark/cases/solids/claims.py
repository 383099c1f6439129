"""Solids whose answer is known: Hertz's theory, closed forms, symmetries, conservation laws, Lame's mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ...claim import FailedRun, Measured, Row, Run, Runs, above, below, equal, listing, row, table
from ...convergence import order
from . import cube_drop, free_flight, hertz_sphere, oblique_bar, sliding_block, spinning, wave_block

BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
HERTZ, CUBE, RIGID, SLIDING = "hertz-sphere", "cube-drop", "rigid-body", "sliding-block"
DISC, RING, FLIGHT = "spinning-disc", "ring-in-cylinder", "free-flight"
OBLIQUE, WAVE = "oblique-bar", "wave-block"
#: Where the answers come from.
JOHNSON, LAME = "Johnson, Contact Mechanics (1985)", "Lame's mode"
CLOSED, INVARIANCE, CONSERVED = "closed form", "invariance", "conservation law"
ROUNDING = 1e-12  #: Part that exact numbers may be off by rounding.
#: Elements along a side of the cube; the implicit scheme makes do with fewer.
CUBES = {CD: (4, 8, 16), MJ: (4, 6, 8)}
#: Angles of the plane [degrees] above and below that of the friction 0.3, 16.7 degrees.
ABOVE, BELOW = (20.0, 30.0, 45.0), (5.0, 10.0, 16.0)
DEGREES = (1, 2, 3)  #: Degrees of the elements that carry the wave.
#: Coefficients of friction of the rigid bodies, and whether their contact point sticks.
REGIMES = {"stick": (0.3, True), "slip": (0.1, False)}
#: Pairs of angles by which the bar is turned [degrees]; the first is the default.
TURNS = ((30.0, 50.0), (90.0, 0.0), (-17.0, 200.0))
_HALVED = (0.5, 0.25, 0.125)  #: Steps over the critical one, halved, whose stored energies are compared.


def known(case: str, id: str, source: str, setting: str, /, *given: Any, per: Any = BOTH, **more: Any) -> Row:
    """A row for a case, one claim per scheme; claim, measure, comparison and reason are ``given``.

    In the place of a measure stands the name of a result where ``more`` are the settings of :func:`result`.
    """
    claim, measure, *others = given
    measure = partial(result, case, measure) if isinstance(measure, str) else measure
    where = f"{case}-{id}", f"{case}, {setting}"
    return row(*where, claim, measure, *others, per=per, case=case, paper=source, **more)


def result(case: str, name: str, runs: Runs, scheme: str, over: Any = None, **settings: Any) -> Any:
    """A result of a run; of several runs with further settings ``over``, in a row or by name."""

    def of(more: Mapping[str, Any]) -> Any:
        return runs(case, scheme, **settings, **more).results[name]

    if isinstance(over, Mapping):
        return {key: of(more) for key, more in over.items()}
    return of({}) if over is None else [of(more) for more in over]


def number(run: Run, name: str, why: str) -> float:
    """A result of a run; a FailedRun where it has none, ``why`` says what that means."""
    value = run.results.get(name)
    if value is None:
        raise FailedRun(why)
    return float(value)


# -- impact and friction


def _hertz(runs: Runs, scheme: str, name: str, geometry: str, **settings: Any) -> Measured:
    run = runs(HERTZ, scheme, geometry=geometry, **settings)
    theory = run.results[f"{name}_hertz"]
    ratio = number(run, name, "the sphere does not leave the plane") / theory
    return Measured(ratio, tolerance=hertz_sphere.ALLOWED[geometry], note=f"Hertz: {theory:.5g}")


def _rebound(runs: Runs, scheme: str, **settings: Any) -> float:
    """Over v0, of a cube that has left the plane."""
    run = runs(CUBE, scheme, **settings)
    number(run, "contact_end", "the cube does not leave the plane")
    return float(run.results["rebound_ratio"])


def _rebounds(runs: Runs, scheme: str, elements: int = 8) -> dict[float, float]:
    return {e: _rebound(runs, scheme, elements=elements, restitution=e) for e in cube_drop.RESTITUTIONS}


def _modulus(runs: Runs, scheme: str) -> float:
    E = cube_drop.PARAMETERS["E"].default
    rebounds = [_rebound(runs, scheme, elements=8, E=E * part) for part in cube_drop.SOFTER]
    return float(np.ptp(rebounds) / np.max(np.abs(rebounds)))


def _spread(runs: Runs, scheme: str) -> Measured:
    rebounds = [list(_rebounds(runs, scheme, n).values()) for n in CUBES[scheme]]
    spread = np.maximum(np.ptp(rebounds, axis=1), 1e-16)
    slope = order([1 / n for n in CUBES[scheme]], spread)
    return Measured(slope, holds=bool(np.all(np.diff(spread) < 0)), note=f"Spreads: {listing(spread)}")


def _rigid(runs: Runs, scheme: str, shape: str, friction: float, sticks: bool) -> Measured:
    run = runs(RIGID, scheme, shape=shape, friction=friction)
    r, radius = run.results, run.summary["parameters"]["R"]
    speed = max(abs(r["vx_exact"]), abs(r["vy_exact"]), radius * abs(r["spin_exact"]))
    scales = {"vx": speed, "vy": speed, "spin": speed / radius}
    scales |= dict.fromkeys(("impulse_n", "impulse_t"), r["impulse_n_exact"])
    off = {name: abs(r[name] - r[f"{name}_exact"]) / scale for name, scale in scales.items()}
    return Measured(max(off.values()), holds=r["sticks"] is sticks)


def _coefficient(runs: Runs, scheme: str) -> Measured:
    shapes = [(shape, friction) for shape in ("disc", "square") for friction, _ in REGIMES.values()]
    hits = [runs(RIGID, scheme, shape=shape, friction=friction) for shape, friction in shapes]
    (e,) = {run.summary["parameters"]["restitution"] for run in hits}
    return Measured([run.results["coefficient"] for run in hits], e)


def acceleration(runs: Runs, scheme: str, angle: float, case_: str = SLIDING) -> Measured:
    """The mean acceleration of the block, which is that of a rigid one."""
    run = runs(case_, scheme, angle=angle)
    mean = number(run, "mean_acceleration", "the run is too short for a mean acceleration")
    expected = run.results["expected_acceleration"]
    return Measured(mean, expected, 1e-3 * expected)


# -- invariants and orders


def _kept(runs: Runs, scheme: str, name: str, case_: str) -> Measured:
    r = runs(case_, scheme).results
    return Measured(r[name], holds=r["contact_phases"] > 0 and r["contact_work"] < 0)


def _stored(runs: Runs, scheme: str, case_: str) -> Measured:
    halved = [runs(case_, scheme, courant=courant).results for courant in _HALVED]
    defects = [abs(r["stored_energy_defect"]) for r in halved]
    slope = order([r["h"] for r in halved], np.maximum(defects, 1e-16))
    return Measured(slope, note=f"Defects: {listing(defects)}")


def _flight(runs: Runs, scheme: str, name: str, limit: float) -> Measured:
    run = runs(FLIGHT, scheme)
    defect = number(run, name, f"a conserved energy of {scheme} is not known")
    if name.endswith("momentum_defect"):
        limit *= max(1.0, math.sqrt(run.summary["steps"] / 1e4))
    return Measured(defect, limit)


def _turned(runs: Runs, scheme: str) -> Measured:
    turned = [runs(OBLIQUE, scheme, angle1=a, angle2=b).results for a, b in TURNS]
    return Measured([r["difference"] for r in turned], holds=all(r["impulse_sum"] > 0 for r in turned))


def _order(runs: Runs, scheme: str, name: str, degree: int) -> float:
    return number(runs(WAVE, scheme, degree=degree), name, "the step is unstable")


_SPHERES = (
    ("", "axisymmetric, 8 elements per radius of contact, 0.1 m/s",
     {"geometry": "axisymmetric", "resolution": 8}),
    ("-3d", "3D, 4 elements per radius of contact, 0.1 m/s", {"geometry": "3d", "resolution": 4}),
    ("-faster", "axisymmetric, 8 elements per radius of contact, 1 m/s",
     {"geometry": "axisymmetric", "resolution": 8, "v0": hertz_sphere.FASTER}),
)  # fmt: skip
_MOMENTS = (
    "The angular momentum changes by the moments of the impulses where they act",
    "largest difference of its change and the moments in a step, over m R (|v0| + R |spin0|)",
)
_SPUN = (
    ((DISC, RING), "momentum", "linear_momentum_defect", spinning.TOLERANCE,
     "The momentum changes by the impulses",
     "largest difference of change of momentum and impulses in a step, over m (|v0| + R |spin0|)"),
    ((DISC,), "angular-momentum", "angular_momentum_defect", spinning.TOLERANCE, *_MOMENTS),
    ((RING,), "angular-momentum", "angular_momentum_defect", spinning.TOLERANCE,
     "The angular momentum about the axis of the wall is constant",
     "largest change in a step, over m R (|v0| + R |spin0|)"),
    ((DISC, RING), "energy", "energy_defect", ROUNDING, "The energy decreases by the work of contact",
     "largest difference in a step, the work of the internal forces counted, over the energy at the start"),
    ((RING,), "moments", "moment_defect", spinning.TOLERANCE, *_MOMENTS),
)  # fmt: skip
_SPINNING = ((DISC, "friction 0.3"), (RING, "no friction"))  #: The bodies that spin.
_DRIFT = "its mean over the last less that over the first tenth of the steps, relative"
_FLOWN = (
    ("momentum", "linear_momentum_defect", free_flight.MOMENTUM, BOTH, "The momentum is kept to rounding",
     "largest change of the momentum over sqrt(2 m T)"),
    ("angular-momentum", "angular_momentum_defect", free_flight.MOMENTUM, BOTH,
     "The angular momentum is kept to rounding", "largest relative change"),
    ("energy", "energy_defect", free_flight.DRIFT, (CD,), "The discrete energy does not drift", _DRIFT),
    ("conserved-energy", "conserved_energy_defect", free_flight.CONSERVED, (CD,),
     "The energy with its correction in h^2, which is kept to terms in h^4, does not drift", _DRIFT),
)  # fmt: skip

CLAIMS = table("", "", [
    *(known(HERTZ, name.replace("_", "-") + part, JOHNSON, setting,
            f"{words} is that of Hertz's theory of impact", _hertz, equal(1.0),
            "over Hertz's, quasi-static and for a contact small against the sphere", name=name, **settings)
      for name, words in (("peak_force", "The peak force"), ("duration", "The duration of contact"))
      for part, setting, settings in _SPHERES),
    known(CUBE, "modulus", CLOSED, "E, E/10, E/100", "The rebound of an elastic cube does not depend on E",
          _modulus, below(1e-6), "spread of rebound/v0 over E, E/10, E/100: E scales time, and nothing else"),
    known(CUBE, "refined", CLOSED, "three meshes, e = 0, 0.5, 1",
          "The rebounds with different e approach each other as the mesh is refined",
          _spread, above(1.0), "order in the element size of the spread over e, which shrinks on each mesh"),
    known(CUBE, "not-restitution", CLOSED, "8 elements, e = 0, 0.5, 1",
          "The rebound of an elastic cube is not the coefficient e of its nodes",
          lambda runs, scheme: min(abs(ratio - e) for e, ratio in _rebounds(runs, scheme).items()),
          above(0.1), "smallest difference of rebound/v0 and e"),
    *(known(RIGID, f"{shape}-{regime}", CLOSED, f"{shape}, friction {friction:g}",
            f"Velocities and impulses of a rigid {shape} whose contact point {regime}s are exact",
            _rigid, below(ROUNDING), "largest deviation, over the largest velocity or the normal impulse",
            shape=shape, friction=friction, sticks=sticks)
      for shape in ("disc", "square") for regime, (friction, sticks) in REGIMES.items()),
    known(RIGID, "coefficient", CLOSED, "disc and square, friction 0.3 and 0.1",
          "A contact point of a rigid body rebounds with exactly e",
          _coefficient, equal(tolerance=ROUNDING), "normal velocity after over that before the impact"),
    *(known(SLIDING, f"acceleration-{angle:g}", CLOSED, f"{angle:g} degrees, friction 0.3",
            "The block slides with g (sin a - mu cos a)",
            acceleration, equal(), "mean acceleration after the waves have settled [m/s2], to a thousandth",
            angle=angle)
      for angle in ABOVE),
    known(SLIDING, "holds", CLOSED, f"{listing(BELOW)} degrees, friction 0.3",
          "Below the angle of friction the block does not slide",
          "slip", below(sliding_block.NO_SLIP), "largest way of a node of the bottom [m]",
          over=[{"angle": angle} for angle in BELOW]),
    *(known(case, name, CONSERVED, setting, claim, _kept, below(limit), why, name=result, case_=case)
      for case, setting in _SPINNING for cases, name, result, limit, claim, why in _SPUN if case in cases),
    *(known(case, "stored-energy", CONSERVED, f"{setting}, courant {listing(_HALVED)}",
            "Kinetic and stored energy decrease by the work of contact, up to the square of the step",
            _stored, equal(2.0, 0.3), "order in the step of its defect", per=(CD,), case_=case)
      for case, setting in _SPINNING),
    *(known(FLIGHT, name, CONSERVED, "default run", claim, _flight, below(), why, per=schemes,
            name=result, limit=limit)
      for name, result, limit, schemes, claim, why in _FLOWN),
    known(OBLIQUE, "turned", INVARIANCE, "three pairs of angles",
          "Bar, wall and velocity turned give the solution turned",
          _turned, below(oblique_bar.SAME), "difference from the turned solution, over the largest value"),
    *(known(WAVE, f"space-{degree}", LAME, f"GLL elements of degree {degree}",
            f"Elements of degree {degree} have order {degree + 1} in space",
            _order, equal(degree + 1, wave_block.TOLERANCE_SPACE), "order of the L2 error after a period",
            name="order_space", degree=degree)
      for degree in DEGREES),
    known(WAVE, "time", LAME, "GLL elements of degrees 1, 2, 3", "The scheme has order two in time",
          lambda runs, scheme: [_order(runs, scheme, "order_time", degree) for degree in DEGREES],
          equal(2.0, wave_block.TOLERANCE_TIME), "order of the amplitude after 9/8 of a period, per degree"),
])  # fmt: skip

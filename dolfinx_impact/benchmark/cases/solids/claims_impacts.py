"""Impact and friction of solids whose answer is known: sphere, cube, rigid bodies, block on a slope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict, also
from . import cube_drop, hertz_sphere, sliding_block
from .measures import (
    ABOVE,
    BELOW,
    BOTH,
    CLOSED,
    CUBE,
    CUBES,
    HERTZ,
    JOHNSON,
    RIGID,
    ROUNDING,
    SLIDING,
    Register,
    number,
    shown,
)

_says = Register()
#: Coefficients of friction of the rigid bodies, and whether their contact point sticks.
REGIMES = {"stick": (0.3, True), "slip": (0.1, False)}
#: A coefficient of restitution as near as this to the rebound could be taken for it.
_NEAR = 0.1


def _hertz(runs: Runs, scheme: str, name: str, geometry: str, **settings: Any) -> Verdict:
    run = runs(HERTZ, scheme, geometry=geometry, **settings)
    found = number(run, name, "the sphere does not leave the plane")
    theory, allowed = run.results[f"{name}_hertz"], hertz_sphere.ALLOWED[geometry]
    what, unit = ("peak force", "N") if name == "peak_force" else ("duration", "s")
    why = (
        f"{what} over Hertz's, {found:.5g} over {theory:.5g} {unit}; tolerance {allowed:.0%}, for the mesh, "
        "and for a theory that takes the contact as quasi-static and small against the sphere. Forces are "
        f"means over {hertz_sphere.WINDOW:.0%} of the duration"
    )
    return Verdict.equal(why, found / theory, 1.0, allowed)


for _name, _words in (("peak_force", "The peak force"), ("duration", "The duration of contact")):
    for _part, _setting, _settings in (
        (
            "",
            "axisymmetric, 8 elements per radius of contact, 0.1 m/s",
            {"geometry": "axisymmetric", "resolution": 8},
        ),
        ("-3d", "3D, 4 elements per radius of contact, 0.1 m/s", {"geometry": "3d", "resolution": 4}),
        (
            "-faster",
            "axisymmetric, 8 elements per radius of contact, 1 m/s",
            {"geometry": "axisymmetric", "resolution": 8, "v0": hertz_sphere.FASTER},
        ),
    ):
        _says(
            HERTZ,
            _name.replace("_", "-") + _part,
            JOHNSON,
            _setting,
            f"{_words} is that of Hertz's theory of impact",
            _hertz,
            BOTH,
            name=_name,
            **_settings,
        )


def _rebound(runs: Runs, scheme: str, **settings: Any) -> float:
    """Over v0, of a cube that has left the plane."""
    run = runs(CUBE, scheme, **settings)
    number(run, "contact_end", "the cube does not leave the plane")
    return float(run.results["rebound_ratio"])


def _modulus(runs: Runs, scheme: str) -> Verdict:
    E = cube_drop.PARAMETERS["E"].default
    found = [_rebound(runs, scheme, elements=8, E=E * part) for part in cube_drop.SOFTER]
    why = (
        f"spread of rebound/v0 over E, E/10, E/100, over the largest one: {shown(found, '.9f')}; limit 1e-6. "
        "E scales time, and nothing else"
    )
    return Verdict.below(why, float(np.ptp(found) / np.max(np.abs(found))), 1e-6)


def _spread(runs: Runs, scheme: str) -> Verdict:
    meshes = CUBES[scheme]
    found = [
        [_rebound(runs, scheme, elements=n, restitution=e) for e in cube_drop.RESTITUTIONS] for n in meshes
    ]
    spread = np.maximum(np.ptp(found, axis=1), 1e-16)
    why = (
        f"order in the element size of the spread of rebound/v0 over e = 0, 0.5, 1, {shown(list(spread))} "
        f"with {', '.join(map(str, meshes))} elements a side, which has to shrink each time; limit: one. On "
        f"the finest mesh the rebounds are {shown(found[-1], '.4f')}"
    )
    shrinks = bool(np.all(np.diff(spread) < 0))
    return also(shrinks, Verdict.above(why, order([1 / n for n in meshes], spread), 1.0))


def _not_restitution(runs: Runs, scheme: str) -> Verdict:
    found = {e: _rebound(runs, scheme, elements=8, restitution=e) for e in cube_drop.RESTITUTIONS}
    listed = ", ".join(f"{ratio:.3f} with e = {e:g}" for e, ratio in found.items())
    why = (
        f"smallest difference of rebound/v0 and e, 8 elements a side: {listed}; limit {_NEAR:g}. The cube "
        "keeps what its waves give back to the motion as a whole, whatever its contact nodes are told"
    )
    return Verdict.above(why, min(abs(ratio - e) for e, ratio in found.items()), _NEAR)


_says(
    CUBE, "modulus", CLOSED, "E, E/10, E/100", "The rebound of an elastic cube does not depend on E", _modulus
)
_says(
    CUBE,
    "refined",
    CLOSED,
    "three meshes, e = 0, 0.5, 1",
    "The rebounds with different e approach each other as the mesh is refined",
    _spread,
)
_says(
    CUBE,
    "not-restitution",
    CLOSED,
    "8 elements, e = 0, 0.5, 1",
    "The rebound of an elastic cube is not the coefficient e of its nodes",
    _not_restitution,
)


def _rigid(runs: Runs, scheme: str, shape: str, friction: float, sticks: bool) -> Verdict:
    run = runs(RIGID, scheme, shape=shape, friction=friction)
    r, radius = run.results, run.summary["parameters"]["R"]
    lever = {"vx": 1.0, "vy": 1.0, "spin": radius}
    speed = max(arm * abs(r[f"{name}_exact"]) for name, arm in lever.items())
    scales = {
        **{name: speed / arm for name, arm in lever.items()},
        "impulse_n": r["impulse_n_exact"],
        "impulse_t": r["impulse_n_exact"],
    }
    off = {name: abs(r[name] - r[f"{name}_exact"]) / scale for name, scale in scales.items()}
    worst = max(off, key=lambda name: off[name])
    why = (
        f"largest deviation of vx, vy, spin, impulse_n, impulse_t from the exact ones, that of {worst}, "
        f"{r[worst]:.6g}, exact {r[f'{worst}_exact']:.6g}, over the largest velocity or the normal impulse; "
        f"limit: rounding. The contact point slips with {r['slip']:.3g} m/s afterwards"
    )
    return also(r["sticks"] is sticks, Verdict.below(why, off[worst], ROUNDING))


def _coefficient(runs: Runs, scheme: str) -> Verdict:
    found = [
        runs(RIGID, scheme, shape=shape, friction=friction)
        for shape in ("disc", "square")
        for friction, _ in REGIMES.values()
    ]
    (e,) = {run.summary["parameters"]["restitution"] for run in found}
    worst = max((run.results["coefficient"] for run in found), key=lambda value: abs(value - e))
    why = (
        "normal velocity of the contact point after over that before the impact, disc and square, stick and "
        "slip: the one farthest from e; tolerance: rounding"
    )
    return Verdict.equal(why, worst, e, ROUNDING)


for _shape in ("disc", "square"):
    for _regime, (_friction, _sticks) in REGIMES.items():
        _says(
            RIGID,
            f"{_shape}-{_regime}",
            CLOSED,
            f"{_shape}, friction {_friction:g}",
            f"Velocities and impulses of a rigid {_shape} whose contact point {_regime}s are exact",
            _rigid,
            shape=_shape,
            friction=_friction,
            sticks=_sticks,
        )
_says(
    RIGID,
    "coefficient",
    CLOSED,
    "disc and square, friction 0.3 and 0.1",
    "A contact point of a rigid body rebounds with exactly e",
    _coefficient,
)


def _acceleration(runs: Runs, scheme: str, angle: float) -> Verdict:
    run = runs(SLIDING, scheme, angle=angle)
    found = number(run, "mean_acceleration", "the run is too short for a mean acceleration")
    expected = run.results["expected_acceleration"]
    why = (
        f"mean acceleration down the plane [m/s2] after {sliding_block.SETTLING} wave transits, against "
        "g (sin a - mu cos a); tolerance: a thousandth of that"
    )
    return Verdict.equal(why, found, expected, 1e-3 * expected)


def _holds(runs: Runs, scheme: str) -> Verdict:
    found = [runs(SLIDING, scheme, angle=angle).results["slip"] for angle in BELOW]
    steepest = math.tan(math.radians(BELOW[-1]))
    why = (
        f"largest way of a node of the bottom [m], {shown(found)} at {shown(BELOW)} degrees; limit "
        f"{sliding_block.NO_SLIP:g}. At the steepest tan a = {steepest:.4f}, below mu = 0.3"
    )
    return Verdict.below(why, max(found), sliding_block.NO_SLIP)


for _angle in ABOVE:
    _says(
        SLIDING,
        f"acceleration-{_angle:g}",
        CLOSED,
        f"{_angle:g} degrees, friction 0.3",
        "The block slides with g (sin a - mu cos a)",
        _acceleration,
        angle=_angle,
    )
_says(
    SLIDING,
    "holds",
    CLOSED,
    f"{shown(BELOW)} degrees, friction 0.3",
    "Below the angle of friction the block does not slide",
    _holds,
)

CLAIMS: tuple[Claim, ...] = tuple(_says)

"""Claims on contact of everything with everything: edges, a pile, a fold, a sphere on edges."""

from __future__ import annotations

from typing import Any

from ...claim import FailedRun, Measured, Runs, above, below, equal, table
from ..solids.claims import CD, CLOSED, CONSERVED, MJ, known
from . import crossed_bars, folded_strip, pile, sphere_hole

BARS, PILE, STRIP, HOLE = "crossed-bars", "pile", "folded-strip", "sphere-hole"
RIGID = "rigid body dynamics"
LOVE = "Love, Mathematical Theory of Elasticity (1927)"
#: Meetings of the bars: places, another angle, spins, and friction with a slip that goes on.
MEETINGS: dict[str, dict[str, Any]] = {
    "off both centres": {},
    "central": {"place1": 0.0, "place2": 0.0},
    "70 degrees": {"angle": 70.0},
    "spinning": {"spin1": "5,10,0", "v2": "0,0,0.5"},
    "friction": {"friction": 0.1, "v1": "2,2,-1"},
}
#: Those without friction, which has a lever across the distance that edges keep.
SMOOTH = {words: more for words, more in MEETINGS.items() if "friction" not in more}
#: Openings over which the sphere rests, and one that it falls through [m].
OPENINGS = {"a = R": {"opening": 0.1}, "a = 1.2 R": {}, "a = 1.5 R": {"opening": 0.15}}
BLOCKS = pile.Pile.reported["blocks"]  #: In the pile.
THROUGH = {"opening": 0.21}
#: Allowed of the forces of edges, by facets of 8 cells over a quarter at the widest of the openings.
EDGES = sphere_hole.force_allowed({"opening": 0.15, "radius": 0.1, "cells": 8})


def _over(case: str, name: str, over: dict[str, Any], ratio: bool = True) -> Any:
    """A measure: a result by the words of the settings ``over``, over the exact one."""

    def measure(runs: Runs, scheme: str) -> dict[str, Any]:
        found = {words: runs(case, scheme, **more).results for words, more in over.items()}
        names = (name, f"{name}_exact") if ratio else (name,)
        _refuse_none(found, names, "no edges meet")
        return {
            words: each[name] / each[f"{name}_exact"] if ratio else each[name]
            for words, each in found.items()
        }

    return measure


def _refuse_none(found: dict[str, Any], names: tuple[str, ...], what: str) -> None:
    """A run that did not come to what is measured has failed."""
    if any(each[name] is None for each in found.values() for name in names):
        raise FailedRun(what)


def _slip(runs: Runs, scheme: str) -> float:
    found = runs(BARS, scheme, **MEETINGS["friction"]).results
    return float(found["impulse_tangential"] / found["impulse_normal"] - MEETINGS["friction"]["friction"])


def _strip(runs: Runs, scheme: str, name: str) -> dict[str, float]:
    found = runs(STRIP, scheme).results
    gaps = str(runs(STRIP, scheme).summary["parameters"]["gaps"]).split(",")
    return {f"{gap} m": a / b for gap, a, b in zip(gaps, found[name], found[f"{name}_exact"])}


def _weight(runs: Runs, scheme: str) -> float:
    found = runs(PILE, scheme, blocks=BLOCKS).results
    return float(found["mean_force"] / found["weight"])


def _energy(runs: Runs, scheme: str) -> float:
    return float(runs(PILE, scheme, blocks=BLOCKS).results["energy_max"] - 1)


def _heights(runs: Runs, scheme: str) -> dict[str, float]:
    found = {words: runs(HOLE, scheme, **more) for words, more in OPENINGS.items()}
    _refuse_none({words: each.results for words, each in found.items()}, ("height",), "the sphere falls")
    return {
        words: (each.results["height"] - each.results["height_exact"]) / each.summary["parameters"]["radius"]
        for words, each in found.items()
    }


def _edges(runs: Runs, scheme: str) -> dict[str, float]:
    found = {words: runs(HOLE, scheme, **more).results for words, more in OPENINGS.items()}
    _refuse_none(found, ("edge_force",), "the sphere falls")
    return {
        f"{words}, edge {k}": force / each["edge_force_exact"]
        for words, each in found.items()
        for k, force in enumerate(each["edge_force"], start=1)
    }


def _falls(runs: Runs, scheme: str) -> Measured:
    run = runs(HOLE, scheme, **THROUGH)
    return Measured(-run.results["height_end"] / run.summary["parameters"]["radius"])


_MEETINGS = "at two centres, off them, at 70 degrees, spinning, with friction"
CLAIMS = table("", "", [
    known(BARS, "impulse", RIGID, _MEETINGS,
          "The normal impulse of edges that meet is that of rigid bodies with the restitution of the bars",
          _over(BARS, "impulse_normal", MEETINGS), equal(1.0, crossed_bars.RIGID),
          "impulse over (1 + e) |n.w| / n.K (n + d)", per=(CD,)),
    known(BARS, "motions", RIGID, _MEETINGS,
          "So are velocities and spins of both bars after the impact",
          _over(BARS, "rigid_defect", MEETINGS, False), below(crossed_bars.RIGID),
          "largest difference over the largest change", per=(CD,)),
    known(BARS, "slip", RIGID, "friction 0.1, slip throughout",
          "Where edges slip, the tangential impulse is mu times the normal one",
          _slip, below(crossed_bars.SLIP), "r_t / r_n less mu; rounding", per=(CD,)),
    known(BARS, "linear", CONSERVED, _MEETINGS, "The linear momentum stays",
          _over(BARS, "linear_momentum_defect", MEETINGS, False), below(crossed_bars.ROUNDING),
          "change over sum m |v|; rounding", per=(CD,)),
    known(BARS, "angular", CONSERVED, _MEETINGS, "So does the angular momentum",
          _over(BARS, "angular_momentum_defect", SMOOTH, False), below(crossed_bars.ROUNDING),
          "change over sum m |v| and the lengths; rounding", per=(CD,)),
    known(PILE, "impulse", CONSERVED, "12 blocks",
          "Floor and walls take the weight of all blocks and their change of momentum",
          "impulse_defect", below(pile.ROUNDING), "relative difference; rounding", per=(CD,), blocks=BLOCKS),
    known(PILE, "weight", CLOSED, "12 blocks", "A pile at rest weighs what its blocks weigh",
          _weight, equal(1.0, pile.WEIGHT), "mean force of floor and walls over the weight", per=(CD,)),
    known(PILE, "energy", CONSERVED, "12 blocks", "Many contacts at once make no energy",
          _energy, below(pile.GAIN), "largest energy over that at the start, less 1", per=(CD,)),
    known(STRIP, "force", LOVE, "8 cells across of degree 2; D = 25 t, 22 t",
          "Plates hold a folded strip with 2.871 B/D^2",
          _strip, equal(1.0, folded_strip.ALLOWED), "force over that of the elastica, B measured",
          per=(MJ,), name="force"),
    known(STRIP, "energy", LOVE, "8 cells across of degree 2; D = 25 t, 22 t",
          "It stores 2.871 B/D", _strip, equal(1.0, folded_strip.ALLOWED),
          "energy over that of the elastica, B measured", per=(MJ,), name="energy"),
    known(HOLE, "height", CLOSED, "openings of 1, 1.2 and 1.5 radii",
          "A sphere rests on four edges at the height sqrt(R^2 - a^2/4)",
          _heights, below(sphere_hole.HEIGHT), "difference over R", per=(CD,)),
    known(HOLE, "edges", CLOSED, "openings of 1, 1.2 and 1.5 radii", "Each edge carries W R/(4 z)",
          _edges, equal(1.0, EDGES), "force of an edge over that; facets lean", per=(CD,)),
    known(HOLE, "falls", CLOSED, "an opening of 2.1 radii", "It falls through an opening above its diameter",
          _falls, above(0.3), "depth of its centre below the edges at the end, over R", per=(CD,)),
])  # fmt: skip

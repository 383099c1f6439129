"""Arrays of compiled loops, as tuples.

Kernels on disk name these classes: a class that changes its members needs no care, one that changes its name
while the functions stay at their lines leaves kernels that numba cannot read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._types import FloatArray, IntArray

if TYPE_CHECKING:
    from ...algebra.pair_blocks import PairBlocks


class LoopState(NamedTuple):
    """Arrays of the integrator, which the loop advances."""

    u: FloatArray
    v: FloatArray
    v_before: FloatArray
    f: FloatArray


class LoopModel(NamedTuple):
    """The system; ``load``, ``part`` and ``damped`` are scratch for loads, internal forces and damping.

    ``amplitudes`` are the signals of the loads at the end of each step of a call, shape (steps, k), or of
    each substep, shape (steps, 2, k).
    """

    mass: FloatArray
    inverse_mass: FloatArray
    kick: FloatArray
    constant: FloatArray
    stiffness: FloatArray
    pairs: PairBlocks
    block: int
    rows: tuple[IntArray, IntArray, FloatArray]
    patterns: FloatArray
    rate: float
    has_loads: bool
    has_damping: bool
    linear: bool
    calls_external: bool
    calls_internal: bool
    calls_damping: bool
    calls_energy: bool
    load: FloatArray
    part: FloatArray
    damped: FloatArray
    amplitudes: FloatArray


class CurvedPoint(NamedTuple):
    """Scratch for a point on a curved obstacle: where it is, and the normal there."""

    x: FloatArray
    normal: FloatArray


class LoopPoints(NamedTuple):
    """The contact: L by dofs and weights, positions and gaps at u = 0, the diagonal of H where flat."""

    dofs: IntArray
    weights: FloatArray
    x: FloatArray
    offset: FloatArray
    diagonal: FloatArray
    at_position: bool
    restitution: float
    tolerance: float
    friction: float
    touching: bool
    flat: bool
    place: CurvedPoint


class Clock(NamedTuple):
    """Steps made before, time of the start, time step [s]; v is recorded at ``t + shift h``."""

    n: int
    t0: float
    h: float
    shift: float


class LoopColumns(NamedTuple):
    """First columns of what goes into the table, one row a step; ``directions`` is 0 without friction."""

    u: int
    v_t: int
    v: int
    gap: int
    r: int
    r_t: int
    energies: int
    directions: int


class Record(NamedTuple):
    """Where the states go, one row of the table a step, and the rows of u and v among them."""

    table: FloatArray
    columns: LoopColumns
    dofs: IntArray
    weights: FloatArray


class Energies(NamedTuple):
    """Whether energies are followed, :data:`.energy.TERMS` [J], and what the next step needs beside them."""

    follows: bool
    terms: FloatArray
    powers: FloatArray

"""Data of a contact for compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._types import FloatArray, IntArray

#: Gap and normal of one point: ``surface(x, normal)`` returns the gap [m] at x and writes the normal.
Surface = Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True)
class CompiledContact:
    """Data of a contact for compiled loops; arrays are those of the contact, no copies.

    Attributes:
        dofs: Dofs of the points, shape (p, k).
        weights: L on these, shape (p, k); a loop over curved gaps writes the normals into it.
        offset: Gaps at zero displacement, shape (p,) [m]; where there is no ``surface``, the gap is
            ``offset + L u``.
        x: Positions at zero displacement, shape (p, k) [m], where the ``surface`` is asked for the gap.
        surface: Curved gap and normal, compiled by numba, or None.
        restitution: Newton's coefficient e.
        gap_tolerance: A gap up to this [m] counts as closed; or, without ``touching``, below minus this.
        touching: See :class:`.Contact`.
        friction: Coulomb's coefficient mu.
        paired: Whether the dofs are those of two nodes, a half each, and friction acts on their relative
            velocity.
    """

    dofs: IntArray
    weights: FloatArray
    offset: FloatArray
    x: FloatArray
    surface: Surface | None
    restitution: float
    gap_tolerance: float
    touching: bool
    friction: float
    paired: bool = False

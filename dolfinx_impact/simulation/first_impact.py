"""Velocities after the first impacts, as far as they are known at the start of a run."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from ..algebra.contact_operator import ContactOperator
from ..contact.base import Contact
from ..contact.surfaces import SurfaceContact

#: Places along the way at which surfaces are looked for each other.
_PLACES = 20


def after_first_impacts(
    contact: Contact, inverse_mass: FloatArray, u: FloatArray, v: FloatArray, t: float
) -> FloatArray:
    """Velocities with which points that approach something leave it, each on its own, (size,). Collective.

    Surfaces that are apart have no rows yet: they are moved by their velocities to where they meet, and the
    rows of the start are set again.

    Args:
        contact: The contact.
        inverse_mass: Inverse nodal masses, shape (owned,) [1/kg].
        u: Displacements, shape (size,) [m].
        v: Velocities, shape (size,) [m/s].
        t: Time [s].
    """
    after = v.copy()
    for each in contact.members:
        if not isinstance(each, SurfaceContact) or each.tie:
            rows = each.now(t).L
            rows.add_transpose(_changes(each, rows, v), after)
            continue
        rows = _meeting(each, u, v, t)
        changes, squares = _changes(each, rows, v), rows.diagonal(inverse_mass)
        impulses = np.divide(changes, squares, out=np.zeros_like(changes), where=squares > 0.0)
        rows.add_scaled_transpose(impulses, inverse_mass, after)
        each.at(u, None, t)
    return after


def _changes(contact: Contact, rows: ContactOperator, v: FloatArray) -> FloatArray:
    """Changes of the velocities of the points along their normals, shape (p,) [m/s]. Collective."""
    changes: FloatArray = -(1.0 + contact.restitution) * np.minimum(rows(v), 0.0)
    return changes


def _meeting(contact: SurfaceContact, u: FloatArray, v: FloatArray, t: float) -> ContactOperator:
    """Rows of surfaces where they come near each other on straight ways, if they do. Collective."""
    (smallest, largest), time = contact.assembly.sizes, 0.0
    speed, _ = contact.assembly.longest_path(v, 1.0)
    for _ in range(_PLACES):
        rows = contact.at(u + time * v, None, t, every=True).L
        if speed <= 0.0 or contact.comm.allreduce(bool((rows(v) < 0.0).any())):
            break
        clear = _distance(contact, u + time * v) - largest
        time += max(clear, 0.25 * smallest) / speed
    return rows


def _distance(contact: SurfaceContact, u: FloatArray) -> float:
    """Smallest distance of nodes of two surfaces [m]; 0 for a surface and itself. Collective."""
    if contact.itself:
        return 0.0
    facets = contact.assembly.all_facets()
    x = contact.assembly.all_positions(facets, u)
    of = [x[facets.surface_nodes(k)] for k in range(len(contact.surfaces))]
    return min(
        float(cKDTree(of[master]).query(of[slave])[0].min()) for slave, master in contact.assembly.pairs
    )

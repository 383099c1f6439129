"""Mass scaling: mass added to the cells that limit the step of explicit schemes.

With the stiffness ``K_e`` at rest and the lumped mass ``M_e`` of each cell, the Rayleigh quotient of a body
is at most the largest of its cells::

    x.K x = sum_e x_e.K_e x_e <= sum_e w_e^2 x_e.M_e x_e <= max_e w_e^2  x.M x,   w_e^2 = max eig(M_e^-1 K_e)

Masses ``s_e M_e`` with ``s_e = max(1, w_e^2 / W)`` make it at most W, and constrained dofs only lower it.
W is the squared frequency whose critical step is ``dt``, with damping ``alpha M + beta K``::

    W dt^2 + 2 (alpha + beta W) dt = 4,   without damping W = (2 / dt)^2

Source: Irons, Treharne, A bound theorem in eigenvalues and its practical applications, Proc. 3rd Conf. Matrix
Methods Struct. Mech. (1971); Belytschko, Liu, Moran, Nonlinear Finite Elements (2000), 6.2 and 6.6.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import ufl
from dolfinx import fem

from ... import arguments, parallel
from ..._types import FloatArray
from ..elements.element_forces import ElementForces
from ..forces.element_forms import ElementForm
from . import mass_lumping

logger = logging.getLogger("dolfinx_impact")
#: Shares of added mass: above the first there is a warning (the limit of common practice in crash analyses),
#: above the second an error: the motion would be that of the added mass.
_MUCH, _MOST = 0.05, 1.0
#: Part by which a cell exceeds the limit by round-off.
_ROUNDING = 1e-10


class AddedMass(NamedTuple):
    """Mass that is added to a body.

    Attributes:
        nodal: Added mass of each local dof, ghosts included, shape (size,) [kg].
        mass: Their sum over the nodes of all ranks [kg].
        cells: Number of cells with added mass, over all ranks.
    """

    nodal: FloatArray
    mass: float
    cells: int


def added_mass(body: Any, dt: float | None) -> AddedMass:
    """The mass for a critical step of at least ``dt`` at rest, none for None. Collective.

    See :class:`.Solid`.

    Raises:
        ValueError: A step that is not positive, or not stable with any mass; a class with forces or masses of
            its own; more added mass than the body has.
    """
    if dt is None:
        return AddedMass(np.zeros(body.size), 0.0, 0)
    arguments.number("mass_scaling", dt, "be a positive time step [s]", above=0.0)
    limit = _limit(body, dt)
    if body.own_masses:
        raise ValueError(
            f"mass_scaling is not for {type(body).__name__}, a class with forces or masses of its own"
        )
    parts = [
        mass_lumping.cell_masses(body.space, m.density * body._weight, body._exact(m.alone), m.inside)
        for m in body.materials
    ]
    masses: FloatArray = np.sum(parts, axis=0)
    cells = np.sort(np.concatenate([m.cells for m in body.materials]))
    excess = np.zeros_like(masses)
    excess[cells] = (_factors(body, cells, masses[cells], limit, dt) - 1.0)[:, None] * masses[cells]
    sums = mass_lumping.nodal_sums(body.space, excess)
    sums.scatter_forward()
    mass = parallel.total(body.comm, excess.sum())
    count = int(body.comm.allreduce(int(np.count_nonzero(excess.any(axis=1)))))
    _refuse_most(mass, body, dt)
    _tell(mass, count, body, dt)
    return AddedMass(np.repeat(sums.array, body.block), mass, count)


def _limit(body: Any, dt: float) -> float:
    """W, the squared frequency [1/s2] whose critical step is ``dt`` with the body's damping."""
    room = 4.0 - 2.0 * body.damping_rate * dt
    if room <= 0.0:
        raise ValueError(
            f"mass_scaling={dt:.6g} s is not stable with any mass, since damping={body.damping_rate:.6g} 1/s:"
            f" take a step below {2.0 / body.damping_rate:.6g} s"
        )
    square: float = room / (dt * (dt + 2.0 * body.stiffness_damping))
    return square


def _factors(body: Any, cells: Any, masses: FloatArray, limit: float, dt: float) -> FloatArray:
    """Factors of the masses of the cells, at least 1, shape (cells,). Collective.

    Frobenius norms, which are no smaller than the largest eigenvalue and no larger than it by more than
    ``sqrt(dofs)``, tell the cells whose eigenvalues are needed.

    Args:
        body: The body.
        cells: Owned cells of the body.
        masses: Their nodal masses, shape (cells, nodes) [kg].
        limit: The squared frequency of ``dt`` [1/s2].
        dt: The time step [s].
    """
    column = _columns(body)
    root = np.repeat(1.0 / np.sqrt(masses), body.block, axis=1)
    dofs, factors = root.shape[1], np.ones(cells.size)
    squares = np.zeros(cells.size)
    for j in range(dofs):
        squares += np.sum((column(j)[cells] * root * root[:, j, None]) ** 2, axis=1)
    bound = np.sqrt(squares) / limit
    least = np.maximum(bound / np.sqrt(dofs) - 1.0, 0.0) @ masses.sum(axis=1)
    _refuse_most(parallel.total(body.comm, least), body, dt)
    few = np.flatnonzero(~(bound <= 1.0))
    if not body.comm.allreduce(few.size):
        return factors
    blocks = np.stack([column(j)[cells[few]] for j in range(dofs)], axis=2)
    blocks *= root[few][:, :, None] * root[few][:, None, :]
    if few.size:
        ratios = np.linalg.eigvalsh(0.5 * (blocks + blocks.transpose(0, 2, 1)))[:, -1] / limit
        factors[few] = np.where(ratios > 1.0 + _ROUNDING, ratios, 1.0)
    return factors


def _columns(body: Any) -> Callable[[int], FloatArray]:
    """Function of j: columns j of the stiffnesses of the owned cells, shape (cells, dofs) [N/m]; collective.

    The columns are products of the body's tangent on elements torn apart, where no two cells share a node.
    With mean dilatation these are the elements themselves. With nodal pressure they bound the body: where
    cells share a node its volume ratio is the mean of theirs, weighted by volumes, and a convex volumetric
    energy of the mean is at most the mean of the energies.
    """
    torn = mass_lumping.apart(body.space, (body.block,))
    count = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
    places = torn.dofmap.list[:, :, None] * body.block + np.arange(body.block)
    places = places.reshape(len(places), places.shape[1] * body.block)
    index_map = torn.dofmap.index_map
    size = (index_map.size_local + index_map.num_ghosts) * body.block
    product, x, rest = _product(body, torn), np.zeros(size), np.zeros(size)

    def column(j: int) -> FloatArray:
        x[:] = 0.0
        x[places[:, j]] = 1.0
        values: FloatArray = product(rest, x)[places[:count]]
        return values

    return column


def _product(body: Any, torn: fem.FunctionSpace) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """``dF_int/du(u) x`` as a function of (u, x) on the elements torn apart. Collective."""
    if not isinstance(body.forces, ElementForces):
        u, x, w = fem.Function(torn), fem.Function(torn), ufl.TestFunction(torn)
        form = ufl.replace(body._internal_form(), {body.displacement: u, body._w: w})
        return ElementForm(ufl.derivative(form, u, x), torn, [u, x]).vector
    forces = body.element_forces(torn)

    def product(u: FloatArray, x: FloatArray) -> FloatArray:
        out = np.zeros_like(x)
        forces.subtract_tangent(u, x, out)
        return -out

    return product


def _refuse_most(mass: float, body: Any, dt: float) -> None:
    """Raise a ValueError where more mass would be added than the body has."""
    if not mass <= _MOST * body.total_mass:
        raise ValueError(
            f"mass_scaling={dt:.6g} s would more than double the mass of the body, {body.total_mass:.4g} kg: "
            "take a smaller step, or improve the smallest cells of the mesh; for a slow process raise "
            "density=, or take MoreauJean, whose step is not limited"
        )


def _tell(mass: float, cells: int, body: Any, dt: float) -> None:
    """Log how much mass is added: a warning where it is none or much."""
    if body.comm.rank:
        return
    if not cells:
        logger.warning("mass_scaling=%.6g s adds no mass: no cell has a smaller critical step", dt)
        return
    share = mass / body.total_mass
    words = "mass_scaling=%.6g s adds %.4g kg to %d cells, %.3g %% of the mass of the body"
    if share > _MUCH:
        words += f": more than {100 * _MUCH:g} %% changes the motion, compare it with a smaller step"
    logger.log(logging.WARNING if share > _MUCH else logging.INFO, words, dt, mass, cells, 100 * share)

"""Integrals over cells in numpy: deformation gradients, energies, stiffness, masses and loads of a body.

Places, displacements and nodal numbers are those of the mesh; shape functions and quadrature are basix's, all
mechanics is written here. One rank.
"""

from __future__ import annotations

import dataclasses
import math

import basix
import numpy as np

from .. import program
from ..compose import Scenario


@dataclasses.dataclass
class Cells:
    """A body's cells with their quadrature, in the base frame.

    Attributes:
        nodes: Nodes of the cells, shape (c, k).
        block: Number of the block of each cell, shape (c,).
        N, grad: Values and gradients of the shape functions, shapes (q, k), (c, q, k, d) [1/m].
        weight: Volumes of the points, of rings in bodies of revolution, shape (c, q) [m3].
        radius: Distances from the axis at the points, shape (c, q) [m].
        jacobian: Volumes over those of the reference cell, shape (c, q).
    """

    s: Scenario
    nodes: np.ndarray
    block: np.ndarray
    N: np.ndarray
    grad: np.ndarray
    weight: np.ndarray
    radius: np.ndarray
    jacobian: np.ndarray

    def of(self, values):
        """Numbers of the blocks at the points, shape (c, 1)."""
        return np.array(values, dtype=float)[self.block][:, None]

    def gradient(self, u: np.ndarray) -> np.ndarray:
        """Displacement gradients at the points, the hoop strain with them, shape (c, q, 3, 3)."""
        d = self.s.gdim
        H = np.zeros((*self.weight.shape, 3, 3))
        H[..., :d, :d] = np.einsum("cki,cqkj->cqij", u[self.nodes], self.grad)
        if self.s.hypothesis == "axisymmetric":
            H[..., 2, 2] = np.einsum("ck,qk->cq", u[self.nodes][..., 0], self.N) / self.radius
        return H

    def scattered(self, parts: np.ndarray, count: int) -> np.ndarray:
        """Sums at the nodes of parts of the cells, shape (c, k)."""
        return np.bincount(self.nodes.ravel(), parts.ravel(), count)

    def density(self):
        return self.of([program.RHO * b.density for b in self.s.blocks])

    def mean(self, count: int) -> np.ndarray:
        """``integral of rho N_a`` over the cells: what a node carries of a uniform acceleration [kg]."""
        return self.scattered((self.density() * self.weight) @ self.N, count)

    def kinetic(self, v: np.ndarray) -> float:
        """Of the field of velocities, with the mass where it is [J]."""
        at = np.einsum("cki,qk->cqi", v[self.nodes], self.N)
        return float(0.5 * (self.density() * self.weight * (at**2).sum(axis=-1)).sum())


def cells(seen, degree: int | None = None) -> Cells:
    """Those of a body that was seen; its own rule is GLL for squares and bricks of degree 2, else Gauss's,
    of degree 6 where integrands of curved cells are rational.

    Args:
        degree: Of Gauss's rule instead of that of the forces; 6 is exact for loads and masses.
    """
    s, x = seen.scenario, shapes(seen)
    cell = getattr(basix.CellType, s.cell)
    points, weights = _rule(s, cell, degree)
    table = seen.body.space.element.basix_element.tabulate(1, points)[..., 0]
    place = placed(s, cell).tabulate(1, points)[..., 0]
    J = np.einsum("cki,jqk->cqij", x, place[1:])
    grad = np.einsum("jqk,cqji->cqki", table[1:], np.linalg.inv(J))
    jacobian = np.abs(np.linalg.det(J))
    weight, radius = weights * jacobian, np.einsum("ck,qk->cq", x[..., 0], place[0])
    if s.hypothesis == "axisymmetric":
        weight = 2 * np.pi * radius * weight
    nodes = np.array(seen.body.space.dofmap.list)
    block = np.zeros(len(seen.places()), dtype=int)
    for i, each in enumerate(seen.parts):
        block[each] = i
    return Cells(s, nodes, block[nodes[:, 0]], table[0], grad, weight, radius, jacobian)


def _rule(s, cell, degree):
    tensor = s.cell in ("quadrilateral", "hexahedron")
    if degree:
        return basix.make_quadrature(cell, degree)
    if tensor and s.degree > 1:
        return basix.make_quadrature(cell, 3, rule=basix.QuadratureType.gll)
    if s.hypothesis == "axisymmetric" or (tensor and s.law == "linear"):
        return basix.make_quadrature(cell, 2 if s.law != "linear" else 6)
    return basix.make_quadrature(cell, 6 if s.bend else 2)


def lame(c: Cells):
    """Lame's constants at the points; in plane stress those of small strains without the stress across."""
    e = c.of([program.E * b.modulus for b in c.s.blocks])
    nu = 0.3 if c.s.law == "metal" else c.s.nu
    mu, lam = e / (2 * (1 + nu)), e * nu / ((1 + nu) * (1 - 2 * nu))
    if c.s.hypothesis == "plane-stress":
        lam = 2 * lam * mu / (lam + 2 * mu)
    return lam, mu


def stored(c: Cells, u: np.ndarray) -> float:
    """Elastic energy of displacements of the nodes [J].

    Small strains: ``mu eps:eps + lambda (tr eps)^2 / 2``; neo-Hookean: ``mu (tr C - 3) / 2 - mu ln J + lambda
    (ln J)^2 / 2``, as the laws say.
    """
    H, (lam, mu) = c.gradient(u), lame(c)
    if c.s.law == "linear":
        eps = 0.5 * (H + np.swapaxes(H, -1, -2))
        trace = np.trace(eps, axis1=-2, axis2=-1)
        W = mu * (eps**2).sum(axis=(-2, -1)) + 0.5 * lam * trace**2
    else:
        F = H + np.eye(3)
        log = np.log(np.linalg.det(F))
        W = 0.5 * mu * ((F**2).sum(axis=(-2, -1)) - 3) - mu * log + 0.5 * lam * log**2
    return float((W * c.weight).sum())


def internal(c: Cells, u: np.ndarray) -> np.ndarray:
    """Internal forces of displacements of the nodes, of the shape of u: the derivatives of energies [N]."""
    H, (lam, mu) = c.gradient(u), (each[..., None, None] for each in lame(c))
    one = np.eye(3)
    if c.s.law == "linear":
        eps = 0.5 * (H + np.swapaxes(H, -1, -2))
        P = 2 * mu * eps + lam * np.trace(eps, axis1=-2, axis2=-1)[..., None, None] * one
    else:
        F = H + one
        turned = np.swapaxes(np.linalg.inv(F), -1, -2)
        P = mu * (F - turned) + lam * np.log(np.linalg.det(F))[..., None, None] * turned
    d, P = c.s.gdim, P * c.weight[..., None, None]
    parts = np.einsum("cqij,cqkj->cki", P[..., :d, :d], c.grad)
    if c.s.hypothesis == "axisymmetric":
        parts[..., 0] += np.einsum("cq,qk->ck", P[..., 2, 2] / c.radius, c.N)
    return np.column_stack([c.scattered(parts[..., i], len(u)) for i in range(d)])


def stiffness(c: Cells, count: int) -> np.ndarray:
    """Of small strains, dense, shape (count d, count d) [N/m]."""
    (cells, points), k, d = c.weight.shape, c.N.shape[1], c.s.gdim
    B = np.zeros((cells, points, 3, 3, k, d))
    for i in range(d):
        B[..., i, :d, :, i] = np.swapaxes(c.grad, -1, -2)
    if c.s.hypothesis == "axisymmetric":
        B[..., 2, 2, :, 0] = c.N / c.radius[..., None]
    B = B.reshape(cells, points, 3, 3, k * d)
    (lam, mu), eps = lame(c), 0.5 * (B + np.swapaxes(B, 2, 3))
    trace, w = np.einsum("cqiia->cqa", B), c.weight
    parts = 2 * np.einsum("cq,cqija,cqijb->cab", mu * w, eps, eps)
    parts += np.einsum("cq,cqa,cqb->cab", lam * w, trace, trace)
    dofs = (c.nodes[..., None] * d + np.arange(d)).reshape(cells, -1)
    K = np.zeros((count * d, count * d))
    np.add.at(K, (dofs[:, :, None], dofs[:, None, :]), parts)
    return K


def viscous(c: Cells, v: np.ndarray, w: np.ndarray) -> float:
    """Power with velocities v of the bulk viscosity of velocities w, at small strains [W].

    A pressure ``-rho l (b1 c + b2^2 l max(-tr D, 0)) tr D`` with the edge l of a cube of the cell's volume
    over the degree and the speed c of P-waves, as its page says; b2 = 1.2 in the programs.
    """
    tensor = c.s.cell in ("quadrilateral", "hexahedron")
    simplex = 1.0 if tensor else math.factorial(c.s.gdim)
    (lam, mu), rho = lame(c), c.density()
    size = (c.jacobian / simplex) ** (1 / c.s.gdim) / c.s.degree
    rate, test = (np.trace(c.gradient(x), axis1=-2, axis2=-1) for x in (w, v))
    speed = c.s.bulk * np.sqrt((lam + 2 * mu) / rho) + 1.2**2 * size * np.maximum(-rate, 0.0)
    return float((c.weight * rho * size * speed * rate * test).sum())


def top(seen, c: Cells, count: int) -> np.ndarray:
    """``integral of N_a`` over the top of the last block, which is flat, by cells with a facet there [m2]."""
    s, total = seen.scenario, np.zeros(count)
    cell, x = getattr(basix.CellType, s.cell), shapes(seen)
    height = x[..., [0, -1]] @ np.array([-np.sin(s.tilt), np.cos(s.tilt)])
    corner, upper = basix.geometry(cell), height[c.block == len(s.blocks) - 1].max() - 1e-9
    for facet in basix.topology(cell)[s.gdim - 1]:
        kind = {2: "interval", 3: "triangle", 4: "quadrilateral"}[len(facet)]
        p, w = basix.make_quadrature(getattr(basix.CellType, kind), 6)
        sides = corner[facet[1 : p.shape[1] + 1]] - corner[facet[0]]
        points = corner[facet[0]] + p @ sides
        N = seen.body.space.element.basix_element.tabulate(0, points)[0, ..., 0]
        flat = placed(s, cell).tabulate(1, points)[..., 0]
        on = np.flatnonzero((height[:, facet] > upper).all(axis=1) & (c.block == len(s.blocks) - 1))
        tangents = np.einsum("cki,jqk,mj->cqim", x[on], flat[1:], sides)
        size = np.sqrt(np.linalg.det(np.swapaxes(tangents, -1, -2) @ tangents)) * w
        if s.hypothesis == "axisymmetric":
            size = size * 2 * np.pi * np.einsum("ck,qk->cq", x[on][..., 0], flat[0])
        total += np.bincount(c.nodes[on].ravel(), (size @ N).ravel(), count)
    return total


def shapes(seen) -> np.ndarray:
    """Places of the nodes of the geometry of the cells in the base frame, shape (c, corners, d) [m]."""
    geometry, d = seen.body.mesh.geometry, seen.scenario.gdim
    return (seen.frame.back(geometry.x[:, :d]) - seen.frame.shift)[geometry.dofmap]


def placed(s: Scenario, cell):
    """The element of the places in cells."""
    degree = 2 if s.bend else 1
    return basix.create_element(basix.ElementFamily.P, cell, degree, basix.LagrangeVariant.gll_warped)

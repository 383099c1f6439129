"""Elements that do not lock in plain NumPy: the energy; derivatives by complex steps and differences."""

import itertools
import math

import numpy as np

_STEP = 1e-30
#: Weights of a derivative by values at multiples of a step, of fourth order.
_STENCIL = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}


def isochoric_mooney_rivlin(F, c10, c01):
    C, J = np.swapaxes(F, -1, -2) @ F, np.linalg.det(F)
    first, squares = np.trace(C, axis1=-2, axis2=-1), np.einsum("...ij,...ij", C, C)
    return c10 * (J ** (-2 / 3) * first - 3) + c01 * (J ** (-4 / 3) * (first**2 - squares) / 2 - 3)


class Law:
    """Volumetric and isochoric energy of numbers; ``whole`` where the law is no sum of these."""

    def __init__(self, volumetric=None, isochoric=None, whole=None, linear=False):
        self.volumetric, self.isochoric, self.linear = volumetric, isochoric, linear
        self.whole = whole or (lambda F: volumetric(np.linalg.det(F)) + isochoric(F))


def lame(E, nu):
    return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


def mooney_rivlin(c10, c01, bulk):
    return Law(lambda J: bulk / 2 * (J - 1) ** 2, lambda F: isochoric_mooney_rivlin(F, c10, c01))


def isochoric_neo_hookean(E, nu):
    first, mu = lame(E, nu)
    kappa = first + 2 * mu / 3
    return Law(lambda J: kappa / 2 * np.log(J) ** 2, lambda F: isochoric_mooney_rivlin(F, mu / 2, 0.0))


def neo_hookean(E, nu):
    first, mu = lame(E, nu)

    def whole(F):
        log = np.log(np.linalg.det(F))
        return mu / 2 * (np.einsum("...ij,...ij", F, F) - 3) - mu * log + first / 2 * log**2

    return Law(whole=whole)


def linear_elastic(E, nu):
    first, mu = lame(E, nu)

    def deviatoric(F):
        e = (F + np.swapaxes(F, -1, -2)) / 2 - np.eye(3)
        e = e - np.trace(e, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
        return mu * np.einsum("...ij,...ij", e, e)

    return Law(lambda J: (first + 2 * mu / 3) / 2 * (J - 1) ** 2, deviatoric, linear=True)


def shape_functions(cell, hoop):
    """Values (points, nodes), slopes (points, nodes, dim), weights (points)."""
    dim = 2 if cell in ("triangle", "quadrilateral") else 3
    if cell in ("triangle", "tetrahedron"):
        points, weights = np.full((1, dim), 1 / (dim + 1)), np.array([1 / math.factorial(dim)])
        if hoop:
            points, weights = np.array([[1, 1], [1, 4], [4, 1]]) / 6, np.full(3, 1 / 6)
        values = np.column_stack([1 - points.sum(axis=1), points])
        slopes = np.vstack([-np.ones(dim), np.eye(dim)])
        return values, np.tile(slopes, (len(points), 1, 1)), weights
    at = (1 - 1 / math.sqrt(3)) / 2
    points = np.array(list(itertools.product((at, 1 - at), repeat=dim)))
    corners = np.array(list(itertools.product((0, 1), repeat=dim)))[:, ::-1]  # first direction first
    ones = np.where(corners[None], points[:, None], 1 - points[:, None])
    slopes = np.empty_like(ones)
    for t in range(dim):
        others = np.prod(np.delete(ones, t, axis=2), axis=2)
        slopes[:, :, t] = np.where(corners[:, t], 1, -1) * others
    return ones.prod(axis=2), slopes, np.full(2**dim, 1 / 2**dim)


class DenseElements:
    """A body on one rank, by the nodes of its cells.

    Args:
        body: The body, for its mesh alone.
        law: The law of numbers.
    """

    def __init__(self, body, law):
        self.law, self.size, dim = law, body.size, body.block
        cell = body.mesh.topology.cell_name()
        self.hoop = body.hypothesis == "axisymmetric"
        self.nodes = np.asarray(body.space.dofmap.list)
        self.by_nodes = cell in ("triangle", "tetrahedron")
        self.shapes, slopes, weights = shape_functions(cell, self.hoop)
        X = body.x[self.nodes][:, :, :dim]
        jacobian = np.einsum("cai,qat->cqit", X, slopes)
        self.slopes = np.einsum("qat,cqtj->cqaj", slopes, np.linalg.inv(jacobian))
        self.volumes = body.cross_section * np.abs(np.linalg.det(jacobian)) * weights
        self.radius = np.einsum("ca,qa->cq", X[:, :, 0], self.shapes)
        if self.hoop:
            self.volumes = self.volumes * 2 * math.pi * self.radius

    def energy(self, u):
        law, v, dim = self.law, self.volumes, self.slopes.shape[-1]
        U = u.reshape(-1, dim)[self.nodes]
        F = np.zeros((*v.shape, 3, 3), dtype=u.dtype) + np.eye(3)
        F[..., :dim, :dim] += np.einsum("cai,cqaj->cqij", U, self.slopes)
        if self.hoop:
            F[..., 2, 2] += np.einsum("ca,qa->cq", U[:, :, 0], self.shapes) / self.radius
        J = np.trace(F, axis1=-2, axis2=-1) - 2 if law.linear else np.linalg.det(F)
        if self.by_nodes:
            return np.sum(v * law.isochoric(F)) + self._of_nodes(v, J)
        ratio = np.sum(v * J, axis=1) / v.sum(axis=1)
        if law.volumetric:  # which does not depend on the volume, or the ratio
            return np.sum(v * law.isochoric(F)) + np.sum(v * law.volumetric(ratio)[:, None])
        return np.sum(v * law.whole((ratio[:, None] / J)[..., None, None] ** (1 / 3) * F))

    def _of_nodes(self, v, J):
        count, corners = self.nodes.max() + 1, self.nodes.shape[1]
        rest, now = np.zeros(count), np.zeros(count, dtype=J.dtype)
        np.add.at(rest, self.nodes, (v.sum(axis=1) / corners)[:, None])
        np.add.at(now, self.nodes, ((v * J).sum(axis=1) / corners)[:, None])
        return np.sum(rest * self.law.volumetric(now / rest))

    def forces(self, u):
        """The gradient of the energy, exact to round-off."""
        gradient = np.empty(self.size)
        for k in range(self.size):
            z = u.astype(complex)
            z[k] += 1j * _STEP
            gradient[k] = self.energy(z).imag / _STEP
        return gradient

    def tangent(self, u, x, h=1e-4):
        """Changes of the forces along x, to about 1e-10 for x of size 1."""
        return sum(weight * self.forces(u + k * h * x) for k, weight in _STENCIL.items()) / h

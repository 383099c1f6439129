"""Material points that follow given deformations, and J2 plasticity of one point in NumPy."""

import math

import basix.ufl
import numpy as np
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.optimize import brentq

import dolfinx_impact as di

#: Corners of the reference tetrahedron and the gradients of its shape functions, shape (4, 3).
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
SLOPES = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
ROOT = math.sqrt(2 / 3)


class Cells:
    """Separate tetrahedra without mass that matters, each with one point and a deformation of its own.

    Args:
        law: The law.
        count: Number of cells.
    """

    def __init__(self, law, count):
        corners = CORNERS + np.array([2.0, 0, 0]) * np.arange(count)[:, None, None]
        domain = ufl.Mesh(basix.ufl.element("Lagrange", "tetrahedron", 1, shape=(3,)))
        cells = np.arange(4 * count).reshape(-1, 4)
        mesh = dmesh.create_mesh(MPI.COMM_SELF, cells, e=domain, x=corners.reshape(-1, 3))
        self.body = di.Solid(mesh, density=1.0, law=law, locking="none")
        dofs = self.body.space.dofmap.list[:count]
        centres = self.body.x[dofs].mean(axis=1)
        order = np.argsort(centres[:, 0])
        self._dofs, self._order = dofs[order], np.argsort(order)
        self._x = self.body.x[self._dofs]  # its corners may have another order
        place = self._x - corners[:, :1]
        self._slopes = np.array([SLOPES[[_corner(p) for p in one]] for one in place])
        self._cells = order

    def displacements(self, F):
        """Displacements of deformation gradients of shape (count, 3, 3)."""
        u = np.zeros((len(self.body.x), 3))
        u[self._dofs] = np.einsum("cij,caj->cai", F - np.eye(3), self._x)
        return u.ravel()

    def stress(self, t, F, keep=True):
        """First Piola-Kirchhoff stress at time t [s], shape (count, 3, 3) [Pa]; the new state is kept."""
        out, u = np.zeros(self.body.size), self.displacements(F)
        self.body.force(t, u, np.zeros_like(u), out)
        if keep:
            self.body.history.accept()
        nodal = -6.0 * out.reshape(-1, 3)[self._dofs]  # the volume is 1/6
        return np.einsum("cai,caj->cij", nodal[:, 1:], np.linalg.inv(self._slopes[:, 1:]).transpose(0, 2, 1))

    def value(self, name):
        """A variable of the state, shape (count, ...)."""
        ((cells, values),) = self.body.history.values(name)
        return values[np.argsort(cells)][self._cells][:, 0]


def _corner(place):
    return int(np.argmin(np.linalg.norm(CORNERS - place, axis=1)))


class PointJ2:
    """One point, from the equations of the sheet; eigenvectors and a bracketed root.

    Args:
        E, nu: Elastic constants.
        flow: Yield stress of strain, rate and plastic work at the start of the step.
    """

    def __init__(self, E, nu, flow):
        self.kappa, self.mu, self.flow = E / (3 * (1 - 2 * nu)), E / (2 * (1 + nu)), flow
        self.G, self.alpha, self.work, self.sigma = np.eye(3), 0.0, 0.0, 0.0
        self.energy = 0.0

    def step(self, F, h):
        """The first Piola-Kirchhoff stress of F after a step h."""
        mu, flow = self.mu, self.flow
        squares, n = np.linalg.eigh(F @ self.G @ F.T)
        strain, log_J = 0.5 * np.log(squares), math.log(np.linalg.det(F))
        dev = strain - strain.mean()
        trial = 2 * mu * np.linalg.norm(dev)
        first = flow(self.alpha, 0.0, self.work)
        dg, last = 0.0, first
        if trial > ROOT * first:

            def excess(dg):
                return trial - 2 * mu * dg - ROOT * flow(self.alpha + ROOT * dg, ROOT * dg / h, self.work)

            high = trial / (2 * mu)
            dg = brentq(excess, 0.0, high, xtol=1e-18, rtol=1e-15) if excess(high) < 0 else high
            last = flow(self.alpha + ROOT * dg, ROOT * dg / h, self.work)
            strain = strain - dg * dev / np.linalg.norm(dev)
            b, inverse = (n * np.exp(2 * strain)) @ n.T, np.linalg.inv(F)
            self.G = inverse @ b @ inverse.T
            dev = strain - strain.mean()
        self.work += 0.5 * (max(self.sigma, first) + last) * ROOT * dg
        self.alpha, self.sigma = self.alpha + ROOT * dg, last
        tau = self.kappa * log_J * np.eye(3) + (n * (2 * mu * dev)) @ n.T
        self.energy = 0.5 * self.kappa * log_J**2 + mu * dev @ dev
        return tau @ np.linalg.inv(F).T


def six(A):
    """Entries xx, yy, zz, xy, xz, yz of symmetric matrices, shape (..., 6)."""
    return np.stack([A[..., i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=-1)


def full(entries):
    """The matrices of :func:`six`."""
    return entries[..., np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])]


def rotation(axis, angle):
    """Rodrigues' formula."""
    K = np.cross(np.eye(3), np.asarray(axis) / np.linalg.norm(axis))
    return np.eye(3) - math.sin(angle) * K + (1 - math.cos(angle)) * K @ K

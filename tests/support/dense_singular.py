"""Singular-mass CD-Lagrange as a dense NumPy program, on one rank, from formulas alone.

Forces are derivatives of an energy by complex steps, tangents their differences, the contact of the layer is
solved by projections, and masses are handed over cell by cell. Of the body only mesh and parameters are read.
"""

import numpy as np

from support.dense_elements import shape_functions


def neo_hookean(E, nu):
    """Energy density of plane strain."""
    first, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))

    def density(F):
        log = np.log(F[..., 0, 0] * F[..., 1, 1] - F[..., 0, 1] * F[..., 1, 0])
        return mu / 2 * (np.einsum("...ij,...ij", F, F) - 2) - mu * log + first / 2 * log**2

    return density


def linear(E, nu):
    """Energy density of plane strain."""
    first, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))

    def density(F):
        e = (F + np.swapaxes(F, -1, -2)) / 2 - np.eye(2)
        return mu * np.einsum("...ij,...ij", e, e) + first / 2 * np.trace(e, axis1=-2, axis2=-1) ** 2

    return density


class Plane:
    """A line through ``point`` with a normal at an angle to y, both functions of time, turning about it."""

    def __init__(self, point, angle=lambda t: 0.0, speed=lambda t: np.zeros(2), rate=lambda t: 0.0):
        self.point, self.angle, self.speed, self.rate = point, angle, speed, rate

    def normal(self, t):
        return np.array([-np.sin(self.angle(t)), np.cos(self.angle(t))])

    def gap(self, x, t):
        return (x - self.point(t)) @ self.normal(t)

    def velocity(self, x, t):
        arm = x - self.point(t)
        return self.speed(t) + self.rate(t) * np.stack([-arm[:, 1], arm[:, 0]], axis=1)


class DenseSingular:
    """The scheme on a plane body of quadrilaterals or triangles whose nodes ``contact`` meet a line."""

    def __init__(self, body, density, energy, contact, plane, friction, h):
        self.cells, self.X = np.asarray(body.space.dofmap.list), body.x[:, :2].copy()
        self.energy, self.plane, self.mu, self.h = energy, plane, friction, h
        _, slopes, weights = shape_functions(body.mesh.topology.cell_name(), False)
        jacobian = np.einsum("cai,qat->cqit", self.X[self.cells], slopes)
        self.slopes = np.einsum("qat,cqtj->cqaj", slopes, np.linalg.inv(jacobian))
        self.volumes = np.abs(np.linalg.det(jacobian)) * weights
        self.c = np.asarray(sorted(contact))
        self.dofs = (2 * self.c[:, None] + np.arange(2)).ravel()
        self.mass = np.repeat(self._masses(density), 2)

    def _masses(self, density):
        """On rectangles and their halves the nodes of a cell have equal parts of its mass."""
        masses, layer = np.zeros(len(self.X)), set(self.c)
        for cell, volume in zip(self.cells, self.volumes.sum(axis=1)):
            others = [node for node in cell if node not in layer]
            assert others
            masses[others] += density * volume / len(others)
        return masses

    def forces(self, u):
        f, step = np.zeros((len(self.X), 2)), 1e-30
        U = u.reshape(-1, 2)[self.cells].astype(complex)
        for node in range(self.cells.shape[1]):
            for i in range(2):
                U[:, node, i] += 1j * step
                F = np.eye(2) + np.einsum("cai,cqaj->cqij", U, self.slopes)
                U[:, node, i] -= 1j * step
                slope = np.sum(self.volumes * self.energy(F).imag, axis=1) / step
                np.subtract.at(f, (self.cells[:, node], i), slope)
        return f.ravel()

    def settle(self, u, t, old, moved):
        """Newton's method; contact forces by projected sweeps over ``H``, or at the start as well."""
        c, k = self.dofs, len(self.c)
        n, middle = self.plane.normal(t), t - self.h / 2 if moved else t
        B = np.kron(np.eye(k), np.stack([n, [-n[1], n[0]]]))
        lam = np.zeros(2 * k)
        for turn in range(12):
            f = self.forces(u)
            if turn in (0, 2):
                K = np.empty((2 * k, 2 * k))
                for j, dof in enumerate(c):
                    ends = [u.copy(), u.copy()]
                    ends[0][dof] += 1e-6
                    ends[1][dof] -= 1e-6
                    K[:, j] = (self.forces(ends[1])[c] - self.forces(ends[0])[c]) / 2e-6
                S = B @ np.linalg.inv(K) @ B.T
            x = np.linalg.solve(K, f[c])
            position = (self.X[self.c] + u.reshape(-1, 2)[self.c]).reshape(-1, 2)
            slip = (u[c] + x - old).reshape(-1, 2)
            if moved:
                slip = slip - self.h * self.plane.velocity(position, middle)
            b = B @ slip.ravel()
            b[::2] = self.plane.gap(position, t) + (B @ x)[::2]
            lam = self._sweeps(S, b, lam)
            change = x + np.linalg.solve(K, B.T @ lam)
            u[c] += change
            if np.abs(change).max() < 3e-17:
                break
        return self.forces(u), lam.reshape(-1, 2), B

    def _sweeps(self, S, b, lam):
        for _ in range(5000):
            before = lam.copy()
            for p in range(len(self.c)):
                i, j = 2 * p, 2 * p + 1
                lam[i] = max(0.0, lam[i] - (S[i] @ lam + b[i]) / S[i, i])
                trial = lam[j] - (S[j] @ lam + b[j]) / S[j, j]
                lam[j] = np.clip(trial, -self.mu * lam[i], self.mu * lam[i])
            if np.abs(lam - before).max() <= 1e-15 * np.abs(lam).max():
                break
        return lam

    def run(self, v0, steps):
        """Displacements, velocities of c and forces (normal, tangential) of every step, c in its order."""
        u, v, h, heavy = np.zeros(2 * len(self.X)), v0.copy(), self.h, self.mass > 0
        f, _, _ = self.settle(u, 0.0, u[self.dofs].copy(), False)
        v[heavy] += h / 2 * f[heavy] / self.mass[heavy]
        found = []
        for n in range(1, steps + 1):
            old = u[self.dofs].copy()
            u = u + h * v
            f, lam, B = self.settle(u, n * h, old, True)
            v[heavy] += h * f[heavy] / self.mass[heavy]
            v[self.dofs] = (u[self.dofs] - old) / h
            found.append((u.copy(), v.copy(), lam.copy()))
        return found

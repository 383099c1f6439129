"""Contact problems of heaps, which have more contacts than degrees of freedom."""

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact.algebra import projected_iteration
from dolfinx_impact.algebra.projected_iteration import AdmissibleImpulses


@pytest.mark.parametrize("seed", range(3))
def test_a_heap_with_more_contacts_than_degrees_of_freedom(seed):
    """Forty contacts of eight rigid bodies with friction: S is singular, the laws hold all the same."""
    rng = np.random.default_rng(seed)
    points, bodies = 40, 8
    J = np.zeros((points, 3, bodies, 6))
    for i in range(points):
        a, b = rng.choice(bodies, 2, replace=False)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        for body, sign in ((a, 1.0), (b, -1.0)):
            lever = rng.normal(size=3)
            J[i, :, body, :3], J[i, :, body, 3:] = sign * axes, sign * np.cross(lever, axes)
    J = J.reshape(3 * points, -1)
    scale = 1.0 / np.sqrt(np.repeat((J[::3] ** 2).sum(axis=1), 3))
    S = (J @ J.T) * np.outer(scale, scale)
    assert np.linalg.matrix_rank(S) < 3 * points
    c = (scale * (J @ rng.normal(size=6 * bodies))).reshape(points, 3)
    every = np.ones(points, dtype=bool)
    cone = AdmissibleImpulses(every, ~every, np.full(points, 0.3))

    def product(x):
        return (S @ x.ravel()).reshape(x.shape)

    x, _ = projected_iteration.solve(product, c, cone, np.zeros_like(c), MPI.COMM_SELF)
    v = product(x) + c
    largest = np.abs(c).max()
    assert x[:, 0].min() >= 0.0 and v[:, 0].min() > -1e-7 * largest
    assert np.abs(x[:, 0] * v[:, 0]).max() < 1e-7 * largest**2
    assert np.all(np.linalg.norm(x[:, 1:], axis=1) <= 0.3 * x[:, 0] * (1 + 1e-12))

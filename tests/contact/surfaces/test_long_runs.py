"""Two bodies that tumble and slide in each other for a long time: what drifts over 1e5 steps."""

import numpy as np
import pytest
from support.pairs import made
from support.surfaces import RUBBER, anywhere, momenta, total

import dolfinx_impact as di
from dolfinx_impact.benchmark.boxes import disc


def ring(inner, outer, around, layers=2):
    """A ring of triangles about the origin."""
    angle = 2.0 * np.pi * np.arange(around) / around
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    cells = []
    for first in range(0, layers * around, around):
        for j in range(around):
            p, q = first + j, first + (j + 1) % around
            cells += [(p, p + around, q + around), (p, q + around, q)]
    return made(
        "triangle", np.concatenate([r * circle for r in np.linspace(inner, outer, layers + 1)]), cells
    )


@pytest.mark.nightly
@pytest.mark.parametrize("friction, twist", [(0.0, 1e-12), (0.3, 1e-3)])
def test_momenta_and_balance_of_a_disc_in_a_free_ring(friction, twist):
    """Thousands of impacts: both momenta stay; with friction the torque across the penetration is bounded."""
    mesh = di.mesh.join({"disc": disc(3, 0.55, np.array([0.3, 0.0])), "ring": ring(1.0, 1.3, 29)})
    body = di.Solid(mesh, law=RUBBER, density=1.0)
    contact = di.SurfaceContact(body, "disc/boundary", "ring/boundary", friction=friction)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    rolling = body.rigid_velocity([0.03, 0.05], cells="disc", spin=0.05)
    s.start(0.0, rolling + body.rigid_velocity([-0.01, -0.02], cells="ring", spin=-0.02))
    balance = s.balance()
    balance.start()
    (start, scale), first = momenta(s), total(balance.kinetic + balance.complementary)
    hits = 0
    for k in range(100_000):
        s.step()
        balance.step()
        hits += anywhere(s.r > 0)
        if k % 1000 == 0:
            drift = np.abs(momenta(s)[0] - start) / scale
            assert drift[:2].max() <= 1e-12 and drift[2] <= twist
            residual = total(
                balance.kinetic + balance.complementary + balance.internal_work - balance.contact
            )
            assert residual == pytest.approx(first, rel=1e-12)
    assert hits > 1000
    assert friction == 0.0 or drift[2] > 1e-7

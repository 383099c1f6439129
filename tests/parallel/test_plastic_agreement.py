"""Bodies that yield: 1, 2 and 3 ranks agree, also where a rank has no cells."""

import numpy as np
import pytest
from mpi4py import MPI
from support.bent import bent_mesh, halves, smooth
from support.restarts import COPPER, rod

import dolfinx_impact as di
from dolfinx_impact import J2Plasticity, LinearHardening, parallel

COMM = MPI.COMM_WORLD

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("kind", COPPER, ids=lambda kind: kind.name)
def test_an_impact_is_that_of_one_rank(kind, as_on_one_rank):
    scheme, v0 = rod(kind)
    scheme.start(0.0, v0)
    history = di.simulate(scheme, t_end=90 * scheme.dt, progress=False)
    body = scheme.system
    found = {key: history[key] for key in ("t", "r", "kinetic", "internal", "plastic_work")}
    found["strain"] = np.array(body.history.largest("equivalent_plastic_strain"))
    found["critical"] = np.array([body.critical_time_step(), body.critical_time_step(u=scheme.u)])
    assert found["strain"] > 0.05 and found["r"].sum() > 0
    for key, one in as_on_one_rank(found).items():
        away = np.abs(one - found[key]).max() / np.abs(one).max()
        assert away <= (1e-6 if key == "critical" else 1e-11), key


@pytest.mark.parametrize("cell", ["tetrahedron", "hexahedron"])
def test_one_cell_has_the_forces_of_one_rank(cell):
    """The other ranks have none."""
    law = J2Plasticity(200.0, 0.3, hardening=LinearHardening(1.0, 20.0))

    def of_one_cell(comm):
        def elsewhere(x):
            away = np.linalg.norm(x - [0.2, 0.0, 0.0], axis=1)
            return away > comm.allreduce(away.min(initial=np.inf), MPI.MIN) + 1e-9

        corner = halves(bent_mesh(cell, 3, comm), elsewhere)
        body = di.Solid(corner, density=1.0, law=law, cells="left")
        u, _ = smooth(body, 0.08)
        out, n = np.zeros(body.size), body.owned
        body.force(0.1, u, np.zeros_like(u), out)
        body.history.accept()
        found = (np.sqrt(np.sum(out[:n] ** 2)), np.sum(body.history.values("dissipated")[0][1]))
        sums = np.array([parallel.total(comm, float(each**2)) for each in found])
        steps = body.critical_time_step(), body.critical_time_step(u=u)
        cells = body.history.values("dissipated")[0][0].size
        return cells, sums, steps, body.history.largest("equivalent_plastic_strain")

    cells, *found = of_one_cell(COMM)
    _, *alone = of_one_cell(MPI.COMM_SELF)
    assert sorted(COMM.allgather(cells)) == [0] * (COMM.size - 1) + [1]
    for one, other, limit in zip(found, alone, (1e-12, 1e-6, 1e-12)):
        np.testing.assert_allclose(one, other, rtol=limit)
    assert alone[-1] > 0.01

"""Bodies of several materials, some with history; parts of meshes; one cell in uniaxial stress."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.bent import bent_mesh, halves, smooth

import dolfinx_impact as di
from dolfinx_impact import J2Plasticity, LinearHardening, materials, parallel

COMM = MPI.COMM_WORLD
J2 = J2Plasticity(200.0, 0.3, hardening=LinearHardening(1.0, 20.0))
OTHERS = {
    "neo-Hookean": di.NeoHookean(50.0, 0.3),
    "linear": di.LinearElastic(50.0, 0.3),
    "J2": J2Plasticity(100.0, 0.25, hardening=materials.Voce(2.0, 3.0, 5.0)),
}


def driven(body):
    """Forces at the end of a path into flow, its states kept, and forces without a change of the state."""
    u, _ = smooth(body, 0.08)
    found = []
    for k, part in enumerate((0.3, 1.0, 0.9)):
        out = np.zeros(body.size)
        body.force(0.1 * (k + 1), part * u, np.zeros(body.size), out)
        if body.history is not None:
            body.history.accept()
        found.append(out)
    return found, part * u


def at_nodes(body, x):
    """Values by the place of the node, over all ranks."""
    n = body.owned
    rows = np.hstack([body.x[: n // body.block], x[:n].reshape(-1, body.block)])
    return {tuple(np.round(row[:3], 9)): row[3:] for rows in COMM.allgather(rows) for row in rows}


def two_parts(cell, name):
    """Linear laws by themselves have another quadrature, which is the same in cells that are not bent."""
    if name == "linear" and cell == "hexahedron":
        return halves(dmesh.create_box(COMM, [[0.2, 0, 0], [1.3, 1, 1]], [3] * 3, dmesh.CellType.hexahedron))
    return halves(bent_mesh(cell))


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "name, cell, locking",
    [
        ("neo-Hookean", "tetrahedron", None),
        ("neo-Hookean", "hexahedron", "none"),
        ("linear", "tetrahedron", None),
        ("linear", "hexahedron", None),
        ("J2", "tetrahedron", None),
        ("J2", "hexahedron", None),
    ],
)
def test_forces_are_the_sum_of_bodies_of_one_material(name, cell, locking):
    mesh = two_parts(cell, name)
    laws = {"left": J2, "right": OTHERS[name]}
    both = di.Solid(mesh, density=1.0, law=laws, locking=locking)
    parts = [di.Solid(mesh, density=1.0, law=law, cells=part, locking=locking) for part, law in laws.items()]
    (forces, u), *others = [driven(body) for body in (both, *parts)]
    for k, whole in enumerate(forces):
        summed = {place: np.zeros(3) for place in at_nodes(both, whole)}
        for body, (each, _) in zip(parts, others):
            for place, value in at_nodes(body, each[k]).items():
                summed[place] += value
        worst = max(np.abs(value - summed[place]).max() for place, value in at_nodes(both, whole).items())
        assert worst < 1e-12 * parallel.largest(COMM, np.abs(whole))
    energies = [parallel.total(COMM, body.stored_energy(x)) for body, (_, x) in zip(parts, others)]
    assert parallel.total(COMM, both.stored_energy(u)) == pytest.approx(sum(energies), rel=1e-12)
    having = [body for body in parts if body.history is not None]
    strains = both.history.values("equivalent_plastic_strain")
    assert len(strains) == len(having) and both.history.largest("equivalent_plastic_strain") > 0.01
    for (cells, values), body in zip(strains, having):
        ((own_cells, own),) = body.history.values("equivalent_plastic_strain")
        assert np.array_equal(cells, own_cells)
        np.testing.assert_allclose(values, own, rtol=1e-11, atol=1e-14)
    tags = mesh.cell_tags
    assert np.array_equal(np.sort(strains[0][0]), np.sort(tags.indices[tags.values == 1]))


# -- one cell in uniaxial stress


@pytest.mark.parametrize("locking", ["mean-dilatation", "none"])
def test_a_bar_in_tension_is_in_uniaxial_stress(locking):
    """Kirchhoff stress = yield stress; ln stretch = stress / E + plastic strain; the sides damped to rest."""
    E, end = 200.0, 0.05
    law = J2Plasticity(E, 0.3, hardening=LinearHardening(0.4, 20.0))
    mesh = dmesh.create_unit_cube(MPI.COMM_SELF, 1, 1, 1, cell_type=dmesh.CellType.hexahedron)
    walls = {f"low {i}": (lambda x, i=i: np.isclose(x[i], 0.0)) for i in range(3)}
    named = di.named(mesh, **walls, tip=lambda x: np.isclose(x[0], 1.0))
    body = di.Solid(
        named,
        density=1.0,
        law=law,
        locking=locking,
        damping=30.0,
        fixed={f"low {i}": (i,) for i in range(3)},
        prescribed={"tip": {0: lambda t: np.expm1(-end * np.expm1(-3.0 * t))}},
    )
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    s.start(0.0, np.zeros(body.size))
    di.simulate(s, t_end=10.0, progress=False, energies=False, every=100)
    stretch = 1 + s.u.reshape(-1, 3)[body.x[:, 0] > 0.5, 0]
    ((_, alpha),) = body.history.values("equivalent_plastic_strain")
    forces = np.zeros(body.size)
    body.force(s.t, s.u, np.zeros(body.size), forces)
    tau = -stretch[0] * forces.reshape(-1, 3)[body.x[:, 0] > 0.5, 0].sum()
    exact = (E * np.log(stretch[0]) - 0.4) / (E + 20.0)
    np.testing.assert_allclose(alpha, exact, rtol=1e-11)
    assert tau == pytest.approx(0.4 + 20 * exact, rel=1e-11)

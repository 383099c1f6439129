"""Plastic strain, yield stress and von Mises stress of materials with history: at nodes, in files, drawn."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import vtx_reader
from support.blocks import dropped

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, materials, parallel, plot
from dolfinx_impact.output import HistoryField
from dolfinx_impact.output.fields import LABELS

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD
E, NU, YIELD, SLOPE = 2.0e6, 0.3, 2.0e4, 1.0e5
MU = E / (2 * (1 + NU))
METAL = materials.J2Plasticity(E, NU, hardening=materials.LinearHardening(YIELD, SLOPE))
SOFT = {"law": materials.J2Plasticity(1e7, 0.3, hardening=materials.LinearHardening(1e5, 1e6))}
STRAIN, FIELDS = "equivalent_plastic_strain", ("stress", "plastic_strain", "yield_stress")
needs_reader = pytest.mark.skipif(not vtx_reader.available(), reason="no C library of ADIOS2")


def block(cell, law=METAL, comm=COMM, size=3, **options):
    flat = cell in ("triangle", "quadrilateral")
    make = dmesh.create_rectangle if flat else dmesh.create_box
    corners = [[0.0] * (2 if flat else 3), [1.0, 1.5, 0.5][: 2 if flat else 3]]
    mesh = make(comm, corners, [size] * len(corners[0]), getattr(dmesh.CellType, cell))
    return di.Solid(mesh, density=1000.0, law=law, **options)


def deform(solid, H, t):
    """Displacements of a uniform gradient, of which the state is kept; those of ghosts are wrong."""
    u = (solid.x[:, : solid.block] @ np.asarray(H, dtype=float)[: solid.block, : solid.block].T).ravel()
    u[solid.owned :] = 1e3
    solid.force(t, u, np.zeros(solid.size), np.zeros(solid.size))
    solid.history.accept()
    return u


def mises(sigma):
    deviator = sigma - np.trace(sigma) / 3 * np.eye(3)
    return np.sqrt(1.5 * np.sum(deviator**2))


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "cell, options",
    [
        ("triangle", {}),
        ("triangle", {"degree": 2}),
        ("quadrilateral", {}),
        ("quadrilateral", {"hypothesis": "axisymmetric"}),
        ("quadrilateral", {"degree": 2}),
        ("tetrahedron", {}),
        ("hexahedron", {"locking": "none"}),
        ("hexahedron", {}),
    ],
    ids=str,
)
def test_uniaxial_strain(cell, options):
    """Closed form of a step that yields, and of another one back that does not."""
    solid = block(cell, **options)
    fields = [HistoryField(solid, name) for name in (STRAIN, "yield_stress", "dissipated")]
    stress = di.VonMises(solid)
    for field, first in zip(fields, (0.0, YIELD, 0.0)):
        assert field() == pytest.approx(first)
    along = 1 if "hypothesis" in options else 0
    stretch = np.diag(np.eye(3)[along])
    u = deform(solid, 0.1 * stretch, 1e-3)
    whole = np.log(1.1)
    strain = (2 * MU * whole - YIELD) / (3 * MU + SLOPE)
    limit = YIELD + SLOPE * strain
    for field, expected in zip(fields, (strain, limit, strain * (YIELD + limit) / 2)):
        assert field().shape == (solid.size // solid.block,)
        assert field() == pytest.approx(expected, rel=1e-12)
    assert stress(u) == pytest.approx(limit / 1.1, rel=1e-12)
    u = deform(solid, 0.095 * stretch, 2e-3)
    assert fields[0]() == pytest.approx(strain, rel=1e-12)
    assert stress(u) == pytest.approx((limit - 2 * MU * (whole - np.log(1.095))) / 1.095, rel=1e-11)


def test_a_turned_state_has_the_same_stress():
    solid, stress = block("tetrahedron"), None
    c, s = np.cos(0.9), np.sin(0.9)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    F, found = np.array([[1.05, 0.2, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]]), []
    for rotation in (np.eye(3), turn):
        solid.history.reset()
        solid.history.start(0.0)
        u = deform(solid, rotation @ F - np.eye(3), 1e-3)
        found.append(di.VonMises(solid)(u))
    stress = found[0]
    assert stress == pytest.approx(found[1], rel=1e-12) and stress == pytest.approx(stress[0], rel=1e-12)
    # It is the yield stress over J, as the yield condition is that of the Kirchhoff stress.
    limit = HistoryField(solid, "yield_stress")()
    assert stress == pytest.approx(limit / np.linalg.det(F), rel=1e-12)


@pytest.mark.parametrize("hypothesis", ["plane-strain", "axisymmetric"])
def test_averages_are_by_volume(hypothesis):
    """Over points and cells of different volumes, against integrals of DOLFINx."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [4, 3], dmesh.CellType.quadrilateral)
    x = mesh.geometry.x
    x[:, :2] += 0.1 * np.sin(2.0 * x[:, :1]) * np.cos(3.0 * x[:, 1:2]) * [0.0, 1.0] + 0.3 * x[:, :2] ** 2
    solid = di.Solid(mesh, density=1.0, law=METAL, hypothesis=hypothesis)
    history = solid.history
    (places,) = (at for _, at in history.points().values())
    (name, state), *_ = history.state().items()
    table = state.reshape(*places.shape[:2], -1).copy()
    table[:, :, 6] = 1 + np.sin(3 * places[:, :, 0]) * places[:, :, 1]
    history.resume({name: table.reshape(state.shape)}, 0.0)
    r, z = ufl.SpatialCoordinate(mesh)
    weight = r if hypothesis == "axisymmetric" else fem.Constant(mesh, 1.0)
    test = ufl.TestFunction(fem.functionspace(mesh, ("DG", 0)))
    dx = ufl.dx(metadata={"quadrature_degree": 2})
    values, sizes = (
        fem.assemble_vector(fem.form(f * weight * test * dx)).array for f in (1 + ufl.sin(3 * r) * z, 1.0)
    )
    owned = mesh.topology.index_map(2).size_local
    nodes = np.asarray(solid.space.dofmap.list)[:owned]
    exact = np.asarray(fem.assemble_vector(fem.form(weight * test * ufl.dx)).array)[:owned]
    sums = np.zeros((solid.size // 2, 2))
    for cell, around in enumerate(nodes):
        sums[around] += np.array([values[cell] / sizes[cell], 1.0]) * exact[cell]
    total = parallel.gather_rows(COMM, np.column_stack([solid.x[:, :2], sums]))
    found = HistoryField(solid, STRAIN)()
    for node in range(solid.owned // 2):  # the sums of all ranks that have the node
        same = np.abs(total[:, :2] - solid.x[node, :2]).max(axis=1) < 1e-9
        assert found[node] == pytest.approx(total[same, 2].sum() / total[same, 3].sum(), rel=1e-12)


class Maxwell(materials.HistoryLaw):
    """Small strains, one branch."""

    state = {"viscous": np.zeros((3, 3)), "plastic": 0.0}

    def energy_density(self, F, state):
        strain = ufl.sym(F) - ufl.Identity(3)
        elastic = ufl.dev(strain) - state["viscous"]
        return ufl.inner(strain, strain) * E / 2 + ufl.inner(elastic, elastic) * E

    def update(self, F, state, h):
        q = ufl.exp(-h / 1e-3)
        return {"viscous": q * state["viscous"] + (1 - q) * ufl.dev(ufl.sym(F)), "plastic": h}


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "cell, locking", [("triangle", None), ("quadrilateral", "mean-dilatation"), ("hexahedron", None)]
)
def test_stress_of_a_law_of_the_user(cell, locking):
    """The stress with the state held."""
    solid = block(cell, Maxwell(), locking=locking)
    H = np.array([[0.05, 0.02, 0.0], [0.01, -0.03, 0.0], [0.0, 0.0, 0.0]])
    stress, u = di.VonMises(solid), deform(solid, H, 5e-4)
    strain = (H + H.T) / 2
    branch = (strain - np.trace(strain) / 3 * np.eye(3)) * np.exp(-0.5)
    P, F = E * strain + 2 * E * branch, np.eye(3) + H
    assert stress(u) == pytest.approx(mises(P @ F.T / np.linalg.det(F)), rel=1e-11)
    assert HistoryField(solid, "plastic")() == pytest.approx(5e-4)


def test_a_metal_beside_an_elastic_law():
    """Stresses everywhere; the state where it is, 0 elsewhere."""
    named = di.named(
        dmesh.create_rectangle(COMM, [[0.0, 0.0], [2.0, 1.0]], [6, 2], dmesh.CellType.quadrilateral),
        cells={"left": lambda x: x[0] < 1 + 1e-9, "right": lambda x: x[0] > 1 - 1e-9},
    )
    laws = {"left": METAL, "right": di.NeoHookean(E, NU)}
    solid = di.Solid(named, density=1.0, law=laws)
    stress, H = di.VonMises(solid), np.diag([0.1, 0.0, 0.0])
    u, x = deform(solid, H, 1e-3), solid.x[:, 0]
    strain = (2 * MU * np.log(1.1) - YIELD) / (3 * MU + SLOPE)
    assert HistoryField(solid, STRAIN)() == pytest.approx(np.where(x < 1 + 1e-9, strain, 0.0), rel=1e-12)
    metal, rubber = (YIELD + SLOPE * strain) / 1.1, MU * (1.1**2 - 1) / 1.1
    expected = np.where(x < 0.99, metal, np.where(x > 1.01, rubber, (metal + rubber) / 2))
    assert stress(u) == pytest.approx(expected, rel=1e-12)


# -- files


def fields_of(s, names=FIELDS):
    """Fields at the owned nodes of all ranks, in the order of their coordinates."""
    body, own = s.system, s.system.owned // s.system.block
    values = {"stress": di.VonMises(body)(s.u)}
    values |= {
        name: HistoryField(body, variable)() for name, variable in zip(FIELDS[1:], (STRAIN, FIELDS[2]))
    }
    columns = [body.x[:own], *(values[name][:own] for name in names)]
    return in_order(parallel.gather_rows(body.comm, np.column_stack(columns)))


def in_order(table):
    return table[np.lexsort(np.round(table[:, :3], 9).T)]


def read(path, names=FIELDS):
    COMM.barrier()
    file = parallel.on_root(COMM, lambda: vtx_reader.read(path, [LABELS[name] for name in names]))
    fields = [file.fields[LABELS[name]] for name in names]
    return [
        in_order(np.column_stack([file.x[file.own], *(each[i][file.own] for each in fields)]))
        for i in range(file.t.size)
    ]


def follow(s, writer, steps):
    writer.begin(s)
    tables = [fields_of(s)]
    for _ in range(steps):
        s.step()
        writer(s)
        if s.n % 5 == 0:
            tables.append(fields_of(s))
    writer.end()
    return tables


@needs_reader
@pytest.mark.parametrize("cell", ["quadrilateral", "tetrahedron"])
def test_files_have_the_fields_by_default(cell, shared_path):
    """At every sample those of the run; a run that is resumed writes the same ones."""
    s = dropped(cell, **SOFT)
    tables = follow(s, FieldWriter(shared_path / "drop.bp", every=5), 20)
    written = read(shared_path / "drop.bp")
    for found, expected in zip(written, tables, strict=True):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert written[-1][:, 4].max() > 0.01 and written[0][:, 5] == pytest.approx(1e5)
    first, fields = dropped(cell, **SOFT), FieldWriter(shared_path / "first.bp", every=5)
    follow(first, fields, 12)
    kept, state = first.state(), fields.state()
    again, rest = dropped(cell, **SOFT), FieldWriter(shared_path / "first.bp", every=5)
    again.resume(kept)
    rest.resume(state)
    follow(again, rest, 8)
    for found, expected in zip(read(shared_path / "first-2.bp"), tables[3:], strict=True):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_fields_are_the_same_on_any_number_of_ranks():
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        solid = block("tetrahedron", comm=comm)
        s = di.CDLagrange(solid, 0.5 * solid.critical_time_step())
        spread = np.sin(3.0 * solid.x) * [4.0, -3.0, 2.0]
        s.start(0.0, spread.ravel())
        for _ in range(30):
            s.step()
        found.append(fields_of(s))
    assert found[0] == pytest.approx(found[1], rel=1e-9) and found[0][:, 4].max() > 0.02


def test_refused(shared_path):
    """Fields of bodies without them, if they are asked for; on all ranks."""
    s = dropped("quadrilateral")
    for name in ("plastic_strain", "yield_stress"):
        with pytest.raises(
            ValueError,
            match=f"the law of the body has no {LABELS[name]!s}.* leave '{name}' out".replace("[", r"\["),
        ):
            FieldWriter(shared_path / "a.bp", every=1, names=("gap", name)).begin(s)
    own = block("quadrilateral", Maxwell())
    s = di.CDLagrange(own, 1e-4)
    s.start(0.0, 0.0)
    with pytest.raises(ValueError, match="has no plastic strain to show, that is of laws that yield"):
        FieldWriter(shared_path / "a.bp", every=1, names="plastic_strain").begin(s)
    with pytest.raises(ValueError, match=r"'viscous' has the shape \(3, 3\)"):
        HistoryField(own, "viscous")
    with pytest.raises(
        ValueError, match="the material has no 'heat'; its state is viscous, plastic, dissipated"
    ):
        HistoryField(own, "heat")
    with pytest.raises(ValueError, match="has no history, hence no 'yield_stress'"):
        HistoryField(dropped("quadrilateral").system, "yield_stress")


# -- pictures


def test_snapshots_keep_the_fields_of_their_times():
    s, film, tables = dropped("quadrilateral", **SOFT), plot.Snapshots(interval=1e-9), []
    film.begin(s)
    tables.append(fields_of(s, FIELDS[:2]))
    for _ in range(8):
        s.step()
        film(s)
        tables.append(fields_of(s, FIELDS[:2]))
    own = s.system.owned // 2
    assert len(film.states) == 9 and tables[-1][:, 4].max() > 0
    for moment, expected in zip(film.states, tables):
        columns = [s.system.x[:own], *(moment.fields[name][:own] for name in FIELDS[:2])]
        found = in_order(parallel.gather_rows(COMM, np.column_stack(columns)))
        assert found == pytest.approx(expected, rel=1e-12)
    elastic = plot.Snapshots(interval=1e-9)
    elastic.begin(dropped("quadrilateral"))
    assert not elastic.states[0].fields


def test_pictures_of_plastic_strain_and_stress(shared_path, plain_pixels):
    pytest.importorskip("pyvista")
    Image = pytest.importorskip("PIL.Image")
    s, film = dropped("quadrilateral", **SOFT), plot.Snapshots(count=2, span=(0.0, 1e-3))
    di.simulate(s, t_end=1e-3, observers=[film], adapt=di.StepControl())
    body = s.system
    for shade in ("plastic_strain", "stress"):
        path = shared_path / f"{shade}.png"
        plot.strip(path, body, film, contact=s.contact, shade=shade)
        COMM.barrier()
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB"), dtype=int)
        half = pixels.shape[1] // 2
        # Without stress at first, yellow; coloured by the field at the end.
        colored = [
            np.count_nonzero((part[..., 2] > part[..., 0] + 30)[:, : half - 100])
            for part in (pixels[:, :half], pixels[:, half:])
        ]
        assert colored[0] < 100 < 1000 < colored[1], shade
    with pytest.raises(
        ValueError, match="'stress' of a material with history does not follow from u: take the mom"
    ):
        plot.strip(path, body, [plot.Moment(0.0, s.u, s.v)], shade="stress")
    short = film.states[-1]._replace(fields={"plastic_strain": np.zeros(1)})
    with pytest.raises(
        ValueError, match=r"fields of a moment have shape \(\d+,\), one value a local node, but"
    ):
        plot.strip(path, body, [short], shade="plastic_strain")
    elastic = dropped("quadrilateral").system
    with pytest.raises(
        ValueError, match="shade must be one of speed, displacement, stress, v_x, v_y, but is 'p"
    ):
        plot.strip(path, elastic, [plot.Moment(0.0, s.u, s.v)], shade="plastic_strain")

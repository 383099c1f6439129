"""Results as tables: names, units, times of their columns; files; a row for a run."""

import json
import math
import sys

import numpy as np
import pytest
from mpi4py import MPI
from support.blocks import dropped

import dolfinx_impact as di
from dolfinx_impact.output import Result
from dolfinx_impact.output.contact_points import ContactPoints

COMM = MPI.COMM_WORLD


@pytest.fixture(scope="module")
def bounced():
    """A ball on the floor."""
    ball = di.PointMasses([1.0, 1.0], load=[0.0, -9.81], labels=["x", "z"])
    floor = di.ObstacleContact(ball, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    scheme = di.CDLagrange(ball, 1e-3, contact=floor)
    scheme.start([0.0, 0.1], [1.0, 0.0])
    return di.simulate(scheme, t_end=0.3, every=7, progress=False)


def test_frame(bounced):
    """A column for each dof, point and component, by labels, with units."""
    pytest.importorskip("pandas")
    frame = bounced.to_frame()
    assert frame.index.name == "t" and np.array_equal(frame.index, bounced["t"])
    for j, label in enumerate(("x", "z")):
        for name in ("u", "v_t", "v"):
            assert np.array_equal(frame[f"{name}:{label}"], bounced[name][:, j])
    (point,) = bounced["contact_labels"]
    assert np.array_equal(frame[f"r:{point}"], bounced["r"][:, 0]) and frame[f"r:{point}"].sum() > 1.0
    assert np.array_equal(frame[f"r_t:{point}:y"], bounced["r_t"][:, 0, 1])
    assert np.array_equal(frame["t_v"], bounced["t_v"]) and np.array_equal(
        frame["kinetic"], bounced["kinetic"]
    )
    units = frame.attrs["units"]
    assert units.keys() == {"t", *frame.columns} and all(units.values())
    assert (units["u:z"], units["v:z"], units[f"r:{point}"], units["residual"]) == ("m", "m/s", "N s", "J")
    assert frame.attrs["scheme"] == "CDLagrange" and frame.attrs["dt"] == pytest.approx(1e-3)


def test_labels_that_are_equal_are_numbered():
    """Nodes of a body have the names of the directions; a result without labels has numbers."""
    pandas = pytest.importorskip("pandas")
    t = np.arange(3.0)
    run = Result({"t": t, "u": np.eye(3), "labels": ["ux", "uy", "ux"], "gap": np.ones((3, 2)), "own": t})
    frame = run.to_frame()
    assert list(frame.columns) == ["u:ux 0", "u:uy", "u:ux 1", "gap:0", "gap:1", "own"]
    assert isinstance(frame, pandas.DataFrame) and frame.attrs["units"]["own"] == ""


def test_labels_like_numbered_ones_keep_their_columns(tmp_path):
    """A label that is another one with its number takes no column away, in tables, files and coordinates."""
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    run = Result({"t": np.arange(3.0), "u": np.eye(3), "labels": ["a", "a", "a 0"]})
    frame, names = run.to_frame(), ["a 0", "a 1", "a 0 0"]
    assert list(frame.columns) == [f"u:{name}" for name in names] and np.array_equal(frame, np.eye(3))
    assert run.to_xarray().dof.values.tolist() == names
    run.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().splitlines()[0] == "t,u:a 0,u:a 1,u:a 0 0"


@pytest.mark.mpi
def test_csv_is_the_frame(shared_path, monkeypatch):
    """To the last digit, NaN included; written without pandas."""
    pandas = pytest.importorskip("pandas")
    s = dropped("triangle")
    run = di.simulate(s, t_end=6 * s.dt, progress=False)
    run = Result({**run, "gap": np.where(run["gap"] > 1e-4, np.nan, run["gap"])})
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        run.to_csv(shared_path / "run.csv")
    COMM.barrier()
    frame = pandas.read_csv(shared_path / "run.csv", index_col="t", float_precision="round_trip")
    pandas.testing.assert_frame_equal(frame, run.to_frame(), check_exact=True)
    assert [path.name for path in shared_path.iterdir()] == ["run.csv"]
    with pytest.raises(OSError, match="nowhere"):
        run.to_csv(shared_path / "nowhere" / "run.csv")


def test_xarray(bounced, tmp_path):
    """Velocities of central differences stand at times of their own."""
    pytest.importorskip("xarray")
    data = bounced.to_xarray()
    assert np.array_equal(data.v.sel(dof="z"), bounced["v"][:, 1]) and data.v.dims == ("t_v", "dof")
    assert data.t_v.values - data.t.values == pytest.approx(0.5e-3)
    assert data.u.sel(t=0.0).values.tolist() == [0.0, 0.1]
    assert data.r_t.dims == ("t", "point", "axis") and data.axis.values.tolist() == ["x", "y"]
    assert data.u.units == "m" and data.r.units == "N s" and data.t.units == "s" and data.kinetic.units == "J"
    assert data.attrs["dofs"] == 2 and all(
        isinstance(value, (str, int, float)) for value in data.attrs.values()
    )


def test_places_areas_and_pressures(tmp_path):
    """Those of a body are coordinates and a column; also of a file."""
    pytest.importorskip("xarray")
    s = dropped("quadrilateral")
    run = di.simulate(s, t_end=20 * s.dt, progress=False)
    run.save(tmp_path / "run.npz")
    for each in (run, Result.load(tmp_path / "run.npz")):
        data = each.to_xarray()
        assert np.array_equal(data.place, run.places) and np.array_equal(data.area, run.areas)
        assert np.array_equal(data.pressure, run.pressure) and data.pressure.units == "Pa"
        assert run.pressure.max() == each.row()["pressure_peak"] > 0


def test_what_to_install(monkeypatch):
    run = Result({"t": np.zeros(1)})
    for module, method in (("pandas", run.to_frame), ("xarray", run.to_xarray)):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(
            ImportError, match=f"{method.__name__}.. needs {module}, .*: pip install {module}"
        ):
            method()


@pytest.mark.mpi
def test_row_of_a_run(shared_path):
    """Plain scalars, the same on all ranks and of a file: what the arrays say."""
    s = dropped("triangle")
    run = di.simulate(s, t_end=30 * s.dt, progress=False, every=4)
    row = run.row()
    assert row["scheme"] == "CDLagrange" and row["system"] == "Solid" and row["contact"] == "RigidContact"
    assert row["dofs"] == 18 and row["dt"] == s.dt and row["steps"] == 30 and row["samples"] == 9
    assert row["impulse"] == pytest.approx(run["r"].sum()) and row["contact_points"] == run["r"].shape[1]
    assert row["friction_impulse"] == pytest.approx(np.linalg.norm(run["r_t"], axis=2).sum())
    assert run["t"][0] < row["contact_start"] <= row["contact_end"] <= row["t_end"] == run["t"][-1]
    assert row["balance_residual"] < 1e-12 and row["balance"] is True and row["warnings"] == len(run.warnings)
    # What is lost is missing at the end.
    complementary = run["complementary"][-1] - run["complementary"][0]
    left = row["kinetic_end"] + complementary + run["internal_work"][-1] - row["plastic_work"]
    assert row["kinetic_start"] - row["lost"] + row["external"] == pytest.approx(left, rel=1e-10)
    assert all(type(value) in (str, int, float, bool) for value in row.values())
    assert len(set(COMM.allgather(json.dumps(row)))) == 1
    run.save(shared_path / "run.npz")
    COMM.barrier()
    assert json.dumps(Result.load(shared_path / "run.npz").row()) == json.dumps(row)


def test_rows_have_the_same_keys(bounced, tmp_path):
    """With and without contact, energies, friction; what is unknown is NaN, no contact is an impulse of 0."""
    ball = di.PointMasses(1.0, load=[-9.81])
    free = di.MoreauJean(ball, 1e-3)
    free.start(1.0, 0.0)
    run = di.simulate(free, t_end=0.01, energies=False, progress=False)
    bare = Result({"t": np.arange(3.0), "a": np.ones(3)})
    bare.save(tmp_path / "bare.npz")
    rows = [bounced.row(), run.row(), bare.row(), Result.load(tmp_path / "bare.npz").row()]
    assert len({tuple(row) for row in rows}) == 1
    assert rows[1]["impulse"] == 0.0 and rows[1]["contact"] == "" and math.isnan(rows[1]["contact_start"])
    assert math.isnan(rows[1]["lost"]) and math.isnan(rows[1]["balance_residual"])
    assert rows[2]["scheme"] == "" and math.isnan(rows[2]["dt"]) and math.isnan(rows[2]["u_peak"])
    assert rows[1]["v_peak"] == pytest.approx(0.0981)


def test_ties_count_as_points_alone_in_a_row():
    """Their impulses are inner forces, their gaps and pressures no contact."""
    gap = np.array([[0.3, -0.5], [0.2, -0.7]])
    given = {"t": np.arange(2.0), "r": np.array([[1.0, 5.0], [2.0, -7.0]]), "gap": gap}
    points = ContactPoints.from_arrays({"_pressure": np.array([[10.0, 90.0], [20.0, 80.0]])})
    row = Result(given, tied=[False, True], points=points).row()
    assert (row["impulse"], row["impulse_peak"]) == (3.0, 2.0)
    assert (row["contact_points"], row["tied_points"]) == (2, 1)
    assert (row["gap_least"], row["pressure_peak"]) == (0.2, 20.0)
    assert Result({"t": np.arange(2.0), "gap": gap}).row()["gap_least"] == -0.7

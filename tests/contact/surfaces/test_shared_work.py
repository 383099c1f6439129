"""Points of surfaces on the ranks that compute with them: equal work, results, histories, restarts."""

import numpy as np
import pytest
from dolfinx import graph
from mpi4py import MPI
from support.surfaces import COMM, LAW, RUBBER, anywhere, box, momenta, until_contact

import dolfinx_impact as di
from dolfinx_impact import _compat, checkpoint, parallel


def joined(parts, monkeypatch, rank_of=None):
    """Parts as one mesh, whose cells are on the ranks that a function of their middles says."""
    if rank_of is not None and COMM.size > 1:
        middles = []
        for mesh in (part.mesh for part in parts.values()):
            owned = mesh.topology.index_map(mesh.topology.dim).size_local
            middles.append(mesh.geometry.x[_compat.geometry_dofmap(mesh)[:owned]].mean(axis=1))
        ranks = np.minimum(rank_of(np.concatenate(middles)), COMM.size - 1).astype(np.int32)
        to = graph.adjacencylist(ranks[:, None])
        to = getattr(to, "_cpp_object", to)
        monkeypatch.setattr(_compat, "cell_partitioner", lambda ghosts: lambda *_: to)
    mesh = di.mesh.join(parts)
    monkeypatch.undo()
    return mesh


def pressed(
    monkeypatch, rank_of=None, along=0.0, friction=0.3, wide=1.0, cells=(24, 40), heavy=1.0, floor=False
):
    """A started scheme: a layer lies on a longer one, which is held below, and slides along it."""
    parts = {
        "upper": box([cells[0], 2], [0.0, 1e-5], [wide, 0.10001]),
        "lower": box([cells[1], 4], [0.0, -0.2], [2.0, 0.0]),
    }
    body = di.Solid(
        joined(parts, monkeypatch, rank_of),
        law=LAW,
        density={"upper": heavy, "lower": 1.0},
        gravity=(0.0, -0.05),
        fixed=[] if floor else ["lower/bottom"],
    )
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction)
    if floor:
        plane = di.Plane((0.0, -0.2), (0.0, 1.0))
        contact = [contact, di.RigidContact(body, "lower/bottom", plane, friction=friction)]
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((along, -0.01), cells="upper"))
    return s


def far_below(middles):
    """All cells at the surfaces that meet are on rank 0."""
    return np.where(middles[:, 1] < -0.11, 1 + (middles[:, 0] > 1.0), 0)


def at_random(middles):
    return np.random.default_rng(COMM.rank).integers(0, COMM.size, len(middles))


def in_order(s, values):
    rows = s.system.rows()
    return parallel.gather_rows(COMM, rows(values))[rows.sorting(COMM)]


@pytest.mark.mpi(turns=False)
@pytest.mark.parametrize("rank_of, floor", [(far_below, False), (at_random, False), (far_below, True)])
def test_ranks_share_the_work_wherever_the_cells_are(monkeypatch, rank_of, floor):
    """The same motion and impulses as with the usual division of the cells, and equal work."""
    found = []
    for division in (None, rank_of):
        s = pressed(monkeypatch, division, floor=floor)
        for _ in range(125):
            s.step()
        order = s.contact.L.sorting(COMM)
        found.append((in_order(s, s.u), parallel.gather_rows(COMM, s.r)[order]))
        assert np.count_nonzero(found[-1][1]) > 10
        segments = COMM.allgather(s.contact.members[0].assembly._segments)
        assert max(segments) <= 1.35 * np.mean(segments) + 3
    for one, other in zip(*found):
        assert one == pytest.approx(other, rel=0, abs=1e-12 * np.abs(one).max())


@pytest.mark.mpi
def test_points_that_slide_away_are_computed_elsewhere(monkeypatch):
    """The rank changes that computes with the points, and the number of products stays."""
    s = pressed(monkeypatch, far_below, along=0.45, wide=0.5, friction=0.0, cells=(5, 80), heavy=10.0)
    products, users = [], []
    for _ in range(310):
        s.step()
        if parallel.total(COMM, s.r.sum()) > 0.0:
            products.append(s.contact_iterations)
        if (past := s.contact.past()) and s.n % 100 == 1:
            users.append(parallel.gather_rows(COMM, past["ranks"][:, :1]).ravel())
    if COMM.size > 1:
        assert any(not np.array_equal(*both) for both in zip(users[:-1], users[1:]))
    assert max(products) <= 30


@pytest.mark.mpi
@pytest.mark.parametrize("steps", [99, 120])
def test_a_run_that_was_stopped_goes_on_to_the_last_bit(monkeypatch, shared_path, steps):
    """In contact, right before and some steps after the points were divided anew."""
    whole, first, then = (pressed(monkeypatch, far_below, along=0.1) for _ in range(3))
    for _ in range(steps):
        whole.step()
        first.step()
    assert parallel.total(COMM, np.count_nonzero(first.r)) > 0
    checkpoint.save(shared_path / "first.npz", first)
    checkpoint.load(shared_path / "first.npz", then)
    for _ in range(80):
        whole.step()
        then.step()
    for name in ("u", "v", "r", "r_t"):
        assert np.array_equal(getattr(whole, name), getattr(then, name))


@pytest.mark.mpi
def test_ranks_without_facets_and_without_points(monkeypatch):
    """All cells on rank 0, and no contact at all for some steps."""
    s = pressed(monkeypatch, lambda middles: np.zeros(len(middles)))
    for _ in range(30):
        s.step()
    assert parallel.total(COMM, np.count_nonzero(s.r)) > 5
    here = COMM.allgather(s.contact.assembly._segments)
    assert COMM.size == 1 or min(here) > 0
    assert parallel.total(MPI.COMM_WORLD, s.contact.count) == s.contact.total


def plates(monkeypatch, cells=40):
    """Two plates face on face, each divided among the ranks in strips along the same axis."""
    n = [cells, cells, 1]
    parts = {
        "upper": box(n, [0.0, 0.0, 0.0], [1.0, 1.0, 0.1], "hexahedron"),
        "lower": box(n, [0.0, 0.0, -0.1], [1.0, 1.0, 0.0], "hexahedron"),
    }
    strips = joined(parts, monkeypatch, lambda middles: (COMM.size * middles[:, 0]).astype(np.int64))
    body = di.Solid(strips, law=LAW, density=1.0)
    return di.SurfaceContact(body, "upper/bottom", "lower/top")


@pytest.mark.mpi(turns=False)
def test_a_rank_holds_its_own_facets_and_those_near_them(monkeypatch):
    """Of two plates whose parts lie on different ranks: less than 60 % of all on three ranks."""
    contact = plates(monkeypatch)
    held, every = len(contact.facets.nodes), len(contact.assembly.all_facets().nodes)
    assert every > 2 * 40**2
    assert held <= {1: 1.0, 2: 0.65}.get(COMM.size, 0.6) * every


@pytest.mark.mpi
def test_a_body_of_one_cell_with_nothing_near_and_then_in_contact(monkeypatch):
    """No rank has a candidate at first; all facets that meet later are those of one cell on the last rank."""
    parts = {"upper": box([1, 1], [0.2, 0.3], [0.5, 0.6]), "lower": box([6, 2], [0.0, -0.2], [1.0, 0.0])}
    mesh = joined(parts, monkeypatch, lambda middles: np.where(middles[:, 1] > 0.0, COMM.size - 1, 0))
    body = di.Solid(mesh, law=RUBBER, density=1.0)
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary")
    s = di.CDLagrange(body, 0.02, contact=contact)
    s.start(0.0, body.rigid_velocity((0.1, -0.5), cells="upper", spin=0.2))
    (start, scale), here = momenta(s), contact.assembly
    s.step()
    assert not anywhere(len(here._tables["pair"])) and not anywhere(np.isfinite(s.gap()))
    until_contact(s)
    hits = 0
    for _ in range(60):
        s.step()
        hits += anywhere(s.r > 0.0)
    drift = np.abs(momenta(s)[0] - start) / scale
    assert hits > 2 and drift.max() <= 1e-13

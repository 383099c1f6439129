"""The compiled iteration over packed rows, compared with the one of NumPy on the same rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI
from support.colliding import discs

import dolfinx_impact as di
from dolfinx_impact.algebra import coulomb, projected_iteration
from dolfinx_impact.algebra.node_rows import NodeRows
from dolfinx_impact.contact.state import Impulses
from dolfinx_impact.contact.surfaces.halo import Halo
from dolfinx_impact.integrators.impulses.delassus_iterated import IteratedDelassus

WORLD = MPI.COMM_WORLD


class Rows:
    """Points over nodes of all ranks, with what the solution asks of a state, a contact and a scheme."""

    def __init__(self, seed, points, nodes, gdim=3, friction=0.0, most=4, tied=0.0):
        rng = np.random.default_rng([seed, WORLD.rank])
        shuffled = np.random.default_rng(seed).permutation(nodes * WORLD.size)
        # The first nodes of points differ on all ranks, so that H is well-conditioned; the others do not.
        rank, local = np.divmod(np.roll(shuffled, nodes * WORLD.rank)[: 2 * nodes], nodes)
        sizes = rng.integers(1, most + 1, points)
        start = np.concatenate([[0], np.cumsum(sizes)])
        n = rng.normal(size=(points, gdim))
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        W = 0.1 * rng.normal(size=start[-1])
        W[start[:-1]] = 1.0
        others = [rng.permutation(np.delete(np.arange(rank.size), k)) for k in range(points)]
        own = [np.append(k, each[: size - 1]) for k, each, size in zip(range(points), others, sizes)]
        own = np.concatenate([*own, np.zeros(0, dtype=int)])
        self.L = NodeRows(np.arange(float(points))[:, None], gdim, shared=WORLD.size > 1)
        self.L.set_nodes(Halo(WORLD, rank, local, gdim, gdim))
        self.L.set(start, own, np.repeat(n, sizes, axis=0) * W[:, None], W)
        self.closed, self.bilateral = rng.random(points) < 0.8, rng.random(points) < tied
        self.frictions = np.where(self.bilateral, 0.0, friction)
        self.b, self.v = rng.normal(size=points) - 0.5, rng.normal(size=nodes * gdim)
        inverse = rng.uniform(0.5, 2.0, self.v.size).reshape(nodes, gdim)
        spare = shuffled.reshape(WORLD.size, nodes)[:, points:].ravel()
        inverse[spare[spare // nodes == WORLD.rank] % nodes, 0] = 0.0
        self.obstacle = rng.normal(size=(points, gdim))
        contact = SimpleNamespace(comm=WORLD, friction=friction, moving=True, members=[])
        self.scheme = SimpleNamespace(
            contact=contact, system=SimpleNamespace(inverse_mass=inverse.ravel(), size=self.v.size)
        )

    @property
    def bases(self):
        n = self.L.normals()
        return np.concatenate([n[:, None, :], coulomb.tangents(n)], axis=1)

    def surface_velocity(self, t):
        return self.obstacle

    def solved(self, way, last=None):
        """Impulses by a method of the solution, and the number of products; or the error."""
        response = IteratedDelassus(self.scheme)
        found = nothing(self, self.scheme.contact)
        try:
            getattr(response, way)(found, self.closed, self.b, self.v, 0.0, last)
        except di.NotConverged as error:
            return str(error), None
        return found, (response.sweeps, response.condition)


def nothing(state, contact):
    size, k = state.closed.size, state.L.components
    return Impulses(state, np.zeros(size), np.zeros((size, k)) if contact.friction else None)


def difference(a, b):
    """Largest difference of impulses over the largest one, of all ranks. Collective."""
    pairs = [(a.r, b.r)] + ([] if a.r_t is None else [(a.r_t, b.r_t)])
    both = [[np.abs(x - y).max(initial=0.0), np.abs(y).max(initial=0.0)] for x, y in pairs]
    most = np.max(WORLD.allgather(np.max(both, axis=0)), axis=0)
    return most[0] / max(most[1], 1e-300)


@pytest.mark.mpi
@pytest.mark.parametrize("points", [0, 1, 40])
@pytest.mark.parametrize("gdim, friction", [(2, 0.0), (3, 0.0), (2, 0.3), (3, 0.3)])
def test_the_iteration_is_that_of_numpy(gdim, friction, points):
    """With masses that differ by direction, some of them infinite, ties, and a start."""
    rows = Rows(gdim, points, 60, gdim, friction, tied=0.0 if friction else 0.3)
    last = None
    for _ in range(2):
        (a, of_a), (b, of_b) = rows.solved("_solve_packed", last), rows.solved("_solve_applied", last)
        assert abs(of_a[0] - of_b[0]) <= 1 and of_a[1] == pytest.approx(of_b[1], rel=1e-6)
        assert difference(a, b) <= (1e-14 if friction else 4e-15)
        rows.b -= 0.1
        last = b


def at_one_node(b, normals):
    """Points of this rank, all of them at a node that the ranks share."""
    rows, n = Rows(1, len(b), max(1, len(b)), 2), np.reshape(normals, (len(b), 2))
    rows.L.set_nodes(Halo(WORLD, np.zeros(1, dtype=int), np.zeros(1, dtype=int), 2, 2))
    rows.L.set(np.arange(len(b) + 1), np.zeros(len(b), dtype=int), n, np.ones(len(b)))
    rows.closed[:], rows.b[:] = True, b
    return rows


@pytest.mark.mpi
@pytest.mark.parametrize("late", [300, 5])
def test_what_is_left_goes_on_where_compiled_code_stops(late, monkeypatch):
    """Iterates are mixed, or the problem is solved as a dense one, both from the same iterate."""
    monkeypatch.setattr(projected_iteration, "FREE", 3)
    monkeypatch.setattr(projected_iteration, "_LATE", late)
    rows = Rows(7, 20, 40, 3, 0.3)
    (a, of_a), (b, of_b) = rows.solved("_solve_packed"), rows.solved("_solve_applied")
    assert abs(of_a[0] - of_b[0]) <= 1 and of_a[0] == pytest.approx(20, abs=14)
    assert difference(a, b) <= 1e-13


@pytest.mark.mpi
def test_what_has_no_solution_raises_on_all_ranks(monkeypatch):
    """Two points push one node against each other, on the first and on the last rank."""
    monkeypatch.setattr(projected_iteration, "_MOST", projected_iteration.FREE + 20)
    signs = np.array(
        [1.0, -1.0] if WORLD.size == 1 else [1.0, *np.zeros(WORLD.size - 2), -1.0][WORLD.rank :][:1]
    )
    signs = signs[signs != 0.0]
    rows = at_one_node(np.full(signs.size, -1.0), np.outer(signs, [1.0, 0.0]))
    message, _ = rows.solved("_solve_packed")
    assert "was not solved: after" in message
    rows.b[:] = np.nan if WORLD.rank == 0 else -1.0
    message, _ = rows.solved("_solve_packed")
    assert "not finite" in message


@pytest.mark.mpi
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("listed", [False, True])
def test_discs_that_touch(friction, listed, monkeypatch):
    """Each solution of a run, with the impulses of the last one as start; also against walls in a list."""
    body = discs(5, 4, gap=0.0)
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction)
    if listed:
        bottom = -np.sqrt(4.0 - 0.6**2) / 2 - 1.0
        floor = di.RigidContact(
            body, "lower/boundary", di.Plane([0.0, bottom], [0.0, 1.0]), friction=friction
        )
        contact = [contact, floor]
        if not friction:
            dofs = np.arange(0, body.owned, 7 * body.block)
            contact.append(di.DofBound(body, dofs, upper=1e-4, allow_penetration=True))
    s = di.CDLagrange(body, 0.6 * body.critical_time_step(), contact=contact)
    packed, counts = IteratedDelassus._solve_packed, []

    def both(self, found, *given):
        other = nothing(found.state, s.contact)
        self._solve_applied(other, *given)
        sweeps = self.sweeps
        self.sweeps = 0
        packed(self, found, *given)
        counts.append((self.sweeps, sweeps, difference(found, other)))

    monkeypatch.setattr(IteratedDelassus, "_solve_packed", both)
    v = body.rigid_velocity((0.1, -0.2), cells="upper") + body.rigid_velocity((0.0, -0.05), cells="lower")
    s.start(0.0, v)
    r = np.zeros(s.contact.count)
    for _ in range(25):
        s.step()
        r += s.r
    first, second, error = np.array(counts).T
    # A residual at the tolerance itself may be on either side of it.
    assert np.abs(first - second).max() <= 1 and np.mean(first != second) < 0.1 and first.max() > 5
    assert error.max() <= 2e-14
    parts = s.contact.parts if listed else [slice(None)]
    assert all(WORLD.allreduce(r[part].sum()) > 0.0 for part in parts)


@pytest.mark.mpi
def test_values_at_nodes_of_any_rank():
    """Sums over the ranks that need a node do not depend on who owns it; what is added reaches the owner."""
    rng, n, gdim = np.random.default_rng(WORLD.rank), 8, 2
    nodes = np.sort(rng.permutation(n * WORLD.size)[: 5 * (1 + WORLD.rank)])
    halo = Halo(WORLD, *np.divmod(nodes, n), gdim + 1, gdim)
    values = rng.normal(size=(nodes.size, gdim))
    dense = np.zeros((n * WORLD.size, gdim))
    dense[nodes] = values
    dense = WORLD.allreduce(dense)
    own = np.zeros((n, gdim + 1))
    halo.add(values, own.reshape(-1), np.full(own.size, 2.0))
    assert own[:, :gdim] == pytest.approx(2.0 * dense[WORLD.rank * n :][:n], abs=1e-15)
    halo.sum(values)
    assert values == pytest.approx(dense[nodes], abs=1e-15)
    out = np.empty_like(values)
    halo.gather(own.reshape(-1), out)
    assert out == pytest.approx(2.0 * dense[nodes], abs=1e-15)
    everywhere = WORLD.allgather({int(k): value.tobytes() for k, value in zip(nodes, values)})
    for each in everywhere:  # bit by bit
        assert all(each[k] == value for k, value in everywhere[0].items() if k in each)

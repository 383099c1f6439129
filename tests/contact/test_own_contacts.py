"""Contacts and obstacles of a user's: what they may do, and what is refused in words, on all ranks."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import checkpoint, obstacles

COMM = MPI.COMM_WORLD
LAST = COMM.size - 1


class Height(di.Contact):
    """Particles above the plane y = 0, each with two dofs; ``spoil`` changes its gaps."""

    def __init__(self, system, spoil=lambda gap, u: gap, **options):
        dofs = np.arange(system.owned).reshape(-1, 2)
        weights = np.tile([0.0, 1.0], (len(dofs), 1))
        super().__init__(system, di.SparseRows(dofs, weights, order=dofs[:, :1]), **options)
        self.spoil = spoil

    def gap(self, u, t=0.0):
        return self.spoil(u[1::2][: self.count].copy(), u)


def particles(count=2):
    return di.PointMasses(np.ones(2 * count), load=np.tile([0.0, -9.81], count))


def falling(make=di.CDLagrange, spoil=lambda gap, u: gap, **options):
    system = particles()
    scheme = make(system, 1e-3, contact=Height(system, spoil, restitution=0.5, **options))
    scheme.start([0.0, 0.1, 0.0, 0.2], 0.0)
    return scheme


SCHEMES = [di.CDLagrange, di.MoreauJean, di.NohBathe, di.PaoliSchatzman]
MISTAKES = {
    "list": (lambda gap, u: gap[:1].tolist(), r"must return an array of shape \(2,\), a gap \[m\] of every"),
    "shape": (lambda gap, u: gap[:, None], r"Height.gap\(u, t\) must return an array of shape \(2,\)"),
    "word": (lambda gap, u: "closed", "but returns 'closed'"),
    "nan": (lambda gap, u: np.where(gap > 0.15, gap, np.nan), "is NaN at point 0 at t = "),
    "writes": (lambda gap, u: u.__setitem__(0, 1.0), "read-only"),
}


@pytest.mark.parametrize("make", SCHEMES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_gap_that_is_none_is_refused(make, mistake):
    spoil, words = MISTAKES[mistake]
    with pytest.raises(ValueError, match=words):
        scheme = falling(make, spoil)
        di.simulate(scheme, t_end=0.1, progress=False)


def test_whole_numbers_and_lists_are_gaps():
    plain, listed = falling(), falling(spoil=lambda gap, u: gap.tolist())
    runs = [di.simulate(each, t_end=0.3, progress=False) for each in (plain, listed)]
    assert runs[0]["r"].sum() > 0 and np.array_equal(runs[0]["u"], runs[1]["u"])


def test_an_obstacle_without_a_number_is_refused():
    class Dent(obstacles.Shape):
        def gap(self, x, t=0.0):
            return np.where(x[:, 1] > -1e-4, x[:, 1], np.nan)

        def normal(self, x, t=0.0):
            return np.tile([0.0, 1.0], (len(x), 1))

    system = particles(1)
    scheme = di.CDLagrange(system, 1e-2, contact=di.ObstacleContact(system, [[0, 1]], Dent(2)))
    scheme.start([0.0, 0.1], 0.0)
    with pytest.raises(ValueError, match="the gap of the obstacle is NaN at x = "):
        di.simulate(scheme, t_end=1.0, progress=False)


class Slope(obstacles.Shape):
    """A plane whose normals have the length ``length``."""

    def __init__(self, length, flat):
        super().__init__(2)
        self.length, self.flat = length, flat

    def gap(self, x, t=0.0):
        return x[:, 1]

    def normal(self, x, t=0.0):
        return np.tile([0.0, self.length], (len(x), 1))


def test_normals_in_a_union_with_edges_are_unit_vectors():
    system = particles(1)
    shapes = [Slope(2.0, False), di.Box((5.5, -0.5), (1.0, 1.0))]
    scheme = di.CDLagrange(system, 1e-2, contact=di.ObstacleContact(system, [[0, 1]], shapes))
    scheme.start([0.0, 0.1], 0.0)
    with pytest.raises(ValueError, match="the normal of the obstacle has the length 2"):
        di.simulate(scheme, t_end=1.0, progress=False)


@pytest.mark.parametrize("make", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize("flat", [True, False])
def test_normals_that_are_no_unit_vectors_are_refused(make, flat):
    system = particles(1)
    with pytest.raises(
        ValueError, match=r"the normal of the obstacle has the length 2 at t = .* unit vectors"
    ):
        scheme = make(system, 1e-2, contact=di.ObstacleContact(system, [[0, 1]], Slope(2.0, flat)))
        scheme.start([0.0, 0.1], 0.0)
        di.simulate(scheme, t_end=1.0, progress=False)
    assert di.ObstacleContact(system, [[0, 1]], Slope(1.0, flat)).count == 1


class Turning(Height):
    """A plane that turns, whose class says that its rows of L stay."""

    def _evaluate(self, u, v, t):
        self.L.weights[:] = [np.sin(t), np.cos(t)]
        return super()._evaluate(u, v, t)


class TurningTold(Turning):
    constant = False


class TurningPlane(di.ObstacleContact):
    """A plane of the package, whose rows a class of the user's turns."""

    def _evaluate(self, u, v, t):
        gap = super()._evaluate(u, v, t)
        self.L.weights[:] = [np.sin(20 * t), np.cos(20 * t)]
        return gap


def test_rows_of_a_plane_that_vary_are_not_constant():
    system = particles(1)
    scheme = di.CDLagrange(system, 1e-3, contact=TurningPlane(system, [[0, 1]], di.Plane((0, 0), (0, 1))))
    scheme.start([0.0, 0.1], 0.0)
    with pytest.raises(ValueError, match="TurningPlane writes L.weights .* say `constant = False`"):
        di.simulate(scheme, t_end=0.2, progress=False)


class Again(Height):
    """Rows that are set after the construction, and again, to round-off, in each evaluation."""

    def __init__(self, system, **options):
        super().__init__(system, **options)
        self.L.weights[:] = [0.0, 2.0]

    def gap(self, u, t=0.0):
        return 2.0 * super().gap(u, t)

    def _evaluate(self, u, v, t):
        self.L.weights[:] = [0.0, 2.0 * (1.0 + 1e-16 * np.cos(1e6 * t))]
        return super()._evaluate(u, v, t)


@pytest.mark.parametrize("make", SCHEMES, ids=lambda kind: kind.__name__)
def test_rows_that_are_written_again_are_constant(make):
    system = particles()
    scheme = make(system, 1e-3, contact=Again(system))
    scheme.start([0.0, 0.1, 0.0, 0.2], 0.0)
    assert di.simulate(scheme, t_end=0.3, progress=False)["r"].sum() > 0


@pytest.mark.parametrize("make", SCHEMES, ids=lambda kind: kind.__name__)
def test_rows_that_vary_are_not_constant(make):
    runs = {}
    for kind in (Turning, TurningTold):
        system = particles()
        scheme = make(system, 1e-3, contact=kind(system))
        scheme.start([0.0, 0.1, 0.0, 0.2], 0.0)
        runs[kind] = scheme
    with pytest.raises(ValueError, match="Turning writes L.weights .* say `constant = False`"):
        di.simulate(runs[Turning], t_end=0.2, progress=False)
    assert di.simulate(runs[TurningTold], t_end=0.2, progress=False)["r"].sum() > 0


# -- errors of one rank


def body():
    """A square on all ranks, whose lower side is named."""
    cells = dmesh.create_unit_square(COMM, 4, 4)
    return di.Solid(
        di.named(cells, low=lambda x: np.isclose(x[1], 0.0)), density=1.0, law=di.LinearElastic(1.0, 0.2)
    )


class Broken(obstacles.Shape):
    """A plane whose method ``fails`` raises on the last rank."""

    def __init__(self, fails):
        super().__init__(2)
        self.fails = fails

    def _maybe(self, name, value):
        if name == self.fails and COMM.rank == LAST:
            raise ZeroDivisionError(f"{name} of rank {LAST}")
        return value

    def gap(self, x, t=0.0):
        return self._maybe("gap", x[:, 1] + 0.1)

    def normal(self, x, t=0.0):
        return self._maybe("normal", np.tile([0.0, 1.0], (len(x), 1)))


@pytest.mark.mpi
@pytest.mark.parametrize("fails", ["gap", "normal"])
def test_an_obstacle_that_fails_on_one_rank_fails_on_all(fails):
    solid = body()
    with pytest.raises(ZeroDivisionError, match=f"{fails} of rank {LAST}"):
        scheme = di.CDLagrange(solid, 1e-3, contact=di.RigidContact(solid, "low", Broken(fails)))
        scheme.start(0.0, 0.0)
        scheme.step()


class OnTop(di.RigidContact):
    """A contact whose gap raises on the last rank, before the obstacle is asked."""

    broken = False

    def gap(self, u, t=0.0):
        if self.broken and COMM.rank == LAST:
            raise ZeroDivisionError("on the last rank")
        return super().gap(u, t)


@pytest.mark.mpi
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("alone", [True, False])
def test_a_gap_that_fails_on_one_rank_fails_on_all(order, alone):
    """Beside a contact, and around an obstacle, that agree on errors themselves."""
    solid = body()
    plane = di.SignedDistance(lambda x: x[1] + 0.1 + 0.01 * x[0], 2)
    own, other = OnTop(solid, "low", plane), di.RigidContact(solid, "low", plane)
    scheme = di.CDLagrange(solid, 1e-3, contact=own if alone else [own, other][::order])
    scheme.start(0.0, 0.0)
    scheme.step()
    own.broken = True
    with pytest.raises(ZeroDivisionError, match="on the last rank"):
        scheme.gap()
    with pytest.raises(ZeroDivisionError, match="on the last rank"):
        scheme.step()


# -- lists


def test_contacts_that_cannot_stand_in_a_list():
    system = particles()
    one, other = Height(system), di.DofBound(system, 0, lower=-1.0)
    with pytest.raises(ValueError, match="a contact stands twice in the list"):
        di.CDLagrange(system, 1e-3, contact=[one, other, one])
    with pytest.raises(ValueError, match="give the contacts of the list within it themselves"):
        di.contact.contact_set.ContactSet([di.contact.contact_set.ContactSet([one, other]), Height(system)])


def test_coefficients_of_points_hold_in_a_list():
    class Each(Height):
        @property
        def restitutions(self):
            return np.array([0.8, 0.2])

    found = []
    for listed in (False, True):
        system = particles()
        contact = Each(system, restitution=0.5)
        contact = [contact, di.DofBound(system, 0, lower=-1.0)] if listed else contact
        scheme = di.CDLagrange(system, 1e-4, contact=contact)
        scheme.start([0.0, 0.05, 0.0, 0.05], 0.0)
        di.simulate(scheme, t_end=0.15, progress=False)
        found.append(scheme.v[[1, 3]].copy())
    assert np.array_equal(*found) and found[0][0] > 3 * found[0][1] > 0


# -- files and schemes


class Lift(Height):
    """A floor that rises at 0.1 m/s."""

    moving = True

    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.1 * t

    def surface_velocity(self, t):
        return np.tile([0.0, 0.1], (self.count, 1))


@pytest.mark.parametrize("listed", [False, True])
def test_a_moving_contact_without_an_obstacle_is_stored(listed, tmp_path):
    def made():
        system = particles()
        contact = Lift(system, restitution=0.5)
        contact = [contact, di.DofBound(system, 0, lower=-1.0)] if listed else contact
        return di.CDLagrange(system, 1e-3, contact=contact)

    runs, path = [], tmp_path / "run"
    for restart in (None, path):
        scheme = made()
        if restart is None:
            scheme.start([0.0, 0.1, 0.0, 0.2], 0.0)
        keep = di.Checkpoint(path, every=150)
        runs.append(di.simulate(scheme, t_end=0.25, checkpoint=keep, restart=restart, progress=False))
    assert runs[0]["r"].sum() > 0
    assert all(np.array_equal(runs[0][name], runs[1][name]) for name in runs[0])


class Asking(di.Integrator):
    """A scheme that asks the contact again after its impulses are set."""

    def advance(self):
        state = self.contact.at(self.u, self.v, self.t)
        self.set_impulses(di.contact.Impulses(state, self.r))
        self.contact.at(self.u + 0.1, self.v, self.t)


def test_impulses_without_their_state_are_refused():
    system = particles(1)
    bowl = di.ObstacleContact(system, [[0, 1]], di.Sphere((0.0, -1.0), 1.0))
    scheme = Asking(system, 1e-3, contact=bowl)
    scheme.start([0.0, 0.1], 0.0)
    with pytest.raises(
        RuntimeError, match=r"Asking.advance\(\) asks the contact for another state after set"
    ):
        scheme.step()


def test_a_class_with_a_step_of_its_own_is_loaded(tmp_path):
    class Counting(di.CDLagrange):
        _count = 0

        def step(self):
            super().step()
            self._count += 1

    def made():
        system = particles()
        return Counting(system, 1e-3, contact=di.DofBound(system, 1, lower=0.0, restitution=0.8))

    first, second = made(), made()
    first.start([0.0, 0.1, 0.0, 0.2], 0.0)
    for _ in range(200):
        first.step()
    checkpoint.save(tmp_path / "state", first)
    checkpoint.load(tmp_path / "state", second)
    for each in (first, second):
        each.step()
    assert np.array_equal(first.u, second.u) and second.t == first.t

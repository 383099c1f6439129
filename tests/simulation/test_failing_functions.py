"""User-defined functions that fail on one rank only: one error on all ranks, without deadlock."""

from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import obstacles, parallel

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD
LAST = COMM.rank == COMM.size - 1


class Lost(Exception):
    """An error that cannot be sent to another rank: its arguments are not those that it is made from."""

    def __init__(self, what, where):
        super().__init__(f"{what} is lost at {where}")


def failing(value=0.0, error=None):
    """A function of time that fails on the last rank after some steps."""

    def function(t):
        if LAST and t > 0.05:
            raise error or LookupError("no value was measured")
        return value

    return function


FLOOR = di.Plane((0.0, 0.0), (0.0, 1.0))
UP = (0.0, 1.0)


def block(scheme=di.CDLagrange, obstacle=FLOOR, friction=0.0, restitution=0.0, **options):
    """Four elements on a floor; the scheme, started."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [2, 2])
    fdim = mesh.topology.dim - 1
    facets = [dmesh.locate_entities_boundary(mesh, fdim, lambda x, y=y: np.isclose(x[1], y)) for y in (0, 1)]
    numbers, order = np.concatenate(facets), np.argsort(np.concatenate(facets))
    values = np.repeat([1, 2], [each.size for each in facets]).astype(np.int32)
    tags = dmesh.meshtags(mesh, fdim, numbers[order], values[order])
    named = di.NamedMesh(mesh, None, tags, {"foot": (1, 1), "top": (1, 2)})
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.3), **options)
    contact = di.RigidContact(body, "foot", obstacle, friction=friction, restitution=restitution)
    s = scheme(body, 0.02, contact=contact)
    s.start(0.0, body.rigid_velocity((0.3, -0.1)))
    return s


def moving(obstacle=FLOOR, **motion):
    return obstacles.MovingObstacle(obstacle, **motion)


def still(t):
    return 0.0


OBSTACLES = {
    "translation, a signal": lambda: moving(translation=(UP, failing())),
    "translation, a vector": lambda: moving(translation=failing(np.zeros(2))),
    "translation_rate": lambda: moving(translation=(UP, still), translation_rate=failing(np.zeros(2))),
    "rotation": lambda: moving(rotation=failing(), center=(0.5, 0.0)),
    "rotation_rate": lambda: moving(rotation=still, rotation_rate=failing(), center=(0.5, 0.0)),
    "signed distance": lambda: obstacles.SignedDistance(lambda x: x[:, 1] + failing()(CLOCK[0].t), 2),
}
CLOCK = [None]


@pytest.mark.mpi(cases=4)
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize("kind", OBSTACLES)
def test_an_obstacle_whose_function_fails(kind, scheme):
    """With friction: what the obstacle does there is asked for on ranks with closed points alone."""
    CLOCK[0] = SimpleNamespace(t=0.0)
    s = CLOCK[0] = block(scheme, OBSTACLES[kind](), friction=0.3, restitution=0.5)
    with pytest.raises((LookupError, ValueError), match="no value was measured"):
        di.simulate(s, t_end=1.0, progress=False)


@pytest.mark.mpi(cases=3)
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize(
    "options",
    [
        {"body_force": ((0.0, 1.0), failing())},
        {"traction": {"top": ((0.0, 1.0), failing())}},
        {"ground_acceleration": ((1.0, 0.0), failing())},
        {"prescribed": {"top": {0: failing()}}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_load_or_a_motion_whose_signal_fails(scheme, options):
    with pytest.raises(LookupError, match="no value was measured"):
        di.simulate(block(scheme, **options), t_end=1.0, progress=False)


def test_a_signal_that_gives_no_number():
    s = block(body_force=((0.0, 1.0), lambda t: None if LAST and t > 0.05 else 0.0))
    with pytest.raises(TypeError, match="NoneType"):
        di.simulate(s, t_end=1.0, progress=False)


def test_an_error_that_cannot_be_sent_says_the_same():
    s = block(body_force=((0.0, 1.0), failing(error=Lost("a value", 3))))
    with pytest.raises((Lost, RuntimeError), match="a value is lost at 3"):
        di.simulate(s, t_end=1.0, progress=False)


class Looks:
    """An observer that fails on the last rank at one of its calls."""

    def __init__(self, call):
        self._call = call

    def _fail(self, call):
        if LAST and call == self._call:
            raise OSError("no space left on device")

    def begin(self, s):
        self._fail("begin")

    def follow(self, steps):
        self._fail("follow")

    def end(self):
        self._fail("end")

    def state(self):
        self._fail("state")
        return {"n": np.zeros(1)}

    def resume(self, state):
        self._fail("resume")


@pytest.mark.parametrize("call", ["begin", "follow", "end", "state"])
def test_an_observer_that_fails_in_any_of_its_calls(call, shared_path):
    checkpoint = di.Checkpoint(shared_path / "kept.npz", every=5)
    with pytest.raises(OSError, match="no space left on device"):
        di.simulate(block(), t_end=0.2, observers=[Looks(call)], checkpoint=checkpoint, progress=False)


def test_what_all_ranks_can_is_done():
    assert parallel.together(COMM, lambda: COMM.rank) == COMM.rank


def test_records_of_the_package_need_no_agreement(monkeypatch):
    """They fail on all ranks alike."""
    s = block(body_force=((0.0, 1.0), di.signals.Signal(1.0, np.array([0.0, 1.0]))))
    monkeypatch.setattr(parallel, "together", None)
    assert di.simulate(s, t_end=0.2, progress=False)["u"].any()

"""A long run needs no more memory than a short one: what is resident, in processes of their own."""

import json

import pytest

pytestmark = pytest.mark.slow

#: Runs a body that bounces and rests, one cell wide, in four blocks of steps, and says what each has added.
SCRIPT = """
import gc, json, resource, sys
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
import dolfinx_impact as di
from dolfinx_impact.materials import LinearElastic, NeoHookean
from dolfinx_impact.mesh import NamedMesh

scheme, law, loop, steps = *sys.argv[1:4], int(sys.argv[4])
kept = []

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def run(steps):
    if loop == "simulate":
        every = max(1, steps // 10)
        di.simulate(s, t_end=s.t + steps * s.dt, every=every, compiled=False, progress=False)
        return
    for _ in range(steps):
        s.step()
        if loop == "leak":
            kept.append(s.u.copy())

edges = [np.zeros(3), np.array([1.0, 1.0, 2.0])]
mesh = dmesh.create_box(MPI.COMM_WORLD, edges, [1, 1, 2], dmesh.CellType.hexahedron)
foot = dmesh.locate_entities_boundary(mesh, 2, lambda x: np.isclose(x[2], 0.0))
tags = dmesh.meshtags(mesh, 2, foot, np.ones(foot.size, dtype=np.int32))
laws = {"linear": LinearElastic(1.0, 0.3), "neo-hookean": NeoHookean(1.0, 0.3)}
box = NamedMesh(mesh, None, tags, {"foot": (2, 1)})
body = di.Solid(box, density=1.0, law=laws[law], gravity=(0.0, 0.0, -0.01))
explicit = scheme == "cd-lagrange"
e, mu = (0.5, 0.3) if explicit and law == "neo-hookean" else (0.0, 0.0)
contact = di.RigidContact(body, "foot", di.Plane((0, 0, 0), (0, 0, 1)), restitution=e, friction=mu)
if explicit:
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact)
else:
    s = di.MoreauJean(body, 0.05, contact=contact)
s.start(0.0, body.rigid_velocity((0.01, 0.0, -0.1)))
run(max(50, steps // 20))
added = []
for _ in range(4):
    before = resident()
    run(steps // 4)
    added.append(resident() - before)
hit = MPI.COMM_WORLD.allreduce(int(np.count_nonzero(s.r)))
found = MPI.COMM_WORLD.gather(added)
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps({"added": found, "t": s.t, "dt": s.dt, "hit": hit}))
"""

#: Less than one vector kept a step adds in a block.  The heap takes some hundred pages now and then, but not
#: in every block.
NOISE = 40_000


def added(launch, *case, ranks=1):
    """Smallest growth of the blocks, on the rank with the largest [bytes]; a leak grows in every block."""
    done = launch(["-c", SCRIPT, *case], ranks)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["t"] == pytest.approx(found["dt"] * (max(50, case[3] // 20) + 4 * (case[3] // 4)))
    return max(min(blocks) for blocks in found["added"])


def test_nothing_grows_over_1e5_explicit_steps(launch):
    assert added(launch, "cd-lagrange", "linear", "steps", 100_000) < NOISE


@pytest.mark.parametrize(
    "case",
    [
        ("cd-lagrange", "linear", "simulate", 5_000),
        ("cd-lagrange", "neo-hookean", "simulate", 2_000),
        ("moreau-jean", "linear", "steps", 1_000),
        ("moreau-jean", "linear", "simulate", 1_000),
        ("moreau-jean", "neo-hookean", "steps", 100),
    ],
    ids=lambda case: " ".join(map(str, case)),
)
def test_nothing_grows_in_other_runs(launch, case):
    assert added(launch, *case) < NOISE


@pytest.mark.parametrize(
    "scheme, steps", [("cd-lagrange", 3_000), pytest.param("moreau-jean", 300, marks=pytest.mark.nightly)]
)
def test_nothing_grows_on_two_ranks(launch, scheme, steps):
    assert added(launch, scheme, "linear", "simulate", steps, ranks=2) < NOISE


def test_a_vector_kept_every_step_would_be_seen(launch):
    assert added(launch, "cd-lagrange", "linear", "leak", 3_000) > NOISE

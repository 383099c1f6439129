"""1, 2 and 3 ranks give the same histories."""

import json

import numpy as np
import pytest

RUNS = {
    "line": [],
    "solid": ["dimension=3"],
    # A short bar: the partition cuts the contact face.
    "plate": [
        "dimension=3",
        "length=0.01",
        "area=0.0064",
        "elements=2",
        "lateral=10",
        "gap=1e-5",
        "t_end=2e-5",
    ],
    "tetrahedra": ["dimension=3", "cell=tetrahedron", "elements=12", "lateral=3"],
}
PROGRAM = """
import json
import sys

from mpi4py import MPI

from dolfinx_impact.benchmark.__main__ import main
out, runs = sys.argv[1], json.loads(sys.argv[2])
for name, settings in runs.items():
    for scheme in ("cd-lagrange", "moreau-jean"):
        words = [w for s in settings for w in ("--set", s)]
        assert main(["run", "impacting-bar", scheme, "--out", f"{out}/{name}-{scheme}", *words]) == 0
from dolfinx_impact.benchmark import impacting_bar as case
p = {n: o.default for n, o in case.PARAMETERS.items()}
_, wall, _ = case.build({**p, "dimension": 3, "length": 0.01, "area": 0.0064, "elements": 2, "lateral": 10})
counts = MPI.COMM_WORLD.gather(wall.count)
if MPI.COMM_WORLD.rank == 0:
    print("contact points per rank", counts)
    assert min(counts) > 0
"""


@pytest.mark.serial
def test_ranks_agree(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for ranks in (1, 2, 3):
        done = launch([str(program), str(tmp_path / str(ranks)), json.dumps(RUNS)], ranks=ranks, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    for name in RUNS:
        for scheme in ("cd-lagrange", "moreau-jean"):
            histories = [np.load(tmp_path / str(n) / f"{name}-{scheme}" / "history.npz") for n in (1, 2, 3)]
            for other in histories[1:]:
                compare(histories[0], other, f"{name} {scheme}")


def compare(one, other, what):
    assert list(one["contact_labels"]) == list(other["contact_labels"])
    early = slice(0, 501)
    for key in ("t", "u", "v_t", "gap", "r", "kinetic", "internal_work", "contact"):
        scale = np.abs(one[key]).max()
        assert one[key].shape == other[key].shape, (what, key)
        difference = np.abs(one[key] - other[key])
        assert difference[early].max() <= 1e-12 * scale, (what, key)
        assert difference.max() <= 1e-10 * scale, (what, key)

"""1, 2 and 3 ranks give the same histories."""

import numpy as np
import pytest
from mpi4py import MPI
from support.cases import made

from dolfinx_impact.benchmark.cases.impacting_bar import case as impacting_bar

COMM = MPI.COMM_WORLD
RUNS = {
    "line": {"elements": 10},
    "solid": {"dimension": 3, "elements": 10, "lateral": 3},
    # A short bar: the partition cuts the contact face.
    "plate": {
        "dimension": 3,
        "length": 0.01,
        "area": 0.0064,
        "elements": 2,
        "lateral": 10,
        "gap": 1e-5,
        "t_end": 2e-5,
    },
    "tetrahedra": {"dimension": 3, "cell": "tetrahedron", "elements": 12, "lateral": 3},
}

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    "name, scheme",
    [
        ("line", "cd-lagrange"),
        ("solid", "moreau-jean"),
        ("plate", "cd-lagrange"),
        ("plate", "moreau-jean"),
        ("tetrahedra", "cd-lagrange"),
    ],
)
def test_histories_are_those_of_one_rank(name, scheme, as_on_one_rank):
    found = dict(made("impacting-bar", scheme, **RUNS[name]).simulate())
    one = as_on_one_rank(found)
    assert list(one["contact_labels"]) == list(found["contact_labels"])
    early = slice(0, 501)
    for key in ("t", "u", "v_t", "gap", "r", "kinetic", "internal_work", "contact"):
        scale = np.abs(one[key]).max()
        assert one[key].shape == found[key].shape, key
        difference = np.abs(one[key] - found[key])
        assert difference[early].max() <= 1e-12 * scale, key
        assert difference.max() <= 1e-10 * scale, key


def test_the_partition_cuts_the_contact_face():
    """Else the histories of the plate would show nothing."""
    p = {name: option.default for name, option in impacting_bar.PARAMETERS.items()}
    short = {"dimension": 3, "length": 0.01, "area": 0.0064, "elements": 2, "lateral": 10}
    wall = impacting_bar.Bar().build({**p, **short}).contact
    assert min(COMM.allgather(wall.count)) > 0

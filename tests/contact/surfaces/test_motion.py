"""What is known of how far surface nodes have moved."""

import numpy as np
import pytest
from dolfinx import mesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.mesh import join

pytestmark = pytest.mark.mpi(2)


@pytest.fixture
def motion():
    """Of the nodes of two squares, and their number of dofs."""
    squares = {
        name: mesh.create_rectangle(MPI.COMM_WORLD, [[0, low], [1, low + 1]], [3, 3])
        for name, low in (("lower", 0), ("upper", 1.2))
    }
    body = di.Solid(join(squares), density=1.0, law=di.LinearElastic(1.0, 0.3))
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    return contact.assembly._motion, body.size


def found(motion, size, *places):
    """What looks at these displacements of all nodes find, the last of them."""
    for place in places:
        motion.look(np.tile(place, size // 2).astype(np.float64))
    return motion.found


def test_changes_are_those_since_a_search_the_last_look_and_the_end_of_a_step(motion):
    motion, size = motion
    motion.forget()
    start = found(motion, size, (0.0, 0.0))
    assert start[0] == np.inf and start[1] == 1.0 and np.isnan(start[2])
    motion.search(np.zeros(size))
    motion.keep()
    # Within a step a second look changes nothing of what was kept.
    np.testing.assert_array_equal(found(motion, size, (3.0, 4.0)), [5.0, 1.0, 5.0])
    np.testing.assert_array_equal(found(motion, size, (3.0, 0.0)), [3.0, 1.0, 3.0])
    np.testing.assert_array_equal(found(motion, size, (3.0, 0.0)), [3.0, 0.0, 3.0])
    np.testing.assert_array_equal(motion.kept, 0.0)
    motion.keep()
    motion.keep()
    np.testing.assert_array_equal(found(motion, size, (3.0, 0.0)), [3.0, 0.0, 0.0])
    np.testing.assert_array_equal(found(motion, size, (3.0, 1.0), (3.0, 2.0)), [np.sqrt(13.0), 1.0, 2.0])
    np.testing.assert_array_equal(motion.kept, np.tile([3.0, 0.0], (len(motion.nodes), 1)))


def test_a_value_that_is_no_number_is_not_lost_among_others(motion):
    motion, size = motion
    motion.search(np.zeros(size))
    found(motion, size, (0.0, 0.0))
    motion.keep()
    u = np.zeros(size)
    u[motion.dofs[0, 1]] = np.nan
    motion.look(u)
    assert np.isnan(motion.found[[0, 2]]).all() and motion.found[1] == 1.0

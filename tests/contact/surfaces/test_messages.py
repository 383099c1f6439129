"""Messages of compiled code between the ranks."""

import gc

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact.contact.surfaces.ranks.messages import Gathering, succeed
from dolfinx_impact.contact.surfaces.ranks.transfer import Transfer

WORLD = MPI.COMM_WORLD


@pytest.mark.mpi
def test_numbers_of_all_ranks_stand_in_their_order():
    """Again and again, also where messages before them are gone."""
    for width in (1, 3):
        numbers = Gathering(WORLD, width)
        for k in range(4):
            numbers.gather(np.arange(width) + 10.0 * WORLD.rank + 100.0 * k)
            expected = np.arange(width) + 10.0 * np.arange(WORLD.size)[:, None] + 100.0 * k
            assert np.array_equal(numbers.all, expected)
        del numbers
        gc.collect()


@pytest.mark.mpi
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_rows_are_carried_and_added_in_the_order_of_ranks(width):
    """Every rank gives a row to each one, from arrays whose rows lie apart; what is not taken stays."""
    n, rank, ones = WORLD.size, WORLD.rank, np.ones(WORLD.size, dtype=int)
    whole = np.random.default_rng(rank).normal(size=(n, width + 2))
    of_all = np.array(WORLD.allgather(whole))
    mine = of_all[:, n - 1 - rank, :width]
    reverse = Transfer(WORLD, width, np.arange(n)[::-1], ones, 2 * np.arange(n), ones, 3499)
    out = np.full((2 * n, width), 7.0)
    reverse.carry(whole[:, :width], out)
    assert np.array_equal(out[::2], mine) and np.all(out[1::2] == 7.0)
    summed = Transfer(WORLD, width, np.arange(n)[::-1], ones, np.zeros(n, dtype=int), ones, 3499)
    total = np.full((1, width), 0.1)
    values = np.ascontiguousarray(whole[:, :width])
    summed.add(values, np.full_like(values, 3.0), total)
    expected = np.full(width, 0.1)
    for each in mine:
        expected += each * 3.0
    assert np.array_equal(total[0], expected)


def test_an_error_of_mpi_is_raised():
    succeed(MPI.SUCCESS)
    with pytest.raises(MPI.Exception):
        succeed(MPI.ERR_OTHER)

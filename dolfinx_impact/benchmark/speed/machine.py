"""Rates of a core of this machine, on all ranks at once: memory bandwidth and arithmetic."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

from ... import parallel
from ...systems.element_forms import FLAGS
from ...systems.elements.compiler import address, compiled

_DECLARATIONS = """
void triad(ptrdiff_t, double *, const double *, const double *);
double multiply_add(ptrdiff_t, double);
"""
_SOURCE = """
#include <stddef.h>
typedef double batch __attribute__((vector_size(32)));

void triad(ptrdiff_t n, double *a, const double *b, const double *c)
{
  for (ptrdiff_t i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
}

double multiply_add(ptrdiff_t n, double x)
{
  batch sums[CHAINS], factor = x - (batch){0.0, 0.0, 0.0, 0.0};
  for (int k = 0; k < CHAINS; ++k) sums[k] = factor * k;
  for (ptrdiff_t i = 0; i < n; ++i)
    for (int k = 0; k < CHAINS; ++k) sums[k] = sums[k] * factor + factor;
  double sum = 0.0;
  for (int k = 0; k < CHAINS; ++k)
    for (int l = 0; l < 4; ++l) sum += sums[k][l];
  return sum;
}
"""
_CHAINS = 12  #: Independent sums, enough for the latency of a multiplication with addition.
_NUMBERS, _STEPS, _ROUNDS = 12_000_000, 4_000_000, 5


def rates(comm: MPI.Comm = MPI.COMM_WORLD) -> tuple[float, float]:
    """Bandwidth of a triad over arrays out of cache, 24 bytes an entry, and arithmetic. Collective.

    Returns:
        Sums over all ranks, the best of a few rounds [byte/s, flop/s].
    """
    library = compiled(f"#define CHAINS {_CHAINS}\n{_SOURCE}", FLAGS, comm, _DECLARATIONS)
    a, b, c = (np.zeros(_NUMBERS) for _ in range(3))
    places = [address(each) for each in (a, b, c)]
    copied = _best(comm, lambda: library.triad(_NUMBERS, *places))
    summed = _best(comm, lambda: library.multiply_add(_STEPS, 0.999))
    flops = 2 * 4 * _CHAINS * _STEPS
    return parallel.total(comm, 24 * _NUMBERS / copied), parallel.total(comm, flops / summed)


def _best(comm: MPI.Comm, action: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_ROUNDS):
        comm.barrier()
        begun = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)

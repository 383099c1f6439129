"""The best that DOLFINx and PETSc offer for the work of an explicit step, and what the machine gives."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la
from mpi4py import MPI

from ... import Solid, parallel
from ..._types import FloatArray
from ...materials import kinematics
from ...systems.elements.compiler import address, compiled
from ...systems.elements.lanes import flags_of, lanes_of
from ...systems.forces.kernel_cache import cache_flags
from .measurement import seconds_per_call

_PRODUCTS = 20
_FAST = ["-O3", "-march=native", "-ffast-math"]


def best_product(body: Solid) -> tuple[Any, str, float]:
    """The fastest PETSc format for the stiffness, its name, and the seconds of a product. Collective."""
    block = body.matrices.stiffness()
    plain = block.copy().convert("aij")  # without a copy, block itself
    candidates = {"BAIJ": block, "SBAIJ": plain.copy().convert("sbaij"), "AIJ": plain}
    x, y = block.createVecs()
    x.setRandom()
    seconds = {}
    for name, matrix in candidates.items():
        matrix.mult(x, y)
        seconds[name] = body.comm.bcast(seconds_per_call(lambda: matrix.mult(x, y), _PRODUCTS))  # noqa: B023
    best = min(seconds, key=lambda name: seconds[name])
    for name, matrix in candidates.items():
        if name not in (best, "BAIJ"):
            matrix.destroy()
    return candidates[best], best, seconds[best]


def linear_step(body: Solid) -> tuple[Callable[[], object], str]:
    """A step ``v -= h M^-1 K u``, ``u += h v`` by the fastest product and Vec operations; its name."""
    matrix, name, _ = best_product(body)
    u, f = matrix.createVecs()
    v, w = u.duplicate(), u.duplicate()
    u.setRandom()
    w.array[:] = body.inverse_mass

    def step() -> None:
        matrix.mult(u, f)
        f.pointwiseMult(w, f)
        v.axpy(-1e-30, f)
        u.axpy(1e-30, v)

    return step, f"{name} product and Vec updates"


def residual(body: Solid, values: Any) -> tuple[Callable[[], object], str]:
    """DOLFINx's assembled internal force of the body at some displacements, by fast code; its name."""
    u, w = fem.Function(body.space), ufl.TestFunction(body.space)
    F = kinematics.deformation_gradient(u, body.hypothesis)
    (material,) = body.materials
    form = ufl.derivative(material.law.energy_density(F) * material.dx, u, w)
    options = {"cffi_extra_compile_args": cache_flags(_FAST, body.comm)}
    assembled = fem.form(form, jit_options=options)
    b, n = la.vector(body.space.dofmap.index_map, body.block), body.owned

    def force() -> FloatArray:
        u.x.array[:n] = values[:n]
        u.x.scatter_forward()
        b.array[:] = 0.0
        fem.assemble_vector(b.array, assembled)
        b.scatter_reverse(la.InsertMode.add)
        return b.array

    return force, "DOLFINx's assembled force"


def random_wave(body: Solid) -> Any:
    """Displacements of small strain, shape (size,) [m]."""
    return 1e-3 * np.sin(body.x @ np.array([3.0, 2.0, 1.0])).repeat(body.block)


#: The functions of ``rates.c``.
_DECLARATIONS = """
void triad(ptrdiff_t, double *, const double *, const double *);
double multiply_add(ptrdiff_t, double);
"""
_CHAINS = 12  #: Independent sums, enough for the latency of a multiplication with addition.
_NUMBERS, _STEPS, _ROUNDS = 12_000_000, 4_000_000, 5


def rates() -> tuple[float, float]:
    """Bandwidth of a triad over arrays out of cache, 24 bytes an entry, and arithmetic. Collective.

    Returns:
        Sums over all ranks, the best of a few rounds [byte/s, flop/s].
    """
    comm = MPI.COMM_WORLD
    source = resources.files(__package__).joinpath("rates.c").read_text(encoding="utf-8")
    lanes = lanes_of(comm)
    sizes = f"#define CHAINS {_CHAINS}\n#define LANES {lanes}\n"
    library = compiled(sizes + source, flags_of(lanes), comm, _DECLARATIONS)
    arrays = [np.zeros(_NUMBERS) for _ in range(3)]
    places = [address(each) for each in arrays]

    def best(action: Callable[[], object]) -> float:
        seconds = []
        for _ in range(_ROUNDS):
            comm.barrier()
            seconds.append(seconds_per_call(action, 1))
        return min(seconds)

    copied = best(lambda: library.triad(_NUMBERS, *places))
    summed = best(lambda: library.multiply_add(_STEPS, 0.999))
    flops = 2 * lanes * _CHAINS * _STEPS
    return parallel.total(comm, 24 * _NUMBERS / copied), parallel.total(comm, flops / summed)

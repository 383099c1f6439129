"""The best that DOLFINx and PETSc offer for the work of an explicit step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la

from ..._types import FloatArray
from ...materials import kinematics
from ...systems.kernel_cache import cache_flags
from ...systems.solid import Solid
from .timing import seconds_per_call

_PRODUCTS = 20
_FAST = ["-O3", "-march=native", "-ffast-math"]


def best_product(body: Solid) -> tuple[Any, str, float]:
    """The fastest PETSc format for the stiffness, its name, and the seconds of a product. Collective."""
    block = body.stiffness_matrix()
    plain = block.copy().convert("aij")  # without a copy, block itself
    candidates = {"BAIJ": block, "SBAIJ": plain.copy().convert("sbaij"), "AIJ": plain}
    x, y = block.createVecs()
    x.setRandom()
    seconds = {}
    for name, matrix in candidates.items():
        matrix.mult(x, y)
        each = seconds_per_call(lambda: matrix.mult(x, y), _PRODUCTS, time.perf_counter)  # noqa: B023
        seconds[name] = body.comm.bcast(each)
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
    compiled = fem.form(form, jit_options=options)
    b = la.vector(body.space.dofmap.index_map, body.block)
    n = body.owned

    def force() -> FloatArray:
        u.x.array[:n] = values[:n]
        u.x.scatter_forward()
        b.array[:] = 0.0
        fem.assemble_vector(b.array, compiled)
        b.scatter_reverse(la.InsertMode.add)
        return b.array

    return force, "DOLFINx's assembled force"


def random_wave(body: Solid) -> Any:
    """Displacements of small strain, shape (size,) [m]."""
    return 1e-3 * np.sin(body.x @ np.array([3.0, 2.0, 1.0])).repeat(body.block)

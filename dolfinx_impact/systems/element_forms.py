"""Forms over cells, assembled again and again by DOLFINx with compiled kernels and no allocation."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from dolfinx import fem, la
from mpi4py import MPI
from numpy.typing import NDArray
from ufl.algorithms import extract_coefficients

from .. import _compat
from ..algebra import kernels
from .kernel_cache import told_apart

#: With all that, logarithms of hexahedra are computed eight at a time: the C library offers that with
#: __FAST_MATH__ alone. What is left out of -ffast-math takes numbers for granted: sqrt(x) sqrt(x) would be x,
#: and x^(1/3) the cube root, below zero too, and an element inside out would have finite forces.
_FLAGS = [
    "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros",
    "-fassociative-math", "-freciprocal-math", "-D__FAST_MATH__",
]  # fmt: skip


def compile_form(form: Any) -> fem.Form:
    """A form with kernels for this processor. Collective."""
    flags = told_apart(_FLAGS, form.ufl_domain().ufl_cargo().comm)
    return fem.form(form, jit_options={"cffi_extra_compile_args": flags})


def compile_expression(expression: Any, points: NDArray, comm: MPI.Comm) -> fem.Expression:
    """An expression likewise, at points of the reference cell, shape (points, tdim). Collective."""
    flags = told_apart(_FLAGS, comm)
    return fem.Expression(expression, points, jit_options={"cffi_extra_compile_args": flags})


class ElementForm:
    """A form of rank 0 or 1 in fields of nodal values, for example internal forces in u.

    DOLFINx packs the values of functions cell by cell in every assembly; where they lie is found once, by
    packing numbers in their place. Other functions in the form (those of a law) are read at every evaluation,
    their ghosts as they are, and so are its constants.

    Args:
        form: UFL form; ``fields`` and any other functions are its coefficients.
        space: The function space of the fields.
        fields: The Lagrange functions that stand for the fields.
    """

    def __init__(self, form: Any, space: fem.FunctionSpace, fields: Sequence[fem.Function]) -> None:
        self._form, self._comm = compile_form(form), space.mesh.comm
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._owned = index_map.size_local * bs
        self._fields = [la.vector(index_map, bs) for _ in fields]
        self._stand_ins = list(fields)
        self._others = [each for each in extract_coefficients(form) if each not in self._stand_ins]
        # What the others hold is more than a choice of their values where a cell turns their basis around.
        self._turned = any(each.function_space.element.needs_dof_transformations for each in self._others)
        self._find_places()
        self._gather = kernels.load().gather
        self._sums = la.vector(index_map, bs)

    def _find_places(self) -> None:
        """Where the values of every function lie in what DOLFINx packs."""
        functions = [*self._stand_ins, *self._others]
        held = [each.x.array.copy() for each in self._others]
        size = 0
        for each in functions:
            each.x.array[:] = size + np.arange(each.x.array.size)
            size += each.x.array.size
        self._constants, self._coefficients = _compat.pack(self._form)
        for each in self._stand_ins:
            each.x.array[:] = 0.0
        for each, values in zip(self._others, held):
            each.x.array[:] = values
        # Unsigned: the loops are spared the test for negative ones.
        places = {} if self._turned else self._coefficients
        self._places = {key: packed.astype(np.uint32).ravel() for key, packed in places.items()}
        self._values: NDArray = np.zeros(size)

    def vector(self, *fields: NDArray) -> NDArray:
        """The assembled vector of a linear form, shape (owned,), kept until the next call. Collective.

        Args:
            fields: Values of the fields, owned ones first; ghosts need not be fresh, shape (size,) each.
        """
        self._pack(fields)
        self._sums.array[:] = 0.0
        fem.assemble_vector(self._sums.array, self._form, self._constants, self._coefficients)
        if self._comm.size > 1:
            self._sums.scatter_reverse(la.InsertMode.add)
        return self._sums.array[: self._owned]

    def scalar(self, *fields: NDArray) -> float:
        """This rank's share of a form without test function; see :meth:`vector`. Collective."""
        self._pack(fields)
        # The constants go without saying: 0.9 asks an array of them whether it is true.
        return float(fem.assemble_scalar(self._form, coeffs=self._coefficients))

    def parameters(self) -> NDArray:
        """The constants and what the other functions hold, on this rank."""
        constants = np.ravel(_compat.pack_constants(self._form))
        return np.concatenate([constants, *(each.x.array for each in self._others)])

    def _pack(self, fields: Sequence[NDArray]) -> None:
        start = 0
        for mine, given in zip(self._fields, fields):
            mine.array[: self._owned] = given[: self._owned]
            if self._comm.size > 1:
                mine.scatter_forward()
            self._values[start : start + mine.array.size] = mine.array
            start += mine.array.size
        if self._turned:
            for field, mine in zip(self._stand_ins, self._fields):
                field.x.array[:] = mine.array
            self._constants, self._coefficients = _compat.pack(self._form)
            return
        self._constants = _compat.pack_constants(self._form)
        for other in self._others:
            self._values[start : start + other.x.array.size] = other.x.array
            start += other.x.array.size
        for key, places in self._places.items():
            self._gather(self._values, places, self._coefficients[key].reshape(-1))

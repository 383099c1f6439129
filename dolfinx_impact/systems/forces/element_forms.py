"""Repeated assembly of forms by DOLFINx with kernels compiled for the processor, without allocation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dolfinx import fem, la
from mpi4py import MPI
from ufl.algorithms import extract_coefficients
from ufl.classes import Label
from ufl.corealg.map_dag import map_expr_dag
from ufl.corealg.multifunction import MultiFunction

from ... import _compat
from ..._types import FloatArray
from ...algebra import kernels
from .kernel_cache import cache_flags

#: __FAST_MATH__ enables the vectorised logarithm of the C library. The flags of -ffast-math that are left out
#: assume finite values: sqrt(x) sqrt(x) would become x and x^(1/3) a cube root, also for negative x, and an
#: inverted element would have finite forces.
FLAGS = [
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-fassociative-math",
    "-freciprocal-math",
    "-D__FAST_MATH__",
]


def is_matrix(form: Any) -> bool:
    """Whether a bilinear form is given as a PETSc matrix."""
    return hasattr(form, "zeroRowsColumns")


def compile_form(form: Any) -> fem.Form:
    """Compile a form with kernels for this processor. Collective."""
    flags = cache_flags(FLAGS, form.ufl_domain().ufl_cargo().comm)
    return fem.form(form, jit_options={"cffi_extra_compile_args": flags})


def compile_expression(expression: Any, points: FloatArray, comm: MPI.Comm) -> fem.Expression:
    """Compile an expression at points of the reference cell, shape (points, tdim). Collective."""
    flags = cache_flags(FLAGS, comm)
    return fem.Expression(number_labels(expression), points, jit_options={"cffi_extra_compile_args": flags})


def number_labels(expression: Any) -> Any:
    """The UFL expression with the labels of its variables numbered in the order of their appearance.

    UFL numbers them in the order of their creation. It numbers those of a form anew for its signature; FFCx
    does not so with an expression, which would be compiled again after any change in what was made before it.
    """
    return map_expr_dag(_LabelNumbering(), expression)


class _LabelNumbering(MultiFunction):  # type: ignore[misc]
    """Exchanges labels for those with numbers from 0 on."""

    expr = MultiFunction.reuse_if_untouched

    def __init__(self) -> None:
        super().__init__()
        self._labels: dict[Label, Label] = {}

    def label(self, label: Label) -> Label:
        return self._labels.setdefault(label, Label(len(self._labels)))


class ElementForm:
    """Form of rank 0 or 1 in nodal fields, for example the internal forces as a function of u.

    DOLFINx packs coefficients cell by cell in every assembly; here the positions of the values in the packed
    arrays are determined once, by packing their indices. Other coefficients of the form (those of a law) and
    constants are read at every evaluation, ghosts of the coefficients without an update.

    Args:
        form: UFL form; ``fields`` and any other functions are its coefficients.
        space: The function space of the fields.
        fields: The Lagrange functions that represent the fields in the form.
    """

    def __init__(self, form: Any, space: fem.FunctionSpace, fields: Sequence[fem.Function]) -> None:
        self._form, self._comm = compile_form(form), space.mesh.comm
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._owned = index_map.size_local * bs
        self._fields = [la.vector(index_map, bs) for _ in fields]
        self._stand_ins = list(fields)
        self._others = [each for each in extract_coefficients(form) if each not in self._stand_ins]
        # With dof transformations a packed value is not a copy of one entry: such forms are repacked.
        self._turned = any(each.function_space.element.needs_dof_transformations for each in self._others)
        self._find_places()
        self._gather = kernels.load().gather
        self._sums = la.vector(index_map, bs)

    def _find_places(self) -> None:
        """Determine the positions of the values of all functions in the packed coefficients."""
        functions = [*self._stand_ins, *self._others]
        stored = [each.x.array.copy() for each in self._others]
        size = 0
        try:
            for each in functions:
                each.x.array[:] = size + np.arange(each.x.array.size)
                size += each.x.array.size
            self._constants, self._coefficients = _compat.pack(self._form)
        finally:
            for each in self._stand_ins:
                each.x.array[:] = 0.0
            for each, values in zip(self._others, stored):
                each.x.array[:] = values
        # Unsigned indices save the loops the handling of negative ones.
        places = {} if self._turned else self._coefficients
        self._places = {key: packed.astype(np.uint32).ravel() for key, packed in places.items()}
        self._values: FloatArray = np.zeros(size)

    def vector(self, *fields: FloatArray) -> FloatArray:
        """Assembled vector of a linear form, shape (owned,), overwritten by the next call. Collective.

        Args:
            fields: Values of the fields, shape (size,) each; ghosts are updated from the owned entries.
        """
        self._pack(fields)
        self._sums.array[:] = 0.0
        fem.assemble_vector(self._sums.array, self._form, self._constants, self._coefficients)
        if self._comm.size > 1:
            self._sums.scatter_reverse(la.InsertMode.add)
        owned: FloatArray = self._sums.array[: self._owned]
        return owned

    def scalar(self, *fields: FloatArray) -> float:
        """This rank's contribution to a functional; see :meth:`vector`. Collective."""
        self._pack(fields)
        # DOLFINx 0.9 evaluates the truth value of an array of constants: let it pack them itself.
        return float(fem.assemble_scalar(self._form, coeffs=self._coefficients))

    def parameters(self) -> FloatArray:
        """Values of the constants and of the other coefficients on this rank."""
        constants = np.ravel(_compat.pack_constants(self._form))
        return np.concatenate([constants, *(each.x.array for each in self._others)])

    def coefficients(self) -> tuple[FloatArray, ...]:
        """Values of the constants, and of each other coefficient on this rank."""
        constants = np.ravel(_compat.pack_constants(self._form))
        return (constants, *(each.x.array for each in self._others))

    def _pack(self, fields: Sequence[FloatArray]) -> None:
        start = 0
        for field, values in zip(self._fields, fields):
            field.array[: self._owned] = values[: self._owned]
            if self._comm.size > 1:
                field.scatter_forward()
            self._values[start : start + field.array.size] = field.array
            start += field.array.size
        if self._turned:
            for function, field in zip(self._stand_ins, self._fields):
                function.x.array[:] = field.array
            self._constants, self._coefficients = _compat.pack(self._form)
            return
        self._constants = _compat.pack_constants(self._form)
        for other in self._others:
            self._values[start : start + other.x.array.size] = other.x.array
            start += other.x.array.size
        for key, places in self._places.items():
            self._gather(self._values, places, self._coefficients[key].reshape(-1))

"""Forms over cells, assembled again and again by DOLFINx with compiled kernels and no allocation."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from dolfinx import fem, la
from numpy.typing import NDArray

from . import _compat, kernels
from .processor import told_apart

#: With all that, logarithms of hexahedra are computed eight at a time. (What is no number stays none: the
#: kernels do not ask. Flushing of small numbers comes with linking, which has no such flag.)
_FLAGS = ["-O3", "-march=native", "-ffast-math"]


def compile_form(form: Any) -> fem.Form:
    """A form with kernels for this processor. Collective."""
    flags = told_apart(_FLAGS, form.ufl_domain().ufl_cargo().comm)
    return fem.form(form, jit_options={"cffi_extra_compile_args": flags})


class ElementForm:
    """A form of rank 0 or 1 in fields of nodal values, for example internal forces in u.

    DOLFINx packs the values of the fields cell by cell in every assembly; where they lie is found once, by
    packing numbers in their place.

    Args:
        form: UFL form; its coefficients are the ``fields``, Lagrange functions, and nothing else.
        space: The function space of the fields.
        fields: The functions that stand for the fields, in the order in which they were made.
    """

    def __init__(self, form: Any, space: fem.FunctionSpace, fields: Sequence[fem.Function]) -> None:
        self._form, self._comm = compile_form(form), space.mesh.comm
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._owned = index_map.size_local * bs
        self._fields = [la.vector(index_map, bs) for _ in fields]
        size = self._fields[0].array.size
        for k, field in enumerate(fields):
            field.x.array[:] = k * size + np.arange(size)
        self._constants, self._coefficients = _compat.pack(self._form)
        # Unsigned: the loops are spared the test for negative ones.
        self._places = {key: packed.astype(np.uint32).ravel() for key, packed in self._coefficients.items()}
        self._gather = kernels.load().gather
        self._values: NDArray = np.zeros(size * len(fields))
        for field in fields:
            field.x.array[:] = 0.0
        self._sums = la.vector(index_map, bs)

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

    def _pack(self, fields: Sequence[NDArray]) -> None:
        start = 0
        for mine, given in zip(self._fields, fields):
            mine.array[: self._owned] = given[: self._owned]
            if self._comm.size > 1:
                mine.scatter_forward()
            self._values[start : start + mine.array.size] = mine.array
            start += mine.array.size
        for key, places in self._places.items():
            self._gather(self._values, places, self._coefficients[key].reshape(-1))

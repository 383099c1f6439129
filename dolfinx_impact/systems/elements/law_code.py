"""C code of a law at a batch of points: stress and stored energy, or the change of the stress."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import fem

from .element import Element
from .expressions import Reader
from .tape import Tape

_HEAD = "static inline void law(const batch *x, const double *p, batch *P, batch *W)"


class LawCode:
    """The C function ``law`` of a law for an element.

    Its inputs ``x`` are the entries of F that vary, those in the space of the cells and the hoop stretch,
    then for the tangent those of its change G; its results the entries of ``P``, or of ``dP/dF : G``, and
    the stored energy W per reference volume. For a linear law the inputs are G alone, the results
    ``dP/dF : G`` at F = I and W = ``G : dP/dF : G / 2``.

    Args:
        law: The law.
        element: The element.
        mesh: The mesh of the constants.
        by_stress: Whether to read the stress of the law, not to differentiate its energy.
        tangent: Whether to give the change of the stress.
        linear: Whether to give it at rest, as all of the law.

    Attributes:
        source: The C source.
        operations: Number of its operations on batches.

    Raises:
        NotGenerated: An expression without code in element kernels.
    """

    def __init__(
        self, law: Any, element: Element, mesh: Any, *, by_stress: bool, tangent: bool, linear: bool
    ) -> None:
        tape, dim = Tape(), element.dim
        places = [(i, j) for i in range(dim) for j in range(dim)] + [(2, 2)] * int(element.hoop)
        F = fem.Constant(mesh, np.eye(3))
        entries = np.array([[tape.constant(float(i == j)) for j in range(3)] for i in range(3)])
        for k, place in enumerate(places):
            entries[place] = tape.input(k)
        self._reader = Reader(tape, {F: entries})
        energy, zero = tape.constant(0.0), tape.constant(0.0)
        if not by_stress or (getattr(law, "has_energy", True) and not linear):
            energy = int(self._reader.read(law.energy_density(F)))
        variables = [int(entries[place]) for place in places]
        if by_stress:
            stress = self._reader.read(law.stress(F))
            results = [int(stress[place]) for place in places]
        else:
            results = tape.gradient(energy, variables)
        if tangent:
            changes = [tape.input(len(places) + k) for k in range(len(places))]
            results, energy = tape.directional(results, dict(zip(variables, changes))), zero
        if linear:
            energy = zero
            rest = {variables[k]: tape.constant(float(i == j)) for k, (i, j) in enumerate(places)}
            changes = [tape.input(-1 - k) for k in range(len(places))]
            results = tape.directional(results, dict(zip(variables, changes)))
            results = tape.replaced(results, rest)
            results = tape.replaced(results, dict(zip(changes, variables)))
            for one, other in zip(results, variables):
                product = tape.apply("*", tape.constant(0.5), tape.apply("*", one, other))
                energy = tape.apply("+", energy, product)
        named = {f"P[{k}]": each for k, each in enumerate(results)} | {"*W": energy}
        lines = tape.code(named)
        self.operations = sum(line.startswith("const batch") for line in lines)
        body = "\n  ".join(lines)
        self.source = f"{_HEAD}\n{{\n  {body}\n}}\n"

    def parameters(self) -> Any:
        """Values of the constants of the law now, shape (k,)."""
        return self._reader.parameters()

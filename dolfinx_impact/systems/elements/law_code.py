"""C code of a law at a batch of points: stress and stored energy, or the change of the stress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import ufl
from dolfinx import fem

from ..._types import FloatArray
from ...algebra.expressions.tape import Tape
from .batch_code import LawReader, statements
from .element import Element

_HEAD = "static inline void {}(const batch *x, const double *p, batch *P, batch *W)"
_LAW = (
    "static inline int law(const batch *x, const double *p, const batch *z, double since, batch *y, "
    "batch *P, batch *W)"
)
#: Ways to keep elements from locking.
MEAN_DILATATION, NODAL_PRESSURE = "mean-dilatation", "nodal-pressure"


class LawCode:
    """The C function ``law`` of a law for an element.

    Its inputs ``x`` are the entries of F that vary, those in the space of the cells and the hoop stretch,
    then for the tangent those of its change G; its results the entries of ``P``, or of ``dP/dF : G``, and
    the stored energy W per reference volume. For a linear law the inputs are G alone, the results
    ``dP/dF : G`` at F = I and W = ``G : dP/dF : G / 2``.

    With mean dilatation the volume ratio of the cell follows the entries of F, as one more input with the
    derivative of W as its result; W is that of ``(ratio / det F)^(1/3) F``. For the tangent this derivative
    itself is the last result. With nodal pressure W is the isochoric part alone, and a function
    ``volumetric`` of the volume ratio of a node gives the other. Both have a function ``volume_ratio``
    besides: ``det F`` and its derivative, for the tangent also the changes of both.

    Args:
        law: The law.
        element: The element.
        mesh: The mesh of the constants.
        by_stress: Whether to read the stress of the law, not to differentiate its energy.
        tangent: Whether to give the change of the stress.
        linear: Whether to give it at rest, as all of the law.
        locking: ``"mean-dilatation"``, ``"nodal-pressure"`` or None.

    Attributes:
        source: The C source.
        operations: Number of its operations on batches at a point.
        initial: Initial state of a point, shape (k,); none without history.

    Raises:
        NotGenerated: An expression without code in element kernels.
    """

    initial: FloatArray = np.zeros(0)

    def __init__(
        self,
        law: Any,
        element: Element,
        mesh: Any,
        *,
        by_stress: bool,
        tangent: bool,
        linear: bool,
        locking: str | None = None,
    ) -> None:
        self._tape, self._tangent, self._linear, self._mesh = Tape(), tangent, linear, mesh
        self._F, self._ratio = fem.Constant(mesh, np.eye(3)), fem.Constant(mesh, 1.0)
        dim, number = element.dim, self._tape.constant
        self._places = [(i, j) for i in range(dim) for j in range(dim)] + [(2, 2)] * int(element.hoop)
        entries = np.array([[number(float(i == j)) for j in range(3)] for i in range(3)])
        for k, place in enumerate(self._places):
            entries[place] = self._tape.input(k)
        #: Inputs of the law at a point, with their values at rest.
        self._strains = {int(entries[i, j]): float(i == j) for i, j in self._places}
        # The volume ratio is the last input of the function of a point, and the only one of that of a node.
        self._at = self._tape.input(len(self._places) if locking == MEAN_DILATATION else 0)
        self._reader = LawReader(self._tape, {self._F: entries, self._ratio: np.array(self._at)})
        #: Number of entries of x before the changes of these.
        self._width = len(self._strains) + (locking == MEAN_DILATATION)
        self.source = self._by_stress(law) if by_stress else self._by_energy(law, locking)
        self.operations = self.source.count("const batch t")

    def parameters(self) -> FloatArray:
        """Values of the constants of the law now, shape (k,)."""
        return self._reader.parameters()

    # -- functions

    def _by_stress(self, law: Any) -> str:
        energy = self._tape.constant(0.0)
        if getattr(law, "has_energy", True) and not self._linear:
            energy = int(self._reader.read(law.energy_density(self._F)))
        stress = self._reader.read(law.stress(self._F))
        return self._function("law", energy, self._strains, [int(stress[place]) for place in self._places])

    def _by_energy(self, law: Any, locking: str | None) -> str:
        F, ratio = self._F, self._ratio
        if locking == NODAL_PRESSURE:
            density = law.isochoric_energy(F)
        elif locking is None:
            density = law.energy_density(F)
        elif getattr(law, "splits", False):
            density = law.isochoric_energy(F) + law.volumetric_energy(ratio)
        elif self._linear:  # the same to first order, without second derivatives of its own
            density = law.energy_density(F + (ratio - ufl.tr(F) + 2) / 3 * ufl.Identity(3))
        else:
            density = law.energy_density((ratio / ufl.det(F)) ** (1 / 3) * F)
        energy = int(self._reader.read(density))
        if locking == MEAN_DILATATION:
            slope = self._tape.gradient(energy, [self._at])
            source = self._function("law", energy, {**self._strains, self._at: 1.0}, also=slope)
        else:
            source = self._function("law", energy, self._strains)
        return source + self._of_volumes(law, locking)

    def _of_volumes(self, law: Any, locking: str | None) -> str:
        """C functions of volume ratios for elements that do not lock."""
        source = self._volume_ratio() if locking else ""
        return source + (self._volumetric(law) if locking == NODAL_PRESSURE else "")

    def _volumetric(self, law: Any) -> str:
        energy = int(self._reader.read(law.volumetric_energy(self._ratio)))
        slope = self._tape.gradient(energy, [self._at])
        return self._function("volumetric", energy, {self._at: 1.0}, also=slope)

    def _volume_ratio(self) -> str:
        """C function of ``det F``."""
        tape, strains = self._tape, list(self._strains)
        ratio = int(self._reader.read(ufl.det(self._F)))
        slopes, ratios = tape.gradient(ratio, strains), [ratio]
        if self._tangent:
            change = {each: tape.input(self._width + k) for k, each in enumerate(strains)}
            slopes += tape.directional(slopes, change)
            ratios += tape.directional(ratios, change)
        if self._linear:
            ratios = self._at_rest(ratios, self._strains)
            slopes = tape.replaced(slopes, self._numbers(self._strains))
        named = {f"P[{k}]": each for k, each in enumerate(slopes)}
        return self._code("volume_ratio", named | {f"W[{k}]": each for k, each in enumerate(ratios)})

    def _function(
        self,
        name: str,
        energy: int,
        variables: dict[int, float],
        results: list[int] | None = None,
        also: Sequence[int] = (),
    ) -> str:
        """C function of an energy: its derivatives, or their changes.

        Args:
            name: Name of the function.
            energy: The energy.
            variables: Its inputs, without their changes, and the values of these at rest.
            results: The derivatives, where they are not those of the energy.
            also: Further results for the tangent.
        """
        tape, inputs = self._tape, list(variables)
        if results is None:
            results = tape.gradient(energy, inputs)
        if self._tangent:
            changes = {each: tape.input(len(inputs) + k) for k, each in enumerate(inputs)}
            results, energy = [*tape.directional(results, changes), *also], tape.constant(0.0)
        if self._linear:
            results, energy = self._at_rest(results, variables), tape.constant(0.0)
            for one, other in zip(results, inputs):
                product = tape.apply("*", tape.constant(0.5), tape.apply("*", one, other))
                energy = tape.apply("+", energy, product)
        return self._code(name, {f"P[{k}]": each for k, each in enumerate(results)} | {"*W": energy})

    def _at_rest(self, results: list[int], variables: dict[int, float]) -> list[int]:
        """Derivatives of expressions at rest along the variables, which then stand for their changes."""
        tape = self._tape
        changes = {each: tape.input(-1 - k) for k, each in enumerate(variables)}
        results = tape.replaced(tape.directional(results, changes), self._numbers(variables))
        return tape.replaced(results, {change: each for each, change in changes.items()})

    def _numbers(self, values: dict[int, float]) -> dict[int, int]:
        return {each: self._tape.constant(value) for each, value in values.items()}

    def _code(self, name: str, results: dict[str, int]) -> str:
        body = "\n  ".join(statements(self._tape, results))
        if name == "law":
            time = "const double h = since > 0.0 ? since : 0.0;"
            return f"{_LAW}\n{{\n  {time}\n  {body}\n  return {int(self.initial.size > 0)};\n}}\n"
        return f"{_HEAD.format(name)}\n{{\n  {body}\n}}\n"

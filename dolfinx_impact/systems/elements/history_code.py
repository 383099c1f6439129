"""C code of laws with history: the state of a point, its update, and the stress with the new state."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import ufl
from dolfinx import fem

from ..._types import FloatArray
from ...algebra.expressions.tape import Tape
from ...materials import HistoryLaw, J2Plasticity
from ...materials.history import Variables
from .batch_code import LawReader, statements
from .law_code import _LAW, MEAN_DILATATION, NODAL_PRESSURE, LawCode

#: Plastic strains at which the slope of a hardening law is looked at.
_SAMPLES = (0.0, *map(float, np.geomspace(1e-6, 3.0, 60)))

_STRESS = """
{
  const int changed = isochoric(x, p + %d, z, since, y, P, W);
%s  return changed;
}
"""
#: The pressure of the volume ratio of the point,
_AT_POINT = """  batch C[FIELDS * STRAINS], ratio[2], pressures[2], U;
  volume_ratio(x, p, C, ratio);
  volumetric(ratio, p, pressures, &U);
  add_pressure(pressures, C, P);
  W[0] += U;
"""
#: and of that of the cell, an input of the law.
_OF_CELL = """  const batch ratio[2] = {x[STRAINS], x[FIELDS * (STRAINS + 1) - 1]};
  batch U;
  volumetric(ratio, p, P + STRAINS, &U);
  W[0] += U;
"""


def code_of(law: Any, *args: Any, **options: Any) -> LawCode:
    """The C code of a law; arguments as for :class:`.LawCode`."""
    if isinstance(law, J2Plasticity):
        return J2Code(law, *args, **options)
    return (HistoryCode if isinstance(law, HistoryLaw) else LawCode)(law, *args, **options)


class HistoryCode(LawCode):
    """The C function ``law`` of a :class:`.HistoryLaw`.

    The stress is the derivative of the stored energy with the new state held; the tangent that with the state
    before. The last number of the state is the work dissipated so far, per reference volume.
    """

    def _by_energy(self, law: Any, locking: str | None) -> str:
        tape, F = self._tape, self._F
        if locking == MEAN_DILATATION:
            F = (self._ratio / ufl.det(F)) ** (1 / 3) * F
        old, held, places = self._states(law)
        h = fem.Constant(self._mesh, 0.0)
        self._reader.stand_for(h, np.array(tape.step()))
        if locking is None or not law.splits:
            density = law.scalar("energy_density", F, held)
        else:
            density = law.scalar("isochoric_energy", F, held)
            volumetric = law.scalar("volumetric_energy", self._ratio)
            density += 0 if locking == NODAL_PRESSURE else volumetric
        energy = int(self._reader.read(density))
        variables = [*self._strains, *([self._at] if locking == MEAN_DILATATION else [])]
        stress = tape.gradient(energy, variables)
        if self._tangent:
            source = self._changes(stress, variables, places)
        else:
            new = law.updated(F, old, h)
            after = np.concatenate([np.ravel(self._reader.read(each)) for each in new.values()])
            lost = int(self._reader.read(law.scalar("dissipation", F, old, held, h)))
            source = self._updated([*stress, energy, lost], places, list(map(int, after)))
        return source + self._of_volumes(law, locking)

    def _states(self, law: Any) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
        """The state before and the one held, as constants, and the places that the latter stands for."""
        old, held = Variables(), Variables()
        places: list[int] = []
        for name, value in law.initial_state.items():
            numbers = range(len(places), len(places) + value.size)
            before, after = ([of(k) for k in numbers] for of in (self._tape.state, self._held))
            places += after
            for side, standing in ((old, before), (held, after)):
                side[name] = fem.Constant(self._mesh, value)
                self._reader.stand_for(side[name], np.array(standing).reshape(value.shape))
        self.initial = np.concatenate([*map(np.ravel, law.initial_state.values()), np.zeros(1)])
        return old, held, places

    def _held(self, place: int) -> int:
        """Input in the place of an entry of the state that is held."""
        return self._tape.input(-1 - place)

    def _changes(self, stress: list[int], variables: list[int], places: list[int]) -> str:
        tape = self._tape
        changes = {each: tape.input(self._width + k) for k, each in enumerate(variables)}
        results = [*tape.directional(stress, changes), *stress[len(self._strains) :]]
        results = tape.replaced(results, {each: tape.state(k) for k, each in enumerate(places)})
        zero = tape.constant(0.0)
        named = {f"P[{k}]": each for k, each in enumerate(results)}
        return self._code("law", {**named, "W[0]": zero, "W[1]": zero})

    def _updated(self, results: list[int], places: list[int], after: list[int]) -> str:
        tape = self._tape
        *stress, energy, lost = tape.replaced(results, dict(zip(places, after)))
        total = tape.apply("+", tape.state(len(places)), lost)
        state = {f"y[{k}]": each for k, each in enumerate([*after, total])}
        named = {f"P[{k}]": each for k, each in enumerate(stress)}
        return self._code("law", {**state, **named, "W[0]": energy, "W[1]": total})


class J2Code(LawCode):
    """The C function ``law`` of :class:`.J2Plasticity`: ``j2.h`` and the pressure of a volume ratio."""

    def _by_energy(self, law: Any, locking: str | None) -> str:
        self._shear, self._hardening = law.shear_modulus, Hardening(law, self._mesh)
        self.initial = np.append(np.ravel(law.initial_point), [self._hardening.at_first, 0.0])
        self._at = self._tape.input(0)  # of the function of a volume ratio, its only input
        self._reader.stand_for(self._ratio, np.array(self._at))
        volumes = self._volume_ratio() + self._volumetric(law)
        pressure = {None: _AT_POINT, MEAN_DILATATION: _OF_CELL, NODAL_PRESSURE: ""}[locking]
        stress = _STRESS % (self._reader.parameters().size, pressure)
        return volumes + _file("symmetric.h") + self._hardening.source + _file("j2.h") + _LAW + stress

    def parameters(self) -> FloatArray:
        """See :meth:`.LawCode.parameters`."""
        of_hardening = self._hardening.parameters()
        return np.concatenate([super().parameters(), [self._shear], of_hardening])


class Hardening:
    """The C function ``yield_stress`` of a hardening law, with its slopes.

    Args:
        law: The :class:`.J2Plasticity` with the hardening law.
        mesh: The mesh of its constants.

    Attributes:
        source: The C source.
        at_first: The yield stress at the start [Pa].

    Raises:
        ValueError: A yield stress at the start that is not a positive number; one that falls by more than
            3 mu per plastic strain where it is sampled.
    """

    def __init__(self, law: Any, mesh: Any) -> None:
        hardening, variables = law.hardening, [fem.Constant(mesh, 0.0) for _ in range(3)]
        self._tape = tape = Tape()
        numbers = [tape.input(k) for k in range(3)]
        self._reader = LawReader(tape, {each: np.array(k) for each, k in zip(variables, numbers)})
        stress = int(self._reader.read(hardening.flow_stress(*variables)))
        self.at_first = self._value(stress, 0.0)
        if not 0.0 < self.at_first < np.inf:
            raise ValueError(
                "the yield stress without plastic strain and without rate must be a positive number [Pa], "
                f"but that of {hardening!r} is {self.at_first:g}: the metal would never yield"
            )
        slopes = tape.gradient(stress, numbers[:2])
        if not hasattr(hardening, "least_slope"):
            self._refuse_soft(law, stress, slopes[0])
        code = statements(tape, {"slope[0]": slopes[0], "slope[1]": slopes[1], "const batch sigma": stress})
        given = "batch strain, batch rate, batch work, const double *p, batch *slope"
        lines = "\n  ".join(["const batch x[3] = {strain, rate, work};", *code, "return sigma;"])
        self.source = f"static inline batch yield_stress({given})\n{{\n  {lines}\n}}\n"

    def _value(self, number: int, strain: float) -> float:
        """An expression at a plastic strain, without rate and work, with the constants of now."""
        tape = self._tape
        known = {tape.parameter(k): tape.constant(each) for k, each in enumerate(self.parameters())}
        given = (strain, 0.0, 0.0)
        known |= {tape.input(k): tape.constant(each) for k, each in enumerate(given)}
        value = tape.value(tape.replaced([number], known)[0])
        return np.nan if value is None else value

    def _refuse_soft(self, law: Any, stress: int, slope: int) -> None:
        """Raise a ValueError where the yield stress, as long as it is positive, falls too steeply."""
        for strain in _SAMPLES:
            fall = -self._value(slope, strain)
            if fall >= 3 * law.shear_modulus and self._value(stress, strain) > 0.0:
                raise ValueError(
                    f"the yield stress of {law.hardening!r} falls by {fall:.6g} Pa per plastic strain at a "
                    f"strain of {strain:.3g}, which must be less than 3 mu = {3 * law.shear_modulus:.6g} Pa: "
                    "otherwise the plastic strain is not unique"
                )

    def parameters(self) -> FloatArray:
        """Values of the constants of the hardening law, shape (k,)."""
        return self._reader.parameters()


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")

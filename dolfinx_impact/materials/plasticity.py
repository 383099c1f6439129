"""Plasticity of metals at finite strain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ufl

from .._types import FloatArray
from ..arguments import number, shown
from .hardening import HardeningLaw
from .history import HistoryLaw, refuse_thin
from .law import constants_of


@dataclass(frozen=True)
class J2Plasticity(HistoryLaw):
    """Metals at finite strain: Hencky's elastic energy, von Mises' yield condition, associated flow.

    With ``b = F G F^T``, ``G = C_p^-1``, the elastic strains are ``eps_i = ln(lambda_i^2) / 2`` by the
    eigenvalues of b; ``W = kappa (ln J)^2 / 2 + mu |dev eps|^2``, ``tau = kappa ln J 1 + 2 mu dev eps`` and
    ``|dev tau| <= sqrt(2/3) sigma_y``. The state is updated by return mapping with the exponential map, once
    a step: of first order in the strain of a step where the direction of flow turns. The yield stress bounds
    the Kirchhoff stress tau.

    The state of a point: ``plastic_metric`` G (6 numbers: xx, yy, zz, xy, xz, yz), the
    ``equivalent_plastic_strain``, the ``yield_stress`` [Pa] of the last step, and ``dissipated``, the plastic
    work per reference volume [J/m3], which contains what hardening stores. Elements of degree 1 are kept from
    locking by default, see ``locking`` of :class:`~dolfinx_impact.Solid`.

    Source: Simo, Comput. Methods Appl. Mech. Engrg. 99 (1992), 61-112; de Souza Neto, Peric, Owen,
    Computational Methods for Plasticity (2008), chapter 14.

    Args:
        E: Young's modulus [Pa], positive.
        nu: Poisson's ratio, in (-1, 0.5).
        hardening: :class:`LinearHardening`, :class:`Voce`, :class:`TabulatedHardening`, :class:`JohnsonCook`
            or another :class:`HardeningLaw`.

    Raises:
        ValueError: A constant outside its range; a hardening that is none, or softens faster than ``-3 mu``:
            the plastic strain of a step would not be unique. Plane stress, when a body is made.
    """

    E: float
    nu: float
    hardening: HardeningLaw = field(kw_only=True)
    splits = True
    yields = True

    def __post_init__(self) -> None:
        number("Young's modulus E", self.E, "be positive [Pa]", above=0.0)
        if not -1 < number("Poisson's ratio nu", self.nu) < 0.5:
            raise ValueError(f"Poisson's ratio nu must lie in (-1, 0.5), but is {self.nu}")
        if isinstance(self.hardening, type) or not isinstance(self.hardening, HardeningLaw):
            raise ValueError(
                "hardening must be a law of the yield stress, as LinearHardening(400e6, 100e6), but is "
                f"{shown(self.hardening)}"
            )
        slope = getattr(self.hardening, "least_slope", 0.0)
        if not slope > -3 * self.shear_modulus:
            raise ValueError(
                f"the yield stress falls by {-slope:.6g} Pa per plastic strain, which must be less than 3 mu "
                f"= {3 * self.shear_modulus:.6g} Pa: otherwise the plastic strain is not unique"
            )

    @property
    def shear_modulus(self) -> float:
        """Mu [Pa]."""
        return self.E / (2 * (1 + self.nu))

    @property
    def bulk_modulus(self) -> float:
        """Kappa [Pa]."""
        return self.E / (3 * (1 - 2 * self.nu))

    @property
    def wave_modulus(self) -> float:  # type: ignore[override]
        """P-wave modulus at rest [Pa]."""
        return self.bulk_modulus + 4 * self.shear_modulus / 3

    @property
    def poisson_ratio(self) -> float:  # type: ignore[override]
        """Poisson's ratio at rest."""
        return self.nu

    @property
    def initial_point(self) -> FloatArray:
        """State of a point at the start, shape (9,)."""
        return np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    @property
    def initial_state(self) -> dict[str, FloatArray]:
        """Names and values of the state at the start."""
        zero = np.zeros(())
        metric = self.initial_point[:6]
        return {"plastic_metric": metric, "equivalent_plastic_strain": zero, "yield_stress": zero}

    def volumetric_energy(self, J: Any) -> Any:
        """Volumetric part ``kappa (ln J)^2 / 2`` of the stored energy [J/m3], a UFL scalar."""
        (kappa,) = constants_of(J, (self.bulk_modulus,))
        return kappa * ufl.ln(J) ** 2 / 2

    def reduced(self, state: str) -> J2Plasticity:
        """The law itself in 3D, plane strain and axisymmetry; a ValueError in other states."""
        refuse_thin(self, state)
        return self

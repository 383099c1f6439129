"""Lame's shrink fit: an elastic shaft, solid or hollow, in an elastic ring."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray


@dataclass(frozen=True)
class Tube:
    """A tube of one material under pressures on its sides.

    Lame's stresses ``A -+ B/r^2``. The ends are free or, with ``plane_strain``, held.

    Args:
        inner, outer: Radii [m]; ``inner`` is 0 for a solid shaft.
        E, nu: Young's modulus [Pa] and Poisson's ratio.
        plane_strain: Whether the ends are held along the axis.
    """

    inner: float
    outer: float
    E: float
    nu: float
    plane_strain: bool = True

    @property
    def modulus(self) -> float:
        """E, in plane strain ``E/(1 - nu^2)`` [Pa]."""
        return self.E / (1 - self.nu**2) if self.plane_strain else self.E

    @property
    def ratio(self) -> float:
        """nu, in plane strain ``nu/(1 - nu)``."""
        return self.nu / (1 - self.nu) if self.plane_strain else self.nu

    @property
    def area(self) -> float:
        """Area of the section [m2]."""
        return math.pi * (self.outer**2 - self.inner**2)

    @property
    def spread(self) -> float:
        """``(outer^2 + inner^2)/(outer^2 - inner^2)``: hoop stress over pressure where the pressure acts."""
        return (self.outer**2 + self.inner**2) / (self.outer**2 - self.inner**2)

    def stresses(
        self, r: ArrayLike, *, inside: float = 0.0, outside: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Radial and hoop stress at the radii r under pressures on the two sides [Pa]."""
        a2, b2 = self.inner**2, self.outer**2
        mean = (inside * a2 - outside * b2) / (b2 - a2)
        x2 = np.maximum(np.asarray(r, dtype=np.float64), self.inner) ** 2
        part = np.zeros_like(x2)
        np.divide((inside - outside) * a2 * b2 / (b2 - a2), x2, out=part, where=x2 > 0)
        return mean - part, mean + part


@dataclass(frozen=True)
class ShrinkFit:
    """A shaft in a ring whose bore is too small for it.

    Lame's pressure of a radial interference ``delta``, with the radius b where they meet and ``C_o``, ``C_i``
    the displacements of ring and shaft for a pressure of 1::

        p = delta / (C_o + C_i),   C_o = b/E_o (spread_o + nu_o),   C_i = b/E_i (spread_i - nu_i)

    Timoshenko, Goodier, Theory of Elasticity (1970), sections 28 and 44. The ends are held for the fit (plane
    strain). For the push (:meth:`push_force`) they are free.

    Args:
        bore: Inner radius of the shaft [m], 0 where it is solid.
        radius: Radius b where shaft and ring meet [m].
        outer: Outer radius of the ring [m].
        E_shaft, nu_shaft, E_ring, nu_ring: Young's moduli [Pa] and Poisson's ratios.
        interference: Radius of the shaft less that of the ring [m].
        plane_strain: Whether the ends are held.
    """

    bore: float
    radius: float
    outer: float
    E_shaft: float
    nu_shaft: float
    E_ring: float
    nu_ring: float
    interference: float
    plane_strain: bool = True

    @property
    def shaft(self) -> Tube:
        """The shaft."""
        return Tube(self.bore, self.radius, self.E_shaft, self.nu_shaft, self.plane_strain)

    @property
    def ring(self) -> Tube:
        """The ring."""
        return Tube(self.radius, self.outer, self.E_ring, self.nu_ring, self.plane_strain)

    @property
    def compliance(self) -> float:
        """``C_o + C_i`` [m/Pa]."""
        ring, shaft = self.ring, self.shaft
        ring_part = (ring.spread + ring.ratio) / ring.modulus
        return self.radius * (ring_part + (shaft.spread - shaft.ratio) / shaft.modulus)

    @property
    def pressure(self) -> float:
        """Pressure between shaft and ring [Pa]."""
        return self.interference / self.compliance

    @property
    def hoop_stress(self) -> float:
        """Hoop stress at the bore of the ring, the largest [Pa]."""
        return self.pressure * self.ring.spread

    def energy(self, length: float) -> float:
        """Energy stored in shaft and ring of a length, ``pi b delta p length`` [J]."""
        return math.pi * self.radius * self.interference * self.pressure * length

    def push_force(self, friction: float, length: float) -> float:
        """Force that pushes the shaft on, all points sliding [N].

        The ring is held at the end where the shaft is pushed, all ends are free to widen. With Poisson's
        ratio 0 the force is ``2 pi b d mu p``, exactly: by Betti's theorem axial forces do not change the
        mean pressure. Else the shaft that is pushed widens and the ring that is pulled narrows, by ``nu b/E``
        times their axial stresses: the pressure rises from the free end on with ``p' = a p``, stresses
        uniform over each section, and the force has the factor ``(e^(a d) - 1)/(a d)``.

        Args:
            friction: Coulomb's coefficient.
            length: Length d of the fit [m].
        """
        free = replace(self, plane_strain=False)
        share = free.nu_shaft / (free.E_shaft * free.shaft.area) + free.nu_ring / (
            free.E_ring * free.ring.area
        )
        around = 2 * math.pi * free.radius
        rate = around * friction * free.radius * share / free.compliance * length
        factor = math.expm1(rate) / rate if rate else 1.0
        return around * length * friction * free.pressure * factor

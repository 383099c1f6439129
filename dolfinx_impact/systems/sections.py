"""Cross-section properties of beams."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import arguments

_SHEAR = 5 / 6


@dataclass(frozen=True)
class Section:
    """Cross-section of a beam in local axes: x along the beam, y and z in the section.

    Args:
        area: Area A [m2].
        Iy: Second moment of area, integral of ``z^2`` [m4], for bending in the x-z plane.
        Iz: Second moment of area, integral of ``y^2`` [m4], for bending in the x-y plane.
        J: Torsion constant [m4].
        shear: Shear correction factor, the ratio of the shear area to the area.

    Raises:
        ValueError: A value that is not positive and finite.
    """

    area: float
    Iy: float
    Iz: float
    J: float
    shear: float = _SHEAR

    def __post_init__(self) -> None:
        _check(area=self.area, Iy=self.Iy, Iz=self.Iz, J=self.J, shear=self.shear)

    @classmethod
    def rectangle(cls, width: float, height: float, *, shear: float = _SHEAR) -> Section:
        """A solid rectangle.

        Args:
            width: Along y [m].
            height: Along z [m].
            shear: See :class:`Section`.
        """
        _check(width=width, height=height)
        a, b = max(width, height), min(width, height)
        # Timoshenko and Goodier, Theory of Elasticity, Art. 109: Saint-Venant's series.
        series = sum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in range(1, 400, 2))
        J = a * b**3 * (1 / 3 - 64 * b / (math.pi**5 * a) * series)
        return cls(width * height, width * height**3 / 12, height * width**3 / 12, J, shear)

    @classmethod
    def circle(cls, diameter: float, wall: float | None = None, *, shear: float = _SHEAR) -> Section:
        """A solid circle, or a tube.

        Args:
            diameter: Outer diameter [m].
            wall: Wall thickness of a tube [m], less than the radius; None for a solid circle.
            shear: See :class:`Section`.
        """
        _check(diameter=diameter)
        inner = 0.0
        if wall is not None:
            _check(wall=wall)
            inner = diameter - 2 * wall
            _leave_a_hole("wall", wall, "diameter", diameter)
        second = math.pi * (diameter**4 - inner**4) / 64
        return cls(math.pi * (diameter**2 - inner**2) / 4, second, second, 2 * second, shear)

    @classmethod
    def box(
        cls,
        width: float,
        height: float,
        *,
        flange: float | None = None,
        web: float | None = None,
        wall: float | None = None,
        shear: float = _SHEAR,
    ) -> Section:
        """A rectangular tube with J after Bredt, ``4 A_m^2 / sum(l / t)`` along the center line of the walls.

        Args:
            width: Outer width, along y [m].
            height: Outer height, along z [m].
            flange: Thickness of the two walls normal to z [m].
            web: Thickness of the two walls normal to y [m].
            wall: Thickness of all four walls [m], instead of flange and web.
            shear: See :class:`Section`.
        """
        if wall is not None and flange is None and web is None:
            flange = web = wall
        elif wall is not None or flange is None or web is None:
            raise ValueError("a box takes either flange and web or wall, its thicknesses")
        _check(width=width, height=height, flange=flange, web=web)
        _leave_a_hole("web", web, "width", width)
        _leave_a_hole("flange", flange, "height", height)
        b, h = width - 2 * web, height - 2 * flange
        middle = (width - web) * (height - flange)
        J = 4 * middle**2 / (2 * (width - web) / flange + 2 * (height - flange) / web)
        Iy, Iz = (width * height**3 - b * h**3) / 12, (height * width**3 - h * b**3) / 12
        return cls(width * height - b * h, Iy, Iz, J, shear)

    @classmethod
    def I(  # noqa: E743
        cls, width: float, height: float, flange: float, web: float, *, shear: float = _SHEAR
    ) -> Section:
        """A doubly symmetric I-section without fillets, with J of thin open walls, ``sum(l t^3) / 3``.

        Args:
            width: Width of the flanges, along y [m].
            height: Outer height, along z [m].
            flange: Thickness of the flanges [m].
            web: Thickness of the web [m].
            shear: See :class:`Section`.
        """
        _check(width=width, height=height, flange=flange, web=web)
        _leave_a_hole("flange", flange, "height", height)
        if web >= width:
            raise ValueError(f"the web {web} must be thinner than the width {width}")
        h = height - 2 * flange
        Iy = (width * height**3 - (width - web) * h**3) / 12
        Iz = (2 * flange * width**3 + h * web**3) / 12
        J = (2 * width * flange**3 + h * web**3) / 3
        return cls(2 * width * flange + h * web, Iy, Iz, J, shear)


def _check(**values: float) -> None:
    for name, value in values.items():
        arguments.number(f"{name} of a section", value, "be positive", above=0.0)


def _leave_a_hole(name: str, thickness: float, of: str, outer: float) -> None:
    if 2 * thickness >= outer:
        raise ValueError(f"twice the {name} {thickness} must be less than the {of} {outer}")

"""Cross-sections: textbook values, limits between kinds, and integrals over a raster of the shape."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolfinx_impact import Section

LENGTHS = st.floats(0.05, 2.0)
SHARES = st.floats(0.05, 0.9)


def test_girder_box():
    """The crane's girder: its web follows from the printed mass, all printed digits from the web."""
    web = (10844.0 / (7850.0 * 44.0) - 2 * 0.4 * 0.014) / (2 * (1.2 - 2 * 0.014))
    girder = Section.box(0.4, 1.2, flange=0.014, web=web)
    assert web == pytest.approx(8.61583e-3, rel=2e-6)
    assert [f"{x:.6g}" for x in (girder.area, girder.Iy, girder.Iz, girder.J)] == [
        "0.0313955",
        "0.00625033",
        "0.000922852",
        "0.00260208",
    ]
    assert girder.shear == 5 / 6


@pytest.mark.parametrize("height, wall, area", [(0.5, 23.34976e-3, 0.0398487), (0.4, 53.8419e-3, 0.0745512)])
def test_uniform_boxes(height, wall, area):
    box = Section.box(0.4, height, wall=wall)
    assert f"{box.area:.6g}" == f"{area:.6g}"
    assert box == Section.box(0.4, height, flange=wall, web=wall)
    middle = (0.4 - wall) * (height - wall)
    assert box.J == pytest.approx(2 * middle**2 * wall / (0.4 + height - 2 * wall), rel=1e-14)


@given(LENGTHS, LENGTHS, SHARES, SHARES)
def test_boxes_are_outer_less_inner_rectangle(width, height, a, b):
    flange, web = a * height / 2, b * width / 2
    box = Section.box(width, height, flange=flange, web=web)
    outer, inner = Section.rectangle(width, height), Section.rectangle(width - 2 * web, height - 2 * flange)
    for name in ("area", "Iy", "Iz"):
        assert getattr(box, name) == pytest.approx(getattr(outer, name) - getattr(inner, name), rel=1e-9)
    turned = Section.box(height, width, flange=web, web=flange)
    assert (turned.Iy, turned.Iz, turned.J) == pytest.approx((box.Iz, box.Iy, box.J), rel=1e-12)


@given(LENGTHS, LENGTHS, SHARES, SHARES)
def test_an_I_and_a_box_with_its_web_on_both_sides_bend_alike(width, height, a, b):
    """Only the position of the web differs: same area and same Iy, less resistance across."""
    flange, web = a * height / 2, b * width
    beam, box = Section.I(width, height, flange, web), Section.box(width, height, flange=flange, web=web / 2)
    assert (beam.area, beam.Iy) == pytest.approx((box.area, box.Iy), rel=1e-12)
    assert beam.Iz < box.Iz and beam.J > 0


def test_I_against_a_table():
    """IPE 200 without its fillets (200 x 100 x 5.6 x 8.5 mm): DIN 1025-5 has 28.5 cm2 with them."""
    beam = Section.I(0.1, 0.2, 8.5e-3, 5.6e-3)
    assert beam.area == pytest.approx(28.5e-4 - (4 - math.pi) * 0.012**2, rel=2e-3)
    assert (beam.Iy, beam.Iz) == pytest.approx((1943e-8, 142e-8), rel=0.06)
    assert beam.J == pytest.approx((2 * 0.1 * 8.5e-3**3 + 0.183 * 5.6e-3**3) / 3, rel=1e-14)


@pytest.mark.parametrize("ratio, share", [(1, 0.1406), (1.5, 0.196), (2, 0.229), (4, 0.281), (10, 0.312)])
def test_torsion_of_rectangles(ratio, share):
    """J / (a b^3) as tabulated in Timoshenko and Goodier, Theory of Elasticity, Art. 109."""
    assert Section.rectangle(0.1, 0.1 * ratio).J == pytest.approx(share * ratio * 1e-4, rel=4e-3)
    assert Section.rectangle(0.1 * ratio, 0.1).J == Section.rectangle(0.1, 0.1 * ratio).J


def test_circles():
    full, tube = Section.circle(0.2), Section.circle(0.2, 0.01)
    assert (full.area, full.Iy, full.J) == pytest.approx(
        (math.pi * 0.01, math.pi * 0.1**4 / 4, math.pi * 0.1**4 / 2), rel=1e-14
    )
    within = Section.circle(0.18)
    for name in ("area", "Iy", "Iz", "J"):
        assert getattr(tube, name) == pytest.approx(getattr(full, name) - getattr(within, name), rel=1e-12)
    # Bredt's formula for the thin tube is right to the square of the wall's thickness.
    assert tube.J == pytest.approx(4 * (math.pi * 0.095**2) ** 2 / (math.pi * 0.19 / 0.01), rel=4e-3)


@pytest.mark.parametrize(
    "section",
    [
        Section.rectangle(0.3, 0.5),
        Section.I(0.3, 0.5, 0.05, 0.1),
        Section.box(0.3, 0.5, flange=0.05, web=0.025),
    ],
)
def test_second_moments_are_integrals(section):
    """Sums over a raster of the outer rectangle, y along the width and z along the height."""
    y, z = np.meshgrid((np.arange(600) + 0.5) / 2000 - 0.15, (np.arange(1000) + 0.5) / 2000 - 0.25)
    filled = np.ones_like(y, dtype=bool)
    if section != Section.rectangle(0.3, 0.5):
        hollow = np.abs(z) < 0.2
        web = np.abs(y) < 0.05 if section == Section.I(0.3, 0.5, 0.05, 0.1) else np.abs(y) > 0.125
        filled = ~hollow | web
    patch = 1 / 2000**2
    sums = [np.sum(f[filled]) * patch for f in (np.ones_like(y), z**2, y**2)]
    assert (section.area, section.Iy, section.Iz) == pytest.approx(sums, rel=1e-5)


def test_shear_share_and_own_values():
    assert Section.circle(0.1, shear=0.9).shear == 0.9
    assert Section.rectangle(0.1, 0.2, shear=0.8).shear == 0.8
    assert Section.I(0.1, 0.2, 0.01, 0.01, shear=0.4).shear == 0.4
    own = Section(area=1e-2, Iy=2e-5, Iz=3e-5, J=4e-5)
    assert (own.area, own.Iy, own.Iz, own.J, own.shear) == (1e-2, 2e-5, 3e-5, 4e-5, 5 / 6)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Section(0.0, 1, 1, 1), "area of a section must be positive, but is 0.0"),
        (lambda: Section(1, 1, math.inf, 1), "Iz of a section must be positive, but is inf"),
        (lambda: Section(1, 1, 1, 1, shear=-1), "shear of a section must be positive, but is -1"),
        (lambda: Section.rectangle(-1, 1), "width of a section must be positive"),
        (lambda: Section.circle(math.nan), "diameter of a section must be positive"),
        (lambda: Section.circle(0.1, 0.05), r"twice the wall 0.05 must be less than the diameter 0.1"),
        (lambda: Section.circle(0.1, 0.0), "wall of a section must be positive"),
        (lambda: Section.box(0.4, 1.2), "a box takes either flange and web or wall"),
        (lambda: Section.box(0.4, 1.2, flange=0.01), "a box takes either flange and web or wall"),
        (lambda: Section.box(0.4, 1.2, web=0.01, wall=0.01), "a box takes either flange and web or wall"),
        (lambda: Section.box(0.4, 1.2, flange=0.6, web=0.01), "twice the flange 0.6 must be less than"),
        (lambda: Section.box(0.4, 1.2, wall=0.2), "twice the web 0.2 must be less than the width 0.4"),
        (lambda: Section.I(0.1, 0.2, 0.1, 0.01), "twice the flange 0.1 must be less than the height 0.2"),
        (lambda: Section.I(0.1, 0.2, 0.01, 0.1), "the web 0.1 must be thinner than the width 0.1"),
    ],
)
def test_impossible_sections_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

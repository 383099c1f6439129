"""The formulas of central differences: the same for numbers, for arrays and compiled."""

import numpy as np
import pytest

from dolfinx_impact.integrators.central import central_formulas as formulas

rng = np.random.default_rng(3)
u, v_before, v, f, load = rng.normal(size=(5, 40))
mass, kick = rng.uniform(0.5, 2.0, (2, 40))
h, e = 0.01, 0.6

POINTWISE = {
    "leapfrog": (u, v, h),
    "kicked": (v_before, kick, f),
    "mean_velocity": (v_before, v),
    "velocity_before": (v_before, v),
    "newton_impact": (v, v_before, e),
    "constrained_position": (u, v, v_before, h, e),
    "velocity_squares": (v_before, v),
    "internal_part": (load, f, u),
    "work": (h, v, v_before),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_numbers_and_arrays(name):
    formula, arguments = getattr(formulas, name), POINTWISE[name]
    for i in range(u.size):
        one = formula(*(float(x[i]) if isinstance(x, np.ndarray) else x for x in arguments))
        assert np.array_equal(one, np.asarray(formula(*arguments))[..., i])


def test_the_energy_of_a_step():
    """Kinetic energy of the mean velocity (44b), complementary energy of the jump, (86) and (87)."""
    kinetic, complementary, *powers = formulas.central_sums(mass, v_before, v, f, u)
    mean, jump = formulas.mean_velocity(v_before, v), v - v_before
    assert kinetic == pytest.approx(mass @ mean**2 / 2, rel=1e-14)
    assert complementary == pytest.approx(-(mass @ jump**2) / 8, rel=1e-14)
    assert powers == pytest.approx([v_before @ f, v @ f, u @ f], rel=1e-14)


def test_a_bounce_at_the_constrained_position():
    """(19) lets the position follow a velocity by h / (1 + e)."""
    free, moved = (formulas.constrained_position(u, x, v_before, h, e) for x in (v, v + 1.0))
    assert moved - free == pytest.approx(np.full(40, formulas.constrained_time(h, e)), rel=1e-12)


def test_loops_over_arrays_are_the_same_compiled():
    pytest.importorskip("numba")
    from dolfinx_impact.integrators.compiled import _kernels

    ends = []
    for module in (formulas, _kernels):
        place, velocity = u.copy(), np.zeros(40)
        module.drift(place, v, h)
        module.kick(v_before, f, kick, velocity)
        ends.append((place, velocity))
        sums = module.central_sums_with_load(mass, v_before, v, f, u, load)
        assert sums[:5] == pytest.approx(module.central_sums(mass, v_before, v, f, u), rel=1e-13)
        assert sums[5:] == pytest.approx(module.power_sums(v_before, v, u, load), rel=1e-13)
        ends[-1] += (sums,)
    assert np.array_equal(ends[0][0], ends[1][0]) and np.array_equal(ends[0][1], ends[1][1])
    assert ends[0][2] == pytest.approx(ends[1][2], rel=1e-13)

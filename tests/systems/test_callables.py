"""Functions of a user's that write forces: refused where they do not, zero where they write nothing."""

import numpy as np
import pytest

import dolfinx_impact as di


def leaves(t, u, v, out):
    out[1] = -9.81


def adds(t, u, v, out):
    out[1] += -9.81


def returns(t, u, v, out):
    return np.array([0.0, -9.81])


def writes(t, u, v, out):
    out[:] = 0.0


@pytest.mark.parametrize("part", ["force", "internal", "damping"])
@pytest.mark.parametrize(
    "function, words",
    [
        (leaves, r"must write all of out, but leaves out\[0\]"),
        (adds, r"must write all of out"),
        (returns, "must write into out, as .*, and return nothing"),
    ],
)
def test_forces_that_are_not_written_are_refused(part, function, words):
    with pytest.raises(ValueError, match=rf"{part}\(t, u, v, out\) {words}"):
        di.PointMasses([1.0, 1.0], **{part: function})


@pytest.mark.parametrize(
    "energy, error",
    [
        (lambda u: None, ValueError),
        (lambda u: u, ValueError),
        (lambda u: "a", ValueError),
        (lambda: 1.0, TypeError),
        (1.0, TypeError),
    ],
)
def test_energies_that_are_no_number_are_refused(energy, error):
    with pytest.raises(error, match="energy"):
        di.PointMasses([1.0, 1.0], internal=writes, energy=energy)


def test_forces_are_tried_where_springs_have_lengths():
    """One that is not defined at rest or at a first time is not refused for that."""

    def spring(t, u, v, out):
        out[:] = -u / np.hypot(*u)

    def late(t, u, v, out):
        if t < 0.5:
            raise RuntimeError("not yet")
        out[:] = 1.0

    for force in (spring, late):
        di.PointMasses([1.0, 1.0], force)


def kicked(t, u, v, out):
    if t < 0.05:
        out[0] = 2.0


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("part", ["force", "internal", "damping"])
def test_what_a_force_does_not_write_later_is_zero(part, compiled):
    """It was left over from the step before, and the constant load was added to it in every step."""
    numba = pytest.importorskip("numba") if compiled else None
    function = numba.njit(kicked) if numba else kicked
    system = di.PointMasses(1.0, load=[0.5], **{part: function})
    made = di.CDLagrange(system, 0.01)
    made.start(0.0, 0.0)
    run = di.simulate(made, t_end=1.0, compiled=compiled, progress=False)
    sign = 1.0 if part == "force" else -1.0
    expected = 0.5 + sign * 2.0 * 0.045  # half a step at the start, then t = 0.01 ... 0.04
    assert run["v_t"][-1, 0] == pytest.approx(expected, rel=1e-12)


def test_every_kind_of_force_has_an_out_of_its_own():
    class Own(di.PointMasses):
        def external(self, t, u, v, out):
            out[0] += 1.0

    def pulls(t, u, v, out):
        out[0], out[1] = 2.0 * (t < 0.5), 0.0

    def brakes(t, u, v, out):
        out[:] = 0.0
        out[1] = 3.0

    system = Own([1.0, 1.0], internal=pulls, damping=brakes)
    out, still = np.full(2, np.nan), np.zeros(2)
    for _ in range(3):
        system.force(0.0, still, still, out)
        assert out.tolist() == [-1.0, -3.0]

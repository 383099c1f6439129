"""Signals are exact where they can be, and files that are no records are refused with the reason."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.paths import DATA

import dolfinx_impact as di
from dolfinx_impact import signals
from dolfinx_impact.signals import STANDARD_GRAVITY, Signal

# North-south component of El Centro, 1940, in the version of Peknold: the record as it is usually handed on.
EL_CENTRO = DATA / "elcentro-1940-ns.AT2"
STEPS = st.sampled_from([1e-3, 0.02, 0.005, 1 / 3, 0.1, 2.857142857142857e-7, 7.0])
VALUES = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60)
SIGNALS = st.builds(Signal, STEPS, VALUES.map(np.array))


# The function of time


@given(SIGNALS, st.integers(-3, 3))
def test_samples_are_met_without_rounding(signal, ulps):
    """Also at times a few roundings off, however steep the signal is beside the sample."""
    t = signal.times
    for _ in range(abs(ulps)):
        t = np.nextafter(t, np.sign(ulps) * np.inf)
    t = np.clip(t, 0, signal.duration)
    np.testing.assert_array_equal(signal(t), signal.values)
    assert signal(signal.duration) == signal.values[-1]


@given(SIGNALS, st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_linear_between_samples(signal, parts):
    t = signal.duration * np.array(parts)
    expected = np.interp(t, signal.times, signal.values)
    np.testing.assert_allclose(signal(t), expected, rtol=0, atol=1e-10 * (1 + np.abs(signal.values).max()))
    assert signal(t.reshape(1, -1)).shape == (1, len(t))
    scalar = signal(t[0])
    assert isinstance(scalar, float) and scalar == signal(t)[0]


@pytest.mark.parametrize("t", [-0.001, 3.001, np.nan, np.inf, [0.5, 4.0]])
def test_there_is_no_value_beyond_the_ends(t):
    signal = Signal(0.5, np.arange(7.0), name="quake")
    with pytest.raises(ValueError, match="the signal 'quake' lasts from 0 to 3 s and has no value at t = "):
        signal(t)


def test_rounding_at_the_ends_is_forgiven():
    signal = Signal(0.1, np.arange(11.0))
    assert signal(1.0 + 5e-10) == 10.0
    assert signal(-5e-10) == 0.0
    assert signal([]).shape == (0,)


@pytest.mark.parametrize(
    "dt, values, message",
    [
        (0.0, [0, 1], "time between samples must be positive, but is 0.0 s"),
        (-1.0, [0, 1], "must be positive"),
        (np.nan, [0, 1], "must be positive"),
        (1.0, [0], r"at least two samples, but has shape \(1,\)"),
        (1.0, [[0, 1], [2, 3]], r"shape \(2, 2\)"),
        (1.0, [0, 1, np.inf], "sample 2 of the signal is not finite"),
    ],
)
def test_what_is_no_signal(dt, values, message):
    with pytest.raises(ValueError, match=message):
        Signal(dt, values)


def test_samples_cannot_be_changed():
    given_values = np.array([1.0, 2.0])
    signal = Signal(1.0, given_values)
    given_values[0] = 5.0
    assert signal.values[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        signal.values[0] = 5.0


# New signals from old ones


@given(SIGNALS, st.integers(1, 9))
def test_refined_and_back(signal, ratio):
    fine = signal.resample(signal.dt / ratio)
    assert len(fine.values) == ratio * (len(signal.values) - 1) + 1
    back = fine.resample(signal.dt)
    scale = np.abs(signal.values).max()
    np.testing.assert_allclose(back.values, signal.values, rtol=0, atol=1e-12 * scale)
    assert back.duration == pytest.approx(signal.duration, rel=1e-14)


def test_resampling_keeps_within_the_signal_and_does_not_filter():
    signal = Signal(1.0, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], unit="m/s", name="zigzag")
    coarse = signal.resample(2.0)
    assert coarse.values.tolist() == [0.0, 0.0, 0.0]
    assert (coarse.dt, coarse.duration, coarse.unit, coarse.name) == (2.0, 4.0, "m/s", "zigzag")
    for dt in (0.0, -1.0, 5.1, np.nan):
        with pytest.raises(ValueError, match=r"of 5 s cannot be resampled .* not above the duration"):
            signal.resample(dt)


@given(SIGNALS, st.integers(0, 3), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_detrending_is_a_projection(signal, order, coefficients):
    """Nothing is left along the polynomials, and adding one changes nothing."""
    if len(signal.values) <= order + 1:
        with pytest.raises(ValueError, match="order of the trend must be"):
            signal.detrend(order)
        return
    x = np.linspace(-1, 1, len(signal.values))
    scale = len(x) * (5 + np.abs(signal.values).max())
    flat = signal.detrend(order)
    assert np.vander(x, order + 1).T @ flat.values == pytest.approx(np.zeros(order + 1), abs=1e-12 * scale)
    tilted = Signal(signal.dt, signal.values + np.polyval(coefficients[: order + 1], x)).detrend(order)
    np.testing.assert_allclose(tilted.values, flat.values, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("order", [-1, 4, 0.5])
def test_orders_of_a_trend(order):
    with pytest.raises(ValueError, match="must be 0, 1, 2 or 3"):
        Signal(1.0, np.zeros(20)).detrend(order)


@given(st.floats(0.5, 5), st.floats(0, 6.3), st.floats(0.1, 10))
def test_integral_of_a_sine_has_order_two(frequency, phase, amplitude):
    """Its error is that of the trapezoids, (w h)^2 / 12 of the exact integral, up to the fourth order."""
    w = 2 * np.pi * frequency
    for h in (0.004, 0.002):
        t = h * np.arange(round(1 / h) + 1)
        integral = Signal(h, amplitude * np.sin(w * t + phase)).integrate()
        exact = amplitude / w * (np.cos(phase) - np.cos(w * t + phase))
        rest = np.abs(integral.values - (1 - (w * h) ** 2 / 12) * exact).max()
        assert rest <= amplitude / w * 2 * ((w * h) ** 4 / 500 + 1e-12)


@given(SIGNALS)
def test_integral_is_exact_for_the_linear_pieces(signal):
    """A finer sampling of the same function has the same integral at the same times."""
    coarse, fine = signal.integrate(), signal.resample(signal.dt / 4).integrate()
    scale = np.abs(signal.values).max() * signal.duration
    np.testing.assert_allclose(fine.values[::4], coarse.values, rtol=0, atol=1e-12 * scale)
    assert coarse.values[0] == 0.0
    assert (coarse.unit, coarse.integrate().unit) == ("m/s", "m")
    assert coarse.integrate().integrate().unit == "m s"


def test_scaled_and_cut():
    signal = Signal(0.1, np.arange(11.0), name="ramp")
    assert signal.scaled(-2.0).values.tolist() == (-2.0 * np.arange(11)).tolist()
    assert [len(signal.cut(d).values) for d in (0.3, 0.1 + 0.2, 0.31, 0.01, 1.0)] == [4, 4, 5, 2, 11]
    for duration in (0.0, -1.0, 1.01, np.nan):
        with pytest.raises(ValueError, match="the signal 'ramp' of 1 s cannot be cut to"):
            signal.cut(duration)


# The record of El Centro


def test_el_centro():
    record = signals.read(EL_CENTRO)
    assert (len(record.values), record.dt, record.unit) == (1559, 0.02, "m/s2")
    assert (record.duration, record.name) == (pytest.approx(31.16), "elcentro-1940-ns")
    peak = np.argmax(np.abs(record.values))
    assert record.values[peak] == pytest.approx(-0.31882 * STANDARD_GRAVITY, rel=1e-14)
    assert record.times[peak] == pytest.approx(2.02)
    assert record.values[:2] == pytest.approx([0.0063 * STANDARD_GRAVITY, 0.00364 * STANDARD_GRAVITY])


def test_el_centro_moves_and_comes_to_rest():
    velocity = signals.read(EL_CENTRO).detrend().integrate()
    displacement = velocity.integrate()
    assert np.abs(velocity.values).max() == pytest.approx(0.36, abs=0.01)
    assert abs(velocity.values[-1]) < 0.005 * np.abs(velocity.values).max()
    assert abs(velocity.values.mean()) < 0.005 * np.abs(velocity.values).max()
    assert np.abs(displacement.values).max() == pytest.approx(0.21, abs=0.01)
    assert abs(displacement.values[-1]) < 0.1 * np.abs(displacement.values).max()


# PEER files

HEADERS = {
    "as of today": "PEER NGA STRONG MOTION DATABASE RECORD\nSomewhere, 1/2/1979\n"
    "ACCELERATION TIME SERIES IN UNITS OF G\nNPTS=   5, DT=   .0050 SEC,\n",
    "as of old": "PEER STRONG MOTION DATABASE RECORD.\nSOMEWHERE 5/19/40, USGS STATION 117\n"
    "ACCELERATION TIME HISTORY IN UNITS OF G. FILTER POINTS: HP=0.2 Hz\n5   0.0050   NPTS, DT\n",
    "in words": "The units are (g)\nNPTS=5,DT=.005SEC\n",
    "small letters": "a title\nin units of g\nnpts =  5 ,\tdt = 5.0e-3 sec\n",
    "two lines": "UNITS: g\nNPTS= 5,\nDT= 0.005\n",
}
COLUMNS = "  .1000000E+00 -.2000000E+00   .5\n\n 1 -2.5E-1\n"


@pytest.fixture
def at2(tmp_path):
    """``at2(text)``: a file with it."""

    def write(text, name="x.AT2", **options):
        (tmp_path / name).write_text(text, **options)
        return tmp_path / name

    return write


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_headers_of_peer(header, ends, at2):
    record = signals.read(at2(header + COLUMNS, newline=ends))
    expected = STANDARD_GRAVITY * np.array([0.1, -0.2, 0.5, 1.0, -0.25])
    assert record.dt == 0.005
    assert record.values == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "unit, factor",
    [
        ("M/S2", 1),
        ("m/s/s", 1),
        ("M/SEC**2", 1),
        ("cm/s2", 0.01),
        ("CM/SEC/SEC", 0.01),
        ("(cm/s^2)", 0.01),
        ("Gal", 0.01),
        ("g", 9.80665),
    ],
)
def test_units_of_acceleration(unit, factor, at2):
    assert signals.read(at2(f"IN UNITS OF {unit}\nNPTS= 2, DT= 1 SEC\n0 2\n")).values[1] == 2 * factor
    if "**" not in unit:
        name = unit.strip("()")
        assert signals.read(at2(f"t [s], a [{name}]\n0,0\n1,2\n", "x.csv")).values[1] == 2 * factor


HEADER = "IN UNITS OF G\nNPTS= 3, DT= .01 SEC\n"


@pytest.mark.parametrize(
    "text, message",
    [
        (HEADER + "1 2\n", "announces NPTS= 3, but holds 2 values"),
        (HEADER + "1 2\n3 4\n", "announces NPTS= 3, but holds 4 values"),
        (HEADER + "1 2\n3 x4\n", "line 4: 'x4' is no finite number"),
        (HEADER + "1\nnan 3\n", "line 4: 'nan' is no finite number"),
        (HEADER + "1 2 -inf\n", "line 3: '-inf' is no finite number"),
        (HEADER + "1 2 1e999\n", "line 3: '1e999' is no finite number"),
        (HEADER + "1 **** 3\n", r"line 3: '\*\*\*\*' is no finite number"),
        ("NPTS= 3, DT= .01 SEC\n1 2 3\n", "does not name its units: its header needs 'IN UNITS OF G' or"),
        ("NPTS= 3, DT= .01 SEC\nIN UNITS OF G\n1 2 3\n", "does not name its units"),
        ("IN UNITS OF CM/S\nNPTS= 2, DT= 1 SEC\n1 2\n", "unit 'CM/S' is no known one of acceleration"),
        ("IN UNITS OF G\n1 2 3\n", "is no PEER record: it has no line 'NPTS= n, DT= x SEC'"),
        ("IN UNITS OF G\nNPTS= 3.5, DT= 1 SEC\n1 2 3\n", "is no PEER record"),
        ("IN UNITS OF G\nNPTS= 3, DT= fast\n1 2 3\n", "is no PEER record"),
        (
            "IN UNITS OF G\nNPTS= 3, DT= 0.0 SEC\n1 2 3\n",
            "time between samples must be positive, but is 0.0 s",
        ),
        ("IN UNITS OF G\nNPTS= 3, DT= -.01 SEC\n1 2 3\n", "must be positive, but is -0.01 s"),
        ("IN UNITS OF G\nNPTS= 1, DT= .01 SEC\n1\n", "at least two samples"),
        ("", "is no PEER record"),
        ("\0\x01PNG \udcff", "is no PEER record"),
    ],
)
def test_what_is_no_peer_record(text, message, at2):
    path = at2(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ValueError, match=rf"x\.AT2'.*{message}"):
        signals.read(path)


# Tables


@given(SIGNALS, st.booleans())
def test_tables_of_times_and_values_round_trip(tmp_path_factory, signal, header):
    path = tmp_path_factory.mktemp("tables") / "x.CSV"
    rows = [f"{t!r}, {a!r}" for t, a in zip(signal.times.tolist(), signal.values.tolist())]
    path.write_text("\n".join(["# a comment", *["t_s,a_m_per_s2"] * header, *rows]) + "\n\n")
    back = signals.read(path)
    assert back.dt == pytest.approx(signal.dt, rel=1e-14)
    np.testing.assert_array_equal(back.values, signal.values)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "t,a\n0,1\n1,2\n2.001,3\n",
            r"line 3: the times are not equidistant \(mean step 1.0005 s\): resample",
        ),
        ("0,1\n1,2\n1,3\n", "line 3: the time does not increase"),
        ("0,1\n2,2\n1,3\n", "line 3: the time does not increase"),
        ("1,1\n2,2\n3,3\n", "starts at t = 1 s: shift its times"),
        ("-1,1\n0,2\n", "starts at t = -1 s"),
        ("t,a\n0,1\n", "is no record: it has 1 rows of times and values"),
        ("", "is no record: it has 0 rows"),
        ("0,1\n1,x\n", "line 2: 'x' is no finite number"),
        ("0,1\nnan,1\n", "line 2: 'nan' is no finite number"),
        ("0,1\n1,inf\n2,0\n", "line 2: 'inf' is no finite number"),
        ("0,1\n1\n", "line 2: a time and a value separated by a comma are expected, but there are 1 columns"),
        ("0,1,2\n1,2,3\n", "line 1: .* there are 3 columns"),
        ("0;1\n1;2\n", "line 2: .* there are 1 columns"),
        ("t,a\nt,a\n0,1\n", "line 2: 't' is no finite number"),
        ("t [s],a [km/h]\n0,1\n1,2\n", "unit 'km/h' is no known one of acceleration"),
    ],
)
def test_what_is_no_table(text, message, at2):
    with pytest.raises(ValueError, match=rf"x\.csv'.*({message})"):
        signals.read(at2(text, "x.csv"))


def test_times_may_be_rounded_to_a_millionth_of_the_step(at2):
    table = "0,0\n0.3333333,1\n0.6666667,2\n1,3\n"
    assert signals.read(at2(table, "x.csv")).dt == pytest.approx(1 / 3, rel=1e-15)
    with pytest.raises(ValueError, match="not equidistant"):
        signals.read(at2(table.replace("0.3333333", "0.33333"), "x.csv"))


# Files


@pytest.mark.parametrize("name", ["missing.AT2", "missing.csv", "folder.csv"])
def test_files_that_do_not_exist(name, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileNotFoundError, match=f"the record .*{name}' does not exist"):
        signals.read(tmp_path / name)


def test_files_of_another_kind(at2):
    with pytest.raises(ValueError, match=r"x.txt': a record is a PEER file .AT2 or a table .csv"):
        signals.read(at2("0,1\n1,2\n", "x.txt"))


# -- units


def square(**options):
    mesh = dmesh.create_unit_square(MPI.COMM_SELF, 1, 1)
    named = di.named(mesh, foot=lambda x: x[1] < 1e-9)
    return di.Solid(named, density=1.0, law=di.LinearElastic(1.0), **options)


def test_units_of_acceleration_become_m_per_s2():
    """As ground acceleration and in loads."""
    ones = np.ones(3)
    for unit, size in {"g": 9.80665, "cm/s2": 0.01, "m/s2": 1.0, "gal": 0.01}.items():
        signal = Signal(0.1, ones, unit=unit)
        out = np.zeros(8)
        square(ground_acceleration=((0.0, 1.0), signal)).external(0.05, out, out, out)
        assert out.sum() == pytest.approx(-size)
        square(body_force=((0.0, 1.0), signal)).external(0.05, out, out, out)
        assert out.sum() == pytest.approx(size)
        assert np.array_equal(signal.values, ones)


def test_angles_become_radians_and_other_units_are_taken():
    turn = di.MovingObstacle(
        di.Plane((0, 0), (0, 1)), rotation=Signal(1.0, [0.0, 90.0], unit="deg"), center=(0, 0)
    )
    assert turn.gap(np.array([[-1.0, 0.0]]), 1.0) == pytest.approx([1.0], abs=1e-9)
    own = Signal(1.0, [0.0, 1.0], unit="")
    assert square(prescribed={"foot": {0: own}}).prescribed(1.0).tolist() == [1.0, 1.0]
    assert square(traction={"foot": ((0.0, 1.0), Signal(1.0, [2.0, 2.0], unit="Pa"))}).has_loads


@pytest.mark.parametrize(
    "options, words",
    [
        (
            {"prescribed": {"foot": {0: Signal(1.0, [0.0, 1.0])}}},
            "in m/s2, but what is needed is in m; where",
        ),
        ({"prescribed": {"foot": {1: Signal(1.0, [0.0, 1.0]).integrate()}}}, "in m, which integrate.. gives"),
        (
            {"prescribed": {"foot": {1: Signal(1.0, [0.0, 1.0], unit="mm")}}},
            "scale it, and say unit='m'; in a",
        ),
        (
            {"ground_acceleration": ((0, 1), Signal(1.0, [0.0, 1.0], unit="m"))},
            "in m, but what is needed is in m/s2",
        ),
    ],
)
def test_other_quantities_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        square(**options)


def test_obstacles_refuse_other_quantities():
    plane = di.Plane((0, 0), (0, 1))
    with pytest.raises(ValueError, match="translation: the signal is in m/s2, but what is needed is in m"):
        di.MovingObstacle(plane, translation=((0, 1), Signal(1.0, [0.0, 1.0])))
    with pytest.raises(ValueError, match="rotation: the signal is in m, but what is needed is in rad"):
        di.MovingObstacle(plane, rotation=Signal(1.0, [0.0, 1.0], unit="m"), center=(0, 0))

"""Signals in time: ground accelerations from files, resampling, detrending and integration."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

import numpy as np
from numpy.polynomial import legendre

from ._types import AnyArray, FloatArray

#: Standard gravity [m/s2], the unit g of accelerograms.
STANDARD_GRAVITY = 9.80665
_IN_M_PER_S2 = {"g": STANDARD_GRAVITY, "m/s2": 1.0, "cm/s2": 0.01, "gal": 0.01}
#: Units by the SI unit of what they measure, with their size in it; None where that depends on the units of
#: the whole model, which may be mm, t, s.
_KNOWN: dict[str, dict[str, float | None]] = {
    "m/s2": {**_IN_M_PER_S2, "mm/s2": None},
    "m/s": {"m/s": 1.0, "cm/s": None, "mm/s": None},
    "m": {"m": 1.0, "cm": None, "mm": None},
    "rad/s": {"rad/s": 1.0, "deg/s": math.pi / 180},
    "rad": {"rad": 1.0, "deg": math.pi / 180},
}
_INTEGRATED = {"m/s2": "m/s", "m/s": "m"}

_FLOAT = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:E[-+]?\d+)?)(?![\d.])"
_SIZES = (
    re.compile(rf"NPTS\s*=\s*(\d+)[\s,]+DT\s*=\s*{_FLOAT}", re.IGNORECASE),
    re.compile(rf"\b(\d+)[ \t,]+{_FLOAT}[ \t,]+NPTS[ \t]*,[ \t]*DT\b", re.IGNORECASE),
)
_UNITS = re.compile(r"\bUNITS?\s*(?:OF|ARE|IS|IN|:|=)\s*[(\[]?\s*([A-Z][A-Z0-9/*^]*)", re.IGNORECASE)
_BRACKETS = re.compile(r"[(\[]\s*([^)\]]*?)\s*[)\]]")


@dataclass(frozen=True, eq=False)
class Signal:
    """A function of time with uniform samples from t = 0 on, linearly interpolated.

    Attributes:
        dt: Time between samples [s].
        values: Samples at ``t = 0, dt, 2 dt, ...``, shape (n,), in ``unit``; read-only.
        unit: Unit of the samples. Bodies and obstacles compare it with what they need, where it is one of
            length, angle, velocity or acceleration: another quantity is an error, g and cm/s2 become m/s2.
        name: Name of the signal in figures.

    Raises:
        ValueError: When ``dt`` is not positive, there are fewer than two samples, or one is not finite.
    """

    dt: float
    values: FloatArray
    unit: str = field(default="m/s2", kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"the time between samples must be positive, but is {self.dt} s")
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 1 or len(values) < 2:
            raise ValueError(f"a signal is a row of at least two samples, but has shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError(f"sample {np.flatnonzero(~np.isfinite(values))[0]} of the signal is not finite")
        values.flags.writeable = False
        object.__setattr__(self, "dt", float(self.dt))
        object.__setattr__(self, "values", values)

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return (len(self.values) - 1) * self.dt

    @property
    def times(self) -> FloatArray:
        """Times of the samples (n,) [s]."""
        return self.dt * np.arange(len(self.values), dtype=np.float64)

    @overload
    def __call__(self, t: float) -> float: ...

    @overload
    def __call__(self, t: AnyArray | Sequence[float]) -> FloatArray: ...

    def __call__(self, t: float | AnyArray | Sequence[float]) -> float | FloatArray:
        """Values at the times ``t`` [s], any shape, a float for a scalar; exact at the samples.

        Raises:
            ValueError: For a time outside of the signal by more than 1e-9 of its duration.
        """
        t = np.asarray(t, dtype=np.float64)
        slack = 1e-9 * self.duration
        outside = ~((t >= -slack) & (t <= self.duration + slack))
        if outside.any():
            raise ValueError(
                f"{self._title} lasts from 0 to {self.duration:.6g} s and has no value at "
                f"t = {t[outside][0]:.6g} s: shorten the run or give a longer one"
            )
        last = len(self.values) - 1
        x = np.clip(t / self.dt, 0.0, last)
        nearest = np.rint(x)
        x = np.where(np.abs(x - nearest) <= 8 * np.finfo(float).eps * (1 + x), nearest, x)
        left = np.floor(x).astype(np.intp)
        start, end = self.values[left], self.values[np.minimum(left + 1, last)]
        result: FloatArray = start + (x - left) * (end - start)
        return result if t.ndim else float(result)

    @property
    def _title(self) -> str:
        return f"the signal {self.name!r}" if self.name else "the signal"

    def resample(self, dt: float) -> Signal:
        """The signal sampled at every ``dt`` [s] by linear interpolation; a shorter remainder is cut.

        No filter is applied: frequencies above ``1 / (2 dt)`` are aliased.

        Raises:
            ValueError: When ``dt`` is not positive or exceeds the duration.
        """
        if not 0 < dt <= self.duration * (1 + 1e-9):
            raise ValueError(
                f"{self._title} of {self.duration:.6g} s cannot be resampled with dt = {dt} s: "
                "dt must be positive and not above the duration"
            )
        count = math.floor(self.duration / dt * (1 + 1e-9)) + 1
        return replace(self, dt=dt, values=self(dt * np.arange(count)))

    def detrend(self, order: int = 1) -> Signal:
        """The signal minus its least-squares polynomial of degree ``order``, 0 (the mean) to 3.

        Raises:
            ValueError: For another order, or when there are not more than ``order + 1`` samples.
        """
        count = len(self.values)
        if order not in (0, 1, 2, 3) or count <= order + 1:
            raise ValueError(
                f"the order of the trend must be 0, 1, 2 or 3 and at most {count - 2} for "
                f"{count} samples, but is {order}"
            )
        x = np.linspace(-1.0, 1.0, count)
        trend = legendre.legval(x, legendre.legfit(x, self.values, int(order)))
        return replace(self, values=self.values - trend)

    def integrate(self) -> Signal:
        """Integral from 0 by the trapezoidal rule, exact at the samples; m/s2 becomes m/s, m/s becomes m.

        The result is piecewise linear, so that twofold integration is of second order; for a prescribed
        motion resample the signal finely before.
        """
        areas = 0.5 * self.dt * (self.values[1:] + self.values[:-1])
        unit = _INTEGRATED.get(self.unit, f"{self.unit} s")
        return replace(self, values=np.concatenate(([0.0], np.cumsum(areas))), unit=unit)

    def scaled(self, factor: float) -> Signal:
        """The signal times ``factor`` [-]."""
        return replace(self, values=factor * self.values)

    def cut(self, duration: float) -> Signal:
        """The first ``duration`` [s] of the signal, up to the first sample at or after it.

        Raises:
            ValueError: When the duration is not positive or exceeds that of the signal.
        """
        if not 0 < duration <= self.duration * (1 + 1e-9):
            raise ValueError(f"{self._title} of {self.duration:.6g} s cannot be cut to {duration} s")
        count = math.ceil(min(duration, self.duration) / self.dt * (1 - 1e-9)) + 1
        return replace(self, values=self.values[:count])


def in_unit(name: str, signal: Signal, unit: str | None) -> Signal:
    """The signal in an SI unit, where its own is a known one; others are taken as they are.

    Args:
        name: What the signal is for, for messages.
        signal: The signal.
        unit: The SI unit that is needed; None for any.

    Raises:
        ValueError: A signal of another quantity.
    """
    plain, needed = _plain(signal.unit), f"what is needed is in {unit}"
    for own, sizes in _KNOWN.items():
        if plain not in sizes:
            continue
        if unit not in (None, own):
            hint = ", which integrate() gives" if _INTEGRATED.get(own) == unit else ""
            raise ValueError(
                f"{name}: {signal._title} is in {signal.unit}, but {needed}{hint}; where its samples are, "
                f"say Signal(..., unit={unit!r})"
            )
        size = sizes[plain]
        if size is None and unit is not None:
            raise ValueError(
                f"{name}: {signal._title} is in {signal.unit}, but {needed}: scale it, and say "
                f"unit={unit!r}; in a model in other units than SI say unit=''"
            )
        if size is None or size == 1.0:
            return signal
        return replace(signal, values=size * signal.values, unit=own)
    return signal


def read(path: str | Path) -> Signal:
    """Read an acceleration [m/s2] from a file ``.AT2`` (:func:`read_at2`) or ``.csv`` (:func:`read_csv`).

    Raises:
        FileNotFoundError: No such file.
        ValueError: Another suffix, or a file of another format.
    """
    readers = {".at2": read_at2, ".csv": read_csv}
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise ValueError(f"{str(path)!r}: a record is a PEER file .AT2 or a table .csv of times and values")
    return reader(path)


def read_at2(path: str | Path) -> Signal:
    """Read a PEER accelerogram.

    The header ends with the line ``NPTS= n, DT= x SEC`` (in older files ``n x NPTS, DT``) and states the
    units: ``IN UNITS OF G``, ``The units are (g)``, or cm/s2 or m/s2 instead of g. The values follow in any
    number of columns. 1 g = 9.80665 m/s2.

    Returns:
        The acceleration [m/s2], with the name of the file.

    Raises:
        FileNotFoundError: No such file.
        ValueError: Another format, missing or unknown units, a count other than NPTS, or a value that is not
            a finite number.
    """
    text, where = _text(path)
    sizes = next((match for pattern in _SIZES if (match := pattern.search(text))), None)
    if sizes is None:
        raise ValueError(f"{where} is no PEER record: it has no line 'NPTS= n, DT= x SEC'")
    lines = text.split("\n")
    first = text.count("\n", 0, sizes.end()) + 1
    units = _UNITS.search("\n".join(lines[:first]))
    if units is None:
        raise ValueError(
            f"{where} does not name its units: its header needs 'IN UNITS OF G' or "
            "'The units are (g)' (or cm/s2, m/s2)"
        )
    factor = _factor(units[1], where)
    values = [
        _number(word, where, number)
        for number, line in enumerate(lines[first:], first + 1)
        for word in line.split()
    ]
    if len(values) != int(sizes[1]):
        raise ValueError(f"{where} announces NPTS= {sizes[1]}, but holds {len(values)} values")
    return _signal(path, float(sizes[2]), factor * np.array(values))


def read_csv(path: str | Path) -> Signal:
    """Read a table of two columns separated by a comma: times [s] and accelerations.

    Times are equidistant from 0 on, to 1e-6 of the step. The first line may be a header; accelerations are
    in m/s2 unless it states g, cm/s2 or m/s2 in brackets, as in ``t [s], a [g]``. Lines that start with
    ``#`` are comments.

    Returns:
        The acceleration [m/s2], with the name of the file.

    Raises:
        FileNotFoundError: No such file.
        ValueError: Another format, or times that do not increase in equal steps from 0.
    """
    text, where = _text(path)
    rows = [
        (number, [word.strip() for word in line.split(",")])
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.startswith("#")
    ]
    factor = 1.0
    if rows and not _is_number(rows[0][1][0]):
        header = rows.pop(0)[1]
        unit = _BRACKETS.search(header[-1])
        factor = _factor(unit[1], where) if unit else 1.0
    for number, words in rows:
        if len(words) != 2:
            raise ValueError(
                f"{where}, line {number}: a time and a value separated by a comma are expected, "
                f"but there are {len(words)} columns"
            )
    if len(rows) < 2:
        raise ValueError(
            f"{where} is no record: it has {len(rows)} rows of times and values, at least two are needed"
        )
    table = np.array([[_number(word, where, number) for word in words] for number, words in rows])
    return _signal(path, _step(table[:, 0], [number for number, _ in rows], where), factor * table[:, 1])


def _step(t: FloatArray, lines: list[int], where: str) -> float:
    """Step of equidistant times ``t``, shape (n,) [s], from 0 on; ``lines`` (n,) are their line numbers."""
    backward = np.flatnonzero(np.diff(t) <= 0)
    if len(backward):
        raise ValueError(f"{where}, line {lines[backward[0] + 1]}: the time does not increase")
    step = (t[-1] - t[0]) / (len(t) - 1)
    if abs(t[0]) > 1e-6 * step:
        raise ValueError(f"{where} starts at t = {t[0]:.6g} s: shift its times so that the first is 0")
    uneven = np.flatnonzero(np.abs(t - step * np.arange(len(t))) > 1e-6 * step)
    if len(uneven):
        raise ValueError(
            f"{where}, line {lines[uneven[0]]}: the times are not equidistant "
            f"(mean step {step:.6g} s): resample the record first"
        )
    return float(step)


def _text(path: str | Path) -> tuple[str, str]:
    """Text of a file, and its name for messages."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"the record {str(path)!r} does not exist")
    return Path(path).read_text(encoding="utf-8-sig", errors="replace"), repr(str(path))


def _factor(unit: str, where: str) -> float:
    """Factor from ``unit`` to m/s2."""
    plain = _plain(unit)
    if plain not in _IN_M_PER_S2:
        raise ValueError(f"{where}: the unit {unit!r} is no known one of acceleration (g, m/s2, cm/s2)")
    return _IN_M_PER_S2[plain]


def _plain(unit: str) -> str:
    """A unit in small letters without powers' signs."""
    return re.sub(r"\*\*|\^|\s", "", unit.lower()).replace("sec", "s").replace("/s/s", "/s2")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number(word: str, where: str, line: int) -> float:
    if not (_is_number(word) and math.isfinite(float(word))):
        raise ValueError(f"{where}, line {line}: {word!r} is no finite number")
    return float(word)


def _signal(path: str | Path, dt: float, values: FloatArray) -> Signal:
    try:
        return Signal(dt, values, unit="m/s2", name=Path(path).stem)
    except ValueError as error:
        raise ValueError(f"{str(path)!r}: {error}") from None

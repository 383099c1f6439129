"""A measured number, what it is compared with, and whether it fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Verdict:
    """A measured number against an expected one; None where nothing was measured."""

    words: str  #: The claim on a run, or how the number of a claim was measured.
    measured: float | None
    expected: float | None
    tolerance: float | None
    reproduced: bool | None  #: Whether it fits; None where no run can decide it.
    #: ``=`` within the tolerance of what is expected, ``<=`` its magnitude at most that far above it, ``>=``
    #: at most that far below, ``>`` strictly; None where ``words`` say.
    relation: str | None = None

    @classmethod
    def equal(cls, words: str, measured: float, expected: float, tolerance: float) -> Verdict:
        """Measured within ``tolerance`` (absolute) of what is expected."""
        return cls.of("=", words, measured, expected, tolerance)

    @classmethod
    def below(cls, words: str, measured: float, limit: float) -> Verdict:
        """Measured magnitude at most ``limit``."""
        return cls.of("<=", words, measured, limit)

    @classmethod
    def above(cls, words: str, measured: float, limit: float) -> Verdict:
        """Measured larger than ``limit``."""
        return cls.of(">", words, measured, limit)

    @classmethod
    def undecided(cls, words: str) -> Verdict:
        """Nothing that runs can decide, or a run that failed."""
        return cls(words, None, None, None, None)

    @classmethod
    def of(cls, relation: str, words: str, measured: Any, bound: float, tolerance: float = 0.0) -> Verdict:
        """Compare by a relation with an expected value or bound; of several numbers the worst fit decides."""
        value, bound, tolerance = worst(relation, measured, bound), float(bound), float(tolerance)
        if relation == "<=":
            return cls(words, value, 0.0, bound, abs(value) <= bound, relation)
        fits = {"=": abs(value - bound) <= tolerance, ">": value > bound, ">=": value >= bound - tolerance}
        return cls(words, value, bound, tolerance, fits[relation], relation)

    def only_if(self, condition: bool) -> Verdict:
        """The verdict, reproduced only under a further condition."""
        return replace(self, reproduced=bool(self.reproduced and condition))

    def row(self, name: str) -> dict[str, Any]:
        """The verdict as JSON holds it, the words under a name; what is not finite is None."""
        numbers = {n: getattr(self, n) for n in ("measured", "expected", "tolerance")}
        finite = {n: None if v is None or not math.isfinite(v) else v for n, v in numbers.items()}
        reproduced = None if self.reproduced is None else bool(self.reproduced)
        return {name: self.words, **finite, "reproduced": reproduced}


Verdicts = Iterable[Verdict]


def worst(relation: str, measured: Any, expected: float = 0.0) -> float:
    """The number that fits worst: a nan, else the one of largest magnitude, the smallest, the farthest."""
    values = list(measured.values()) if isinstance(measured, Mapping) else measured
    array = np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()
    badness = {"<=": np.abs(array), "=": np.abs(array - expected)}.get(relation, -array)
    return float(array[np.argmax(badness)])


def listing(measured: Mapping[str, float] | Sequence[float] | NDArray) -> str:
    """Numbers with their names: ``"0.1 with cd-lagrange, 0.2 with moreau-jean"``; or without, in a row."""
    if isinstance(measured, Mapping):
        return ", ".join(f"{value:.3g} with {name}" for name, value in measured.items())
    return ", ".join(f"{value:.3g}" for value in np.ravel(measured))

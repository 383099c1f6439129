"""Values of the coefficients and constants of forms at one moment, for matrices that are assembled later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import ufl

from ..._types import FloatArray


class StoredCoefficients:
    """The values that the Functions and Constants in forms have now.

    Args:
        forms: UFL forms; other objects, as matrices, have none.
    """

    def __init__(self, forms: Iterable[Any]) -> None:
        known = [form for form in forms if isinstance(form, ufl.Form)]
        every = {id(each): each for form in known for each in (*form.coefficients(), *form.constants())}
        self._given = list(every.values())
        self._values = [_array(each).copy() for each in self._given]

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Give them these values within a ``with`` statement."""
        now = [_array(each).copy() for each in self._given]
        self._set(self._values)
        try:
            yield
        finally:
            self._set(now)

    def _set(self, values: list[FloatArray]) -> None:
        for each, array in zip(self._given, values):
            _array(each)[...] = array


def _array(given: Any) -> FloatArray:
    """The array of a Function or a Constant."""
    array: FloatArray = given.x.array if hasattr(given, "x") else given.value
    return array

"""Places, areas and pressures of the contact points of a run."""

from __future__ import annotations

import functools
from collections.abc import MutableMapping

import numpy as np

from .._types import AnyArray, FloatArray
from ..contact.pressure import Facets

#: Names in the file of a result.
_NAMES = ("places", "areas", "pressure")


class ContactPoints:
    """The contact points of a run, in the order of its columns; pressures are computed when asked for.

    Args:
        places: Places at zero displacement, shape (p, gdim) [m], or None.
        facets: The facets to which they belong, or None.
        samples: Impulses, gaps and covered parts, shape (n, p), and times in which the impulses act, shape
            (n,): arguments of :meth:`.PointFacets.evaluate`.

    Attributes:
        places: As given.
    """

    def __init__(
        self,
        places: FloatArray | None,
        facets: Facets | None,
        samples: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    ) -> None:
        self.places, self._facets, self._samples = places, facets, samples

    @functools.cached_property
    def areas(self) -> FloatArray | None:
        """Areas at the last sample, shape (p,) [m2]; None where they are unknown."""
        if self._facets is None:
            return None
        areas: FloatArray = self._facets.evaluate(*(each[-1:] for each in self._samples))[1][0]
        return areas

    @functools.cached_property
    def pressure(self) -> FloatArray | None:
        """Pressures of all samples, shape (n, p) [Pa]; None where areas are unknown."""
        return None if self._facets is None else self._facets.evaluate(*self._samples)[0]

    def arrays(self) -> dict[str, AnyArray]:
        """Arrays for the file of a result, those that are known."""
        found = {f"_{name}": getattr(self, name) for name in _NAMES}
        return {name: values for name, values in found.items() if values is not None}

    @classmethod
    def from_arrays(cls, arrays: MutableMapping[str, AnyArray]) -> ContactPoints:
        """Those of :meth:`arrays`, which are taken out of the mapping."""
        points = cls(None, None, (np.zeros((0, 0)),) * 3 + (np.zeros(0),))
        for name in _NAMES:
            points.__dict__[name] = arrays.pop(f"_{name}", None)
        return points

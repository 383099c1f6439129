"""Names of surfaces, and the offsets of their facets, as a contact of surfaces is given them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ... import arguments
from ..._types import FloatArray
from ...systems.continuum import Continuum
from .facets import AllFacets

#: Largest skin over the smallest height of a cell.
_THICKEST = 0.25


def checked(body: Continuum, surfaces: tuple[str, ...], *, tie: bool, self_contact: bool) -> tuple[str, ...]:
    """Names of the surfaces in the order of their tags; none for all outer facets. Collective.

    Raises:
        ValueError: No solid, a list in the place of names, unknown ones, a name twice, too few for a tie.
    """
    if not isinstance(body, Continuum):
        raise ValueError(f"the first argument must be the body, a Solid, but is {arguments.shown(body)}")
    for name in surfaces:
        if isinstance(name, (list, tuple, set)):
            apart = ", ".join(map(repr, name))
            raise ValueError(
                f"surfaces are arguments of their own, not a list: SurfaceContact(body, {apart}, ...)"
            )
    if tie and (len(surfaces) < 2 or self_contact):
        raise ValueError(
            f"a tie takes two surfaces or more, but these are {list(surfaces)}: name those of both parts"
            if len(surfaces) < 2
            else "a tie glues different surfaces: leave self_contact out"
        )
    for name in surfaces:
        body.named.facets(name)
    if len(set(surfaces)) < len(surfaces):
        raise ValueError(
            f"a surface is named twice in {list(surfaces)}: give each name once, with self_contact=True for "
            "contact of the surfaces with themselves too"
        )
    return tuple(sorted(surfaces, key=lambda name: _first_tag(body, name)))


def _first_tag(body: Continuum, name: str) -> int:
    """Smallest tag of the facets of a surface; 0 for the whole boundary, which needs no tag."""
    every = {**body.named.names, **body.named.groups}
    return min(body.named.tags(name, body.gdim - 1)) if not isinstance(name, str) or name in every else 0


def named_skins(
    body: Continuum, skin: float | Mapping[str, float], names: tuple[str, ...]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Skin of each name and, at the end, of facets without one [m], and the names to collect. Collective.

    Raises:
        ValueError: Neither a number of at least 0 nor a mapping of names of the surfaces to such numbers.
    """
    given = dict(skin) if isinstance(skin, Mapping) else dict.fromkeys(names, skin)
    others = 0.0 if isinstance(skin, Mapping) else skin
    must = "be an offset of at least 0 m, or a mapping of names to such"
    values = {name: arguments.number("skin", value, must, least=0.0) for name, value in given.items()}
    others = arguments.number("skin", others, must, least=0.0)
    if names and (unknown := [name for name in given if name not in names]):
        raise ValueError(f"skin names {unknown}, which are no surfaces of this contact: {list(names)}")
    for name in given:
        body.named.facets(name)
    named = names or tuple(given)
    return np.array([*(values.get(name, 0.0) for name in named), others]), named


def facet_skins(facets: AllFacets, skins: FloatArray) -> FloatArray | None:
    """Skin of each facet, shape (facets,) [m]; None where there is none.

    Raises:
        ValueError: More than a quarter of the smallest height of a cell.
    """
    if not skins.any():
        return None
    most = _THICKEST * float(facets.height[facets.surface >= 0].min())
    if skins.max() > most:
        raise ValueError(
            f"a skin of {skins.max():.3g} m is more than a quarter of the smallest height of a cell at the "
            f"surfaces, {4.0 * most:.3g} m: give at most {most:.3g} m"
        )
    return np.asarray(skins[facets.name])

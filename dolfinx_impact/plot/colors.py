"""Colour scales of bodies: one colour map for all cells, or one for each part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from .drawing import pyplot, unit

#: Number of colours in the legend of an animation.
LEVELS = 64
#: End of the colour map of unsigned fields, light enough for visible edges.
_DARKEST = 0.78
#: Width of a part of the colour bar, whose name stands upright below it [inch].
_NAME = 0.17
#: Colours of the parts from zero to the largest value: equally light, and different from the force arrows.
RAMPS = (
    ("#9ccbea", "#3f8fc9", "#17539c", "#0b1f56"),
    ("#ffd77f", "#f0a52b", "#b8640f", "#5c2606"),
    ("#a5dcb0", "#4cae6b", "#1a7844", "#063f26"),
    ("#d3bfe8", "#9b76c9", "#663a9a", "#331355"),
    ("#d5d5d5", "#9a9a9a", "#636363", "#2b2b2b"),
)


class Colors(NamedTuple):
    """Colour scale of a field.

    Attributes:
        name, unit: Name and unit of the field.
        low, top: Limits of the scale.
        parts: Names of the parts with colours of their own; none for one scale of all cells.
    """

    name: str
    unit: str
    low: float
    top: float
    parts: tuple[str, ...] = ()

    def map(self, levels: int = 256, part: int | None = None) -> Any:
        """Colour map of all cells, or of a part by its number.

        That of all cells is diverging for signed fields, else perceptually uniform without the dark end.
        """
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap

        if part is not None:
            ramp = LinearSegmentedColormap.from_list("part", RAMPS[part])
            return ListedColormap(ramp(np.linspace(0.0, 1.0, levels)))
        full = pyplot().get_cmap("coolwarm" if self.low < 0 else "viridis_r")
        end = 1.0 if self.low < 0 else _DARKEST
        return ListedColormap(full(np.linspace(0.0, end, levels)))

    def palette(self) -> FloatArray:
        """Colours of the legend and of shaded bodies, which a GIF must contain, shape (n, 3), 0 to 255."""
        if not self.parts:
            bright = np.asarray(self.map(LEVELS).colors)[:, :3]
            return np.vstack([255 * bright, *(255 * light * bright[::2] for light in (0.85, 0.7))])
        # Half as many of each part: the others are left for shaded bodies.
        ramps = [np.asarray(self.map(LEVELS // 2, i).colors)[:, :3] for i in range(len(self.parts))]
        return 255 * np.vstack(ramps)

    def add_bar(self, figure: Any, levels: int = 256, **options: Any) -> None:
        """Add the colour bar, of as many levels, to a figure; with parts, half as many for each."""
        plt = pyplot()
        factor, name = unit(max(-self.low, self.top), self.unit) if self.unit else (1.0, "-")
        low, top = factor * self.low, factor * self.top
        shades = plt.cm.ScalarMappable(plt.Normalize(low, top), self.map(levels))
        if self.parts and "ax" in options:  # wide enough for the names below
            height = options.get("shrink", 1.0) * figure.get_size_inches()[1]
            options["aspect"] = min(20.0, height / (_NAME * len(self.parts)))
        bar = figure.colorbar(shades, label=f"{self.name} [{name}]", **options)
        if not self.parts:
            return
        count = len(self.parts)
        columns = np.stack([np.asarray(self.map(levels // 2, i).colors) for i in range(count)], axis=1)
        bar.solids.set_visible(False)
        bar.ax.imshow(
            columns, extent=(0, 1, low, top), origin="lower", aspect="auto", interpolation="nearest"
        )
        bar.ax.set_xticks((np.arange(count) + 0.5) / count, self.parts, rotation=90, fontsize=8)
        bar.ax.tick_params(axis="x", length=0)

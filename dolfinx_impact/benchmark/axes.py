"""Axes of figures: with a grid, in a figure of a size, and with legends in them or below them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plot import style as style  # figures import it from here


def panels(figure: Any, *shape: int, size: tuple[float, float] | None = None, **options: Any) -> Any:
    """Axes with a grid, options as of matplotlib's ``subplots``, in a figure of this size [in]."""
    figure.set_layout_engine("constrained")
    axes = figure.subplots(*shape, **options)
    for ax in np.ravel(axes):
        ax.grid(alpha=0.3)
    if size is not None:
        figure.set_size_inches(*size)
    return axes


def legends(axes: Any, **look: Any) -> None:
    """A legend in all of the axes, options as of matplotlib's ``legend``."""
    for ax in np.ravel(axes):
        ax.legend(**look)


def legend_below(figure: Any, columns: int = 2, **look: Any) -> None:
    """One legend below all axes, of the curves of the first."""
    curves = figure.axes[0].get_legend_handles_labels()
    figure.legend(*curves, loc="outside lower center", ncols=columns, frameon=False, **look)

"""Figures of the benchmark, drawn and read."""

import pytest


def paper(**how):
    """An empty figure; the test is skipped without matplotlib."""
    return pytest.importorskip("matplotlib.figure").Figure(**{"figsize": (9, 6), **how})


def units(axes):
    """Whether both axes of all panels have units."""
    return all("[" in ax.get_xlabel() and "[" in ax.get_ylabel() for ax in axes)


def legends(figure):
    """Whether the figure or each of its panels has a legend."""
    return bool(figure.legends) or all(ax.get_legend() is not None for ax in figure.axes)


def drawn(figures, id, runs):
    """The figure of that id, whose panels have units and legends."""
    figure = paper()
    {entry.id: entry for entry in figures}[id].draw(runs, figure)
    assert units(figure.axes) and legends(figure)
    return figure


def curves(ax):
    """Abscissas and ordinates of the lines of a panel by their names."""
    return {line.get_label(): line.get_xydata().T for line in ax.lines}

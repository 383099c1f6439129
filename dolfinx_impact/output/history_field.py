"""State of materials with history at the nodes of a solid, and their von Mises stress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import basix.ufl
import numpy as np
import ufl
from dolfinx import fem

from .._types import FloatArray
from ..materials import HistoryLaw, J2Plasticity
from ..systems.continuum import Continuum
from ..systems.elements.history import History, QuadraturePoints
from .nodal_averages import CellMeans, NodalAverages, PointValues

#: The variables of the state behind fields.
VARIABLES = {"plastic_strain": "equivalent_plastic_strain", "yield_stress": "yield_stress"}


class HistoryField:
    """A scalar of the state of a material at the nodes of a solid.

    Averages over the quadrature points of each cell, then over the cells at a node that have the variable,
    both weighted by undeformed volumes.

    Args:
        solid: A :class:`.Solid` of a material with history.
        name: The variable, such as ``"equivalent_plastic_strain"``, ``"yield_stress"`` or ``"dissipated"``.

    Attributes:
        volume: See :class:`.NodalAverages`.

    Raises:
        ValueError: A body without history, an unknown variable, one that is no scalar.
    """

    def __init__(self, solid: Continuum, name: str) -> None:
        history: History | None = getattr(solid, "history", None)
        if history is None:
            raise ValueError(
                f"this {type(solid).__name__} has no history, hence no {name!r}: that is of laws that yield, "
                "such as J2Plasticity, and of other laws with history"
            )
        if not has_scalar(solid, name):
            shape = history.values(name)[0][1].shape[2:]
            raise ValueError(f"a field is one number at a point, but {name!r} has the shape {shape}")
        self._name, self._history = name, history
        points = history.points_with(name)
        self._means = [CellMeans(solid, each) for each in points]
        self._averages = NodalAverages(solid, [each.cells for each in points])
        self.volume = self._averages.volume

    def __call__(self) -> FloatArray:
        """The variable at the time of the history, shape (local nodes,), with updated ghosts. Collective.

        It is 0 at nodes without cells of such a material.
        """
        values = (each for _, each in self._history.values(self._name))
        return self._averages([mean(each) for mean, each in zip(self._means, values)])


def has_scalar(body: Any, name: str) -> bool:
    """Whether a material of the body has a scalar state variable of this name."""
    history: History | None = getattr(body, "history", None)
    if history is None or name not in history.names:
        return False
    return all(values.ndim == 2 for _, values in history.values(name))


def von_mises_at_points(
    body: Continuum, points: QuadraturePoints, F: Any, scalar: Any
) -> Callable[[], FloatArray]:
    """Function of the von Mises stress at the points, shape (cells, points) [Pa], at the state then.

    Args:
        body: The body.
        points: The points of a material with history.
        F: Its deformation gradient, a UFL tensor.
        scalar: Function of the von Mises stress [Pa] of a law at F, a UFL scalar.
    """
    history: History = body.history
    if isinstance(points.law, J2Plasticity):
        gradients = PointValues(body, F, points.cells, points.places)
        k = _number(history, points, "plastic_metric")
        mu = points.law.shear_modulus
        return lambda: _of_metric(gradients(), history.values("plastic_metric")[k][1], mu)
    state = _StateFunctions(body, points)
    found = scalar(_Held(points.law, state.functions))
    values = PointValues(body, found, points.cells, points.places)

    def evaluate() -> FloatArray:
        state.update()
        return values()

    return evaluate


def _number(history: History, points: QuadraturePoints, name: str) -> int:
    """Where the values of a material stand among those of a variable."""
    return [each.cells is points.cells for each in history.points_with(name)].index(True)


def _of_metric(F: FloatArray, metric: FloatArray, mu: float) -> FloatArray:
    """Von Mises stress of ``mu dev ln(F G F^T) / det F`` [Pa].

    Args:
        F: Deformation gradients, shape (cells, points, 3, 3).
        metric: Six entries of G, shape (cells, points, 6).
        mu: The shear modulus [Pa].
    """
    G = metric[..., [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
    squares = np.linalg.eigvalsh(F @ G @ np.swapaxes(F, -1, -2))
    # Of an element inside out, at the end of a run that has failed, there is no logarithm.
    strains = np.log(np.where(squares > 0, squares, np.nan)) / 2
    deviator = strains - strains.mean(axis=-1, keepdims=True)
    stress: FloatArray = np.sqrt(6.0) * mu * np.linalg.norm(deviator, axis=-1) / np.linalg.det(F)
    return stress


class _Held:
    """A law with history at a state that is held: its stress is that of an elastic law."""

    linear = False

    def __init__(self, law: HistoryLaw, state: dict[str, Any]) -> None:
        self._law, self._state = law, state

    def stress(self, F: Any) -> Any:
        """``P = dW/dF``, a UFL tensor [Pa]."""
        at = ufl.variable(F)
        return ufl.diff(self._law.energy_density(at, self._state), at)


class _StateFunctions:
    """Functions with the state of a material at its points.

    Attributes:
        functions: The functions, by the name of the variable.
    """

    def __init__(self, body: Continuum, points: QuadraturePoints) -> None:
        self._history, self._points, self.functions = body.history, points, {}
        cell = body.mesh.basix_cell()
        for name, value in points.law.initial_state.items():
            element = basix.ufl.quadrature_element(
                cell, value_shape=value.shape, points=points.places, weights=points.weights
            )
            self.functions[name] = fem.Function(fem.functionspace(body.mesh, element))

    def update(self) -> None:
        """Take the state of now."""
        cells = self._points.cells
        for name, function in self.functions.items():
            _, values = self._history.values(name)[_number(self._history, self._points, name)]
            dofmap = function.function_space.dofmap
            target = function.x.array.reshape(-1, dofmap.bs)
            target[np.asarray(dofmap.list)[cells]] = values.reshape(*values.shape[:2], dofmap.bs)

"""Laws with history: a state at every quadrature point, updated once in every step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import ufl

from .._types import FloatArray
from ..arguments import shown
from .law import THIN, checked_state


class HistoryLaw:
    """A law whose stress depends on the history of the deformation, by a state at every quadrature point.

    Derive a class from it and define ``state``, :meth:`update` and :meth:`energy_density`, in UFL; also
    :meth:`dissipation`, without which the energy that is lost stays unknown. The stress is ``P = dW/dF`` with
    the new state held: laws of standard dissipative materials (Halphen, Nguyen, J. Mecanique 14 (1975)). A
    body needs a C compiler, and an explicit scheme.

    Example:
        A Maxwell branch beside an elastic law, both of small strains::

            class Maxwell(HistoryLaw):
                state = {"viscous": np.zeros((3, 3))}

                def energy_density(self, F, state):
                    strain = ufl.sym(F) - ufl.Identity(3)
                    elastic = ufl.dev(strain - state["viscous"])
                    return ufl.inner(strain, strain) * 1e9 + ufl.inner(elastic, elastic) * 2e9

                def update(self, F, state, h):
                    q = ufl.exp(-h / 1e-4)  # relaxation time 0.1 ms
                    strain = ufl.dev(ufl.sym(F))
                    return {"viscous": q * state["viscous"] + (1 - q) * strain}

    Attributes:
        state: Names of the variables of a point, with their values at the start: numbers or arrays.
        splits: Whether there are ``volumetric_energy(J)`` and ``isochoric_energy(F, state)``, which add up to
            the stored energy, as ``Solid(locking="nodal-pressure")`` needs: the latter and :meth:`update`
            depend on ``(det F)^(-1/3) F`` only.
        yields: Whether elements are kept from locking by default.
        wave_modulus: P-wave modulus at rest [Pa], or None.
        poisson_ratio: Poisson's ratio at rest, or None.
    """

    state: Mapping[str, Any] = {}
    linear = False
    has_energy = True
    splits = False
    yields = False
    wave_modulus: float | None = None
    poisson_ratio: float | None = None

    def energy_density(self, F: Any, state: Any) -> Any:
        """Stored energy per reference volume [J/m3] of the 3x3 ``F`` and a state, a UFL scalar."""
        raise NotImplementedError(f"{type(self).__name__} has no energy_density(F, state)")

    def update(self, F: Any, state: Any, h: Any) -> Mapping[str, Any]:
        """The new state by name, in UFL.

        Args:
            F: Deformation gradient at the end of the step, 3x3.
            state: The state at its start, by name.
            h: Time of the step [s], 0 in the first evaluation of a run, and where forces or energies are
                asked for again at its end.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update(F, state, h)")

    def dissipation(self, F: Any, old: Any, new: Any, h: Any) -> Any:
        """Work dissipated in a step per reference volume [J/m3], a UFL scalar; 0 by default.

        Args:
            F: Deformation gradient at the end of the step, 3x3.
            old, new: The states at both ends of it, by name.
            h: Time of the step [s].
        """
        return ufl.as_ufl(0.0)

    def reduced(self, state: str) -> HistoryLaw:
        """The law itself in 3D, plane strain and axisymmetry; a ValueError in other states."""
        refuse_thin(self, state)
        return self

    @property
    def initial_state(self) -> dict[str, FloatArray]:
        """Values of the state at the start, by name.

        Raises:
            ValueError: No state, or values that are not finite numbers.
        """
        example = "state = {'strain': np.zeros((3, 3)), 'time': 0.0}"
        if not isinstance(self.state, Mapping) or not self.state:
            raise ValueError(f"{type(self).__name__} has no state: give names and values, as {example}")
        found = {}
        if "dissipated" in self.state:
            raise ValueError(
                f"{type(self).__name__}: the name 'dissipated' is that of the work of dissipation(): give "
                "the variable of the state another one"
            )
        for name, value in self.state.items():
            try:
                found[name] = np.array(np.nan if np.iscomplexobj(value) else value, dtype=np.float64)
            except (TypeError, ValueError):
                found[name] = np.array(np.nan)
            if not np.all(np.isfinite(found[name])):
                raise ValueError(
                    f"{type(self).__name__}: the state {name!r} must have finite numbers at the start, as "
                    f"{example}, but is {value!r}"
                )
        return found

    def updated(self, F: Any, state: Any, h: Any) -> dict[str, Any]:
        """The new variables by :meth:`update`, in the order of the state.

        Raises:
            ValueError: A variable that is missing, unknown, not in UFL, or of another shape.
        """
        new = self.update(F, state, h)
        if not isinstance(new, Mapping) or set(new) != set(self.state):
            given = ", ".join(map(repr, new)) if isinstance(new, Mapping) else repr(new)
            raise ValueError(
                f"update() of {type(self).__name__} must give {', '.join(map(repr, self.state))} by name, "
                f"but gave {given or 'nothing'}"
            )
        return {
            name: _in_ufl(
                new[name],
                np.shape(value),
                f"update() of {type(self).__name__} must give {name!r} with the shape {np.shape(value)} of "
                "its value at the start, in UFL",
            )
            for name, value in self.state.items()
        }

    def scalar(self, method: str, *args: Any) -> Any:
        """The energy or dissipation that a method gives, a UFL scalar.

        Raises:
            ValueError: A value that is none.
            NotImplementedError: A law without the method.
        """
        function = getattr(self, method, None)
        if function is None:
            raise NotImplementedError(
                f"{type(self).__name__} has no {method}(), which laws with splits = True need"
            )
        return _in_ufl(
            function(*args), (), f"{method}() of {type(self).__name__} must give a scalar [J/m3], in UFL"
        )


class Variables(dict[str, Any]):
    """The state of a point by name, for the methods of a law."""

    def __missing__(self, name: object) -> Any:
        raise ValueError(
            f"the law has no state {name!r}, only {', '.join(map(repr, self))}: give every variable a value "
            "at the start, in the attribute state of the class"
        )


def _in_ufl(value: Any, shape: tuple[int, ...], must: str) -> Any:
    """A value in UFL; a ValueError if it is none, or has another shape."""
    try:
        found = ufl.as_ufl(value)
    except ValueError:
        raise ValueError(f"{must}, but gave {shown(value)}") from None
    if found.ufl_shape != shape:
        raise ValueError(f"{must}, but gave the shape {found.ufl_shape}")
    return found


def refuse_thin(law: Any, state: str) -> None:
    """Raise a ValueError in states with stress-free directions."""
    if checked_state(state) in THIN:
        raise ValueError(
            f"{law!r} is not for the hypothesis {state!r}: the stretch of the stress-free direction would be "
            "a state of its own; take a plane-strain, axisymmetric or 3D body"
        )

"""User-defined schemes by ``module:Class``, and those of the catalogue by name."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from .. import arguments
from ..contact.base import Contact
from ..systems.system import System
from .base import Integrator
from .catalogue import SCHEMES
from .catalogue_entry import Scheme
from .hati import HATI


def find_scheme(name: str) -> Scheme:
    """The scheme of the catalogue, or the class that ``module:Class`` names.

    The module is searched on the Python path and in the working directory.

    Raises:
        ValueError: Neither; a class without ``step``.
    """
    if ":" in name:
        return _own(name)
    if name not in SCHEMES:
        raise ValueError(
            f"unknown scheme {name!r}; {arguments.nearest(name, SCHEMES)}the schemes are: "
            f"{', '.join(SCHEMES)}, and a class of your own as "
            "module:Class"
        )
    return SCHEMES[name]


@functools.cache
def _own(name: str) -> Scheme:
    kind = _load(name)
    summary = (kind.__doc__ or "").strip().partition("\n")[0]
    if issubclass(kind, HATI):
        return replace(SCHEMES["hati"], make=kind, paper=name, equations=summary)

    def make(
        system: System, dt: float, contact: Contact | None = None, *, allow_unstable: bool = False
    ) -> Integrator:
        takes = "allow_unstable" in inspect.signature(kind).parameters
        options = {"allow_unstable": allow_unstable} if takes else {}
        made = kind(system, dt, contact=contact, **options)
        return made if _follows_the_base(kind) else _StepperAdapter(system, dt, contact, made)

    return Scheme(
        make,
        paper=name,
        equations=summary,
        explicit=bool(getattr(kind, "explicit", True)),
        critical_ratio=getattr(kind, "critical_ratio", Integrator.critical_ratio),
        courant=getattr(kind, "courant", None),
    )


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"a scheme of your own is given as module:Class, not {name!r}")
    if "/" in module or module.endswith(".py"):
        dotted = module.removesuffix(".py").strip("./").replace("/", ".")
        raise ValueError(f"{module!r} is a file: name the module, as {dotted}:{attribute}")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        kind = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(f"cannot import the module of {name!r}: {error}") from None
    except AttributeError:
        raise ValueError(f"the module {module!r} has no class {attribute!r}") from None
    except SystemExit:
        raise ValueError(
            f"importing {module!r} ended the program (sys.exit): put what runs there under "
            "if __name__ == '__main__'"
        ) from None
    except Exception as error:  # whatever the user's module does at import
        raise ValueError(f"importing {module!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(kind, type):
        raise ValueError(f"{name!r} is no class but a {type(kind).__name__}")
    _check(kind, attribute)
    return kind


def _check(kind: Any, name: str) -> None:
    """Raise a ValueError unless the class can be constructed and has a step."""
    for method in ("start", "step"):
        if not callable(getattr(kind, method, None)):
            raise ValueError(
                f"{name} has no {method}(): derive it from dolfinx_impact.Integrator and write "
                "advance(), or write start(u0, v0, t0=0.0) and step()"
            )
    if issubclass(kind, Integrator) and kind.step is Integrator.step and kind.advance is Integrator.advance:
        raise ValueError(f"{name} has no step: write advance(), which makes one step of the scheme")
    arguments: tuple[Any, ...] = (None, 1.0)
    call = "system, dt, contact=None"
    options: dict[str, Any] = {"contact": None}
    if issubclass(kind, HATI):
        arguments = (None, None, 1.0)
        call = "fine, coarse, dt, contact=None, *, ratio, allow_unstable"
        options |= {"ratio": 1, "allow_unstable": False}
    try:
        inspect.signature(kind).bind(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"{name} must be made as {name}({call}): {error}") from None


def _follows_the_base(kind: Any) -> bool:
    return issubclass(kind, Integrator) and kind.step is Integrator.step


def as_integrator(stepper: Any) -> Integrator:
    """The integrator itself; another object that was started and has ``step``, as an integrator.

    Raises:
        ValueError: An object without the required attributes.
    """
    if isinstance(stepper, Integrator) and _follows_the_base(type(stepper)):
        return stepper
    missing = [name for name in ("system", "dt", "step") if not hasattr(stepper, name)]
    if missing:
        raise ValueError(
            f"a {type(stepper).__name__} cannot be run: it has no {', '.join(missing)}; derive it from "
            "dolfinx_impact.Integrator, or give it system, dt, contact, t, u, v, r and step()"
        )
    contact = getattr(stepper, "contact", None)
    return _StepperAdapter(stepper.system, stepper.dt, contact, stepper).adopt()


class _StepperAdapter(Integrator):
    """An object with ``start``, ``step``, ``t``, ``u``, ``v`` and ``r`` as an integrator.

    Its ``v_mean``, ``v_shift``, ``mass`` and ``r_t`` are used where it has them.
    """

    def __init__(self, system: System, dt: float, contact: Contact | None, inner: Any) -> None:
        super().__init__(system, dt, contact)
        self._inner = inner
        self.v_shift = float(getattr(inner, "v_shift", 0.0))
        self.mass = getattr(inner, "mass", "lumped")

    @property
    def v_mean(self) -> Any:
        """``v_mean`` of the object, by default its ``v``, shape (size,) [m/s]."""
        return np.asarray(getattr(self._inner, "v_mean", self._inner.v), dtype=np.float64)

    def v_mean_at(self, dofs: Any) -> Any:
        """See :attr:`v_mean`."""
        return self.v_mean[dofs]

    def adopt(self) -> _StepperAdapter:
        """Continue from the present state of the object."""
        self._read()
        self.t0, self.n = float(self._inner.t), 0
        return self

    def begin(self) -> None:
        """``start`` of the object."""
        self._inner.start(self.u.copy(), self.v.copy(), self.t0)
        self._read()

    def advance(self) -> None:
        """``step`` of the object.

        Raises:
            RuntimeError: A step that does not advance ``t`` by ``dt``.
        """
        self._inner.step()
        if not abs(self._inner.t - self.t) <= 1e-6 * self.dt:
            raise RuntimeError(f"after step {self.n} the scheme is at t = {self._inner.t}, not {self.t} s")
        self._read()

    def _read(self) -> None:
        needed = ("t", "u", "v", "r") if self.r.size else ("t", "u", "v")
        missing = [name for name in needed if not hasattr(self._inner, name)]
        if missing:
            raise RuntimeError(
                f"the {type(self._inner).__name__} has no {', '.join(missing)} after its start: it needs "
                "t, u, v, and r where there is a contact"
            )
        self.u[:], self.v[:] = self._inner.u, self._inner.v
        if self.r.size:
            self.r[:] = self._inner.r
        if self.contact is not None:
            self.contact_state = self.contact.now(self.t)
        if self.r_t.size and hasattr(self._inner, "r_t"):
            self.r_t[:] = self._inner.r_t

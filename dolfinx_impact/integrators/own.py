"""Schemes of your own by ``module:Class``, and names from the catalogue, resolved alike."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Any

from ..contact import Contact
from ..system import System
from .base import Integrator
from .catalogue import SCHEMES, Scheme


def find_scheme(name: str) -> Scheme:
    """The scheme of the catalogue, or the class that ``module:Class`` names.

    The module is looked for where Python finds modules, and in the working directory.

    Raises:
        ValueError: Neither; a class without ``step``.
    """
    if ":" in name:
        return _own(name)
    if name not in SCHEMES:
        raise ValueError(
            f"unknown scheme {name!r}; the schemes are: {', '.join(SCHEMES)}, and a class of your own as "
            "module:Class"
        )
    return SCHEMES[name]


@functools.cache
def _own(name: str) -> Scheme:
    kind = _load(name)

    def make(
        system: System, dt: float, contact: Contact | None = None, *, allow_unstable: bool = False
    ) -> Integrator:
        made = kind(system, dt, contact=contact)
        return made if _follows_the_base(kind) else _Borrowed(system, dt, contact, made)

    return Scheme(
        make,
        paper=name,
        equations=(kind.__doc__ or "").strip().partition("\n")[0],
        order="", conserves="", limit="",
        explicit=bool(getattr(kind, "explicit", True)),
        contact="own",
    )  # fmt: skip


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"a scheme of your own is given as module:Class, not {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        kind = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(f"cannot import the module of {name!r}: {error}") from None
    except AttributeError:
        raise ValueError(f"the module {module!r} has no class {attribute!r}") from None
    except Exception as error:  # whatever the user's module does at import
        raise ValueError(f"importing {module!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(kind, type):
        raise ValueError(f"{name!r} is no class but a {type(kind).__name__}")
    for method in ("start", "step"):
        if not callable(getattr(kind, method, None)):
            raise ValueError(
                f"{attribute} has no {method}(): derive it from dolfinx_impact.Integrator and write "
                "advance(), or write start(u0, v0, t0=0.0) and step()"
            )
    if issubclass(kind, Integrator) and kind.step is Integrator.step and kind.advance is Integrator.advance:
        raise ValueError(f"{attribute} has no step: write advance(), which makes one step of the scheme")
    return kind


def _follows_the_base(kind: Any) -> bool:
    return issubclass(kind, Integrator) and kind.step is Integrator.step


class _Borrowed(Integrator):
    """A class with ``start`` and ``step`` of its own, and ``t``, ``u``, ``v``, ``r``, as an integrator."""

    def __init__(self, system: System, dt: float, contact: Contact | None, inner: Any) -> None:
        super().__init__(system, dt, contact)
        self._inner = inner

    @property
    def v_mean(self) -> Any:
        """Its ``v_mean`` where it has one, else its ``v``."""
        return getattr(self._inner, "v_mean", self._inner.v)

    def v_mean_at(self, dofs: Any) -> Any:
        """See :attr:`v_mean`."""
        return self.v_mean[dofs]

    def begin(self) -> None:
        """Its ``start``."""
        self._inner.start(self.u.copy(), self.v.copy(), self.t0)
        self._read()

    def advance(self) -> None:
        """Its ``step``.

        Raises:
            RuntimeError: When that leaves ``t`` where it was.
        """
        self._inner.step()
        if not abs(self._inner.t - self.t) <= 1e-6 * self.dt:
            raise RuntimeError(f"after step {self.n} the scheme is at t = {self._inner.t}, not {self.t} s")
        self._read()

    def _read(self) -> None:
        self.u[:], self.v[:] = self._inner.u, self._inner.v
        r = getattr(self._inner, "r", None)
        if r is not None and self.r.size:
            self.r[:] = r

"""Old names of classes, functions, members and keywords: they work until version 0.3.0, with a warning.

Modules that moved are in :mod:`._moved`, the attribute ``time`` of contacts, an argument now, is in
:mod:`.contact.timeless`. Here are

- :data:`NAMES`, classes and functions by the modules that define or export them;
- :class:`RenamedMembers`, the base of classes with renamed methods and attributes;
- :class:`OldContactPoint`, the base of schemes, whose ``contact_point`` was two members;
- :func:`renamed_keywords`, for functions with renamed keywords;
- :func:`attributes_as_keywords`, for constructors with keywords that are attributes of the class now.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

_CONTACT = {"Bound": "DofBound"}
_OBSTACLES = {"Moving": "MovingObstacle", "Union": "UnionObstacle"}
_ROWS = {"Rows": "SparseRows"}
_WRITER, _BALANCE = {"Fields": "FieldWriter"}, {"Balance": "EnergyBalance"}
#: Old and new names by module below the package; "" is the package itself.
NAMES: dict[str, dict[str, str]] = {
    "": _CONTACT | _OBSTACLES | _ROWS | _WRITER | _BALANCE,
    "algebra.operators": _ROWS | {"SharedRows": "SharedSparseRows"},
    "contact": _CONTACT,
    "contact.obstacles": _OBSTACLES,
    "contact.obstacles.composed": {"Union": "UnionObstacle"},
    "contact.obstacles.moving": {"Moving": "MovingObstacle"},
    "integrators": {"NewtonTheta": "ThetaMethod"},
    "integrators.acary_bonnefon": {"Combined": "AcaryBonnefon"},
    "integrators.delassus": {
        "CoulombResponse": "FrictionalDelassus",
        "FactorisedResponse": "FactorisedDelassus",
        "Response": "DelassusOperator",
        "contact_response": "factorised_delassus",
    },
    "integrators.delassus_lumped": {
        "LumpedCone": "LumpedFrictionalDelassus",
        "LumpedResponse": "LumpedDelassus",
        "lumped_response": "lumped_delassus",
    },
    "integrators.energy": _BALANCE,
    "integrators.modified_mass": {"MasslessContact": "ModifiedMass"},
    "integrators.theta_method": {"NewtonTheta": "ThetaMethod"},
    "output": _WRITER,
    "output.fields": _WRITER,
}
#: Renamed attributes of systems.
OF_SYSTEMS = {"held": "constrained", "moved": "prescribed"}


def warn(old: str, new: str, stacklevel: int = 2) -> None:
    """Warn that ``old`` is ``new`` now; a ``stacklevel`` of 1 is the caller of this function."""
    text = f"{old} is now {new}: the old name goes with version 0.3.0"
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)


# -- classes and functions


def install(package: str) -> None:
    """Let the modules of :data:`NAMES` provide the old names too; ``package`` does so itself."""
    for name, renamed in NAMES.items():
        if name:
            module = importlib.import_module(f"{package}.{name}")
            module.__getattr__ = functools.partial(_getattr, module, renamed)  # type: ignore[method-assign]


def new_object(module: ModuleType, name: str, renamed: Mapping[str, str], stacklevel: int = 3) -> Any:
    """The class or function of the module that had this name, with a warning."""
    warn(f"{module.__name__}.{name}", f"{module.__name__}.{renamed[name]}", stacklevel)
    return getattr(module, renamed[name])


def _getattr(module: ModuleType, renamed: Mapping[str, str], name: str) -> Any:
    if name not in renamed:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    return new_object(module, name, renamed)


# -- methods and attributes


class _OldMember:
    """The member of ``owner`` under its old name; each class has its own, so that ``super()`` works."""

    def __init__(self, owner: type, old: str, new: str) -> None:
        self._owner, self._old, self._new = owner, old, new

    def __get__(self, instance: Any, kind: type) -> Any:
        warn(f"{kind.__name__}.{self._old}", self._new)
        own = vars(self._owner).get(self._new)
        if own is None or self._new in getattr(instance, "__dict__", {}):
            return getattr(kind if instance is None else instance, self._new)
        return own.__get__(instance, kind) if hasattr(own, "__get__") else own

    def __set__(self, instance: Any, value: Any) -> None:
        warn(f"{type(instance).__name__}.{self._old}", self._new)
        setattr(instance, self._new, value)


class RenamedMembers:
    """Base of classes with renamed members: ``class A(RenamedMembers, renamed={"old": "new"})``.

    Old names can be read, called and set; a subclass that defines a member by its old name overrides it.
    """

    _renamed: Mapping[str, str] = {}

    def __init_subclass__(cls, renamed: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._renamed = {**cls._renamed, **(renamed or {})}
        for old, new in cls._renamed.items():
            _take_override(cls, old, new)
            if (new in vars(cls) or old in (renamed or {})) and old not in vars(cls):
                setattr(cls, old, _OldMember(cls, old, new))


def _take_override(cls: type, old: str, new: str) -> None:
    """Give ``cls`` the member ``new`` where it, or a base before that of ``new``, defines it as ``old``."""
    for base in cls.__mro__:
        if new in vars(base):
            return
        if old in vars(base) and not isinstance(vars(base)[old], _OldMember):
            warn(f"{cls.__name__}.{old}", new, stacklevel=3)
            setattr(cls, new, vars(base)[old])
            return


def adapt_system(system: Any) -> None:
    """Give a user-defined system with attributes of the old names those of the new ones."""
    for old, new in OF_SYSTEMS.items():
        if not hasattr(system, new) and hasattr(system, old):
            warn(f"{type(system).__name__}.{old}", new, stacklevel=4)
            setattr(system, new, getattr(system, old))


class OldContactPoint:
    """Base of schemes: ``contact_position()`` and ``contact_time``, now both in ``contact_point()``."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        old = [name for name in ("contact_position", "contact_time") if name in vars(cls)]
        if old and "contact_point" not in vars(cls):
            warn(f"{cls.__name__}.{old[0]}", "contact_point(), which returns time and position")
            cls.contact_point = _contact_point_of(cls, old)  # type: ignore[attr-defined]

    def contact_position(self) -> Any:
        """The second value of ``contact_point()``."""
        warn(f"{type(self).__name__}.contact_position()", "contact_point()[1]")
        return self.contact_point()[1]  # type: ignore[attr-defined]

    @property
    def contact_time(self) -> float:
        """The first value of ``contact_point()`` [s]."""
        warn(f"{type(self).__name__}.contact_time", "contact_point()[0]")
        time: float = self.contact_point()[0]  # type: ignore[attr-defined]
        return time


def _contact_point_of(cls: type, old: list[str]) -> Callable[[Any], tuple[float, Any]]:
    """``contact_point`` of a user-defined scheme that defines the old members."""

    def contact_point(self: Any) -> tuple[float, Any]:
        above = getattr(super(cls, self), "contact_point", None)
        t, u = (self.t, self.u) if above is None else above()
        t = self.contact_time if "contact_time" in old else t
        return t, self.contact_position() if "contact_position" in old else u

    return contact_point


# -- keywords


def renamed_keywords(**renamed: str) -> Callable[[Function], Function]:
    """Let a function take keywords by their old names too: ``@renamed_keywords(old="new")``.

    Raises:
        TypeError: (by the function) Both names of a keyword.
    """

    def decorate(function: Function) -> Function:
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def wrapper(*values: Any, **given: Any) -> Any:
            for old, new in renamed.items():
                if old in given:
                    if new in given:
                        raise TypeError(f"{name} takes {new}=, {old}= before: give one of them")
                    warn(f"{name}({old}=...)", f"{name}({new}=...)")
                    given[new] = given.pop(old)
            return function(*values, **given)

        return cast(Function, wrapper)

    return decorate


def attributes_as_keywords(**attributes: str) -> Callable[[Function], Function]:
    """Let a constructor set attributes of the class by their old keywords: ``(old="new")``, ``"not new"``."""

    def decorate(function: Function) -> Function:
        kind = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def wrapper(self: Any, *values: Any, **given: Any) -> None:
            for old, new in attributes.items():
                if old in given:
                    name = new.removeprefix("not ")
                    warn(f"{kind}({old}=...)", f"the class attribute {name} of a subclass")
                    setattr(self, name, bool(given.pop(old)) != (name != new))
            function(self, *values, **given)

        return cast(Function, wrapper)

    return decorate

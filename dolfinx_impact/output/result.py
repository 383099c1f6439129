"""Recorded histories of a run, their summary and file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._types import AnyArray, FloatArray
from ..integrators.energy import PLASTIC
from ..integrators.lost_force import Hidden
from . import run_row, tables
from .atomic_file import write_whole
from .contact_points import ContactPoints

#: Part of the largest energy, or of the approach in a step, below which a value is not reported.
_ROUNDING = 1e-6
#: Rotation above which a law of small strains is reported as inaccurate [rad].
_SMALL_ROTATION = 0.1
#: Part of the contact force from which on the largest one that a penetration hides is reported.
_LOST = 1e-3
#: Penetration over the approach in a step above which it is reported as drift.
_MANY_STEPS = 10


class Result(Mapping[str, AnyArray]):
    """Recorded arrays of a run by name, replicated.

    For n samples, k recorded dofs and p contact points, in SI units:

    - ``t`` (n,) times; ``u`` (n, k) and ``v_t`` (n, k) displacements and velocities at ``t``;
    - ``v`` (n, k) velocities at the times ``t_v`` (n,) of the scheme;
    - ``gap`` (n, p) at ``t``; ``r`` (n, p) impulses, the sum since the previous sample, at ``t_r = t``;
    - where paths of features are tested, ``r_features`` (n,): the sum of the normal impulses of edges,
      vertices and facets that would have met, which are no points' own, with half of the sum of the lengths
      of those that moved nodes together, summed as ``r``;
    - ``labels`` (k,), ``contact_labels`` (p,); points in the order of :meth:`.Contact.places`;
    - with contact, ``lost_force`` (n,): the force that a penetration hides over the contact force, the
      largest ratio of all points, 0 where no contact lasts: :mod:`dolfinx_impact.integrators.lost_force`;
    - unless disabled, the energies of :mod:`dolfinx_impact.integrators.energy` and the ``residual`` of their
      balance, each (n,).

    Attributes:
        balance: Whether the scheme has an exact discrete energy balance.
        steps: Number of steps.
        about: Description of scheme, system and contact; not stored in files.
        seconds: Wall-clock time of the loop [s].
        penetration: Largest penetration of a contact point in any step [m]; by default that of the samples.
        approach: Largest decrease of the gap of a closed point in one step, about the time step times the
            largest closing velocity [m]; 0 where it was not recorded.
        penetration_at_start: Largest penetration of the initial state [m].
        hidden: The largest ``lost_force`` of all steps, sampled or not, with its point and time.
        turned: Rotation of a body with linear laws at the end of the run [rad]; 0 for other systems.
        added_share: Mass added by mass scaling over that of the body.
        certificates: What may be said of contacts between surfaces, whether anything passed through anything,
            in words, shown by :meth:`summary`.
        warnings: Texts on what may be wrong, shown by :meth:`summary`.
        energy_known: Whether the system knows its stored energy; otherwise ``internal`` is 0.
        tied: Mask of the contact points of ties, whose impulses have any sign, shape (p,).
        newton: Counts of a scheme that halves steps (``position=True``), empty for others: ``steps``, of
            which ``halved`` were made in parts, in at most ``parts``; the mean number ``newton_mean`` of
            Newton iterations of a step, and the largest ``newton_max``.
        parameters: Names of scheme, system and contact, ``dofs``, ``dt`` and ``critical_time_step`` [s], as
            far as they are known.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        *,
        balance: bool = True,
        steps: int = 0,
        seconds: float = 0.0,
        penetration: float | None = None,
        approach: float = 0.0,
        penetration_at_start: float = 0.0,
        hidden: Hidden = Hidden(),  # noqa: B008
        turned: float = 0.0,
        added_share: float = 0.0,
        energy_known: bool = True,
        tied: Any = None,
        newton: Mapping[str, float] | None = None,
        about: str = "",
        warnings: Sequence[str] = (),
        certificates: Sequence[str] = (),
        points: ContactPoints | None = None,
        parameters: Mapping[str, str | int | float] | None = None,
    ) -> None:
        self._arrays = {name: np.asarray(value) for name, value in arrays.items()}
        self.balance, self.steps, self.seconds, self.about = balance, steps, seconds, about
        self.turned, self.penetration_at_start, self.hidden = turned, penetration_at_start, hidden
        self.added_share, self.warnings = added_share, tuple(warnings)
        self.certificates = tuple(certificates)
        self.newton = dict(newton or {})
        self._points, self.parameters = points, dict(parameters or {})
        self.energy_known = energy_known
        columns = self._arrays.get("r", np.zeros((0, 0))).shape[1:]
        self.tied: AnyArray = np.zeros(columns, dtype=bool) if tied is None else np.asarray(tied, dtype=bool)
        deepest = -float(np.min(self._arrays.get("gap", 0.0), initial=0.0))
        self.penetration, self.approach = deepest if penetration is None else penetration, approach

    def __repr__(self) -> str:
        samples = f"{len(self['t'])} samples of {', '.join(self)}" if "t" in self else ", ".join(self)
        return f"{type(self).__name__}: {samples}"

    def __str__(self) -> str:
        if "t" not in self or not len(self["t"]):
            return repr(self)
        return "\n".join(filter(None, [self.summary(), self.about, repr(self)]))

    def __getitem__(self, name: str) -> AnyArray:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"{name!r}; recorded are {sorted(self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def places(self) -> FloatArray | None:
        """Places of the contact points at zero displacement, shape (p, gdim) [m].

        NaN for points that have none, None without contact, or where no contact knows them.
        """
        return None if self._points is None else self._points.places

    @property
    def areas(self) -> FloatArray | None:
        """Areas of the contact points at the last sample, shape (p,) [m2]; see :meth:`.Contact.areas`.

        NaN for points whose contact does not know them, None where none does.
        """
        return None if self._points is None else self._points.areas

    @property
    def pressure(self) -> FloatArray | None:
        """Contact pressures of all samples, shape (n, p) [Pa]; see :meth:`.Contact.pressure`.

        Means over the time since the previous sample, with what is opposite at the sample. NaN and None as
        for :attr:`areas`.
        """
        return None if self._points is None else self._points.pressure

    def save(self, path: str | Path) -> None:
        """Write a ``.npz`` file atomically. Rank 0 writes; collective."""
        contents: dict[str, Any] = {
            **self._arrays,
            "_balance": self.balance,
            "_steps": self.steps,
            "_seconds": self.seconds,
            "_penetration": self.penetration,
            "_approach": self.approach,
            "_turned": self.turned,
            "_added_share": self.added_share,
            "_energy_known": self.energy_known,
            "_tied": self.tied,
            "_penetration_at_start": self.penetration_at_start,
            "_hidden": json.dumps(self.hidden),
            "_warnings": np.array(self.warnings, dtype=str),
            "_certificates": np.array(self.certificates, dtype=str),
            "_newton": json.dumps(self.newton),
            "_parameters": json.dumps(self.parameters),
            **({} if self._points is None else self._points.arrays()),
        }
        write_whole(path, lambda f: np.savez(f, **contents))

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a file of :meth:`save`.

        Raises:
            FileNotFoundError: The file does not exist.
            ValueError: The file is not a result.
        """
        try:
            with np.load(path, allow_pickle=False) as data:
                arrays = dict(data)
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no result {str(path)!r}") from None
        except Exception as error:
            raise ValueError(f"{str(path)!r} is no result of a run: {error}") from None
        if "t" not in arrays:
            raise ValueError(f"{str(path)!r} is no result of a run: it has no times t")
        meta = {
            name: arrays.pop(f"_{name}", default)
            for name, default in (
                ("balance", True),
                ("steps", 0),
                ("seconds", 0.0),
                ("penetration", None),
                ("approach", 0.0),
                ("turned", 0.0),
                ("added_share", 0.0),
                ("energy_known", True),
                ("tied", None),
                ("penetration_at_start", 0.0),
                ("hidden", "[]"),
                ("warnings", ()),
                ("certificates", ()),
                ("newton", "{}"),
                ("parameters", "{}"),
            )
        }
        deepest, points = meta["penetration"], ContactPoints.from_arrays(arrays)
        run = cls(
            arrays,
            balance=bool(meta["balance"]),
            steps=int(meta["steps"]),
            seconds=float(meta["seconds"]),
            approach=float(meta["approach"]),
            penetration=None if deepest is None else float(deepest),
            turned=float(meta["turned"]),
            added_share=float(meta["added_share"]),
            energy_known=bool(meta["energy_known"]),
            tied=meta["tied"],
            penetration_at_start=float(meta["penetration_at_start"]),
            hidden=Hidden(*json.loads(str(meta["hidden"]))),
            warnings=[str(each) for each in meta["warnings"]],
            certificates=[str(each) for each in meta["certificates"]],
            points=points,
            newton=json.loads(str(meta["newton"])),
            parameters=json.loads(str(meta["parameters"])),
        )
        return run

    def to_frame(self) -> Any:
        """All samples as a pandas DataFrame with the times ``t`` as index.

        Columns are ``u:LABEL``, ``v_t:LABEL``, ``gap:LABEL``, ``r:LABEL``, ``r_t:LABEL:x`` and, where it is
        known, ``pressure:LABEL``, with the labels of dofs and contact points; energies have their names.
        Labels that are equal get numbers, in the order of the columns: ``u:ux 0``, ``u:ux 1``; all labels get
        them where one is what another is with its number. Values of ``v`` are at the time in the column
        ``t_v`` of their row. ``frame.attrs`` has the units of the columns and :attr:`parameters`.

        Raises:
            ImportError: pandas is missing.
        """
        return tables.to_frame(self)

    def to_xarray(self) -> Any:
        """All samples as an xarray Dataset with units, by ``t``, ``dof``, ``point`` and ``axis``.

        ``v`` has a coordinate of its own, ``t_v``. Contact points have their ``place`` [m] and ``area`` [m2]
        where these are known; labels and :attr:`parameters` are as for :meth:`to_frame`.

        Raises:
            ImportError: xarray is missing.
        """
        return tables.to_xarray(self)

    def to_csv(self, path: str | Path) -> None:
        """Write ``t`` and the columns of :meth:`to_frame` with all digits, atomically.

        Rank 0 writes; collective. It needs neither pandas nor xarray.

        Raises:
            OSError: On every rank, if the file cannot be written; an earlier file is intact.
        """
        tables.to_csv(self, path)

    def row(self) -> dict[str, str | int | float]:
        """The run as a row of a table: a flat dictionary with the same keys for every run, in SI units.

        - ``scheme``, ``system``, ``contact``: classes; ``dofs``; ``dt`` of the last step, of HATI the fine
          one; ``critical_time_step`` where it was computed;
        - ``t_start``, ``t_end``, ``steps``, ``samples``, ``seconds``;
        - ``contact_points``, ``tied_points``; ``contact_start`` and ``contact_end``, the first and the last
          sample with an impulse; ``impulse``, the sum of the normal impulses, ``impulse_peak``, the largest
          one of all points in a sample, both with those of features; ``friction_impulse``, the sum of the
          lengths of the tangential ones at points; of ties none; ``penetration``, the largest one in any
          step; ``gap_least`` and ``pressure_peak``, without ties;
        - ``u_peak``, ``v_peak``: the largest entries of ``u`` and ``v_t``;
        - ``kinetic_start``, ``kinetic_end``, ``kinetic_peak``, ``internal_end``, ``internal_peak``;
          ``external``, ``contact_work``, ``dissipated``, ``interface``, ``plastic_work`` up to the end, and
          ``lost``, what contact, damping, formula, interface and plastic flow have taken together;
        - ``balance``: whether the scheme has one; ``balance_residual``: its largest residual over the largest
          energy; ``newton_mean``, ``newton_max`` and ``halved`` of :attr:`newton`; ``turned`` [rad],
          ``added_share``, and the number of ``warnings``.

        Names that are not known are empty, numbers NaN. Not collective, and the same on all ranks, but for
        the seconds of a small system that every rank has whole.
        """
        return run_row.row(self, relative_residual(self) if "residual" in self else math.nan)

    def summary(self) -> str:
        """Steps, time, contact, impulse, penetration, energy balance, certificates and more in one line."""
        line = f"{self.steps} steps to t = {self['t'][-1]:.6g} s in {self.seconds:.2f} s"
        if "r" in self and self["r"].size:
            line += self._contact()
        if "residual" in self:
            name = "balance residual" if self.balance else "defect of the energy balance"
            line += f", {name} {relative_residual(self):.1e} of the largest energy"
            difference = internal_difference(self)
            if not self.energy_known:
                line += ", no stored energy is known"
            elif difference > _ROUNDING:
                what = "stored energy with plastic work" if PLASTIC in self else "stored energy"
                line += f", internal work and {what} up to {100 * difference:.2g} % of it apart"
        if self.newton.get("halved"):
            halved, steps, parts = (int(self.newton[name]) for name in ("halved", "steps", "parts"))
            line += f", {halved} of {steps} steps were halved, down to h/{parts}"
        if self.added_share > 0:
            line += f", {100 * self.added_share:.3g} % of mass added by mass scaling"
        if self.turned > _SMALL_ROTATION:
            line += (
                f". WARNING: the body has turned by {self.turned:.2g} rad, its law is for small rotations: "
                "take StVenantKirchhoff or NeoHookean"
            )
        line = ". Contact of surfaces: ".join([line, *self.certificates])
        return ". WARNING: ".join([line, *self.warnings])

    def _contact(self) -> str:
        """Text on contact, impulse and penetration; ties are always in contact."""
        r = self["r"][:, ~self.tied]
        tied = ", tied" if self.tied.any() else ""
        if not r.shape[1]:
            return tied
        of_features = self.get("r_features", np.zeros(len(r)))
        impulses, depth = r.sum(axis=1) + of_features, self._depth()
        hits = impulses > 0
        if hits.any():
            part = f" ({of_features.sum():.6g} N s of features)" if of_features.any() else ""
            first, total = self["t"][hits][0], impulses.sum()
            return f"{tied}, contact seen from {first:.6g} s, impulse {total:.6g} N s{part}{depth}"
        if not self._inside:
            none = "no contact point has touched" if self.warnings else "no contact"
            return f"{tied}, {none}, impulse 0 N s{depth}"
        return (
            f"{tied}, impulse 0 N s though points are inside what they should touch{depth}: WARNING, does an "
            "obstacle jump, or is the step too large?"
        )

    @property
    def _inside(self) -> bool:
        """Whether a penetration is more than round-off."""
        return self.penetration > _ROUNDING * self.approach

    def _depth(self) -> str:
        """Text on the largest penetration, with a warning where it has accumulated over many steps."""
        if not self._inside:
            return "" if self.warnings else ", no penetration"  # warnings may tell of other nodes
        text = f", largest penetration {self.penetration:.3g} m"
        if self.approach > 0:
            steps = (self.penetration - self.penetration_at_start) / self.approach
            text += f" ({steps:.2g} times the largest approach in a step)"
            if steps > _MANY_STEPS:
                text += (
                    ": WARNING, the contact drifts into the obstacle: see drift_correction= of contacts, or "
                    "take a smaller time step"
                )
        return text + self._hidden()

    def _hidden(self) -> str:
        """Text on the force that a penetration hides in lasting contact, where it is seen."""
        if self.hidden.ratio < _LOST:
            return ""
        ratio, point, t = self.hidden
        return (
            f", which hides up to {ratio:.2g} times a lasting contact force (at point {point}, t = {t:.6g} s)"
        )


def internal_difference(result: Mapping[str, AnyArray]) -> float:
    """Largest difference of internal work to stored energy and plastic work, over the largest energy.

    Round-off for linear bodies. For nonlinear ones the discrete work of the internal forces differs from the
    change of the stored energy, and the energy balance holds with the work.
    """
    largest = _largest_energy(result)
    stored = result["internal"] - result["internal"][0]
    if PLASTIC in result:
        stored = stored + result[PLASTIC] - result[PLASTIC][0]
    work = result["internal_work"] - result["internal_work"][0]
    difference = float(np.max(np.abs(work - stored)))
    return difference / largest if largest > 0 else 0.0


def _largest_energy(result: Mapping[str, AnyArray]) -> float:
    return max(float(np.max(np.abs(result[name]))) for name in ("kinetic", "internal", "external"))


def relative_residual(result: Mapping[str, AnyArray]) -> float:
    """Largest residual of the energy balance over the largest energy of the run."""
    largest = _largest_energy(result)
    worst = float(np.max(np.abs(result["residual"])))
    return worst / largest if largest > 0 else worst

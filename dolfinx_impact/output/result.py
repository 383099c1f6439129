"""The history of a run, and files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from .atomic_file import write_whole

#: Of the largest energy, or of a step's approach: less is rounding, or too little to be said.
_ROUNDING = 1e-6
#: A linear law feels larger rotations [rad].
_SMALL_ROTATION = 0.1
#: A penetration of more steps' approach is a drift.
_MANY_STEPS = 10


class Result(Mapping[str, NDArray]):
    """Arrays of a run by name, the same on every rank.

    ``t`` (n,) times; ``u`` (n, k) and ``v_t`` (n, k) displacements and velocities at ``t``;
    ``t_v`` (n,), ``v`` (n, k) velocities at the scheme's own times; ``gap`` (n, p) at ``t``;
    ``r`` (n, p) impulses that act at ``t_r = t`` (summed since the previous sample);
    ``labels`` (k,), ``contact_labels`` (p,); and, unless switched off, the energies of
    :mod:`dolfinx_impact.integrators.energy` and their ``residual``, each (n,). SI units.

    Attributes:
        balance: Whether the scheme has an energy balance that closes.
        steps: Number of steps.
        about: The scheme, the system and the contact that it is of; not kept in files.
        seconds: Wall-clock time of the loop [s].
        penetration: Largest penetration of a contact point in any step [m]; by default that of the samples.
        approach: Largest decrease of a gap in one step, which is the step times the largest closing velocity
            [m]; 0 where that is not known.
        penetration_at_start: Largest penetration at the start [m].
        turned: Angle by which a body of linear laws has turned at the end; 0 for other systems [rad].
    """

    def __init__(
        self, arrays: Mapping[str, Any], *, balance: bool = True, steps: int = 0, seconds: float = 0.0,
        penetration: float | None = None, approach: float = 0.0, penetration_at_start: float = 0.0,
        turned: float = 0.0, about: str = "",
    ) -> None:  # fmt: skip
        self._arrays = {name: np.asarray(value) for name, value in arrays.items()}
        self.balance, self.steps, self.seconds, self.about = balance, steps, seconds, about
        self.turned, self.penetration_at_start = turned, penetration_at_start
        deepest = -float(np.min(self._arrays.get("gap", 0.0), initial=0.0))
        self.penetration, self.approach = deepest if penetration is None else penetration, approach

    def __repr__(self) -> str:
        samples = f"{len(self['t'])} samples of {', '.join(self)}" if "t" in self else ", ".join(self)
        return f"{type(self).__name__}: {samples}"

    def __str__(self) -> str:
        if "t" not in self or not len(self["t"]):
            return repr(self)
        return "\n".join(filter(None, [self.summary(), self.about, repr(self)]))

    def __getitem__(self, name: str) -> NDArray:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"{name!r}; recorded are {sorted(self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def save(self, path: str | Path) -> None:
        """Write a ``.npz`` file, whole or not at all. Rank 0 writes; collective."""
        everything: dict[str, Any] = {
            **self._arrays, "_balance": self.balance, "_steps": self.steps, "_seconds": self.seconds,
            "_penetration": self.penetration, "_approach": self.approach, "_turned": self.turned,
            "_penetration_at_start": self.penetration_at_start,
        }  # fmt: skip
        write_whole(path, lambda f: np.savez(f, **everything))

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read what :meth:`save` wrote.

        Raises:
            FileNotFoundError: No such file.
            ValueError: A file of another kind.
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
        meta = {name: arrays.pop(f"_{name}", default) for name, default in
                (("balance", True), ("steps", 0), ("seconds", 0.0), ("penetration", None),
                 ("approach", 0.0), ("turned", 0.0), ("penetration_at_start", 0.0))}  # fmt: skip
        deepest = meta["penetration"]
        run = cls(arrays, balance=bool(meta["balance"]), steps=int(meta["steps"]),
                  seconds=float(meta["seconds"]), approach=float(meta["approach"]),
                  penetration=None if deepest is None else float(deepest), turned=float(meta["turned"]),
                  penetration_at_start=float(meta["penetration_at_start"]))  # fmt: skip
        return run

    def summary(self) -> str:
        """One line that says what happened."""
        line = f"{self.steps} steps to t = {self['t'][-1]:.6g} s in {self.seconds:.2f} s"
        if "r" in self and self["r"].size:
            hits = self["r"].sum(axis=1) > 0
            first = f", contact seen from {self['t'][hits][0]:.6g} s" if hits.any() else ", no contact"
            line += f"{first}, impulse {self['r'].sum():.6g} N s{self._depth()}"
        if "residual" in self:
            name = "balance residual" if self.balance else "defect of the energy balance"
            line += f", {name} {relative_residual(self):.1e} of the largest energy"
            apart = internal_difference(self)
            if apart > _ROUNDING:
                line += f", internal work and stored energy up to {100 * apart:.2g} % of it apart"
        if self.turned > _SMALL_ROTATION:
            line += (
                f". WARNING: the body has turned by {self.turned:.2g} rad, its law is for small rotations: "
                "take StVenantKirchhoff or NeoHookean"
            )
        return line

    def _depth(self) -> str:
        """The largest penetration in words, and a warning where it is no matter of one step."""
        if not self.penetration > _ROUNDING * self.approach:
            return ", no penetration"
        words = f", largest penetration {self.penetration:.3g} m"
        if self.approach > 0:
            steps = (self.penetration - self.penetration_at_start) / self.approach
            words += f" ({steps:.2g} times the largest approach in a step)"
            if steps > _MANY_STEPS:
                words += (
                    ": WARNING, the contact drifts into the obstacle: see drift_correction= of contacts, or "
                    "take a smaller time step"
                )
        return words


def internal_difference(result: Mapping[str, NDArray]) -> float:
    """Largest difference of internal work and change of the stored energy over the largest energy of the run.

    Zero for linear bodies; for nonlinear ones the work of the forces in a step is not the change of the
    energy, and their balance closes with the work.
    """
    largest = _largest_energy(result)
    stored = result["internal"] - result["internal"][0]
    apart = float(np.max(np.abs(result["internal_work"] - stored)))
    return apart / largest if largest > 0 else 0.0


def _largest_energy(result: Mapping[str, NDArray]) -> float:
    return max(float(np.max(np.abs(result[name]))) for name in ("kinetic", "internal", "external"))


def relative_residual(result: Mapping[str, NDArray]) -> float:
    """Largest residual of the balance over the largest energy of the run."""
    largest = _largest_energy(result)
    worst = float(np.max(np.abs(result["residual"])))
    return worst / largest if largest > 0 else worst

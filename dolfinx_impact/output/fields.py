"""Time series of fields on a body, for ParaView."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import basix.ufl
import numpy as np
from dolfinx import fem

from .. import _compat, parallel
from .._types import AnyArray, FloatArray
from ..contact.base import Contact
from ..integrators.base import Integrator
from ..systems.body import Body
from ..systems.masses.mass_lumping import scalar_element
from ..systems.system import parts, split
from .field_file import FieldFile
from .formats import FORMATS
from .history_field import VARIABLES, HistoryField, has_scalar
from .observer import Observer
from .stress import VonMises, has_stress

#: Names of the fields in the files.
LABELS = {
    "displacement": "displacement [m]",
    "velocity": "velocity [m/s]",
    "stress": "stress [Pa]",
    "impulse": "impulse [N s]",
    "gap": "gap [m]",
    "pressure": "pressure [Pa]",
    "plastic_strain": "plastic strain",
    "yield_stress": "yield stress [Pa]",
}
#: Fields that are written by default, those of the material where it has them.
_DEFAULT = ("displacement", "velocity", "stress", "impulse", "gap", *VARIABLES)
_VECTORS = ("displacement", "velocity", "impulse")
#: Part of a time step below which two times are equal.
_SAME = 1e-6


class FieldWriter(Observer):
    """Observer of :func:`.simulate` that writes fields on a body for ParaView.

    The suffix chooses the format; elements of degree 2 and above are shown as what they are:

    - ``drop.pvd`` with VTU files in the folder ``drop.pieces``: any degree, opens in ParaView and PyVista, a
      piece also in meshio. A run that is killed leaves the times so far;
    - ``drop.bp``: VTX, any degree, in ParaView alone; the mesh is there once, so files are the smallest;
    - ``drop.xdmf`` with ``drop.h5``: degree 1, opens in ParaView, PyVista and meshio.

    Samples are the initial state, one every ``every`` steps or ``interval`` seconds, and the last step. At
    the time ``t`` of a sample:

    - ``displacement [m]`` and ``velocity [m/s]`` at ``t``, of a frame without its rotations;
    - ``stress [Pa]``: von Mises stress at ``t``, see :class:`.VonMises`; not for frames, and for a
      :class:`.FormSystem` where it defines one;
    - ``impulse [N s]``: normal and tangential contact impulse on each node (not a density), summed over the
      steps since the previous sample, in the first one that of an impact at the start, with impulses of
      features whose paths would have met; 0 at nodes without a contact point or such a feature;
    - ``gap [m]`` at ``t``, the smallest one at nodes with several contact points; NaN at nodes without;
    - ``pressure [Pa]`` of the last step, see :meth:`.Contact.pressure`, of a tie the component along the
      normal; the largest one at nodes with several points, 0 where nothing is opposite, NaN at nodes
      without a point; impulses of features are in none. Not among the default names.
    - ``plastic strain``, the equivalent one, and ``yield stress [Pa]`` at ``t``, see :class:`.HistoryField`;
      of bodies whose law has them, such as :class:`.J2Plasticity`.

    Vectors have three components. The complete mesh is written; fields are 0 on cells that ``cells=`` of the
    body excludes. The two subdomains of HATI are written as one, with the values of the explicit one at
    common nodes. Rank 0 writes replicated meshes.

    After a restart, or when a run is continued, an earlier file is not changed and further samples are
    written to ``drop-2.pvd``, ``drop-3.pvd``, ..., the first one that does not exist.

    Points that several ranks have are in the VTU file of each; all but one of them have ``vtkGhostType`` 1.

    Args:
        path: The file, in an existing folder, with the suffix ``.pvd``, ``.bp`` or ``.xdmf``. An earlier one
            is replaced, with its pieces.
        every: Steps between samples, counted from the start of the run.
        interval: Time between samples [s], instead of ``every``: the first step at or after each multiple of
            it is a sample.
        names: Names of the fields, without units; by default all that the body has but for ``"pressure"``:
            ``"displacement"``, ``"velocity"``, ``"stress"``, ``"impulse"``, ``"gap"``, ``"plastic_strain"``,
            ``"yield_stress"``.

    Raises:
        ValueError: Not exactly one of ``every`` and ``interval``, values out of range, an unknown field,
            another suffix.
        ImportError: A ``.bp`` file with a DOLFINx built without ADIOS2.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        every: int | None = None,
        interval: float | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.path, self._every, self._interval = Path(path), every, interval
        self._by_default = names is None
        given = _DEFAULT if names is None else [names] if isinstance(names, str) else names
        self.names = tuple(dict.fromkeys(given))
        _check_schedule(every, interval)
        unknown = [name for name in self.names if name not in LABELS]
        if unknown or not self.names:
            problem = f"unknown field {unknown[0]!r}" if unknown else "names has no field"
            raise ValueError(f"{problem}; the fields are {', '.join(LABELS)}")
        if self.path.suffix not in FORMATS:
            *first, last = (f"{suffix} ({each.about})" for suffix, each in FORMATS.items())
            raise ValueError(f"{str(path)!r} must end in {', '.join(first)} or {last}")
        if self.path.suffix == ".bp" and not _compat.has_adios2():
            raise ImportError(f"{str(path)!r}: this DOLFINx was built without ADIOS2, take .pvd instead")
        self._integrator: Integrator | None = None
        self._state: dict[str, AnyArray] = {}
        self._count = self._sampled = self._multiple = 0
        self._begun = self._t = 0.0
        self._samples: _Samples
        self._file: FieldFile | None = None

    # -- called by a run

    def begin(self, integrator: Integrator) -> None:
        """Prepare for the first step; write the initial state of a run that is not resumed. Collective.

        Args:
            integrator: Started or resumed.

        Raises:
            ValueError: A system that is not a body, elements that XDMF does not support, a field that the law
                does not have, a run that does not continue at the last time of this observer.
            OSError: A folder that does not exist or is not writable.
        """
        if integrator.n < 0:
            raise RuntimeError("call integrator.start(u0, v0) before the fields are begun")
        continued = self._integrator is not None or bool(self._state)
        if self._integrator is not None and not self._state:
            self._refuse_other_time(integrator, self._t)
        if self._integrator is None or self._state:
            self._samples = _Samples(integrator, self.names, self._by_default)
        self._integrator = integrator
        FORMATS[self.path.suffix].refuse(*self._samples.elements())
        if self._state:
            self._refuse_other_time(integrator, float(self._state["t"]))
            self._take_state()
        elif not continued:
            self._begun = integrator.t
            self._multiple = 1
        self._t = integrator.t
        self._file = FieldFile(self.path, list(self._samples.functions.values()), anew=not continued)
        if not continued:
            if integrator.n == 0:
                self._samples.add_impulses()
            self._sample()

    def __call__(self, integrator: Integrator) -> None:
        """Sum the impulses of a step and write a sample if one is due. Collective.

        Raises:
            OSError: On all ranks, if a sample cannot be written; earlier samples are intact.
        """
        self._count, self._t = self._count + 1, integrator.t
        self._samples.add_impulses()
        if self._every is not None:
            due = self._count % self._every == 0
        else:
            assert self._interval is not None
            passed = (integrator.t - self._begun + _SAME * integrator.dt) / self._interval
            due = passed >= self._multiple
            if due:
                self._multiple = math.floor(passed) + 1
        if due:
            self._sample()

    def end(self) -> None:
        """Write the last step, if it was completed, and close the file. Collective.

        Raises:
            OSError: On all ranks, if the file cannot be completed.
        """
        file, s = self._file, self._integrator
        if file is None or s is None:
            return
        completed = abs(s.t - self._t) <= _SAME * s.dt
        if completed and self._count > self._sampled and not file.failed:
            self._sample()
        self._file = None
        file.close()

    # -- checkpoints

    def state(self) -> dict[str, AnyArray]:
        """Schedule and summed impulses, replicated and independent of the number of ranks. Collective."""
        schedule = {
            "count": self._count,
            "sampled": self._sampled,
            "multiple": self._multiple,
            "begun": self._begun,
            "t": self._t,
        }
        return {**{name: np.array(value) for name, value in schedule.items()}, **self._samples.impulses()}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a :meth:`state`, before :meth:`begin`.

        Raises:
            ValueError: A mapping that lacks entries of a state.
        """
        needed = ("count", "sampled", "multiple", "begun", "t", "impulses")
        lacking = [name for name in needed if name not in state]
        if lacking:
            raise ValueError(f"this is no state of FieldWriter: it has no {lacking[0]}")
        self._state = {name: np.array(state[name]) for name in needed}

    def _take_state(self) -> None:
        state, self._state = self._state, {}
        self._samples.take_impulses(state["impulses"])
        self._count, self._sampled = int(state["count"]), int(state["sampled"])
        self._begun = float(state["begun"])
        self._multiple = int(state["multiple"])
        if self._interval is not None:  # may differ from that of the checkpoint
            self._multiple = math.floor((float(state["t"]) - self._begun) / self._interval + _SAME) + 1

    def _refuse_other_time(self, integrator: Integrator, t: float) -> None:
        if abs(integrator.t - t) > _SAME * integrator.dt:
            raise ValueError(
                f"the fields of {str(self.path)!r} were followed to t = {t:.9g} s, but the run is at "
                f"t = {integrator.t:.9g} s: make new ones for another run"
            )

    def _sample(self) -> None:
        assert self._file is not None
        self._samples.fill()
        self._file.write(self._t)
        self._samples.forget_impulses()
        self._sampled = self._count


def _check_schedule(every: int | None, interval: float | None) -> None:
    if (every is None) == (interval is None):
        raise ValueError("give either every= (steps between samples) or interval= (time between them [s])")
    if every is not None and not (_number(every) and every >= 1 and every == int(every)):
        raise ValueError(f"every must be a whole number of steps from 1 on, but is {every!r}")
    if interval is not None and not (_number(interval) and 0 < interval < math.inf):
        raise ValueError(f"interval must be a positive time [s], but is {interval!r}")


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and np.isfinite(value)


def _chosen(bodies: Sequence[Any], names: Sequence[str], by_default: bool) -> list[str]:
    """The fields that there are; a ValueError where there is none, or no such field of the material."""
    stressed = all(has_stress(each) for each in bodies)
    chosen = [name for name in names if stressed or name != "stress"]
    for name in VARIABLES:
        # Of a divided body the first one is explicit, and it alone may have history.
        if name in chosen and not has_scalar(bodies[0], VARIABLES[name]):
            if not by_default:
                raise ValueError(
                    f"the law of the body has no {LABELS[name]} to show, that is of laws that yield, such as "
                    f"J2Plasticity: leave {name!r} out"
                )
            chosen.remove(name)
    if not chosen:
        raise ValueError(f"a {type(bodies[0]).__name__} has no stress to show: name other fields")
    return chosen


class _Samples:
    """Functions on the mesh for the fields of a run, and impulses summed since the last sample."""

    def __init__(self, integrator: Integrator, names: Sequence[str], by_default: bool) -> None:
        self._s, system = integrator, integrator.body
        self._contact: Contact | None = integrator.contact
        bodies = parts(system)
        if not all(isinstance(body, Body) for body in bodies):
            raise ValueError(f"fields are those of a Solid or a Frame, not of a {type(system).__name__}")
        self._bodies: tuple[Body, ...] = bodies
        body = self._bodies[0]
        self.comm, self.mesh, self.degree = body.comm, body.mesh, body.degree
        self._first = body.active[:: body.block]
        chosen = _chosen(self._bodies, names, by_default)
        element = scalar_element(body.space)
        spaces = {
            False: fem.functionspace(self.mesh, element),
            True: fem.functionspace(self.mesh, basix.ufl.blocked_element(element, shape=(3,))),
        }
        self.functions = {name: fem.Function(spaces[name in _VECTORS], name=LABELS[name]) for name in chosen}
        self.nodes = body.size // body.block
        self._stresses = [VonMises(each) for each in bodies] if "stress" in chosen else []
        self._variables = {
            name: HistoryField(body, variable)  # type: ignore[arg-type]
            for name, variable in VARIABLES.items()
            if name in chosen
        }
        #: Rows with the dofs at which impulses may act, and those impulses since the last sample [N s].
        self._rows = None if self._contact is None else self._contact.nodes.loaded
        self._impulses = np.zeros((0, 1) if self._rows is None else self._rows.dofs.shape)

    def elements(self) -> tuple[int, bool]:
        """Degree of the elements, and whether the geometry has other nodes."""
        nodes = next(iter(self.functions.values())).function_space.dofmap.list.shape[1]
        return self.degree, _compat.geometry_dofmap(self.mesh).shape[1] != nodes

    # -- impulses

    def add_impulses(self) -> None:
        """Add the contact impulses of the last step."""
        self._s.add_nodal_impulses(self._impulses)

    def forget_impulses(self) -> None:
        """Set the sums to zero."""
        self._impulses[:] = 0.0

    def impulses(self) -> dict[str, FloatArray]:
        """Summed impulses at the dofs in their global order, replicated [N s]. Collective."""
        if self._rows is None:
            return {"impulses": self._impulses.copy()}
        gathered = parallel.gather_rows(self.comm, self._impulses)
        return {"impulses": gathered[self._rows.sorting(self.comm)] if len(gathered) else gathered.copy()}

    def take_impulses(self, impulses: FloatArray) -> None:
        """Restore the sums of :meth:`impulses`. Collective."""
        local, rows = self._impulses, self._rows
        counts = self.comm.allgather(len(local))
        needed = (sum(counts), local.shape[1])
        if impulses.shape != needed:
            raise ValueError(
                f"the state of the fields is of another contact: it has impulses of shape {impulses.shape}, "
                f"this run {needed}"
            )
        if rows is not None and needed[0]:
            unsorted, before = np.empty_like(impulses), sum(counts[: self.comm.rank])
            unsorted[rows.sorting(self.comm)] = impulses
            local[:] = unsorted[before : before + len(local)]

    # -- values

    def fill(self) -> None:
        """Update the functions to the values at ``t``. Collective."""
        s = self._s
        evaluations: dict[str, Callable[[], FloatArray]] = {
            "displacement": lambda: self._at_nodes(s.u),
            "velocity": lambda: self._at_nodes(s.v_mean),
            "stress": self._stress,
            "impulse": self._impulse,
            "gap": self._gap,
            "pressure": self._pressure,
            **self._variables,
        }
        for name, function in self.functions.items():
            values, space = evaluations[name](), function.function_space
            owned, width = space.dofmap.index_map.size_local, values.size // max(len(values), 1)
            target = function.x.array.reshape(self.nodes, space.dofmap.bs)
            target[:owned, :width] = values[:owned].reshape(owned, width)
            function.x.scatter_forward()

    def _split(self, x: FloatArray) -> tuple[FloatArray, ...]:
        return split(self._s.system, x)

    def _at_nodes(self, x: FloatArray) -> FloatArray:
        """Displacements or velocities of the owned nodes, shape (owned nodes, gdim)."""
        body, gdim = self._bodies[0], self.mesh.geometry.dim
        values = [each[: body.owned].reshape(-1, body.block)[:, :gdim] for each in self._split(x)]
        return values[0] if len(values) == 1 else np.where(self._first[:, None], values[0], values[1])

    def _stress(self) -> FloatArray:
        values = [stress(u) for stress, u in zip(self._stresses, self._split(self._s.u))]
        if len(values) == 1:
            return values[0]
        volumes = [stress.volume for stress in self._stresses]
        total = volumes[0] + volumes[1]
        return sum(a * b for a, b in zip(values, volumes)) / np.where(total > 0, total, 1.0)

    def _impulse(self) -> FloatArray:
        body, out = self._bodies[0], np.zeros(self._bodies[0].size)
        if self._rows is not None:
            np.add.at(out, self._rows.dofs, self._impulses)
        return out[: body.owned].reshape(-1, body.block)[:, : self.mesh.geometry.dim]

    def _pressure(self) -> FloatArray:
        values: FloatArray = np.full(self.nodes, np.nan)
        contact = self._contact
        found = None if contact is None else contact.nodes.normal_pressure(self._s.r, self._s.dt)
        if contact is not None and found is not None:
            known = np.isfinite(found)
            at = contact.nodes.dofs()[known, 0] // self._bodies[0].block
            largest = np.zeros((2, self.nodes))
            np.maximum.at(largest[0], at, found[known])
            np.minimum.at(largest[1], at, found[known])
            values[at] = np.where(largest[0] >= -largest[1], largest[0], largest[1])[at]
        return values

    def _gap(self) -> FloatArray:
        smallest: FloatArray = np.full(self.nodes, np.nan)
        if self._contact is not None:
            self._contact.nodes.least_gaps(self._s.gap(), self._bodies[0].block, smallest)
        return smallest

"""Results as tables: names, units and dimensions of their columns; pandas, xarray and CSV files."""

from __future__ import annotations

import csv
import importlib
import io
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray
from ..integrators.energy import PLASTIC, TERMS
from .atomic_file import write_whole

if TYPE_CHECKING:
    from .result import Result

#: What the arrays of a result are, with units; all others are energies.
_KNOWN = {
    "t": ("time", "s"),
    "t_v": ("time of v", "s"),
    "u": ("displacement", "m"),
    "v_t": ("velocity at t", "m/s"),
    "v": ("velocity at t_v", "m/s"),
    "gap": ("gap", "m"),
    "r": ("normal impulse since the sample before", "N s"),
    "r_t": ("tangential impulse since the sample before", "N s"),
    "r_features": ("normal impulses of features since the sample before", "N s"),
    "pressure": ("contact pressure", "Pa"),
    "tau": ("position impulse", "m"),
    "lost_force": ("largest hidden force over contact force", "1"),
    "residual": ("residual of the energy balance", "J"),
    **{name: (name.replace("_", " "), "J") for name in (*TERMS, PLASTIC)},
}
_AT_DOFS = ("u", "v_t", "v")
_LABELS = ("labels", "contact_labels", "t_r")


def unit(name: str) -> str:
    """Unit of an array of a result; nothing where it is not known."""
    return _KNOWN.get(name, ("", ""))[1]


def columns(run: Result) -> dict[str, AnyArray]:
    """Arrays of the samples by the names of columns, shape (n,) each; ``t`` is the first."""
    found: dict[str, AnyArray] = {"t": run["t"]}
    for name, dims, values in _arrays(run):
        if len(dims) == 1:
            found[name] = values
            continue
        labels = [_names(run, dim, size) for dim, size in zip(dims[1:], values.shape[1:])]
        flat = values.reshape(len(values), math.prod(values.shape[1:]))
        for each, column in zip(itertools.product(*labels), flat.T):
            found[":".join([name, *each])] = column
    return found


def units(names: Iterable[str]) -> dict[str, str]:
    """Units of columns by their names."""
    return {name: unit(name.split(":")[0]) for name in names}


def to_frame(run: Result) -> Any:
    """See :meth:`.Result.to_frame`."""
    pandas = imported("pandas", "Result.to_frame()")
    found = columns(run)
    frame = pandas.DataFrame(found).set_index("t")
    frame.attrs = {**run.parameters, "units": units(found)}
    return frame


def to_xarray(run: Result) -> Any:
    """See :meth:`.Result.to_xarray`."""
    xarray = imported("xarray", "Result.to_xarray()")
    variables: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    for name, dims, values in _arrays(run):
        if name != "t_v":
            dims = ("t_v", *dims[1:]) if name == "v" else dims
            variables[name] = (dims, values, _described(name))
            sizes.update(zip(dims[1:], values.shape[1:]))
    coordinates: dict[str, Any] = {
        name: (name, run[name], _described(name)) for name in ("t", "t_v") if name in run
    }
    coordinates |= {dim: _names(run, dim, size) for dim, size in sizes.items()}
    if run.places is not None and "point" in sizes:
        coordinates["axis"] = list("xyz"[: run.places.shape[1]])
        about = {"units": "m", "long_name": "place at zero displacement"}
        coordinates["place"] = (("point", "axis"), run.places, about)
    if run.areas is not None and "point" in sizes:
        coordinates["area"] = ("point", run.areas, {"units": "m2", "long_name": "area at the last sample"})
    return xarray.Dataset(variables, coordinates, dict(run.parameters))


def to_csv(run: Result, path: str | Path) -> None:
    """See :meth:`.Result.to_csv`."""
    found = columns(run)

    def write(file: Any) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(found)
        lines.writerows(np.column_stack(list(found.values())).tolist())
        text.flush()
        text.detach()

    write_whole(path, write)


def _arrays(run: Result) -> Iterator[tuple[str, tuple[str, ...], AnyArray]]:
    """Name, dimensions and values of each array with a row a sample, but for ``t``."""
    samples = run["t"].shape
    arrays = dict(run) if run.pressure is None else {**run, "pressure": run.pressure}
    for name, values in arrays.items():
        if name == "t" or name in _LABELS or values.shape[:1] != samples or values.ndim > 3:
            continue
        further = ("dof",) if name in _AT_DOFS else ("point", "axis")
        yield name, ("t", *further[: values.ndim - 1]), values


def _names(run: Result, dim: str, size: int) -> list[str]:
    """Labels along a dimension; several that are equal get numbers, in the order of the columns."""
    if dim == "axis":
        return list("xyz"[:size])
    given = run.get("labels" if dim == "dof" else "contact_labels", np.zeros(0))
    labels = [str(label) for label in given] if len(given) == size else [str(i) for i in range(size)]
    count, seen, numbered = Counter(labels), Counter[str](), []
    for label in labels:
        numbered.append(f"{label} {seen[label]}")
        seen[label] += 1
    names = [new if count[label] > 1 else label for label, new in zip(labels, numbered)]
    # A label may be what another one is with its number: then all have numbers.
    return names if len(set(names)) == len(names) else numbered


def _described(name: str) -> dict[str, str]:
    """Attributes of an array."""
    long_name, of = _KNOWN.get(name, (name, ""))
    return {"long_name": long_name, "units": of} if of else {"long_name": long_name}


def imported(module: str, caller: str) -> Any:
    """A module that a method needs; an ImportError in words where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{caller} needs {module}, which cannot be imported ({error}): pip install {module}, on "
            f"Debian apt install python3-{module}"
        ) from None

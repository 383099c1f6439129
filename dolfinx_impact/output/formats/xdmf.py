"""XDMF files with all functions in one series of times."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from dolfinx import io

from ..atomic_file import whole_file
from .file_format import FileFormat, something_else


class XDMF(FileFormat):
    """``drop.xdmf`` with its values in ``drop.h5``, for elements of degree 1.

    DOLFINx writes a series for each function, of which most readers show the first alone. Here it writes the
    values, and its XML to ``drop.xdmf~``, from which ``drop.xdmf`` is made whole after each sample: one
    series of grids that have mesh, time and all functions each.
    """

    about = "for degree 1"

    @staticmethod
    def refuse(degree: int, curved: bool) -> None:
        """Refuse higher degrees: values are those at the nodes of the geometry."""
        if degree > 1 or curved:
            problem = f"these have {degree}" if degree > 1 else "but the cells are curved"
            raise ValueError(f"XDMF shows elements of degree 1, {problem}: take .bp or .pvd instead")

    @staticmethod
    def clear(path: Path) -> None:
        """Remove an earlier file with its values, also of a run that was killed."""
        values, xml = _values(path), (path, _of_dolfinx(path))
        for file in (path, values):
            if file.is_dir():
                raise something_else(file)
        if values.exists() and not any(file.exists() for file in xml):
            raise OSError(
                f"could not write {str(path)!r}: its values would replace {values.name!r}, which belongs to "
                "something else: move it or take another name"
            )
        for file in (values, *xml):
            file.unlink(missing_ok=True)

    def open(self) -> None:
        """Write the mesh."""
        self._writer = io.XDMFFile(self.mesh.comm, _of_dolfinx(self.path), "w")
        self._writer.write_mesh(self.mesh)
        super().close()

    def write(self, t: float) -> None:
        """Append the values of a sample, and close the file: a file of HDF5 that is open cannot be read."""
        self._writer = io.XDMFFile(self.mesh.comm, _of_dolfinx(self.path), "a")
        for function in self.functions:
            self._writer.write_function(function, t)
        super().close()

    def publish(self) -> None:
        """Replace the XML."""
        if self.mesh.comm.rank == 0:
            tree = _one_series(ElementTree.parse(_of_dolfinx(self.path)).getroot())
            with whole_file(self.path) as file:
                tree.write(file, xml_declaration=True, encoding="utf-8")

    def close(self) -> None:
        """Remove the XML of DOLFINx."""
        if self.mesh.comm.rank == 0:
            _of_dolfinx(self.path).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leave the file after an error; values without a sample keep the XML that tells whose they are."""
        super().abandon()
        if self.path.exists():
            _of_dolfinx(self.path).unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """XML, values and the XML of DOLFINx, which begins a new one without the mesh where it is missing."""
        return [self.path, _values(self.path), _of_dolfinx(self.path)]


def _values(path: Path) -> Path:
    return path.with_suffix(".h5")


def _of_dolfinx(path: Path) -> Path:
    """The XML of DOLFINx, which names its values after the part before the last point."""
    return path.with_name(f"{path.name}~")


def _one_series(root: ElementTree.Element) -> ElementTree.ElementTree:
    """Grids of one series that have mesh, time and all functions each, from a series for each function."""
    mesh, *series = root.findall("Domain/Grid")
    whole = ElementTree.Element("Xdmf", Version="3.0")
    domain = ElementTree.SubElement(whole, "Domain")
    times = ElementTree.SubElement(
        domain, "Grid", Name="fields", GridType="Collection", CollectionType="Temporal"
    )
    for steps in zip(*(each.findall("Grid") for each in series)):
        grid = ElementTree.SubElement(times, "Grid", Name="mesh", GridType="Uniform")
        grid.extend([*mesh.iter("Topology"), *mesh.iter("Geometry"), *steps[0].iter("Time")])
        grid.extend(attribute for step in steps for attribute in step.iter("Attribute"))
    for topology in whole.iter("Topology"):
        if topology.get("TopologyType") == "PolyLine":  # meshio knows it in this spelling alone
            topology.set("TopologyType", "Polyline")
    for item in whole.iter("DataItem"):  # without a type the values are read in single precision
        if item.get("NumberType") is None:
            item.attrib.update(NumberType="Float", Precision="8")
    ElementTree.indent(whole)
    return ElementTree.ElementTree(whole)

"""Checks of the forms, matrices and spaces that a script gives to a system."""

from __future__ import annotations

from typing import Any

import basix
import numpy as np
import ufl
from dolfinx import fem, la

from ... import arguments, parallel
from ..._types import FloatArray
from ...mesh import NamedMesh
from ...mesh.named_mesh import as_named
from .element_forms import is_matrix

#: Relative difference of ``x.A y`` and ``y.A x`` up to which a matrix is symmetric.
_SYMMETRIC = 1e-9


def space(given: Any) -> None:
    """Raise a ValueError unless this is a vector-valued Lagrange space, scalar on a line."""
    if not isinstance(given, fem.FunctionSpace):
        raise ValueError(f"the first argument must be the function space, but is {arguments.shown(given)}")
    element, gdim = given.ufl_element(), given.mesh.geometry.dim
    what = f"the displacements need a Lagrange space with {gdim} components, {_example(gdim)}, but this is"
    if given.num_sub_spaces > 0 and given.dofmap.bs == 1 and gdim > 1:
        raise ValueError(f"{what} mixed, {element}: take the space of the displacements alone")
    scalar = element.sub_elements[0] if getattr(element, "block_size", 1) > 1 else element
    family = getattr(scalar, "element_family", None)
    if family != basix.ElementFamily.P or getattr(scalar, "discontinuous", False):
        raise ValueError(f"{what} {element}")
    shapes = [(gdim,), ()] if gdim == 1 else [(gdim,)]
    if element.reference_value_shape not in shapes:
        raise ValueError(f"{what} of shape {element.reference_value_shape}")
    from petsc4py import PETSc

    if np.issubdtype(PETSc.ScalarType, np.complexfloating):
        raise ValueError("PETSc is built for complex numbers, but the systems are real: take a real build")
    if given.mesh.geometry.x.dtype != np.float64:
        raise ValueError(f"the mesh has coordinates of type {given.mesh.geometry.x.dtype}: take float64")


def _example(gdim: int) -> str:
    return 'fem.functionspace(mesh, ("Lagrange", 1' + (f", ({gdim},)" if gdim > 1 else "") + "))"


def combination(
    stiffness: Any, u: Any, internal: Any, energy: Any, density: Any, mass: Any, lumped_mass: Any
) -> None:
    """Raise a ValueError unless these belong to a linear or a nonlinear system with one mass."""
    nonlinear = internal is not None or energy is not None
    if (stiffness is not None) == nonlinear:
        raise ValueError(
            "give either stiffness= of a linear system, or internal= or energy= of a nonlinear one"
        )
    if nonlinear and u is None:
        raise ValueError("internal= and energy= need u=, the Function that is the displacement in them")
    if density is not None and (mass is not None or lumped_mass is not None):
        raise ValueError("give either density=, or mass= and lumped_mass=")
    if density is None and mass is None and lumped_mass is None:
        raise ValueError("the system has no mass: give density=, mass= or lumped_mass=")
    if density is not None and not isinstance(density, ufl.core.expr.Expr):
        arguments.number("density", density, "be positive [kg/m3], or a UFL scalar", above=0.0)


def form(name: str, given: Any, rank: int, space: fem.FunctionSpace, *, matrix: bool) -> None:
    """Raise a ValueError unless this is a UFL form of this rank over the space, a PETSc matrix or None."""
    kind = ("functional", "linear form", "bilinear form")[rank]
    if given is None:
        return
    if is_matrix(given):
        owned = space.dofmap.index_map.size_local * space.dofmap.bs
        if not matrix:
            raise ValueError(f"{name} must be a {kind}, not a matrix")
        if not given.assembled:
            raise ValueError(f"the matrix {name} is not assembled: call its assemble() before")
        if given.getLocalSize() != (owned, owned):
            raise ValueError(
                f"the matrix {name} has {given.getLocalSize()} rows and columns on this rank, the space has "
                f"{owned} dofs"
            )
        return
    if isinstance(given, fem.Form):
        raise ValueError(f"{name} must be the UFL form, not the compiled one: leave fem.form() out")
    if not isinstance(given, ufl.Form):
        also = " or a PETSc matrix" if matrix else ""
        raise ValueError(f"{name} must be a UFL {kind}{also}, but is {arguments.shown(given)}")
    found = given.arguments()
    if len(found) != rank:
        names = ("functional", "linear form", "bilinear form")
        hint = "; name the velocity by v= where it is linear in a test function" if name == "damping" else ""
        raise ValueError(f"{name} must be a {kind}, but is a {names[min(len(found), 2)]}{hint}")
    if any(each.ufl_function_space() != space for each in found):
        raise ValueError(f"{name} has a test or trial function of another space than the system's")
    if any(
        each.function_space.mesh._cpp_object is not space.mesh._cpp_object for each in given.coefficients()
    ):
        raise ValueError(f"{name} has a Function on another mesh than the space's")


def field(name: str, given: Any, space: fem.FunctionSpace) -> None:
    """Raise a ValueError unless this is a Function of the space, or None."""
    if given is None:
        return
    if not isinstance(given, fem.Function):
        raise ValueError(f"{name} must be the Function in the forms, but is {arguments.shown(given)}")
    if given.function_space != space:
        raise ValueError(f"{name} is a Function of another space than the system's")


def forms(
    given: dict[str, Any], space: fem.FunctionSpace, u: fem.Function | None, v: fem.Function | None
) -> None:
    """Raise a ValueError unless these forms belong together; see :class:`.FormSystem`."""
    nonlinear = given["stiffness"] is None
    for name, function in (("u", u), ("v", v)):
        field(name, function, space)
    if u is not None and u is v:
        raise ValueError("u= and v= are the same Function: take two")
    ranks = {"stiffness": 2, "internal": 1, "energy": 0, "mass": 2, "load": 1}
    ranks["damping"] = 1 if v is not None else 2
    for name, rank in ranks.items():
        form(name, given[name], rank, space, matrix=rank == 2 and not (name == "damping" and nonlinear))
    used = {
        name: [each for each in (u, v) if each is not None and each in form_.coefficients()]
        for name, form_ in given.items()
        if isinstance(form_, ufl.Form)
    }
    for name in ("stiffness", "mass"):
        if used.get(name):
            raise ValueError(f"{name}= depends on u or v: it must be constant in both")
    if used.get("load"):
        raise ValueError("load= depends on u or v: put that part, with a minus, into internal=")
    if v is not None and v in used.get("energy", ()):
        raise ValueError("energy= depends on v: put that part into damping=, as a linear form")
    for name in ("energy", "internal"):
        if given[name] is not None and u not in used[name]:
            raise ValueError(
                f"{name}= does not depend on u=: name the Function that is the displacement in it"
            )


def with_own(form_: Any, own: dict[fem.Function, fem.Function]) -> Any:
    """A form with the system's Functions in the place of the script's, which are never written."""
    return ufl.replace(form_, own) if own and isinstance(form_, ufl.Form) else form_


def bilinear(form_: Any, velocity: fem.Function) -> Any:
    """The bilinear form of a damping form that is linear in the velocity, or bilinear already."""
    if len(form_.arguments()) == 2:
        return form_
    found = ufl.algorithms.expand_derivatives(ufl.derivative(form_, velocity))
    if velocity in found.coefficients():
        raise ValueError("damping= of a linear system must be linear in v: give the forces as internal=")
    return found


def update(given: Any) -> Any:
    """A function of time, or None.

    Raises:
        ValueError: Something else.
    """
    if given is not None and not callable(given):
        raise ValueError(f"update must be a function of time, not {arguments.shown(given)}")
    return given


def stress(given: Any, u: fem.Function | None) -> None:
    """Raise a ValueError unless this is a function of u, an expression in u or None."""
    expression = isinstance(given, ufl.core.expr.Expr)
    if given is not None and not expression and not callable(given):
        raise ValueError(f"stress must be a function of u, or a UFL expression, not {arguments.shown(given)}")
    if expression and u is None:
        raise ValueError("stress= is an expression: name by u= the Function that is the displacement in it")


def forces(body: Any) -> None:
    """Raise a ValueError where forces are not finite, or act on dofs off the body's cells. Collective."""
    u, out = np.zeros(body.size), np.zeros(body.size)
    body.subtract_internal(u, out)
    finite = bool(np.all(np.isfinite(out)))
    u[: body.owned] = 1e-6 * body.length * np.sin(1.0 + body.global_dofs()[: body.owned] % 1009)
    body.subtract_internal(u, out)
    beside = np.abs(out[: body.owned][~body.active])
    error = None
    if not finite:
        error = ValueError("the forces are not finite at zero displacement: is a coefficient not a number?")
    elif np.any(beside > 0):
        error = ValueError("a form is integrated over cells that are not in cells=: use a measure of those")
    parallel.agree(body.comm, error)


def parts(given: Any, space: fem.FunctionSpace) -> NamedMesh:
    """Names of the parts of the space's mesh.

    Raises:
        ValueError: Those of another mesh.
    """
    if given is None:
        return as_named(space.mesh)
    if hasattr(given, "indices") and hasattr(given, "dim"):  # MeshTags
        fdim = space.mesh.topology.dim - 1
        if given.dim not in (fdim, fdim + 1):
            raise ValueError(f"parts= are tags of entities of dimension {given.dim}: take facets or cells")
        cells, facets = (given, None) if given.dim > fdim else (None, given)
        topology = getattr(given.topology, "_cpp_object", given.topology)
        if topology is not getattr(space.mesh.topology, "_cpp_object", space.mesh.topology):
            raise ValueError("parts= are those of another mesh than the space's")
        return NamedMesh(space.mesh, cells, facets, {})
    named = as_named(given)
    if named.mesh is not space.mesh and named.mesh._cpp_object is not space.mesh._cpp_object:
        raise ValueError("parts= are those of another mesh than the space's")
    return named


def symmetric(name: str, body: Any, given: Any) -> None:
    """Raise a ValueError unless a bilinear form or matrix is symmetric. Collective."""
    if given is None:
        return
    x, y = np.sin(1.0 + body.global_dofs() % 1009), np.cos(2.0 + body.global_dofs() % 997)
    A = given if is_matrix(given) else body.matrices.assemble(given)
    left, right = A.createVecs()
    product, n = A.createVecLeft(), body.owned
    left.array[:], right.array[:] = x[:n], y[:n]
    A.mult(left, product)
    one = product.dot(right)
    size = abs(product.norm() * right.norm())
    A.mult(right, product)
    if abs(one - product.dot(left)) > _SYMMETRIC * max(size, 1e-300):
        raise ValueError(f"{name} is not symmetric: the schemes need symmetric operators")
    if right.dot(product) < -_SYMMETRIC * size:
        raise ValueError(f"{name} is negative, x.A x < 0 for some x: is there a wrong sign?")


def masses(body: Any, given: Any) -> FloatArray:
    """Nodal masses that are given, shape (owned,) [kg]. Collective.

    Raises:
        ValueError: Masses that are not positive, or not one a dof.
    """
    array = given.x.array if isinstance(given, fem.Function) else getattr(given, "array_r", given)
    values = arguments.floats(array)
    error = None
    if values.shape not in ((body.owned,), (body.size,)):
        error = ValueError(
            f"lumped_mass has the shape {values.shape}: give {body.owned} numbers, one a dof of this rank"
        )
    else:
        values = np.where(body.active, values[: body.owned], 0.0)
        if not np.all(np.isfinite(values)) or np.any(values[body.active] <= 0):
            error = ValueError("lumped_mass must be positive at all dofs [kg]")
    parallel.agree(body.comm, error)
    return values


def row_sums(body: Any, mass: Any) -> FloatArray:
    """Row sums of a mass form or matrix, shape (owned,) [kg]. Collective.

    Raises:
        ValueError: A sum that is not positive (P2 simplices).
    """
    if is_matrix(mass):
        ones, sums = mass.createVecs()
        ones.array[:] = 1.0
        mass.mult(ones, sums)
        values = np.array(sums.array_r)
    else:
        ones = fem.Function(body.space)
        ones.x.array[:] = 1.0
        vector = fem.assemble_vector(fem.form(ufl.action(mass, ones)))
        vector.scatter_reverse(la.InsertMode.add)
        values = vector.array[: body.owned].copy()
    if parallel.largest(body.comm, np.abs(values[~body.active])) > 0:
        raise ValueError("mass= is integrated over cells that are not in cells=: use a measure of those")
    top = parallel.largest(body.comm, values)
    low = -parallel.largest(body.comm, -values[body.active])
    if not parallel.total(body.comm, float(not np.all(np.isfinite(values)))) == 0:
        raise ValueError("mass= has values that are not finite")
    if low <= 1e-12 * top:
        raise ValueError(
            f"the row sums of mass= go down to {low:.3g} kg, but lumped masses must be positive: give "
            "density= instead, which is lumped for these elements, or lumped_mass= besides"
        )
    return values

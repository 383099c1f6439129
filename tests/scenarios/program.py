"""A scenario as a Python program: what runs, and what a failure prints, are the same lines.

The program uses public names alone and leaves ``body``, ``contact``, ``scheme`` (started) behind.
"""

from __future__ import annotations

import math

import numpy as np

from .compose import MESHED, SCHEMES, Scenario
from .contacts import contact_lines
from .layout import RHO, E, Frame, bounds, lean, names, shown, up

__all__ = ["RHO", "E", "Frame", "bounds", "end", "end_time", "lean", "names", "program"]


def program(s: Scenario) -> list[str]:
    """Lines of the program."""
    f, lines = Frame(s), []
    lines += ["import numpy as np, dolfinx_impact as di", "from dolfinx import fem, mesh as dm"]
    lines += ["from mpi4py import MPI"] + (["import basix.ufl"] if s.bend else [])
    lines += _meshes(s)
    lines += _frame(s, f)
    lines += _body(s, f)
    lines += contact_lines(s, f)
    lines += _scheme(s, f)
    lines += _start(s, f)
    return lines


def _meshes(s):
    make = "rectangle" if s.gdim == 2 else "box"
    top = s.gdim - 1
    lines = [
        "def block(low, high, n, d=0):",
        f"    m = dm.create_{make}(MPI.COMM_WORLD, [low, high], n, dm.CellType.{s.cell})",
        *(_renumbered(s) if s.renumbered else ()),
        *(_curved(s) if s.bend else ()),
        f"    a, b = low[{top}] + 1e-9, high[{top}] - 1e-9",
        f"    ends = dict(bottom=lambda x: x[{top}] < a, top=lambda x: x[{top}] > b)",
        "    m = di.named(m, **ends"
        + (", axis=lambda x: x[0] < 1e-9)" if s.hypothesis == "axisymmetric" else ")"),
    ]
    if any(b.distort for b in s.blocks):
        lines += [
            f"    w = np.pi * ((m.mesh.geometry.x[:, :{s.gdim}] - low) / np.subtract(high, low)).T",
            f"    m.mesh.geometry.x[:, 0] += d * np.sin(w[0]) * np.sin(2 * w[{top}])"
            + (" * np.sin(w[1])" if top == 2 else ""),
        ]
    if s.bend:
        lines += [
            f"    w = np.pi * ((m.mesh.geometry.x[:, :{s.gdim}] - low) / np.subtract(high, low)).T",
            f"    m.mesh.geometry.x[:, [0, {top}]] += {s.bend} * np.sin(w[[{top}, 0]]).T",
        ]
    if "divided" in s.takes:  # half of the layers of cells, and at least one
        middle = f"low[{top}] + {s.blocks[0].up // 2 / s.blocks[0].up!r} * (high[{top}] - low[{top}])"
        lines += [
            f"    c = {middle}",
            f"    cells = dict(near=lambda x: x[{top}] < c + 1e-9, far=lambda x: x[{top}] > c - 1e-9)",
            "    m = di.named(m, cells=cells)",
        ]
    lines += ["    return m"]
    entries = []
    for i, (name, b, (low, high)) in enumerate(zip(names(s), s.blocks, bounds(s))):
        n = (b.across, b.up) if s.gdim == 2 else (b.across, b.across, b.up)
        if i == 0 and s.floor in MESHED and s.gdim == 3:
            n = (b.across, 3, b.up)
        if i == 0 and s.floor == "corner":
            lines += _corner(s)
            entries.append(f'"{name}": corner')
            continue
        d = f", {b.distort}" if b.distort else ""
        entries.append(f'"{name}": block({shown(low)}, {shown(high)}, {n}{d})')
    if s.backwards:
        entries.reverse()
    lines += ["parts = di.mesh.join({" + ", ".join(entries) + "})"]
    return lines


def _renumbered(s):
    """Cells and nodes in an order by chance."""
    return [
        "    g, k = m.geometry, np.random.default_rng(0)",
        "    p, q = k.permutation(len(g.x)), k.permutation(len(g.dofmap))",
        f"    x = g.x[np.argsort(p), :{s.gdim}]",
        "    m = dm.create_mesh(MPI.COMM_WORLD, cells=p[g.dofmap[q]], x=x, e=m.ufl_domain())",
    ]


def _curved(s):
    """Cells of degree 2, straight as yet: their nodes are those of the Lagrange space."""
    return [
        "    V = fem.functionspace(m, ('Lagrange', 2))",
        f"    e = basix.ufl.element('Lagrange', '{s.cell}', 2, shape=({s.gdim},))",
        f"    x = V.tabulate_dof_coordinates()[:, :{s.gdim}]",
        "    m = dm.create_mesh(MPI.COMM_WORLD, cells=V.dofmap.list, x=x, e=e)",
    ]


def _corner(s):
    """An L: the base and a wall 20 mm beside the movable blocks."""
    x = bounds(s)[1][0][0] - 0.02
    ends = f"[({shown(x - 0.3)}, -0.3), ({shown(x + 2.1)}, 0.6)]"
    return [
        f"full = dm.create_rectangle(MPI.COMM_WORLD, {ends}, (8, 3), dm.CellType.quadrilateral)",
        f"kept = dm.locate_entities(full, 2, lambda x: (x[1] < 1e-9) | (x[0] < {shown(x)} + 1e-9))",
        "used, number = np.unique(full.geometry.dofmap[kept], return_inverse=True)",
        "number, used = number.reshape(-1, 4), full.geometry.x[used, :2]",
        "corner = dm.create_mesh(MPI.COMM_WORLD, cells=number, x=used, e=full.ufl_domain())",
    ]


def _frame(s, f):
    lines = []
    if s.tilt:
        c, n = math.cos(s.tilt), math.sin(s.tilt)
        lift = abs(n) * s.blocks[0].width
        i, j = 0, s.gdim - 1
        lines += [
            "x = parts.mesh.geometry.x",
            f"p, q = x[:, {i}].copy(), x[:, {j}].copy()",
            f"x[:, {i}], x[:, {j}] = {c!r} * p - {n!r} * q, {n!r} * p + {c!r} * q + {lift!r}",
        ]
    if not f.plain:
        d = s.gdim
        rows = ", ".join(shown(row) for row in f.length * f.Q)
        lines += [
            "x = parts.mesh.geometry.x",
            f"x[:, :{d}] = x[:, :{d}] @ np.array([{rows}]).T + {shown(f.length * f.shift)}",
        ]
    return lines


def _law(s, f, modulus=1.0):
    e = shown(E * modulus * f.pressure)
    if s.law == "linear":
        return f"di.LinearElastic({e}, {s.nu})"
    if s.law == "neo-hookean":
        return f"di.NeoHookean({e}, {s.nu})"
    hardening = f"di.LinearHardening({shown(0.02 * E * f.pressure)}, {shown(0.1 * E * f.pressure)})"
    return f"di.J2Plasticity({e}, 0.3, hardening={hardening})"


def _per_part(s, f, what, text):
    """One text for all blocks, or a mapping by their names."""
    values = [getattr(b, what) for b in s.blocks]
    if len(set(values)) == 1:
        return text(values[0])
    return "{" + ", ".join(f'"{n}": {text(v)}' for n, v in zip(names(s), values)) + "}"


def _body(s, f):
    given = [
        f"density={_per_part(s, f, 'density', lambda v: shown(RHO * v * f.density))}",
        f"law={_per_part(s, f, 'modulus', lambda v: _law(s, f, v))}",
    ]
    if s.degree > 1:
        given.append(f"degree={s.degree}")
    if s.hypothesis:
        given.append(f'hypothesis="{s.hypothesis}"')
    if s.gdim == 2 and s.hypothesis != "axisymmetric" and f.length != 1:
        given.append(f"cross_section={shown(f.length)}")
    if s.gravity:
        given.append(f"gravity={f.along(*up(s, 0, -s.gravity), unit=f.acceleration)}")
    given += _loads(s, f)
    name, held = names(s), {}
    if s.hypothesis == "axisymmetric":
        held = {f"{n}/axis": (0,) for n in name}
    if s.floor in ("base", "corner"):
        skin = f"{name[0]}/bottom" if s.floor == "base" else f"{name[0]}/boundary"
        held[skin] = tuple(range(s.gdim))
    moved = {}
    if s.motion == "pressed":
        way, along = up(s, *s.speed), f.Q @ np.array(up(s, *s.speed)) * f.speed
        axes = (1,) if s.hypothesis == "axisymmetric" else range(len(way))
        moved[f"{name[-1]}/top"] = {i: along[i] for i in axes}
    if held:
        given.append(f"fixed={held}".replace("'", '"'))
    if s.floor == "tool":
        moved[f"{name[0]}/boundary"] = dict(enumerate(f.Q @ np.array(up(s, s.drive, 0.0)) * f.speed))
    if moved:
        signals = (
            f'"{where}": {{'
            + ", ".join(f"{i}: lambda t: {shown(v + 0.0)} * t" for i, v in each.items())
            + "}"
            for where, each in moved.items()
        )
        given.append(f"prescribed={{{', '.join(signals)}}}")
    for word, value in (
        ("damping", s.rate / f.time * (not s.dashpots)),
        ("stiffness_damping", s.beta * f.time),
    ):
        if value:
            given.append(f"{word}={shown(value)}")
    if s.bulk:
        given.append(f"bulk_viscosity=({s.bulk}, 1.2)")
    if s.locking:
        given.append(f'locking="{s.locking}"')
    kind, lines = "di.Solid", []
    if s.dashpots:
        kind = "Own"
        lines += [line.replace("{rate}", shown(s.rate / f.time)) for line in _DASHPOTS]
    lines += [f"options = dict({', '.join(given)})", f"body = {kind}(parts, **options)"]
    if "divided" in s.takes:
        lines[-1] = f'body = di.Solid(parts, cells="{name[0]}/near", **options)'
        if s.law != "linear":
            modulus = shown(E * s.blocks[0].modulus * f.pressure)
            nu = 0.3 if s.law == "metal" else s.nu
            lines += [f'options["law"] = di.LinearElastic({modulus}, {nu})']
        lines += [f'far = di.Solid(parts, cells="{name[0]}/far", **options)']
    if s.forms:
        return [*lines, *_forms(s, f)]
    if s.scaled:
        lines += [f"body = {kind}(parts, **options, mass_scaling=1.1 * body.critical_time_step())"]
    return lines


def _loads(s, f):
    """Loads with and without signals."""
    given, cosine = [], f"np.cos({shown(20.0 / f.time)} * t)"

    def load(value):
        return f"({value}, lambda t: {cosine})" if s.wave else value

    if s.ground:
        size = shown(s.ground * f.acceleration)
        given.append(f"ground_acceleration=({f.along(*up(s, 1, 0))}, lambda t: {size} * {cosine})")
    if s.push:
        force = f.along(*up(s, lean(s) * s.push, -s.push), unit=f.pressure / f.length)
        given.append(f"body_force={load(force)}")
    if s.traction:
        force = load(f.along(*up(s, 0, s.traction), unit=f.pressure))
        given.append(f'traction={{"{names(s)[-1]}/top": {force}}}')
    return given


_DASHPOTS = [
    "class Own(di.Solid):",
    "    has_damping, rayleigh, is_viscous = True, None, lambda self, v: True",
    "    def drag(self, v, out): out[:self.owned] += {rate} * self.mass * v[:self.owned]",
    "    def damping(self, t, u, v, out): di.Solid.damping(self, t, u, v, out); self.drag(v, out)",
    "    def add_viscous_tangent(self, u, v, x, out):",
    "        self.drag(x, out)",
    "        if self.has_viscosity: di.Solid.add_viscous_tangent(self, u, v, x, out)",
]


def _forms(s, f):
    """The same body by a script's own forms: one material, its weight and viscosity."""
    b = s.blocks[0]
    e, rho = E * b.modulus * f.pressure, RHO * b.density * f.density
    mu, lam = e / 2 / (1 + s.nu), e * s.nu / (1 + s.nu) / (1 - 2 * s.nu)
    lines = ["import ufl", "solid, V = body, body.space", "w, z = ufl.TrialFunction(V), ufl.TestFunction(V)"]
    if s.law == "linear":
        shear = f"2 * {mu!r} * ufl.inner(ufl.sym(ufl.grad(w)), ufl.grad(z))"
        lines.append(f"a = ({shear} + {lam!r} * ufl.div(w) * ufl.div(z)) * ufl.dx")
        law = "stiffness=a"
        if s.rate:  # drag of the lumped mass
            lines.append('at_nodes = ufl.dx(metadata=dict(quadrature_rule="vertex", quadrature_degree=1))')
        if s.rate or s.beta:
            drag = [f"{s.beta * f.time} * a"] if s.beta else []
            drag += [f"{s.rate / f.time * rho!r} * ufl.inner(w, z) * at_nodes"] if s.rate else []
            law += f", damping={' + '.join(drag)}"
    else:
        degree = 2 if s.cell in ("quadrilateral", "hexahedron") else 0
        lines += [
            f"u, dx = fem.Function(V), ufl.dx(metadata=dict(quadrature_degree={degree}))",
            f"F = ufl.Identity({s.gdim}) + ufl.grad(u)",
            "j = ufl.ln(ufl.det(F))",
            f"W = {mu!r} * (ufl.inner(F, F) - {s.gdim}) / 2 - {mu!r} * j + {lam!r} * j**2 / 2",
        ]
        law = "u=u, energy=W * dx"
    if s.gravity:
        weight = f.along(*up(s, 0, -s.gravity), unit=rho * f.acceleration)
        law += f", load=ufl.inner(ufl.as_vector({weight}), z) * ufl.dx"
    return [*lines, f"body = di.FormSystem(V, {law}, density={rho!r}, parts=parts)"]


def _scheme(s, f):
    kind = f'di.SCHEMES["{s.scheme}"].make' if s.scheme.startswith("dep") else f"di.{s.scheme}"
    step = f"{s.part} * body.critical_time_step()"
    if s.explicit and s.scheme in SCHEMES:
        step = f"{s.part} * {kind}.critical_step(body)"
    if s.forms:  # both run with one step
        step = step.replace("body", "solid")
    if s.scheme == "CDLagrangeSingular":
        step = f"{s.part * 0.5} * body.critical_time_step()"
    mass = ', mass="lumped"' if s.scheme in ("MoreauJean", "GeneralizedAlpha") and s.degree > 1 else ""
    mass = ', mass="lumped"' if s.scheme in ("MoreauJeanDecoupled", "dep-4.6") else mass
    if s.position:
        mass = _at_both_levels(s, step)
    if "divided" in s.takes:
        return [f"scheme = di.HATI(body, far, {step}, contact=contact, ratio={s.ratio})"]
    if "penalty" in s.takes:
        mass += f", eps={shown(1e-6 * f.time**2 / f.mass)}"
    return [f"scheme = {kind}(body, {step}, contact=contact{mass})"]


def _at_both_levels(s, step):
    """Options of contact at position level."""
    given = {"MoreauJean": f", theta={s.position}", "GeneralizedAlpha": f", rho_inf={1 - s.position}"}
    text = f"{given[s.scheme]}, position=True" if s.scheme in given else ""
    return text + (f", closing={s.closing * s.steps!r} * {step}" if s.closing else "")


def _start(s, f):
    inside = ", allow_penetration=True" if s.closing else ""
    if s.motion == "rest" and s.floor not in ("tool",):
        return ["scheme.start(0, 0)"]
    made = []
    name = names(s)
    for i in s.movable if s.motion != "rest" else ():
        spin = ""
        if s.spin:
            turned = s.spin / f.time * round(float(np.linalg.det(f.Q)))
            spin = f", {shown(turned if s.gdim == 2 else turned * np.array([0.0, -1.0, 0.0]))}"
        sign = 1.0 if s.motion != "flying" or i % 2 == 0 or s.joint == "tie" else -1.0
        speed = f.along(*up(s, s.speed[0] * sign, s.speed[1] * sign), unit=f.speed)
        made.append(f'body.rigid_velocity({speed}{spin}, cells="{name[i]}")')
    if s.stretch:
        made.append(_stretching(s, f))
    if s.floor == "tool":
        made.append(f'body.rigid_velocity({f.along(*up(s, s.drive, 0), unit=f.speed)}, cells="{name[0]}")')
    late = f", t0={s.late}" if s.late else ""
    return [f"scheme.start(0, {' + '.join(made)}{late}{inside})"]


def _stretching(s, f):
    """A velocity field that stretches the body along one direction and compresses it along another."""
    rate = s.stretch / f.time * np.diag([1.0] + [0.0] * (s.gdim - 2) + [-1.0])
    rows = ", ".join(shown(row) for row in f.Q @ rate @ f.Q.T)
    where = f"body.x[:, :{s.gdim}]" + ("" if f.plain else f" - {f.place(*up(s, 0, 0))}")
    return f"(({where}) @ np.array([{rows}])).ravel()"


def end(s: Scenario) -> str:
    """The line that runs to the end."""
    adapt = ", adapt=di.StepControl()" if s.adapt else ""
    return f"run = di.simulate(scheme, t_end={end_time(s)}{adapt}, progress=False)"


def end_time(s: Scenario) -> str:
    if s.late:
        return f"{s.late} + {s.steps} * scheme.dt"
    return f"{s.steps} * scheme.dt" if s.duration is None else f"{s.duration:.6g}"

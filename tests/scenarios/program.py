"""A scenario as a Python program: what runs, and what a failure prints, are the same lines.

The program uses public names alone and leaves ``body``, ``contact``, ``scheme`` (started) behind.
"""

from __future__ import annotations

import math

import numpy as np

from .compose import CURVED, MESHED, RIGID, Scenario

E, RHO = 1e6, 1000.0
#: Radius of a bowl [m].
BOWL = 3.0
NAMES = ("base", "a", "b", "c", "d")


class Frame:
    """Base frame to the frame of the program: lengths, directions, axial vectors, and SI units to its own."""

    def __init__(self, s: Scenario):
        self.d = d = s.gdim
        c, n = math.cos(s.turn), math.sin(s.turn)
        self.Q = np.eye(d)
        if s.turn:
            i, j = (0, d - 1)
            self.Q[[i, i, j, j], [i, j, i, j]] = c, -n, n, c
        if s.mirror:
            self.Q = self.Q @ np.diag([-1.0] + [1.0] * (d - 1))
        self.length, self.mass, self.time = s.units
        self.shift = (
            s.shift * np.array([3.0, -7.0, 2.0][:d]) if s.hypothesis != "axisymmetric" else np.zeros(d)
        )
        if s.hypothesis == "axisymmetric":
            self.shift[1] = -7.0 * s.shift

    @property
    def plain(self):
        return not self.shift.any() and self.length == 1 and np.array_equal(self.Q, np.eye(self.d))

    def place(self, *x):
        return shown(self.length * (self.Q @ np.array(x) + self.shift))

    def along(self, *x, unit=1.0):
        return shown(unit * (self.Q @ np.array(x)))

    @property
    def speed(self):
        return self.length / self.time

    @property
    def acceleration(self):
        return self.length / self.time**2

    @property
    def pressure(self):
        return self.mass / (self.length * self.time**2)

    @property
    def density(self):
        return self.mass / self.length**3

    def back(self, x, velocity=False):
        """Places at the program's coordinates in the base frame, shape (n, d)."""
        return x @ self.Q / (self.speed if velocity else self.length)


def shown(x):
    """Numbers as short as they are."""
    if np.ndim(x) == 0:
        value = float(x)
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return "(" + ", ".join(shown(each + 0.0) for each in x) + ")"


def names(s: Scenario) -> list[str]:
    """Names of the blocks."""
    made = list(NAMES[: len(s.blocks)]) if s.floor in MESHED else list(NAMES[1 : 1 + len(s.blocks)])
    return [f"{name}_{9 - i}" for i, name in enumerate(made)][::-1] if s.swapped else made


def up(s: Scenario, x: float, y: float) -> tuple[float, ...]:
    """A vector of the plane x, y in two or three dimensions."""
    return (x, y) if s.gdim == 2 else (x, 0.0, y)


def bounds(s: Scenario) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Low and high corners of the blocks in the base frame; movable ones stand on y = 0."""
    made, level = [], 0.0
    for i, b in enumerate(s.blocks):
        held = s.floor in MESHED and i == 0
        low = -b.height if held else level + b.gap
        x0 = 0.0 if s.hypothesis == "axisymmetric" else -0.5 * b.width + b.offset
        if s.gdim == 2:
            made.append(((x0, low), (x0 + b.width, low + b.height)))
        else:
            made.append(((x0, -0.5 * b.width, low), (x0 + b.width, 0.5 * b.width, low + b.height)))
        level = low + b.height
    return made


def program(s: Scenario) -> list[str]:
    """Lines of the program."""
    f, lines = Frame(s), []
    lines += ["import numpy as np, dolfinx_impact as di", "from dolfinx import mesh as dm"]
    lines += ["from mpi4py import MPI"]
    lines += _meshes(s)
    lines += _frame(s, f)
    lines += _body(s, f)
    lines += _contact(s, f)
    lines += _scheme(s)
    lines += _start(s, f)
    return lines


def _meshes(s):
    make = "rectangle" if s.gdim == 2 else "box"
    top = s.gdim - 1
    lines = [
        "def block(low, high, n, d=0):",
        f"    m = dm.create_{make}(MPI.COMM_WORLD, [low, high], n, dm.CellType.{s.cell})",
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
    if s.ground:
        size = shown(s.ground * f.acceleration)
        wave = shown(20.0 / f.time)
        given.append(f"ground_acceleration=({f.along(*up(s, 1, 0))}, lambda t: {size} * np.cos({wave} * t))")
    name = names(s)
    if s.traction:
        given.append(f'traction={{"{name[-1]}/top": {f.along(*up(s, 0, s.traction), unit=f.pressure)}}}')
    held = {}
    if s.hypothesis == "axisymmetric":
        held = {f"{n}/axis": (0,) for n in name}
    if s.floor in ("base", "corner"):
        skin = f"{name[0]}/bottom" if s.floor == "base" else f"{name[0]}/boundary"
        held[skin] = tuple(range(s.gdim))
    if held:
        given.append(f"fixed={held}".replace("'", '"'))
    if s.floor == "tool":
        move = f.Q @ np.array(up(s, s.drive, 0.0)) * f.speed
        signals = ", ".join(f"{i}: lambda t: {shown(v + 0.0)} * t" for i, v in enumerate(move))
        given.append(f'prescribed={{"{name[0]}/boundary": {{{signals}}}}}')
    for word, value in (("damping", s.rate / f.time), ("stiffness_damping", s.beta * f.time)):
        if value:
            given.append(f"{word}={shown(value)}")
    if s.bulk:
        given.append(f"bulk_viscosity=({s.bulk}, 1.2)")
    lines = [f"options = dict({', '.join(given)})", "body = di.Solid(parts, **options)"]
    if s.forms:
        return [*lines, *_forms(s)]
    if s.scaled:
        lines += ["body = di.Solid(parts, **options, mass_scaling=1.1 * body.critical_time_step())"]
    return lines


def _forms(s):
    """The same body by a script's own forms: small strains, one material, its weight."""
    b = s.blocks[0]
    e, rho = E * b.modulus, RHO * b.density
    mu, lam = e / 2 / (1 + s.nu), e * s.nu / (1 + s.nu) / (1 - 2 * s.nu)
    lines = [
        "import ufl",
        "solid, V = body, body.space",
        "w, z = ufl.TrialFunction(V), ufl.TestFunction(V)",
        f"a = 2 * {mu!r} * ufl.inner(ufl.sym(ufl.grad(w)), ufl.grad(z)) + {lam!r} * ufl.div(w) * ufl.div(z)",
    ]
    if s.gravity:
        weight = shown(np.array(up(s, 0, -s.gravity * rho)))
        lines.append(f"weight = ufl.inner(ufl.as_vector({weight}), z) * ufl.dx")
    load = ", load=weight" if s.gravity else ""
    return [*lines, f"body = di.FormSystem(V, stiffness=a * ufl.dx, density={rho!r}{load}, parts=parts)"]


def _contact(s, f):
    name, made = names(s), []
    bounce = f", restitution={s.restitution}" if s.restitution else ""
    options = (f", friction={s.friction}" if s.friction else "") + bounce
    joints = bounce if s.rough == "floor" else options
    axis = s.hypothesis == "axisymmetric"
    drift = ", drift_correction=True" if s.drift else ""
    skin = f"{name[0]}/{'bottom' if axis else s.facets}"
    if s.floor in (*RIGID, *CURVED):
        bent = drift if s.floor in CURVED else ""
        made.append(f'di.RigidContact(body, "{skin}", {_obstacle(s, f)}{options}{bent})')
    if s.joint == "together" and len(name) > 2 and not axis:
        listed = ", ".join(f'"{n}/boundary"' for n in name)
        made.append(f"di.SurfaceContact(body, {listed}{options}{drift})")
        name = name[:1]
    for i in range(1, len(name)):
        ends = f'"{name[i]}/boundary", "{name[i - 1]}/boundary"'
        if axis:
            ends = f'"{name[i]}/bottom", "{name[i - 1]}/top"'
        held = s.floor in MESHED and i == 1
        if s.joint == "tie" and not held and s.motion == "rest":
            made.append(f'di.SurfaceContact(body, "{name[i]}/bottom", "{name[i - 1]}/top", tie=True)')
        else:
            made.append(f"di.SurfaceContact(body, {ends}{options if held else joints}{drift})")
    if s.backwards:
        made.reverse()
    if not made:
        return ["contact = None"]
    return (
        [f"contact = {made[0]}"]
        if len(made) == 1
        else ["contact = [", *(f"    {each}," for each in made), "]"]
    )


def _obstacle(s, f):
    zero, normal = up(s, 0, 0), up(s, 0, 1)
    plane = f"di.Plane({f.place(*zero)}, {f.along(*normal)})"
    if s.floor == "plane":
        return plane
    if s.floor == "moving":
        way = f"({f.along(*up(s, s.drive, 0), unit=f.speed)}, lambda t: t)"
        if s.hypothesis == "axisymmetric":
            way = f"({f.along(*up(s, 0, 0.1), unit=f.speed)}, lambda t: t)"
        scale = "" if f.time == 1 else f", time_scale={1e-3 * f.time}"
        return f"di.MovingObstacle({plane}, translation={way}{scale})"
    if s.floor == "planes":
        wall = f"di.Plane({f.place(*up(s, -0.8, 0))}, {f.along(*up(s, 1, 0))})"
        return f"[{plane}, {wall}]"
    if s.floor == "box":
        size = shown(f.length * np.array(up(s, 4, 0.6) if s.gdim == 2 else (4.0, 4.0, 0.6)))
        axes = "" if f.plain else f", axes=[{', '.join(shown(row) for row in f.Q.T)}]"
        return f"di.Box({f.place(*up(s, 0, -0.3))}, {size}{axes})"
    if s.floor == "bowl":
        return f"di.Sphere({f.place(*up(s, 0.0, bowl(s)))}, {shown(BOWL * f.length)}, inside=True)"
    if s.floor == "cylinder":
        along = f.along(0.0, 1.0, 0.0)
        return f"di.Cylinder({f.place(*up(s, 0.05, -2.0))}, {along}, {shown(2.0 * f.length)})"
    return f"di.Sphere({f.place(*up(s, 0.05, -2.0))}, {shown(2.0 * f.length)})"


def bowl(s):
    """Height of the centre of a bowl that is at the height 0 beside all corners of the lowest block."""
    b = s.blocks[0]
    half = (0.5 * b.width + abs(b.offset) + 0.1) * math.sqrt(s.gdim - 1)
    return math.sqrt(BOWL**2 - half**2)


def _scheme(s):
    step = (
        f"{s.part} * di.{s.scheme}.critical_step(body)"
        if s.explicit
        else f"{s.part} * body.critical_time_step()"
    )
    if s.forms:  # both run with one step
        step = step.replace("body", "solid")
    if s.scheme == "CDLagrangeSingular":
        step = f"{s.part * 0.5} * body.critical_time_step()"
    mass = ', mass="lumped"' if s.scheme in ("MoreauJean", "GeneralizedAlpha") and s.degree > 1 else ""
    mass = ', mass="lumped"' if s.scheme == "MoreauJeanDecoupled" else mass
    return [f"scheme = di.{s.scheme}(body, {step}, contact=contact{mass})"]


def _start(s, f):
    if s.motion == "rest" and s.floor not in ("tool",):
        return ["scheme.start(0, 0)"]
    made = []
    name = names(s)
    for i in s.movable if s.motion != "rest" else ():
        spin = ""
        if s.spin:
            turned = s.spin / f.time * round(float(np.linalg.det(f.Q)))
            spin = f", {shown(turned if s.gdim == 2 else turned * np.array([0.0, -1.0, 0.0]))}"
        sign = 1.0 if s.motion != "flying" or i % 2 == 0 else -1.0
        speed = f.along(*up(s, s.speed[0] * sign, s.speed[1] * sign), unit=f.speed)
        made.append(f'body.rigid_velocity({speed}{spin}, cells="{name[i]}")')
    if s.floor == "tool":
        made.append(f'body.rigid_velocity({f.along(*up(s, s.drive, 0), unit=f.speed)}, cells="{name[0]}")')
    late = f", t0={s.late}" if s.late else ""
    return [f"scheme.start(0, {' + '.join(made)}{late})"]


def end(s: Scenario) -> str:
    """The line that runs to the end."""
    adapt = ", adapt=di.StepControl()" if s.adapt else ""
    return f"run = di.simulate(scheme, t_end={end_time(s)}{adapt}, progress=False)"


def end_time(s: Scenario) -> str:
    if s.late:
        return f"{s.late} + {s.steps} * scheme.dt"
    return f"{s.steps} * scheme.dt" if s.duration is None else f"{s.duration:.6g}"

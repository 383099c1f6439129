# %% [markdown]
# # A machine part is dropped on a floor
#
# A part from a CAD file (STEP, one solid) is meshed with tetrahedra, rotated by an angle, so that a corner
# is lowest, and falls from a height onto a rigid floor with friction. The fall is not computed: the part
# starts at a distance of three steps from the floor with the speed $\sqrt{2 g H}$. Active set, stick and slip
# follow from
#
# $$g \ge 0, \qquad 0 \le v_N^+ \perp r_N \ge 0 \ \text{where}\ g \le 0, \qquad |r_T| \le \mu\,r_N$$
#
# with CD-Lagrange ([Fekak et al. 2017](https://doi.org/10.1007/s00466-017-1397-0)): explicit, no penalty
# parameter to tune. The material laws are valid for large rotations, because the part spins after the impact.
#
# Run it as `[mpirun -n 2] python demos/drop_test.py`; `--help` lists the options. It shows a progress bar,
# stores the run half-way in `checkpoint.npz`, from which `--restart` resumes with the same settings, and
# writes `drop.bp` for ParaView, an animation, a plot of the energies and the history.

# %%
import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import mesh, output, parallel, plot
from dolfinx_impact.plot.drawing import load_pyvista, pyplot
from dolfinx_impact.simulation.checkpoint import Stored

comm = MPI.COMM_WORLD

# %% [markdown]
# ## Parameters
# Steel is elastic here at any stress. At the sharp edge that impacts first the stress is many times the
# strength of steel, and diverges with mesh refinement: therefore the largest stress away from the floor is
# reported too. Aluminium 6061-T6 yields instead, as Johnson and Cook's law says, and keeps a *permanent set*:
# the displacement of a point from where the rigid motion of the part would have taken it, averaged over the
# last quarter of the run, so that the vibrations of the part do not count. There is no damping.
#
# The constants of the alloy: Lesuer, Kay, LeBlanc, Modeling large-strain, high-rate deformation in metals,
# UCRL-JC-134118 (2001).
#
# A *transit* is the time that a wave in a bar takes along the diagonal of the part, $\ell \sqrt{\rho/E}$:
# 36 µs in the steel bracket, 2 ms in rubber. The first contact lasts about ten of them in steel, six in
# rubber. Rubber and metals that yield deform much, so their time step is adapted to the critical one.

# %%
GRAVITY = 9.81  # [m/s2]
PART, SIZE = "bracket.step", 1.9e-3  # comes with the package; edges of its tetrahedra [m]
SAMPLES, FRAMES, ROWS = 30, 40, 200  # of drop.bp, of the film, of the history
STRESS_EVERY = 20  # steps between two evaluations of the stress, and of the displacements in the part
LAST = 0.25  # part of the run at its end, over which these displacements are averaged
AWAY = 0.1  # "away from the floor": farther than this part of the diagonal, at the start
WINDOW = 0.1  # over which the force is averaged [transits]
APART = 0.25  # without contact, after which a phase of contact is over [transits]


class Material(NamedTuple):
    """A law, density [kg/m3], time step over the critical one, whether it is adapted, end [transits]."""

    law: Any
    density: float
    courant: float
    adapt: bool
    transits: float


MATERIALS = {
    "steel": Material(di.StVenantKirchhoff(2.1e11, 0.3), 7850.0, 0.9, False, 18.0),
    "neo-hookean": Material(di.NeoHookean(1e7, 0.45), 1100.0, 0.8, True, 12.0),
    "aluminium": Material(
        di.J2Plasticity(68.9e9, 0.33, hardening=di.JohnsonCook(324e6, 114e6, 0.42, 0.002)),
        2703.0,
        0.8,
        True,
        18.0,
    ),
}

# %% [markdown]
# ## The command line


# %%
class Parser(argparse.ArgumentParser):
    """Prints help on rank 0 only; errors are raised."""

    def error(self, message):
        raise ValueError(message)

    def print_help(self, file=None):
        if comm.rank == 0:
            super().print_help(file)


EXAMPLES = """\
a first look, on a coarse mesh:
  python demos/drop_test.py --size 4e-3
on several ranks (processes), as many as there are cores; the results are the
same to rounding:
  mpirun -n 2 python demos/drop_test.py --height 2
the same in the project's image:
  docker/run mpirun -n 2 python demos/drop_test.py --height 2
after Ctrl-C, with the same settings and any number of ranks:
  mpirun -n 2 python demos/drop_test.py --height 2 \\
    --restart results/drop_test/checkpoint.npz
"""


def read_options(arguments):
    """Parse and validate the command line; a ValueError for invalid options."""
    parser = Parser(
        description="A part from a CAD file is dropped on a floor. SI units. Writes drop.gif, energy.png,\n"
        "history.npz, drop.bp (for ParaView) and checkpoint.npz into the folder of --out.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--step", metavar="FILE", type=Path, help="STEP file of one solid; default: a bracket")
    laws = "; ".join(
        f"{name}: {type(law).__name__}, E {law.E:g} Pa, nu {law.nu:g}, {density:g} kg/m3"
        for name, (law, density, *_) in MATERIALS.items()
    )
    add("--material", default="steel", metavar="|".join(MATERIALS), help=f"{laws}; default: %(default)s")
    add("--height", type=float, default=1.0, metavar="M", help="height of the fall [m]; default: %(default)g")
    add(
        "--angle",
        type=float,
        default=30.0,
        metavar="DEG",
        help="by which the part is turned about the horizontal axis across the diagonal of its box, so that "
        "a corner goes down [degrees]; default: %(default)g",
    )
    add("--friction", type=float, default=0.3, metavar="MU", help="Coulomb's; default: %(default)g")
    add(
        "--size",
        type=float,
        metavar="M",
        help=f"edges of the tetrahedra [m]; default: {SIZE:g} for the bracket (1e5 dofs), else a 20th of "
        "the part's diagonal",
    )
    ends = ", ".join(f"{each.transits:g} ({name})" for name, each in MATERIALS.items())
    add(
        "--t-end",
        type=float,
        metavar="S",
        help=f"end [s]; default: {ends} transits of a wave along the part's diagonal",
    )
    add(
        "--mass-scaling",
        type=float,
        metavar="S",
        help="critical step up to which cells that limit it get mass [s]; default: none",
    )
    add(
        "--out",
        type=Path,
        default=Path("results/drop_test"),
        metavar="DIR",
        help="folder of the results; default: %(default)s",
    )
    add("--restart", type=Path, metavar="FILE", help="go on from a checkpoint of the same settings")
    given = parser.parse_args(arguments)
    if given.material not in MATERIALS:
        raise ValueError(f"--material must be {' or '.join(MATERIALS)}, but is {given.material!r}")
    for name, value, least in (
        ("height", given.height, "positive"),
        ("size", given.size, "positive"),
        ("t-end", given.t_end, "positive"),
        ("friction", given.friction, "at least 0"),
        ("angle", given.angle, "finite"),
    ):
        if value is None:
            continue
        fits = {"positive": value > 0, "at least 0": value >= 0, "finite": True}[least]
        if not (fits and math.isfinite(value)):
            raise ValueError(f"--{name} must be {least}, but is {value:g}")
    return given


def open_folder(folder):
    """Create the folder for the results; a ValueError if it is not writable. Collective."""
    try:
        parallel.on_root(comm, lambda: folder.mkdir(parents=True, exist_ok=True))
        output.refuse_unwritable(folder / "history.npz")
    except OSError as error:
        raise ValueError(f"--out: cannot write into {str(folder)!r}: {error.strerror or error}") from None


def refuse_other_settings(path, settings):
    """Raise a ValueError unless a checkpoint was written under these settings. Collective."""
    with Stored(path) as stored:
        earlier = stored.about.get("about", {})
    for name, value in settings.items():
        if earlier.get(name) != value:
            raise ValueError(
                f"{str(path)!r} is a checkpoint of another run: its {name} is {earlier.get(name)}, "
                f"not {value}"
            )


# %% [markdown]
# ## Part and floor
# The part is rotated about the horizontal axis normal to the diagonal of the footprint of its bounding box,
# through the centre of the box, and translated to the floor $z = 0$; the initial displacement lifts it by the
# distance of three steps.


# %%
class Part(NamedTuple):
    """The rotated solid, the diagonal of its box [m], its rotation and shift, direction towards the eye."""

    solid: Any
    length: float
    rotation: Any
    shift: Any
    eye: tuple

    def in_the_file(self, x):
        """Position of a point in the STEP file [m]."""
        return (np.asarray(x) - self.shift) @ self.rotation


def extent(x):
    """Corners of the bounding box of the points of all ranks [m]. Collective."""
    low, high = np.min(x, axis=0, initial=np.inf), np.max(x, axis=0, initial=-np.inf)
    comm.Allreduce(MPI.IN_PLACE, low, op=MPI.MIN)
    comm.Allreduce(MPI.IN_PLACE, high, op=MPI.MAX)
    return low, high


def turn(x, angle):
    """Rotate the points and move them to the floor, in place; rotation, shift and axis. Collective."""
    low, high = extent(x)
    across = (high - low)[:2] / np.linalg.norm((high - low)[:2])
    axis = np.array([across[1], -across[0], 0.0])
    K = np.cross(np.eye(3), axis)
    rotation = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    center = (low + high) / 2
    x[:] = (x - center) @ rotation.T
    lowest = np.array([0.0, 0.0, extent(x)[0][2]])
    x -= lowest
    return rotation, -rotation @ center - lowest, axis


def make_part(named, material, angle, mass_scaling):
    """The part of a material on the floor. Collective."""
    x = named.mesh.geometry.x
    low, high = extent(x)
    rotation, shift, axis = turn(x, math.radians(angle))
    solid = di.Solid(
        named,
        density=material.density,
        law=material.law,
        gravity=(0.0, 0.0, -GRAVITY),
        mass_scaling=mass_scaling,
    )
    return Part(solid, float(np.linalg.norm(high - low)), rotation, shift, (axis[0], axis[1], 0.3))


# %% [markdown]
# ## Observers
# Observers with `state` and `resume` are stored in checkpoints. The total impulse of every step gives the
# force. The momentum is that at $t$, half a step of gravity before the velocity of the scheme.


# %%
class Floor:
    """Total contact impulse of every step, largest penetration, initial momentum."""

    needs_energies = False  # those of the samples are sufficient

    def __init__(self, solid):
        self.solid, self.steps, self.first = solid, [], None
        self.deepest = self.approach = 0.0

    def begin(self, integrator):
        """Evaluate gap and momentum before the first step."""
        self.gap = integrator.gap()
        if self.first is None:
            self.first = self.momentum(integrator)

    def momentum(self, integrator):
        """Momentum at ``t`` [N s], shape (3,). Collective."""
        momenta, solid = np.zeros(self.solid.size), self.solid
        solid.mass_product(integrator.v, "lumped", momenta)
        half_kick = 0.5 * integrator.dt * solid.total_mass * np.array([0.0, 0.0, -GRAVITY])
        return comm.allreduce(momenta[: solid.owned].reshape(-1, 3).sum(axis=0)) - half_kick

    def follow(self, steps):
        """Add consecutive steps; the first call has only the initial state."""
        n = steps.count
        impulses = np.zeros((n, 3))
        impulses[:, 2] = steps.r[:n].sum(axis=1)
        if steps.r_t.ndim == 3:  # with friction
            impulses += steps.r_t[:n].sum(axis=1)
        self.steps.append(np.column_stack([steps.t[:n], impulses]))
        for gap in steps.gap[:n]:
            inside = gap < 0
            if inside.any():
                self.deepest = max(self.deepest, float(-gap.min()))
                self.approach = max(self.approach, float((self.gap - gap)[inside].max()))
            self.gap = gap.copy()

    def series(self):
        """Times and total impulses of all steps, shape (steps, 4). Collective."""
        every = np.concatenate(self.steps) if self.steps else np.zeros((0, 4))
        total = comm.allreduce(every)
        total[:, 0] = every[:, 0]
        return total

    def depths(self):
        """Largest penetration, and largest approach in a step with penetration [m]. Collective."""
        return np.max(comm.allgather([self.deepest, self.approach]), axis=0)

    def state(self):
        """State for a checkpoint. Collective."""
        return {"steps": self.series(), "first": self.first, "depths": self.depths()}

    def resume(self, state):
        """Restore a state."""
        steps = np.array(state["steps"])
        if comm.rank > 0:
            steps[:, 1:] = 0.0
        self.steps, self.first = [steps], np.array(state["first"])
        self.deepest, self.approach = map(float, state["depths"])


class PeakStress:
    """The largest von Mises stress so far, at all nodes and at those away from the floor."""

    def __init__(self, part):
        self.stress, self.n = di.VonMises(part.solid), 0
        nodes = part.solid.owned // 3
        self.x = part.solid.x[:nodes]
        self.where = [np.arange(nodes), np.flatnonzero(self.x[:, 2] > AWAY * part.length)]
        self.peaks = np.zeros((2, 5))

    def __call__(self, integrator):
        """Evaluate the stress every ``STRESS_EVERY`` steps. Collective."""
        self.n += 1
        if self.n % STRESS_EVERY == 0:
            stress = self.stress(integrator.u)
            for peak, nodes in zip(self.peaks, self.where):
                if nodes.size and stress[nodes].max() > peak[0]:
                    place = nodes[stress[nodes].argmax()]
                    peak[:] = (stress[place], integrator.t, *self.x[place])

    def largest(self):
        """Stress [Pa], time [s] and rotated position [m] of both peaks, shape (2, 5). Collective."""
        every = np.array(comm.allgather(self.peaks))
        return np.array([every[every[:, i, 0].argmax(), i] for i in range(2)])

    def state(self):
        """State for a checkpoint. Collective."""
        return {"n": np.array(self.n), "peaks": self.largest()}

    def resume(self, state):
        """Restore a state."""
        self.n, self.peaks = int(state["n"]), np.array(state["peaks"])


class PermanentSet:
    """Displacements from the rigid motion of the part, the mean from a time, or a later restart, on."""

    def __init__(self, solid, begin):
        self.solid, self.begun, self.n, self.count = solid, begin, 0, 0
        self.mass, self.x = solid.mass[::3], solid.x[: solid.owned // 3]
        self.sum = np.zeros_like(self.x)

    def __call__(self, integrator):
        """Add the displacements every ``STRESS_EVERY`` steps. Collective."""
        self.n += 1
        if integrator.t >= self.begun and self.n % STRESS_EVERY == 0:
            self.sum += self.from_rigid(integrator.u[: self.solid.owned].reshape(-1, 3))
            self.count += 1

    def from_rigid(self, u):
        """Displacements from the rigid motion that fits best, in the directions of the start. Collective.

        Kabsch, Acta Cryst. A 32 (1976), 922-923.
        """
        m, X, x = self.mass, self.x, self.x + u
        mass = comm.allreduce(m.sum())
        A, a = X - comm.allreduce(m @ X) / mass, x - comm.allreduce(m @ x) / mass
        left, _, right = np.linalg.svd(comm.allreduce((m[:, None] * a).T @ A))
        left[:, -1] *= np.sign(np.linalg.det(left @ right))
        return a @ (left @ right) - A

    def state(self):
        """State for a checkpoint."""
        return {"n": np.array(self.n)}

    def resume(self, state):
        """Restore a state."""
        self.n = int(state["n"])

    def largest(self):
        """Length of the largest mean [m]. Collective."""
        lengths = np.linalg.norm(self.sum / max(1, self.count), axis=1)
        return comm.allreduce(np.max(lengths, initial=0.0), op=MPI.MAX)


# %% [markdown]
# ## The run


# %%
class Drop(NamedTuple):
    """A run that is ready to start, or has been run."""

    part: Part
    integrator: Any
    t_end: float
    speed: float
    floor: Floor
    peak: PeakStress
    set: PermanentSet
    film: Any


def set_up(named, given, material):
    """Part, floor and scheme, started. Collective."""
    part = make_part(named, material, given.angle, given.mass_scaling)
    solid, speed = part.solid, math.sqrt(2 * GRAVITY * given.height)
    h = material.courant * solid.critical_time_step()
    t_end = given.t_end or material.transits * transit(part, material)
    contact = di.RigidContact(
        solid, "skin", di.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), friction=given.friction
    )
    integrator = di.CDLagrange(solid, h, contact=contact)
    up = solid.rigid_velocity((0.0, 0.0, 1.0))
    integrator.start(3 * h * speed * up, -speed * up)
    film = plot.Snapshots(count=FRAMES, span=(0.0, t_end), forces=True)
    kept = PermanentSet(solid, (1 - LAST) * t_end)
    return Drop(part, integrator, t_end, speed, Floor(solid), PeakStress(part), kept, film)


def transit(part, material):
    """Time that a wave in a bar takes along the part [s]."""
    return part.length * math.sqrt(material.density / material.law.E)


def run(drop, given, material, settings):
    """Simulate; the history. Collective."""
    integrator, solid = drop.integrator, drop.part.solid
    steps = max(1, round(drop.t_end / integrator.dt))
    lowest = np.flatnonzero(solid.x[: solid.owned // 3, 2] < 1e-9 * drop.part.length)
    fields = di.FieldWriter(given.out / "drop.bp", interval=drop.t_end / SAMPLES)
    return di.simulate(
        integrator,
        t_end=drop.t_end,
        record=solid.rows(lowest),
        every=-(-steps // ROWS),
        observers=[drop.floor, drop.peak, drop.film, fields, *([drop.set] if solid.history else [])],
        adapt=di.StepControl(safety=material.courant) if material.adapt else None,
        checkpoint=di.Checkpoint(given.out / "checkpoint.npz", every=steps // 2 + 1, about=settings),
        restart=given.restart,
    )


# %% [markdown]
# ## Results
# The history contains the points that were in contact, and the total impulse of every step.


# %%
def save_history(path, result, series):
    """Write history.npz, without the points that were never in contact."""
    touched = np.flatnonzero(result["r"].sum(axis=0) > 0)
    arrays = {name: result[name] for name in result}
    for name in {"gap", "r", "r_t"} & arrays.keys():
        arrays[name] = arrays[name][:, touched]
    arrays["contact_labels"] = arrays["contact_labels"][touched]
    arrays |= {"step_t": series[:, 0], "step_impulse": series[:, 1:]}
    di.Result(
        arrays,
        balance=result.balance,
        steps=result.steps,
        seconds=result.seconds,
        penetration=result.penetration,
        approach=result.approach,
        added_share=result.added_share,
    ).save(path)


def contact_numbers(series, window, apart):
    """First and last impulse, end of the first phase [s], largest mean force [N] and its time [s]."""
    t, impulse = series[:, 0], series[:, 1:]
    hits = t[impulse[:, 2] > 0]
    if not hits.size:
        return None
    pauses = np.flatnonzero(np.diff(hits) > apart)
    end = hits[pauses[0]] if pauses.size else hits[-1]
    total = np.vstack([np.zeros(3), np.cumsum(impulse, axis=0)])
    last = np.searchsorted(t, t + window, side="right")
    force = np.linalg.norm(total[last] - total[:-1], axis=1) / window
    return hits[0], hits[-1], end, 1 + pauses.size, force.max(), t[force.argmax()] + window / 2


def rigid_motion(drop):
    """Velocity of the centre of mass [m/s] and spin [rad/s] of the part at ``t``. Collective."""
    solid, n = drop.part.solid, drop.part.solid.owned
    m, v = solid.mass[:n:3], drop.integrator.v_mean[:n].reshape(-1, 3)
    x = solid.x[: n // 3] + drop.integrator.u[:n].reshape(-1, 3)
    mass, first, momentum = comm.allreduce(m.sum()), comm.allreduce(m @ x), comm.allreduce(m @ v)
    arm = x - first / mass
    inertia = comm.allreduce(np.einsum("i,ij,ij->", m, arm, arm) * np.eye(3) - (m[:, None] * arm).T @ arm)
    turning = comm.allreduce(m @ np.cross(arm, v))
    return momentum / mass, np.linalg.solve(inertia, turning)


def stress_lines(drop):
    """The largest stresses. Collective."""
    lines, off = [], f", {1e3 * AWAY * drop.part.length:.3g} mm off the floor"
    for name, (stress, t, *x) in zip(("", off), drop.peak.largest()):
        position = ", ".join(f"{1e3 * value:.1f}" for value in drop.part.in_the_file(x))
        text = f"{1e-6 * stress:.5g} MPa at {1e3 * t:.4g} ms, at ({position}) mm of the part"
        lines.append((f"peak stress{name}", text))
    return lines


def plastic_lines(drop, result):
    """What remains of the deformation. Collective."""
    history = drop.part.solid.history
    if history is None:
        return []
    share = result["plastic_work"][-1] / result["kinetic"][0]
    return [
        ("permanent set", f"{1e6 * drop.set.largest():.4g} µm, the largest"),
        ("plastic strain", f"{history.largest('equivalent_plastic_strain'):.4g}, the largest"),
        ("plastic work", f"{100 * share:.4g} % of the energy of the fall"),
    ]


def contact_lines(series, wave):
    """Duration of contact and largest contact force."""
    numbers = contact_numbers(series, WINDOW * wave, APART * wave)
    if numbers is None:
        return [("contact", "none before the end")]
    first, last, end, phases, force, when = numbers
    return [
        ("contact, first phase", f"{1e3 * (end - first):.5g} ms, from {1e3 * first:.4g} ms"),
        (
            "contact, first to last",
            f"{1e3 * (last - first):.5g} ms, phases: {phases} ({1e3 * APART * wave:.3g} ms apart or more)",
        ),
        (
            "peak contact force",
            f"{force:.5g} N at {1e3 * when:.4g} ms, a mean over {1e6 * WINDOW * wave:.3g} µs",
        ),
    ]


def report(drop, result, material):
    """Names and values of the results. Collective."""
    solid, integrator, series = drop.part.solid, drop.integrator, drop.floor.series()
    momentum = (solid.total_mass + solid.added_mass) * drop.speed
    total = series[:, 1:].sum(axis=0)
    weight = solid.total_mass * np.array([0.0, 0.0, -GRAVITY]) * (series[-1, 0] - series[0, 0])
    change = drop.floor.momentum(integrator) - drop.floor.first
    velocity, spin = rigid_motion(drop)
    deepest, approach = drop.floor.depths()
    added = f"{solid.added_mass:.5g} kg ({100 * solid.added_share:.3g} %) in {solid.scaled_cells} cells"
    return [
        ("dofs", f"{comm.allreduce(solid.owned)}"),
        ("steps", f"{result.steps} to {1e3 * integrator.t:.4g} ms, the last {1e6 * integrator.dt:.4g} µs"),
        ("mass", f"{solid.total_mass:.8g} kg"),
        *([] if solid.mass_scaling is None else [("mass added by mass scaling", added)]),
        ("impact speed", f"{drop.speed:.6g} m/s"),
        *stress_lines(drop),
        *plastic_lines(drop, result),
        *contact_lines(series, transit(drop.part, material)),
        ("impulse / (mass speed)", f"{total[2] / momentum:.8g}"),
        ("momentum defect", f"{np.linalg.norm(change - total - weight) / momentum:.1e}"),
        ("rebound speed", f"{velocity[2]:.6g} m/s (centre of mass, upwards)"),
        ("spin", f"{np.linalg.norm(spin):.5g} rad/s"),
        ("largest penetration", f"{1e6 * deepest:.4g} µm (approach in such a step: {1e6 * approach:.4g} µm)"),
        ("balance residual", f"{output.relative_residual(result):.1e} of the largest energy"),
    ]


def draw(drop, result, given, material):
    """Draw the animation and the energies. Collective."""
    # A few times the stress of a plane wave at a rigid wall, since the peak at the corner is much larger.
    top = 2.5 * drop.speed * math.sqrt(material.law.E * material.density)
    name = (given.step or Path(PART)).name
    title = f"{name}, {given.material}, {given.height:g} m, {given.angle:g} degrees"
    plot.energy(given.out / "energy.png", result, title=title)
    plot.animate(
        given.out / "drop.gif",
        drop.part.solid,
        drop.film,
        contact=drop.integrator.contact,
        shade="stress",
        top=top,
        eye=drop.part.eye,
        frames=FRAMES + 1,
        title=title,
    )


# %% [markdown]
# ## Main program
# The exit status is 2 for invalid input, 3 for a failed run, 128 plus the signal for an interrupted one.


# %%
def drop_test(given):
    """Mesh, run and draw. Collective."""
    material, clock = MATERIALS[given.material], [time.perf_counter()]
    size = given.size or (SIZE if given.step is None else None)
    names = ("material", "height", "angle", "friction", "t_end", "mass_scaling")
    settings = {name: getattr(given, name) for name in names}
    settings["size"] = size
    open_folder(given.out)
    parallel.on_root(comm, find_libraries)
    if given.restart is not None:
        refuse_other_settings(given.restart, settings)
    named = mesh.read(given.step or mesh.package_mesh(PART), size=size)
    clock.append(time.perf_counter())
    drop = set_up(named, given, material)
    clock.append(time.perf_counter())
    result = run(drop, given, material, settings)
    clock.append(time.perf_counter())
    save_history(given.out / "history.npz", result, drop.floor.series())
    draw(drop, result, given, material)
    clock.append(time.perf_counter())
    seconds = ", ".join(
        f"{name} {t:.1f} s" for name, t in zip(("meshing", "set-up", "run", "pictures"), np.diff(clock))
    )
    for name, value in [*report(drop, result, material), ("time", seconds), ("files", f"{given.out}/")]:
        if comm.rank == 0:
            print(f"{name:<38}{value}", flush=True)


def find_libraries():
    """Raise an ImportError if a plotting library is missing, before the run."""
    pyplot()
    load_pyvista()


def complain(error, status):
    """Print an error on rank 0; returns the exit status."""
    if comm.rank == 0:
        print(f"error: {error}", file=sys.stderr, flush=True)
    return status


def main(arguments=None):
    """Run the demo; returns the exit status."""
    try:
        drop_test(read_options(arguments))
    except di.Interrupted as stop:
        return complain(f"{stop}: {stop.left}", 128 + stop.number)
    except (ValueError, FileNotFoundError, ImportError) as error:
        return complain(error, 2)
    except (RuntimeError, OSError) as error:
        return complain(error, 3)
    return 0


if __name__ == "__main__":
    sys.exit(main())

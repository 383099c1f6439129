# %% [markdown]
# # A steel bar hits a rigid wall
#
# A bar of square section, 254 mm long, flies at 5 m/s against a rigid wall. A compression
# wave runs up to the free end and comes back as tension; then the bar leaves the wall,
# $2L/c$ after it touched, and flies back. In one dimension the solution is known exactly
# (Carpenter et al. 1991; Di Stasio et al. 2019, case 4): the impulse is $2 m v_0$ and no
# energy is lost. Here the bar is a solid with $\nu = 0.3$, so that lateral motion disperses
# the wave, and two schemes run beside each other:
#
# - CD-Lagrange (Fekak et al. 2017), explicit: central differences, lumped mass;
# - Moreau-Jean (Jean 1999), implicit: theta method with $\theta = 1/2$, consistent mass.
#
# Both demand Newton's impact law of the closed points,
# $0 \le L(v^+ + e v^-) \perp r \ge 0$ with $e = 0$; there is no penalty number to tune.
# Run it in serial or as `mpirun -n 2 python demos/impacting_bar.py [folder]`.

# %%
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import exact, mesh, plot

E, rho, nu = 2.1e11, 7847.0, 0.3  # steel [Pa, kg/m3, -]
length, area = 0.254, 0.645e-3  # [m, m2]
gap, v0, t_end = 2e-4, 5.0, 3e-4  # [m, m/s, s]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/impacting_bar")

# %% [markdown]
# ## Body and wall
# The mesh is made by gmsh from a script with parameters; its parts have names. The bar's
# contact end lies at $x = 0$, the wall at $x = -$gap with the normal $+x$ into the free side.

# %%
bar_mesh = mesh.read(
    mesh.package_mesh("bar.geo"), parameters={"dimension": 3, "length": length, "side": np.sqrt(area)}
)
bar = di.Solid(bar_mesh, density=rho, law=di.LinearElastic(E, nu))
wall = di.RigidContact(bar, "contact", di.Plane((-gap, 0, 0), (1, 0, 0)), gap_tolerance=1e-12)
critical = bar.critical_time_step()
true = exact.ImpactingBar(E, rho, length, area, gap, v0)

# %% [markdown]
# ## Both schemes
# An integrator is a scheme bound to a system, a step and a contact. The energy balance of
# each scheme is followed at every step; its residual is round-off.

# %%
times = true.contact_start + np.array([-0.2, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.2]) * (
    length / true.wave_speed
)
snapshots = plot.Snapshots(times)
runs, rebounds = {}, {}
for name, scheme in (("CD-Lagrange", di.CDLagrange), ("Moreau-Jean", di.MoreauJean)):
    integrator = scheme(bar, 0.7 * critical, contact=wall)
    velocity = np.zeros(bar.size)
    velocity[::3] = -v0
    integrator.start(0.0, velocity)
    watchers = [snapshots] if name == "CD-Lagrange" else []
    runs[name] = di.simulate(integrator, t_end=t_end, observers=watchers)
    momenta = np.zeros(bar.size)
    bar.mass_product(integrator.v_mean, integrator.mass, momenta)
    rebounds[name] = bar.comm.allreduce(momenta[: bar.owned : 3].sum()) / bar.total_mass

# %% [markdown]
# ## What came out, beside the 1D exact solution


# %%
def numbers(name):
    """Start and end of contact, impulse ratio, energies, residual, rebound velocity."""
    run = runs[name]
    hits = run["r"].sum(axis=1) > 0
    ratio = run["r"].sum() / true.impulse
    deepest = run["internal"].argmax()
    return {
        "start of contact [µs]": (run["t"][hits][0] * 1e6, true.contact_start * 1e6),
        "end of contact [µs]": (run["t"][hits][-1] * 1e6, true.contact_end * 1e6),
        "impulse / (2 m v0)": (ratio, 1.0),
        "kinetic energy at the start [J]": (run["kinetic"][0], float(true.kinetic(0.0))),
        "largest internal energy [J]": (run["internal"][deepest], float(true.internal(t_deepest))),
        "kinetic energy at the end [J]": (run["kinetic"][-1], float(true.kinetic(t_end))),
        "work of contact [J]": (run["contact"][-1], 0.0),
        "balance residual / initial": (np.abs(run["residual"]).max() / run["kinetic"][0], 0.0),
        "rebound velocity [m/s]": (rebounds[name], v0),
    }


t_deepest = true.contact_start + length / true.wave_speed
table = {name: numbers(name) for name in runs}
dofs = bar.space.dofmap.index_map.size_global * 3
if MPI.COMM_WORLD.rank == 0:
    folder.mkdir(parents=True, exist_ok=True)
    print(f"3D bar, {dofs} dofs, time step {0.7 * critical:.4g} s, {runs['CD-Lagrange'].steps} steps")
    print(f"{'':<34}{'CD-Lagrange':>14}{'Moreau-Jean':>14}{'1D exact':>12}")
    for row, (_, expected) in table["CD-Lagrange"].items():
        print(f"{row:<34}" + "".join(f"{table[n][row][0]:>14.6g}" for n in runs) + f"{expected:>12.6g}")

# %% [markdown]
# ## Pictures
# Position, velocity, impulse and energies of the contact end over the exact solution; and
# the bar coloured by its axial velocity: the wave goes up and comes back.

# %%
plot.history(
    folder / "history.png",
    runs,
    exact={
        "u": lambda t: true.displacement(0.0, t),
        "v": lambda t: true.velocity(0.0, t),
        "kinetic": true.kinetic,
        "internal": true.internal,
        "impulse": lambda t: true.force * np.clip(t - true.contact_start, 0.0, 2 * length / true.wave_speed),
    },
    title="Contact end of the bar (means over its nodes, motion towards the wall)",
)
plot.strip(
    folder / "strip.png", bar, snapshots, obstacle=wall.obstacle, shade="v_x", magnify=40.0,
    title="CD-Lagrange: bar against a wall",
)  # fmt: skip
if MPI.COMM_WORLD.rank == 0:
    print(f"pictures: {folder / 'history.png'}, {folder / 'strip.png'}")

# %% [markdown]
# The numbers that the tests check:

# %%
for name in runs:
    assert abs(table[name]["impulse / (2 m v0)"][0] - 1.0) < 0.03
    assert table[name]["balance residual / initial"][0] < 1e-11

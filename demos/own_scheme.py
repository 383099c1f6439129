# %% [markdown]
# # A scheme of your own
#
# Central differences keep all frequencies alive. When a bar leaves a wall, its contact node goes on
# swinging about the velocity of the rebound, although the exact solution is a bar in rigid flight
# (Di Stasio et al. 2019, case 4). The cure of Tchamwa and Wielgosz is a displacement that
# looks a little ahead of the velocity:
#
# $$u_{n+1} = u_n + h\,v_{n+1/2} + (\varphi - 1)\,h\,(v_{n+1/2} - v_{n-1/2}), \qquad
#   v_{n+3/2} = v_{n+1/2} + h M^{-1} F_{n+1} + M^{-1} L^T r_{n+1},$$
#
# the impulse from Newton's law as in CD-Lagrange:
# $0 \le L(v_{n+3/2} + e\,v_{n+1/2}) \perp r \ge 0$ where $g(u_{n+1}) \le 0$. The jump
# $v_{n+1/2} - v_{n-1/2}$ has the impulse in it. An undamped mode of frequency $\omega$ loses
# $(\varphi - 1)(\omega h)^2$ of its amplitude squared in every step: the highest modes most, a rigid
# motion nothing. The price is the order: one instead of two. It is stable up to
# $h = 2 / (\omega_{\max} \sqrt{2 \varphi - 1})$.
#
# Here it is written from scratch, asked by the benchmark what it keeps and what it loses, and drawn
# next to CD-Lagrange. Run it as `[mpirun -n 2] python demos/own_scheme.py [folder]`.

# %%
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import exact, mesh, plot
from dolfinx_impact.algebra import complementarity
from dolfinx_impact.benchmark import report

# %% [markdown]
# ## The scheme
# An integrator keeps `u`, `v` and `r`; `begin` prepares the first step, `advance` makes one. In
# parallel each rank does so for the dofs that it owns, and `force` talks to the others.


# %%
class TchamwaWielgosz(di.Integrator):
    """CD-Lagrange whose displacement looks ahead, so that high frequencies die out."""

    v_shift = 0.5  # v is at t + h/2
    phi = 1.05

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        limit = system.critical_time_step() / np.sqrt(2 * self.phi - 1)
        if dt > (1 + 1e-6) * limit:
            raise ValueError(f"the time step {dt:.6g} s is above the critical one, {limit:.6g} s: lower it")
        if contact is not None and contact.friction > 0:
            raise ValueError("this scheme knows no friction")
        self.f, self.push = np.zeros(system.size), np.zeros(system.size)

    def begin(self):
        n = self.system.owned  # what lies behind are the ghosts of other ranks
        self.system.force(self.t, self.u, self.v, self.f)
        half_kick = np.zeros(self.system.size)
        half_kick[:n] = 0.5 * self.dt * self.system.inverse_mass * self.f[:n]
        self.v_before, self.v = self.v - half_kick, self.v + half_kick

    @property
    def v_mean(self):
        return 0.5 * (self.v_before + self.v)

    def v_mean_at(self, dofs):
        return self.v_mean[dofs]

    def advance(self):
        n, h, inverse_mass = self.system.owned, self.dt, self.system.inverse_mass
        self.u[:n] += h * (self.v + (self.phi - 1) * (self.v - self.v_before))[:n]
        self.system.force(self.t, self.u, self.v, self.f)
        self.v_before[:] = self.v
        self.v[:n] += h * inverse_mass * self.f[:n]
        if self.contact is not None:
            self.resolve_contact(n, inverse_mass)

    def resolve_contact(self, n, inverse_mass):
        closed = self.contact.closed(self.contact.evaluate(self.u))
        L = self.contact.rows
        H = np.sum(L.weights**2 * inverse_mass[L.dofs], axis=1)  # no two points share a dof
        b = L(self.v) + self.contact.restitution * L(self.v_before)
        self.r[:], self.push[:] = 0.0, 0.0
        self.r[closed] = complementarity.solve(H[closed], b[closed])
        L.add_transpose(self.r, self.push)
        self.v[:n] += inverse_mass * self.push[:n]


# %% [markdown]
# ## What the benchmark says of it
# The report takes the class as `module:Class`; its processes import this file for it, which is why all
# that runs stands in functions. (The same from the command line, in this folder:
# `python -m dolfinx_impact.benchmark report --cases impacting-bar --schemes own_scheme:TchamwaWielgosz`.)


# %%
def ask_the_benchmark(folder):
    """Its properties beside those of CD-Lagrange."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    name = "own_scheme:TchamwaWielgosz"
    asked = ("impact-energy", "long-run-energy", "smooth-order", "oscillation", "mass-scaling")
    found = report.write(["impacting-bar"], ["cd-lagrange", name], folder / "report", properties=asked)
    return {row["id"]: row["reproduced"] for row in found["schemes"][name]}


# %% [markdown]
# ## The released bar
# Both schemes at 0.7 of the critical step of the bar. After the release every point of the exact bar
# flies at $v_0$; the standard deviation of the velocity of the contact node is what is left of the
# oscillation. The damped bar keeps one smooth pulse that runs up and down, whose waves are long
# against the elements.


# %%
E, rho, length, area, gap, v0 = 2.1e11, 7847.0, 0.254, 0.645e-3, 2e-4, 5.0
true = exact.ImpactingBar(E, rho, length, area, gap, v0)


def run_bar(scheme, t_end=6e-4):
    """The bar against the wall; the history of its contact node."""
    named = mesh.read(mesh.package_mesh("bar.geo"), gdim=1, parameters={"length": length, "elements": 50})
    bar = di.Solid(named, density=rho, law=di.LinearElastic(E), section=area)
    wall = di.RigidContact(bar, "contact", di.Plane((-gap,), (1.0,)), gap_tolerance=1e-12)
    integrator = scheme(bar, 0.7 * length / 50 / true.wave_speed, contact=wall)
    integrator.start(0.0, -v0)
    return di.simulate(integrator, t_end=t_end)


def oscillation(run):
    """Standard deviation of the velocity of the released contact node, over v0."""
    free = run["t"] > true.contact_end + 5e-6
    return float(np.std(run["v_t"][free, 0]) / v0)


def draw(path, runs):
    """Velocity of the contact node over time, the exact one beside."""
    pyplot = plot.pyplot()
    figure, panels = pyplot.subplots(2, figsize=(8, 5.5), sharex=True, sharey=True, layout="constrained")
    t = np.linspace(0, 6e-4, 4001)
    for axes, (name, run) in zip(panels, runs.items()):
        axes.plot(t * 1e6, true.velocity(0.0, t), label="exact", **plot.style("exact"))
        look = {**plot.style(name, every=0), "ls": "-"}
        axes.plot(run["t"] * 1e6, run["v_t"][:, 0], label=name, **look)
        axes.set_ylabel("velocity [m/s]")
        axes.legend()
    panels[0].set_title("Contact node of the bar, towards the wall")
    panels[-1].set_xlabel("time [µs]")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


# %%
def main(folder):
    """All of it; the numbers that the tests check."""
    runs = {"cd-lagrange": run_bar(di.CDLagrange), "Tchamwa-Wielgosz": run_bar(TchamwaWielgosz)}
    left = [oscillation(run) for run in runs.values()]
    answers = ask_the_benchmark(folder)
    if MPI.COMM_WORLD.rank == 0:
        print(f"oscillation after release / v0   {left[0]:.6f}  {left[1]:.6f}")
        draw(folder / "velocity.png", runs)
        print(f"picture: {folder / 'velocity.png'}")
    assert left[1] < 0.6 * left[0]
    assert answers["oscillation"] and answers["impact-energy"] and answers["mass-scaling"]
    assert not answers["long-run-energy"] and not answers["smooth-order"]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/own_scheme"))

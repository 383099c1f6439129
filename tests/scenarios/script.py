"""The program that reproduces a failure: at most 40 lines, with public names of the package alone."""

from __future__ import annotations

from . import program
from .compose import Scenario
from .oracles import ORACLES, same, spectrum

LINES = 40

_LOOK = [
    "seen = []",
    "def look(s):",
    "    part, all = np.zeros(s.contact.nodes.loaded.dofs.shape), np.zeros(s.system.size)",
    "    s.add_nodal_impulses(part)",
    "    np.add.at(all, s.contact.nodes.loaded.dofs, part)",
    "    seen.append((s.v_time, s.v.copy(), all))",
]


def script(s: Scenario, name: str, text: str) -> str:
    """The program; its first line says what the oracle said."""
    shown = text.replace("\n", " ")
    lines = [f"# scenario {s.seed}, {name}: {shown[:180]}"]
    lines += _lines(s, name, text)
    assert len(lines) <= LINES, lines
    return "\n".join(lines) + "\n"


def _lines(s, name, text):
    if name != "runs" and ORACLES[name].small:
        return [
            "from scenarios.compose import Scenario  # with PYTHONPATH=tests",
            "from scenarios.oracles import ORACLES",
            f'for misfit in ORACLES["{name}"].judge(Scenario({s.seed})):',
            "    print(misfit)",
        ]
    run, end = program.program(s), program.end(s)
    if name == "spectrum":
        lines = program.program(spectrum.bare(s))
        lines[-1] = "scheme.start(0, np.random.default_rng(0).standard_normal(body.size))"
        return lines + [
            "run = di.simulate(scheme, t_end=500 * scheme.dt, progress=False)",
            'print("kinetic energy [J]:", run["kinetic"][[0, 250, -1]])',
        ]
    if name == "frame":
        other = next((v for k, v in same.variants(s).items() if k in text), s)
        if len(run) * 2 < LINES - 8:
            again = program.program(other)[3:]
            return [
                *run,
                end,
                "first = abs(scheme.u).max()",
                *again,
                end,
                'print("largest displacement:", first, "in the other frame:", abs(scheme.u).max())',
            ]
        return [*program.program(other), end, 'print("largest displacement:", abs(scheme.u).max())']
    if name in ("carried", "momentum", "works") and s.floor != "none" and len(run) < LINES - 14:
        observed = end.replace("progress=", "observers=[look], progress=")
        d = s.gdim
        return [
            *run[:-1],
            *_LOOK,
            run[-1],
            observed,
            "for name in " + repr(program.names(s)) + ":",
            f"    on = body.rigid_velocity(({'0, ' * (d - 1)}1), cells=name) > 0  # its vertical dofs",
            "    p = [body.mass[on] @ v[on] for t, v, r in seen]",
            "    impulse = sum(r[on].sum() for t, v, r in seen)",
            '    print(name, "mass", sum(body.mass[on]), "momentum", p[-1], "impulse", impulse, seen[-1][0])',
            'print(*(f"{n} {run[n][-1]:.6g} J" for n in ("external", "contact", "residual")))',
        ]
    if name == "ways":
        end = "run = di.simulate(scheme, t_end=60 * scheme.dt, progress=False, compiled=False)"
        return [
            *run,
            end,
            "u, v = scheme.u.copy(), scheme.v.copy()",
            run[-2],
            run[-1],
            "half, end = 30 * scheme.dt, 60 * scheme.dt",
            "di.simulate(scheme, t_end=half, progress=False)",
            "di.simulate(scheme, t_end=end, progress=False)",
            'print("in two runs:", abs(scheme.u - u).max(), abs(scheme.v - v).max())',
        ]
    return [
        *run, end,
        'print(run.summary())',
        'for name in ("kinetic", "internal", "external", "contact", "dissipated", "residual"):',
        "    print(name, run[name][[0, len(run[name]) // 2, -1]])",
        'print("u", abs(scheme.u).max(), "v", abs(scheme.v).max(), "force", run["r"].sum() / scheme.t)',
    ]  # fmt: skip

"""Sketches of what words are about: ``<!-- insert: sketch NAME -->`` puts one into a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from .obstacle_sketches import gap, obstacles
from .svg import Point, Sketch, ellipse

# -- time levels


def _axis(s: Sketch, y: float, ticks: Mapping[float, str], name: str = "t") -> None:
    s.arrow((20, y), (408, y))
    s.text((412, y - 16), name, "end")
    for x, words in ticks.items():
        s.line([(x, y - 4), (x, y + 4)])
        s.text((x, y - 20), words, kind="muted")


def cd_lagrange() -> list[Sketch]:
    """Time levels of CD-Lagrange."""
    s = Sketch("Time levels of CD-Lagrange: u, gap, forces and impulses at whole steps, v at half steps", 165)
    _axis(s, 60, {60: "t_n", 145: "t_{n+1/2}", 230: "t_{n+1}", 315: "t_{n+3/2}"})
    for x, name in ((60, "u_n"), (230, "u_{n+1}")):
        s.point((x, 60))
        s.text((x, 76), name)
    for x, name in ((145, "v_{n+1/2}"), (315, "v_{n+3/2}")):
        s.point((x, 60), "open")
        s.text((x, 76), name)
    s.arrow((60, 98), (226, 98))
    s.text((143, 104), "u + h v")
    s.arrow((145, 128), (311, 128), "force")
    s.text((228, 135), "v + M^{-1}(h F + L^T r),  g and r at t_{n+1}", kind="force")
    s.text((20, 12), "contact: Newton's law between v_{n+1/2} and v_{n+3/2}", "start", "muted")
    return [s]


def moreau_jean() -> list[Sketch]:
    """Time levels of Moreau-Jean."""
    s = Sketch(
        "Time levels of Moreau-Jean: u and v at whole steps, gaps forecast in the middle, r over a step", 165
    )
    _axis(s, 60, {80: "t_n", 200: "t_n + h/2", 320: "t_{n+1}"})
    for x, name in ((80, "u_n, v_n"), (320, "u_{n+1}, v_{n+1}")):
        s.point((x, 60))
        s.text((x, 76), name)
    s.point((200, 60), "open")
    s.text((200, 76), "g(u_n + h/2 v_n) ≤ 0 ?")
    s.arrow((80, 112), (316, 112), "force")
    s.text((200, 120), "r over the step,  F by θ at both ends", kind="force")
    s.text((20, 12), "contact: Newton's law between v_n and v_{n+1}", "start", "muted")
    return [s]


def hati_levels() -> list[Sketch]:
    """Time levels of HATI."""
    s = Sketch(
        "Time levels of HATI: one implicit step of m h above m explicit steps of h, equal velocities at each",
        240,
    )
    fine = [60 + 40 * j for j in range(8)]
    s.text((20, 212), "I: Newmark, implicit, step m h", "start")
    s.arrow((20, 180), (408, 180))
    s.text((20, 14), "E: CD-Lagrange, explicit, step h, contact", "start")
    _axis(s, 70, {60: "t_n", 340: "t_{n+m}"})
    for x in fine:
        s.line([(x, 70), (x, 180)], "dashed force")
        s.point((x, 70), radius=3)
        s.point((x + 20, 70), "open", 2.5) if x < 340 else None
    for x in (60, 340):
        s.point((x, 180))
        s.text((x, 192), "u, v, a")
    s.text((206, 126), "Λ_j: v_E = v_I at every fine time", kind="force halo")
    s.arrow((60, 92), (100, 92), both=True)
    s.text((80, 100), "h", kind="halo")
    s.arrow((60, 160), (340, 160), both=True)
    s.text((206, 146), "v_I between: linear", kind="muted halo")
    return [s]


# -- surfaces, subdomains


def segments() -> list[Sketch]:
    """Mortar segments and points."""
    s = Sketch(
        "Two surfaces whose meshes do not match: points, segments of the overlaps, one normal for a pair", 215
    )
    upper = [(30, 140), (126, 128), (222, 126), (318, 130), (396, 140)]
    lower = [(14, 74), (82, 76), (158, 78), (250, 78), (336, 76), (406, 74)]
    s.area([*upper, (396, 196), (30, 196)])
    s.area([*lower, (406, 20), (14, 20)], "other")
    for p in upper:
        s.line([p, (p[0], 196)], "thin")
        s.point(p)
    for p in lower:
        s.line([p, (p[0], 20)], "thin")
        s.point(p, "open")
    cuts = sorted([x for x, _ in upper] + [x for x, _ in lower[1:-1]])
    for x in cuts:
        s.line([(x, 78), (x, 134)], "dashed")
    for i, (a, b) in enumerate(zip(cuts, cuts[1:])):
        s.box((a + 1, 99), (b - 1, 106), "segment" if i % 2 else "segment odd")
    s.arrow((204, 78), (204, 122), "normal")
    s.text((211, 88), "n", "start", "normal")
    s.text((212, 174), "surface s: points, the side with less mass per area", kind="halo")
    s.text((212, 40), "surface m: anywhere opposite", kind="halo")
    s.text((288, 110), "segments", kind="halo")
    return [s]


def subdomains() -> list[Sketch]:
    """The subdomains of HATI."""
    s = Sketch(
        "Subdomains of HATI: explicit near the contact with step h, implicit elsewhere with step m h", 170
    )
    s.hatch([(14, 64), (14, 124)])
    s.grid((22, 70), (150, 118), (8, 3))
    s.grid((150, 70), (406, 118), (4, 1), "other")
    for y in (70, 86, 102, 118):
        s.point((22, y), "dot force", 3)
        s.point((150, y), "open force")
    s.text((82, 132), "E: explicit, step h")
    s.text((290, 132), "I: implicit, step m h")
    s.text((22, 42), "contact", "start", "force")
    s.arrow((150, 46), (150, 62), "force")
    s.text((120, 32), "interface: equal velocities, v_E = v_I by Λ", "start", "force")
    s.text((406, 8), "linear; Newmark (1/4, 1/2)", "end", "muted")
    s.text((22, 8), "any law; CD-Lagrange", "start", "muted")
    return [s]


def ranks() -> list[Sketch]:
    """A mesh on several ranks."""
    s = Sketch(
        "A mesh on two ranks: each owns its cells and nodes, and knows the layer beyond as ghosts", 150
    )
    s.grid((40, 50), (200, 114), (5, 2))
    s.grid((200, 50), (360, 114), (5, 2), "other")
    for y in (50, 82, 114):
        s.point((200, y))
        s.point((232, y), "open")
    s.text((120, 126), "rank 0")
    s.text((280, 126), "rank 1")
    s.text((200, 30), "ghosts of rank 0: copies of nodes that rank 1 owns")
    s.arrow((226, 40), (231, 46))
    s.text((200, 8), "sums count owned nodes only", kind="muted")
    return [s]


# -- laws


def _graph(name: str, across: str, up: str, curve: Sequence[Point], words: str) -> Sketch:
    s = Sketch(f"{name}: {words}", 158, 140)
    s.arrow((10, 66), (132, 66))
    s.arrow((70, 34), (70, 136))
    s.text((134, 50), across, "end")
    s.text((76, 132), up, "start")
    s.line(curve, "force thick")
    s.text((70, 18), name)
    s.text((70, 3), words, kind="muted small")
    return s


def laws() -> list[Sketch]:
    """Signorini's, Newton's and Coulomb's laws."""
    corner = [(70, 128), (70, 66), (128, 66)]
    return [
        _graph("position level", "g", "λ", corner, "0 ≤ g ⊥ λ ≥ 0"),
        _graph("velocity level", "v_N^+ + e v_N^-", "r", corner, "where g ≤ 0"),
        _graph("Coulomb", "v_T", "− r_T", [(16, 40), (70, 40), (70, 92), (124, 92)], "| r_T | ≤ μ r"),
    ]


def enforcements() -> list[Sketch]:
    """What the discretizations of Doyen, Ern and Piperno ask for."""
    corner = [(70, 128), (70, 66), (128, 66)]
    return [
        _graph("4: exact", "g", "λ", corner, "position level"),
        _graph("5: penalty", "g", "λ", [(26, 128), (70, 66), (128, 66)], "λ = max(−g, 0) / ε"),
        _graph("6: in velocity", "v_N", "r", corner, "where g ≤ 0"),
        _graph("7: modified mass", "g", "λ", corner, "no mass at the contact"),
    ]


def restitution() -> list[Sketch]:
    """What restitution means for a rigid and for a deformable body."""
    rigid = Sketch("A rigid body leaves with e times its normal velocity", 190, 200)
    soft = Sketch(
        "A deformable body: e acts on its contact nodes, waves decide how the body leaves", 190, 220
    )
    for s in (rigid, soft):
        s.hatch([(s.width - 8, 40), (8, 40)][::-1])
    rigid.area(ellipse(58, 112, 26))
    rigid.area(ellipse(142, 112, 26))
    rigid.arrow((58, 84), (58, 52), "force")
    rigid.arrow((142, 140), (142, 160), "force")
    rigid.text((66, 62), "v", "start", "force")
    rigid.text((150, 152), "e v", "start", "force")
    rigid.text((100, 176), "rigid: e is the body's")
    for i, node in enumerate(soft.grid((70, 40), (150, 140), (4, 5))):
        if i < 5:
            soft.point(node, "dot force")
    for x in (80, 140):
        soft.arrow((x, 44), (x, 58), "force")
    soft.text((158, 46), "nodes: e v", "start", "force")
    for y in (78, 98, 118):
        wave = [(84 + 2 * i, y + 4 * math.sin(i / 2)) for i in range(27)]
        soft.line(wave, "normal")
    soft.text((158, 94), "waves", "start", "normal")
    soft.arrow((110, 140), (110, 160))
    soft.text((118, 152), "by the waves", "start")
    soft.text((110, 176), "deformable: e is the nodes'")
    return [rigid, soft]


# -- theory


def formulation() -> list[Sketch]:
    """Forces and impulses of a system."""
    s = Sketch(
        "A system M dv = F dt + L^T dr: smooth forces F on all nodes, impulses r where contact is closed", 190
    )
    s.hatch([(20, 38), (400, 38)])
    nodes = s.grid((120, 38), (300, 134), (6, 3))
    for x, y in nodes:
        closed = y == 38 and 150 <= x <= 270
        s.point((x, y), "dot force" if closed else "dot", 3)
        if closed:
            s.arrow((x, 12), (x, 33), "force")
    s.arrow((60, 120), (112, 96))
    s.text((50, 128), "F(t, u, v)")
    s.arrow((306, 100), (360, 100))
    s.text((366, 95), "v", "start")
    s.text((312, 14), "L^T r, r ≥ 0", "start", "force")
    s.text((210, 150), "mass M at the nodes, displacements u")
    return [s]


def delassus() -> list[Sketch]:
    """What an impulse at one point does at others."""
    several = []
    for title, sizes in (
        ("lumped mass: H diagonal", (0, 0, 1, 0, 0)),
        ("consistent mass: H full", (-0.25, -0.4, 1, -0.4, -0.25)),
    ):
        s = Sketch(f"Velocities after an impulse at one contact point; {title}", 160, 200)
        s.grid((20, 40), (180, 90), (4, 1))
        for i, size in enumerate(sizes):
            x = 20 + 40 * i
            s.point((x, 40), "dot")
            if size:
                s.arrow((x, 94), (x, 94 + 60 * size if size < 0 else 130), "normal")
        s.arrow((100, 10), (100, 36), "force")
        s.text((108, 14), "r_k", "start", "force")
        s.text((108, 128), "v_i = H_{ik} r_k", "start", "normal")
        s.text((100, 148), title)
        several.append(s)
    return several


def energy() -> list[Sketch]:
    """What a balance adds up."""
    s = Sketch(
        "Energy balance: kinetic, stored and lost energy add up to that of the start and the external work",
        150,
    )
    bars = (
        ("start", ("kinetic", 300, "body")),
        ("contact", ("kinetic", 60, "body"), ("stored", 205, "other"), ("lost", 35, "lost")),
        ("end", ("kinetic", 240, "body"), ("stored", 25, "other"), ("lost", 35, "lost")),
    )
    for row, (when, *parts) in enumerate(bars):
        y, x = 104 - 36 * row, 76.0
        s.text((66, y + 7), when, "end")
        for name, size, kind in parts:
            s.box((x, y), (x + size, y + 24), kind)
            if size > 30:
                s.text((x + size / 2, y + 7), name)
            x += size
    s.line([(376, 20), (376, 136)], "dashed force")
    s.text((410, 4), "residual: what is missing, 0 to round-off", "end", "force")
    return [s]


SKETCHES: Mapping[str, Callable[[], list[Sketch]]] = {
    "gap": gap,
    "obstacles": obstacles,
    "cd-lagrange": cd_lagrange,
    "moreau-jean": moreau_jean,
    "hati-levels": hati_levels,
    "segments": segments,
    "subdomains": subdomains,
    "ranks": ranks,
    "laws": laws,
    "enforcements": enforcements,
    "restitution": restitution,
    "formulation": formulation,
    "delassus": delassus,
    "energy": energy,
}


def sketch(name: str) -> str:
    """One of the sketches in HTML: one drawing, or several side by side."""
    drawings = "\n".join(each.svg() for each in SKETCHES[name]())
    return f'<figure class="sketch">\n{drawings}\n</figure>'

"""Kinds of bodies, supports and schemes among which scenarios are composed."""

#: Bodies: cell, degree, hypothesis, law. The first ones have no others before them in a short run.
BODIES = (
    ("quadrilateral", 1, None, "linear"),
    ("quadrilateral", 1, None, "neo-hookean"),
    ("triangle", 1, None, "linear"),
    ("quadrilateral", 2, None, "linear"),
    ("quadrilateral", 1, "axisymmetric", "linear"),
    ("hexahedron", 1, None, "linear"),
    ("quadrilateral", 1, None, "metal"),
    ("triangle", 2, None, "linear"),
    ("tetrahedron", 1, None, "neo-hookean"),
    ("quadrilateral", 1, "plane-stress", "linear"),
    ("tetrahedron", 2, None, "linear"),
)
#: Cells with a diagonal: blocks of them are not symmetric about their middle.
SIMPLICES = ("triangle", "tetrahedron")
#: What lies below: rigid obstacles, or parts of the mesh; a funnel is a cone from inside, a union an L.
RIGID = ("plane", "box", "planes", "moving", "union")
CURVED = ("sphere", "bowl", "cylinder", "cone", "funnel", "torus")
MESHED = ("base", "tool", "corner")
#: Schemes: takes surfaces, takes nonlinear laws, takes metals, takes restitution, is explicit.
SCHEMES = {
    "CDLagrange": "surfaces nonlinear metal restitution explicit friction",
    "NohBathe": "surfaces nonlinear metal restitution explicit friction",
    "MoreauJean": "surfaces nonlinear restitution friction",
    "GeneralizedAlpha": "surfaces nonlinear restitution friction",
    "CDLagrangeSingular": "nonlinear explicit friction",
    "MoreauJeanDecoupled": "restitution",
    "PaoliSchatzman": "nonlinear metal restitution explicit",
    "Carpenter": "nonlinear metal explicit",
}
#: Of a body in two parts: the lower cells with the contact, the others in steps ``ratio`` times larger.
DIVIDED = {"HATI": "divided nonlinear metal restitution explicit friction"}
#: Of bodies that are held: no inertia.
HELD = {"Static": "surfaces nonlinear friction"}
#: Those for one linear block with constant loads and no damping on a plane; in contact "position" schemes put
#: reactions into the velocity by rules of their own, "penalty" ones have a depth, and 2.x have no contact.
STEADY = {
    "AcaryBonnefon": "steady",
    "CarpenterImplicit": "steady position",
    "dep-2.1": "steady free",
    "dep-2.2": "steady free",
    "dep-2.3": "steady free explicit",
    "dep-4.1": "steady position",
    "dep-4.2": "steady position",
    "dep-4.3": "steady position",
    "dep-4.4": "steady position",
    "dep-4.5": "steady position",
    "dep-4.6": "steady position",
    "dep-4.7": "steady position explicit",
    "dep-4.8": "steady position explicit",
    "dep-5.1": "steady penalty",
    "dep-5.2": "steady penalty",
    "dep-5.3": "steady penalty explicit",
    "dep-6.1": "steady elastic",
    "dep-6.2": "steady explicit",
    "dep-7.1": "steady position massless",
    "dep-7.2": "steady position massless explicit",
}
#: Contact of all surfaces: tests of paths, none, with a skin, named surfaces that meet themselves too.
GENERAL = {
    "swept": "body",
    "unswept": "body, swept=False",
    "skin": "body, skin={skin}",
    "itself": "body, {names}, self_contact=True",
}

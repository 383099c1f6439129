"""Old names work until version 0.3.0, with a warning that names the new ones; nothing here uses them."""

import ast
import importlib
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import ufl
from basix.ufl import element
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.paths import ROOT

import dolfinx_impact as di
from dolfinx_impact import _deprecated
from dolfinx_impact.integrators.delassus import FactorisedDelassus
from dolfinx_impact.integrators.delassus_lumped import lumped_delassus

FLOOR = di.Plane((0.0, 0.0), (0.0, 1.0))
OLD_CLASSES = [(module, *pair) for module, names in _deprecated.NAMES.items() for pair in names.items()]


def old(names, new):
    """``pytest.warns`` for an old name: the message has the new one and the version."""
    text = rf"{names} is now .*{new}.*: the old name goes with version 0\.3\.0$"
    return pytest.warns(DeprecationWarning, match=text)


def point(**options):
    return di.PointMasses([1.0, 1.0], load=[0.0, -9.81], **options)


def contact(cls=di.ObstacleContact, **options):
    return cls(point(), [[0, 1]], FLOOR, **options)


def solid(**options):
    square = dmesh.create_rectangle(MPI.COMM_SELF, [[0, 0], [1, 1]], [1, 1])
    return di.Solid(square, density=1.0, law=di.LinearElastic(1.0, 0.3), **options)


# -- classes and functions


@pytest.mark.parametrize("module, name, new", OLD_CLASSES)
def test_old_classes_are_the_new_ones(module, name, new):
    place = importlib.import_module(f"dolfinx_impact.{module}".rstrip("."))
    with old(name, new):
        assert getattr(place, name) is getattr(place, new)
    with old(name, new):
        exec(f"from {place.__name__} import {name}", {})
    assert name not in dir(di)


@pytest.mark.parametrize("module, name", [("rows", "Rows"), ("fields", "Fields"), ("contact", "Bound")])
def test_old_classes_in_old_modules(module, name):
    with pytest.warns(DeprecationWarning, match="version 0.3.0"):
        place = importlib.import_module(f"dolfinx_impact.{module}")
        assert getattr(place, name) is getattr(di, _deprecated.NAMES[""][name])


def test_pickles_of_old_classes_are_read():
    """A pickle contains the name of the class, a checkpoint of a run does not."""
    rows = di.SparseRows(np.array([[0]]), np.ones((1, 1)), np.zeros((1, 1)))
    stored = pickle.dumps(rows, 0).replace(b"SparseRows", b"Rows")
    with old("Rows", "SparseRows"):
        assert type(pickle.loads(stored)) is di.SparseRows


@pytest.mark.parametrize("module", ["dolfinx_impact", "dolfinx_impact.contact", "dolfinx_impact.output"])
def test_names_that_never_were_are_unknown(module):
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Bounds'"):
        _ = importlib.import_module(module).Bounds


# -- members


def responses():
    system = point()
    scheme = di.CDLagrange(system, 0.1, contact=di.ObstacleContact(system, [[0, 1]], FLOOR, friction=0.3))
    full = FactorisedDelassus(scheme.contact, system.implicit_solver(0.0, "lumped"), system.size)
    return lumped_delassus(scheme), full


OLD_MEMBERS = {
    "Contact.touch": (contact, "active_set", (np.array([0.0, -1.0]),)),
    "Contact.frames": (contact, "local_bases", ()),
    "Contact.slip": (contact, "tangential_velocity", (np.array([3.0, -1.0]),)),
    "Contact.rows": (contact, "L", None),
    "PointMasses.held": (lambda: point(fixed=[0]), "constrained", None),
    "PointMasses.moved": (point, "prescribed", None),
    "Solid.held": (solid, "constrained", None),
    "Solid.moved": (solid, "prescribed", None),
    "Solid.inside": (solid, "active", None),
    "Solid.state": (lambda: solid(hypothesis="plane-stress"), "hypothesis", None),
    "Solid.section": (lambda: solid(cross_section=0.5), "cross_section", None),
}


@pytest.mark.parametrize("name", OLD_MEMBERS)
def test_old_members(name):
    make, new, values = OLD_MEMBERS[name]
    instance, before = make(), name.split(".")[1]
    with old(rf"\w+\.{before}", new):
        member = getattr(instance, before)
    if values is None:
        assert member is getattr(instance, new)
        with old(rf"\w+\.{before}", new):
            setattr(instance, before, "another")
        assert getattr(instance, new) == "another"
    else:
        assert np.array_equal(member(*values), getattr(instance, new)(*values))
        with old(rf"\w+\.{before}", new):
            assert getattr(type(instance), before) is getattr(type(instance), new)


@pytest.mark.parametrize("k", [0, 1])
def test_old_members_of_delassus_operators(k):
    response, r = responses()[k], np.array([2.0])
    v, w = np.zeros(2), np.zeros(2)
    with old(r"\w+\.push", "apply_impulse"):
        response.push(r, v)
    response.apply_impulse(r, w)
    assert np.array_equal(v, w) and v[1] == 2.0
    if k == 0:
        with old(r"\w+\.rub", "apply_friction"):
            response.rub(r, v + [1.0, 0.0], 0.0)


def test_old_product_of_rows():
    out = np.zeros(2)
    with old(r"SparseRows\.push", "add_scaled_transpose"):
        contact().L.push(np.array([3.0]), np.full(2, 0.5), out)
    assert out.tolist() == [0.0, 1.5]


# -- user-defined subclasses and systems


def test_overrides_by_old_names_are_called():
    """Also where they call the base class by the old name, and from another subclass."""
    with old(r"Mine\.touch", "active_set"):

        class Mine(di.ObstacleContact):
            calls = 0

            def touch(self, u, v=None):
                Mine.calls += 1
                return super().touch(u, v)

    class Further(Mine):
        def active_set(self, u, v=None):
            return super().active_set(u, v)

    for cls in (Mine, Further):
        wall, Mine.calls = contact(cls), 0
        scheme = di.CDLagrange(wall.system, 1e-2, contact=wall)
        with old(r"\w+\.touch", "active_set"):
            scheme.start([0.0, 1e-3], [0.0, -1.0])
            scheme.step()
        assert Mine.calls >= 1


def test_overrides_in_a_mixin_are_called():
    class Loud:
        def frames(self):
            return "mine"

    with old(r"Mine\.frames", "local_bases"):

        class Mine(Loud, di.ObstacleContact):
            pass

    assert contact(Mine).local_bases() == "mine"


def test_subclass_for_both_versions():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Mine(di.ObstacleContact):
            def active_set(self, u, v=None):
                return "new"

            touch = active_set

        wall = contact(Mine)
        assert wall.active_set(np.zeros(2)) == wall.touch(np.zeros(2)) == "new"


def test_user_defined_system_with_old_attributes():
    class Mine:
        def __init__(self):
            self._system = point(fixed=[0])
            self.held, self.moved = self._system.constrained, self._system.prescribed

        def __getattr__(self, name):
            if name in ("constrained", "prescribed"):
                raise AttributeError(name)
            return getattr(self._system, name)

    system = Mine()
    with old(r"Mine\.held", "constrained"), old(r"Mine\.moved", "prescribed"):
        scheme = di.CDLagrange(system, 1e-2)
    scheme.start([0.0, 1.0], [0.0, 0.0])
    scheme.step()
    assert scheme.u[0] == 0.0 and scheme.u[1] != 1.0


# -- keywords


def frame(**options):
    beams = ufl.Mesh(element("Lagrange", "interval", 1, shape=(3,)))
    line = dmesh.create_mesh(MPI.COMM_SELF, np.array([[0, 1]]), x=np.eye(3)[:2], e=beams)
    return di.Frame(line, density=1.0, E=1.0, nu=0.3, sections=di.Section.circle(0.1), **options)


def rise(t):
    return 0.1 * t


KEYWORDS = {
    "Solid.state": (solid, "hypothesis", "plane-stress", lambda body: body.hypothesis),
    "Solid.section": (solid, "cross_section", 0.5, lambda body: body.mass),
    "Solid.shaken": (solid, "ground_acceleration", ((0.0, 1.0), rise), lambda body: body.loads.patterns),
    "Frame.shaken": (frame, "ground_acceleration", ((0, 0, 1), rise), lambda body: body.loads.patterns),
    "PointMasses.held": (point, "fixed", [1], lambda system: system.constrained),
    "Contact.rows": (
        lambda **given: di.Contact(point(), **given),
        "L",
        di.SparseRows(np.array([[0]]), np.ones((1, 1)), np.zeros((1, 1))),
        lambda each: each.L.dofs,
    ),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_old_keywords(name):
    make, new, value, look = KEYWORDS[name]
    owner, before = name.split(".")
    with old(rf"{owner}\({before}=\.\.\.\)", rf"{owner}\({new}=\.\.\.\)") as caught:
        made = make(**{before: value})
    assert Path(caught[0].filename) == Path(__file__)
    assert np.array_equal(look(made), look(make(**{new: value})))
    with pytest.raises(TypeError, match=f"{owner} takes {new}=, {before}= before: give one of them"):
        make(**{before: value, new: value})


def test_old_keyword_of_prescribed_motions():
    square = dmesh.create_rectangle(MPI.COMM_SELF, [[0, 0], [1, 1]], [1, 1])
    ends = dmesh.locate_entities_boundary(square, 1, lambda x: x[0] < 1e-9)
    named = di.NamedMesh(
        square, None, dmesh.meshtags(square, 1, ends, np.ones(ends.size, np.int32)), {"end": (1, 1)}
    )
    given = {"density": 1.0, "law": di.LinearElastic(1.0, 0.3)}
    with old(r"Solid\(moved=\.\.\.\)", "prescribed="):
        body = di.Solid(named, moved={"end": {0: rise}}, **given)
    other = di.Solid(named, prescribed={"end": {0: rise}}, **given)
    assert body.prescribed.any and np.array_equal(body.prescribed.dofs, other.prescribed.dofs)


# -- nothing here uses them

CLASSES = {name for _, name, _ in OLD_CLASSES}
MEMBERS = {"held", "rub"}  # those that are nothing else's
WORDS = {"shaken", "moved", "held"}


def uses(tree):
    """Old names in a module: imported names, names of classes, attributes and keywords."""
    from_elsewhere = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not node.level and not (node.module or "").startswith("dolfinx_impact")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.startswith("dolfinx_impact")):
            yield from ({alias.name for alias in node.names} & CLASSES)
        elif isinstance(node, ast.Name) and node.id in CLASSES - from_elsewhere:
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in CLASSES | MEMBERS:
            yield node.attr
        elif isinstance(node, ast.Call) and not ast.unparse(node.func).endswith("renamed_keywords"):
            yield from ({keyword.arg for keyword in node.keywords} & WORDS)


@pytest.mark.parametrize("folder", ["dolfinx_impact", "demos", "tests"])
def test_nothing_uses_old_names(folder):
    """The crane's parameter ``shaken`` is another thing, and its name is kept."""
    left_out = {"_deprecated.py", "test_deprecated.py", "test_bridge_crane.py"}
    files = [file for file in sorted((ROOT / folder).rglob("*.py")) if file.name not in left_out]
    found = {str(file): set(uses(ast.parse(file.read_text()))) for file in files}
    assert files and not {file: names for file, names in found.items() if names}

"""What joins a compiled run says so itself: classes of the user's that do, and those that must not."""

import dataclasses
import importlib
import math
import pkgutil
import re

import numpy as np
import pytest
from support import wrong_contact, wrong_schemes
from support.parts import bar, glued

import dolfinx_impact as di
from dolfinx_impact import HATI, SparseRows
from dolfinx_impact.algebra import kernels
from dolfinx_impact.integrators import CentralDifferences, PositionLevel, VelocityLevel
from dolfinx_impact.integrators.central.central_differences import CentralDifferenceBalance
from dolfinx_impact.integrators.hati.balance import HATIBalance
from dolfinx_impact.integrators.hati.implicit_side import Implicit
from dolfinx_impact.integrators.step_buffer import compiled_loop
from dolfinx_impact.simulation import loop

numba = pytest.importorskip("numba")

TERMS = di.EnergyBalance.state_names


class Bowl:
    """A bowl of the user's that derives from nothing."""

    flat, radius = False, 5.0

    def gap(self, x):
        return self.radius - np.linalg.norm(x, axis=1)

    def normal(self, x):
        return -x / np.maximum(np.linalg.norm(x, axis=1), 1e-9)[:, None]


class CompiledBowl(Bowl):
    def compiled(self):
        radius = self.radius

        @numba.njit
        def surface(x, normal):
            square = 0.0  # loops: numba compiles array expressions four times as long
            for i in range(x.size):
                square += x[i] ** 2
            size = math.sqrt(square)
            for i in range(x.size):
                normal[i] = -x[i] / max(size, 1e-9)
            return radius - size

        return surface


class Deeper(CompiledBowl):
    """Changes the gap of a class that has a compiled one."""

    def gap(self, x):
        return super().gap(x) + 0.5


class Raised(di.DofBound):
    """A bound whose gap is another one."""

    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.1


class CompiledRaised(Raised):
    def compiled(self):
        return super().compiled()


class Funnel(di.contact.Contact):
    """A contact of the user's with a curved gap, in a plane: ``g = y - x^2 / 4`` over its gradient."""

    constant = False

    def __init__(self, system, **options):
        rows = SparseRows(np.array([[0, 1]]), np.array([[0.0, 1.0]]), np.zeros((1, 1)))
        super().__init__(system, rows, **options)

    def gap(self, u, t=0.0):
        return np.array([(u[1] - u[0] ** 2 / 4) / math.sqrt(1 + u[0] ** 2 / 4)])

    def _evaluate(self, u, v, t):
        self.L.weights[0] = np.array([-u[0] / 2, 1.0]) / math.sqrt(1 + u[0] ** 2 / 4)
        return self.gap(u, t)


@numba.njit
def funnel(x, normal):
    slope = math.sqrt(1 + x[0] ** 2 / 4)
    normal[0], normal[1] = -x[0] / 2 / slope, 1.0 / slope
    return (x[1] - x[0] ** 2 / 4) / slope


class CompiledFunnel(Funnel):
    def compiled(self):
        return super().compiled(funnel)


class Wide(CompiledFunnel):
    """Closes its points earlier than the class that has a compiled gap."""

    def closed(self, gap):
        return gap <= 0.2


class Same(VelocityLevel):
    """One with other parameters alone."""

    note = "mine"
    compiled = VelocityLevel.compiled


class Counting(CentralDifferenceBalance):
    """An energy balance of the user's."""

    steps = 0

    def step(self):
        super().step()
        self.steps += 1


class Named(CentralDifferenceBalance):
    """One that counts nothing else."""

    label = "mine"
    compiled = CentralDifferenceBalance.compiled


class Scheme(CentralDifferences):
    """Parameters of the user's: nothing that a step does is changed."""

    law, note = VelocityLevel, "mine"
    compiled_loop = CentralDifferences.compiled_loop

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, self.law(contact))
        self.label = "own"

    def height(self):
        return self.u[-1]


class Mean(Scheme):
    """Tells other velocities than the loop records."""

    def v_mean_at(self, dofs):
        return self.v[dofs]


class Marked(Scheme):
    """Records what no loop knows."""

    point_records = ("marks",)

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.marks = np.ones_like(self.r)


class Rough(di.PointMasses):
    """Forces of the user's, in Python."""

    def external(self, t, u, v, out):
        out[:] = self._constant


class CompiledRough(Rough):
    def compiled(self):
        return dataclasses.replace(di.PointMasses(self.mass, load=self._constant).compiled())


def point():
    return di.PointMasses([1.0, 2.0], load=[0.0, -9.81])


def in_bowl(kind):
    return lambda s: di.ObstacleContact(s, [[0, 1]], kind(), restitution=0.5)


def run(compiled, contact=None, scheme=Scheme, system=point, balance=None, t_end=2.0):
    made = system()
    integrator = scheme(made, 5e-3, contact=contact(made) if contact else None)
    integrator.start([0.8, 1.0], [1.0, 0.5])
    follow = [balance(integrator)] if balance else []
    return di.simulate(integrator, t_end=t_end, observers=follow, progress=False, compiled=compiled)


def on(kind, **options):
    return lambda s: kind(s, 1, lower=-1.0, restitution=0.8, **options)


def law(kind):
    same = {"compiled_loop": CentralDifferences.compiled_loop}
    return type(kind.__name__ + "Scheme", (Scheme,), {"law": kind, **same})


def line(derived, base, form="compiled"):
    """The reason for a class that only inherits a compiled form: the line that it needs."""
    return f"{derived} derives from {base} and .* write in the class {form} = {base}.{form}"


JOIN = {
    "obstacle": {"contact": in_bowl(CompiledBowl)},
    "flat contact": {"contact": on(CompiledRaised)},
    "flat contact at position level": {"contact": on(CompiledRaised), "scheme": law(PositionLevel)},
    "curved contact": {"contact": lambda s: CompiledFunnel(s, restitution=0.6)},
    "law": {"contact": on(di.DofBound), "scheme": law(Same)},
    "balance": {"contact": on(di.DofBound), "balance": Named},
    "system": {"system": lambda: CompiledRough([1.0, 2.0], load=[0.0, -9.81])},
}

REFUSED = {
    "obstacle": ({"contact": in_bowl(Bowl)}, "Bowl offers no compiled gap"),
    "gap below a compiled one": ({"contact": in_bowl(Deeper)}, line("Deeper", "CompiledBowl")),
    "flat contact": ({"contact": on(Raised)}, line("Raised", "DofBound")),
    "curved contact": ({"contact": Funnel}, line("Funnel", "Contact")),
    "closed below a compiled one": ({"contact": Wide}, line("Wide", "CompiledFunnel")),
    "law": (
        {"contact": on(di.DofBound), "scheme": law(wrong_contact.Milder)},
        line("Milder", "VelocityLevel"),
    ),
    "curved at position level": (
        {"contact": CompiledFunnel, "scheme": law(PositionLevel)},
        "curved gaps at position level",
    ),
    "balance": ({"balance": Counting}, line("Counting", "CentralDifferenceBalance")),
    "step": ({"scheme": wrong_schemes.Dragged}, line("Dragged", "Central", "compiled_loop")),
    "mean velocity": ({"scheme": Mean}, line("Mean", "Scheme", "compiled_loop")),
    "records": ({"contact": on(di.DofBound), "scheme": Marked}, line("Marked", "Scheme", "compiled_loop")),
    "system": ({"system": lambda: Rough([1.0, 2.0], load=[0.0, -9.81])}, line("Rough", "PointMasses")),
}


@pytest.mark.parametrize("what", JOIN)
def test_a_class_that_offers_a_compiled_form_joins(what):
    plain, compiled = (run(each, **JOIN[what]) for each in (False, True))
    assert plain["r"].any() or what == "system"
    for name in ("u", "v", "v_t", "gap", "r", *TERMS):
        scale = np.abs(plain[name]).max(initial=0.0) + 1.0
        np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=1e-10 * scale, err_msg=name)


@pytest.mark.parametrize("what", REFUSED)
def test_without_one_there_is_no_loop(what):
    options, reason = REFUSED[what]
    with pytest.raises(ValueError, match=f"no compiled loop for this run: .*{reason}"):
        run(True, **options)


@pytest.mark.parametrize("what", ["obstacle", "balance"])
def test_by_default_its_steps_are_made_one_by_one(what, monkeypatch):
    """In a run that is long enough for a compiled loop."""
    monkeypatch.setattr(loop, "_MANY_STEPS", 100)
    options, _ = REFUSED[what]
    plain, by_default = run(False, **options), run(None, **options)
    for name in ("u", "v", "kinetic"):
        np.testing.assert_array_equal(by_default[name][: plain.steps], plain[name][:-1], err_msg=name)


def test_what_an_object_has_of_its_own_counts_too():
    contact = di.DofBound(point(), 1, lower=0.0)
    assert kernels.ask(contact, "").dofs.size == 1
    contact.note = "mine"
    assert kernels.declared(contact) is not None
    contact.closed = lambda gap: gap <= 0.2
    with pytest.raises(kernels.NotCompiled, match=r"this DofBound has a closed\(\) of its own"):
        kernels.ask(contact, "")


def test_the_body_of_a_class_decides():
    s = point()
    assert kernels.declared(CompiledRaised(s, 1, lower=0.0)) is not None
    assert kernels.declared(Bowl()) is None
    for made in (Raised(s, 1, lower=0.0), Deeper()):
        with pytest.raises(kernels.NotDeclared, match="write in the class compiled = "):
            kernels.declared(made)


def test_a_class_below_one_that_has_none_is_told_no_line():
    class Own(di.CDLagrangeImplicit):
        pass

    ball = di.PointMasses(1.0, load=[-9.81])
    scheme = Own(ball, 1e-3, contact=di.DofBound(ball, 0, lower=0.0))
    with pytest.raises(kernels.NotCompiled, match="^Own makes its steps one by one$"):
        compiled_loop(scheme, ball.rows(), None)


def test_none_is_a_refusal_too():
    class Silent:
        def compiled(self):
            return None

    with pytest.raises(kernels.NotCompiled, match="Silent says nothing"):
        kernels.ask(Silent(), "says nothing")


# -- both sides of HATI


class Labelled(HATI):
    """Changes nothing that a step does."""

    note = "mine"
    compiled_loop = HATI.compiled_loop


class Drifting(HATI):
    def advance(self):
        super().advance()


class Slow(Implicit):
    """An implicit side of the user's."""

    def finish(self, multipliers):
        super().finish(0.9 * multipliers)


class Sided(HATI):
    compiled_loop = HATI.compiled_loop

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.coarse = Slow(self.coarse.system, self.dt, self.interface)


class Noted(HATIBalance):
    """Counts fine steps."""

    seen = 0

    def fine_step(self):
        super().fine_step()
        self.seen += 1


def stiff(kind):
    s = glued(bar(), 4, kind=kind)
    s.start(0.0, -1.0)
    return s


def test_a_hati_with_other_parameters_joins():
    runs = []
    for kind, compiled in ((HATI, True), (Labelled, True), (Labelled, False)):
        s = stiff(kind)
        runs.append(di.simulate(s, t_end=100 * s.dt, progress=False, compiled=compiled))
    assert runs[0]["r"].any()
    for other in runs[1:]:
        for name in ("u", "v", "r", *TERMS):
            np.testing.assert_array_equal(other[name], runs[0][name], err_msg=name)


@pytest.mark.parametrize(
    "kind, balance, reason",
    [
        (Drifting, None, line("Drifting", "HATI", "compiled_loop")),
        (Sided, None, line("Slow", "Implicit")),
        (HATI, Noted, line("Noted", "HATIBalance")),
    ],
)
def test_a_hati_with_other_parts_does_not(kind, balance, reason):
    def run(compiled, steps=100):
        s = stiff(kind)
        follow = [balance(s)] if balance else []
        return di.simulate(s, t_end=steps * s.dt, observers=follow, progress=False, compiled=compiled), follow

    with pytest.raises(ValueError, match=f"no compiled loop for this run: {reason}"):
        run(True)
    (plain, _), (by_default, follow) = run(False), run(None, 300)
    for name in ("u", "v", "r", *TERMS):
        np.testing.assert_array_equal(by_default[name][:101], plain[name], err_msg=name)
    assert not follow or follow[0].seen == 4 * 300


class Delegating:
    """A contact law that hands all but its impulses on."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def impulses(self, s, response, *, first=False):
        impulses = self.inner.impulses(s, response, first=first)
        impulses.r[:] *= 0.5
        return impulses


def test_the_compiled_form_of_another_object_is_not_taken():
    ball = di.PointMasses(1.0, load=[-9.81])
    law = Delegating(di.integrators.VelocityLevel(di.DofBound(ball, 0, lower=0.0, restitution=0.5)))
    scheme = di.integrators.CentralDifferences(ball, 1e-3, law)
    scheme.start(0.05, 0.0)
    with pytest.raises(kernels.NotCompiled, match="^Delegating is no contact law of the compiled loop$"):
        compiled_loop(scheme, ball.rows(), None)


def test_a_contact_with_places_of_its_own_is_not_compiled():
    class Shifted(di.ObstacleContact):
        def places(self, u):
            return super().places(u) + 0.1

    system = di.PointMasses([1.0, 1.0])
    contact = Shifted(system, [[0, 1]], di.Sphere((0.0, -2.0), 1.0))
    with pytest.raises(kernels.NotCompiled, match=line("Shifted", "ObstacleContact")):
        kernels.ask(contact, "")


# -- who says nothing, and learns what to write


def test_a_long_run_tells_the_line_once(caplog, monkeypatch):
    monkeypatch.setattr(loop, "_LONG", 2500)
    for _ in range(2):
        run(None, scheme=Mean, t_end=2510 * 5e-3)
    told = [each.message for each in caplog.records if "one by one" in each.message]
    assert len(told) == 1
    assert "write in the class compiled_loop = Scheme.compiled_loop" in told[0]


def test_short_runs_and_schemes_without_a_loop_tell_nothing(caplog):
    run(None, scheme=Mean, t_end=2500 * 5e-3)
    assert not caplog.records


FORMS = ("compiled", "compiled_loop", "loop_solver")


def derived(kind):
    """All classes that derive from one."""
    for each in type.__subclasses__(kind):
        yield each
        yield from derived(each)


def test_every_class_of_the_package_says_whether_it_joins():
    """None in the place of a form means that the steps are made one by one."""
    for module in pkgutil.walk_packages(di.__path__, "dolfinx_impact."):
        if ".benchmark" not in module.name:
            importlib.import_module(module.name)
    inside = re.compile(r"dolfinx_impact\.(?!benchmark)").match
    ours = {each for each in derived(object) if inside(str(each.__module__))}
    found = [(each, name) for each in ours for name in FORMS if hasattr(each, name)]
    assert len(found) > 40
    assert not [f"{each.__name__}.{name}" for each, name in found if name not in vars(each)]

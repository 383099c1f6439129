"""Named schemes are classes: facts, parameters, what a checkpoint compares, and what a user may derive."""

import inspect
import sys
import types

import numpy as np
import pytest

import dolfinx_impact as di
from dolfinx_impact.integrators import find_scheme
from dolfinx_impact.integrators.catalogue import CLASSES
from dolfinx_impact.integrators.catalogue_entry import OF_THE_CONTACT
from dolfinx_impact.integrators.constants import PARTS
from dolfinx_impact.integrators.impulses.delassus_lumped import LumpedDelassus
from dolfinx_impact.integrators.one_step.theta_linear import FactorisedThetaStep
from dolfinx_impact.integrators.one_step.theta_newton import NewtonThetaStep
from dolfinx_impact.simulation.run_fingerprint import description

ONE_SYSTEM = [name for name, kind in CLASSES.items() if not kind.divided]


def hanging(kind, restitution=0.0, **options):
    """Two masses on springs above a floor, with a scheme."""
    system = di.PointMasses([1.0, 2.0], load=[-9.81, 0.0], stiffness=[[90.0, -40.0], [-40.0, 40.0]])
    floor = di.DofBound(system, 0, lower=-0.05, restitution=restitution)
    contact = None if kind.contact_level == "none" else floor
    if "mass" in kind.options:
        options.setdefault("mass", kind.options["mass"].default)
    if kind.explicit:
        options.pop("mass", None)
    return kind(system, 1e-2, contact=contact, **options)


def named_arguments(kind):
    """Arguments of the constructors of a class up to the first that hands none on."""
    names = []
    for each in kind.__mro__:
        if "__init__" in vars(each):
            arguments = inspect.signature(each.__init__).parameters.values()
            names += [a.name for a in arguments if a.kind is not a.VAR_KEYWORD]
            if not any(a.kind is a.VAR_KEYWORD for a in arguments):
                break
    return {name for name in names if name not in PARTS and not name.startswith("allow_")}


@pytest.mark.parametrize("name", ONE_SYSTEM)
def test_parameters_are_the_arguments_of_the_constructor(name):
    made, names = hanging(CLASSES[name]), named_arguments(CLASSES[name])
    none = {each for each in names if getattr(made, each, 0) is None}  # not given: no number, no word
    assert set(made.parameters()) == names - none


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_states_its_facts(name):
    kind = CLASSES[name]
    for fact in ("paper", "equations", "order", "conserves", "step_limit", "contact_level"):
        assert isinstance(getattr(kind, fact), str) and getattr(kind, fact), fact
    assert isinstance(kind.explicit, bool) and kind.__doc__
    taken = named_arguments(kind) | set(OF_THE_CONTACT) | {"mass"}
    assert set(kind.options) <= taken
    assert di.SCHEMES[name].make is kind and di.SCHEMES[name].step_limit == kind.step_limit


@pytest.mark.parametrize("name", ONE_SYSTEM)
def test_a_scheme_has_the_class_that_was_typed(name):
    kind = CLASSES[name]
    scheme = hanging(kind)
    assert type(scheme) is kind and isinstance(scheme, di.Integrator)
    assert repr(scheme).startswith(kind.__name__)


def test_a_user_may_derive_from_a_named_scheme():
    class Counting(di.CDLagrange):
        """CD-Lagrange that counts its steps with an impulse."""

        hits = 0

        def advance(self):
            super().advance()
            self.hits += bool(self.r.any())

    mine, plain = hanging(Counting), hanging(di.CDLagrange)
    for each in (mine, plain):
        each.start([0.1, 0.0], 0.0)
        di.simulate(each, t_end=2.0, progress=False)
    assert np.array_equal(mine.u, plain.u) and mine.hits > 10


def test_how_a_step_is_solved_is_no_part_of_the_fingerprint():
    K = np.array([[90.0, -40.0], [-40.0, 40.0]])

    def internal(t, u, v, out):
        out[:] = K @ u

    kept = []
    for system in (di.PointMasses([1.0, 2.0], stiffness=K), di.PointMasses([1.0, 2.0], internal=internal)):
        scheme = di.MoreauJean(system, 1e-2, 0.6)
        scheme.start(0.1, 0.0)
        kept.append((type(scheme.step_solver), description(scheme)))
    assert [kind for kind, _ in kept] == [FactorisedThetaStep, NewtonThetaStep]
    assert kept[0][1] == kept[1][1]


@pytest.mark.parametrize(
    "other, message",
    [
        ({"theta": 0.75}, "its scheme is .*'theta': 0.5.*, this one's .*'theta': 0.75"),
        ({"forecast": 0.0}, "its scheme is .*'forecast': 0.5.*, this one's .*'forecast': 0.0"),
        ({"force": "midpoint"}, "its scheme is .*'force': 'trapezoid'.*, this one's .*'force': 'midpoint'"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(other, message, shared_path):
    scheme = hanging(di.MoreauJean)
    scheme.start(0.0, 0.0)
    scheme.step()
    di.checkpoint.save(shared_path / "run", scheme)
    with pytest.raises(ValueError, match=message):
        di.checkpoint.load(shared_path / "run", hanging(di.MoreauJean, **other))


class Forgetful(di.CDLagrange):
    """A scheme that does not keep an argument of its constructor."""

    def __init__(self, system, dt, contact=None, *, rate=1.0):
        super().__init__(system, dt, contact)
        self.v_factor = 1.0 - rate * dt


class Keeping(Forgetful):
    """The same one with its argument kept."""

    def __init__(self, system, dt, contact=None, *, rate=1.0):
        super().__init__(system, dt, contact, rate=rate)
        self._rate = rate


def test_a_users_constant_that_is_kept_nowhere_is_asked_for(shared_path):
    scheme = hanging(Forgetful)
    scheme.start(0.0, 0.0)
    with pytest.raises(ValueError, match="Forgetful cannot be stopped .* argument rate .* keep self.rate"):
        di.checkpoint.save(shared_path / "run", scheme)
    kept = hanging(Keeping, rate=2.0)
    kept.start(0.0, 0.0)
    assert kept.parameters() == {"rate": 2.0}
    di.checkpoint.save(shared_path / "run", kept)
    with pytest.raises(ValueError, match="'rate': 2.0.*, this one's .*'rate': 3.0"):
        di.checkpoint.load(shared_path / "run", hanging(Keeping, rate=3.0))


def test_system_and_step_of_a_users_scheme_may_have_any_name():
    class Mine(di.CDLagrange):
        def __init__(self, model, h, contact=None):
            super().__init__(model, h, contact)

    assert hanging(Mine).parameters() == {}


class Sparse(di.CDLagrange):
    """Takes the option of the class that it derives from."""


def test_a_class_by_name_takes_allow_unstable(monkeypatch):
    monkeypatch.setitem(sys.modules, "users", types.SimpleNamespace(Sparse=Sparse))
    spring = di.PointMasses(1.0, stiffness=[[4.0]])
    scheme = find_scheme("users:Sparse").make(spring, 1.1, None, allow_unstable=True)
    assert scheme.beyond_limit and type(scheme) is Sparse


def test_a_constraint_of_a_users_scheme_acts_in_every_step():
    class Held(di.CDLagrange):
        calls = 0

        def _constrain(self, part):
            type(self).calls += 1
            super()._constrain(part)

    scheme = hanging(Held)
    scheme.start(0.1, 0.0)
    for _ in range(10):
        scheme.step()
    assert Held.calls == 11


def test_a_delassus_operator_of_a_users_is_used():
    class Half(LumpedDelassus):
        def delassus(self, L, which):
            return 2.0 * super().delassus(L, which)

    ball = di.PointMasses(1.0)
    contact = di.DofBound(ball, 0, lower=0.0)
    state, v = contact.at(np.zeros(1)), np.array([-1.0])
    assert Half(contact, ball).solve(state, v, v, 0.0).r == pytest.approx([0.5])

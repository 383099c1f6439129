"""User-defined classes: found by module:Class, used as integrators, refused with one clear line."""

import numpy as np
import pytest

import dolfinx_impact as di
from dolfinx_impact.benchmark import __main__ as command_line
from dolfinx_impact.benchmark import runner
from dolfinx_impact.integrators import find_scheme

HERE = "test_own"


class Plain:
    """CD-Lagrange in a class that derives from nothing."""

    v_shift = 0.5

    def __init__(self, system, dt, contact=None):
        self.system, self.dt, self.contact = system, dt, contact
        self.inner = di.CDLagrange(system, dt, contact=contact)

    def start(self, u0, v0, t0=0.0):
        self.inner.start(u0, v0, t0)

    def step(self):
        self.inner.step()

    t = property(lambda self: self.inner.t)
    u = property(lambda self: self.inner.u)
    v = property(lambda self: self.inner.v)
    r = property(lambda self: self.inner.r)
    v_mean = property(lambda self: self.inner.v_mean)


class Halved(di.Integrator):
    """Two steps of CD-Lagrange in one, with the same contact."""

    v_shift = 0.5

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        self.inner = di.CDLagrange(system, dt / 2, contact=self.contact)

    def begin(self):
        self.inner.start(self.u, self.v)

    def advance(self):
        self.r[:] = 0.0
        for _ in range(2):
            self.inner.step()
            self.r += self.inner.r
        self.u[:], self.v[:] = self.inner.u, self.inner.v


class Standing(Plain):
    """It forgets its time."""

    t = 0.0


class Speechless(Plain):
    """It does not tell its impulses."""

    @property
    def r(self):
        raise AttributeError("r")


class Lost(di.Integrator):
    """Impulses that are no numbers, while it moves on."""

    def advance(self):
        self.u += self.dt * self.v
        if self.n > 20:
            self.r[:] = np.nan


class Leaver(di.Integrator):
    """A step that ends the program."""

    def advance(self):
        raise SystemExit(7)


class Clumsy(di.Integrator):
    """A step with a mistake, whose message no file can hold."""

    def advance(self):
        raise ValueError("lost in \udcff\nand more " + 1000 * "x")


class NoStep:
    def start(self, u0, v0, t0=0.0):
        pass


class NoAdvance(di.Integrator):
    pass


class TwoArguments(di.Integrator):
    def __init__(self, system, dt):
        super().__init__(system, dt)

    def advance(self):
        pass


def a_function(system, dt, contact=None):
    pass


@pytest.mark.parametrize(
    "name, reason",
    [
        ("nothing", "unknown scheme 'nothing'; the schemes are: cd-lagrange.* module:Class"),
        (":", "given as module:Class"),
        (f"{HERE}:", "given as module:Class"),
        ("no_such_module:X", "cannot import the module"),
        (f"{HERE}:Nowhere", "has no class 'Nowhere'"),
        (f"{HERE}:a_function", "is no class but a function"),
        (f"{HERE}:NoStep", r"NoStep has no step\(\): derive it from dolfinx_impact.Integrator"),
        (f"{HERE}:NoAdvance", r"NoAdvance has no step: write advance\(\)"),
        (f"{HERE}:TwoArguments", r"must be made as TwoArguments\(system, dt, contact=None\)"),
        ("some/folder/file.py:X", "is a file: name the module, as some.folder.file:X"),
        ("ends_at_import:X", r"ended the program \(sys.exit\)"),
        ("fails_at_import:X", "importing 'fails_at_import' failed: ZeroDivisionError"),
    ],
)
def test_bad_names_are_refused(name, reason, tmp_path, monkeypatch):
    (tmp_path / "ends_at_import.py").write_text("import sys; sys.exit()")
    (tmp_path / "fails_at_import.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=reason):
        find_scheme(name)
    if ":" in name:
        assert command_line.main(["run", "bouncing-ball", name, "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def ball():
    system = di.PointMasses(1.0, load=[-9.81])
    return system, di.DofBound(system, 0, lower=0.0, restitution=0.8)


def started(kind):
    system, floor = ball()
    scheme = kind(system, 1e-2, contact=floor)
    scheme.start(1.0, 0.0)
    return scheme


def test_any_object_that_steps_runs_in_simulate():
    mine, theirs = (di.simulate(started(kind), t_end=3.0, progress=False) for kind in (Plain, di.CDLagrange))
    for name in ("t", "t_v", "u", "v", "v_t", "gap", "r"):
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert not mine.balance


@pytest.mark.parametrize("walls", [1, 2])
def test_a_scheme_around_another_one_with_its_contact(walls):
    made = []
    for kind, dt in ((Halved, 2e-2), (di.CDLagrange, 1e-2)):
        system = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
        shapes = di.Sphere([0.0, 0.0], 2.0, inside=True), di.Plane([0.0, -1.9], [0.0, 1.0])
        contacts = [di.ObstacleContact(system, [[0, 1]], wall, restitution=0.8) for wall in shapes[:walls]]
        scheme = kind(system, dt, contact=contacts)
        scheme.start([0.3, 1.0], [0.0, 0.0])
        assert scheme.contact_work(scheme.v) == 0
        made.append(di.simulate(scheme, t_end=3.0, progress=False))
    outer, inner = made
    assert np.count_nonzero(inner["r"]) > 2
    np.testing.assert_array_equal(outer["u"], inner["u"][::2])
    np.testing.assert_array_equal(outer["r"][1:], inner["r"][1::2] + inner["r"][2::2])


def test_it_goes_on_from_where_it_is():
    scheme = started(Plain)
    for _ in range(10):
        scheme.step()
    run = di.simulate(scheme, t_end=0.3, progress=False)
    assert run["t"][0] == pytest.approx(0.1) and run.steps == 20


@pytest.mark.parametrize(
    "thing, reason",
    [
        (object(), "a object cannot be run: it has no system, dt, step"),
        (NoStep(), "it has no system, dt, step"),
    ],
)
def test_what_does_not_step_is_refused(thing, reason):
    with pytest.raises(ValueError, match=reason):
        di.simulate(thing, t_end=1.0, progress=False)


def test_a_scheme_takes_a_system():
    class Mine(di.Integrator):
        pass

    with pytest.raises(ValueError, match="first argument must be the system, .* but is 3"):
        Mine(3, 0.1)


def test_time_must_go_on():
    with pytest.raises(RuntimeError, match="after step 1 the scheme is at t = 0.0, not 0.01 s"):
        di.simulate(started(Standing), t_end=1.0, progress=False)


def test_impulses_must_be_told():
    with pytest.raises(RuntimeError, match="Speechless has no r after its start"):
        di.simulate(started(Speechless), t_end=1.0, progress=False)


@pytest.mark.parametrize("energies", [True, False])
def test_impulses_that_are_no_numbers_end_the_run(energies):
    with pytest.raises(di.UnstableTimeStep, match=r"no longer finite at t = 0.21 s \(step 21\)"):
        di.simulate(started(Lost), t_end=1.0, energies=energies, progress=False)


@pytest.mark.parametrize(
    "name, reason",
    [
        ("Lost", "a value is no longer finite"),
        ("Leaver", "the scheme ended the program: sys.exit(7)"),
        ("Clumsy", f"{HERE}:Clumsy failed: ValueError: lost in \\udcff and more"),
    ],
)
def test_a_class_that_fails_in_a_run(name, reason, tmp_path, capfd):
    status = command_line.main(["run", "bouncing-ball", f"{HERE}:{name}", "--out", str(tmp_path / "out")])
    said = capfd.readouterr().err
    assert status == 3 and reason in said and said.count("\n") == 1 and len(said) < 700
    assert not any((tmp_path / "out").iterdir())


def test_errors_are_told_in_one_line():
    class Odd(Exception):
        def __str__(self):
            raise KeyError

    assert runner.describe(Odd()) == "Odd: an error that cannot be printed"
    assert runner.describe(ValueError("a\n  b\tc \udc80")) == "ValueError: a b c \\udc80"
    assert len(runner.describe(ValueError(10_000 * "long "))) == 500

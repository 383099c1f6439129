"""The machine of tests/scenarios: what it composes, judges and prints; it runs in a stage of its own."""

import functools
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scenarios import __main__ as cli
from scenarios import compose, cover, faults, program, ranks, script
from scenarios.judge import judge
from scenarios.observe import see
from scenarios.oracles import ORACLES, cells, known
from scenarios.shrink import shrunk, smaller
from support.paths import TESTS
from support.processes import environment

import dolfinx_impact as di

SEEDS = range(200)
#: Kept, since tests compose the same ones.
composed = functools.cache(compose.compose)


def test_a_seed_is_a_scenario():
    made = [composed(seed) for seed in SEEDS]
    assert made == [compose.compose(seed) for seed in SEEDS]
    assert len(set(made)) == len(made)
    assert all(compose.Scenario.from_json(s.to_json()) == s for s in made)


def test_every_choice_is_made():
    made = [composed(seed) for seed in SEEDS]
    several = [composed(seed) for seed in range(2000)]
    assert {s.scheme for s in several} == {*compose.SCHEMES, *compose.STEADY, *compose.DIVIDED, *compose.HELD}
    assert {(s.cell, s.degree, s.hypothesis, s.law) for s in made} == set(compose.BODIES)
    assert {s.floor for s in several} == {"none", *compose.CURVED, *compose.RIGID, *compose.MESHED}
    assert {s.joint for s in several} == {"surfaces", "together", "tie", "pairs"}
    assert any(s.joint == "tie" and s.motion != "rest" for s in several)
    assert {s.general for s in several} == {"", *compose.GENERAL}
    for name in cover.MORE:
        assert any(getattr(s, name) for s in several), name


def test_scenarios_of_before_are_read():
    given = json.loads(compose.Scenario(seed=3).to_json())
    for name in ("push", "wave", "dashpots", "bend", "locking", "stretch", "laws", "renumbered", "ratio"):
        del given[name]
    assert compose.Scenario.from_json(json.dumps(given)) == compose.Scenario(seed=3)


@pytest.mark.parametrize("first, name", [*enumerate([*ORACLES, "runs"])])
def test_programs_are_short_and_use_public_names_alone(first, name):
    for seed in range(first, first + 200, 16):
        s = compose.compose(seed)
        text = script.script(s, name, "displacement turned: 1, right is 0 within 0")
        assert len(text.splitlines()) <= script.LINES
        compile(text, "script", "exec")
        assert "import scenarios" not in text and "._" not in text


def test_small_problems_of_oracles_are_reproduced_by_their_name(capsys):
    exec(script.script(compose.Scenario(10), "grouped", "load"), {})
    assert capsys.readouterr().out.count("right is") == 3
    assert shrunk(compose.Scenario(10), "grouped", "load") == (compose.Scenario(10), "load")


def test_every_oracle_says_what_it_knows():
    for each in ORACLES.values():
        assert len(each.judge.__doc__.strip()) > 60, each.name
        assert any(each.applies(composed(seed)) for seed in range(2000)), each.name


def test_a_force_that_is_wrong_is_found_made_smaller_and_told(monkeypatch, capsys):
    """Central differences that lose a tenth of every impulse do not carry a weight."""
    advance = di.CDLagrange.advance

    def leaking(self):
        advance(self)
        lost, n = np.zeros(self.system.size), self.system.owned
        if self.contact is not None:
            self.contact.L.add_transpose(0.1 * self.r, lost)
        self.v[:n] -= self.system.inverse_mass * lost[:n]

    monkeypatch.setattr(di.CDLagrange, "advance", leaking)
    s = compose.Scenario(blocks=(compose.Block(up=2), compose.Block(up=2)), nu=0.3, floor="planes")
    s = s.changed(rate=compose.settling_rate(s))
    verdict = judge(s, ["momentum"])
    assert verdict.wrong and verdict.wrong[0][0] == "momentum"
    small, text = shrunk(s, *verdict.wrong[0], seconds=600)
    assert len(small.blocks) == 1 and small.nu == 0 and small.floor == "plane"
    assert sum(1 for _ in smaller(small)) < sum(1 for _ in smaller(s))
    monkeypatch.undo()
    assert not judge(small, ["momentum", "carried"]).wrong
    capsys.readouterr()
    exec(script.script(small, "momentum", text), {})
    assert capsys.readouterr().out.startswith("a mass")


@pytest.mark.parametrize(
    "kind", [("triangle", 1), ("quadrilateral", 2), ("quadrilateral", 1, "axisymmetric"), ("hexahedron", 1)]
)
def test_integrals_over_cells(kind):
    """Of a stretch along the height: its energy, half of u.K u, the weight and the top from lengths alone."""
    s = compose.Scenario(**dict(zip(("cell", "degree", "hypothesis"), kind)), steps=2, motion="thrown")
    seen = see(s)
    c, count = cells.cells(seen), len(seen.places())
    u = 0.01 * seen.places()
    u[:, :-1] = 0.0
    exact, area = cells.cells(seen, 6), known.area(s, 0)
    energy = 0.5 * 1e6 * 0.01**2 * area * s.blocks[0].height
    assert cells.stored(c, u) == pytest.approx(energy, rel=1e-9)
    assert 0.5 * u.ravel() @ cells.stiffness(c, count) @ u.ravel() == pytest.approx(energy, rel=1e-9)
    assert exact.mean(count).sum() == pytest.approx(known.mass(s, 0), rel=1e-12)
    assert cells.top(seen, exact, count).sum() == pytest.approx(area, rel=1e-12)
    assert exact.kinetic(np.ones_like(u)) == pytest.approx(0.5 * s.gdim * known.mass(s, 0), rel=1e-12)


@pytest.mark.parametrize("name", faults.FAULTS)
def test_faults_follow_the_code(name):
    """Each can be put back: its lines are there, and the module with those of the fault compiles."""
    fault = faults.FAULTS[name]
    assert any(fault.reach(composed(seed)) for seed in range(1000))
    assert not fault.by or fault.by in [*ORACLES, "runs"]
    for module, old, new in fault.lines:
        path = Path(di.__file__).parent / faults.path_of(module)
        assert old in path.read_text()
        if path.suffix == ".py":
            compile(path.read_text().replace(old, new), path, "exec")


def test_a_refusal_on_one_rank_alone_is_found(monkeypatch, capsys):
    """The other rank waits for it: ended after some patience, with the scenario that it was."""
    name, kind = "folded-on-one-rank", ["--bodies", "1"]
    reach = faults.FAULTS[name].reach
    made = (compose.compose(seed, 1) for seed in SEEDS)
    seed = next(s.seed for s in made if reach(s) and ranks.can_be_divided(s))
    # The faults are those of the ranks alone.
    monkeypatch.setattr(faults, "install", faults.FAULTS.get)
    monkeypatch.setattr(cli.logging, "disable", lambda level: None)
    started = SimpleNamespace(run=functools.partial(subprocess.run, env=environment()))
    monkeypatch.setattr(ranks, "subprocess", started)
    words = ["--seed", seed, "--count", 1, *kind, "--ranks", 2, "--fault", name, "--patience", 2]
    assert cli.main([*map(str, words)]) == 0
    said = capsys.readouterr().out
    assert f"scenario {seed} " in said and "wait for each other" in said


def test_what_flies_has_impulses_of_rounding():
    one = {"kinetic": 1.0, "internal": 0.0, "external": 0.0, "contact": 0.0, "dissipated": 0.0}
    one |= {"impulse": 1e-12, "mass": 100.0, "moved": 1.0}
    assert not ranks.differences(one, one | {"impulse": -1e-14})
    assert ranks.differences(one, one | {"impulse": 1e-6})
    assert not ranks.differences({}, {})


def test_faults_of_c_sources_are_read():
    """The text of a kernel is that with the fault, in a process of its own, and no other text is."""
    name = "yield-stress-below-zero"
    (source, old, new), *_ = faults.FAULTS[name].lines
    lines = [
        f"import sys; sys.path.insert(0, {str(TESTS)!r})",
        f"from scenarios import faults; faults.install({name!r})",
        "from dolfinx_impact.systems.elements import element_forces, history_code",
        f"text = history_code._file({Path(source).name!r})",
        f"print(({old!r} in text, {new!r} in text, element_forces._text('batches.h') != ''))",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.stdout.strip() == "(False, True, True)", done.stderr


def test_a_fault_that_does_not_follow_the_code_is_an_error():
    assert faults.replaced("a = 1", [("a", "b")], "here") == "b = 1"
    with pytest.raises(ImportError, match="here has no line 'c'"):
        faults.replaced("a = 1", [("c", "b")], "here")


def test_the_program_of_a_scenario_builds_its_blocks():
    assert program.names(compose.Scenario()) == ["a"]
    assert (TESTS / "scenarios" / "__main__.py").is_file()

"""Impulses of features in histories, summaries, tables and forces at nodes."""

import numpy as np
import pytest
from support.needles import meeting, over_a_plate, tetrahedron
from support.surfaces import total

import dolfinx_impact as di
from dolfinx_impact.integrators.central import swept_paths

V = (0.02, 0.03, -0.1)


def crossed(**options):
    """Two wedges whose edges cross off their middles: they meet in the first step, and no nodes touch."""
    lower = tetrahedron([[-0.4, 0.0, 0.0], [0.6, 0.0, 0.0], [0.1, -0.3, -0.5], [0.1, 0.3, -0.5]])
    upper = tetrahedron([[0.0, -0.3, 0.15], [0.0, 0.7, 0.15], [-0.3, 0.2, 0.65], [0.3, 0.2, 0.65]])
    return meeting(upper, lower, V, **options)


@pytest.mark.mpi
def test_a_run_counts_the_impulses_of_features(shared_path):
    """Where edges alone touch there was contact, with the impulse that the upper part has lost."""
    s, contact = crossed(friction=0.5)
    body, before = s.system, di.rigid_motion(s.system, s.u, s.v, cells="upper").velocity
    run = di.simulate(s, t_end=1.0)
    gained = di.rigid_motion(body, s.u, s.v, cells="upper").velocity - before
    change, of_features = 0.5 * body.total_mass * gained, run["r_features"]
    assert not run["r"].any() and of_features == pytest.approx([0.0, change[2]], rel=1e-6)
    impulse = f"{of_features.sum():.6g} N s"
    assert f"contact seen from 1 s, impulse {impulse} ({impulse} of features)" in run.summary()
    row = run.row()
    assert row["impulse"] == row["impulse_peak"] == of_features.sum()
    assert row["contact_start"] == row["contact_end"] == 1.0
    run.save(shared_path / "run.npz")
    loaded = di.Result.load(shared_path / "run.npz")
    assert loaded.summary() == run.summary() and np.array_equal(loaded["r_features"], of_features)
    run.to_csv(shared_path / "run.csv")
    names, *_ = (shared_path / "run.csv").read_text().splitlines()
    assert "r_features" in names.split(",")


@pytest.mark.mpi
def test_samples_and_restarts_lose_no_impulse_of_features(shared_path):
    """A sample has what came since the one before, also beyond a checkpoint."""
    s, _ = over_a_plate(0.1)
    fine = di.simulate(s, t_end=7.0)["r_features"]
    assert np.count_nonzero(fine) > 1
    s, _ = over_a_plate(0.1)
    coarse = di.simulate(s, t_end=7.0, every=3)["r_features"]
    assert coarse == pytest.approx([fine[0], fine[1:4].sum(), fine[4:7].sum(), fine[7]], rel=1e-12)
    path = shared_path / "at.npz"
    s, _ = over_a_plate(0.1)
    di.simulate(s, t_end=2.0, every=3, checkpoint=di.Checkpoint(path, every=2))
    s, _ = over_a_plate(0.1)
    again = di.simulate(s, t_end=7.0, every=3, restart=path)["r_features"]
    assert np.array_equal(again, coarse)


@pytest.mark.mpi
def test_impulses_at_nodes_have_those_of_features():
    """Fields and resultants are made of these: what each part loses, in sum nothing."""
    s, contact = crossed()
    s.step()
    (r,) = contact.features().r
    out = np.zeros(contact.nodes.loaded.dofs.shape)
    s.add_nodal_impulses(out)
    assert s.r_features == r and total(np.maximum(out, 0.0).sum(axis=0)) == pytest.approx(
        [0, 0, r], abs=1e-14 * r
    )
    assert total(out.sum(axis=0)) == pytest.approx([0, 0, 0], abs=1e-14 * r)
    assert total(s.contact_work(s.v)) == pytest.approx(
        total(s.swept[: s.system.owned] @ s.v[: s.system.owned]), rel=1e-12
    )


@pytest.mark.mpi
def test_what_moves_together_counts_too(monkeypatch):
    """Half of the sum of the lengths of its impulses."""
    monkeypatch.setattr(swept_paths, "_ROUNDS", 0)
    s, contact = crossed()
    s.step()
    n = s.system.owned
    lengths = np.linalg.norm(s.swept[:n].reshape(-1, 3), axis=1)
    assert contact.certificate().together == 1 and not len(contact.features().r)
    assert s.r_features == pytest.approx(0.5 * total(lengths.sum()), rel=1e-12) and s.r_features > 0.0


@pytest.mark.mpi
def test_a_change_of_the_step_counts_impulses_of_features_once():
    """Those before it with what it adds are those that have acted."""
    s, contact = over_a_plate(0.1)
    while not s.r_features:
        s.step()
    before = s.r_features
    s.change_step(0.6)
    assert s.r_features == 0.0 and contact.features().r.sum() == pytest.approx(
        before + s.r_features_change, rel=1e-12
    )
    assert s.r_features_change != 0.0

"""Doyen, Ern and Piperno (2011), Sect. 4: what several schemes with exact contact share, and 4.4 to 4.8."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators.doyen2011 import PAPER
from ...claim import FailedRun, Measured, Runs, above, below, equal, row, table
from . import measures as m
from .measures import BAR, BOUNCES, CORRECTED, ENERGY, FORCE, HHT, IMPACT, LARGE, LOST, SPEED

_BULK: dict[str, Any] = {"beta": 0.5, "gamma": 1.0}  #: Newmark (1/2, 1) with exact contact.


def _quiet(runs: Runs, **of: Any) -> Measured:
    ripple, newmark = m.oscillation(runs, **of), m.oscillation(runs, "dep-4.1")
    note = f"With 4.1 {newmark.min():.2f} to {newmark.max():.2f}"
    return Measured(ripple, LARGE * float(newmark.min()), note=note)


def _late_error(runs: Runs, scheme: str) -> Measured:
    made = m.bounces(runs, scheme)
    changes = m.of(made, "energy_change_4")
    note = f"Energy {changes.min():+.2%} to {changes.max():+.2%}"
    return Measured(float(np.mean([m.late_error(run) for run in made])), note=note)


def _late_errors(runs: Runs, scheme: str) -> Measured:
    late, good = _late_error(runs, scheme), m.late_error(runs(BOUNCES, "dep-7.2"))
    return replace(late, note=f"{late.note}; with 7.2 the error is {good:.2f}")


def _same(runs: Runs, scheme: str, other: str) -> float:
    apart = []
    for case, parts in ((IMPACT, m.PARTS), (BOUNCES, (0.0,))):
        for one, two in zip(*(m.phases(runs, name, case, parts) for name in (scheme, other))):
            if len(one["t"]) != len(two["t"]):
                raise FailedRun(f"{runs.scheme(scheme)} and {other} have other steps")
            apart.append(float(np.max(np.abs(one["u"] - two["u"]))) / BAR.h0)
    return max(apart)


def _works(runs: Runs, scheme: str, **settings: Any) -> float:
    made = m.phases(runs, scheme, **settings)
    return max(0.0, *(float(m.force_work(run, False).max()) / ENERGY for run in made))


def _pull(s: Any, u: NDArray) -> NDArray:
    """``-K u`` [N]."""
    pull = np.zeros(s.system.size)
    s.system.force(s.t, u, np.zeros(s.system.size), pull)
    return pull


def _stress(runs: Runs) -> Measured:
    spreads = []
    for s in m.at_phases(runs, "dep-4.4"):
        dof, samples = s.contact.L.dofs[0, 0], []
        while s.t < 2 * BAR.transit:
            s.step()
            samples.append((-_pull(s, s.u)[dof], s.r[0] / s.dt))
        left = int(0.1 / s.dt)
        spreads.append(np.std(np.array(samples)[left:-left], axis=0) / FORCE)
    stress, r = np.array(spreads).T
    return Measured(stress, LARGE * float(r.mean()), note=f"Contact force {r.mean():.2f} in the mean")


def _bulk_balance(runs: Runs) -> float:
    s = m.built(m.chosen(runs, "dep-4.1"), **_BULK)
    s.start(SPEED * s.dt * 4 / 3, -SPEED)
    balance, worst = s.balance(), 0.0
    balance.start()
    had, before = balance.kinetic + balance.internal, s.u.copy()
    for _ in range(200):
        s.step()
        balance.step()
        moved, kept = s.u - before, balance.kinetic + balance.internal
        work = float(s.r @ s.contact_state.L(moved)) / s.dt
        worst = max(worst, abs(kept - had - work - float(moved @ _pull(s, moved)) / 2))
        had, before = kept, s.u.copy()
    return worst / ENERGY


def _bulk(runs: Runs) -> Measured:
    made = m.phases(runs, "dep-4.1", **_BULK)
    contact = [-float(m.force_work(run, False).sum()) / ENERGY for run in made]
    lost = [-run.results["energy_change_1"] - taken for run, taken in zip(made, contact)]
    note = f"Contact takes {np.mean(contact):.4f}"
    return Measured(float(np.mean(lost)), 10 * float(np.mean(contact)), note=note)


def _update(runs: Runs) -> Measured:
    plain, updated = (_late_error(runs, scheme) for scheme in ("dep-4.4", CORRECTED))
    note = f"{updated.value:.2f}, {plain.value:.2f}. With it: {updated.note}"
    return Measured(updated.value / plain.value, note=note)


def _cancel(runs: Runs) -> float:
    worst = 0.0
    for s in m.at_phases(runs, "dep-4.6"):
        dof, touched = s.contact.L.dofs[0, 0], 0
        while s.t < 2 * BAR.transit - 0.1:
            before = s.a[dof]
            s.step()
            push = s.r[0] / s.dt / s.system.mass[dof]
            touched = touched + 1 if push > 0 else 0
            if touched > 2:
                worst = max(worst, abs((before + s.a[dof]) / 2 + push) * s.system.mass[dof] / FORCE)
    return worst


def _cheap(runs: Runs) -> Measured:
    schemes = [m.built(m.chosen(runs, name), mass="lumped") for name in ("dep-4.5", "dep-4.6")]
    times: list[list[float]] = [[], []]
    for s in schemes:
        s.start(SPEED * s.dt, -SPEED)
    for _ in range(300):
        # In turns, so that what else the machine does meets both.
        for s, taken in zip(schemes, times):
            begun = perf_counter()
            s.step()
            taken.append(perf_counter() - begun)
    plain, full = (float(np.median(taken)) for taken in times)
    return Measured(full / plain - 1, note=f"{1e6 * full:.0f} us, {1e6 * plain:.0f} us")


def _semi_discrete(runs: Runs) -> list[float]:
    made = [runs(IMPACT, "dep-4.7", h=0.0025 / k, every=k) for k in (1, 2, 4, 8)]
    last = min(len(run["t"]) for run in made)
    apart = [np.mean(np.abs(a["u"][:last] - b["u"][:last])) for a, b in zip(made, made[1:])]
    return [float(d) / (SPEED * run.results["h"]) for d, run in zip(apart, made)]


CLAIMS = table(IMPACT, PAPER, [
    *(row(id, where, claim, lambda runs, scheme: m.mean(m.oscillation(runs, scheme)), above(LARGE),
          "mean RMS oscillation of the force over the exact one; ten times the mesh's", scheme=scheme)
      for id, where, claim, scheme in (
          ("4.1-force", "Sect. 4.1, Fig. 6",
           "Newmark with exact contact: large spurious oscillations of the contact pressure.", "dep-4.1"),
          ("4.4-force", "Sect. 4.1, Fig. 11", "4.4: the contact pressure still oscillates.", "dep-4.4"))),
    *(row(id, where, claim, _quiet, below(),
          "RMS oscillation of the force over the exact one; a tenth of that with 4.1", scheme=scheme, **of)
      for id, where, claim, scheme, of in (
          ("4.1-hht-damped", "Sect. 4.1, Fig. 8", "HHT (alpha = -0.2) damps oscillations.", "dep-4.1", HHT),
          *((f"4.2-damped-{theta:g}", "Sect. 4.1",
             f"The theta method damps the spurious oscillations as HHT does (theta = {theta:g}).",
             "dep-4.2", {"theta": theta}) for theta in m.THETAS),
          ("4-order", "Remark 4.4",
           "A proper treatment of contact is not a matter of the order: 4.3 is Newmark.", "dep-4.3", {}),
          ("4.3-quiet", "Sect. 4.1, Fig. 10", "4.3: the large oscillations have disappeared.", "dep-4.3", {}),
          ("4.6-quiet", "Sect. 4.1, Fig. 13", "4.6: the pressure hardly oscillates.", "dep-4.6", {}),
          ("4.7-quiet", "Sect. 4.2, Fig. 15", "4.7: there are no spurious oscillations.", "dep-4.7", {}))),
    *(row(id, f"Sect. 4.1, Fig. {figure}", claim, _late_errors, above(1.0),
          "mean error in period four over that of a bar at mid-height", case=BOUNCES, scheme=f"dep-{id[:3]}")
      for id, figure, claim in (
          ("4.1-long-time", 7, "Newmark with exact contact: poor long-time behaviour."),
          ("4.4-long-time", 12, "4.4: the losses deteriorate the long-time behaviour."),
          ("4.6-long-time", 14, "4.6: the long-time behaviour is still poor."))),
    *(row(id, where, claim,
          lambda runs, sign=-1, **of: m.mean(sign * m.of(m.bounces(runs, **of), "energy_change_4")),
          above(LOST), "mean part gained or lost in four periods; one element's. Eight nodes lose 4 %",
          case=BOUNCES, scheme=f"dep-{id[:3]}", **of)
      for id, where, claim, of in (
          ("4.1-energy", "Sect. 4.1, Fig. 7", "4.1, exact contact: poor energy conservation.", {"sign": 1}),
          ("4.1-hht-energy", "Sect. 4.1, Fig. 9", "HHT with alpha = -0.2: poor energy conservation.", HHT),
          *((f"4.2-energy-{theta:g}", "Sect. 4.1",
             f"The theta method conserves energy as poorly as HHT does (theta = {theta:g}).",
             {"places": 1, "theta": theta}) for theta in m.THETAS),
          ("4.4-energy", "Sect. 4.1, Fig. 12", "4.4: the losses of energy are quite important.", {}),
          ("4.7-energy", "Sect. 4.2, Fig. 16", "4.7: the losses of energy are quite important.", {}))),
    *(row(id, where, claim, lambda runs, scheme, **of: max(
            m.balance_miss(run, **of) for run in (*m.phases(runs, scheme), runs(BOUNCES, scheme, t_end=4.0))),
          below(1e-11), "largest defect over the energy", scheme=f"dep-{id[:3]}", mean=mean, quasi=quasi)
      for id, where, claim, mean, quasi in (
          ("4.1-balance", "(44)", "4.1, exact contact: E' - E is the work of (r' + r)/2.", True, False),
          ("4.4-balance", "(50)", "4.4, implicit contact: E' - E is the work of r'.", False, False),
          ("4.5-balance", "(56)", "4.5, dissipative contact: E' - E is the work of r'.", False, False),
          ("4.7-balance", "(75)", "4.7: the form (16) changes by the work of the mean force.", True, True))),
    row("4.4-work", "Sect. 4.1", "4.4: the work of the contact force is never positive.",
        _works, below(1e-12), "largest work r' . dg of a step over the energy; rounding", scheme="dep-4.4"),
    row("4.4-stress", "Sect. 4.1, Fig. 11", "4.4: the stress at the bottom hardly oscillates.", _stress,
        below(), "RMS oscillation of (Ku)_0 over E v0 / c; a tenth of the contact force's"),
    row("4.4-velocity-update", "Sect. 4.1",
        "A velocity update of 4.4, which gives energy back, improves it little.", _update, above(0.5),
        "mean error in the fourth period over that without it; half", case=BOUNCES),
    row("4.5-bulk-work", "Sect. 4.1",
        "Newmark (1/2, 1), exact contact: the work of contact is never positive.", _works, below(1e-12),
        "largest work r' . dg of a step over the energy; rounding", scheme="dep-4.1", **_BULK),
    row("4.5-bulk-balance", "(55)", "Newmark (1/2, 1), exact contact: E' - E is r' . dg less du.K du / 2.",
        _bulk_balance, below(1e-11), "largest defect in a step over the energy; limit: rounding"),
    row("4.5-bulk", "Sect. 4.1", "Newmark (1/2, 1) with exact contact has a strong bulk dissipation.",
        _bulk, above(), "mean part lost in the bulk, du.K du / 2 in (55); ten times what contact takes"),
    row("4.5-same", "Sect. 4.1", "4.5 gives the results of 4.4.", _same, below(1e-8),
        "largest difference of u_0 over h0; rounding", case=BOUNCES, scheme="dep-4.5", other="dep-4.4"),
    row("4.6-sum", "(67)", "4.6: in lasting contact both accelerations of the node cancel.",
        _cancel, below(1e-9), "sum of mean elastic and contact acceleration over that of E v0 / c; rounding"),
    row("4.6-cheap", "Sect. 4.1", "The additional step of 4.6 is cheap beside the main one.",
        _cheap, below(0.5), "median time of a step of 4.6 over one of 4.5, lumped, less 1; half a step"),
    row("4.7-acceleration", "(74)", "4.7: the acceleration at the contact boundary vanishes in contact.",
        lambda runs: [np.abs(np.diff(run["v"][m.in_contact(run), 0])).max() / SPEED
                      for run in m.phases(runs, "dep-4.7")],
        below(1e-11), "largest change of velocity of the node in a step over v_i; rounding"),
    row("4.7-stable", "Sect. 4.2", "4.7: the stability condition is the linear one.", m.bounded_courant,
        equal(1.0, 0.01), "largest Courant number, velocities bounded", scheme="dep-4.7", height=0.05),
    row("4.7-converges", "Sect. 4.2", "In 1D 4.7 converges to the continuous solution.",
        lambda runs: m.fitted(m.of(found := [runs(IMPACT, "dep-4.7", elements=n, courant=0.75)
                                             for n in (25, 50, 100, 200)], "h"), m.of(found, "error_u")),
        above(0.5), "order in h of the error (35) of the bottom; half, there is a shock"),
    row("4.7-semi-discrete", "Sect. 4.2", "As the step falls, 4.7 converges to a solution of the mesh.",
        _semi_discrete, below(1.0), "mean change of u_0 as h is halved over h v0; a step late makes 1"),
    row("4.8-same", "Sect. 4.2", "4.8 is equivalent to 4.7 for a diagonal mass matrix.", _same, below(1e-8),
        "largest difference of u_0 over h0; rounding", case=BOUNCES, scheme="dep-4.8", other="dep-4.7"),
], prefix="doyen-")  # fmt: skip

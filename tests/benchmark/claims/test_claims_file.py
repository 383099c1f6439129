"""The file of known verdicts names every claim; the nightly report compares the verdicts themselves."""

import json

from support import verdicts

from dolfinx_impact.benchmark.claims import CLAIMS


def test_ids_are_those_of_the_file():
    known = json.loads(verdicts.KNOWN.read_text())
    assert sorted(known) == sorted(claim.id for claim in CLAIMS)
    assert set(known.values()) == {True, False, None}


def test_other_verdicts_are_named():
    claims = {"same": True, "turned": False, "undecided": None}
    report = {"claims": [{"id": id, "reproduced": found} for id, found in claims.items()]}
    assert verdicts.differences(report, claims) == []
    lines = verdicts.differences(report, {"same": True, "turned": True, "lost": None, "undecided": False})
    assert lines == [
        "lost: no verdict at all, but known is None",
        "turned: False, but known is True",
        "undecided: None, but known is False",
    ]

"""Verdicts on the claims of a report, compared with those of ``tests/data/claims.json``.

``python tests/support/verdicts.py results/report/report.json`` names the claims whose verdict is another one;
the status says whether there are any. The file has ``null`` for what no run decides.
"""

import json
import sys
from pathlib import Path

KNOWN = Path(__file__).resolve().parents[1] / "data" / "claims.json"


def differences(report, known):
    """Lines on the claims whose verdict is not the known one, or that only one of both has."""
    found = {claim["id"]: claim["reproduced"] for claim in report["claims"]}
    nothing = "no verdict at all"
    return [
        f"{id}: {found.get(id, nothing)}, but known is {known.get(id, nothing)}"
        for id in sorted({*found, *known})
        if found.get(id, nothing) is not known.get(id, nothing)
    ]


def main(path):
    """Compare a report; its exit status."""
    known = json.loads(KNOWN.read_text())
    lines = differences(json.loads(Path(path).read_text()), known)
    print("\n".join(lines) or f"all {len(known)} claims have their known verdict")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Print which lines and branches of `ltn` no test runs, and the shares of those that tests run."""

import json
import tempfile
from pathlib import Path

from coverage import Coverage

LEAST = {"lines": 97.0, "branches": 93.0}


def shares(measured: Coverage) -> dict[str, float]:
    """In percent; a branch is a way to go on from a line that has several."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "coverage.json")
        measured.json_report(outfile=str(path))
        totals = json.loads(path.read_text())["totals"]
    lines = totals["covered_lines"] / totals["num_statements"]
    branches = totals["covered_branches"] / totals["num_branches"]
    return {"lines": 100 * lines, "branches": 100 * branches}


def main() -> None:
    measured = Coverage(messages=False)
    measured.load()
    measured.report(show_missing=True, skip_covered=True)
    found = shares(measured)
    for kind, share in found.items():
        print(f"{kind}: {share:.2f} %, and {LEAST[kind]:.0f} % are expected")
    if any(share < LEAST[kind] for kind, share in found.items()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

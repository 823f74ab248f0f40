"""Print what kills three mutants of a tiny project in a folder, each in a line."""

import sys
import tempfile
from pathlib import Path

from tests.mutation.forks import Copy
from tests.mutation.mutants import Mutant

# The second does what the original does, and the third never ends.
MUTANTS = ["n - 1", "n + 2 - 1", "next(i for i in iter(int, 1) if i)"]
TESTS = {"test_tiny.py": ["test_tiny.py::test_larger"]}


def main(root: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(root), Path(folder).resolve())
        for change in MUTANTS:
            text = (copy.folder / "tiny.py").read_text().replace("n + 1", change)
            print(copy.killer(Mutant("tiny.py", 2, text), TESTS, seconds=1.0))


if __name__ == "__main__":
    main(sys.argv[1])

"""A process that saves a theory: `python -m tests.theory.saving_program FILE [EVENT]`.

It saves without end, or is killed when it touches the folder of the file for the n-th time.
"""

import sys
from pathlib import Path

from tests import faults
from tests.theory.theories import one_weight


def main() -> None:
    file, *event = sys.argv[1:]
    theory = one_weight()
    if event:
        faults.kill_at(int(event[0]), Path(file).parent)
    while True:
        theory.save(file)


if __name__ == "__main__":
    main()

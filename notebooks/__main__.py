"""Write the notebooks anew, with their outputs.

python -m notebooks
python -m notebooks 1_grounding clustering
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import nbformat

from notebooks.stored import executed, notebooks, with_header


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute and store some notebooks, or all; the exit status."""
    known = {path.stem: path for path in notebooks()}
    parser = argparse.ArgumentParser(prog="python -m notebooks", description="Write the notebooks anew.")
    parser.add_argument("name", nargs="*", choices=[[], *known], help="without the ending; else all")
    for name in parser.parse_args(arguments).name or known:
        print(name, flush=True)
        path = known[name]
        notebook = executed(with_header(nbformat.read(path, as_version=4), path))
        nbformat.write(notebook, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

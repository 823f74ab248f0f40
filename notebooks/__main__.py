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
    parser.add_argument("name", nargs="*", help=f"without the ending, of {', '.join(known)}; else all")
    names = parser.parse_args(arguments).name or list(known)
    for name in names:
        if name not in known:
            parser.error(f"there is no notebook {name!r}; there are {', '.join(known)}")
    for name in names:
        print(name, flush=True)
        path = known[name]
        notebook = executed(with_header(nbformat.read(path, as_version=4), path))
        nbformat.write(notebook, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

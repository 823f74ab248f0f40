"""Pictures of a theory: its training, its axioms, the truth of its formulas, reasoning about it.

Each function returns a Matplotlib figure, which a notebook shows and `figure.savefig` writes. The figures
are not pyplot's: no backend is chosen, and there is nothing to close.
"""

from ltn.plot.bars import report
from ltn.plot.changes import compare
from ltn.plot.curves import training
from ltn.plot.embeddings import embeddings
from ltn.plot.graphs import relation
from ltn.plot.heat_maps import heat_map
from ltn.plot.histograms import histogram
from ltn.plot.reasoning import penalty, search
from ltn.plot.repairs import repair
from ltn.plot.shares import violations
from ltn.plot.surfaces import surface
from ltn.plot.trees import tree

__all__ = [
    "compare",
    "embeddings",
    "heat_map",
    "histogram",
    "penalty",
    "relation",
    "repair",
    "report",
    "search",
    "surface",
    "training",
    "tree",
    "violations",
]

"""What the experiments share: data, seeded runs, tables and figures.

An experiment says what is particular to it, see `Experiment`; everything else is here.
"""

from examples.harness.data import DataError, split, standardised
from examples.harness.experiment import (
    Experiment,
    Metric,
    Recorder,
    Run,
    Setting,
    label,
    on_both_parts,
    satisfaction,
)
from examples.harness.figures import Line, Panel, accuracy_and_satisfaction, draw

__all__ = [
    "DataError",
    "Experiment",
    "Line",
    "Metric",
    "Panel",
    "Recorder",
    "Run",
    "Setting",
    "accuracy_and_satisfaction",
    "draw",
    "label",
    "on_both_parts",
    "satisfaction",
    "split",
    "standardised",
]

"""Outputs that break no rule: the truths nearest to those of the networks, and labels.

`theory.repair(...)` asks; what it returns is defined here, and the Keras layer that repairs in a model.
"""

from ltn.repair.layer import Repair
from ltn.repair.repaired import Repaired

__all__ = ["Repair", "Repaired"]

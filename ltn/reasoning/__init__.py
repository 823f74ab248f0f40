"""Logical consequence: what follows from a theory, and groundings that show that something does not.

`theory.entails(...)` and `theory.bounds(...)` ask; what they return is defined here.
"""

from ltn.reasoning.grounding import Grounding
from ltn.reasoning.refutation import elu
from ltn.reasoning.verdict import Bounds, Verdict

__all__ = ["Bounds", "Grounding", "Verdict", "elu"]

"""A theory as a Keras model: evaluation, training, queries, reports, saving."""

from ltn.theory.axioms import Axiom
from ltn.theory.knowledge import KnowledgeModel, with_knowledge
from ltn.theory.saving import load
from ltn.theory.theory import Theory

__all__ = ["Axiom", "KnowledgeModel", "Theory", "load", "with_knowledge"]

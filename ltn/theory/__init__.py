"""A theory as a Keras model: its training, its queries, its reports, its file."""

from ltn.knowledge.axioms import Axiom
from ltn.theory.knowledge_model import KnowledgeModel, with_knowledge
from ltn.theory.loading import load
from ltn.theory.theory import Theory

__all__ = ["Axiom", "KnowledgeModel", "Theory", "load", "with_knowledge"]

"""Small knowledge bases, without a Keras model."""

import tensorflow as tf

from ltn import semantics
from ltn.knowledge.axioms import KnowledgeBase
from ltn.knowledge.language import Language


def bright(x: tf.Tensor) -> tf.Tensor:
    """A truth value that is the individual itself."""
    return x[:, 0]


def numbers() -> Language:
    """Numbers: `x` ranges over data, `k` over three of them, and A is 0.5."""
    language = Language()
    domain = language.domain("numbers")
    language.variable("x", domain)
    language.variable("k", domain, values=[0.2, 0.4, 0.9])
    language.predicate("bright", domain, bright)
    language.proposition("A", 0.5)
    return language


def knowledge_of(*axioms: str, preset: str = "product") -> KnowledgeBase:
    """The axioms about numbers."""
    knowledge = KnowledgeBase(numbers(), semantics.get(preset))
    for axiom in axioms:
        knowledge.axiom(axiom)
    return knowledge

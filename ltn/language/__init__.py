"""The written language: domains, the signature, formulas as text and as trees."""

from ltn.language.domains import Domain
from ltn.language.normal_form import negation_normal_form
from ltn.language.parser import parse, parse_many
from ltn.language.printer import text
from ltn.language.signature import Signature
from ltn.language.syntax import (
    And,
    Apply,
    Arithmetic,
    Binary,
    Comparison,
    Iff,
    Implies,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Quantifier,
    Span,
    Unary,
)

__all__ = [
    "And",
    "Apply",
    "Arithmetic",
    "Binary",
    "Comparison",
    "Domain",
    "Iff",
    "Implies",
    "Name",
    "Negative",
    "Node",
    "Not",
    "Number",
    "Or",
    "Quantifier",
    "Signature",
    "Span",
    "Unary",
    "negation_normal_form",
    "parse",
    "parse_many",
    "text",
]

"""The written language: domains, the signature, formulas as text and as trees."""

from ltn.language import syntax
from ltn.language.domains import Domain
from ltn.language.normal_form import negation_normal_form
from ltn.language.parser import parse, parse_many
from ltn.language.signature import Signature
from ltn.language.statements import Definition, Diagonals, Parameter
from ltn.language.syntax import *  # noqa: F403  # the nodes, which are listed there
from ltn.language.tree import text

__all__ = ["Definition", "Diagonals", "Domain", "Parameter", "Signature"]
__all__ += ["negation_normal_form", "parse", "parse_many", "text"]
__all__ += syntax.__all__
__all__.sort()

"""Definitions of a knowledge base: names for formulas."""

from __future__ import annotations

import re
from typing import Protocol

from ltn.errors import LogicTypeError
from ltn.language import Node, Signature, parse
from ltn.language.parser import with_text
from ltn.language.statements import Definition


class Definitions(Protocol):
    """What a definition is added to: a `KnowledgeBase`."""

    @property
    def signature(self) -> Signature: ...

    def check_options(self, formula: Node, text: str) -> None: ...


class _Theory(Protocol):
    @property
    def knowledge(self) -> Definitions: ...


def define(theory: _Theory, definition: str | Node) -> Definition:
    """Give a formula a name, which is then used like a predicate: `name(x, y): formula`.

    The domains of its variables are those that they are declared with; or they stand in the head, as in
    `old(u: people): age(u) > 66`. A definition may use others, but not itself. Formulas are evaluated with
    definitions written out; what one binds never meets the variables of its arguments. In a text of axioms a
    definition is a line that begins with `define`.

    >>> import ltn
    >>> theory = ltn.Theory()
    >>> people = theory.domain("people", values=["ann", "bob", "cem"])
    >>> x, y, z = theory.variables("x, y, z", people)
    >>> P = theory.predicate("parent", (people, people), lambda p: p[0][:, 0] + 1 == p[1][:, 0])
    >>> theory.define("grandparent(x, z): exists y: parent(x, y) & parent(y, z)")
    Definition('define grandparent(x, z): exists y: parent(x, y) & parent(y, z)')
    >>> theory.query("grandparent(ann, x)", p=200).to_frame().round(2)
         truth
    x
    ann   0.00
    bob   0.00
    cem   0.99
    """
    text = definition if isinstance(definition, str) else ""
    if text and not re.match(r"\s*define\s*[\w']", text):
        text = f"define {text}"
    tree = parse(text) if isinstance(definition, str) else definition
    if not isinstance(tree, Definition):
        raise LogicTypeError(f"A definition is text, as `old(x): age(x) > 66`; got {definition!r}.")
    add(theory.knowledge, tree, text)
    return tree


def add(knowledge: Definitions, definition: Definition, text: str) -> None:
    """Add a definition that was read from a text."""
    with knowledge.signature.all_or_nothing():
        knowledge.signature.add_definition(definition, text)
        node, text = with_text(definition, text)
        knowledge.check_options(node.children[0], text)

"""Texts that fit: formulas and names on lines of bounded width."""

from __future__ import annotations

import textwrap

_CONNECTIVES = ("∧", "∨", "⊻", "→", "↔", "&", "|", "->", "<->", "and", "or", "xor")
_OPERATORS = ("=", "≠", "<", "≤", ">", "≥", "!=", "<=", ">=", "+", "-", "*", "/")
# What must not stand at the end of a line: its operand would follow on the next.
_OPENERS = ("forall", "exists", "exactly", "at", "least", "most", "where", "not")


def fit_text(text: str, width: int, lines: int = 1) -> str:
    """The text in lines of at most `width` characters; what does not fit ends in an ellipsis.

    Lines end where a formula has a joint, if there is one near: before a connective, behind a colon.

    >>> print(fit_text("forall x: exists y: F(x, y) -> F(y, x)", 20, lines=2))
    forall x: exists y:
    F(x, y) -> F(y, x)
    >>> print(fit_text("forall x: label = virginica -> petals > 2.5", 28, lines=2))
    forall x: label = virginica
    -> petals > 2.5
    >>> fit_text("forall x: exists y: F(x, y) -> F(y, x)", 20)
    'forall x: exists y:…'
    """
    joined = text.strip().replace("\n", " ")
    wrapped = _at_joints(joined, width)
    if len(wrapped) > lines:
        # Lines that end at joints are less full: not where the text must be cut anyway. Not with textwrap's
        # own ellipsis, which drops a long word as a whole.
        wrapped = textwrap.wrap(joined, width, break_on_hyphens=False)
    shown = wrapped[:lines]
    if len(wrapped) > lines:
        shown[-1] = f"{shown[-1][: width - 1]}…"
    return "\n".join(shown)


def shorten(name: str, width: int) -> str:
    """The name in at most `width` characters: its middle is left out, as names often differ at the end.

    >>> shorten("everyone_has_a_friend_12", 16)
    'everyone_…end_12'
    """
    ending = (width - 1) * 2 // 5
    return name if len(name) <= width else f"{name[: width - 1 - ending]}…{name[-ending:]}"


def count_in_words(count: int, noun: str) -> str:
    """The number with its noun.

    >>> count_in_words(1, "axiom"), count_in_words(3, "other axiom")
    ('1 axiom', '3 other axioms')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def _at_joints(text: str, width: int) -> list[str]:
    """Lines that end at the best places, each at least a third full."""
    lines = []
    depth = 0
    while len(text) > width:
        places = [place for place in range(width // 3, width + 1) if text[place] == " "]
        if not places:
            # A long word.
            end = len(textwrap.wrap(text, width, break_on_hyphens=False)[0])
        else:
            end = min(places, key=lambda place: _cost(text, place, depth) - 8.0 * place / width)
        line = text[:end].rstrip()
        depth += line.count("(") - line.count(")")
        lines.append(line)
        text = text[end:].lstrip()
    return [*lines, text] if text else lines


def _cost(text: str, place: int, depth: int) -> int:
    """How much a break at this space disturbs a reader: most between an operator and its operand."""
    before, after = text[:place].split()[-1], text[place + 1 :].split()[0]
    inside = depth + text[:place].count("(") - text[:place].count(")")
    if after in _CONNECTIVES or before.endswith(":"):
        own = 0
    elif before in _OPERATORS or after in _OPERATORS:
        own = 8
    elif before in _CONNECTIVES or before in _OPENERS:
        own = 6
    else:
        own = 1
    return own + 3 * inside

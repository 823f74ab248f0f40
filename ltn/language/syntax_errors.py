"""What is wrong with a text that cannot be parsed, in plain words."""

from __future__ import annotations

from lark import Lark, Token

from ltn.language.names import KEYWORDS, LARGEST_COUNT, PLAIN_QUANTIFIERS, SOFT_KEYWORDS
from ltn.language.tree import Span

# Tokens that belong to the parenthesis or bracket behind them; those of quantifiers have the names of kinds.
_BEFORE_OPENINGS = ("NAME", "DIAG", *map(str.upper, PLAIN_QUANTIFIERS))
# How other languages write a sign, and how this one does.
_SIGNS = {
    "<=>": "<->",
    "&&": "&",
    "/\\": "&",
    "||": "|",
    "\\/": "|",
    "=>": "->",
    "==": "=",
    "=<": "<=",
    "<>": "!=",
    "!": "~",
    "⇒": "->",
    "⇔": "<->",
    "⊕": "xor",
    "−": "-",  # the minus sign of mathematics
    "×": "*",
    "·": "*",
}
_WORDS = {"iff": "<->", "implies": "->"}
_COMPARISONS = ("=", "!=", "≠", "<", "<=", "≤", ">", ">=", "≥")
_LONGEST_SHOWN = 30
_COUNT = "A count is a whole number from 0 up, as in `at least 2 x: P(x)`."

# The plain word for each token that can be expected, in the order in which a message names them.
_PUNCTUATION = {
    "OPEN_OPTIONS": "'['",
    "EQUAL": "'='",
    "OPEN": "'('",
    "COMMA": "','",
    "WHERE": "'where'",
    "COLON": "':'",
    "CLOSE": "')'",
    "CLOSE_OPTIONS": "']'",
}


class MisreadError(Exception):
    """A text cannot be read: what is wrong, and where."""

    def __init__(self, message: str, span: Span):
        super().__init__(message)
        self.message = message
        self.span = span


def explain_count(found: str) -> str:
    """What is wrong with a count."""
    return f"A count is a whole number from 0 to {LARGEST_COUNT}; got {found}."


def explain(parser: Lark, text: str, position: int, found: str) -> tuple[str, Span]:
    """What was expected and what was found instead, and where.

    Args:
        parser: the parser that could not go on.
        text: what it reads.
        position: where it could not go on.
        found: the token or the character that stands there; empty at the end of the text.
    """
    until = parser.parse_interactive(text[:position])
    before = until.exhaust_lexer()
    if not found and not before:
        return "There is no formula in the text; write one, as in `forall x: P(x)`.", Span(0, 1)
    accepted: set[str] = until.accepts()  # type: ignore[no-untyped-call]  # lark gives it no types
    if not found:
        end = _start(before[-1]) + len(before[-1])
        hint = _explain_unclosed(text[:end], before)
        return f"Expected {_list_expected(accepted)}, found the end of the formula.{hint}", Span(end, end + 1)
    if [token.type for token in before[-2:]] == ["MINUS", "NUMBER"] and before[-3:-2] == ["exactly"]:
        # Up to here it could have been arithmetic.
        return explain_count(f"-{before[-1]}"), Span(_start(before[-2]), _start(before[-1]) + len(before[-1]))
    hint = _explain_foreign(text, position, found) or _hint(found, before, accepted)
    return f"Expected {_list_expected(accepted)}, found '{found}'.{hint}", Span(
        position, position + len(found)
    )


def _list_expected(tokens: set[str]) -> str:
    words = []
    if "FORALL" in tokens:
        words.append("a formula or a term")
    elif {"NUMBER", "NAME"} <= tokens:
        words.append("a term")
    elif "DIAG" in tokens:
        words += ["a variable", "'diag'"]
    elif "NAME" in tokens:
        words.append("a name")
    elif "NUMBER" in tokens:
        words.append("a number")
    operand_done = "IMPLIES" in tokens
    # Where a formula can begin or has ended, '(' and '=' go without saying.
    said = {"OPEN", "EQUAL"} if words or operand_done else set()
    words += [word for token, word in _PUNCTUATION.items() if token in tokens - said]
    if operand_done:
        words.append("an operator" if "EQUAL" in tokens else "a connective")
    if "$END" in tokens:
        words.append("the end of the formula")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _explain_foreign(text: str, position: int, found: str) -> str:
    """How this language writes a sign or word of another one; empty if none stands there."""
    if found == "'":
        return (
            " A name in quotes ends with a quote on the same line; inside, a backslash stands before quotes."
        )
    if found == '"':
        return " Names stand in single quotes: 'co-occurs with'."
    for wrong, right in _SIGNS.items():
        # The first characters of a foreign sign may be a token of this language.
        first = max(0, position - len(wrong) + 1)
        if wrong in text[first : position + len(wrong)]:
            return f" Instead of `{wrong}` write `{right}`."
    return f" Instead of `{found}` write `{_WORDS[found]}`." if found in _WORDS else ""


def _hint(found: str, before: list[Token], accepted: set[str]) -> str:
    """What the writer may have meant; empty when nothing comes to mind."""
    for word in [found, *(str(token) for token in before[-1:])]:
        keywords = (*KEYWORDS, *SOFT_KEYWORDS)
        if word.lower() in keywords and word not in keywords:
            return f" Keywords have small letters: write `{word.lower()}`."
    types = [token.type for token in before]
    if types[-1:] in (["AT_LEAST"], ["AT_MOST"]) or (found and before[-1:] == ["exactly"]):
        return f" {_COUNT}"
    if found == "in":
        return " The domain of a variable is told where the variable is declared: leave it out here."
    if found == ":" and types == ["NAME"]:
        return " A label is read in texts of many formulas only."
    if found == ")" and types[-2:] == ["NAME", "OPEN"]:
        return f" Without arguments, write `{before[-2]}`."
    if found in _COMPARISONS and "IMPLIES" in accepted:
        return " Comparisons do not chain: join two with `&`."
    return ""


def _explain_unclosed(text: str, tokens: list[Token]) -> str:
    """Which bracket is open at the end of the text; empty if there is none."""
    openings: list[int] = []
    for position, token in enumerate(tokens):
        if token.type in ("OPEN", "OPEN_OPTIONS"):
            openings.append(position)
        elif token.type in ("CLOSE", "CLOSE_OPTIONS"):
            openings.pop()
    if not openings:
        return ""
    opening = openings[-1]
    is_call = opening > 0 and tokens[opening - 1].type in _BEFORE_OPENINGS
    shown = text[_start(tokens[opening - is_call]) :]
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[:_LONGEST_SHOWN].rstrip()}..."
    return f" The '{tokens[opening]}' of `{shown}` is not closed."


def _start(token: Token) -> int:
    return token.start_pos or 0

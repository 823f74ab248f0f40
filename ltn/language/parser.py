"""Text as trees: one formula or term, or many formulas with labels."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.language import layout, syntax, tree
from ltn.language.diagnostics import locate
from ltn.language.names import LARGEST_COUNT, check_option, read_name
from ltn.language.statements import Definition, Diagonals, Parameter
from ltn.language.syntax_errors import MisreadError, explain, explain_count
from ltn.language.tree import Node, Span

_PLAIN = {sign: operator for operator, sign in syntax.SIGNS_OF_MATHEMATICS.items()}
_LONGEST_NUMBER_SHOWN = 20


def parse(text: str) -> Node:
    """Read one formula or term.

    Names are not looked up: `Signature.check_formula` and `Signature.check_term` do that.

    >>> parse("∀x: P(x) → ¬Q(x)")
    Quantifier('forall x: P(x) -> ~Q(x)')
    >>> parse("forall x P(x)")
    Traceback (most recent call last):
    ...
    ltn.errors.LogicValueError: Expected ',', 'where' or ':', found 'P'.
        forall x P(x)
                 ^
    """
    _check_text(text)
    try:
        return read(text)
    except MisreadError as error:
        raise LogicValueError(locate(error.message, text, error.span)) from None


def parse_many(text: str) -> list[tuple[str | None, Node, str]]:
    """Read the formulas of a text: the label of each, or None, its tree, and its own text.

    A formula begins at the start of a line, apart from the indentation that all lines share; lines that are
    indented further continue it. It may have a label. Empty lines, and what follows a `#`, are skipped. The
    spans of a tree refer to the formula's own text.

    >>> for label, formula, _ in parse_many('''
    ...     # friendship
    ...     symmetric: forall x, y:
    ...         F(x, y) -> F(y, x)
    ...     ~F(a, a)  # nobody is a friend of himself
    ... '''):
    ...     print(label, "|", formula)
    symmetric | forall x, y: F(x, y) -> F(y, x)
    None | ~F(a, a)
    """
    _check_text(text)
    text = layout.clean(text)
    formulas = []
    try:
        for entry, found in read_entries(text):
            if isinstance(found, MisreadError):
                raise found
            formulas.append((entry.label, found, entry.text))
    except MisreadError as error:
        raise LogicValueError(locate(error.message, text, error.span)) from None
    return formulas


def read_entries(text: str) -> Iterator[tuple[layout.Entry, Node | MisreadError]]:
    """The entries of a clean text, each with its tree, or with what is wrong with it.

    The spans of a tree refer to the entry's own text, those of errors to the whole.
    """
    entries = layout.entries(text)
    for position, entry in enumerate(entries):
        try:
            yield entry, read(entry.text)
        except MisreadError as error:
            start, end = error.span
            hint = _hint(entry, start, is_first=position == 0, is_last=entry is entries[-1])
            span = Span(entry.offset + start, entry.offset + end)
            yield entry, MisreadError(error.message + hint, span)


def read_in_place(text: str, entry: layout.Entry) -> Node:
    """The tree of an entry with spans that refer to the whole text."""
    return read(re.sub(r"[^\n]", " ", text[: entry.offset]) + entry.text)


def _hint(entry: layout.Entry, place: int, is_first: bool, is_last: bool) -> str:
    """What to do if the mistake is one of layout."""
    if place == 0 and entry.label is None and not is_first:
        return " To continue the formula above, indent the line."
    if place >= len(entry.text) and not is_last:
        return " If it continues on the next line, indent that line."
    _, broken, indentation = entry.text[:place].rpartition("\n")
    if broken and not indentation.strip():
        return " An indented line continues the formula above it: a new one begins at the start of a line."
    return ""


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise LogicTypeError(f"A formula is read from a string; got a {type(text).__name__}: {text!r}.")


def with_text(node: Node, text: str) -> tuple[Node, str]:
    """The tree and the text that its spans refer to: without a text, the tree is printed and read again."""
    if text:
        return node, text
    text = tree.text(node)
    return read(text), text


def in_signs(formula: str) -> str:
    """The formula with the signs of mathematics; what is no formula, as the name of Python code, as it is.

    >>> in_signs("forall x: ~P(x)"), in_signs("<lambda>")
    ('∀x: ¬P(x)', '<lambda>')
    """
    try:
        return tree.text(parse(formula), unicode=True)
    except LogicError:
        return str(formula)


class _PlacedNode(NamedTuple):
    """A node and the place that it takes, with the parentheses around it, which its own span leaves out."""

    node: Node
    start: int
    end: int


class _Quantity(NamedTuple):
    kind: str
    number: int | None
    start: int


class _Option(NamedTuple):
    name: str
    value: float
    span: Span


_Group = list[Token]


@v_args(inline=True)
class _Builder(Transformer[Token, Node]):
    """Builds nodes while the parser runs: no tree of Lark's is made, and nothing recurses."""

    def start(self, read: _PlacedNode) -> Node:
        return read.node

    def definition(self, define: Token, name: Token, *rest: Parameter | Token | _PlacedNode) -> Node:
        body = cast(_PlacedNode, rest[-1])
        parameters = tuple(piece for piece in rest if isinstance(piece, Parameter))
        span = Span(_start(define), body.end)
        return Definition(_name(name), parameters, body.node, span=span, name_span=_span(name))

    def parameter(self, name: Token, *domain: Token) -> Parameter:
        if not domain:
            return Parameter(_name(name), None, _span(name))
        return Parameter(_name(name), _name(domain[-1]), _span(name), _span(domain[-1]))

    def diagonals(self, body: _PlacedNode, _: Token, *pieces: _Group | Token) -> Node:
        groups = self.groups(*pieces)
        names = tuple(tuple(map(_name, group)) for group in groups)
        spans = tuple(_span(name) for group in groups for name in group)
        return Diagonals(body.node, names, span=Span(body.start, spans[-1].end + 1), variable_spans=spans)

    def word(self, word: Token) -> Token:
        return word.update(type="NAME")

    def connect(self, left: _PlacedNode, sign: Token, right: _PlacedNode) -> _PlacedNode:
        span = Span(left.start, right.end)
        kind = syntax.CONNECTIVES[sign.type.removesuffix("_SIGN")]
        return _PlacedNode(kind(left.node, right.node, span=span), *span)

    def not_(self, sign: Token, operand: _PlacedNode) -> _PlacedNode:
        span = Span(_start(sign), operand.end)
        return _PlacedNode(syntax.Not(operand.node, span=span), *span)

    def negative_(self, sign: Token, operand: _PlacedNode) -> _PlacedNode:
        span = Span(_start(sign), operand.end)
        return _PlacedNode(syntax.Negative(operand.node, span=span), *span)

    def compare(self, left: _PlacedNode, sign: Token, right: _PlacedNode) -> _PlacedNode:
        span = Span(left.start, right.end)
        operator = _PLAIN.get(sign, str(sign))
        return _PlacedNode(syntax.Comparison(operator, left.node, right.node, span=span), *span)

    def arithmetic(self, left: _PlacedNode, sign: Token, right: _PlacedNode) -> _PlacedNode:
        span = Span(left.start, right.end)
        return _PlacedNode(syntax.Arithmetic(str(sign), left.node, right.node, span=span), *span)

    def number(self, digits: Token) -> _PlacedNode:
        return _PlacedNode(syntax.Number(_value(digits), span=_span(digits)), *_span(digits))

    def name(self, name: Token) -> _PlacedNode:
        return _PlacedNode(syntax.Name(_name(name), span=_span(name)), *_span(name))

    def apply(self, symbol: Token, _: Token, *rest: _PlacedNode | Token) -> _PlacedNode:
        span = Span(_start(symbol), _span(rest[-1]).end)
        arguments = tuple(piece.node for piece in rest if isinstance(piece, _PlacedNode))
        node = syntax.Apply(_name(symbol), arguments, span=span, symbol_span=_span(symbol))
        return _PlacedNode(node, *span)

    def parentheses(self, opening: Token, inner: _PlacedNode, closing: Token) -> _PlacedNode:
        return _PlacedNode(inner.node, _start(opening), _span(closing).end)

    def quantity(self, sign: Token, digits: Token | None = None) -> _Quantity:
        if sign.type == "EXISTS_ONE":
            return _Quantity("exactly", 1, _start(sign))
        # Other tokens are named as the kinds.
        kind = sign.type.lower().replace("_", " ")
        return _Quantity(kind, None if digits is None else _count(digits), _start(sign))

    def quantifier(
        self,
        quantity: _Quantity,
        options: list[_Option],
        groups: list[_Group],
        guard: Node | None,
        _: Token,
        body: _PlacedNode,
    ) -> _PlacedNode:
        span = Span(quantity.start, body.end)
        for option in options:
            try:
                check_option(quantity.kind, option.name, option.value)
            except LogicError as error:
                raise MisreadError(str(error), option.span) from None
        node = syntax.Quantifier(
            quantity.kind,
            tuple(tuple(map(_name, group)) for group in groups),
            body.node,
            guard,
            tuple((option.name, option.value) for option in options),
            count=quantity.number,
            span=span,
            variable_spans=tuple(_span(name) for group in groups for name in group),
        )
        return _PlacedNode(node, *span)

    def options(self, *pieces: _Option | Token) -> list[_Option]:
        options = [piece for piece in pieces if isinstance(piece, _Option)]
        seen: set[str] = set()
        for option in options:
            if option.name in seen:
                raise MisreadError(
                    f"The option '{option.name}' is given twice; keep one of them.", option.span
                )
            seen.add(option.name)
        return options

    def option(self, name: Token, _: Token, *number: Token) -> _Option:
        value = _value(number[-1])
        return _Option(_name(name), -value if len(number) == 2 else value, _span(name))

    def groups(self, *pieces: _Group | Token) -> list[_Group]:
        return [piece for piece in pieces if isinstance(piece, list)]

    def group(self, *tokens: Token) -> _Group:
        return [token for token in tokens if token.type == "NAME"]

    diagonal = group

    def guard(self, *pieces: _PlacedNode | Token) -> Node | None:
        return next((piece.node for piece in pieces if isinstance(piece, _PlacedNode)), None)


@functools.cache
def _parser() -> Lark:
    """The parser, built when it is first needed: that takes longer than importing the package should."""
    return Lark.open(
        "grammar.lark",
        rel_to=__file__,
        parser="lalr",
        # It knows all tokens everywhere; the contextual one would read `and` as a name where no connective
        # can stand.
        lexer="basic",
        transformer=_Builder(),
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


def read(text: str) -> Node:
    """The tree of one formula or term; its spans refer to `text`."""
    parser = _parser()
    try:
        return parser.parse(text)  # type: ignore[return-value]  # the builder makes nodes
    except UnexpectedCharacters as error:
        position = error.pos_in_stream or 0
        found = text[position]
    except UnexpectedToken as error:
        # The token at the end has no text, and borrows its place from the one before it.
        position = _start(error.token) if error.token else len(text)
        found = str(error.token)
    raise MisreadError(*explain(parser, text, position, found))


def _start(token: Token) -> int:
    return token.start_pos or 0


def _span(piece: Token | _PlacedNode) -> Span:
    if isinstance(piece, _PlacedNode):
        return Span(piece.start, piece.end)
    return Span(_start(piece), _start(piece) + len(piece))


def _count(digits: Token) -> int:
    # Leading zeros are no digits of the count; what has more than its largest is not converted.
    significant = digits.lstrip("0") or "0"
    if (
        not digits.isdecimal()
        or len(significant) > len(str(LARGEST_COUNT))
        or int(significant) > LARGEST_COUNT
    ):
        raise MisreadError(explain_count(_shorten(digits)), _span(digits))
    return int(significant)


def _shorten(digits: str) -> str:
    return digits if len(digits) <= _LONGEST_NUMBER_SHOWN else f"{digits[:_LONGEST_NUMBER_SHOWN]}..."


def _name(token: Token) -> str:
    try:
        return read_name(token)
    except LogicValueError as error:
        raise MisreadError(str(error), _span(token)) from None


def _value(digits: Token) -> float:
    value = float(digits)
    if value == float("inf"):
        raise MisreadError(
            f"The number {_shorten(digits)} is too large; the largest is about 1.8e308.", _span(digits)
        )
    return value

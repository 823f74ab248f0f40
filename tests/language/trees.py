"""Random trees: any that can be written, and formulas with their truth in a small classical model."""

import itertools
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from ltn.language import (
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
    Xor,
)
from ltn.language.names import COUNTING, KEYWORDS, LARGEST_COUNT, PLAIN, PLAIN_QUANTIFIERS, SOFT_KEYWORDS

# All that the language has: one that is added is tried in every test of random formulas.
CONNECTIVES = Binary.__subclasses__()
KINDS = st.sampled_from(PLAIN_QUANTIFIERS)
COUNTING_KINDS = st.sampled_from(COUNTING)


def names() -> st.SearchStrategy[str]:
    """Plain names, and those that need quotes: keywords, texts with quotes, backslashes, spaces, `#`."""
    near_keywords = st.sampled_from([*SOFT_KEYWORDS, "forallx", "order", "not'", "Diag", "x₁", "ä_1''", "_"])
    signs = st.text("ab'\\ #\"():,[]=1äß\u00a0\u200d😀-", min_size=1, max_size=6)
    # Without the signs of mathematics, which other names show in quotes.
    characters = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="∀∃¬∧∨⊻→↔≠≤≥")
    any_text = st.text(characters, min_size=1)
    plain = st.from_regex(PLAIN, fullmatch=True)
    return near_keywords | plain | st.sampled_from(KEYWORDS) | signs | any_text


def _options() -> st.SearchStrategy[tuple[tuple[str, float], ...]]:
    values = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
    return st.dictionaries(names(), values, max_size=2).map(lambda options: tuple(options.items()))


def trees(
    quantified_guards: bool = True,
    of_names: st.SearchStrategy[str] | None = None,
    of_symbols: st.SearchStrategy[str] | None = None,
) -> st.SearchStrategy[Node]:
    """Trees of all kinds of nodes, formulas and terms mixed; optionally without quantifiers in guards.

    `of_names` gives the names that stand alone, `of_symbols` those that are applied; by default any.
    """
    of_names = names() if of_names is None else of_names
    of_symbols = names() if of_symbols is None else of_symbols
    leaves = st.one_of(
        of_names.map(Name), st.floats(0, allow_infinity=False).map(Number), st.integers(0, 9).map(Number)
    )

    def above(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        guards = st.none() | inner
        if not quantified_guards:
            guards = guards.filter(lambda guard: guard is None or not _has_quantifier(guard))
        groups = st.lists(st.lists(of_names, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)
        return st.one_of(
            st.builds(Apply, of_symbols, st.lists(inner, min_size=1, max_size=3).map(tuple)),
            st.builds(Negative, inner),
            st.builds(Not, inner),
            st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
            st.builds(Comparison, st.sampled_from(Comparison.signs), inner, inner),
            *(st.builds(connective, inner, inner) for connective in CONNECTIVES),
            st.builds(Quantifier, KINDS, groups.map(tuple), inner, guards, _options()),
            st.builds(
                Quantifier,
                COUNTING_KINDS,
                groups.map(tuple),
                inner,
                guards,
                _options(),
                count=st.integers(0, 3) | st.integers(0, LARGEST_COUNT),
            ),
        )

    return st.recursive(leaves, above, max_leaves=12)


def _has_quantifier(node: Node) -> bool:
    return any(isinstance(below, Quantifier) for below in node.walk())


SIZE = 2
VARIABLES = ["x", "y", "z"]
Model = Mapping[str, Any]


def models() -> st.SearchStrategy[Model]:
    """Truth of A and B, of P on individuals, and of R on pairs of them; a value for each variable."""
    table = st.lists(st.booleans(), min_size=SIZE * SIZE, max_size=SIZE * SIZE)
    values = {variable: st.integers(0, SIZE - 1) for variable in VARIABLES}
    return st.fixed_dictionaries({"A": st.booleans(), "B": st.booleans(), "P": table, "R": table, **values})


def formulas() -> st.SearchStrategy[Node]:
    """Formulas over the symbols of a model, with guards, diagonals, and quantifiers inside guards."""
    variables = st.sampled_from(VARIABLES)
    terms = variables.map(Name)
    atoms = st.one_of(
        st.sampled_from(["A", "B"]).map(Name),
        terms.map(lambda term: Apply("P", (term,))),
        st.tuples(terms, terms).map(lambda pair: Apply("R", pair)),
        st.builds(Comparison, st.sampled_from(["=", "<"]), terms, terms),
    )
    groups = st.permutations(VARIABLES).flatmap(
        lambda v: st.sampled_from([((v[0],),), ((v[0],), (v[1],)), ((v[0], v[1]), (v[2],))])
    )

    def above(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.one_of(
            st.builds(Not, inner),
            *(st.builds(connective, inner, inner) for connective in CONNECTIVES),
            st.builds(Quantifier, KINDS, groups, inner, st.none() | inner),
            st.builds(
                Quantifier,
                COUNTING_KINDS,
                groups,
                inner,
                st.none() | inner,
                count=st.integers(0, SIZE**2 + 1),
            ),
        )

    return st.recursive(atoms, above, max_leaves=8)


def truth(node: Node, model: Model) -> bool:
    """The classical truth of the formula in the model."""
    match node:
        case Name(name=name):
            return bool(model[name])
        case Apply(symbol=symbol, arguments=arguments):
            index = [model[argument.name] for argument in arguments if isinstance(argument, Name)]
            return bool(model[symbol][sum(SIZE**i * value for i, value in enumerate(index))])
        case Comparison(operator=operator, left=Name(name=left), right=Name(name=right)):
            return bool(model[left] == model[right] if operator == "=" else model[left] < model[right])
        case Not(operand=operand):
            return not truth(operand, model)
        case And(left=left, right=right):
            return truth(left, model) and truth(right, model)
        case Or(left=left, right=right):
            return truth(left, model) or truth(right, model)
        case Implies(left=left, right=right):
            return truth(right, model) or not truth(left, model)
        case Iff(left=left, right=right):
            return truth(left, model) == truth(right, model)
        case Xor(left=left, right=right):
            return truth(left, model) != truth(right, model)
        case Quantifier(kind=kind, groups=groups, body=body, guard=guard, count=count):
            instances = []
            for values in itertools.product(range(SIZE), repeat=len(groups)):
                bound = {v: value for group, value in zip(groups, values, strict=True) for v in group}
                instances.append({**model, **bound})
            safe = [instance for instance in instances if guard is None or truth(guard, instance)]
            truths = [truth(body, instance) for instance in safe]
            number = sum(truths)
            return {
                "forall": all(truths),
                "exists": any(truths),
                "exactly": number == count,
                "at least": number >= (count or 0),
                "at most": number <= (count or 0),
            }[kind]
    raise NotImplementedError(node)

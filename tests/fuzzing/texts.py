"""Texts, random and mutated, that a theory is given as formulas.

Each is read, or refused by a `LogicError` that points at a place in the text.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import ltn
from ltn.fuzzy_ops.base import as_written
from ltn.language import parse, parse_many, text
from ltn.language.diagnostics import INDENT
from tests.language.trees import trees
from tests.theory.random_formulas import closed_formulas, open_formulas, terms
from tests.theory.worlds import CONSTANTS, VARIABLES, declared, random_world

WORLD = random_world(seed=0, size=3, size_of_y=2, truth_of_a=0.4)
SYMBOLS = "P R C D T E O near step less even f score first gap at"
SIGNS = "∀ ∃ ~ ¬ & ∧ | ∨ ⊻ -> → <-> ↔ = != ≠ < <= ≤ > >= ≥ + - * / ( ) [ ] , : #"
WORDS = "forall exists not and or xor where diag define for norm abs A B Forall AND iff implies in label: '"
COUNTS = "exactly least most exists! ∃! ∃= ∃≥ ∃≤"
NUMBERS = "0 1 2 0.5 .5 5. 007 1e308 1e-400 1e999 99999999999999999999 1e 0x1 ² ٣"
OPTIONS = "[p=2] [p=1] [p=0] [p=-1] [q=1] [axis=0] [empty=0] [stable=0] [p=2,p=3] [] [p=x] [weight=2]:"
FOREIGN = "&& || == => <=> ! − · { } ' \" \\ $ x' 'x x₁ \ud800 \ufeff é e\u0301 ﬁ ª \u202e 🙂 _"
SPACES = (*" \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u3000\x00", "\n    ", "\r\n", "")
NAMES = (*SYMBOLS.split(), *VARIABLES, *CONSTANTS)
TOKENS = (
    *SIGNS.split(),
    *WORDS.split(),
    *COUNTS.split(),
    *NUMBERS.split(),
    *OPTIONS.split(),
    *FOREIGN.split(),
    *SPACES,
    *NAMES,
)
# Parts that are repeated so often nest as deep.
MOST_REPETITIONS = 30


def well_formed() -> st.SearchStrategy[str]:
    """Formulas and terms, of the theory's language and of any."""
    known = st.one_of(closed_formulas(), open_formulas(), terms())
    return st.tuples(st.one_of(known, known, trees()), st.booleans()).map(lambda drawn: text(*drawn))


def several() -> st.SearchStrategy[str]:
    """Many formulas, one below the other, some with labels and settings."""
    heads = st.sampled_from(
        ["", "", "first: ", "second [weight=2]: ", "it [weight=learned, active=false]:\n    "]
    )
    lines = st.tuples(heads, well_formed()).map("".join)
    return st.lists(lines, min_size=2, max_size=4).map("\n".join)


def random_texts() -> st.SearchStrategy[str]:
    """Tokens in a row, and any characters."""
    tokens = st.lists(st.sampled_from(TOKENS), max_size=25)
    return st.one_of(tokens.map(" ".join), tokens.map("".join), st.text(max_size=60))


@st.composite
def mutated(draw: st.DrawFn, sources: st.SearchStrategy[str]) -> str:
    """A text with some places changed."""
    source = draw(sources)
    for _ in range(draw(st.integers(1, 4))):
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(source))] * 2)))
        # Most changes are small.
        last = draw(st.sampled_from([last, min(last, first + 3), min(last, first + 1)]))
        before, part, after = source[:first], source[first:last], source[last:]
        token = draw(st.sampled_from(TOKENS))
        times = draw(st.integers(2, MOST_REPETITIONS))
        changes = [
            before + after,
            before + token + after,
            before + token + part + after,
            before + part * times + after,
            before + part[::-1] + after,
            before + part.swapcase() + after,
            before + f"({part})" + after,
            before + "(" * times + part + ")" * times + after,
            before + "~" * times + part + after,
            before + f"{part} & " * times + part + after,
            part + before + after,
            _with_another_name(source, draw(st.integers(0, 99)), draw(st.sampled_from(NAMES))),
        ]
        source = draw(st.sampled_from(changes))
    return source


def _with_another_name(source: str, number: int, name: str) -> str:
    """The text with another name in the place of one of its own."""
    places = [found.span() for found in re.finditer(r"\w+", source)] or [(0, 0)]
    first, last = places[number % len(places)]
    return source[:first] + name + source[last:]


def texts() -> st.SearchStrategy[str]:
    """Texts of all kinds."""
    return st.one_of(
        well_formed(),
        random_texts(),
        several(),
        mutated(well_formed()),
        mutated(well_formed()),
        mutated(several()),
    )


@functools.cache
def theories() -> dict[str, ltn.Theory]:
    """One of each space."""
    return {name: declared(WORLD, name).theory for name in ("stable_product", "log_product")}


@as_written()
def check(source: str, counts: Counter[str]) -> None:
    """Read a text in all ways in which a theory reads texts."""
    counts["texts"] += 1
    tree = _read(parse, source, counts, "parsed")
    if tree is not None:
        assert parse(text(tree)) == parse(text(tree, unicode=True)) == tree
    _read(parse_many, source, counts, "parsed as many")
    for theory in theories().values():
        _ask(theory, source, counts)
        for add, counted in ((theory.axiom, "axioms"), (theory.axioms, "texts of axioms")):
            _declare(theory, add, source, counts, counted)


def _read(read: Callable[[str], Any], source: str, counts: Counter[str], counted: str) -> Any:
    """What is read, or None where the text is refused."""
    try:
        found = read(source)
    except ltn.LogicError as error:
        message = str(error)
    else:
        counts[counted] += 1
        return found
    assert points_at_a_place(message, source), f"The error points at no place in the text:\n{message}"
    return None


def _ask(theory: ltn.Theory, source: str, counts: Counter[str]) -> None:
    """Query it: the truths of a formula are in [0, 1]."""
    answer = _read(lambda query: theory.query(query, WORLD.data), source, counts, "queries")
    if isinstance(answer, ltn.Formula):
        assert_truths(answer.tensor)
        assert answer.tensor.shape.rank == len(answer.free_vars)


def _declare(
    theory: ltn.Theory, add: Callable[[str], Any], source: str, counts: Counter[str], counted: str
) -> None:
    """Declare it: all formulas of the text are axioms with a truth, or none is one."""
    found = _read(add, source, counts, counted)
    added = found if isinstance(found, Sequence) else [found] * (found is not None)
    try:
        assert theory.axiom_list == list(added)
        if added:
            values = _read(lambda _: theory(WORLD.data), source, counts, "evaluations")
            for value in (values or {}).values():
                assert_truths(value)
    finally:
        for axiom in theory.axiom_list:
            theory.remove(axiom)


def assert_truths(values: Any) -> None:
    """Numbers from 0 to 1: with a rounding or two, as sums of probabilities have them."""
    array = np.asarray(values)
    assert np.all((array >= -1e-6) & (array <= 1.0 + 1e-6)), f"not truths: {array}"


def points_at_a_place(message: str, source: str) -> bool:
    """Whether the message shows a line of the text with carets below a place in it, or names a part of it."""
    if not source.strip() or "There is no formula in the text" in message:
        return True
    # `theory.axioms` takes a text that looks so for the name of a file.
    if message.startswith((f"{source}: there is no such file", f"{source}: the file cannot be read")):
        return True
    lines = message.split("\n")
    below = [number for number, line in enumerate(lines) if re.fullmatch(r"\s+\^+", line)]
    # The text itself may have a line of carets, which stands above those of the message.
    below = [number for number in below if number + 1 not in below]
    if below:
        return all(_is_below(lines[number - 1], lines[number], source) for number in below)
    quoted = re.search(r"In `(.*?)`: ", message, re.DOTALL)
    return quoted is not None and _is_part(quoted[1], source)


def _is_below(shown: str, carets: str, source: str) -> bool:
    """Whether a line and the carets below it belong to a text."""
    lines = source.replace("\r\n", "\n").split("\n")
    numbered = re.match(rf"{INDENT}line (\d+): ", shown)
    start = numbered.end() if numbered else len(INDENT)
    line = shown[start:]
    possible = [lines[int(numbered[1]) - 1]] if numbered else lines
    part = line.removeprefix("...").removesuffix("...").strip()
    place, width = len(carets) - len(carets.lstrip(" \t")) - start, carets.count("^")
    # A place at the end is one behind the last character.
    inside = 0 <= place <= place + width <= len(line) + 1
    return inside and any(part in whole for whole in possible)


def _is_part(formula: str, source: str) -> bool:
    """Whether a formula, as it is printed, is a part of a text."""
    try:
        trees = [tree for _, tree, _ in parse_many(source)]
    except ltn.LogicError:
        trees = [parse(source)]
    return any(formula == str(node) for tree in trees for node in tree.walk())

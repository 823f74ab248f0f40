"""Axioms in a text or a file: read all at once, with every mistake shown, and written back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.files import replacing, unreadable
from ltn.knowledge import definitions
from ltn.language import Apply, Node, Signature, layout
from ltn.language.diagnostics import locate
from ltn.language.names import written
from ltn.language.parser import read_entries, read_in_place
from ltn.language.statements import Definition
from ltn.language.syntax_errors import MisreadError

# More mistakes than these are only counted.
_MOST_MISTAKES = 20


class Axioms(Protocol):
    """What a text of axioms is added to."""

    @property
    def signature(self) -> Signature: ...

    @property
    def axiom_list(self) -> Any: ...

    @property
    def language(self) -> Any: ...

    def check_options(self, formula: Node, text: str) -> None: ...

    def axiom(self, formula: Any, name: str | None = None, weight: Any = 1.0) -> Any: ...

    def check_axiom(self, formula: Any, text: str, name: str, weight: Any = 1.0) -> None: ...

    def next_name(self, before: Any = (), labels: Any = ()) -> str: ...


class _Rule(NamedTuple):
    """An axiom of a text, ready to be added."""

    name: str
    tree: Node
    settings: dict[str, Any]


def add(knowledge: Axioms, text: str | Path | Sequence[str | Node]) -> list[Any]:
    """Add what is in a text, a file or a list; after a mistake nothing is, and all mistakes are shown.

    Returns the axioms.
    """
    file, text = _read(text)
    clean = layout.clean(text)
    rules: list[_Rule] = []
    mistakes: list[LogicError] = []
    with knowledge.signature.all_or_nothing():
        for rule in _rules(knowledge, clean):
            if isinstance(rule, _Rule):
                rules.append(rule)
            else:
                mistakes.append(rule)
        if mistakes:
            raise _together(mistakes, file)
    added = [knowledge.axiom(rule.tree, rule.name, rule.settings.get("weight", 1.0)) for rule in rules]
    for axiom, rule in zip(added, rules, strict=True):
        axiom.active = rule.settings.get("active", True)
    return added


def write(knowledge: Axioms, path: str | Path) -> None:
    """Write definitions and axioms to a file, with names, weights, and comments about the variables."""
    code = [axiom.name for axiom in knowledge.axiom_list if axiom.tree is None]
    if code:
        raise LogicValueError(f"The axioms {', '.join(code)} are Python code, which has no text to write.")
    lines = [
        f"# {written(variable)}: {domain.name}" for variable, domain in knowledge.signature.variables.items()
    ]
    lines += [f"# {relation.heading}: {relation.size}" for relation in knowledge.language.known.values()]
    lines += map(str, knowledge.signature.definitions.values())
    for axiom in knowledge.axiom_list:
        settings = []
        if axiom.proposition is not None or axiom.weight != 1.0:
            settings.append(f"weight={'learned' if axiom.proposition is not None else repr(axiom.weight)}")
        if not axiom.active:
            settings.append("active=false")
        brackets = f" [{', '.join(settings)}]" if settings else ""
        lines.append(f"{written(axiom.name)}{brackets}: {axiom}")
    with replacing(path) as unfinished:
        Path(unfinished).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(text: str | Path | Sequence[str | Node]) -> tuple[str, str]:
    """The name of the file, or "", and the text."""
    if isinstance(text, list | tuple):
        return "", "\n".join(_line(formula) for formula in text)
    if not isinstance(text, str | Path):
        raise LogicTypeError(
            "Axioms are a text, the path of a file, or a list of formulas; got a "
            f"{type(text).__name__}: {text!r}."
        )
    looks_like_a_file = isinstance(text, Path) or re.fullmatch(r"[^():\n]+\.[A-Za-z]+", str(text))
    path = Path(text) if looks_like_a_file or "\n" not in str(text) else None
    try:
        if path is not None and (looks_like_a_file or path.is_file()):
            return str(text), path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        if looks_like_a_file:
            raise unreadable(str(text), error) from error
    return "", str(text)


def _line(formula: Any) -> str:
    """A formula of a list as it stands in a text."""
    if not isinstance(formula, str | Node):
        raise LogicTypeError(
            "A list of axioms holds formulas as text, or syntax trees; it holds a "
            f"{type(formula).__name__}: {formula!r}. theory.axiom(...) takes Python code."
        )
    return "\n    ".join(str(formula).strip().splitlines())


def _rules(knowledge: Axioms, text: str) -> Iterator[_Rule | LogicError]:
    """The axioms of a clean text, or what is wrong with each."""
    try:
        entries = list(read_entries(text))
    except MisreadError as error:
        yield LogicValueError(locate(error.message, text, error.span))
        return
    defined = [(entry, found) for entry, found in entries if isinstance(found, Definition)]
    try:
        defined = _in_order(defined, text)
    except LogicError as error:
        # What uses these definitions would be called unknown.
        yield error
        return
    yield from _define(knowledge, defined, text)
    labels = [entry.label for entry, _ in entries if entry.label is not None]
    names: list[str] = []
    for entry, found in entries:
        if isinstance(found, Definition):
            continue
        name = entry.label or knowledge.next_name(names, labels)
        try:
            if isinstance(found, MisreadError):
                raise LogicValueError(locate(found.message, text, found.span))
            settings = _settings(entry, text)
            weight = settings.get("weight", 1.0)
            _try_in_place(partial(_check_axiom, knowledge, name, weight), found, entry, text)
            if name in names:
                raise LogicValueError(
                    locate(f"Two axioms of the text are named '{name}'.", text, entry.place)
                )
            yield _Rule(name, found, settings)
        except LogicError as error:
            yield error
        names.append(name)


def _in_order(
    defined: Sequence[tuple[layout.Entry, Definition]], text: str
) -> list[tuple[layout.Entry, Definition]]:
    """The definitions of a text, each after those that it uses; raise where some use each other."""
    entries = {found.name: entry for entry, found in defined}
    uses = {
        found.name: {
            node.symbol for node in found.walk() if isinstance(node, Apply) and node.symbol in entries
        }
        - {found.name}
        for _, found in defined
    }
    try:
        order = list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = list(reversed(error.args[1][1:]))
        start = circle.index(min(circle, key=lambda name: entries[name].offset))
        circle = [*circle[start:], *circle[: start + 1]]
        message = (
            f"'{circle[0]}' is defined by itself: {', '.join(circle)}; a definition cannot be recursive."
        )
        raise LogicValueError(locate(message, text, entries[circle[0]].place)) from None
    return sorted(defined, key=lambda pair: order.index(pair[1].name))


def _define(
    knowledge: Axioms, defined: Sequence[tuple[layout.Entry, Definition]], text: str
) -> Iterator[LogicError]:
    """Add the definitions of a text; what is wrong with them."""
    for entry, found in defined:
        try:
            if entry.label is not None:
                raise LogicValueError(
                    locate(f"A definition has no other name: leave out '{entry.label}:'.", text, entry.place)
                )
            _try_in_place(partial(_add_definition, knowledge), found, entry, text)
        except LogicError as error:
            yield error


def _add_definition(knowledge: Axioms, tree: Node, text: str) -> None:
    if isinstance(tree, Definition):
        definitions.add(knowledge, tree, text)


def _check_axiom(knowledge: Axioms, name: str, weight: float | str, tree: Node, text: str) -> None:
    knowledge.check_axiom(tree, text, name, weight)


def _try_in_place(attempt: Callable[[Node, str], object], tree: Node, entry: layout.Entry, text: str) -> None:
    """Try something with a tree and its text; what is wrong with it is shown in the whole text."""
    try:
        attempt(tree, entry.text)
        return
    except LogicError:
        # Read again only now: what stands before each entry would make long texts take quadratic time.
        placed = read_in_place(text, entry)
    try:
        attempt(placed, text)
    except LogicError as error:
        message = str(error)
        raise type(error)(message if "\n" in message else locate(message, text, entry.place)) from error


def _settings(entry: layout.Entry, text: str) -> dict[str, Any]:
    """What stands in brackets behind a label, as `[weight=2, active=false]`."""
    found: dict[str, Any] = {}
    for setting in filter(None, map(str.strip, entry.settings.split(","))):
        name, _, value = (part.strip() for part in setting.partition("="))
        if name == "active" and value in ("true", "false"):
            found[name] = value == "true"
        elif name == "weight" and (value == "learned" or re.fullmatch(r"\d*\.?\d+(e[-+]?\d+)?", value)):
            found[name] = value if value == "learned" else float(value)
        else:
            message = (
                f"Behind the name of an axiom stand `weight`, a number or 'learned', and `active`, true or "
                f"false, as in `[weight=2, active=false]`; got `{setting}`."
            )
            raise LogicValueError(locate(message, text, entry.place))
    return found


def _together(mistakes: list[LogicError], file: str) -> LogicError:
    """One error for all mistakes of a text."""
    shown = [str(mistake) for mistake in mistakes[:_MOST_MISTAKES]]
    if len(mistakes) > len(shown):
        shown.append(f"... and {len(mistakes) - len(shown)} more.")
    where = f" in {file}" if file else ""
    if len(mistakes) > 1:
        shown.insert(0, f"{len(mistakes)} mistakes{where}:")
    elif file:
        shown.insert(0, f"In {file}:")
    return type(mistakes[0])("\n".join(shown))

"""Axioms in a text or a file: read all at once, with every mistake shown, and written back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ltn.errors import LogicError, LogicTypeError, LogicValueError
from ltn.files import replacing, unreadable
from ltn.language import Node, Signature, layout
from ltn.language.diagnostics import locate
from ltn.language.parser import read_entries, read_in_place
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
    def known(self) -> Mapping[str, Any]: ...

    def axiom(self, formula: Any, name: str | None = None, weight: Any = 1.0) -> Any: ...

    def check_axiom(self, formula: Any, text: str, name: str, weight: Any = 1.0) -> None: ...

    def next_name(self, before: Any = (), labels: Any = ()) -> str: ...


class _Rule(NamedTuple):
    """An axiom of a text, ready to be added."""

    name: str
    tree: Node
    settings: dict[str, Any]


def add(knowledge: Axioms, text: str | Path | Sequence[str | Node]) -> list[Any]:
    """Add the axioms of a text, a file or a list; after a mistake none is, and all mistakes are shown."""
    file, text = _read(text)
    clean = layout.clean(text)
    rules: list[_Rule] = []
    mistakes: list[LogicError] = []
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
    """Write the axioms to a file, with their names and weights, and with comments about their variables."""
    code = [axiom.name for axiom in knowledge.axiom_list if axiom.tree is None]
    if code:
        raise LogicValueError(f"The axioms {', '.join(code)} are Python code, which has no text to write.")
    lines = [f"# {variable}: {domain.name}" for variable, domain in knowledge.signature.variables.items()]
    lines += [f"# {relation.heading}: {relation.size}" for relation in knowledge.known.values()]
    for axiom in knowledge.axiom_list:
        settings = []
        if axiom.proposition is not None or axiom.weight != 1.0:
            settings.append(f"weight={'learned' if axiom.proposition is not None else repr(axiom.weight)}")
        if not axiom.active:
            settings.append("active=false")
        brackets = f" [{', '.join(settings)}]" if settings else ""
        lines.append(f"{axiom.name}{brackets}: {axiom}")
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
    labels = [entry.label for entry, _ in entries if entry.label is not None]
    names: list[str] = []
    for entry, found in entries:
        name = entry.label or knowledge.next_name(names, labels)
        try:
            if isinstance(found, MisreadError):
                raise LogicValueError(locate(found.message, text, found.span))
            settings = _settings(entry, text)
            _check(knowledge, found, entry, text, name, settings.get("weight", 1.0))
            if name in names:
                raise LogicValueError(
                    locate(f"Two axioms of the text are named '{name}'.", text, entry.place)
                )
            yield _Rule(name, found, settings)
        except LogicError as error:
            yield error
        names.append(name)


def _check(
    knowledge: Axioms, tree: Node, entry: layout.Entry, text: str, name: str, weight: float | str
) -> None:
    """Check an axiom; what is wrong with it is shown in the whole text."""
    try:
        knowledge.check_axiom(tree, entry.text, name, weight)
        return
    except LogicError:
        # Read again only now: what stands before each entry would make long texts take quadratic time.
        placed = read_in_place(text, entry)
    try:
        knowledge.check_axiom(placed, text, name, weight)
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

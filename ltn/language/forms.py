"""The form of plain data, such as JSON: checked before it is read, so that an error tells the place."""

from __future__ import annotations

from typing import Any

from ltn.errors import LogicValueError

# A form is a type; `object`, for anything; None; a tuple of forms, one of which fits; [form], for a list; a
# dictionary from `str` to a form, for any names; or one from names to forms: those that end with a question
# mark may be missing, and further names are allowed.
Form = Any

NUMBER = (int, float)

_WORDS = {
    bool: "true or false",
    dict: "a dictionary",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
}


def check_form(value: Any, form: Form, place: str) -> None:
    """Raise unless the data have a form; `place` is what they are called.

    >>> check_form({"shape": [2, None]}, {"shape": [(int, None)], "names?": [str]}, "domain")
    >>> check_form({"shape": [2, "a"]}, {"shape": [(int, None)]}, "domain")
    Traceback (most recent call last):
    ...
    ltn.errors.LogicValueError: `domain.shape.1` must be a whole number or null; got 'a'.
    """
    if not _is_of_kind(value, form):
        shown = repr(value)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        raise LogicValueError(f"`{place}` must be {_describe(form)}; got {shown}.")
    if isinstance(form, tuple):
        form = next(one for one in form if _is_of_kind(value, one))
    if isinstance(form, list):
        for number, part in enumerate(value):
            check_form(part, form[0], f"{place}.{number}")
    elif isinstance(form, dict) and str in form:
        for name, part in value.items():
            check_form(part, form[str], f"{place}.{name}")
    elif isinstance(form, dict):
        for written, inner in form.items():
            name = written.removesuffix("?")
            if name in value:
                check_form(value[name], inner, f"{place}.{name}")
            elif name == written:
                raise LogicValueError(f"`{place}` has no '{name}'.")


def _is_of_kind(value: Any, form: Form) -> bool:
    if isinstance(form, tuple):
        return any(_is_of_kind(value, one) for one in form)
    if form is None:
        return value is None
    if isinstance(form, list):
        return isinstance(value, list)
    if isinstance(form, dict):
        return isinstance(value, dict) and all(isinstance(name, str) for name in value)
    return isinstance(value, form) and (form in (bool, object) or not isinstance(value, bool))


def _describe(form: Form) -> str:
    if isinstance(form, tuple):
        words = list(dict.fromkeys(map(_describe, form)))
        return "a number" if form == NUMBER else " or ".join(words)
    if form is None:
        return "null"
    return _WORDS[type(form) if isinstance(form, list | dict) else form]

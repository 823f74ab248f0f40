"""Reports as bars, and two of them compared: the worst is on top, and pictures stay on a page."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import names, written


def table(satisfactions: Any, axioms: Any = None) -> pd.DataFrame:
    values = list(satisfactions)
    chosen = [f"axiom_{number}" for number in range(len(values))] if axioms is None else list(axioms)
    return pd.DataFrame({"axiom": chosen, "formula": "A", "weight": 1.0, "satisfaction": values})


def note(figure: Any) -> str:
    return str(figure.get_supxlabel())


# Report


@pytest.mark.parametrize("sort", [True, False])
def test_report_draws_a_bar_for_each_axiom(people: ltn.Theory, sort: bool) -> None:
    frame = people.report()
    axes: Any = ltn.plot.report(frame, sort=sort).axes[0]
    frame = frame.sort_values("satisfaction") if sort else frame
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], frame["satisfaction"])
    assert names(axes.get_yticklabels()) == list(frame["axiom"])
    texts = [text.get_text() for text in axes.texts]
    assert "∀[p=6] x, y where x ≠ y: F(x, y) → S(y)" in texts
    assert [text for text in texts if text.startswith("0.")] == [f"{v:.3f}" for v in frame["satisfaction"]]
    low, high = axes.get_ylim()
    assert low > high, "the first axiom stands on top"


def test_report_of_weights_code_and_long_formulas() -> None:
    frame = pd.DataFrame(
        {
            "axiom": ["heavy", "code", "a_name_of_more_than_thirty_characters"],
            "formula": ["A & B", "<lambda>", " & ".join(f"proposition_{i}" for i in range(50))],
            "weight": [2.5, 1.0, 1.0],
            "satisfaction": [0.0, float("nan"), 1.0],
        }
    )
    figure = ltn.plot.report(frame)
    code, heavy, long = names(figure.axes[0].get_yticklabels())
    assert (heavy, code) == ("heavy\nweight 2.5", "code"), "what is not a number stands on top"
    assert len(long) <= 24
    assert long.startswith("a_name_of")
    assert long.endswith("characters"[-9:])
    assert {"A ∧ B", "<lambda>", "nan"} <= set(written(figure))
    assert max(len(line) for text in written(figure) for line in text.splitlines()) <= 76


def test_report_of_many_axioms_is_bounded() -> None:
    frame = table(np.linspace(1.0, 0.0, 100))
    figure = ltn.plot.report(frame)
    assert len(figure.axes[0].patches) == 40
    assert names(figure.axes[0].get_yticklabels())[:2] == ["axiom_99", "axiom_98"]
    assert written(figure)[-1] == "and 60 axioms with a satisfaction of at least 0.40"
    height = figure.get_size_inches()[1]
    assert height == ltn.plot.report(table(np.linspace(1.0, 0.0, 500))).get_size_inches()[1] < 25


@pytest.mark.parametrize(
    ("values", "options", "last"),
    [
        ([0.1, 0.9379], {"most": 1}, "and 1 axiom with a satisfaction of at least 0.93"),
        ([0.1, np.float32(0.93)], {"most": 1}, "and 1 axiom with a satisfaction of at least 0.93"),
        ([0.9, 0.2, np.nan], {"most": 1, "sort": False}, "and 2 axioms with a satisfaction of at least 0.20"),
        ([0.9, np.nan], {"most": 1, "sort": False}, "and 1 axiom whose satisfaction is not a number"),
    ],
)
def test_what_a_report_says_of_further_axioms(values: Any, options: Any, last: str) -> None:
    assert written(ltn.plot.report(table(values), **options))[-1] == last


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        ({}, {}, ltn.LogicTypeError, r"theory.report\(data\).*got a dict"),
        (pd.DataFrame({"axiom": ["a"]}), {}, ltn.LogicValueError, "lacks formula, satisfaction"),
        (table([]), {}, ltn.LogicValueError, "no rows"),
        (table([0.5]), {"most": 0}, ltn.LogicValueError, "how many axioms.*at least 1; got 0"),
        (table([0.5]), {"most": "all"}, ltn.LogicValueError, "got 'all'"),
    ],
)
def test_mistakes_in_reports(frame: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.report(frame, **options)


# Compare


def test_compare_draws_each_axiom_from_before_to_after() -> None:
    figure = ltn.plot.compare(table([0.2, 0.9, 0.5]), table([0.6, 0.4, 0.5]))
    axes: Any = figure.axes[0]
    assert names(axes.get_yticklabels()) == ["axiom_1", "axiom_2", "axiom_0"]
    ends = [tuple(line.get_xdata()) for line in axes.lines if line.get_label() == "change"]
    assert ends == [(0.9, 0.4), (0.5, 0.5), (0.2, 0.6)]
    for label, expected in (("before", [0.9, 0.5, 0.2]), ("after", [0.4, 0.5, 0.6])):
        dots = [line for line in axes.lines if line.get_label() == label]
        assert [dot.get_xdata()[0] for dot in dots] == expected
    fell, same, rose = (line.get_color() for line in axes.lines if line.get_label() == "change")
    assert (fell, rose) == (ltn.plot.style.TRUTH(0.0), ltn.plot.style.TRUTH(1.0))
    assert same not in (fell, rose)
    assert written(figure) == ["-0.500", "+0.000", "+0.400"]
    assert names(figure.legends[0].get_texts()) == ["before", "after"]
    assert note(figure) == ""
    low, high = axes.get_ylim()
    assert low > high, "what fell most stands on top"


def test_axioms_of_one_report_only_are_told() -> None:
    figure = ltn.plot.compare(table([0.1, 0.2, 0.3], "abc"), table([0.4, 0.5], "bd"))
    assert names(figure.axes[0].get_yticklabels()) == ["b"]
    assert note(figure) == "Only before: a, c.  Only after: d."


def test_a_change_that_is_not_a_number_is_on_top() -> None:
    figure = ltn.plot.compare(table([0.1, float("nan")]), table([0.0, 0.5]))
    assert names(figure.axes[0].get_yticklabels()) == ["axiom_1", "axiom_0"]
    assert written(figure) == ["nan", "-0.100"]


@pytest.mark.parametrize(
    ("after", "last"),
    [
        ([0.1, 0.476, 0.9], "and 2 axioms that fell by at most 0.03, or rose"),
        ([0.1, 0.7, 0.9], "and 2 axioms that rose by 0.20 or more"),
    ],
)
def test_compare_of_many_axioms_is_bounded(after: list[float], last: str) -> None:
    figure = ltn.plot.compare(table([0.5] * 3), table(after), most=1)
    assert names(figure.axes[0].get_yticklabels()) == ["axiom_0"]
    assert written(figure)[-1] == last
    many = table(np.linspace(0.0, 1.0, 500))
    assert ltn.plot.compare(many, many).get_size_inches()[1] < 15


@pytest.mark.parametrize(
    ("before", "after", "error", "message"),
    [
        ([0.5], table([0.5]), ltn.LogicTypeError, "The report before is the table.*got a list"),
        (table([0.5]), None, ltn.LogicTypeError, "The report after is the table.*got a NoneType"),
        (table([0.5], "a"), table([0.5], "b"), ltn.LogicValueError, "before there were a, after b. Compare"),
        (table([0.5]), table([0.5] * 2, "aa"), ltn.LogicValueError, "report after has the axiom 'a' twice"),
    ],
)
def test_mistakes_in_comparisons(before: Any, after: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.compare(before, after)

"""HTML for notebooks: everything that came from elsewhere is escaped, and truth has bars."""

import pandas as pd
import pytest

from ltn.markup import bar, cell, element, frame_table, table

EVIL = "<script>alert('&')</script>"


@pytest.mark.parametrize(
    "made",
    [
        element("p", EVIL),
        cell(EVIL),
        table([EVIL], [[EVIL]]),
        frame_table(pd.DataFrame({EVIL: [EVIL]}, index=pd.Index([EVIL], name=EVIL)), lambda _, value: value),
    ],
)
def test_text_is_escaped(made: str) -> None:
    assert "<script" not in made
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)" in made


def test_text_that_looks_like_a_cell_is_text() -> None:
    assert cell("<td>") == '<td style="text-align: left">&lt;td&gt;</td>'
    assert cell(element("td", "<")) == "<td>&lt;</td>"


@pytest.mark.parametrize(("truth", "length"), [(0.0, "0.0%"), (0.4312, "43.1%"), (1.0, "100.0%")])
def test_the_length_of_a_bar_is_the_truth(truth: float, length: str) -> None:
    assert f" {length}, transparent {length}" in bar(truth)
    assert f">{truth:.3f}<" in bar(truth)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.1, 1.5])
def test_a_number_that_is_no_truth_has_no_bar(number: float) -> None:
    assert f">{number:.3f}<" in bar(number)
    assert "gradient" not in bar(number)


def test_the_labels_of_several_variables() -> None:
    index = pd.MultiIndex.from_product([["a"], ["b", "c"]], names=["x", "y"])
    shown = frame_table(pd.DataFrame({"d": [0.25, 0.75]}, index=index), lambda _, truth: bar(truth))
    for text in ("<th>a</th><th>b</th>", "<th>a</th><th>c</th>", "0.250", "0.750"):
        assert text in shown

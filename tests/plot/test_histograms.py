"""Histograms of an axiom: how many groundings are how true, and its satisfaction."""

from typing import Any

import numpy as np
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import legend


def counts(figure: Any) -> np.ndarray:
    return np.array([bar.get_height() for bar in figure.axes[0].patches])


@pytest.mark.parametrize("semantics", [None, "log_product"])
@pytest.mark.parametrize("axiom", ["spreads", "everyone", "wet"])
def test_histogram_counts_what_explain_lists(people: ltn.Theory, axiom: str, semantics: Any) -> None:
    figure = ltn.plot.histogram(people, axiom, semantics=semantics)
    truths = people.explain(axiom, worst=10_000, semantics=semantics)["truth"]
    np.testing.assert_array_equal(counts(figure), np.histogram(truths, 20, (0.0, 1.0))[0])
    frame = people.report(semantics=semantics).set_index("axiom")
    satisfaction = frame["satisfaction"][axiom]
    line: Any = figure.axes[0].lines[0]
    np.testing.assert_allclose(line.get_xdata(), [satisfaction] * 2, rtol=1e-5)
    assert legend(figure) == [f"satisfaction of the axiom  {satisfaction:.3f}"]
    assert figure.axes[0].get_ylabel() == f"groundings, {len(truths)} in all"
    assert figure.axes[0].get_title().startswith(f"{axiom}:  ")


def test_histogram_of_data_and_of_any_formula(people: ltn.Theory) -> None:
    data = {"x": np.eye(3)}
    for formula in ("forall x: S(x)", people.find("everyone")):
        assert counts(ltn.plot.histogram(people, formula, data)).sum() == 3
    by_name: Any = ltn.plot.histogram(people, "forall x: S(x)", x=np.eye(3), p_forall=7)
    truth = float(people.query("forall x: S(x)", data, p_forall=7))
    np.testing.assert_allclose(by_name.axes[0].lines[0].get_xdata(), [truth] * 2)


def test_a_few_groundings_are_seen_beside_many() -> None:
    theory = ltn.Theory()
    numbers = theory.domain("numbers")
    theory.variable("n", numbers)
    theory.predicate("P", numbers, lambda n: n[:, 0])
    figure = ltn.plot.histogram(theory, "forall n: P(n)", {"n": [0.02] * 2 + [1.0] * 9_000})
    assert [text.get_text() for text in figure.axes[0].texts if text.get_text()] == ["2", "9000"]


@pytest.mark.parametrize(
    ("axiom", "error", "message"),
    [
        ("F(x, y)", ltn.LogicValueError, r"no free variables; `F\(x, y\)` has x, y. Write forall x, y:"),
        ("x", ltn.LogicTypeError, "`x` is a term"),
        ("nobody", ltn.LogicValueError, "nobody"),
        ("forall x where x != x: S(x)", ltn.LogicValueError, "nothing to draw: the guards of `forall x"),
        (3, ltn.LogicTypeError, "got 3"),
    ],
)
def test_mistakes_in_histograms(people: ltn.Theory, axiom: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.histogram(people, axiom)


def test_an_axiom_in_python_has_no_histogram() -> None:
    theory = ltn.Theory()
    rain = theory.proposition("rain", 0.25)
    theory.axiom(lambda: rain, name="code")
    with pytest.raises(ltn.LogicValueError, match=r"'code' is Python code.*a histogram"):
        ltn.plot.histogram(theory, "code")

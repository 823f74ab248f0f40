"""DataFrames are data: columns are variables, individuals may be given by name, the index labels rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ltn
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

POINTS = [[0.1, 0.2], [0.9, 0.4], [0.3, 0.6]]
FRAME = pd.DataFrame(
    {"x": POINTS, "t": ["db", "ml", "db"], "n": [1.0, 2.0, 3.0]}, index=["first", "second", "third"]
)


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    theory = ltn.Theory("product")
    points, topics = theory.domain("points", shape=2), theory.domain("topics", values=["ai", "db", "ml"])
    theory.variable("x", points)
    theory.variable("t", topics)
    theory.variable("n", theory.domain("numbers"))
    theory.predicate("is", (points, topics), lambda args: args[0][:, 0] / (1.0 + args[1][:, 0]))
    theory.axiom("forall diag(x, t): is(x, t)", name="labelled")
    theory.compile("sgd")
    return theory


def plain() -> dict[str, Any]:
    return {"x": np.array(POINTS), "t": np.array([1, 2, 1])}


@pytest.mark.parametrize("kind", ["text", "categorical", "numbers"])
def test_a_frame_is_a_dictionary_of_its_columns(theory: ltn.Theory, kind: str) -> None:
    columns = {"text": FRAME["t"], "categorical": FRAME["t"].astype("category"), "numbers": [1, 2, 1]}
    frame = FRAME[["x"]].assign(t=columns[kind])
    expected = theory.report(plain())
    assert theory.report(frame).equals(expected)
    assert theory.evaluate(frame, verbose=0) == theory.evaluate(plain(), verbose=0)
    assert_close(theory.query("is(x, t)", frame).tensor, theory.query("is(x, t)", plain()).tensor)


@pytest.mark.filterwarnings("ignore:No axiom depends on a weight")  # the predicate is plain code
def test_training_takes_a_frame(theory: ltn.Theory) -> None:
    settings: Any = {"batch_size": 2, "shuffle": False, "verbose": 0}
    logs = theory.fit(FRAME[["x", "t"]], **settings).history
    assert logs == theory.fit(plain(), **settings).history


@pytest.mark.parametrize("values", [["db", "ml"], ("db", "ml"), np.array(["db", "ml"])])
def test_names_stand_for_individuals_in_dictionaries(theory: ltn.Theory, values: Any) -> None:
    found = theory.query("is(x, t)", x=POINTS, t=values)
    assert_close(found.tensor, theory.query("is(x, t)", x=POINTS, t=[1, 2]).tensor)
    assert list(found.to_frame().columns) == ["db", "ml"]


class Many(np.ndarray):
    """Numbers that are too many for a list of Python's."""

    def tolist(self) -> Any:
        raise MemoryError


def test_numbers_are_not_searched_for_names(theory: ltn.Theory) -> None:
    data = {name: values.astype(np.float32).view(Many) for name, values in plain().items()}
    assert_close(theory.report(data).satisfaction, theory.report(plain()).satisfaction)


def test_the_index_labels_what_is_shown(theory: ltn.Theory) -> None:
    frame = theory.query("is(x, t)", FRAME[["x"]]).to_frame()
    assert list(frame.index) == ["first", "second", "third"]
    assert list(frame.columns) == ["ai", "db", "ml"]
    worst = theory.explain("labelled", FRAME[["x", "t"]], worst=2)
    assert worst.values.tolist() == [
        ["first", "db", pytest.approx(0.05)],
        ["third", "db", pytest.approx(0.15)],
    ]


def test_rows_that_are_only_numbered_stay_numbers(theory: ltn.Theory) -> None:
    frame = FRAME.reset_index(drop=True)
    assert theory.query("is(x, t)", frame[["x"]]).to_frame().index.tolist() == [0, 1, 2]
    assert theory.query("n", frame[["n"]]).to_frame().index.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"t": ["db", "mll"]}, ltn.LogicValueError, r"name 'mll' in row 1.*'topics'; did you mean 'ml'\?"),
        ({"x": ["db"]}, ltn.LogicTypeError, r"got names, as 'db'.*'points' have no names"),
        (FRAME.assign(colour="red"), ltn.LogicValueError, "Data came for 'colour'"),
        ([1, 2], ltn.LogicTypeError, "got a list"),
    ],
)
def test_mistakes_are_explained(theory: ltn.Theory, data: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        theory.report(data)


class TestExplainAnyFormula:
    def test_free_variables_count_as_bound(self, theory: ltn.Theory) -> None:
        open_ended = theory.explain("is(x, t)", FRAME[["x"]], worst=3)
        closed = theory.explain("forall x, t: is(x, t)", FRAME[["x"]], worst=3)
        assert open_ended.equals(closed)
        assert open_ended.iloc[0].tolist() == ["first", "ml", pytest.approx(0.1 / 3)]

    def test_a_proposition_is_not_taken_for_an_axiom(self) -> None:
        other = ltn.Theory()
        other.proposition("rain", 0.25)
        assert other.explain("rain").truth.tolist() == [0.25]

    def test_an_unknown_name_is_an_unknown_axiom(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicValueError, match="no axiom 'labeled'; did you mean 'labelled'"):
            theory.explain("labeled", FRAME)

    def test_a_term_has_no_truth(self, theory: ltn.Theory) -> None:
        with pytest.raises(ltn.LogicTypeError, match="`n \\+ 1` is a term"):
            theory.explain("n + 1", FRAME)

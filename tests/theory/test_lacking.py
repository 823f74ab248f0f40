"""Hyper-parameters of other operators: passed over with a warning, so that semantics may be swapped."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ltn
from tests.theory.theories import degrees, some_by_odds, truth
from tests.tolerance import assert_close

VALUES = (0.2, 0.6)


@contextmanager
def told(*expected: str) -> Iterator[None]:
    """What is said within: a piece of each warning, in order, and each at a line of this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    about = [each for each in found if "is ignored" in str(each.message)]
    assert len(about) == len(expected), [str(each.message) for each in about]
    for each, piece in zip(about, expected, strict=True):
        assert piece in str(each.message)
        assert Path(each.filename).name in (Path(__file__).name, "theories.py")


def test_the_message_says_which_operator_lacks_it_and_what_that_has() -> None:
    with told(
        "`p_forall` is ignored: Aggreg_LogMean(), the operator `Forall`, has no hyper-parameter `p`; "
        "it has: none."
    ):
        ltn.Theory("log_product", p_forall=2)
    with told(
        "`stable_exists` is ignored: Aggreg_LogSumOdds(p=1), the operator `Exists`, has no",
        "no such operator",
    ):
        ltn.Theory("log_product", stable_exists=False, stable_implies=False, p_exists=2)
    with told("`stable_or` is ignored: Or_Luk(), the operator `Or`, has no hyper-parameter `stable`"):
        ltn.Theory("lukasiewicz", stable_or=True)


def test_once_for_each_theory_and_name() -> None:
    with told("p_forall", "p_satagg"):
        theory = degrees(VALUES, "godel", p_forall=2)
        theory.axiom("forall[p=3] x: I(x)", name="all")
        theory.axiom("forall x: I(x)", name="plain")
        theory.set_hyperparameters(p_forall=4, p_satagg=3)
        theory.set_hyperparameters("plain", p_forall=5)
        theory.set_hyperparameters(p_satagg=5)
    with told("p_forall"):
        degrees(VALUES, "godel", p_forall=2)
    assert theory.hyperparameters == {}
    assert_close(theory.report().satisfaction, [0.2, 0.2])


@pytest.mark.parametrize("semantics", ["godel", "lukasiewicz", "log_product", "log_product_mean"])
def test_values_are_those_without_it(semantics: str) -> None:
    plain = degrees(VALUES, semantics)
    plain.axioms("forall x: I(x)\nexists x where x < 1: I(x)")
    with told("p_forall", *(["p_exists"] if "log" not in semantics else [])):
        theory = degrees(VALUES, semantics)
        theory.axioms("forall[p=7] x: I(x)\nexists[p=1] x where x < 1: I(x)")
    with told():
        assert_close(theory.report().satisfaction, plain.report().satisfaction)
        assert truth(theory, "forall[p=3] x: I(x)") == truth(plain, "forall x: I(x)")


def test_a_saved_theory_loads(tmp_path: Path) -> None:
    theory = ltn.Theory("godel")
    theory.variable("x", theory.domain("numbers", values=VALUES))
    with told("p_exists"):
        theory.axiom("exists[p=2] x: x > 0.3")
    theory.save(tmp_path / "theory.keras")
    with told("p_exists"):
        loaded = ltn.load(tmp_path / "theory.keras")
    assert loaded.report().satisfaction.item() == 1.0


def test_a_definition_may_have_one() -> None:
    theory = degrees(VALUES, "godel")
    with told("p_exists"):
        theory.define("close(x): exists[p=2] y: I(x) & I(y)")
    assert_close(theory.query("close(x)").tensor, VALUES)


def test_in_a_question() -> None:
    theory = degrees(VALUES, "product")
    with told("p_forall"):
        assert_close(truth(theory, "forall x: I(x)", semantics="godel", p_forall=3), 0.2)
        assert_close(
            truth(theory, "exists x: I(x)", semantics="log_product", p_forall=3, p_exists=2),
            some_by_odds(VALUES, 2),
        )


def test_misspelt_names_stay_mistakes() -> None:
    theory = degrees(VALUES, "godel")
    theory.axiom("forall x: I(x)", name="all")
    with told():
        for names in ({"p_foral": 2}, {"q_forall": 2}, {"p_count": 2}, {"language": 2}):
            with pytest.raises(ltn.LogicTypeError, match="has no hyper-parameter"):
                ltn.Theory("godel", **names)  # type: ignore[arg-type]
            with pytest.raises(ltn.LogicTypeError, match="has no hyper-parameter"):
                theory.set_hyperparameters(**names)  # type: ignore[arg-type]
        with pytest.raises(ltn.LogicTypeError, match="has no hyper-parameter `q`"):
            theory.axiom("forall[q=2] x: I(x)")
        with pytest.raises(ltn.LogicValueError, match="no quantifier whose `p_exists`"):
            theory.set_hyperparameters("all", p_exists=2)


def test_of_an_error_with_others_nothing_is_said_or_set() -> None:
    theory = degrees(VALUES, "log_product")
    with told(), pytest.raises(ltn.LogicValueError, match="`p` must be"):
        theory.set_hyperparameters(p_forall=2, p_exists=0)
    with told("p_forall"):
        theory.set_hyperparameters(p_forall=2, p_exists=3)
    assert theory.hyperparameters == {"p_exists": 3.0}

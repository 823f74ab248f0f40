"""Axioms: one or many, as text or from a file; each mistake is found where it is made."""

from pathlib import Path
from typing import Any

import pytest

import ltn
from tests.theory.theories import classifier, degrees, towns


class TestAxioms:
    def test_a_term_of_another_domain_is_pointed_at(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicTypeError) as error:
            theory.axiom("lives_in(Bob, Charlie)")
        assert str(error.value) == (
            "Argument 2 of 'lives_in' must be of the domain 'towns'; 'Charlie' is of the domain 'people'.\n"
            "    lives_in(Bob, Charlie)\n"
            "                  ^^^^^^^"
        )
        assert theory.axiom_list == []

    def test_a_misspelt_name_is_pointed_at_with_the_nearest(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicValueError, match=r"did you mean 'Charlie'\?\n.*\n +\^{7}"):
            theory.axiom("lives_in(Charly1, Rome)")

    def test_free_variables_are_pointed_at(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people)
        with pytest.raises(ltn.LogicValueError, match=r"free variable x.*forall x"):
            theory.axiom("lives_in(x, Rome)")

    def test_a_term_is_no_axiom(self) -> None:
        theory, _, _ = towns()
        with pytest.raises(ltn.LogicTypeError, match="'Bob' is a term"):
            theory.axiom("Bob")

    @pytest.mark.parametrize("formula", [5, None, ["A"], 0.5])
    def test_what_is_neither_text_nor_code(self, formula: Any) -> None:
        with pytest.raises(ltn.LogicTypeError, match="text or a callable"):
            ltn.Theory().axiom(formula)

    def test_a_tree(self) -> None:
        theory, _, _ = towns()
        axiom = theory.axiom(ltn.language.parse("lives_in(Bob, Rome)"), name="fact")
        assert str(axiom) == "lives_in(Bob, Rome)"

    def test_printing_gives_text_that_parses_to_the_same(self) -> None:
        theory, people, _ = towns()
        theory.variable("x", people)
        axiom = theory.axiom("∀x: ¬ lives_in(x, Rome) ∧ ¬ lives_in(x, Seoul)")
        assert ltn.language.parse(str(axiom)) == axiom.formula
        assert repr(axiom) == "Axiom(axiom_1: forall x: ~lives_in(x, Rome) & ~lives_in(x, Seoul))"

    def test_names_are_given_or_counted(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        names = [theory.axiom("A", name=name).name for name in (None, "fact", None, "axiom_5", None)]
        assert names == ["axiom_1", "fact", "axiom_3", "axiom_5", "axiom_6"]
        assert [axiom.name for axiom in theory.axiom_list] == names

    def test_a_name_is_used_once(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        theory.axiom("A", name="fact")
        with pytest.raises(ltn.LogicValueError, match="already an axiom 'fact': A"):
            theory.axiom("~A", name="fact")

    @pytest.mark.parametrize("name", ["loss", "satisfaction", "val_loss", "val_satisfaction"])
    def test_names_of_other_logs_are_refused(self, name: str) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicValueError, match=f"'{name}'.*logs"):
            theory.axiom("A", name=name)

    @pytest.mark.parametrize("name", [5, ["a"]])
    def test_a_name_is_text(self, name: Any) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicTypeError, match="name"):
            theory.axiom("A", name=name)

    @pytest.mark.parametrize("name", ["", "two\nlines", "\t"])
    def test_a_name_is_one_of_the_language(self, name: str) -> None:
        """So that it can be a label in a text, a key of the logs, and part of the name of p_w."""
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicValueError, match="cannot name an axiom"):
            theory.axiom("A", name=name, weight="learned")
        assert list(theory.signature.propositions) == ["A"]

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "heavy", None, [1.0]])
    def test_impossible_weights(self, weight: Any) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        with pytest.raises(ltn.LogicError, match="`weight`"):
            theory.axiom("A", weight=weight)
        assert theory.axiom_list == []

    def test_options_that_the_semantics_lacks(self) -> None:
        for semantics, known in (("godel", "none"), ("stable_product", "`p`")):
            theory = degrees([0.5], semantics)
            with pytest.raises(ltn.LogicTypeError, match=f"no hyper-parameter `q`.*{known}"):
                theory.axiom("forall[q=2] x: I(x)")

    def test_options_outside_their_range(self) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"`p` must be.*at least 1"):
            degrees([0.5]).axiom("forall[p=0] x: I(x)")

    def test_options_of_inner_quantifiers_are_checked_too(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match="no hyper-parameter `q`"):
            degrees([0.5]).axiom("forall x: exists[q=2] y: I(x) & I(y)")

    @pytest.mark.parametrize(
        "formula", ["~(forall[q=2] x: I(x)) -> I(1)", "I(1) | exists[p=0] diag(x, y): x = y"]
    )
    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_options_are_pointed_at(self, semantics: str, formula: str) -> None:
        sign = formula[formula.index("[") - len("forall") : formula.index("]") + 1]
        with pytest.raises(ltn.LogicError) as error:
            degrees([0.5, 1.0], semantics).axiom(formula)
        _, shown, carets = str(error.value).split("\n")
        assert shown == f"    {formula}"
        assert carets == " " * shown.index(sign) + "^" * len(sign)

    def test_an_axiom_is_found_by_its_name(self) -> None:
        theory = classifier()
        assert str(theory.find("positive")) == "forall diag(x, l) where l = 1: A(x)"
        with pytest.raises(ltn.LogicValueError, match="no axiom 'positiv'; did you mean 'positive'"):
            theory.find("positiv")


class TestManyAxioms:
    TEXT = """
        # facts
        bob: lives_in(Bob, Rome)
        lives_in(Alice, Seoul)   # without a name
        everyone: forall x: lives_in(x, Rome)
            | lives_in(x, Seoul)
    """

    def theory(self) -> ltn.Theory:
        theory, people, _ = towns()
        theory.variable("x", people)
        return theory

    def test_of_a_text(self) -> None:
        axioms = self.theory().axioms(self.TEXT)
        assert [axiom.name for axiom in axioms] == ["bob", "axiom_2", "everyone"]
        assert str(axioms[2]) == "forall x: lives_in(x, Rome) | lives_in(x, Seoul)"

    def test_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "axioms.txt"
        path.write_text(self.TEXT + "    also: ∃x: lives_in(x, Rome)\n", encoding="utf-8")
        for given in (path, str(path)):
            assert [axiom.name for axiom in self.theory().axioms(given)] == [
                "bob",
                "axiom_2",
                "everyone",
                "also",
            ]

    def test_of_one_line(self) -> None:
        assert [axiom.name for axiom in self.theory().axioms("lives_in(Bob, Rome)")] == ["axiom_1"]

    def test_of_a_file_that_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises((FileNotFoundError, ltn.LogicError), match=r"missing.txt"):
            self.theory().axioms(tmp_path / "missing.txt")
        with pytest.raises(
            (FileNotFoundError, ltn.LogicError), match=r"(?i)missing\.txt.*(file|exist)|no such file"
        ):
            self.theory().axioms("missing.txt")

    def test_a_mistake_adds_none_of_them(self) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicValueError, match="free variable x"):
            theory.axioms("lives_in(Bob, Rome)\nlives_in(x, Rome)")
        assert theory.axiom_list == []

    @pytest.mark.parametrize("second", ["one: lives_in(Bob, Seoul)", "loss: lives_in(Bob, Rome)"])
    def test_a_mistaken_label_adds_none_of_them(self, second: str) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicValueError, match=r"'one'|'loss'"):
            theory.axioms(f"one: lives_in(Bob, Rome)\n{second}")
        assert theory.axiom_list == []

    def test_a_mistaken_option_adds_none_of_them(self) -> None:
        theory = self.theory()
        with pytest.raises(ltn.LogicTypeError, match="hyper-parameter `q`"):
            theory.axioms("lives_in(Bob, Rome)\nforall[q=1] x: lives_in(x, Rome)")
        assert theory.axiom_list == []

    def test_weights_and_names_can_be_given_one_by_one(self) -> None:
        theory = self.theory()
        theory.axiom("lives_in(Bob, Rome)", "bob", 2)
        assert theory.report().weight.tolist() == [2.0]

    def test_a_label_may_look_like_a_given_name(self) -> None:
        theory = ltn.Theory()
        theory.proposition("A")
        assert [axiom.name for axiom in theory.axioms("A\naxiom_1: ~A\nA | ~A")] == [
            "axiom_2",
            "axiom_1",
            "axiom_3",
        ]

    @pytest.mark.parametrize("name", ["my knowledge.txt", "data/Knowledge.TXT"])
    def test_files_that_are_missing_are_said_to_be(self, name: str) -> None:
        with pytest.raises(ltn.LogicValueError, match="no such file"):
            ltn.Theory().axioms(name)

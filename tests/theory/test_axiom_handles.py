"""Axioms as handles: weights and activity change at any time, are saved, and stand in texts and files."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from ltn.language import parse
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

TRUTHS = {"A": 0.9, "B": 0.4, "C": 0.7}


def theory_of(text: str = "a: A\nb: B\nc: C", semantics: str = "product", **settings: Any) -> ltn.Theory:
    """Propositions that are learned, and axioms about them."""
    # In log_product the axioms are joined by a mean of logarithms, without p.
    own: dict[str, Any] = {} if semantics == "log_product" else {"p_satagg": 1}
    theory = ltn.Theory(semantics, **own, **settings)
    for name, truth in TRUTHS.items():
        theory.proposition(name, truth, trainable=True)
    theory.axioms(text)
    return theory


def satisfaction(theory: ltn.Theory) -> float:
    return float(theory.call({})["satisfaction"][0])


def test_an_axiom_is_found_by_its_name() -> None:
    theory = theory_of()
    assert theory["b"] is theory.axiom_list[1]
    assert "b" in theory
    assert theory["b"] in theory
    assert "d" not in theory
    with pytest.raises(ltn.LogicValueError, match="no axiom 'd'; it has: a, b, c"):
        theory.__getitem__("d")


def test_a_weight_counts_from_now_on() -> None:
    theory = theory_of()
    assert_close(satisfaction(theory), (0.9 + 0.4 + 0.7) / 3)
    theory["b"].weight = 2
    assert theory.weight_of("b") == theory["b"].weight == 2.0
    assert_close(satisfaction(theory), (0.9 + 2 * 0.4 + 0.7) / 4)
    assert theory.report().weight.tolist() == [1.0, 2.0, 1.0]


def test_an_axiom_that_is_not_active_does_not_count() -> None:
    theory = theory_of()
    theory["b"].active = False
    assert_close(satisfaction(theory), (0.9 + 0.7) / 2)
    assert theory.weight_of("b") == 0.0
    theory["b"].active = True
    assert_close(satisfaction(theory), (0.9 + 0.4 + 0.7) / 3)


def test_nothing_is_traced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    theory = theory_of()
    theory.compile(keras.optimizers.SGD(0.1))
    theory.fit(verbose=0)
    theory.evaluate(verbose=0)
    traced: list[None] = []
    evaluate = ltn.Theory.call

    def counting(*args: Any, **kwargs: Any) -> Any:
        traced.append(None)
        return evaluate(*args, **kwargs)

    monkeypatch.setattr(ltn.Theory, "call", counting)
    before = {name: float(proposition.tensor) for name, proposition in theory.propositions.items()}
    theory["a"].active = False
    theory["b"].weight = 3.0
    logs = theory.fit(verbose=0).history
    assert_close(logs["satisfaction"], [(3 * before["B"] + before["C"]) / 4])
    after = {name: float(proposition.tensor) for name, proposition in theory.propositions.items()}
    assert after["A"] == before["A"]
    # The gradient of the loss is minus the share of each axiom.
    assert_close(after["B"] - before["B"], 0.1 * 3 / 4)
    assert_close(after["C"] - before["C"], 0.1 * 1 / 4)
    assert_close(theory.evaluate(verbose=0)[1], (3 * after["B"] + after["C"]) / 4)
    assert not traced


def test_with_log_truths_and_xla() -> None:
    theory = theory_of(semantics="log_product")
    theory.compile(keras.optimizers.SGD(0.0), jit_compile=True)
    theory["b"].weight = 3.0
    theory["a"].active = False
    expected = np.exp((3 * np.log(0.4) + np.log(0.7)) / 4)
    assert_close(theory.fit(verbose=0).history["satisfaction"], [expected])


def test_a_removed_axiom_is_gone() -> None:
    theory = theory_of()
    theory.compile(keras.optimizers.SGD(0.0))
    theory.fit(verbose=0)
    theory.remove("b")
    assert [axiom.name for axiom in theory.axiom_list] == ["a", "c"]
    assert_close(theory.fit(verbose=0).history["satisfaction"], [(0.9 + 0.7) / 2])
    theory.axiom("~B", name="b")
    assert_close(satisfaction(theory), (0.9 + 0.7 + 0.6) / 3)
    with pytest.raises(ltn.LogicValueError, match="no axiom 'z'"):
        theory.remove("z")


def test_what_was_set_for_a_removed_axiom_goes_with_it() -> None:
    theory = ltn.Theory("product")
    numbers = theory.domain("numbers", values=[0.2, 0.8])
    theory.variable("n", numbers)
    theory.predicate("P", numbers, lambda n: n[:, 0])
    for _ in range(2):
        theory.axiom("forall n: P(n)", name="all")
        assert "all.p_forall" not in theory.hyperparameters
        theory.set_hyperparameters("all", p_forall=6)
        theory.remove("all")


def test_a_learned_weight_is_shown_and_stays() -> None:
    theory = theory_of()
    axiom = theory.axiom("A", name="learned", weight="learned")
    assert (axiom.weight, axiom.proposition) == (0.5, "weight_of_learned")
    with pytest.raises(ltn.LogicValueError, match=r"'learned' is learned.*cannot be set"):
        axiom.weight = 1.0
    axiom.active = False
    assert_close(satisfaction(theory), (0.9 + 0.4 + 0.7) / 3)
    theory.remove(axiom)
    theory.axiom("B", name="learned", weight="learned")
    assert_close(satisfaction(theory), (0.9 + 0.4 + 0.7 + 0.5 * 0.4) / 4)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "much", True, None])
def test_a_wrong_weight_changes_nothing(weight: Any) -> None:
    theory = theory_of()
    with pytest.raises(ltn.LogicValueError, match="a number of at least 0"):
        theory["a"].weight = weight
    assert theory["a"].weight == 1.0


def test_a_wrong_activity_changes_nothing() -> None:
    theory = theory_of()
    with pytest.raises(ltn.LogicTypeError, match="True or False; got 0"):
        theory["a"].active = 0  # type: ignore[assignment]
    assert theory["a"].active


@pytest.mark.parametrize("change", ["remove", "append", "pop", "clear"])
def test_the_list_only_shows_them(change: str) -> None:
    theory = theory_of()
    arguments = [] if change in ("pop", "clear") else [theory["a"]]
    with pytest.raises(ltn.LogicTypeError, match=r"theory\.remove\(name\)"):
        getattr(theory.axiom_list, change)(*arguments)
    assert len(theory.axiom_list) == 3


def test_all_of_it_is_saved(tmp_path: Path) -> None:
    theory = theory_of()
    theory["a"].weight, theory["b"].active = 2.5, False
    theory.save(tmp_path / "theory.keras")
    for other in (ltn.load(tmp_path / "theory.keras"), theory.copy()):
        assert [(axiom.weight, axiom.active) for axiom in other.axiom_list] == [
            (2.5, True),
            (1.0, False),
            (1.0, True),
        ]
        assert_close(satisfaction(other), satisfaction(theory))
        other["b"].active = True
        assert theory["b"].active is False


class TestSchedule:
    def test_of_the_weight_of_an_axiom(self) -> None:
        theory = theory_of()
        theory.compile(keras.optimizers.SGD(0.0))
        schedule = ltn.callbacks.Schedule("weight", {0: 1.0, 1: 3.0}, axiom="b")
        found = theory.fit(epochs=2, verbose=0, callbacks=[schedule]).history["satisfaction"]
        assert_close(found, [2.0 / 3, (0.9 + 3 * 0.4 + 0.7) / 5])

    def test_a_theory_has_no_weight(self) -> None:
        theory = theory_of()
        theory.compile()
        with pytest.raises(ltn.LogicValueError, match="each axiom has one"):
            theory.fit(verbose=0, callbacks=[ltn.callbacks.Schedule("weight", {0: 1.0})])


class TestTexts:
    def test_weights_stand_behind_the_name(self) -> None:
        theory = theory_of("a [weight=2]: A\nb[weight = 0.5, active=false]: B\nc [weight=learned]:\n  C\n~A")
        assert [axiom.weight for axiom in theory.axiom_list] == [2.0, 0.5, 0.5, 1.0]
        assert [axiom.active for axiom in theory.axiom_list] == [True, False, True, True]
        assert theory["c"].proposition == "weight_of_c"

    def test_what_is_written_is_read(self, tmp_path: Path) -> None:
        theory = theory_of("a [weight=2]: A\nb [active=false]: B -> C\nc: ~C\nd [weight=learned]: A")
        theory["c"].weight = 0.1
        path = tmp_path / "knowledge.txt"
        theory.write(path)
        other = theory_of("")
        other.axioms(path)
        for one, two in zip(theory.axiom_list, other.axiom_list, strict=True):
            assert (one.name, one.tree, one.weight, one.active) == (
                two.name,
                two.tree,
                two.weight,
                two.active,
            )
        assert theory.report().equals(other.report())

    def test_a_file_tells_the_domains_of_its_variables(self, tmp_path: Path) -> None:
        theory = ltn.Theory()
        theory.variables("x, y", theory.domain("people", values=["ann", "bob"]))
        theory.write(tmp_path / "knowledge.txt")
        assert (tmp_path / "knowledge.txt").read_text() == "# x: people\n# y: people\n"

    def test_python_code_cannot_be_written(self, tmp_path: Path) -> None:
        theory = theory_of()
        theory.axiom(lambda: ltn.Formula(1.0, []), name="code")
        with pytest.raises(ltn.LogicValueError, match="code are Python code"):
            theory.write(tmp_path / "knowledge.txt")
        assert not (tmp_path / "knowledge.txt").exists()

    def test_all_mistakes_are_shown_with_file_and_line(self, tmp_path: Path) -> None:
        path = tmp_path / "rules.txt"
        path.write_text("# rules\na: A\nb: B &\n\nc: D | A\na: ~A\nd [weight=-1]: A\nforall: A\nloss: B\n")
        theory = theory_of("")
        with pytest.raises(ltn.LogicError) as raised:
            theory.axioms(path)
        message = str(raised.value)
        assert message.startswith(f"6 mistakes in {path}:")
        for expected in (
            "    line 3: b: B &\n",
            "    line 5: c: D | A\n               ^",
            "named 'a'.\n    line 6: a: ~A\n            ^",
            "got `weight=-1`.\n    line 7: d [weight=-1]: A\n            ^^^^^^^^^^^^^",
            "    line 8: forall: A\n",
            "'loss' names another value in the training logs; choose another name.\n    line 9: loss: B\n",
        ):
            assert expected in message, (expected, message)
        assert theory.axiom_list == []

    def test_more_than_twenty_are_counted(self) -> None:
        with pytest.raises(ltn.LogicError, match=r"(?s)^25 mistakes:.*\.\.\. and 5 more\.$"):
            theory_of("\n".join(f"a{number}: D" for number in range(25)))

    def test_a_list_of_formulas_is_a_text_of_one_on_each_line(self) -> None:
        theory, other = theory_of(""), theory_of("")
        formulas: list[Any] = ["A", "b [weight=2]: B\n-> C", parse("A & B")]
        added = theory.axioms(formulas)
        other.axioms("A\nb [weight=2]: B -> C\nA & B")
        assert [axiom.name for axiom in added] == ["axiom_1", "b", "axiom_3"]
        assert theory.report().equals(other.report())
        assert theory.axioms([]) == []

    def test_a_mistake_in_a_list_is_shown_at_its_place(self) -> None:
        theory = theory_of("")
        with pytest.raises(ltn.LogicValueError, match=r"(?s)'D'.*line 2: A & D"):
            theory.axioms(["A", "A & D"])
        assert theory.axiom_list == []

    def test_all_or_none_are_added(self) -> None:
        theory = theory_of("")
        theory.proposition("weight_of_b", 0.5)
        theory.predicate("weight_of_c", theory.domain("numbers"), lambda n: n[:, 0])
        with pytest.raises(ltn.LogicValueError, match="'weight_of_c' cannot name a proposition"):
            theory.axioms("a: A\nb [weight=2]: B\nc [weight=learned]: C")
        assert theory.axiom_list == []

    @pytest.mark.parametrize("kind", [str, Path])
    def test_a_missing_file_is_one_kind_of_error(self, kind: Any, tmp_path: Path) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"missing\.txt: there is no such file"):
            theory_of("").axioms(kind(tmp_path / "missing.txt"))

    @pytest.mark.parametrize("kind", [str, Path])
    def test_a_file_that_cannot_be_read_is_not_missing(self, kind: Any, tmp_path: Path) -> None:
        (tmp_path / "rules.txt").write_bytes(b"a: \xff\xfe")
        with pytest.raises(ltn.LogicValueError, match=r"rules\.txt: the file cannot be read"):
            theory_of("").axioms(kind(tmp_path / "rules.txt"))

    @pytest.mark.parametrize("path", ["\0.txt", "\ud800.txt"])
    def test_a_file_that_can_have_no_such_name(self, path: str) -> None:
        with pytest.raises(ltn.LogicValueError, match="txt: the file cannot be read"):
            theory_of("").axioms(path)


def test_an_axiom_that_is_not_active_is_no_premise() -> None:
    theory = ltn.Theory()
    for name in "AB":
        theory.proposition(name, 0.5, trainable=True)
    theory.axioms("first: A\nrule: A -> B")
    assert theory.entails("B", verbose=0)
    theory["rule"].active = False
    assert not theory.entails("B", verbose=0)

"""The rules that keep a theory fast: which networks run, how often, and on how many rows."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.fuzzy_ops.base import Operator
from ltn.language import parse
from tests.theory.counting import Digits, People, images
from tests.tolerance import assert_close

ADDITION = "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)"


def pairs(people: People) -> list[tuple[int, int]]:
    """The rows of those pairs of which the first has the lower number."""
    numbers = people.numbers
    return [(i, j) for i in range(people.size) for j in range(people.size) if numbers[i] < numbers[j]]


def operations(digits: Digits) -> list[str]:
    """The kinds of TensorFlow's operations in an evaluation of the axioms, compiled for any batch."""
    specs = {name: tf.TensorSpec([None, 4]) for name in ("x", "y")} | {"n": tf.TensorSpec([None])}
    compiled = tf.function(lambda data: digits.theory(data), input_signature=[specs])
    return [operation.type for operation in compiled.get_concrete_function().graph.get_operations()]


class TestNothingIsComputedTwice:
    def test_equal_atoms_are_computed_once(self) -> None:
        people = People()
        people.theory.query("forall x: S(x) & (S(x) -> ~S(x) | S(x))")
        assert people.S.counted() == [people.size]

    def test_equal_atoms_of_several_quantifiers_are_computed_once(self) -> None:
        people = People()
        people.theory.query("(forall x: S(x)) | (exists x: S(x)) & forall x, y: S(x) -> R(x, y)")
        assert people.S.counted() == [people.size]

    def test_equal_terms_are_computed_once(self) -> None:
        people = People()
        people.theory.query("forall x, y: S(f(x)) & R(f(x), y) & F(y, f(x))")
        assert people.f.counted() == [people.size]

    def test_a_classifier_runs_on_the_individuals_and_not_on_pairs_with_classes(self) -> None:
        digits = Digits()
        answer = digits.theory.query("digit(x, d1)", x=images(32))
        assert answer.tensor.shape == (32, 10)
        assert digits.network.counted() == [32]

    def test_neither_does_it_where_a_guard_chooses_the_classes(self) -> None:
        digits = Digits()
        digits.theory.query(
            "forall x: exists d1, d2 where d1 + d2 = 9: digit(x, d1) & digit(x, d2)", x=images(32)
        )
        assert digits.network.counted() == [32]

    def test_variables_over_the_same_constants_share_their_values(self) -> None:
        people = People()
        answer = people.theory.query("S(x) & S(y)")
        assert people.S.counted() == [people.size]
        assert_close(answer.tensor, np.outer(*[people.theory.query("S(x)").tensor] * 2))

    def test_variables_over_the_data_of_their_domain_share_their_values(self) -> None:
        digits = Digits()
        digits.theory.query("digit(x, d1) & digit(y, d2)", images=images(32))
        assert digits.network.counted() == [32]

    def test_a_relation_and_its_converse_share_one_table(self) -> None:
        people = People()
        answer = people.theory.query("F(x, y) & F(y, x)").tensor.numpy()
        assert people.F.counted() == [people.size**2]
        table = people.theory.query("F(x, y)").tensor.numpy()
        assert_close(answer, table * table.T)

    def test_a_body_that_needs_the_whole_table_shares_it_with_a_guarded_one(self) -> None:
        people = People(["forall x, y: F(x, y)", "forall x, y where lower(x, y): ~F(x, y) & F(y, x)"])
        people.theory({})
        assert people.F.counted() == [people.size**2]


class TestOneBatch:
    def test_two_calls_of_a_network_are_one(self) -> None:
        digits = Digits()
        digits.theory.query("digit(x, d1) & digit(y, d2)", x=images(32), y=images(32, seed=1))
        assert digits.network.counted() == [64]

    def test_also_of_different_numbers_of_individuals(self) -> None:
        digits = Digits()
        digits.theory.query("digit(x, d1) & digit(y, d2)", x=images(32), y=images(7))
        assert digits.network.counted() == [39]

    def test_the_calls_of_several_axioms_are_one(self) -> None:
        people = People(
            [
                "forall x: ~F(x, x)",
                "forall x, y: F(x, y) -> F(y, x)",
                "forall x: exists y: F(x, y)",
                "forall x, y: F(x, y) & S(x) -> S(y)",
                "S(a) & F(a, b)",
            ]
        )
        people.theory({})
        # F(x, x), S(a) and F(a, b) are among them.
        assert people.S.counted() == [people.size]
        assert people.F.counted() == [people.size**2]

    def test_also_of_learned_people_whom_no_axiom_has_all_of(self) -> None:
        people = People(["forall x: F(x, a) & F(a, x)", "F(a, b)"])
        people.theory({})
        assert people.F.counted() == [2 * people.size + 1]

    def test_a_training_step_calls_the_network_once(self) -> None:
        digits = Digits([ADDITION, "forall diag(x, l) where l = 3: digit(x, 3)"])
        digits.theory.compile(run_eagerly=True)
        data = {"x": images(32), "y": images(32, seed=1), "n": np.arange(32) % 19, "l": np.arange(32) % 10}
        digits.theory.fit(data, batch_size=16, epochs=1, verbose=0)
        # Once for each of two batches of 16 pairs, of whose first images each needs all; and before, where
        # the first batch is looked at.
        assert digits.network.counted() == [32, 32, 32]

    def test_compiled_there_is_one_call_as_well(self) -> None:
        digits = Digits([ADDITION])
        operations(digits)
        assert len(digits.network.counted()) == 1

    @pytest.mark.parametrize(
        ("semantics", "kinds"), [("stable_product", ["Softmax"]), ("log_product", ["LogSoftmax"])]
    )
    def test_its_outputs_become_truths_in_one_go(self, semantics: str, kinds: list[str]) -> None:
        digits = Digits([ADDITION, "forall x: exists d1: digit(x, d1)"], semantics=semantics)
        assert [kind for kind in operations(digits) if "Softmax" in kind] == kinds

    def test_never_where_rows_depend_on_each_other(self) -> None:
        digits = Digits(normalised=True)
        digits.theory.query("digit(x, d1) & digit(y, d2)", x=images(32), y=images(7))
        assert sorted(digits.network.counted()) == [7, 32]

    def test_of_such_networks_too_equal_calls_are_made_once(self) -> None:
        people = People(normalised=True)
        people.theory.query("S(x) & S(y) & (S(x) | F(x, y)) & F(y, x)")
        assert people.S.counted() == [people.size]
        assert people.F.counted() == [people.size**2]


class TestGuards:
    def test_the_body_is_evaluated_on_the_selected_pairs_only(self) -> None:
        people = People()
        people.theory.query("forall x, y where lower(x, y): F(x, y)")
        assert people.F.counted() == [len(pairs(people))]

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("digit(x, d1) & digit(y, d2)", [(32, 10)] * 2),
            ("~digit(x, d1) & digit(y, d2)", [(32, 10)] * 2),
            # Of what is no atom there is a value for each tuple: for a sum n there are min(n, 18 - n) + 1.
            ("digit(x, d1) & digit(y, d2) & digit(x, d2)", [(32, 10)] * 3 + [(11 * 3 + 11 * 10 + 10 * 3,)]),
        ],
    )
    def test_atoms_are_projected_before_they_are_read_at_the_selected_tuples(
        self, monkeypatch: pytest.MonkeyPatch, body: str, expected: list[tuple[int, ...]]
    ) -> None:
        shapes: list[tuple[int, ...]] = []

        def projection(x: tf.Tensor) -> tf.Tensor:
            shapes.append(tuple(x.shape))
            return ltn.fuzzy_ops.not_zeros(x)

        digits = Digits(semantics="stable_product")
        data: dict[str, Any] = {"x": images(32), "y": images(32, seed=1), "n": np.resize([2, 9, 16], 32)}
        text = f"forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: {body}"
        plain = digits.theory.query(text, **data).tensor
        monkeypatch.setattr(ltn.fuzzy_ops.And_Prod, "projections", (projection, projection))
        assert_close(digits.theory.query(text, **data).tensor, plain)
        assert sorted(shapes, reverse=True) == sorted(expected, reverse=True)

    def test_an_individual_in_several_pairs_is_computed_once(self) -> None:
        people = People()
        people.theory.query("forall x, y where lower(x, y): S(x) -> F(x, y) & S(y)")
        assert people.S.counted() == [people.size]
        assert people.F.counted() == [len(pairs(people))]

    def test_a_relation_and_its_converse_are_two_on_the_selected_pairs(self) -> None:
        people = People()
        people.theory.query("forall x, y where lower(x, y): F(x, y) -> F(y, x)")
        assert people.F.counted() == [2 * len(pairs(people))]

    def test_of_selected_triples_a_relation_sees_the_distinct_pairs(self) -> None:
        people = People()
        numbers = people.numbers
        triples = [
            (i, j, k)
            for i, j in pairs(people)
            for k in range(people.size)
            if numbers[i] + numbers[j] <= numbers[k]
        ]
        text = "forall x, y, z where lower(x, y) & number(x) + number(y) <= number(z): F(x, y) & R(x, z)"
        people.theory.query(text)
        assert people.F.counted() == [len({(i, j) for i, j, _ in triples})]
        assert people.R.counted() == [len({(i, k) for i, _, k in triples})]
        assert len({(i, j) for i, j, _ in triples}) < len(triples), "the guard is to select pairs repeatedly"

    def test_of_nested_guards_only_what_all_of_them_select_is_computed(self) -> None:
        people = People()
        people.theory.query("forall x where number(x) > 0: S(x) & exists y where lower(x, y): F(x, y)")
        assert people.S.counted() == [int(np.sum(people.numbers > 0))]
        assert people.F.counted() == [sum(people.numbers[i] > 0 for i, _ in pairs(people))]

    def test_of_what_nested_guards_select_a_relation_sees_the_distinct_pairs(self) -> None:
        people = People()
        people.theory.query("forall x, y where lower(x, y): exists z where lower(y, z): F(x, y) -> R(x, z)")
        lower = pairs(people)
        triples = [(i, j, k) for i, j in lower for j_, k in lower if j == j_]
        assert people.F.counted() == [len(lower)]
        assert people.R.counted() == [len({(i, k) for i, _, k in triples})]

    def test_quantifiers_with_one_guard_share_what_they_select(self) -> None:
        people = People()
        people.theory.query(
            "(forall x, y where lower(x, y): F(x, y)) & (exists x, y where lower(x, y): F(x, y) & S(x))"
        )
        assert people.F.counted() == [len(pairs(people))]

    @pytest.mark.parametrize(("quantifier", "expected"), [("forall", 1.0), ("exists", 0.0)])
    @pytest.mark.parametrize("dense", [False, True])
    def test_of_nothing_all_holds_and_nothing_exists(
        self, quantifier: str, expected: float, dense: bool
    ) -> None:
        people = People()
        tree = parse(f"{quantifier} x, y where number(x) > 9: F(x, y) & S(y)")
        [value] = people.theory.evaluation(people.theory.space, {}, dense=dense).ground([tree])
        assert_close(value.tensor, expected)
        assert people.F.counted() == [people.size**2 if dense else 0]

    def test_of_one_label_the_network_sees_its_individuals_only(self) -> None:
        digits = Digits(["forall diag(x, l) where l = 3: digit(x, 3)"])
        digits.theory({"x": images(32), "l": np.arange(32.0) % 10})
        assert digits.network.counted() == [3]

    def test_with_a_guard_for_each_of_several_labels_the_whole_axis_is_computed_once(self) -> None:
        digits = Digits([f"forall diag(x, l) where l = {label}: digit(x, {label})" for label in range(10)])
        digits.theory({"x": images(32), "l": np.arange(32.0) % 10})
        assert digits.network.counted() == [32]

    def test_a_guard_in_which_a_network_stands_runs_it_once(self) -> None:
        people = People()
        people.theory.query("forall x, y where S(x) > 0.5 & ~(S(y) > 0.5): F(x, y)")
        truths = people.theory.query("S(x)").tensor.numpy() > 0.5
        assert people.S.counted() == [people.size] * 2  # one of them the second query
        assert people.F.counted() == [truths.sum() * (~truths).sum()]

    def test_what_a_guard_has_computed_the_body_reads(self) -> None:
        people = People()
        people.theory.query("forall x where S(x) > 0.5: S(x) & exists y where F(x, y) > 0.5: F(x, y)")
        assert people.S.counted() == [people.size]
        # The guard within ranges over the selected individuals and all others.
        assert people.F.counted() == [people.size * int(np.sum(people.theory.query("S(x)").tensor > 0.5))]


class Picking(ltn.Predicate):
    """A predicate that keeps the shapes of its truths."""

    def __init__(self, classifier: Any):
        super().__init__(ltn.Predicate.FromLogits(classifier, "softmax").model)
        self.shapes: list[Any] = []

    def truth(self, *args: Any) -> ltn.Formula:
        formula = super().truth(*args)
        self.shapes.append(tuple(formula.tensor.shape))
        return formula


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("forall diag(x, l): digit(x, l)", (32,)),
        ("forall diag(x, l) where l > 3: digit(x, l)", (18,)),
        ("forall diag(x, l): exists d1 where d1 != l: digit(x, l)", (32,)),
        ("forall diag(x, l) where l > 3: exists d1 where d1 != l: digit(x, l)", (18,)),
        ("forall diag(x, l), y where l < 3 & norm(y) >= 0: alike(x, y, l)", (11 * 7,)),
        ("forall diag(x, l), y, d1 where l + d1 < 3 & norm(y) >= 0: alike(x, y, l)", (11 * 7,)),
    ],
)
def test_a_class_on_the_axis_of_its_individual_is_picked_for_that_individual_only(
    text: str, shape: tuple[int, ...]
) -> None:
    theory = ltn.Theory("product")
    points = theory.domain("points", shape=4)
    classes = theory.domain("digits", values=range(10))
    theory.variables("x, y", points)
    theory.variables("l, d1", classes)
    pair = [keras.Input((4,)), keras.Input((4,))]
    digit = Picking(keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)]))
    alike = Picking(keras.Model(pair, keras.layers.Dense(10)(keras.layers.Concatenate()(pair))))
    theory.predicate("digit", (points, classes), digit)
    theory.predicate("alike", (points, points, classes), alike)
    for predicate in (digit, alike):
        predicate.shapes.clear()
    theory.query(text, x=images(32), y=images(7), l=np.arange(32.0) % 10)
    assert [*digit.shapes, *alike.shapes] == [shape]


class TestDenseForm:
    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("forall x, y where lower(x, y): F(x, y)", 25),
            ("forall x, y where lower(x, y): F(x, y) -> F(y, x)", 25),
            ("forall x, y, z where lower(x, y) & lower(y, z): F(x, y) & F(y, z) -> F(x, z)", 25),
            ("forall x where number(x) > 0: exists y where lower(x, y): F(x, y)", 25),
            ("exists x, y where number(x) > 9: F(x, y)", 25),
        ],
    )
    def test_all_combinations_are_computed_once(self, text: str, rows: int) -> None:
        people = People()
        people.theory.evaluation(people.theory.space, {}, dense=True).ground([parse(text)])
        assert people.F.counted() == [rows]

    def test_a_theory_that_xla_compiles_takes_it(self) -> None:
        people = People(["forall x, y where lower(x, y): F(x, y)"])
        people.theory.use_xla(True)
        tf.function(lambda: people.theory({}), jit_compile=True)()
        assert people.F.counted() == [people.size**2]

    def test_calls_are_one_batch_there_too(self) -> None:
        digits = Digits()
        data = {"x": images(32), "y": images(32, seed=1), "n": np.arange(32.0) % 19}
        digits.theory.evaluation(digits.theory.space, data, dense=True).ground([parse(ADDITION)])
        assert digits.network.counted() == [64]

    def test_the_networks_of_guards_are_in_that_batch(self) -> None:
        digits = Digits()
        tree = parse("forall x, y where digit(x, 3) > 0.5: digit(y, 3)")
        data = {"x": images(32), "y": images(7)}
        digits.theory.evaluation(digits.theory.space, data, dense=True).ground([tree])
        assert digits.network.counted() == [39]


@pytest.mark.usefixtures("compiled_at_once")
def test_no_operator_is_compiled_for_what_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    theory = ltn.Theory()
    theory.proposition("A", 0.3, trainable=True)
    theory.axiom("A & ~A | A")
    theory.compile("sgd")
    compiled: dict[Any, Any] = {}
    monkeypatch.setattr(Operator, "_compiled", compiled)
    theory.plan()
    theory.fit(epochs=1, verbose=0)
    assert not compiled
    theory.query("A & ~A")
    assert compiled

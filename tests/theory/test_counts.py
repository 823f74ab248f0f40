"""Quantifiers that count, in theories: their values, what they learn, and where they are shown."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
import ltn.plot
from ltn.language import parse
from tests.fuzzy_ops import reference as ref
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

FAMILIES = {
    "product": ref.count_of_all,
    "stable_product": ref.count_of_all,
    "log_product": ref.count_of_all,
    "godel": ref.count_by_order,
    "lukasiewicz": ref.count_by_sum,
}
SEMANTICS = pytest.mark.parametrize("semantics", FAMILIES)
TRUTHS = [0.9, 0.2, 0.6, 0.7]


def known(truths: Sequence[float], semantics: Any) -> ltn.Theory:
    """A theory with a predicate I(d), whose truths for all individuals of a finite domain are known."""
    theory = ltn.Theory(semantics)
    digits = theory.domain("digits", values=range(len(truths)))
    theory.variables("d, e", digits)
    table = tf.constant(truths, tf.float32)
    theory.predicate("I", digits, lambda d: tf.gather(table, tf.cast(d[:, 0], tf.int32)))
    return theory


@SEMANTICS
class TestValues:
    def test_each_kind_is_that_of_its_family(self, semantics: str) -> None:
        theory, infinity = known(TRUTHS, semantics), float("inf")
        for k in range(6):
            for kind, bounds in (("exactly", (k, k)), ("at least", (k, infinity)), ("at most", (0, k))):
                expected = FAMILIES[semantics](*bounds)(TRUTHS)
                assert_close(theory.query(f"{kind} {k} d: I(d)").tensor, expected)
                assert_close(theory.query(f"~{kind} {k} d: I(d)").tensor, 1.0 - expected)

    def test_guards_select_what_is_counted(self, semantics: str) -> None:
        theory = known(TRUTHS, semantics)
        expected = FAMILIES[semantics](1, 1)([0.9, 0.2, 0.7])
        assert_close(theory.query("exactly 1 d where d != 2: I(d)").tensor, expected)
        found = theory.query("at least 1 e where e > d: I(e)").tensor
        assert_close(found, [FAMILIES[semantics](1, float("inf"))(TRUTHS[d + 1 :]) for d in range(4)])

    def test_several_variables_and_diagonals(self, semantics: str) -> None:
        theory, infinity = known(TRUTHS, semantics), float("inf")
        pairs = [TRUTHS[e] for _, e in itertools.product(range(4), range(4))]
        expected = FAMILIES[semantics](6, infinity)(pairs)
        assert_close(theory.query("at least 6 d, e where d >= 0: I(e)").tensor, expected)
        found = theory.query("exactly 2 diag(d, e) where e >= 0: I(d)").tensor
        assert_close(found, FAMILIES[semantics](2, 2)(TRUTHS))

    def test_of_nothing_the_number_is_zero(self, semantics: str) -> None:
        theory = known(TRUTHS, semantics)
        for kind, expected in (("exactly 0", 1), ("exactly 1", 0), ("at least 0", 1), ("at least 1", 0)):
            assert_close(theory.query(f"{kind} d where d > 9: I(d)").tensor, float(expected))
        assert_close(theory.query("at most 0 d where d > 9: I(d)").tensor, 1.0)

    def test_more_than_there_are_is_false(self, semantics: str) -> None:
        theory = known(TRUTHS, semantics)
        assert_close(theory.query("exactly 5 d: I(d)").tensor, 0.0)
        assert_close(theory.query("exactly 1000000 d: I(d)").tensor, 0.0)
        assert_close(theory.query("at most 1000000 d: I(d)").tensor, 1.0)

    def test_counts_stand_inside_each_other_and_inside_means(self, semantics: str) -> None:
        theory = known(TRUTHS, semantics)
        inner = [FAMILIES[semantics](1, 1)(TRUTHS[:d]) for d in range(4)]
        found = theory.query("at most 1 d: exactly 1 e where e < d: I(e)").tensor
        assert_close(found, FAMILIES[semantics](0, 1)(inner))
        mean = theory.query("exists e where e < 2: I(e)").tensor
        found = theory.query("exactly 1 d where d < 1: exists e where e < d + 2: I(e)").tensor
        assert_close(found, mean)


class TestOperators:
    def test_the_semantics_chooses_the_family(self) -> None:
        theory = known(TRUTHS, ltn.semantics.product.replace(Count=ltn.fuzzy_ops.Count_Luk()))
        assert_close(theory.query("at least 3 d: I(d)").tensor, ref.count_by_sum(3, 9)(TRUTHS))
        found = theory.query("at least 3 d: I(d)", semantics="godel").tensor
        assert_close(found, ref.count_by_order(3, 9)(TRUTHS))

    def test_any_callable_will_do(self) -> None:
        def mean_number(xs: tf.Tensor, axis: Any, least: int = 0, most: int = 99) -> tf.Tensor:
            number = tf.reduce_sum(xs, axis)
            return tf.cast((number >= least - 0.5) & (number <= most + 0.5), xs.dtype)

        theory = known(TRUTHS, ltn.semantics.product.replace(Count=mean_number))
        for formula, expected in (("exactly 2 d: I(d)", 1), ("at least 1 d where d = 1: I(d)", 0)):
            assert_close(theory.query(formula).tensor, float(expected))

    def test_a_description_without_a_count_has_that_of_its_family(self) -> None:
        for name in FAMILIES:
            preset = ltn.semantics.get(name)
            description = preset.get_config()
            del description["operators"]["Count"]
            assert ltn.semantics.from_config(description) == preset

    def test_options_that_the_operator_lacks_are_shown_at_their_place(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match=r"no hyper-parameter `least`(.|\n)*\^\^\^"):
            known(TRUTHS, "product").axiom("exactly 1[least=2] d: I(d)")

    def test_rows_of_weight_zero_are_not_counted(self) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        theory.variable("x", numbers)
        theory.predicate("I", numbers, lambda x: x[:, 0])
        theory.axiom("exactly 1 x: I(x)")
        data = {"x": np.array([0.9, 0.2, 0.6], np.float32)}
        theory.compile(optimizer="sgd")
        found = theory.evaluate(data, sample_weight=np.array([1.0, 0.0, 5.0]), return_dict=True, verbose=0)
        assert_close(found["axiom_1"], ref.count_of_all(1, 1)([0.9, 0.6]))


class TestLearning:
    @pytest.mark.parametrize("activation", ["sigmoid", "softmax"])
    def test_log_product_learns_where_truths_are_certain_and_wrong(self, activation: str) -> None:
        """Logits of 40: 1 - truth is 4e-18, which is 0 beside 1, and whose logarithm is not."""
        layer = keras.layers.Embedding(
            3, 2, embeddings_initializer=keras.initializers.Constant([[40.0, 0.0]] * 3)
        )
        theory = ltn.Theory("log_product")
        things, kinds = theory.domain("things", values=range(3)), theory.domain("kinds", values=range(2))
        theory.variable("x", things)
        network = keras.Sequential([keras.Input((1,)), layer, keras.layers.Flatten()])
        theory.predicate("kind", (things, kinds), ltn.Predicate.FromLogits(network, activation))
        with tf.GradientTape() as tape:
            [value] = theory.evaluation(theory.space, {}).ground([parse("at most 1 x: kind(x, 0)")])
        slopes = tape.gradient(value.tensor, layer.embeddings)
        # Two of three would have to be false.
        assert_close(value.tensor, np.log(3.0) - 80.0, rtol=1e-5)
        assert_close(tf.convert_to_tensor(slopes)[:, 0], np.full(3, -2.0 / 3.0), rtol=1e-4)

    @pytest.mark.parametrize("semantics", ["product", "stable_product", "log_product", "godel"])
    def test_one_of_each_row_is_learned(self, semantics: str) -> None:
        keras.utils.set_random_seed(0)
        theory = ltn.Theory(semantics)
        rows, columns = theory.domain("rows", shape=3), theory.domain("columns", values=range(3))
        theory.variables("x", rows)
        theory.variables("c", columns)
        network = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
        theory.predicate("in", (rows, columns), ltn.Predicate.FromLogits(network, "sigmoid"))
        theory.axiom("forall x: exists! c: in(x, c)")
        theory.compile(optimizer=keras.optimizers.Adam(0.1))
        data = {"x": np.eye(3, dtype=np.float32)}
        before = float(theory(data)["axiom_1"][0])
        theory.fit(data, epochs=40, verbose=0)
        assert float(theory(data)["axiom_1"][0]) > max(before, 0.55)


class TestShown:
    def test_a_plan_tells_what_is_counted(self) -> None:
        theory = known(TRUTHS, "log_product")
        assert "not exactly 2 over d" in str(theory.plan("~exactly 2 d: I(d)"))
        assert "at most 1 over tuples 1" in str(theory.plan("at most 1 d where d > 0: I(d)"))

    @pytest.mark.parametrize("semantics", ["product", "log_product"])
    def test_trees_have_its_sign(self, semantics: str) -> None:
        figure = ltn.plot.tree(known(TRUTHS, semantics), "~exactly 2 d where d > 0: I(d)")
        shown = [text.get_text() for text in figure.axes[0].texts]
        expected = ref.count_of_all(2, 2)(TRUTHS[1:])
        assert shown[:4] == ["¬", f"{1 - expected:.3f}", "∃=2 d\nwhere d > 0", f"{expected:.3f}"]

    def test_explanations_and_saved_files_have_it(self, tmp_path: Path) -> None:
        theory = ltn.Theory("godel")
        people = theory.domain("people", shape=1)
        theory.variables("x, y", people)
        # Words of the language, where they are names.
        for name in ("at", "exactly", "least", "xor"):
            theory.predicate(name, people, ltn.Predicate.MLP([1], (2,)))
        theory.axiom("forall x: at least 2 y: at(x) xor xor(y) & least(y)", name="counted")
        theory.axiom("forall x: exactly(x) -> at(x)", name="exactly")
        data = {"x": np.array([[0.1], [0.7]], np.float32), "y": np.array([[0.3], [0.9]], np.float32)}
        assert len(theory.explain("counted", data)) == 2
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert [str(a) for a in loaded.axiom_list] == [str(a) for a in theory.axiom_list]
        assert loaded.semantics == ltn.semantics.godel
        for name, value in theory(data).items():
            assert_close(loaded(data)[name], value)

    def test_consequences(self) -> None:
        theory = ltn.Theory("product")
        people = theory.domain("people", shape=2)
        theory.constants("a, b, c", people)
        theory.variable("u", people, values=["a", "b", "c"])
        theory.predicate("S", people, ltn.Predicate.MLP([2], (4,)))
        theory.axiom("at least 2 u: S(u)")
        assert not theory.entails("at least 3 u: S(u)", seed=0)

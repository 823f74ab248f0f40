"""What is learned: embeddings, weights of axioms, symbols that are declared later, axioms in Python."""

import math
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import (
    assert_same_weights,
    classifier,
    degrees,
    one_weight,
    pmean_error,
    slim,
    smokers,
    truth,
    weights_of,
)
from tests.theory.trained import DATA, OTHERS, POINTS, STEP_ATOL, compiled
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


EPS = 1e-4  # of the stable operators


def stable_satagg(truths: Any, p: float = 2.0) -> float:
    """The paper's aggregator of formulas, which moves truths away from 1 first."""
    return pmean_error((1.0 - EPS) * np.asarray(truths, np.float64), p)


class TestWeights:
    def test_an_integer_weight_repeats_the_axiom(self) -> None:
        once, repeated = degrees([0.2, 0.6]), degrees([0.2, 0.6])
        once.axiom("forall x: I(x)", weight=3)
        once.axiom("exists x: I(x)")
        for name in ("one", "two", "three"):
            repeated.axiom("forall x: I(x)", name=name)
        repeated.axiom("exists x: I(x)")
        found = [
            compiled(theory).evaluate(verbose=0, return_dict=True)["satisfaction"]
            for theory in (once, repeated)
        ]
        assert_close(found[0], found[1])
        values = once.report().satisfaction
        assert_close(found[0], stable_satagg([values[0]] * 3 + [values[1]]))

    def test_the_gradient_too(self) -> None:
        once, repeated = ltn.Theory(), ltn.Theory()
        for theory in (once, repeated):
            theory.proposition("a", 0.3, trainable=True)
            theory.proposition("b", 0.4, trainable=True)
        once.axiom("a", weight=2)
        repeated.axiom("a", name="first")
        repeated.axiom("a", name="second")
        for theory in (once, repeated):
            theory.axiom("b", name="other")
            compiled(theory).fit(verbose=0)
        assert_same_weights(once, repeated, atol=1e-6)

    def test_a_weight_of_zero_leaves_an_axiom_out_but_reports_it(self) -> None:
        theory = compiled(degrees([0.2, 0.6]))
        theory.axiom("forall x: I(x)", name="counts")
        theory.axiom("forall x: ~I(x)", name="watched", weight=0.0)
        logs = theory.evaluate(verbose=0, return_dict=True)
        assert_close(logs["satisfaction"], stable_satagg([logs["counts"]]))
        assert logs["watched"] > 0.0

    def test_a_learned_one_is_p_w_and_the_formula(self) -> None:
        theory = compiled(degrees([0.2, 0.6]))
        theory.axiom("forall x: I(x)", name="doubtful", weight="learned")
        theory.axiom("exists x: I(x)", name="sure")
        logs = theory.evaluate(verbose=0, return_dict=True)
        p_w = 0.5
        stable_and = ((1.0 - EPS) * p_w + EPS) * ((1.0 - EPS) * logs["doubtful"] + EPS)
        assert_close(logs["satisfaction"], stable_satagg([stable_and, logs["sure"]]))
        # The log shows the formula, not p_w & formula.
        assert_close(logs["doubtful"], theory.report().satisfaction[0])

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_it_trains_and_is_reported(self, semantics: str) -> None:
        theory = degrees([0.2, 0.6], semantics)
        theory.axiom("forall x: I(x)", name="doubtful", weight="learned")
        assert list(theory.report().weight) == [0.5]
        compiled(theory, keras.optimizers.SGD(0.05)).fit(epochs=3, verbose=0)
        # p_w alone can raise p_w & formula.
        assert 0.5 < theory.report().weight[0] <= 1.0

    def test_log_product_takes_weights(self) -> None:
        theory = compiled(degrees([0.2, 0.6], "log_product"))
        theory.axiom("forall x: I(x)", name="often", weight=3)
        theory.axiom("exists x: I(x)", name="once")
        logs = theory.evaluate(verbose=0, return_dict=True)
        assert_close(logs["satisfaction"], (logs["often"] ** 3 * logs["once"]) ** 0.25)


class TestGrowingTheories:
    def test_an_axiom_may_be_added_after_a_fit(self) -> None:
        theory = compiled(slim())
        theory.fit(POINTS, verbose=0)
        theory.axiom("exists x: ~A(x)", name="new")
        history = theory.fit(POINTS, epochs=2, validation_data=POINTS, verbose=0).history
        assert {"new", "val_new"} <= set(history)
        assert "new" in theory.evaluate(POINTS, verbose=0, return_dict=True)
        assert "new" in theory.predict(POINTS, verbose=0)

    def test_and_it_teaches(self) -> None:
        theory = compiled(one_weight(0.5), keras.optimizers.SGD(0.1))
        theory.fit(epochs=1, verbose=0)
        theory.axiom("~w", name="not_so", weight=100.0)
        before = truth(theory, "w")
        theory.fit(epochs=1, verbose=0)
        assert truth(theory, "w") < before

    def test_what_is_declared_after_a_fit_is_learned(self) -> None:
        theory = compiled(slim(), keras.optimizers.Adam(0.05))
        theory.fit(POINTS, verbose=0)
        theory.predicate("B", theory.signature.domains["points"], ltn.Predicate.MLP([2], (2,)))
        theory.axiom("forall x: B(x)", name="new", weight="learned")
        history = theory.fit(POINTS, epochs=3, verbose=0).history
        assert history["new"][-1] > history["new"][0]
        assert theory.report(POINTS).weight[1] > 0.5

    def test_and_what_was_there_keeps_its_place_in_the_optimizer(self) -> None:
        """Adam's averages of the old weights go on; those of the new ones begin at zero."""
        theory = compiled(one_weight(), keras.optimizers.Adam(0.01))
        theory.fit(epochs=3, verbose=0)
        theory.proposition("v", 0.5, trainable=True)
        theory.axiom("v", name="new")
        theory.fit(verbose=0)
        assert int(theory.optimizer.iterations) == 4
        # Adam's first steps are of the size of the learning rate: the new weight has had one.
        assert truth(theory, "v") == pytest.approx(0.51, abs=0.005)
        assert truth(theory, "w") == pytest.approx(0.54, abs=0.005)

    def test_unused_predicates_and_constants_warn_of_nothing(self) -> None:
        theory = slim()
        points = theory.signature.domains["points"]
        theory.predicate("unused", points, ltn.Predicate.MLP([2], (4,)))
        theory.constants("a, b", theory.domain("people", shape=3))
        theory.proposition("p", 0.5, trainable=True)
        before = theory.symbols["unused"].network.get_weights()
        compiled(theory, keras.optimizers.Adam(0.05)).fit(POINTS, epochs=2, verbose=0)  # warnings are errors
        for old, new in zip(before, theory.symbols["unused"].network.get_weights(), strict=True):
            np.testing.assert_array_equal(old, new)

    def test_compiling_again_goes_on_with_the_learned_weights(self) -> None:
        theory = compiled(one_weight())
        theory.fit(verbose=0)
        learned = weights_of(theory)
        compiled(theory, keras.optimizers.Adam(0.0))
        theory.fit(verbose=0)
        for mine, theirs in zip(theory.get_weights(), learned, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_an_empty_theory_says_so(self) -> None:
        theory = ltn.Theory()
        theory.compile()
        with pytest.raises(ltn.LogicValueError, match="no axioms"):
            theory.fit(verbose=0)

    def test_a_theory_that_is_not_compiled_says_so(self) -> None:
        with pytest.raises(ValueError, match="compile"):
            classifier().fit(DATA, verbose=0)

    @pytest.mark.parametrize("argument", ["loss", "metrics", "loss_weights", "weighted_metrics"])
    def test_losses_and_metrics_of_targets_are_refused(self, argument: str) -> None:
        settings: dict[str, Any] = {argument: ["mse"]}
        with pytest.raises(ltn.LogicTypeError, match=f"`{argument}`.*satisfaction"):
            classifier().compile("adam", **settings)


class TestEmbeddings:
    def test_they_are_learned(self) -> None:
        theory = compiled(smokers(), keras.optimizers.Adam(0.05))
        before = theory.individuals[0].tensor.numpy()
        history = theory.fit(epochs=60, verbose=0).history
        assert history["satisfaction"][-1] > history["satisfaction"][0] + 0.1
        moved = np.abs(theory.individuals[0].tensor.numpy() - before).max(axis=1)
        assert moved.min() > 1e-3
        truth = theory.query("S(x)").to_frame().truth
        assert truth["a"] > 0.5 > truth["c"]

    def test_variables_over_them_are_never_stale(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        a, b = theory.constants("a, b", numbers, values=[0.2, 0.4], trainable=True)
        x = theory.variable("x", numbers)
        chosen = theory.variable("y", numbers, values=["b"])
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("forall x: I(x)")
        theory.axiom("forall y: I(y)")
        compiled(theory).fit(epochs=2, verbose=0)
        learned = theory.individuals[0].table.numpy()
        assert learned.min() > 0.4
        np.testing.assert_array_equal(x.tensor, learned)
        np.testing.assert_array_equal(chosen.tensor, learned[1:])
        np.testing.assert_array_equal(a.tensor, learned[0])
        np.testing.assert_array_equal(b.tensor, learned[1])
        np.testing.assert_array_equal(theory.query("x").tensor, learned)

    def test_the_step_equals_one_written_with_core(self) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        theory.constants("a, b, c", people)
        theory.variables("x, y", people)
        P = theory.predicate("P", (people, people), ltn.Predicate.MLP([2, 2], (4,)))
        theory.axiom("forall x: exists y: P(x, y) & ~P(y, x)")
        constants = [ltn.Constant(row, trainable=True) for row in theory.individuals[0].tensor]
        _, And, _, _, _, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()
        Not = ltn.semantics.stable_product.wrap().Not
        with tf.GradientTape() as tape:
            x = ltn.Variable.from_constants("x", constants)
            y = ltn.Variable.from_constants("y", constants)
            loss = 1.0 - SatAgg([Forall(x, Exists(y, And(P([x, y]), Not(P([y, x])))))]).tensor
        gradients = tape.gradient(loss, [constant.tensor for constant in constants])
        before = theory.individuals[0].tensor.numpy()
        compiled(theory, keras.optimizers.SGD(1.0)).fit(verbose=0)
        moved = before - theory.individuals[0].tensor.numpy()
        assert np.abs(moved).max() > 1e-3
        assert_close(moved, np.stack([gradient.numpy() for gradient in gradients]), atol=STEP_ATOL)

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_a_hypercube_keeps_them_inside(self, jit_compile: bool) -> None:
        theory = ltn.Theory("product")
        points = theory.domain("points", shape=2, bounds=(-1, 2))
        theory.constants("a, b, c", points)
        theory.variable("x", points)
        theory.predicate("P", points, lambda x: tf.sigmoid(x[:, 0] - x[:, 1]))
        theory.axiom("forall x: P(x)")
        start = theory.individuals[0].tensor.numpy()
        assert (start >= -1).all()
        assert (start <= 2).all()
        assert (start < -0.1).any()  # not only in [0, 1]
        compiled(theory, keras.optimizers.SGD(100.0), jit_compile=jit_compile).fit(epochs=3, verbose=0)
        np.testing.assert_array_equal(theory.individuals[0].tensor, [[2.0, -1.0]] * 3)

    def test_a_simplex_keeps_them_inside(self) -> None:
        theory = ltn.Theory("product")
        colours = theory.domain("colours", shape=3, bounds="simplex")
        theory.constants("a, b", colours)
        theory.variable("x", colours)
        theory.predicate("P", colours, lambda x: x[:, 0])
        theory.axiom("forall x: P(x)")

        def assert_inside() -> None:
            table = theory.individuals[0].tensor.numpy()
            assert (table >= 0.0).all()
            assert_close(table.sum(axis=1), [1.0, 1.0])

        assert_inside()
        compiled(theory, keras.optimizers.SGD(2.0))
        for _ in range(3):
            theory.fit(verbose=0)
            assert_inside()
        assert theory.individuals[0].tensor.numpy()[:, 0].min() > 0.6

    def test_a_product_of_bounded_domains_keeps_them_inside(self) -> None:
        theory = ltn.Theory("product")
        ages = theory.domain("ages", bounds=(0, 1))
        incomes = theory.domain("incomes", bounds=(0, 2))
        theory.constants("a, b", ages * incomes)
        theory.variable("x", ages * incomes)
        theory.predicate("P", (ages, incomes), lambda args: tf.sigmoid(args[0] + args[1]))
        theory.axiom("forall x: P(x)")
        compiled(theory, keras.optimizers.SGD(1000.0)).fit(epochs=2, verbose=0)
        np.testing.assert_array_equal(theory.individuals[0].tensor, [[1.0, 2.0]] * 2)

    def test_given_constants_stay(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        theory.constants("a, b", numbers, values=[0.2, 0.4])
        theory.variable("x", numbers)
        theory.proposition("w", 0.5, trainable=True)
        theory.predicate("I", numbers, lambda x: x)
        theory.axiom("w & forall x: I(x)")
        compiled(theory).fit(epochs=2, verbose=0)
        assert_close(theory.query("x").tensor, [[0.2], [0.4]])


class TestAxiomsInPython:
    """`theory.axiom(callable)`: the whole of `core` stays usable."""

    def test_with_what_the_declarations_returned(self) -> None:
        theory = ltn.Theory()
        numbers = theory.domain("numbers", bounds=(0, 1))
        a, _ = theory.constants("a, b", numbers, values=[0.2, 0.4], trainable=True)
        x = theory.variable("x", numbers)
        I = theory.predicate("I", numbers, lambda x: x)  # noqa: E741
        w = theory.proposition("w", 0.5, trainable=True)
        _, And, _, _, _, Forall, _, _ = ltn.semantics.stable_product.wrap()
        theory.axiom(lambda: Forall(x, And(I(x), And(w, I(a)))), name="code")
        theory.axiom("forall x: I(x) & (w & I(a))", name="text")
        compiled(theory)
        logs = theory.fit(epochs=3, verbose=0).history
        # Not equal: the projections of the text's atoms are taken elsewhere, and rounded otherwise.
        assert_close(logs["code"], logs["text"])
        assert logs["code"][2] > logs["code"][0]
        assert theory.individuals[0].tensor.numpy().min() > 0.2

    def test_with_the_operators_of_formulas(self) -> None:
        theory = degrees([0.2, 0.6])
        x = theory.signature.variables  # the variables of the language
        assert list(x) == ["x", "y"]
        w = theory.proposition("w", 0.5, trainable=True)
        v = theory.proposition("v", 0.25)
        theory.axiom(lambda: ~w | v, name="code")
        theory.axiom("~w | v", name="text")
        report = compiled(theory).report().satisfaction
        assert report[0] == report[1]

    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_with_data_variables_and_diag(self, jit_compile: bool) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        labels = theory.domain("labels")
        x, y = theory.variables("x, y", points)
        n = theory.variable("l", labels)
        P = theory.predicate("P", points, ltn.Predicate.MLP([2], (4,)))
        Equal = theory.predicate(
            "Equal", (points, points), lambda args: tf.exp(-tf.norm(args[0] - args[1], axis=1))
        )
        One = ltn.Predicate.Lambda(lambda number: number == 1.0)
        Not, And, _, _, _, Forall, _, _ = ltn.semantics.stable_product.wrap()
        theory.axiom(lambda: Forall(ltn.diag(x, n), P(x), mask=One(n)), name="code")
        theory.axiom("forall diag(x, l) where l = 1: P(x)", name="text")
        theory.axiom(lambda: Forall(ltn.diag(x, y), And(P(x), Not(Equal([x, y])))), name="code2")
        theory.axiom("forall diag(x, y): P(x) & ~Equal(x, y)", name="text2")
        compiled(theory, jit_compile=jit_compile)
        data = DATA | {"y": OTHERS["x"][[0, 1, 2, 3, 4, 5, 6, 0, 1, 2]]}
        # XLA compiles again for each size of a batch.
        logs = theory.fit(data, batch_size=10 if jit_compile else 4, epochs=2, verbose=0).history
        for number in ("", "2"):
            assert_close(logs[f"code{number}"], logs[f"text{number}"])
        assert np.ptp(logs["code"]) > 1e-3  # it learns

    def test_and_text_share_a_fit(self) -> None:
        theory = compiled(slim())
        z = theory.variable("z", theory.signature.domains["points"])
        A: Any = theory.symbols["A"]
        Forall = ltn.semantics.stable_product.wrap().Forall
        theory.axiom(lambda: Forall(z, A(z)), name="code")
        history = theory.fit(POINTS | {"z": DATA["x"]}, verbose=0).history
        assert set(history) == {"loss", "satisfaction", "all", "code"}

    def test_missing_data_are_named_before_training(self) -> None:
        theory = compiled(classifier())
        z = theory.variable("z", theory.signature.domains["points"])
        A: Any = theory.symbols["A"]
        theory.axiom(lambda: ltn.semantics.stable_product.wrap().Forall(z, A(z)), name="all")
        before = weights_of(theory)
        with pytest.raises(ltn.LogicValueError, match="'z' has no individuals"):
            theory.fit(DATA, verbose=0)
        assert int(theory.optimizer.iterations) == 0
        for mine, theirs in zip(theory.get_weights(), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    @pytest.mark.parametrize("result", [0.5, "open"])
    def test_what_is_no_closed_formula_is_refused(self, result: Any) -> None:
        theory = degrees([0.2, 0.6])
        z = theory.variable("z", theory.signature.domains["numbers"])
        I: Any = theory.symbols["I"]  # noqa: E741
        theory.axiom(lambda: I(z) if result == "open" else result, name="wrong")
        compiled(theory)
        with pytest.raises(ltn.LogicTypeError, match="'wrong' must return a closed"):
            theory.report()

    @pytest.mark.parametrize("semantics", ["stable_product", "log_product"])
    def test_their_truth_is_checked_before_training_and_in_reports(self, semantics: str) -> None:
        theory = degrees([0.2, 0.6], semantics)
        theory.axiom(lambda: ltn.Formula(tf.constant(7.0), []), name="wrong")
        compiled(theory)
        problem = r"axiom 'wrong' must lie in \[0, 1\]; got 7 .*Python"
        with pytest.raises(ltn.LogicValueError, match=problem):
            theory.report()
        with pytest.raises(ltn.LogicValueError, match=problem):
            theory.fit(verbose=0)

    def test_log_product_takes_them_as_truth_values(self) -> None:
        theory = degrees([0.25, 0.64], "log_product")
        z = theory.variable("z", theory.signature.domains["numbers"])
        I: Any = theory.symbols["I"]  # noqa: E741
        theory.axiom(lambda: ltn.semantics.product.wrap().Exists(z, I(z), p=1), name="some")
        assert_close(theory.report().satisfaction[0], 0.445)
        assert_close(compiled(theory).evaluate(verbose=0, return_dict=True)["loss"], -math.log(0.445))

"""Variables and diagonals."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.tolerance import assert_close


def test_values_become_float32_and_get_a_feature_axis() -> None:
    x = ltn.Variable("x", [1, 2, 3])
    assert (x.label, x.free_vars, x.tensor.dtype, x.tensor.shape) == ("x", ["x"], tf.float32, (3, 1))
    assert ltn.Variable("x", np.zeros((3, 2, 5), np.float64)).tensor.shape == (3, 2, 5)
    assert ltn.Variable("x", []).tensor.shape == (0, 1)


def test_tensors_keep_their_gradient_link() -> None:
    values = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(ltn.Variable("x", values).tensor)
    assert tape.gradient(total, values) is not None


@pytest.mark.parametrize("label", ["diag_x", "diagonal", "_flat_x"])
def test_reserved_labels(label: str) -> None:
    with pytest.raises(ValueError, match=f"'{label}' is reserved"):
        ltn.Variable(label, [1.0])


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match=r"'x' needs a sequence of individuals; got the scalar 3\.0"):
        ltn.Variable("x", 3.0)
    with pytest.raises(TypeError, match=r"'x' is given terms.*ltn\.Variable\.from_constants"):
        ltn.Variable("x", [ltn.Constant(1.0, trainable=False)])
    with pytest.raises(TypeError, match="non-empty string; got 3"):
        ltn.Variable(3, [1.0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"one feature shape; got \[\(1,\), \(2,\)\]"):
        ltn.Variable.from_constants(
            "x", [ltn.Constant([1.0], trainable=False), ltn.Constant([1.0, 2.0], trainable=False)]
        )
    wrong: list[Any] = [[], ltn.Constant(1.0, trainable=False)]
    for constants in wrong:
        with pytest.raises(ValueError, match="must be a non-empty list of ltn"):
            ltn.Variable.from_constants("x", constants)
    with pytest.raises(TypeError, match=r"must be ltn\.Constant objects; got Variable"):
        ltn.Variable.from_constants("x", [ltn.Variable("y", [1.0])])
    with pytest.raises(TypeError, match=r"must be ltn\.Constant objects; got 3"):
        ltn.Variable.from_constants("x", [3])  # type: ignore[list-item]


class TestFromConstants:
    def constants(self, trainable: bool) -> list[ltn.Constant]:
        return [ltn.Constant([float(i), 1.0], trainable=trainable) for i in range(3)]

    def test_gradients_reach_trainable_constants(self) -> None:
        constants = self.constants(trainable=True)
        for given in (True, False):
            with tf.GradientTape() as tape:
                x = ltn.Variable.from_constants("x", constants, tape=tape if given else None)
                total = tf.reduce_sum(x.tensor**2)
            gradients = tape.gradient(total, ltn.as_tensors(constants))
            np.testing.assert_array_equal(gradients, [[0.0, 2.0], [2.0, 2.0], [4.0, 2.0]])

    def test_a_tape_that_does_not_record(self) -> None:
        never = tf.GradientTape()
        with pytest.raises(ValueError, match="`tape` is not recording"):
            ltn.Variable.from_constants("x", self.constants(trainable=True), tape=never)
        with tf.GradientTape() as ended:
            pass
        with pytest.raises(ValueError, match="`tape` is not recording"):
            ltn.Variable.from_constants("x", self.constants(trainable=True), tape=ended)

    def test_the_tape_still_records_afterwards(self) -> None:
        weight = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            before = weight * 3.0
            ltn.Variable.from_constants("x", self.constants(trainable=True), tape=tape)
            total = before + weight * 4.0
        assert float(tape.gradient(total, weight)) == 7.0

    first = ltn.Function.Lambda(lambda x: x[:, :1])

    @pytest.mark.parametrize("compiled", [False, True])
    def test_a_warning_where_the_link_is_lost(self, compiled: bool) -> None:
        learned = self.constants(trainable=True)
        x = ltn.Variable.from_constants("x", learned)._copy()

        def value() -> tf.Tensor:
            with tf.GradientTape() as tape:
                total = tf.reduce_sum(self.first(x).tensor)
            assert tape.gradient(total, [constant.tensor for constant in learned]) == [None] * 3
            return total

        with pytest.warns(UserWarning, match="'x' is built from trainable constants outside any") as caught:
            (tf.function(value) if compiled else value)()
        assert len(caught) == 1
        assert compiled or caught[0].filename == __file__

    def test_no_warning_where_the_constants_are_only_measured(self) -> None:
        learned = self.constants(trainable=True)

        def measure() -> tf.Tensor:
            return tf.reduce_sum(self.first(ltn.Variable.from_constants("x", learned)).tensor)

        # Warnings are errors.
        measure()
        compiled = tf.function(measure)
        compiled()
        for function in (measure, compiled):
            # The compiled one was traced where no tape recorded.
            with tf.GradientTape() as tape:
                total = function()
            for gradient in tape.gradient(total, [constant.tensor for constant in learned]):
                assert_close(gradient, [1.0, 0.0])
        with tf.GradientTape():
            self.first(x := ltn.Variable.from_constants("x", self.constants(trainable=False)))
        assert x.tensor.shape == (3, 2)


class TestDiag:
    def variables(self) -> tuple[ltn.Variable, ltn.Variable]:
        return ltn.Variable("x", [0.1, 0.2, 0.3]), ltn.Variable("y", [0.3, 0.4, 0.1])

    less = ltn.Predicate.Lambda(lambda args: args[0] < args[1])
    Mean = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_Mean(), "forall")

    def test_variables_share_one_axis_until_bound(self) -> None:
        x, y = self.variables()
        assert ltn.diag(x, y) == [x, y]
        formula = self.less([x, y])
        assert formula.free_vars == x.free_vars == y.free_vars == ["diag(x, y)"]
        np.testing.assert_array_equal(formula.tensor, [1.0, 1.0, 0.0])
        assert_close(self.Mean([x, y], formula).tensor, 2 / 3)
        assert (x.free_vars, y.free_vars) == (["x"], ["y"])

    def test_it_reads_as_in_the_paper(self) -> None:
        x, y = self.variables()
        for _ in range(2):
            assert_close(self.Mean(ltn.diag(x, y), self.less([x, y])).tensor, 2 / 3)
        assert_close(self.Mean((x, y), self.less([x, y])).tensor, 5 / 9)
        assert self.less([x, y]).free_vars == ["x", "y"]

    def test_binding_one_binds_the_diagonal(self) -> None:
        x, y = ltn.diag(*self.variables())
        assert self.Mean(x, self.less([x, y])).free_vars == []
        assert y.free_vars == ["y"]

    def test_undiag(self) -> None:
        x, y = ltn.diag(*self.variables())
        assert ltn.undiag(x, y) == [x, y]
        assert self.less([x, y]).free_vars == ["x", "y"]

    def test_a_locked_diagonal_survives_quantification(self) -> None:
        x, y = ltn.diag_lock(*self.variables())
        for _ in range(2):
            assert_close(self.Mean((x, y), self.less([x, y])).tensor, 2 / 3)
            assert x.free_vars == y.free_vars == ["diag(x, y)"]
        assert ltn.undiag(x)[0].free_vars == ["x"]
        assert y.free_vars == ["y"]

    def test_it_is_resolved_when_tracing(self) -> None:
        x, y = self.variables()

        @tf.function
        def value() -> tf.Tensor:
            return self.Mean(ltn.diag(x, y), self.less([x, y])).tensor

        assert_close([value(), value()], [2 / 3, 2 / 3])
        assert x.free_vars == ["x"]

    def test_diagonals_of_like_names_keep_apart(self) -> None:
        first = ltn.diag(ltn.Variable("x", [1.0]), ltn.Variable("y_z", [1.0]))[0]
        second = ltn.diag(ltn.Variable("x_y", [1.0]), ltn.Variable("z", [1.0]))[0]
        assert first.free_vars != second.free_vars

    def test_a_copy_can_be_released(self) -> None:
        x, _ = ltn.diag(*self.variables())
        copy = x._copy()
        assert copy.free_vars == x.free_vars
        assert ltn.undiag(copy)[0].free_vars == ["x"]

    def test_each_thread_has_its_own(self) -> None:
        x, y = self.variables()
        seen = []

        def combine() -> None:
            seen.append(self.Mean([x, y], self.less([x, y])).tensor)
            ltn.diag(x, y)

        with ThreadPoolExecutor(1) as pool:
            formula = self.less(ltn.diag(x, y))
            pool.submit(combine).result()
            assert_close(self.Mean([x, y], formula).tensor, 2 / 3)
        assert_close(seen, [5 / 9])
        assert x.free_vars == ["x"]

    def test_a_locked_one_is_there_for_all_threads(self) -> None:
        x, y = ltn.diag_lock(*self.variables())
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(self.less, [x, y]).result().free_vars == ["diag(x, y)"]
        assert ltn.undiag(x, y)[0].free_vars == ["x"]

    def test_a_failing_quantifier_ends_it(self) -> None:
        x, y = self.variables()
        with pytest.raises(TypeError, match="`wff` must be a formula"):
            self.Mean(ltn.diag(x, y), 0.5)  # type: ignore[arg-type]
        assert x.free_vars == ["x"]

    def test_mistakes_are_explained(self) -> None:
        x, y = ltn.diag(*self.variables())
        with pytest.raises(ValueError, match=r"'x' is already in the diagonal 'diag\(x, y\)'.*ltn\.undiag"):
            ltn.diag(x, ltn.Variable("z", [1.0, 2.0, 3.0]))
        ltn.undiag(x, y)
        with pytest.raises(ValueError, match=r"diag\(x, z\) needs .* same number of individuals; got 3, 1"):
            ltn.diag(x, ltn.Variable("z", [1.0]))
        with pytest.raises(ValueError, match="diag needs variables; got none"):
            ltn.diag()
        with pytest.raises(ValueError, match=r"distinct variables; got \['x', 'x'\]"):
            ltn.diag(x, x)
        with pytest.raises(TypeError, match=r"diag takes ltn\.Variable objects; got a float: 0\.5"):
            ltn.diag(x, 0.5)  # type: ignore[arg-type]
        assert x.free_vars == ["x"]

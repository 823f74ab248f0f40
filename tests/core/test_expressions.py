"""Expressions: named axes, selection, and what a mistake says."""

import operator
import re

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.core import broadcast_exprs, broadcast_wff_and_mask, transpose_free_vars

VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 24


@pytest.fixture
def term() -> ltn.Term:
    return ltn.Term(VALUES, ["x", "y"])


def test_an_int_drops_the_axis_and_a_list_keeps_it(term: ltn.Term) -> None:
    dropped, kept = term.take("y", 2), term.take("y", [2, 0])
    assert isinstance(dropped, ltn.Term)
    assert (dropped.free_vars, kept.free_vars) == (["x"], ["x", "y"])
    np.testing.assert_array_equal(dropped.tensor, VALUES[:, 2])
    np.testing.assert_array_equal(kept.tensor, VALUES[:, [2, 0]])
    np.testing.assert_array_equal(term.take("x", -1).tensor, VALUES[-1])
    np.testing.assert_array_equal(term.take("x", -2).tensor, VALUES[0])
    assert term.take("y", []).tensor.shape == (2, 0, 4)


def test_take_keeps_the_kind_of_expression() -> None:
    assert isinstance(ltn.Formula(VALUES[0, 0], ["x"]).take("x", 1), ltn.Formula)
    assert isinstance(ltn.Variable("x", [1.0, 2.0]).take("x", 0), ltn.Term)


def test_axis_and_size_of_a_free_variable(term: ltn.Term) -> None:
    assert [term._get_axis_of_free_var(v) for v in ("x", "y")] == [0, 1]
    assert [term._get_dim_of_free_var(v).numpy() for v in ("x", "y")] == [2, 3]
    assert term.feature_shape == (4,)


@pytest.mark.parametrize("known", [7, None])
def test_the_size_of_a_free_variable_is_a_scalar_tensor(known: int | None) -> None:
    def size(values: tf.Tensor) -> tf.Tensor:
        found = ltn.Variable("x", values)._get_dim_of_free_var("x")
        assert tf.is_tensor(found)
        assert (found.dtype, found.shape) == (tf.int32, ())
        return found

    compiled = tf.function(size, input_signature=[tf.TensorSpec((known, 3))])
    assert size(tf.zeros((7, 3))).numpy() == compiled(tf.zeros((7, 3))).numpy() == 7


def test_a_copy_is_another_object_with_the_same_content(term: ltn.Term) -> None:
    copy = term._copy()
    copy.free_vars.append("z")
    assert term.free_vars == ["x", "y"]
    np.testing.assert_array_equal(copy.tensor, term.tensor)
    assert isinstance(ltn.Variable("x", [1.0])._copy(), ltn.Variable)


def test_repr_shows_values_and_variables() -> None:
    assert repr(ltn.Formula([0.25, 0.5], ["x"])) == "Formula(tensor=[0.25 0.5 ], free_vars=['x'])"
    shown: list[str] = []

    @tf.function
    def trace(values: tf.Tensor) -> None:
        shown.append(repr(ltn.Formula(values, ["x"])))
        leaked.append(ltn.Formula(values, ["x"]))

    leaked: list[ltn.Formula] = []
    trace(tf.zeros(3))
    assert [*shown, repr(leaked[0])] == ["Formula(tensor=<shape (3,)>, free_vars=['x'])"] * 2


def test_as_tensors() -> None:
    expressions = [ltn.Variable("x", [1.0]), ltn.Constant(2.0, trainable=False)]
    assert [tensor.shape.as_list() for tensor in ltn.as_tensors(expressions)] == [[1, 1], [1]]


def test_broadcast_exprs_repeats_over_the_union(term: ltn.Term) -> None:
    z = ltn.Variable("z", [[7.0], [8.0]])
    first, second = broadcast_exprs([z, term])
    assert first.free_vars == second.free_vars == ["z", "x", "y"]
    np.testing.assert_array_equal(second.tensor, np.broadcast_to(VALUES, (2, 2, 3, 4)))
    np.testing.assert_array_equal(first.tensor[:, 1, 2], [[7.0], [8.0]])
    assert z.tensor.shape == (2, 1)
    assert broadcast_exprs([z, term], in_place=True)[0] is z
    assert z.tensor.shape == (2, 2, 3, 1)


def test_transpose_free_vars(term: ltn.Term) -> None:
    turned = transpose_free_vars(term, ["y", "x"])
    np.testing.assert_array_equal(turned.tensor, VALUES.transpose(1, 0, 2))
    assert term.free_vars == ["x", "y"]
    transpose_free_vars(term, ["y", "x"], in_place=True)
    assert term.free_vars == ["y", "x"]
    for wrong in (["y"], ["x"], ["x", "z"], ["x", "x"], ["x", "y", "y"]):
        with pytest.raises(ValueError, match=re.escape(f"permutation of ['y', 'x']; got {wrong}.")):
            transpose_free_vars(term, wrong)


def test_broadcast_wff_and_mask_puts_the_masks_variables_first() -> None:
    wff, mask = ltn.Formula(VALUES[0], ["x", "y"]), ltn.Formula(np.zeros((4, 2)), ["y", "z"])
    broadcast = broadcast_wff_and_mask(wff, mask)
    assert broadcast.free_vars == ["y", "z", "x"]
    np.testing.assert_array_equal(broadcast.tensor, np.stack([VALUES[0].T] * 2, axis=1))


def test_a_constant_is_not_broadcast_in_place() -> None:
    with pytest.raises(ltn.LogicError, match="use in_place=False"):
        broadcast_exprs([ltn.Constant(1.0, trainable=True), ltn.Variable("x", [1.0])], in_place=True)


def test_connectives_align_without_copying_operands() -> None:
    @tf.function
    def both(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return (ltn.Formula(x, ["x"]) & ltn.Formula(y, ["y"])).tensor

    operations = {
        op.type for op in both.get_concrete_function(tf.zeros(3), tf.zeros(4)).graph.get_operations()
    }
    assert not operations & {"Tile", "BroadcastTo"}
    assert "ExpandDims" in operations
    assert both(tf.zeros(3), tf.zeros(4)).shape == (3, 4)


def test_mistakes_are_explained() -> None:
    x = ltn.Formula([0.1, 0.2], ["x"])
    with pytest.raises(ValueError, match=r"'z' is not a free variable of this expression; they are \['x'\]"):
        x.take("z", 0)
    with pytest.raises(ValueError, match="out of range: 'x' has 2 individuals"):
        x.take("x", 2)
    with pytest.raises(ValueError, match="`indices` -3 are out of range"):
        x.take("x", -3)
    for wrong in (1.9, [True, False], slice(0, 2), "a"):
        with pytest.raises(TypeError, match="an int or a list of ints; got"):
            x.take("x", wrong)  # type: ignore[arg-type]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 2 is not in \[0, 2\)"):
        tf.function(lambda i: x.take("x", i).tensor)(tf.constant(2))
    with pytest.raises(ValueError, match=r"one axis per free variable.*\(2,\)"):
        ltn.Term([1.0, 2.0], ["x", "y"])
    with pytest.raises(ValueError, match=r"no features.*\(2, 1\)"):
        ltn.Formula([[0.1], [0.2]], ["x"])
    with pytest.raises(ValueError, match=r"distinct; got \['x', 'x'\]"):
        ltn.Formula([[0.1]], ["x", "x"])
    with pytest.raises(ValueError, match=r"'x' must have the same number of individuals.*labels\); got 2, 3"):
        x & ltn.Formula([0.1, 0.2, 0.3], ["x"])
    with pytest.raises(TypeError, match=r"operand 2 is a float: 0\.5"):
        x & 0.5  # type: ignore[operator]
    for combine in (operator.and_, operator.or_, operator.rshift):
        with pytest.raises(TypeError, match=r"operand 1 is a float: 0\.5"):
            combine(0.5, x)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x)
    with pytest.raises(TypeError, match="Expected numbers of one shape; got 'abc'"):
        ltn.Term("abc", [])


class TestAsArrays:
    def test_numpy_reads_the_tensor(self) -> None:
        x = ltn.Variable("x", [[1.0, 2.0], [3.0, 4.0]])
        for array in (x.numpy(), np.asarray(x), np.array(x)):
            assert array.dtype == np.float32
            np.testing.assert_array_equal(array, [[1.0, 2.0], [3.0, 4.0]])
        assert np.asarray(x, dtype=np.float64).dtype == np.float64

    def test_tensorflow_keeps_the_gradient(self) -> None:
        c = ltn.Constant([1.0, 2.0], trainable=True)
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.square(c))
        np.testing.assert_array_equal(tape.gradient(total, c.tensor), [2.0, 4.0])

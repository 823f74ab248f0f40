"""Addition of numbers with three digits: a guard over a million combinations that no step searches."""

import keras
import numpy as np
import tensorflow as tf

import ltn
from tests.tolerance import assert_close

NAMES = ["x1", "x2", "x3", "y1", "y2", "y3"]


def three_digits() -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_exists=1)
    images, digits = theory.domain("images", shape=4), theory.domain("digits", values=range(10))
    theory.variables("x1, x2, x3, y1, y2, y3", images)
    theory.variables("d1, d2, d3, e1, e2, e3", digits)
    theory.variable("n", theory.domain("results"))
    network = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)])
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))
    pairs = [f"digit({image}{i}, {digit}{i})" for image, digit in ("xd", "ye") for i in (1, 2, 3)]
    theory.axiom(
        "forall diag(x1, x2, x3, y1, y2, y3, n): exists d1, d2, d3, e1, e2, e3 where "
        f"100 * d1 + 10 * d2 + d3 + 100 * e1 + 10 * e2 + e3 = n: {' & '.join(pairs)}"
    )
    return theory


def test_a_training_step_of_three_digit_addition_has_no_mask_of_all_combinations() -> None:
    theory = three_digits()
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(theory.trainable_variables)

    def step(data: dict[str, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = 1.0 - theory(data)["satisfaction"][0]
        weights = theory.trainable_variables
        optimizer.apply(tape.gradient(loss, weights), weights)
        return loss

    specs = {name: tf.TensorSpec([32, 4]) for name in NAMES} | {"n": tf.TensorSpec([32, 1])}
    graph = tf.function(step).get_concrete_function(specs).graph
    operations = graph.get_operations()
    assert not [op for op in operations if op.type == "Where"]
    # The sorted combinations are given to the step, neither computed nor stored in it; to give them another
    # shape costs nothing.
    computed = [out for op in operations if op.type not in ("Placeholder", "Reshape") for out in op.outputs]
    sizes = [out.shape.num_elements() for out in computed if out.shape.rank is not None]
    assert max(size for size in sizes if size is not None) < 10**4
    assert 10**6 in [given.shape.num_elements() for given in graph.inputs]


def test_three_digit_addition_gives_the_sum_over_all_solutions() -> None:
    theory = three_digits()
    rng = np.random.default_rng(0)
    data = {name: rng.normal(size=(3, 4)).astype(np.float32) for name in NAMES}
    n = [0, 1998, 731]
    truths = [theory.query("digit(x1, d1)", x1=data[name]).tensor.numpy() for name in NAMES]
    first, second = (np.einsum("bi,bj,bk->bijk", *truths[i : i + 3]).reshape(3, -1) for i in (0, 3))
    means = [
        np.mean([first[row, s - t] * second[row, t] for t in range(1000) if 0 <= s - t < 1000])
        for row, s in enumerate(n)
    ]
    table = theory.explain(theory.axiom_list[0].name, data | {"n": n}, semantics="product", p_exists=1)
    assert_close(np.sort(table["truth"]), np.sort(means))

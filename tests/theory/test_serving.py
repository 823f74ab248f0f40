"""What is exported gives the same values in plain TensorFlow, without this library."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests.tolerance import assert_close

pytestmark = [
    pytest.mark.usefixtures("grappler"),
    # Keras, on NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

POINTS = np.linspace(-1.0, 1.0, 10, dtype="float32").reshape(5, 2)
CLASSES = np.array([[0.0], [1.0], [2.0], [1.0], [0.0]], "float32")

# One process for all of them: it starts TensorFlow, and must not find this library.
PROGRAM = """
import json, sys
import numpy as np
import tensorflow as tf

folder = sys.argv[1]
points, classes = (np.array(each, "float32") for each in json.loads(sys.argv[2]))
theory = tf.saved_model.load(folder + "/theory")
model = tf.saved_model.load(folder + "/model")
closed = tf.saved_model.load(folder + "/closed")
found = {
    "P": theory.P(points, classes),
    "near": theory.near(points, points[::-1]),
    "move": theory.move(points),
    **theory.serve({"x": points}),
    "model": model.serve(points),
    "served": theory.signatures["P"](argument_1=points, argument_2=classes)["output_0"],
    "closed": closed.serve()["A"],
}
assert "ltn" not in sys.modules
print(json.dumps({name: value.numpy().tolist() for name, value in found.items()}))
"""


def classifier() -> keras.Model:
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])


def theory_about(network: keras.Model) -> ltn.Theory:
    theory = ltn.Theory("log_product")
    points, classes = theory.domain("points", shape=2), theory.domain("classes", values=["a", "b", "c"])
    theory.variable("x", points)
    theory.variable("k", classes)
    theory.predicate("P", (points, classes), ltn.Predicate.FromLogits(network, "softmax"))
    theory.predicate("near", (points, points), ltn.Predicate.MLP([2, 2], (4,)))
    theory.function("move", points, points, ltn.Function.MLP([2], 2, (4,)))
    theory.axioms("some: forall x: exists k: P(x, k) & ~P(x, a)\nstill: forall x: near(x, move(x))")
    return theory


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], ltn.Theory, keras.Model]:
    """What the exported files gave elsewhere; and the theory and the model, trained."""
    folder = tmp_path_factory.mktemp("exported")
    keras.utils.set_random_seed(0)
    network = classifier()
    theory = theory_about(network)
    theory.compile("adam")
    theory.fit({"x": POINTS}, verbose=0)
    theory["some"].weight = 3.0
    theory.set_hyperparameters("some", p_exists=2)
    theory.set_hyperparameters(p_exists=3)
    model = ltn.with_knowledge(network, theory)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(POINTS, CLASSES, verbose=0)
    theory.export(folder / "theory", verbose=False)
    model.export(folder / "model", verbose=False)
    closed = ltn.Theory()
    closed.proposition("A", 0.25, trainable=True)
    closed.axiom("A", name="A")
    closed.export(folder / "closed", verbose=False)
    given = json.dumps([POINTS.tolist(), CLASSES.tolist()])
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(folder), given],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), theory, model


def test_predicates_and_functions(found: tuple[dict[str, Any], ltn.Theory, keras.Model]) -> None:
    served, theory, _ = found
    theory.variable("y", theory.signature.domains["points"])
    rows = np.arange(len(POINTS))
    table = theory.query("P(x, k)", x=POINTS).tensor.numpy()
    assert_close(served["P"], table[rows, CLASSES[:, 0].astype(int)])
    assert served["served"] == served["P"]
    near = theory.query("near(x, y)", x=POINTS, y=POINTS[::-1]).tensor.numpy()
    assert_close(served["near"], near[rows, rows])
    assert_close(served["move"], theory.query("move(x)", x=POINTS).tensor)


def test_the_satisfaction_and_the_axioms(found: tuple[dict[str, Any], ltn.Theory, keras.Model]) -> None:
    served, theory, _ = found
    for name, value in theory.call({"x": POINTS}).items():
        assert_close(served[name], value)
    assert_close(served["closed"], [0.25])


def test_a_model_with_knowledge(found: tuple[dict[str, Any], ltn.Theory, keras.Model]) -> None:
    served, _, model = found
    assert_close(served["model"], model.predict(POINTS, verbose=0))


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ltn.LogicValueError, match="'tf_saved_model'; got format='onnx'"):
        theory_about(classifier()).export(tmp_path / "theory", format="onnx")
    assert not (tmp_path / "theory").exists()

"""A first classifier from two axioms: every point inside the circle is in A, every other one is not.

    python -m examples.demo

Prints satisfaction and accuracy, and writes a picture of the learned predicate to results/demo.png.
"""

from pathlib import Path

import keras
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

import ltn

RADIUS = 0.3
EPOCHS = 1000
PICTURE = Path("results/demo.png")

Not, And, Or, Implies, Equiv, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()


def inside(points: np.ndarray) -> np.ndarray:
    """Which points lie in the circle around the centre of the unit square."""
    return np.linalg.norm(points - 0.5, axis=1) < RADIUS


def satisfaction(A: ltn.Predicate, points: np.ndarray) -> tf.Tensor:
    """How well the predicate satisfies the two axioms on the points."""
    positive = ltn.Variable("positive", points[inside(points)])
    negative = ltn.Variable("negative", points[~inside(points)])
    return SatAgg([Forall(positive, A(positive)), Forall(negative, Not(A(negative)))]).tensor


def train(A: ltn.Predicate, points: np.ndarray) -> None:
    """Make the axioms true."""
    optimizer = keras.optimizers.Adam(0.002)
    optimizer.build(A.trainable_variables)

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = 1.0 - satisfaction(A, points)
        gradients = tape.gradient(loss, A.trainable_variables)
        optimizer.apply_gradients(zip(gradients, A.trainable_variables, strict=True))
        return 1.0 - loss

    for epoch in range(1, EPOCHS + 1):
        value = step()
        if epoch % 200 == 0:
            print(f"epoch {epoch:5d}   satisfaction {float(value):.3f}")


def draw(A: ltn.Predicate, points: np.ndarray, path: Path) -> None:
    """A map of the truth of A over the unit square, with the training points on it."""
    ticks = np.linspace(0.0, 1.0, 101)
    x, y = np.meshgrid(ticks, ticks)
    grid = ltn.Variable("grid", np.stack([x.ravel(), y.ravel()], axis=1))
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    surface = axes.pcolormesh(x, y, tf.reshape(A(grid).tensor, x.shape), vmin=0, vmax=1, shading="gouraud")
    figure.colorbar(surface, label="truth of A(x)")
    for kind, marker, label in ((inside(points), "o", "in A"), (~inside(points), "x", "not in A")):
        colours = {"c": "white"} if marker == "x" else {"c": "white", "edgecolors": "black"}
        axes.scatter(*points[kind].T, marker=marker, label=label, s=30, **colours)
    circle = plt.Circle((0.5, 0.5), RADIUS, fill=False, linestyle="--", color="white", label="true edge of A")
    axes.add_patch(circle)
    axes.set(title="A(x), learned from two axioms", xlabel="x1", ylabel="x2", xlim=(0, 1), ylim=(0, 1))
    axes.set_aspect("equal")
    figure.legend(loc="outside lower center", ncols=3, facecolor="grey")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(picture: Path = PICTURE) -> tuple[float, float]:
    """Train, report on unseen points, draw; returns test satisfaction and accuracy."""
    keras.utils.set_random_seed(1)
    points = np.random.default_rng(1).uniform(size=(150, 2)).astype(np.float32)
    training, test = points[:100], points[100:]
    A = ltn.Predicate.MLP([2], name="A")
    train(A, training)
    unseen = float(satisfaction(A, test))
    truths = A(ltn.Variable("x", test)).tensor.numpy()
    accuracy = float(np.mean((truths > 0.5) == inside(test)))
    draw(A, training, picture)
    print(f"On {len(test)} unseen points: satisfaction {unseen:.3f}, accuracy {accuracy:.3f}")
    print(f"The learned predicate is drawn in {picture}")
    return unseen, accuracy


if __name__ == "__main__":
    main()

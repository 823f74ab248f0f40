"""Individuals by name and by index: data that tell which individuals of a domain the rows are."""

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import ltn
from tests.theory.test_replicas import replicas
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

PEOPLE = ["Ann", "Bob", "Eve", "Zoe"]
TOWNS = {"Rome": [1.0, 0.0, 2.0], "Seoul": [0.5, -1.0, 0.0]}
CLASSES = ["low", "high"]
# Six rows: who, where, and of which class.
WHO, WHERE, WHICH = [2, 0, 3, 3, 1, 2], [0, 1, 1, 0, 0, 1], [0, 1, 1, 1, 0, 0]
BY_INDEX = {"x": WHO, "u": WHERE, "c": WHICH}
BY_NAME = {
    "x": [PEOPLE[place] for place in WHO],
    "u": [list(TOWNS)[place] for place in WHERE],
    "c": [CLASSES[place] for place in WHICH],
}


def theory_of(domain_tables: int = 1, **settings: Any) -> ltn.Theory:
    """People are learned, towns have fixed features, classes are numbers."""
    theory = ltn.Theory("product", p_forall=1, **settings)
    people = theory.domain("people", shape=2)
    towns, classes = theory.domain("towns", values=TOWNS), theory.domain("classes", values=CLASSES)
    for names in np.array_split(PEOPLE, domain_tables):
        theory.constants(names.tolist(), people, trainable=True)
    theory.variables("x, y", people)
    theory.variable("u", towns)
    theory.variable("c", classes)
    kernel = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(6, 1)
    dense = keras.layers.Dense(1, "sigmoid", use_bias=False, trainable=False)
    dense.build((6,))
    dense.kernel.assign(kernel)
    inputs = [keras.Input((size,)) for size in (2, 3, 1)]
    network = keras.Model(inputs, dense(keras.layers.Concatenate()(inputs)))
    theory.predicate("lives", (people, towns, classes), network)
    theory.axiom("forall diag(x, u, c): lives(x, u, c)", name="known")
    theory.compile(keras.optimizers.SGD(1.0))
    return theory


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    keras.utils.set_random_seed(3)
    return theory_of()


def embeddings(theory: ltn.Theory) -> np.ndarray:
    return np.concatenate([table.tensor.numpy() for table in theory.individuals])


def truths(theory: ltn.Theory) -> np.ndarray:
    """lives(x, u, c) of each row, by NumPy."""
    kernel = np.linspace(-1.0, 1.0, 6)
    people, towns = embeddings(theory), np.array(list(TOWNS.values()))
    rows = np.concatenate([people[WHO], towns[WHERE], np.array(WHICH, float)[:, None]], axis=1)
    return np.asarray(1.0 / (1.0 + np.exp(-rows @ kernel)))


def slopes(theory: ltn.Theory) -> np.ndarray:
    """The gradient of the mean of these truths by the embeddings, by NumPy."""
    found, kernel = np.zeros((4, 2)), np.linspace(-1.0, 1.0, 6)[:2]
    for place, truth in zip(WHO, truths(theory), strict=True):
        found[place] += truth * (1.0 - truth) * kernel / len(WHO)
    return found


class Batches(keras.utils.PyDataset):
    """Two rows at a time."""

    def __init__(self, data: Any):
        super().__init__()
        self.data = data

    def __len__(self) -> int:
        return 3

    def __getitem__(self, number: int) -> Any:
        return ({name: np.array(column[2 * number :][:2]) for name, column in self.data.items()},)


def generator(data: Any) -> Iterator[Any]:
    batches = Batches(data)
    return (batches[number][0] for number in [0, 1, 2] * 5)


def dataset(data: Any) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(dict(data)).batch(2)


FORMS = {
    "names": BY_NAME,
    "indices": BY_INDEX,
    "both": {"x": BY_NAME["x"], "u": BY_INDEX["u"], "c": BY_NAME["c"]},
    "arrays": {name: np.array(column) for name, column in BY_NAME.items()},
    "tensors": {name: tf.constant(column) for name, column in BY_NAME.items()},
    "small integers": {name: np.array(column, np.uint8) for name, column in BY_INDEX.items()},
    "frame": pd.DataFrame(BY_NAME),
    "frame of indices": pd.DataFrame(BY_INDEX),
    "categoricals": pd.DataFrame(BY_NAME).astype("category"),
    "lone categoricals": {name: pd.Categorical(column) for name, column in BY_NAME.items()},
}


class TestForms:
    @pytest.mark.parametrize("form", FORMS)
    def test_mean_the_same_individuals(self, theory: ltn.Theory, form: str) -> None:
        found = theory.query("lives(x, u, c)", FORMS[form]).numpy()
        assert_close(found[range(6), range(6), range(6)], truths(theory))
        known = theory.evaluate(FORMS[form], verbose=0, return_dict=True)["known"]
        assert_close(known, truths(theory).mean())

    @pytest.mark.parametrize("read", [dataset, Batches, generator])
    @pytest.mark.parametrize("data", [BY_NAME, BY_INDEX], ids=["names", "indices"])
    def test_in_batches(self, theory: ltn.Theory, read: Callable[..., Any], data: Any) -> None:
        found = theory.evaluate(read(data), steps=3, verbose=0, return_dict=True)
        assert_close(found["known"], truths(theory).mean())

    @pytest.mark.parametrize("read", [dataset, Batches])
    @pytest.mark.parametrize("data", [BY_NAME, BY_INDEX], ids=["names", "indices"])
    def test_in_questions(self, theory: ltn.Theory, read: Callable[..., Any], data: Any) -> None:
        assert_close(theory.report(read(data)).satisfaction, [truths(theory).mean()])

    def test_a_number_of_a_domain_of_numbers_is_the_individual(self) -> None:
        theory = ltn.Theory()
        theory.variable("n", theory.domain("numbers", values=[4, 2, 7]))
        results = theory.domain("results")
        theory.constant("most", results)
        theory.variable("m", results)
        assert theory.query("n", n=[2, 2, 7]).numpy().tolist() == [[2.0], [2.0], [7.0]]
        assert theory.query("m", m=[3, 0]).numpy().tolist() == [[3.0], [0.0]]
        assert theory.query("m", m=["most"]).numpy().tolist() == [[float(theory.query("most").tensor[0])]]
        with pytest.raises(ltn.LogicValueError, match="not individuals of the finite domain 'numbers'"):
            theory.query("n", n=[0, 1])

    def test_features_are_still_taken(self, theory: ltn.Theory) -> None:
        features = {"x": np.zeros((6, 2)), "u": [list(TOWNS.values())[place] for place in WHERE], "c": WHICH}
        assert theory.query("u", u=features["u"]).tensor.shape == (6, 3)
        assert np.isfinite(theory.evaluate(features, verbose=0)).all()

    def test_by_the_name_of_the_domain(self, theory: ltn.Theory) -> None:
        assert_close(theory.query("x", people=["Zoe", "Ann"]).numpy(), embeddings(theory)[[3, 0]])


class TestLearning:
    @pytest.mark.parametrize("tables", [1, 2])
    @pytest.mark.parametrize("chunk", [None, 2])
    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_reaches_the_rows_of_the_batch(self, tables: int, chunk: int | None, jit_compile: bool) -> None:
        theory = theory_of(tables, chunk=chunk)
        theory.compile(keras.optimizers.SGD(1.0), jit_compile=jit_compile)
        expected = embeddings(theory) + slopes(theory)
        theory.fit(BY_INDEX, batch_size=6, verbose=0)
        assert_close(embeddings(theory), expected)

    def test_has_sparse_gradients(self, theory: ltn.Theory) -> None:
        batch = {name: tf.constant(column) for name, column in BY_INDEX.items()}
        with tf.GradientTape() as tape:
            loss = theory(batch)["known"]
        [gradient] = tape.gradient(loss, theory.trainable_variables)
        assert isinstance(gradient, tf.IndexedSlices)
        assert gradient.values.shape == (6, 2)
        assert_close(tf.convert_to_tensor(gradient), slopes(theory))

    @pytest.mark.parametrize("optimizer", ["adam", "adamw", "adagrad", "rmsprop"])
    @pytest.mark.parametrize("on_nan", ["raise", "ignore"])
    def test_is_that_of_an_embedding_layer(self, optimizer: str, on_nan: str) -> None:
        theory = theory_of()
        embedding = keras.layers.Embedding(4, 2)
        embedding.build(())
        embedding.embeddings.assign(embeddings(theory))
        kernel = np.linspace(-1.0, 1.0, 6, dtype=np.float32)[:, None]
        ours, beside = (keras.optimizers.get(optimizer) for _ in range(2))
        beside.build([embedding.embeddings])
        theory.compile(ours, on_nan=on_nan)
        # Adam of Keras does not add up the slopes of a row that comes twice before it squares them.
        rows = [[1, 2, 0], [3, 1, 2], [3, 0, 2] if optimizer == "adam" else [3, 3, 3]]
        for places in rows:
            data = {"x": places, "u": [0, 1, 1], "c": [0, 0, 1]}
            theory.fit(data, batch_size=3, verbose=0)
            with tf.GradientTape() as tape:
                others = np.concatenate([np.array(list(TOWNS.values()))[[0, 1, 1]], [[0], [0], [1]]], axis=1)
                joined = tf.concat([embedding(np.array(places)), others.astype(np.float32)], axis=1)
                loss = 1.0 - tf.reduce_mean(tf.sigmoid(joined @ kernel))
            beside.apply(tape.gradient(loss, [embedding.embeddings]))
        assert_close(embeddings(theory), embedding.embeddings.numpy())

    def test_of_adam_adds_up_the_slopes_of_a_row(self) -> None:
        theory = theory_of()
        theory.compile(keras.optimizers.Adam(0.1))
        before, slope = embeddings(theory), -slopes(theory)
        theory.fit(BY_INDEX, batch_size=6, verbose=0)
        alpha = 0.1 * np.sqrt(1.0 - 0.999) / (1.0 - 0.9)
        moved = alpha * 0.1 * slope / (np.sqrt(0.001 * slope**2) + 1e-7)
        # Betas are float32, as the numbers are.
        assert_close(embeddings(theory), before - moved, rtol=1e-4, atol=1e-5)

    def test_is_divided_among_replicas(self) -> None:
        keras.utils.set_random_seed(3)
        alone = theory_of()
        with replicas(2).scope():
            together = theory_of()
        together.individuals[0].table.assign(embeddings(alone))
        for theory in (alone, together):
            theory.compile(keras.optimizers.SGD(1.0))
            theory.fit(BY_NAME, batch_size=6, shuffle=False, verbose=0)
        assert_close(embeddings(together), embeddings(alone))

    def test_other_rules_may_take_all_individuals(self) -> None:
        theory = theory_of()
        theory.axiom("forall y: lives(y, Rome, low)")
        before = embeddings(theory)
        theory.fit(dataset(BY_NAME), verbose=0)
        assert (embeddings(theory) != before).all()

    def test_embeddings_stay_inside_their_bounds(self) -> None:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2, bounds=(0.0, 1.0))
        theory.constants("a, b, c", points)
        theory.variable("x", points)
        theory.predicate("P", points, lambda x: tf.sigmoid(tf.reduce_sum(x, axis=1)))
        theory.axiom("forall x: P(x)")
        theory.compile(keras.optimizers.Adam(10.0))
        theory.fit({"x": ["a", "c"]}, verbose=0)
        assert_close(embeddings(theory)[[0, 2]], np.ones((2, 2)))


class TestNames:
    @pytest.mark.parametrize("data", [BY_NAME, BY_INDEX, pd.DataFrame(BY_INDEX, index=list("abcdef"))])
    def test_are_shown(self, theory: ltn.Theory, data: Any) -> None:
        frame = theory.query("lives(x, Rome, low)", x=data["x"]).to_frame()
        assert frame.index.tolist() == BY_NAME["x"]
        explained = theory.explain("known", data, worst=6)
        worst = np.argsort(truths(theory), kind="stable")
        for name in ("x", "u"):
            assert explained[name].tolist() == [BY_NAME[name][row] for row in worst]
        assert_close(explained.truth, np.sort(truths(theory)))

    def test_are_learned_from_after_loading(self, theory: ltn.Theory, tmp_path: Any) -> None:
        path = str(tmp_path / "theory.keras")
        theory.save(path)
        loaded = ltn.load(path)
        assert_close(loaded.evaluate(BY_NAME, verbose=0), theory.evaluate(BY_INDEX, verbose=0))


def wrong(column: str, row: int, value: Any, data: Any = BY_NAME) -> dict[str, list[Any]]:
    cells = list(data[column])
    cells[row] = value
    return {**data, column: cells}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (wrong("x", 3, "Zoë"), r"'x' name 'Zoë' in row \d, which is no individual.*did you mean 'Zoe'"),
        (wrong("x", 3, 4, BY_INDEX), r"'x' hold the index 4 in row \d; the 4 individuals.*indices 0 to 3"),
        (wrong("u", 3, -1, BY_INDEX), r"'u' hold the index -1 in row \d; the 2 individuals.*'towns'"),
    ],
)
class TestWrongOnes:
    @pytest.mark.parametrize("read", [dict, dataset, Batches])
    def test_in_questions(
        self, theory: ltn.Theory, read: Callable[..., Any], data: Any, message: str
    ) -> None:
        with pytest.raises(ltn.LogicValueError, match=message):
            theory.report(read(data))

    @pytest.mark.parametrize("read", [dict, dataset, Batches, generator])
    def test_in_training(self, theory: ltn.Theory, read: Callable[..., Any], data: Any, message: str) -> None:
        before = embeddings(theory)
        with pytest.raises(ltn.LogicValueError, match=message):
            theory.evaluate(read(data), steps=3, verbose=0)
        assert_close(embeddings(theory), before)


def test_names_and_other_cells(theory: ltn.Theory) -> None:
    with pytest.raises(ltn.LogicTypeError, match="'x' are names of individuals; row 1 holds a float: nan"):
        theory.query("x", x=["Ann", float("nan")])
    with pytest.raises(ltn.LogicTypeError, match=r"'u' are names, which compiled code cannot look up"):
        tf.function(lambda names: theory({**BY_INDEX, "u": names}))(tf.constant(BY_NAME["u"]))


def test_domains_without_individuals() -> None:
    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    P = theory.predicate("P", points, ltn.Predicate.MLP([2]))
    theory.axiom("forall x: P(x)")
    theory.compile()
    with pytest.raises(ltn.LogicTypeError, match="'points' have no names"):
        theory.query("x", x=["Ann"])
    with pytest.raises(ltn.LogicTypeError, match="'points' have no names"):
        theory.fit(tf.data.Dataset.from_tensors({"x": ["Ann"]}), verbose=0)
    for data in ({"x": [0, 1]}, tf.data.Dataset.from_tensors({"x": [0, 1]})):
        with pytest.raises(ltn.LogicValueError, match=r"shape \(n, 2\)"):
            theory.evaluate(data, verbose=0)
    assert P is not None

"""Saving: one file holds the whole theory, and a fresh process goes on with it to the bit."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests.theory.theories import (
    Array,
    assert_same_weights,
    classifier,
    degrees,
    knowledge,
    labelled_points,
    network,
    one_weight,
    smokers,
    trained_like,
    truth,
    weights_of,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
PEOPLE = RNG.uniform(size=(7, 2)).astype(np.float32)
AGES = RNG.uniform(size=7).astype(np.float32)
DATA = {"z": PEOPLE, "n": AGES, "home": np.concatenate([PEOPLE, AGES[:, np.newaxis]], axis=1)}


def everything(semantics: str = "stable_product") -> ltn.Theory:
    """A theory with one of each."""
    settings = {"p_satagg": 3} if semantics == "stable_product" else {}
    theory = ltn.Theory(semantics, name="everything", regularizer=keras.regularizers.L2(1e-3), **settings)
    people = theory.domain("people", shape=2, bounds=(-1, 2))
    ages = theory.domain("ages", equality="smooth", alpha=0.75)
    towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
    colours = theory.domain("colours", values={"red": [1, 0], "blue": [0, 1]})
    mixtures = theory.domain("mixtures", shape=3, bounds="simplex")
    theory.constants("a, b", people, regularizer=keras.regularizers.L1(1e-3))
    theory.constants("c, d", people, values=[[0.1, 0.2], [0.3, 0.4]])
    theory.constant("e", people, [0.7, 0.1], trainable=True)
    theory.constants("m", mixtures)
    theory.variables("x, y", people)
    theory.variable("z", people)
    theory.variable("chosen", people, values=["e", "a", "a"])
    theory.variable("given", people, values=[[0.1, 0.9], [1 / 3, 0.2]])
    theory.variable("u'", towns)
    theory.variable("k", colours)
    theory.variable("n", ages)
    theory.variable("home", people * ages)
    theory.function("age", people, ages, ltn.Function.MLP([2], 1, (3,)))
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, kernel_regularizer="l2")])
    theory.predicate("lives_in", (people, towns), ltn.Predicate.FromLogits(network, "softmax"))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([2, 2], (3,)))
    logit = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    theory.predicate("bright", colours, ltn.Predicate.FromLogits(logit, "sigmoid", with_class_indexing=False))
    theory.predicate("P", mixtures, ltn.Predicate.MLP([3], (2,)))
    theory.predicate("at", (people, ages), ltn.Predicate.MLP([2, 1], (2,)))
    theory.proposition("A", 0.375, trainable=True)
    theory.proposition("B", 0.1)
    theory.axiom("A & ~B", name="propositions", weight="learned")
    theory.axioms("""
        facts: F(a, b) & ~F(c, e) & P(m)
        symmetric: forall x, y: F(x, y) -> F(y, x)
        regression: forall diag(z, n): age(z) = n
        somewhere: forall x: exists u': lives_in(x, u')
        apart: forall x, y where norm(x - y) > 0.1: F(x, y) <-> F(y, x)
        chosen: forall chosen: lives_in(chosen, Seoul) | lives_in(chosen, Rome)
        given: forall given: F(given, c)
        colours: exists k: bright(k) & bright(red)
        pairs: forall home: at(home)
    """)
    option = "[p=5]" if semantics == "stable_product" else ""
    theory.axiom(f"forall{option} x: ~F(x, x)", name="irreflexive", weight=2.5)
    return theory


# What a fresh process does with a file; its last line tells what it found.
PROGRAM = """
import json, sys
import ltn
import keras, numpy as np
data = {name: np.array(values, np.float32) for name, values in json.load(open(sys.argv[2])).items()}

def found_by(load):
    theory = load(sys.argv[1])
    report = theory.report(data)
    found = {
        "kind": type(theory).__name__,
        "satisfaction": report.satisfaction.tolist(),
        "weight": report.weight.tolist(),
        "formula": report.formula.tolist(),
        "hyperparameters": theory.hyperparameters,
        "names": theory.query("F(x, y)").to_frame().index.tolist(),
        "rate": float(theory.optimizer.learning_rate.numpy()),
    }
    if load is keras.models.load_model:
        return found
    theory.fit(data, epochs=2, shuffle=False, verbose=0)
    found["steps"] = int(theory.optimizer.iterations.numpy())
    found["weights"] = [weight.tolist() for weight in theory.get_weights()]
    return found

both = {"ltn.load": found_by(ltn.load), "load_model": found_by(keras.models.load_model)}
model = keras.models.load_model(sys.argv[3])
both["knowledge"] = {
    "predicted": model.predict(data["z"], verbose=0).tolist(),
    "shared": model.theory.symbols["P"].network is model.model,
}
print(json.dumps(both))
"""


def run(program: str, *arguments: Any) -> Any:
    """Run a program in a process of its own; the JSON that it prints last."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], env=environment, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


class Saved(NamedTuple):
    """A trained theory as it was saved, its file, and what training on would have made of it.

    `slots` are the averages of its optimizer for each weight; `after` the weights two epochs later.
    """

    theory: ltn.Theory
    path: Path
    slots: dict[Any, bytes]
    after: list[Array]


def slots_of(theory: ltn.Theory) -> dict[Any, bytes]:
    """Adam's averages by the value of the weight that they belong to."""
    pairs = zip(theory.trainable_variables, theory.optimizer._momentums, strict=True)
    return {(tuple(w.shape), np.array(w).tobytes()): np.array(average).tobytes() for w, average in pairs}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    keras.utils.set_random_seed(0)
    theory = everything()
    theory.compile(keras.optimizers.Adam(0.01))
    schedules = [
        ltn.callbacks.Schedule("p_forall", {0: 2, 1: 3}),
        ltn.callbacks.Schedule("p_exists", {0: 4}, axiom="somewhere"),
    ]
    theory.fit(DATA, epochs=2, callbacks=schedules, verbose=0)
    path = tmp_path_factory.mktemp("saved") / "everything.keras"
    theory.save(path)
    weights, slots = weights_of(theory), slots_of(theory)
    theory.fit(DATA, epochs=2, shuffle=False, verbose=0)
    after = weights_of(theory)
    theory.set_weights(weights)
    return Saved(theory, path, slots, after)


@pytest.fixture(scope="module")
def restored(saved: Saved) -> ltn.Theory:
    return ltn.load(saved.path)


class TestAFreshProcess:
    @pytest.fixture(scope="class")
    @classmethod
    def both(cls, saved: Saved) -> Any:
        data = saved.path.with_suffix(".json")
        data.write_text(json.dumps({name: values.tolist() for name, values in DATA.items()}))
        return run(PROGRAM, saved.path, data, cls.knowledge_model(saved)[1])

    @staticmethod
    def knowledge_model(saved: Saved) -> tuple[Any, Path]:
        """A classifier with knowledge, and its file beside that of the theory."""
        keras.utils.set_random_seed(1)
        classifier = network()
        model = ltn.with_knowledge(classifier, knowledge(classifier))
        path = saved.path.with_name("knowledge.keras")
        if not path.exists():
            model.save(path)
        return model, path

    @pytest.fixture(params=["ltn.load", "load_model"])
    def found(self, request: pytest.FixtureRequest, both: Any) -> Any:
        return both[request.param]

    def test_every_axiom_has_its_value_to_the_bit(self, found: Any, saved: Saved) -> None:
        report = saved.theory.report(DATA)
        assert found["kind"] == "Theory"
        assert found["formula"] == report.formula.tolist()
        assert found["satisfaction"] == report.satisfaction.tolist()
        assert found["weight"] == report.weight.tolist()
        assert found["names"] == ["a", "b", "c", "d", "e"]

    def test_the_schedules_current_values_are_there(self, found: Any, saved: Saved) -> None:
        assert found["hyperparameters"] == saved.theory.hyperparameters
        assert found["hyperparameters"]["p_forall"] == 3.0
        assert found["hyperparameters"]["somewhere.p_exists"] == 4.0
        assert found["hyperparameters"]["p_satagg"] == 3

    def test_training_goes_on_as_if_nothing_had_been_saved(self, both: Any, saved: Saved) -> None:
        found = both["ltn.load"]
        assert found["steps"] == 4
        assert found["rate"] == pytest.approx(0.01)
        # In whatever order the weights are listed.
        mine = sorted(np.ravel(weight).tolist() for weight in found["weights"])
        theirs = sorted(np.ravel(weight).tolist() for weight in saved.after)
        assert mine == theirs

    def test_a_model_with_knowledge_predicts_the_same_and_is_still_that_of_its_theory(
        self, both: Any, saved: Saved
    ) -> None:
        model, _ = self.knowledge_model(saved)
        found = both["knowledge"]
        assert found["shared"]
        np.testing.assert_array_equal(
            np.array(found["predicted"], np.float32), model.predict(PEOPLE, verbose=0)
        )


class TestWhatIsRestored:
    def test_the_optimizer_knows_each_weight_again(self, saved: Saved) -> None:
        assert len(saved.slots) > 20
        assert slots_of(ltn.load(saved.path)) == saved.slots

    def test_the_description(self, saved: Saved, restored: ltn.Theory) -> None:
        texts: list[list[str]] = [[], []]
        for theory, lines in zip((saved.theory, restored), texts, strict=True):
            theory.summary(print_fn=lines.append)
        assert texts[0] == texts[1]
        assert repr(restored) == repr(saved.theory)

    def test_domains(self, restored: ltn.Theory) -> None:
        domains = restored.signature.domains
        assert domains["ages"].equality == "smooth"
        assert domains["ages"].alpha == 0.75
        assert domains["people"].bounds == (-1.0, 2.0)
        assert domains["mixtures"].bounds == "simplex"
        assert domains["towns"].names == ("Rome", "Seoul", "Lima")

    def test_queries(self, saved: Saved, restored: ltn.Theory) -> None:
        for query in (
            "lives_in(x, u')",
            "age(chosen) = age(given)",
            "bright(k)",
            "P(m)",
            "A | B",
            "x",
            "blue",
        ):
            mine, theirs = restored.query(query), saved.theory.query(query)
            np.testing.assert_array_equal(mine.tensor, theirs.tensor)
            assert mine.to_frame().equals(theirs.to_frame())

    def test_explanations(self, saved: Saved, restored: ltn.Theory) -> None:
        assert restored.explain("symmetric").equals(saved.theory.explain("symmetric"))

    def test_regularizers(self, restored: ltn.Theory) -> None:
        logs = restored.evaluate(DATA, verbose=0, return_dict=True)
        learned = [np.array(weight, np.float64) for weight in restored.trainable_variables]
        dense = restored.symbols["lives_in"].network.layers[0]
        expected = (
            1e-3 * sum(np.sum(np.square(weight)) for weight in learned)
            + 0.01 * np.sum(np.square(np.array(dense.kernel, np.float64)))
            + 1e-3 * np.sum(np.abs(np.array(restored.individuals[0].table, np.float64)))
        )
        # The difference of two float32 of about 0.5.
        assert logs["loss"] - (1.0 - logs["satisfaction"]) == pytest.approx(expected, abs=2e-6)

    def test_constraints_and_room_for_more(self, tmp_path: Path) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2, bounds=(-1, 2))
        mixtures = theory.domain("mixtures", shape=3, bounds="simplex")
        theory.constant("a", people)
        theory.constant("m", mixtures)
        theory.proposition("A", 0.5, trainable=True)
        theory.predicate("P", (people, mixtures), ltn.Predicate.MLP([2, 3], (2,)))
        theory.axiom("P(a, m) & A", name="fact")
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        with pytest.raises(ltn.LogicValueError, match="already an axiom 'fact'"):
            loaded.axiom("A", name="fact")
        loaded.axiom("~P(a, m) | A", name="more")
        loaded.compile(keras.optimizers.SGD(1e4))
        assert "more" in loaded.fit(epochs=2, verbose=0).history
        moved = loaded.query("a").tensor.numpy()
        assert (np.abs(moved - 0.5) <= 1.5).all()
        assert (moved != theory.query("a").tensor.numpy()).all()
        assert loaded.query("m").tensor.numpy().sum() == pytest.approx(1.0, abs=1e-6)
        assert 0.0 <= truth(loaded, "A") <= 1.0

    def test_given_constants_are_still_given(self, saved: Saved, restored: ltn.Theory) -> None:
        assert len(restored.trainable_variables) == len(saved.theory.trainable_variables)
        assert len(restored.non_trainable_variables) == 1

    def test_saving_changes_nothing_and_can_be_repeated(
        self, saved: Saved, restored: ltn.Theory, tmp_path: Path
    ) -> None:
        restored.save(tmp_path / "again.keras")
        again = ltn.load(tmp_path / "again.keras")
        assert again.report(DATA).equals(saved.theory.report(DATA))

    def test_log_product(self, tmp_path: Path) -> None:
        theory = everything("log_product")
        theory.set_hyperparameters(p_exists=2)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.report(DATA).equals(theory.report(DATA))
        assert loaded.hyperparameters == {"p_exists": 2.0}

    @pytest.mark.parametrize("semantics", ["product", "godel", "lukasiewicz"])
    def test_every_preset(self, semantics: str, tmp_path: Path) -> None:
        theory = smokers(semantics)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.semantics == theory.semantics
        assert loaded.report().equals(theory.report())

    def test_own_operators(self, tmp_path: Path) -> None:
        semantics = ltn.semantics.product.replace(
            Implies=ltn.fuzzy_ops.Implies_Sigmoidal(ltn.fuzzy_ops.Implies_Godel(), s=4.0),
            Forall=ltn.fuzzy_ops.Aggreg_Mean(),
        )
        theory = smokers(semantics)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.semantics == semantics
        assert loaded.report().equals(theory.report())

    def test_settings_of_the_compilation(self, tmp_path: Path) -> None:
        theory = one_weight()
        rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
        theory.compile(keras.optimizers.SGD(rate, momentum=0.5, clipnorm=0.25), run_eagerly=True)
        theory.fit(epochs=3, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.run_eagerly
        assert loaded.optimizer.clipnorm == 0.25
        assert float(loaded.optimizer.learning_rate) == pytest.approx(0.0125)
        for mine in (theory, loaded):
            mine.fit(epochs=2, verbose=0)
        assert_same_weights(theory, loaded)

    def test_a_theory_that_was_never_compiled(self, tmp_path: Path) -> None:
        theory = smokers()
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert not loaded.compiled
        assert loaded.report().equals(theory.report())

    def test_a_theory_that_was_compiled_but_not_trained(self, tmp_path: Path) -> None:
        theory = one_weight()
        theory.compile(keras.optimizers.Adam(0.01))
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")  # warnings are errors
        for mine in (theory, loaded):
            mine.fit(epochs=2, verbose=0)
        assert theory.report().equals(loaded.report())

    def test_an_empty_theory(self, tmp_path: Path) -> None:
        ltn.Theory(name="void").save(tmp_path / "theory.keras")
        assert repr(ltn.load(tmp_path / "theory.keras")) == "<Theory 'void': empty>"

    def test_paths_may_be_text(self, tmp_path: Path) -> None:
        one_weight().save(str(tmp_path / "theory.keras"))
        assert truth(ltn.load(str(tmp_path / "theory.keras")), "w") == 0.5


class TestSharedNetworks:
    """Networks that two symbols share are shared again, or they would drift apart in training."""

    def together(
        self, tmp_path: Path, declare: Callable[[ltn.Theory, Any], None]
    ) -> tuple[ltn.Theory, ltn.Theory]:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variable("x", points)
        declare(theory, points)
        theory.axiom("forall x: P(x)")
        theory.axiom("forall x: ~Q(x)")
        theory.compile(keras.optimizers.Adam(0.05))
        data = {"x": PEOPLE}
        theory.fit(data, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.count_params() == theory.count_params()
        for mine in (theory, loaded):
            mine.fit(data, epochs=2, shuffle=False, verbose=0)
        assert theory.report(data).equals(loaded.report(data))
        return theory, loaded

    def test_one_predicate_under_two_names(self, tmp_path: Path) -> None:
        P = ltn.Predicate.MLP([2], (3,))

        def declare(theory: ltn.Theory, points: Any) -> None:
            theory.predicate("P", points, P)
            theory.predicate("Q", points, P)

        self.together(tmp_path, declare)

    def test_two_predicates_on_one_network(self, tmp_path: Path) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])

        def declare(theory: ltn.Theory, points: Any) -> None:
            theory.predicate("P", points, network)
            theory.predicate("Q", points, network)

        _, loaded = self.together(tmp_path, declare)
        assert loaded.symbols["P"].network is loaded.symbols["Q"].network


class TestOrderOfDeclarations:
    """Parts may be declared in any order; Adam's averages belong to the weight that they were of."""

    @pytest.mark.parametrize(
        "order",
        [("predicate", "constants", "proposition"), ("proposition", "predicate", "constants")],
        ids=" ".join,
    )
    def test_training_goes_on(self, order: tuple[str, ...], tmp_path: Path) -> None:
        theory = ltn.Theory()
        people = theory.domain("people", shape=2)
        declare: dict[str, Callable[[], Any]] = {
            "constants": lambda: theory.constants("a, b", people),
            "predicate": lambda: theory.predicate("P", people, ltn.Predicate.MLP([2], (2,))),
            "proposition": lambda: theory.proposition("A", 0.5, trainable=True),
        }
        for part in order:
            declare[part]()
        theory.axiom("P(a) & ~P(b) & A")
        self.check(theory, tmp_path)

    def test_also_where_all_weights_have_one_shape(self, tmp_path: Path) -> None:
        """Nothing but the values would tell that two averages were swapped."""
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers")
        # One weight of shape (1, 1) each: a network without a bias, then a constant.
        network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, "sigmoid", use_bias=False)])
        theory.predicate("P", numbers, network)
        theory.constant("a", numbers, 0.75, trainable=True)
        theory.axiom("P(a)")
        self.check(theory, tmp_path)

    def check(self, theory: ltn.Theory, tmp_path: Path) -> None:
        theory.compile(keras.optimizers.Adam(0.05))
        theory.fit(epochs=2, verbose=0)
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.report().equals(theory.report())
        for one in (theory, loaded):
            one.fit(epochs=2, verbose=0)
        assert loaded.report().equals(theory.report())


@keras.saving.register_keras_serializable(package="tests")
class Similarity(keras.layers.Layer):
    """A custom layer: exp(-scale |x - y|), with a learned scale."""

    def __init__(self, start: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(
            shape=(), initializer=keras.initializers.Constant(self.start), name="scale"
        )

    def call(self, inputs: Any) -> Any:
        distance = tf.reduce_sum(tf.abs(inputs[0] - inputs[1]), axis=-1)
        return tf.exp(-tf.nn.softplus(self.scale) * distance)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "start": self.start}


@keras.saving.register_keras_serializable(package="tests")
def first_feature(x: Any) -> Any:
    """A registered function."""
    return x[:, 0]


@keras.saving.register_keras_serializable(package="tests")
class Threshold:
    """A registered callable object with a configuration."""

    def __init__(self, at: float):
        self.at = at

    def __call__(self, x: Any) -> Any:
        return x[:, 1] > self.at

    def get_config(self) -> dict[str, Any]:
        return {"at": self.at}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Threshold":
        return cls(**config)


def plain_function(x: Any) -> Any:
    return x[:, 0]


class TestGroundings:
    def theory(self, **groundings: Any) -> ltn.Theory:
        theory = ltn.Theory()
        points = theory.domain("points", shape=2)
        theory.variables("x, y", points, PEOPLE)
        for name, grounding in groundings.items():
            theory.predicate(name, (points, points) if name == "Pair" else points, grounding)
        return theory

    def saved(self, theory: ltn.Theory, tmp_path: Path) -> ltn.Theory:
        theory.save(tmp_path / "theory.keras")
        return ltn.load(tmp_path / "theory.keras")

    def test_custom_layers_that_are_registered(self, tmp_path: Path) -> None:
        theory = self.theory(Pair=Similarity(0.25))
        theory.axiom("forall x: exists y: Pair(x, y)")
        theory.compile(keras.optimizers.SGD(0.5))
        theory.fit(verbose=0)
        loaded = self.saved(theory, tmp_path)
        assert loaded.report().equals(theory.report())
        assert isinstance(loaded.symbols["Pair"].network, Similarity)

    def test_registered_functions_and_objects(self, tmp_path: Path) -> None:
        theory = self.theory(F=first_feature, T=Threshold(0.25))
        theory.axiom("forall x where T(x): F(x)")
        loaded = self.saved(theory, tmp_path)
        assert loaded.report().equals(theory.report())
        assert loaded.symbols["F"].network is first_feature
        assert loaded.symbols["T"].network.at == 0.25

    @pytest.mark.parametrize("grounding", [lambda x: x[:, 0], plain_function], ids=["lambda", "function"])
    def test_plain_callables_are_named(self, grounding: Any, tmp_path: Path) -> None:
        theory = self.theory(P=grounding, Q=ltn.Predicate.MLP([2]), R=ltn.Predicate.Lambda(grounding))
        with pytest.raises(ltn.LogicValueError, match=r"P, R are Python code.*register.*save_weights"):
            theory.save(tmp_path / "theory.keras")

    def test_a_refusal_does_no_harm_to_an_earlier_file(self, tmp_path: Path) -> None:
        path = tmp_path / "theory.keras"
        theory = self.theory(Q=ltn.Predicate.MLP([2]))
        theory.axiom("exists x: Q(x)")
        theory.save(path)
        before = theory.report()
        theory.predicate("P", theory.signature.domains["points"], plain_function)
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            theory.save(path)
        assert ltn.load(path).report().equals(before)

    def test_classifiers_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        theory = self.theory()
        points, classes = theory.signature.domains["points"], theory.domain("classes", values=["u", "v"])
        theory.predicate("C", (points, classes), ltn.Predicate.FromLogits(lambda args: args[0], "softmax"))
        with pytest.raises(ltn.LogicValueError, match="C are Python code"):
            theory.save(tmp_path / "theory.keras")

    def test_functions_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        theory = self.theory()
        points = theory.signature.domains["points"]
        theory.function("double", points, points, lambda x: 2.0 * x)
        with pytest.raises(ltn.LogicValueError, match="double are Python code"):
            theory.save(tmp_path / "theory.keras")

    def test_lambda_layers_are_named(self, tmp_path: Path) -> None:
        network = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x[:, 0])])
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            self.theory(P=network).save(tmp_path / "theory.keras")
        nested = keras.Sequential([keras.Input((2,)), network])
        with pytest.raises(ltn.LogicValueError, match="P are Python code"):
            self.theory(P=nested).save(tmp_path / "theory.keras")

    def test_networks_with_plain_callables_inside_are_named(self, tmp_path: Path) -> None:
        """Else the file would be written, and could never be read."""
        dense = keras.layers.Dense(1, activation=lambda x: tf.sigmoid(2.0 * x))
        theory = self.theory(P=keras.Sequential([keras.Input((2,)), dense]))
        with pytest.raises(ltn.LogicValueError, match="P"):
            theory.save(tmp_path / "theory.keras")

    def test_regularizers_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        def penalty(weight: Any) -> Any:
            return 0.1 * tf.reduce_sum(tf.square(weight))

        with pytest.raises(ltn.LogicValueError, match="regularizer"):
            one_weight(regularizer=penalty).save(tmp_path / "theory.keras")

        class Unregistered(keras.regularizers.Regularizer):
            def __call__(self, x: Any) -> Any:
                return penalty(x)

        theory = ltn.Theory()
        # Keras 3.8 takes no plain callable for a weight.
        theory.constants("a, b", theory.domain("people", shape=2), regularizer=Unregistered())
        with pytest.raises(ltn.LogicValueError, match=r"regularizer.*a, b"):
            theory.save(tmp_path / "theory.keras")

    def test_an_initializer_has_done_its_work(self, tmp_path: Path) -> None:
        """Whatever it was, the file holds the values."""
        theory = ltn.Theory()
        theory.constants(
            "a, b",
            theory.domain("people", shape=2),
            initializer=lambda shape, dtype=None: tf.fill(shape, 0.3),
        )
        loaded = self.saved(theory, tmp_path)
        np.testing.assert_array_equal(loaded.query("b").tensor, theory.query("b").tensor)

    def test_the_ready_made_predicates_are_saved(self, tmp_path: Path) -> None:
        """`ltn.utils` is part of the library: a fresh process that has imported it knows them."""
        theory = self.theory(Pair=ltn.utils.Pred_equal_smooth_exp(0.5))
        theory.axiom("forall x: exists y: Pair(x, y)")
        assert self.saved(theory, tmp_path).report().equals(theory.report())

    def test_operators_that_are_plain_callables_are_named(self, tmp_path: Path) -> None:
        semantics = ltn.semantics.product.replace(And=lambda x, y: tf.minimum(x, y))
        theory = one_weight(semantics=semantics)
        with pytest.raises(ltn.LogicValueError, match="`And` cannot be saved"):
            theory.save(tmp_path / "theory.keras")


class TestAxiomsInPython:
    def theory(self) -> ltn.Theory:
        theory = classifier()
        w = theory.proposition("w", 0.5, trainable=True)
        theory.axiom(lambda: w, name="code")
        return theory

    def test_refuse_with_a_hint(self, tmp_path: Path) -> None:
        with pytest.raises(ltn.LogicValueError, match=r"axioms code are Python code.*text.*save_weights"):
            self.theory().save(tmp_path / "theory.keras")

    def test_but_weights_are_saved(self, tmp_path: Path) -> None:
        theory, other = self.theory(), self.theory()
        theory.compile(keras.optimizers.SGD(0.5))
        theory.fit(labelled_points(6), verbose=0)
        theory.save_weights(tmp_path / "theory.weights.h5")
        other.load_weights(tmp_path / "theory.weights.h5")
        assert_same_weights(other, theory)
        data = labelled_points(6)
        assert other.report(data).satisfaction.equals(theory.report(data).satisfaction)

    def test_a_checkpoint_of_weights_works_while_training(self, tmp_path: Path) -> None:
        theory = self.theory()
        theory.compile(keras.optimizers.SGD(0.5))
        checkpoint = keras.callbacks.ModelCheckpoint(str(tmp_path / "w.weights.h5"), save_weights_only=True)
        theory.fit(labelled_points(6), callbacks=[checkpoint], verbose=0)
        other = self.theory()
        other.load_weights(tmp_path / "w.weights.h5")
        assert_same_weights(other, theory)


class TestFiles:
    def test_of_other_models(self, tmp_path: Path) -> None:
        keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).save(tmp_path / "model.keras")
        with pytest.raises(ltn.LogicTypeError, match=r"holds a Sequential, not a theory.*load_model"):
            ltn.load(tmp_path / "model.keras")

    def test_of_the_legacy_format_are_refused(self, tmp_path: Path) -> None:
        """Keras would write it, and nobody could read it."""
        with pytest.raises(ltn.LogicValueError, match=r"\.keras"):
            one_weight().save(tmp_path / "theory.h5")

    def test_that_are_missing(self, tmp_path: Path) -> None:
        with pytest.raises((ValueError, FileNotFoundError), match=r"missing.keras"):
            ltn.load(tmp_path / "missing.keras")

    def test_are_one(self, tmp_path: Path) -> None:
        smokers().save(tmp_path / "theory.keras")
        assert [path.name for path in tmp_path.iterdir()] == ["theory.keras"]
        names = set(zipfile.ZipFile(tmp_path / "theory.keras").namelist())
        assert names == {"metadata.json", "config.json", "model.weights.h5"}

    def test_execute_no_code(self, tmp_path: Path) -> None:
        """A file whose network was replaced by a Lambda layer with code in it."""
        theory = classifier()
        theory.save(tmp_path / "theory.keras")
        marker = tmp_path / "executed"
        name = str(marker)
        code = keras.layers.Lambda(lambda x: (__import__("pathlib").Path(name).touch(), x[:, 0])[1])
        evil = keras.Sequential([keras.Input((2,)), code])
        marker.unlink(missing_ok=True)  # building the layer ran it
        tampered = tmp_path / "tampered.keras"
        with zipfile.ZipFile(tmp_path / "theory.keras") as source, zipfile.ZipFile(tampered, "w") as target:
            for part in source.namelist():
                content = source.read(part)
                if part == "config.json":
                    config = json.loads(content)
                    network = keras.saving.serialize_keras_object(evil)
                    [symbol] = [part for part in config["config"]["declarations"] if part["name"] == "A"]
                    symbol["grounding"]["network"] = network
                    content = json.dumps(config).encode()
                target.writestr(part, content)
        marker.unlink(missing_ok=True)
        for load in (ltn.load, keras.models.load_model):
            with pytest.raises(Exception, match=r"(?i)lambda"):
                load(tampered)
        assert not marker.exists()

    def test_weights_move_between_equal_theories(self, tmp_path: Path) -> None:
        theory, other = smokers(), smokers()
        theory.save_weights(tmp_path / "smokers.weights.h5")
        other.load_weights(tmp_path / "smokers.weights.h5")
        assert other.report().equals(theory.report())

    def test_a_copy_is_a_theory_of_its_own(self) -> None:
        theory = smokers()
        copy = keras.models.clone_model(theory)
        assert copy.report().formula.tolist() == theory.report().formula.tolist()
        trained_like(copy, theory)
        assert copy.report().equals(theory.report())
        copy.compile(keras.optimizers.SGD(0.5))
        before = theory.report()
        copy.fit(verbose=0)
        assert theory.report().equals(before)

    def test_degrees_of_a_finite_domain_of_floats_come_back_to_the_bit(self, tmp_path: Path) -> None:
        theory = ltn.Theory("product")
        numbers = theory.domain("numbers", values=[0.1, 1 / 3, 0.7])
        theory.variable("x", numbers)
        theory.predicate("P", numbers, ltn.Predicate.MLP([1], (2,)))
        theory.axiom("forall x: P(x)")
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        np.testing.assert_array_equal(loaded.query("x").tensor, degrees([0.1, 1 / 3, 0.7]).query("x").tensor)
        assert loaded.report().equals(theory.report())

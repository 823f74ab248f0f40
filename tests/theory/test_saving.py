"""Saving: one file holds the whole theory, and a fresh process goes on with it to the bit."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from tests import fresh
from tests.theory.everything import DATA, PEOPLE, everything
from tests.theory.theories import (
    Array,
    assert_same_weights,
    classifier,
    knowledge,
    network,
    one_weight,
    smokers,
    truth,
    weights_of,
)

pytestmark = [
    # Other processes are compared with to the bit.
    pytest.mark.usefixtures("grappler"),
    # Keras, on NumPy 2
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


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
        files = saved.path, data, cls.knowledge_model(saved)[1]
        said = fresh.run("tests.theory.loading_program", *files, output=data.with_suffix(".log"))
        return json.loads(said.splitlines()[-1])

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

    def test_a_variable_without_individuals(self, tmp_path: Path) -> None:
        theory = classifier()
        points = theory.signature.domains["points"]
        theory.variable("nobody", points, values=np.zeros((0, 2)))
        theory.axiom("forall nobody: A(nobody)", name="idle")
        theory.save(tmp_path / "theory.keras")
        loaded = ltn.load(tmp_path / "theory.keras")
        assert loaded.query("nobody").tensor.shape == (0, 2)
        assert truth(loaded, "forall nobody: A(nobody)") == 1.0
        assert loaded.query("A(nobody)").tensor.shape == (0,)

    def test_paths_may_be_text(self, tmp_path: Path) -> None:
        one_weight().save(str(tmp_path / "theory.keras"))
        assert truth(ltn.load(str(tmp_path / "theory.keras")), "w") == 0.5


def test_loads_give_tensorflow_no_new_names(saved: Saved) -> None:
    """It keeps a kernel for each name of a variable that it ever saw."""
    names: list[str] = []

    def note(next_creator: Any, **settings: Any) -> tf.Variable:
        variable = next_creator(**settings)
        names.append(variable.name)
        return variable

    with tf.variable_creator_scope(note):
        theories = [ltn.load(saved.path) for _ in range(2)]
    assert len(names) > 2 * len(theories[0].weights)
    assert len(set(names)) == 1
    # Weights still have the names that Keras gives them.
    assert len({weight.path for weight in theories[0].weights}) > 5

"""The files of saved theories: their format, what is refused, weights alone, and copies."""

import json
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest

import ltn
from tests.theory.theories import classifier, degrees, one_weight, smokers, trained_like

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2


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

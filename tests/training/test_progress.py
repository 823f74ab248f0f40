"""The line that is printed during training: loss, satisfaction, the worst axiom; the history keeps all."""

import re
from typing import Any

import keras
import pytest

import ltn
from ltn.training.progress import ProgressLine, with_line

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

NAMES = [f"axiom_{number}" for number in range(1, 36)]


def theory_of() -> ltn.Theory:
    """Axioms about a number that is to be large; the last one of them is false."""
    theory = ltn.Theory("product")
    numbers = theory.domain("numbers")
    theory.variable("x", numbers)
    theory.proposition("p", 0.9, trainable=True)
    theory.predicate("P", numbers, lambda x: x)
    theory.axioms("\n".join(["p | (forall x: P(x))"] * 34 + ["~p & (forall x: P(x))"]))
    theory.compile(keras.optimizers.SGD(1e-3))
    return theory


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    return theory_of()


DATA = {"x": [0.5, 0.6, 0.7, 0.8]}


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The last state of each line that was printed, without colours."""
    text = re.sub(r"\x1b\[\d+m|\x08", "", capsys.readouterr().out)
    return [line.split("\r")[-1].strip() for line in text.split("\n") if "loss" in line]


def shown(line: str) -> list[str]:
    """The names of the numbers in a line."""
    return re.findall(r"- (\w+):", line)


@pytest.mark.parametrize("verbose", [1, 2, "auto", True])
def test_the_line_shows_three_numbers_and_the_history_keeps_all(
    theory: ltn.Theory, verbose: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    history = theory.fit(DATA, batch_size=2, epochs=2, verbose=verbose).history
    found = lines(capsys)
    assert len(found) == 2
    for line, loss, worst in zip(found, history["loss"], history["axiom_35"], strict=True):
        assert shown(line) == ["loss", "satisfaction", "worst"]
        assert f"loss: {loss:.4f}" in line
        assert f"worst: {worst:.4f} (axiom_35)" in line
    assert set(history) == {"loss", "satisfaction", *NAMES}


def test_nothing_is_printed_without_verbose(theory: ltn.Theory, capsys: pytest.CaptureFixture[str]) -> None:
    theory.fit(DATA, verbose=0)
    theory.evaluate(DATA, verbose=0)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("verbose", [1, 2])
def test_with_validation_and_callbacks_that_log(
    theory: ltn.Theory, verbose: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rate = keras.callbacks.LearningRateScheduler(lambda epoch: 1e-3)
    history = theory.fit(DATA, verbose=verbose, validation_data=DATA, callbacks=rate).history
    [line] = lines(capsys)
    of_training = ["loss", "satisfaction", "worst", "learning_rate"]
    assert shown(line) == [*of_training, "val_loss", "val_satisfaction", "val_worst"]
    assert f"val_worst: {history['val_axiom_35'][0]:.4f} (axiom_35)" in line
    assert {f"val_{name}" for name in NAMES} < set(history)


@pytest.mark.parametrize("verbose", [1, 2, "auto"])
def test_evaluate(theory: ltn.Theory, verbose: Any, capsys: pytest.CaptureFixture[str]) -> None:
    logs = theory.evaluate(DATA, verbose=verbose, return_dict=True)
    [line] = lines(capsys)
    assert shown(line) == ["loss", "satisfaction", "worst"]
    assert f"({logs['axiom_35']:.4f}"[1:] in line
    assert set(NAMES) < set(logs)


def test_an_axiom_that_does_not_count_is_not_the_worst(capsys: pytest.CaptureFixture[str]) -> None:
    theory = theory_of()
    theory["axiom_35"].active = False
    theory["axiom_1"].weight = 0.0
    theory.fit(DATA, verbose=2)
    [line] = lines(capsys)
    assert "(axiom_2)" in line
    assert shown(line) == ["loss", "satisfaction", "worst"]


class TestCallbacks:
    def test_a_line_of_the_user_stays(self, theory: ltn.Theory, capsys: pytest.CaptureFixture[str]) -> None:
        theory.fit(DATA, verbose=2, callbacks=[[keras.callbacks.ProgbarLogger()]])
        [line] = lines(capsys)
        assert set(NAMES) < set(shown(line))

    def test_a_list_that_is_ready_stays(self, theory: ltn.Theory) -> None:
        ready = keras.callbacks.CallbackList([])
        assert with_line(ready, theory.knowledge) is ready

    def test_all_others_come_first(self, theory: ltn.Theory) -> None:
        own = keras.callbacks.Callback()
        for given in (own, [own], [[own]], (own,)):
            first, line = with_line(given, theory.knowledge)
            assert first is own
            assert isinstance(line, ProgressLine)

    def test_what_is_not_a_number_is_the_worst(self, theory: ltn.Theory) -> None:
        line = ProgressLine(theory.knowledge)
        line.on_test_begin()
        found = line._shorten({"axiom_1": 0.0, "axiom_2": float("nan"), "accuracy": 0.5, "loss": 1.0})
        assert list(found) == ["loss", "worst", "accuracy"]
        assert f"{found['worst']:.2f}" == "nan (axiom_2)"

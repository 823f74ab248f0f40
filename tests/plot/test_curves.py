"""Training curves: the satisfaction and the axioms, of many those that need attention."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import LOGS, curves, legend


@pytest.mark.parametrize("wrapped", [False, True])
def test_training_draws_a_curve_for_the_theory_and_each_axiom(wrapped: bool) -> None:
    history = keras.callbacks.History()
    history.history, history.epoch = LOGS, [0, 1, 2]
    figure = ltn.plot.training(history if wrapped else LOGS)
    drawn = curves(figure)
    assert set(drawn) == {
        *("satisfaction", "friends", "symmetric"),
        *("validation of satisfaction", "validation of friends"),
    }
    for name in ("satisfaction", "friends"):
        np.testing.assert_array_equal(drawn[name].get_xdata(), [1, 2, 3])
        np.testing.assert_array_equal(drawn[name].get_ydata(), LOGS[name])
        validation = drawn[f"validation of {name}"]
        np.testing.assert_array_equal(validation.get_ydata(), LOGS[f"val_{name}"])
        assert validation.get_color() == drawn[name].get_color()
        assert (drawn[name].get_linestyle(), validation.get_linestyle()) == ("-", "--")
    assert drawn["satisfaction"].get_color() == "black"
    assert drawn["satisfaction"].get_linewidth() > 2 * drawn["friends"].get_linewidth()
    assert figure.axes[0].get_ylim() == (0.0, 1.0)
    assert legend(figure) == ["satisfaction  0.70", "symmetric  1.00", "friends  0.60", "validation"]


def test_training_of_a_theory(people: ltn.Theory) -> None:
    people.compile(keras.optimizers.Adam(1e-4))
    history = people.fit(epochs=2, verbose=0)
    drawn = curves(ltn.plot.training(history))
    assert set(drawn) == {"satisfaction", "spreads", "everyone", "wet"}
    np.testing.assert_array_equal(drawn["everyone"].get_ydata(), history.history["everyone"])
    later = people.fit(epochs=7, initial_epoch=5, verbose=0)
    np.testing.assert_array_equal(curves(ltn.plot.training(later))["wet"].get_xdata(), [6, 7])


@pytest.mark.parametrize("chosen", ["friends", ["friends"]])
def test_training_of_chosen_axioms(chosen: Any) -> None:
    assert {name for name in curves(ltn.plot.training(LOGS, chosen)) if "validation" not in name} == {
        "satisfaction",
        "friends",
    }
    assert "friends" not in curves(ltn.plot.training(LOGS, []))


def test_an_axiom_looks_the_same_where_others_are_left_out() -> None:
    whole, part = (curves(ltn.plot.training(LOGS, chosen))["symmetric"] for chosen in (None, "symmetric"))
    assert part.get_color() == whole.get_color()


def many(count: int) -> dict[str, list[float]]:
    """Logs of axioms from the least to the most satisfied, and no name that Matplotlib would hide."""
    axioms = {f"_axiom_{number}": [0.5, number / count] for number in range(count)}
    return {"satisfaction": [0.1, 0.2], **axioms}


def in_colour(figure: Any) -> dict[str, Any]:
    return {name: line for name, line in curves(figure).items() if line.get_color() in ltn.plot.style.COLOURS}


def test_the_ten_worst_of_many_axioms_are_in_colour() -> None:
    figure = ltn.plot.training(many(35))
    assert set(in_colour(figure)) == {f"_axiom_{number}" for number in range(10)}
    others = [line for name, line in curves(figure).items() if name not in in_colour(figure)]
    satisfaction, grey = others.pop(), others
    assert satisfaction.get_label() == "satisfaction"
    assert len(grey) == 25
    assert len({line.get_color() for line in grey}) == 1
    assert max(line.get_linewidth() for line in grey) < min(
        line.get_linewidth() for line in in_colour(figure).values()
    )
    np.testing.assert_array_equal(curves(figure)["_axiom_30"].get_ydata(), [0.5, 30 / 35])
    assert legend(figure) == [
        "satisfaction  0.20",
        *(f"_axiom_{number}  {number / 35:.2f}" for number in reversed(range(10))),
        "25 other axioms",
    ]


@pytest.mark.parametrize(("count", "last"), [(10, "_axiom_0  0.00"), (11, "1 other axiom")])
def test_up_to_ten_axioms_are_all_in_colour(count: int, last: str) -> None:
    figure = ltn.plot.training(many(count))
    assert len(in_colour(figure)) == 10
    assert legend(figure)[-1] == last


def test_an_axiom_that_is_not_a_number_is_among_the_worst() -> None:
    figure = ltn.plot.training(many(35) | {"_axiom_34": [0.5, float("nan")]})
    assert "_axiom_34" in in_colour(figure)
    assert "_axiom_34  nan" in legend(figure)


def test_axioms_that_are_chosen_are_all_in_colour_and_told_apart() -> None:
    chosen = [f"_axiom_{number}" for number in range(0, 120, 3)]
    drawn = in_colour(ltn.plot.training(many(120), chosen))
    assert list(drawn) == chosen
    assert len({(line.get_color(), line.get_marker()) for line in drawn.values()}) == 40


def test_an_axiom_has_one_colour_in_all_pictures() -> None:
    logs = many(120)
    part = in_colour(ltn.plot.training(logs, [f"_axiom_{number}" for number in range(40, 100)]))
    worse = {name: [0.5, -1e-9] for name in list(part)[:10]}
    later = in_colour(ltn.plot.training(logs | worse))
    assert set(later) == set(worse)
    assert all(part[name].get_color() == line.get_color() for name, line in later.items())


def test_a_lone_axiom_is_seen_on_the_satisfaction() -> None:
    drawn = curves(ltn.plot.training({"satisfaction": [0.1, 0.2], "all": [0.1, 0.2]}))
    axiom, satisfaction = drawn["all"], drawn["satisfaction"]
    assert axiom.get_zorder() > satisfaction.get_zorder()
    assert satisfaction.get_linewidth() > 2 * axiom.get_linewidth()
    once = curves(ltn.plot.training({"satisfaction": [0.1], "all": [0.1]}))
    assert once["satisfaction"].get_markersize() > once["all"].get_markersize()


def test_training_with_validation_in_some_epochs_only() -> None:
    logs = {"satisfaction": [0.1] * 6, "val_satisfaction": [0.2, 0.3]}
    validation = curves(ltn.plot.training(logs))["validation of satisfaction"]
    np.testing.assert_array_equal(validation.get_xdata(), [3, 6])


def test_training_of_one_epoch_is_seen() -> None:
    figure = ltn.plot.training({"satisfaction": [0.5], "all": [0.4]})
    assert {line.get_marker() for line in curves(figure).values()} == {"o"}
    np.testing.assert_array_equal(figure.axes[0].get_xticks(), [1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ltn.plot.training([0.1]), ltn.LogicTypeError, "theory.fit returned.*got a list"),
        (lambda: ltn.plot.training({"loss": [1.0]}), ltn.LogicValueError, "'satisfaction'.*holds: loss"),
        (lambda: ltn.plot.training({}), ltn.LogicValueError, "holds: nothing"),
        (lambda: ltn.plot.training(LOGS, ["freinds"]), ltn.LogicValueError, "did you mean 'friends'"),
        (lambda: ltn.plot.training(LOGS, ["loss"]), ltn.LogicValueError, "no axiom 'loss'"),
    ],
)
def test_mistakes_in_training(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()

"""Each experiment, shortened: it learns, and gives what its settings promise."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from examples import __main__, addition, clustering, crabs, harness, smokers
from examples.harness import DataError, Experiment, Recorder, Run, Setting
from tests.examples.pictures import PICTURES

# Shorter settings, and bounds of what a run of them reaches: seeds 0 to 3 all keep a distance from them, as
# does the start of learning. In clustering some seeds end with two clouds in one cluster; seed 1 does not.
SHORT: dict[str, tuple[dict[str, int], dict[str, tuple[float, float]]]] = {
    "binary": ({"epochs": 1000}, {"train accuracy": (0.85, 1.0), "train satisfaction": (0.75, 1.0)}),
    "iris": ({"epochs": 100}, {"test accuracy": (0.8, 1.0), "test satisfaction": (0.6, 1.0)}),
    "crabs": ({"epochs": 200}, {"test accuracy": (0.85, 1.0), "phi2: blue -> orange": (0.0, 0.4)}),
    "regression": ({"epochs": 250}, {"test RMSE": (0.0, 35.0), "test satisfaction": (0.3, 1.0)}),
    "clustering": ({"epochs": 300}, {"agreement with the clouds": (0.95, 1.0), "satisfaction": (0.75, 1.0)}),
    "smokers": ({"epochs": 300}, {"satisfaction": (0.64, 1.0)}),
    "reasoning": ({"epochs": 100}, {"A by refutation": (0.0, 0.05), "A after learning": (0.95, 1.0)}),
    "addition": ({"epochs": 4, "train_size": 1000}, {"digit accuracy (%)": (50.0, 100.0)}),
}


def setting_of(experiment: Experiment, name: str | None = None, **changes: int) -> Setting:
    settings = {setting.name: setting for setting in experiment.settings()}
    return settings[name or next(iter(settings))].changed(**changes)


@functools.cache
def short_run(name: str) -> Run:
    experiment = __main__.EXPERIMENTS[name]
    keras.utils.set_random_seed(1)
    return experiment.run(setting_of(experiment).changed(**SHORT[name][0]), 1)


@pytest.mark.parametrize("name", SHORT)
def test_it_learns(name: str) -> None:
    run = short_run(name)
    for metric, (low, high) in SHORT[name][1].items():
        assert low <= run.metrics[metric] <= high, metric
        if metric in run.curves and name != "reasoning":
            first, last = run.curves[metric][0], run.curves[metric][-1]
            assert last == run.metrics[metric]
            assert not low <= first <= high, "the bound says nothing"
    assert not run.collapsed


@pytest.mark.parametrize("name", SHORT)
def test_it_gives_what_its_settings_promise(name: str) -> None:
    experiment = __main__.EXPERIMENTS[name]
    run = short_run(name)
    assert {metric.name for metric in setting_of(experiment).metrics} <= set(run.metrics)
    assert all(len(values) == len(run.epochs) for values in run.curves.values())
    assert all(np.all(np.isfinite(values)) for values in run.curves.values())
    drawn = experiment.curves({setting_of(experiment).name: [run, run]})
    other_task = {"addition_two", "addition_two_graph"}
    assert {*drawn, *run.pictures} == PICTURES[name] - other_task


@pytest.mark.parametrize("name", SHORT)
def test_what_it_learned_and_from_what_can_be_looked_at(name: str) -> None:
    run = short_run(name)
    assert isinstance(run.model, ltn.Theory)
    measured = {"test": "test satisfaction", "train": "train satisfaction"} | (
        {"train": "satisfaction"} if name == "clustering" else {}
    )
    for part, metric in measured.items():
        if part in run.examples and metric in run.metrics:
            # The same but for the size of the batch, by which sums are rounded.
            assert harness.satisfaction(run.model, run.examples[part]) == pytest.approx(
                run.metrics[metric], abs=1e-5
            )
    assert bool(run.examples) == (name not in ("smokers", "reasoning"))


def test_without_rules_crabs_have_their_labels_only() -> None:
    names = [axiom.name for axiom in crabs.theory_of_crabs().axiom_list]
    assert [axiom.name for axiom in crabs.theory_of_crabs(with_rules=False).axiom_list] == names[:4]


def test_the_baseline_learns() -> None:
    setting = setting_of(addition.EXPERIMENT, "single, baseline", epochs=6, train_size=3000)
    keras.utils.set_random_seed(1)
    run = addition.run(setting, 1)
    assert set(run.metrics) == {"accuracy (%)"}
    # One in ten is a lucky guess: the most frequent sum.
    assert run.metrics["accuracy (%)"] > 20.0


@pytest.mark.parametrize(("name", "epochs", "size"), [("two", 4, 500), ("single, stable_product", 6, 1000)])
def test_more_settings_of_addition_learn(name: str, epochs: int, size: int) -> None:
    """Seeds 0 to 3 read 80 % and 74 % of the digits at least."""
    keras.utils.set_random_seed(1)
    run = addition.run(setting_of(addition.EXPERIMENT, name, epochs=epochs, train_size=size), 1)
    assert run.metrics["digit accuracy (%)"] > 60.0
    assert not run.collapsed


@pytest.mark.parametrize("task", ["single", "two"])
def test_examples_of_additions(task: str) -> None:
    images = np.random.default_rng(0).integers(256, size=(40, 28, 28))
    labels = np.arange(40) % 10
    names = list(addition.IMAGES[task])
    given, digits = addition.examples(images, labels, task, 40 // len(names), np.random.default_rng(0))
    assert list(given) == [*names, "n"]
    assert given["n"].tolist() == [
        int("".join(map(str, column[: len(names) // 2]))) + int("".join(map(str, column[len(names) // 2 :])))
        for column in digits.T
    ]
    pixels = np.concatenate([given[name] for name in names])
    assert pixels.shape == (40, 28, 28, 1)
    assert pixels.max() <= 1.0
    # Every image once: none is in two operands.
    assert len({image.tobytes() for image in pixels}) == 40


@pytest.mark.parametrize(
    ("setting", "measured", "collapsed"),
    [
        # Whoever mistakes every digit for another may still be right about many sums.
        ("single", {"accuracy (%)": 60.0, "digit accuracy (%)": 2.0}, True),
        ("single", {"accuracy (%)": 60.0, "digit accuracy (%)": 70.0}, False),
        ("two, baseline", {"accuracy (%)": 2.0}, False),
    ],
)
def test_a_collapsed_run_is_told_by_its_digits(
    setting: str, measured: dict[str, float], collapsed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(lambda: measured)
    recorder.on_train_begin()
    for model in ("theory", "baseline"):
        monkeypatch.setattr(addition, f"learn_{model}", lambda *args: (recorder, {}))
    assert addition.run(setting_of(addition.EXPERIMENT, setting), 0).collapsed is collapsed


def test_the_learning_rate_falls_to_zero_in_the_last_step() -> None:
    setting = setting_of(addition.EXPERIMENT, "single").changed(options={"rate": "decay"})
    rate = addition.rate_of(setting)
    steps = 20 * 94  # 3000 pairs are 94 batches
    assert float(rate(0)) == pytest.approx(0.001)
    assert float(rate(steps // 2)) == pytest.approx(0.0005)
    assert float(rate(steps)) == 0.0


def test_points_of_clouds_of_different_sizes() -> None:
    with pytest.raises(DataError, match="--train-size is a multiple of 4"):
        clustering.run(setting_of(clustering.EXPERIMENT, train_size=42), 0)


def test_only_the_converse_rule_denies_that_non_smokers_have_cancer() -> None:
    theory = ltn.Theory("product")
    theory.proposition("S", 0.0)
    theory.proposition("C", 1.0)
    truths = {name: float(theory.query(rule.replace("(x)", ""))) for name, rule in smokers.RULES.items()}
    assert truths == {"printed": 1.0, "converse": 0.0}
    for setting in smokers.settings():
        rule = smokers.RULES[setting.options["rule"]]
        assert rule in str(smokers.theory_of_people(rule).find("not_otherwise"))


def test_four_clusters_are_found_whatever_their_numbers() -> None:
    origin = np.repeat(range(4), 3)
    assert clustering.agreement(np.array([2, 0, 3, 1])[origin], origin) == 1.0
    assert clustering.agreement(np.zeros(12, int), origin) == 0.25


def test_no_grounding_satisfies_the_axioms_of_clustering_to_more_than_is_said() -> None:
    ceiling = 1 - (1 - 4 ** (-1 / 6)) / np.sqrt(2)
    corners = np.array([(-0.9, -0.9), (-0.9, 0.9), (0.9, -0.9), (0.9, 0.9)], np.float32)
    points = np.repeat(corners, 5, axis=0)
    towards = 30.0 * corners.T
    rng = np.random.default_rng(0)

    def reached(directions: np.ndarray) -> float:
        theory = clustering.theory_of_clusters(lambda x: tf.matmul(x[0], directions.astype(np.float32)))
        theory.set_hyperparameters(p_exists=6)
        return harness.satisfaction(theory, {"x": points, "y": points})

    # Every point surely in the cluster of its corner. The operators keep 0.0001 away from 0 and 1.
    assert reached(towards) == pytest.approx(ceiling, abs=1e-3)
    assert (
        max(reached(towards + rng.normal(scale=scale, size=(2, 4))) for scale in range(20)) < ceiling + 1e-3
    )

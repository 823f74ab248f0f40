"""Individuals in the plane: where they lie, their names, and the truth that colours them."""

import itertools
from typing import Any

import numpy as np
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import written


def theory_of(features: Any, trainable: bool = False) -> ltn.Theory:
    values = np.asarray(features, float)
    theory = ltn.Theory()
    domain = theory.domain("things", shape=values.shape[1:])
    theory.constants([f"c{number}" for number in range(len(values))], domain, values, trainable)
    theory.variables("x, y", domain)
    theory.predicate("P", domain, lambda x: x[:, 0])
    theory.predicate("R", (domain, domain), lambda xs: xs[0][:, 0] * xs[1][:, 0])
    theory.variable("n", theory.domain("numbers", values=[0.25, 0.75]))
    theory.predicate("Q", theory.signature.domains["numbers"], lambda n: n[:, 0])
    theory.variable("e", theory.domain("empty"))
    return theory


def places(figure: Any) -> np.ndarray:
    return np.asarray(figure.axes[0].collections[0].get_offsets(), float)


def labels(figure: Any) -> tuple[str, str]:
    return figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()


def test_two_features_are_drawn_as_they_are() -> None:
    features = [[0.1, 0.9], [0.4, 0.2], [0.7, 0.6]]
    theory = theory_of(features, trainable=True)
    by_name = ltn.plot.embeddings(theory, "things")
    by_domain = ltn.plot.embeddings(theory, theory.signature.domains["things"])
    for figure in (by_name, by_domain):
        np.testing.assert_allclose(places(figure), features, rtol=1e-6)
        assert written(figure) == ["c0", "c1", "c2"]
        assert labels(figure) == ("first feature", "second feature")
    theory.individuals[0].table.assign(1.0 - np.asarray(features))
    np.testing.assert_allclose(
        places(ltn.plot.embeddings(theory, "things")), 1.0 - np.asarray(features), rtol=1e-6
    )


def test_one_feature_is_drawn_on_a_line() -> None:
    figure = ltn.plot.embeddings(theory_of(np.zeros((1, 2))), "numbers", "Q")
    np.testing.assert_allclose(places(figure), [[0.25, 0.0], [0.75, 0.0]])
    assert written(figure) == ["0.25", "0.75"]


@pytest.mark.parametrize("shape", [(5,), (2, 3)])
def test_more_features_are_projected_on_the_main_directions(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    scale = np.linspace(0.1, 0.5, int(np.prod(shape))).reshape(shape)
    features = rng.normal(size=(30, *shape)) * scale
    figure = ltn.plot.embeddings(theory_of(features), "things")
    rows = features.reshape(30, -1)
    # Independently of how it is computed: the directions are those of the covariance.
    values, directions = np.linalg.eigh(np.cov(rows.T))
    expected = (rows - rows.mean(axis=0)) @ directions[:, :-3:-1]
    np.testing.assert_allclose(np.abs(places(figure)), np.abs(expected), atol=1e-5)
    shares = values[:-3:-1] / values.sum()
    for label, which, share in zip(labels(figure), ("first", "second"), shares, strict=True):
        count = rows.shape[1]
        assert label == f"{which} main direction ({share:.0%} of the variance of {count} features)"


@pytest.mark.parametrize("features", [np.ones((1, 4)), np.ones((3, 4))])
def test_individuals_that_do_not_differ(features: np.ndarray) -> None:
    figure = ltn.plot.embeddings(theory_of(features), "things")
    np.testing.assert_array_equal(places(figure), np.zeros((len(features), 2)))
    assert labels(figure) == ("first main direction", "second main direction")


@pytest.mark.parametrize(
    ("colour", "said"), [("P", "P(x)"), ("P(y)", "P(y)"), ("forall y: R(x, y)", "∀y: R(x, y)")]
)
def test_points_are_coloured_by_truth(colour: str, said: str) -> None:
    theory = theory_of([[0.2, 0.5], [0.9, 0.4]])
    figure = ltn.plot.embeddings(theory, "things", colour, p_forall=1)
    query = "P(x)" if colour == "P" else colour
    truths = theory.query(query, p_forall=1).tensor.numpy()
    points: Any = figure.axes[0].collections[0]
    np.testing.assert_allclose(points.get_array(), truths)
    assert points.get_clim() == (0.0, 1.0)
    assert figure.axes[0].get_title() == f"Individuals of things, by the truth of {said}"
    assert figure.axes[1].get_ylabel() == "truth"


def test_a_variable_that_ranges_over_some_individuals_colours_all() -> None:
    theory = theory_of([[0.2, 0.5], [0.9, 0.4]])
    theory.variable("some", theory.signature.domains["things"], ["c1"])
    figure: Any = ltn.plot.embeddings(theory, "things", "P(some)")
    np.testing.assert_allclose(figure.axes[0].collections[0].get_array(), [0.2, 0.9])


@pytest.mark.parametrize("count", [30, 300])
def test_names_of_many_individuals_do_not_overlap(count: int) -> None:
    rng = np.random.default_rng(0)
    figure = ltn.plot.embeddings(theory_of(rng.uniform(size=(count, 2))), "things")
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert 20 <= len(boxes) <= 60
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
    assert len(places(figure)) == count
    expected = f"{count} individuals" + (f", {len(boxes)} of them with a name" if len(boxes) < count else "")
    assert figure.get_supxlabel() == expected
    assert len(written(ltn.plot.embeddings(theory_of(rng.uniform(size=(count, 2))), "things", most=3))) == 3


@pytest.mark.parametrize(
    ("domain", "options", "error", "message"),
    [
        ("thing", {}, ltn.LogicValueError, "no domain 'thing'; its domains are: things, numbers, empty"),
        (3, {}, ltn.LogicTypeError, "`domain` is a domain of the theory, or its name; got 3"),
        ("empty", {}, ltn.LogicValueError, "'empty' has no individuals.*theory.constants"),
        ("things", {"colour": "R(x, y)"}, ltn.LogicValueError, "one free variable; `R.*has 2: x, y"),
        ("things", {"colour": "forall x: P(x)"}, ltn.LogicValueError, "has 0. Quantify"),
        ("things", {"colour": "x"}, ltn.LogicTypeError, "`x` is a term"),
        ("things", {"colour": "Q(n)"}, ltn.LogicValueError, "'things' are coloured.*is over 'numbers'"),
        ("things", {"most": 0}, ltn.LogicValueError, "how many names are drawn.*got 0"),
    ],
)
def test_mistakes_in_embeddings(domain: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.embeddings(theory_of(np.zeros((2, 2))), domain, **options)


def test_individuals_that_diverged_are_told() -> None:
    theory = theory_of([[0.2, 0.5], [0.9, 0.4]], trainable=True)
    theory.individuals[0].table.assign([[0.0, np.nan], [0.0, 1.0]])
    with pytest.raises(ltn.LogicValueError, match=r"not finite: c0. Train again"):
        ltn.plot.embeddings(theory, "things")


def test_a_predicate_by_its_name_needs_a_variable() -> None:
    theory = ltn.Theory()
    domain = theory.domain("things", values=[0.1, 0.2])
    theory.predicate("P", domain, lambda x: x[:, 0])
    with pytest.raises(ltn.LogicValueError, match=r"'P' is applied.*'things'.*theory.variable\("):
        ltn.plot.embeddings(theory, domain, "P")

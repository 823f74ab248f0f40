"""Domains: their individuals in all forms, bounds, products, and restoring them."""

import json
from typing import Any

import numpy as np
import pytest

from ltn.errors import LogicTypeError, LogicValueError
from ltn.language import Domain

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((), (1,)), (4, (4,)), ((28, 28, 1), (28, 28, 1)), ([None, 3], (None, 3)), (np.int64(2), (2,))],
)
def test_shapes(shape: Any, expected: tuple[int | None, ...]) -> None:
    domain = Domain("d", shape=shape)
    assert domain.shape == expected
    assert (domain.names, domain.features, domain.named, domain.parts) == (None, None, False, ())


@pytest.mark.parametrize("shape", ["2", (2.5,), {"a": 1}, 2.5, ((2,),)])
def test_what_is_no_shape(shape: Any) -> None:
    with pytest.raises(LogicTypeError, match=r"The `shape` of the domain 'd' must be an int, or a tuple"):
        Domain("d", shape=shape)


def test_sizes_are_positive() -> None:
    with pytest.raises(LogicValueError, match=r"must be at least 1; got \(2, 0\)"):
        Domain("d", shape=(2, 0))


ARRAY = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize(
    ("values", "names", "features", "named"),
    [
        (range(3), ("0", "1", "2"), [[0], [1], [2]], False),
        ([1, 2.5, -3], ("1", "2.5", "-3"), [[1], [2.5], [-3]], False),
        (np.array([0.1, 2.0], np.float32), ("0.1", "2"), [[np.float32(0.1)], [2]], False),
        (iter([4, 5]), ("4", "5"), [[4], [5]], False),
        (["red", "green"], ("red", "green"), [[0], [1]], True),
        (np.array(["red", "green"]), ("red", "green"), [[0], [1]], True),
        ({"low": 0.5, "high": 2}, ("low", "high"), [[0.5], [2]], True),
        ({"a": [1, 2], "b": np.array([3, 4])}, ("a", "b"), [[1, 2], [3, 4]], True),
        (ARRAY, ("0", "1", "2"), ARRAY, False),
        (ARRAY.tolist(), ("0", "1", "2"), ARRAY, False),
        (np.zeros((2, 5, 5, 1)), ("0", "1"), np.zeros((2, 5, 5, 1)), False),
    ],
)
def test_the_forms_of_individuals(values: Any, names: tuple[str, ...], features: Any, named: bool) -> None:
    domain = Domain("d", values=values)
    assert domain.features is not None
    assert domain.features.dtype == np.float32
    np.testing.assert_array_equal(domain.features, features)
    assert domain.shape == np.shape(features)[1:]
    assert (domain.names, domain.named) == (names, named)


def test_a_shape_beside_values_must_agree() -> None:
    assert Domain("d", shape=4, values=ARRAY).shape == (4,)
    assert Domain("d", shape=(None,), values=ARRAY).shape == (4,)
    with pytest.raises(
        LogicValueError, match=r"'d' has the `shape` \(3,\), but its `values` have the features \(4,\)"
    ):
        Domain("d", shape=3, values=ARRAY)
    with pytest.raises(LogicValueError, match=r"has the `shape` \(2,\), but .* \(1,\)"):
        Domain("d", shape=2, values=["a", "b"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 1, 2.0], "must be distinct; repeated: 1, 2"),
        (["a", "b", "a"], "must be distinct; repeated: a"),
        ([], r"needs at least one individual; got \[\]"),
        ({}, "needs at least one individual"),
        ([[1, 2], [3]], "must have one shape"),
        ({"a": [1, 2], "b": 3}, "must have one shape"),
        ([1.0, float("nan")], "must be finite"),
        ([1e39], "must be finite"),
    ],
)
def test_values_that_cannot_be(values: Any, message: str) -> None:
    with pytest.raises(LogicValueError, match=message):
        Domain("d", values=values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("abc", "The `values` of the domain 'd' are a range or list of numbers.*; got a str: 'abc'"),
        ({1, 2}, "got a set"),
        (7, "got a int: 7"),
        (np.float32(7), "got the scalar"),
        (["a", 1], "names of individuals of 'd' must be strings; got a int: 1"),
        ({1: 2.0}, "must be strings; got a int: 1"),
        ([None], "must be numbers"),
        ([1j], "must be numbers"),
    ],
)
def test_values_of_the_wrong_kind(values: Any, message: str) -> None:
    with pytest.raises(LogicTypeError, match=message):
        Domain("d", values=values)


def test_domains_are_immutable_and_themselves() -> None:
    values = np.zeros((2, 3), np.float32)
    domain = Domain("d", values=values)
    values[0, 0] = 7.0
    assert domain.features is not None
    assert domain.features[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        domain.features[0, 0] = 1.0
    with pytest.raises(AttributeError):
        domain.name = "e"  # type: ignore[misc]
    assert domain != Domain("d", values=np.zeros((2, 3)))
    assert len({domain, domain, Domain("d")}) == 2


def test_bounds_of_a_hypercube() -> None:
    domain = Domain("d", shape=2, bounds=(0, 1))
    inside = domain.contains([[0, 1], [0.5, 1 + 5e-6], [-5e-6, 0], [0, 1.001], [-0.001, 0], [np.nan, 0]])
    assert inside.tolist() == [True, True, True, False, False, False]
    assert domain.contains(np.zeros((0, 2))).shape == (0,)
    half = Domain("d", bounds=(0, float("inf")))
    assert half.contains([[1e30], [-1.0]]).tolist() == [True, False]
    assert Domain("d", shape=(2, 2)).contains(np.full((3, 2, 2), 1e9)).tolist() == [True] * 3


def test_bounds_of_a_simplex() -> None:
    domain = Domain("d", shape=3, bounds="simplex")
    logits = np.array([1, 2, 3], np.float32)
    softmax = np.exp(logits) / np.exp(logits).sum()
    inside = domain.contains([softmax, [1, 0, 0], [0.5, 0.6, 0], [1.5, -0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert inside.tolist() == [True, True, False, False, True]


def test_features_of_another_shape_are_not_asked_about() -> None:
    for wrong in ([[1.0]], [1.0, 2.0], np.zeros((3, 2, 1))):
        with pytest.raises(
            LogicValueError, match=r"Individuals of 'd' have the features \(2,\).*got the shape"
        ):
            Domain("d", shape=2, bounds=(0, 1)).contains(wrong)


def test_individuals_lie_within_the_bounds() -> None:
    Domain("d", values=[0, 0.5, 1], bounds=(0, 1))
    with pytest.raises(
        LogicValueError, match=r"Individuals of 'd' lie outside its bounds \(0\.0, 1\.0\): 2, -1"
    ):
        Domain("d", values=[0, 2, 1, -1], bounds=(0, 1))
    with pytest.raises(LogicValueError, match="outside its bounds simplex: a"):
        Domain("d", values={"a": [0.5, 0.6], "b": [0, 1]}, bounds="simplex")


@pytest.mark.parametrize("bounds", ["cube", (1, 0), (1,), (1, 2, 3), 1, ("a", "b"), (float("nan"), 1)])
def test_what_are_no_bounds(bounds: Any) -> None:
    with pytest.raises(LogicValueError, match=r"are two numbers, \(low, high\), or 'simplex'; got"):
        Domain("d", bounds=bounds)


def test_a_simplex_has_one_axis() -> None:
    with pytest.raises(LogicValueError, match=r"'d' has the shape \(2, 2\)"):
        Domain("d", shape=(2, 2), bounds="simplex")


def test_equality() -> None:
    domain = Domain("d", equality="smooth", alpha=3)
    assert (domain.equality, domain.alpha) == ("smooth", 3.0)
    with pytest.raises(LogicValueError, match="must be 'strict' or 'smooth'; got 'soft'"):
        Domain("d", equality="soft")
    for alpha in (0, -1, float("inf"), float("nan"), "1"):
        with pytest.raises(LogicValueError, match="`alpha` of the domain 'd' must be a number above 0"):
            Domain("d", alpha=alpha)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_domain_has_a_name(name: Any) -> None:
    with pytest.raises(LogicTypeError, match="must be a non-empty string; got"):
        Domain(name)


def test_products() -> None:
    a, b, c = Domain("a", shape=2), Domain("b", shape=(2, 3)), Domain("c", values=["x", "y"])
    for product in ((a * b) * c, a * (b * c)):
        assert product.name == "a * b * c"
        assert product.parts == (a, b, c)
        assert product.shape == (9,)
        assert (product.names, product.features, product.named) == (None, None, False)
    assert (a * a).parts == (a, a)
    with pytest.raises(LogicValueError, match=r"known shapes; 'd' has the shape \(None,\)"):
        a * Domain("d", shape=(None,))
    with pytest.raises(LogicTypeError, match="The product is of domains; got a int: 3"):
        a * 3  # type: ignore[operator]


def test_the_equality_of_a_product() -> None:
    smooth, steeper = Domain("a", equality="smooth", alpha=2), Domain("b", equality="smooth", alpha=3)
    strict = Domain("c")

    def equality(domain: Domain) -> tuple[str, float]:
        return domain.equality, domain.alpha

    assert equality(smooth * smooth) == ("smooth", 2.0)
    assert equality(smooth * steeper) == ("strict", 1.0)
    assert equality(smooth * strict) == ("strict", 1.0)
    assert equality(strict * strict) == ("strict", 1.0)


def test_a_product_is_bounded_by_its_parts() -> None:
    square, simplex = Domain("a", shape=(2, 2), bounds=(0, 1)), Domain("b", shape=2, bounds="simplex")
    inside = (square * simplex).contains(
        [[0, 1, 0, 1, 0.5, 0.5], [0, 2, 0, 1, 0.5, 0.5], [0, 1, 0, 1, 0.5, 0.6]]
    )
    assert inside.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("domain", "written"),
    [
        (Domain("digits", values=range(10)), "Domain('digits', shape=(1,), 10 individuals)"),
        (Domain("one", values=[3]), "Domain('one', shape=(1,), 1 individual)"),
        (Domain("ages", bounds=(0, 120)), "Domain('ages', shape=(1,), bounds=(0.0, 120.0))"),
        (
            Domain("c", shape=3, bounds="simplex", equality="smooth", alpha=0.5),
            "Domain('c', shape=(3,), bounds='simplex', equality='smooth', alpha=0.5)",
        ),
        (Domain("a") * Domain("b", shape=2), "Domain('a * b', shape=(3,))"),
    ],
)
def test_repr(domain: Domain, written: str) -> None:
    assert repr(domain) == written


@pytest.mark.parametrize(
    "domain",
    [
        Domain("d"),
        Domain("d", shape=(None, 3), bounds=(0, float("inf")), equality="smooth", alpha=0.1),
        Domain("d", shape=3, bounds="simplex"),
        Domain("d", values=[0.1, 2.5, 1 / 3]),
        Domain("d", values={"a": [0.1, 0.2], "b": [1 / 3, 1e-30]}),
        Domain("d", values=np.random.default_rng(0).normal(size=(3, 2, 2))),
        Domain("d", values=["red", "green"]),
    ],
    ids=repr,
)
def test_restored_from_json(domain: Domain) -> None:
    restored = Domain.from_config(json.loads(json.dumps(domain.get_config())))
    for attribute in ("name", "shape", "names", "named", "bounds", "equality", "alpha", "parts"):
        assert getattr(restored, attribute) == getattr(domain, attribute)
    if domain.features is None:
        assert restored.features is None
    else:
        assert restored.features is not None
        assert restored.features.dtype == np.float32
        np.testing.assert_array_equal(restored.features, domain.features)


def test_a_product_is_restored_by_its_signature() -> None:
    config = (Domain("a") * Domain("b")).get_config()
    assert config == {"parts": ["a", "b"]}
    with pytest.raises(LogicValueError, match=r"Signature\.from_config"):
        Domain.from_config(config)

"""Truth surfaces: each place has the truth there; the rectangle is the domain's, or around the points."""

from typing import Any

import numpy as np
import pytest

import ltn
import ltn.plot
from tests.plot.drawn import image, legend


@pytest.fixture(scope="module")
def plane() -> ltn.Theory:
    theory = ltn.Theory("product")
    domain = theory.domain("plane", shape=2)
    theory.variables("x, y", domain)
    theory.variable("u", theory.domain("square", shape=2, bounds=(-2, 2)))
    theory.variable("s", theory.domain("simplex", shape=2, bounds="simplex"))
    theory.variable("n", theory.domain("numbers"))
    theory.predicate("A", domain, lambda x: x[:, 0] * (1 - x[:, 1]))
    theory.predicate("near", (domain, domain), lambda xs: 0.5 + 0 * xs[0][:, 0])
    theory.predicate("B", theory.signature.domains["square"], lambda u: (u[:, 0] + 2) / 4)
    theory.predicate("C", theory.signature.domains["simplex"], lambda s: s[:, 0])
    theory.predicate("D", theory.signature.domains["numbers"], lambda n: n[:, 0])
    return theory


def test_surface_shows_the_truth_at_each_place(plane: ltn.Theory) -> None:
    figure = ltn.plot.surface(plane, "A(x)", resolution=11)
    values = image(figure).get_array()
    assert values.shape == (11, 11)
    # Rows go up with the second feature, columns with the first.
    np.testing.assert_allclose([values[0, 10], values[0, 5], values[10, 10]], [1.0, 0.5, 0.0], atol=1e-6)
    assert image(figure).get_clim() == (0.0, 1.0)
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((0.0, 1.0), (0.0, 1.0))
    assert figure.axes[0].get_title() == "Truth of A(x)"
    assert figure.axes[0].get_xlabel() == "first feature of x"
    assert legend(figure) == ["truth 0.5"]


def test_surface_without_a_line_where_truth_never_is_one_half(plane: ltn.Theory) -> None:
    figure = ltn.plot.surface(plane, "A(x) & ~A(x)", resolution=5)
    assert not figure.legends
    assert not figure.axes[0].collections


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("B(u)", {}, ((-2.0, 2.0), (-2.0, 2.0))),
        ("B(u)", {"bounds": (0, 1)}, ((0.0, 1.0), (0.0, 1.0))),
        ("A(x)", {"bounds": ((0, 1), (0.5, 0.75))}, ((0.0, 1.0), (0.5, 0.75))),
        ("A(x)", {"points": [[0.1, 0.2], [0.9, 0.3]]}, ((0.0, 1.0), (0.0, 1.0))),
        ("near(x, x)", {"points": [[0.0, 0.5], [2.0, 0.5]]}, ((-0.1, 2.1), (0.0, 1.0))),
    ],
)
def test_the_rectangle_of_a_surface(plane: ltn.Theory, query: str, options: Any, expected: Any) -> None:
    axes = ltn.plot.surface(plane, query, resolution=4, **options).axes[0]
    np.testing.assert_allclose((axes.get_xlim(), axes.get_ylim()), expected)


def test_surface_with_points_data_and_options(plane: ltn.Theory) -> None:
    query = "forall y: near(x, y) -> A(y)"
    data = {"y": [[0.1, 0.9], [0.8, 0.2]]}
    groups = {"in A": [[0.9, 0.1]], "not in A": [[0.1, 0.9], [0.2, 0.8]]}
    figure = ltn.plot.surface(plane, query, "x", resolution=3, points=groups, data=data, p_forall=1)
    truth = plane.query(query, data, x=[[0.0, 0.0]], p_forall=1).tensor.numpy()
    np.testing.assert_allclose(image(figure).get_array(), np.full((3, 3), truth[0]))
    assert legend(figure)[-2:] == ["in A", "not in A"]
    for drawn, group in zip(figure.axes[0].collections[-2:], groups.values(), strict=True):
        np.testing.assert_allclose(np.asarray(drawn.get_offsets(), float), np.asarray(group))


@pytest.mark.parametrize(
    ("query", "options", "error", "message"),
    [
        ("near(x, y)", {}, ltn.LogicValueError, "one free variable; `near\\(x, y\\)` has 2: x, y. Quantify"),
        ("forall x: A(x)", {"data": {"x": [[0, 0]]}}, ltn.LogicValueError, "has none. Leave out"),
        ("x", {}, ltn.LogicTypeError, "`x` is a term"),
        ("D(n)", {}, ltn.LogicValueError, "two features.*'numbers' of 'n' has the shape \\(1,\\).*heat_map"),
        ("C(s)", {}, ltn.LogicValueError, "has the bounds 'simplex'"),
        ("A(x)", {"variable": "y"}, ltn.LogicValueError, "is 'x'; got `variable` 'y'"),
        ("A(x)", {"bounds": (1, 0)}, ltn.LogicValueError, "low < high; got \\(1, 0\\)"),
        ("A(x)", {"bounds": "all"}, ltn.LogicValueError, "`bounds` are.*got 'all'"),
        ("A(x)", {"resolution": 1}, ltn.LogicValueError, "`resolution`.*at least 2; got 1"),
        ("A(x)", {"points": [1.0, 2.0]}, ltn.LogicValueError, "shape \\(n, 2\\).*have the shape \\(2,\\)"),
        ("B(u)", {"bounds": (0, 9)}, ltn.LogicValueError, "leave the bounds \\(-2.0, 2.0\\)"),
    ],
)
def test_mistakes_in_surfaces(
    plane: ltn.Theory, query: str, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.surface(plane, query, **options)

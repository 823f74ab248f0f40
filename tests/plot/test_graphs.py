"""Graphs of relations: an arrow where the relation holds, as strong as it does; nodes stand apart."""

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
import ltn.plot
from ltn.plot.layouts import by_springs, on_circle
from tests.plot.drawn import written

TRUTHS = np.array([[0.9, 0.8, 0.1], [0.6, 0.2, 0.5], [0.4, 0.3, 0.0]])


def theory_of(truths: Any, names: Any = None) -> ltn.Theory:
    values = tf.constant(truths, tf.float32)
    count = len(truths)
    theory = ltn.Theory()
    domain = theory.domain("people", values=names or [f"p{number}" for number in range(count)])
    theory.variables("x, y", domain)
    theory.predicate(
        "F",
        (domain, domain),
        lambda xs: tf.gather_nd(values, tf.cast(tf.concat(xs, axis=1), tf.int32)),
    )
    theory.predicate("S", domain, lambda x: x[:, 0] / count)
    theory.variable("n", theory.domain("numbers", values=[0.0, 1.0]))
    theory.predicate("N", theory.signature.domains["numbers"], lambda n: n[:, 0])
    theory.predicate("M", (domain, theory.signature.domains["numbers"]), lambda xs: 0.5 * xs[1][:, 0])
    return theory


def edges(figure: Any) -> dict[str, Any]:
    """Arrows and rings by what they say."""
    axes = figure.axes[0]
    return {edge.get_label(): edge for edge in (*axes.patches, *axes.lines)}


@pytest.mark.parametrize("formula", ["F(x, y)", "F"])
def test_an_arrow_stands_for_each_pair_that_reaches_the_threshold(formula: str) -> None:
    figure = ltn.plot.relation(theory_of(TRUTHS), formula)
    drawn = edges(figure)
    assert set(drawn) == {"p0 to p0", "p0 to p1", "p1 to p0", "p1 to p2"}
    for (start, end), truth in np.ndenumerate(TRUTHS):
        if start != end and truth >= 0.5:
            arrow = drawn[f"p{start} to p{end}"]
            np.testing.assert_allclose(
                arrow.get_edgecolor(), ltn.plot.style.TRUTH(np.float32(truth)), atol=1e-2
            )
    widths = [drawn[name].get_linewidth() for name in ("p1 to p2", "p1 to p0", "p0 to p1")]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3
    ring = drawn["p0 to p0"]
    np.testing.assert_allclose(ring.get_markeredgecolor(), ltn.plot.style.TRUTH(0.9), atol=1e-2)
    assert written(figure) == ["p0", "p1", "p2"]
    assert figure.axes[0].get_title() == "Truth of F(x, y)"
    assert figure.get_supxlabel() == "4 arrows from x to y, where the truth is at least 0.5."


def test_arrows_go_from_the_first_variable_to_the_second() -> None:
    figure = ltn.plot.relation(theory_of(TRUTHS), "F(y, x) & x != y", threshold=0.7)
    assert set(edges(figure)) == {"p0 to p1"}
    assert figure.get_supxlabel() == "1 arrow from y to x, where the truth is at least 0.7."


@pytest.mark.parametrize(("threshold", "count"), [(0.0, 9), (0.6, 3), (1.0, 0)])
def test_the_threshold_of_arrows(threshold: float, count: int) -> None:
    figure = ltn.plot.relation(theory_of(TRUTHS), "F", threshold=threshold)
    assert len(edges(figure)) == count
    if not count:
        assert "No pair of individuals reaches a truth of 1" in figure.get_supxlabel()


@pytest.mark.parametrize("nodes", ["S", "S(y)", "exists y: F(x, y)"])
def test_individuals_are_coloured_by_a_formula(nodes: str) -> None:
    theory = theory_of(TRUTHS)
    figure = ltn.plot.relation(theory, "F", nodes=nodes)
    truths = theory.query("S(x)" if nodes == "S" else nodes).tensor.numpy()
    fills = figure.axes[0].collections[0].get_facecolor()
    np.testing.assert_allclose(fills, [ltn.plot.style.TRUTH(truth) for truth in truths])
    assert "; of individuals: " in figure.axes[0].get_title()


@pytest.mark.parametrize("layout", ["springs", "circle"])
@pytest.mark.parametrize("length", [3, 16])
def test_names_and_individuals_do_not_overlap(layout: str, length: int) -> None:
    count = 14
    rng = np.random.default_rng(0)
    theory = theory_of(
        rng.uniform(size=(count, count)), [f"p{number:0>{length - 1}}" for number in range(count)]
    )
    figure = ltn.plot.relation(theory, "F", layout=layout, threshold=0.8)
    figure.draw_without_rendering()
    assert len(figure.axes[0].texts) == count
    places = figure.axes[0].transData.transform(figure.axes[0].collections[0].get_offsets())
    gaps = [np.linalg.norm(one - two) for one, two in itertools.combinations(places, 2)]
    assert min(gaps) > 2 * 11.0 * figure.dpi / 72
    # Names along rays are turned: their boxes overlap where they do not.
    if layout == "springs":
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))


def test_springs_keep_related_nodes_near() -> None:
    linked = np.zeros((6, 6), bool)
    for start, end in ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)):
        linked[start, end] = True
    places = by_springs(linked)
    np.testing.assert_array_equal(places, by_springs(linked))
    assert np.abs(places).max() <= 1.0 + 1e-9
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    group = np.arange(6) // 3
    same = group[:, None] == group[None]
    assert 1.5 * apart[same & (apart > 0.0)].mean() < apart[~same].mean()
    assert (np.where(apart > 0.0, apart, np.inf).argmin(axis=1) // 3 == group).all()


@pytest.mark.parametrize("count", [1, 2, 3, 60])
def test_layouts_of_any_size(count: int) -> None:
    for places in (
        on_circle(count),
        by_springs(np.zeros((count, count), bool)),
        by_springs(np.ones((count, count), bool)),
    ):
        assert places.shape == (count, 2)
        assert np.isfinite(places).all()
        assert len(np.unique(places.round(3), axis=0)) == count


@pytest.mark.parametrize(
    ("formula", "options", "error", "message"),
    [
        ("S(x)", {}, ltn.LogicValueError, r"two free variables; `S\(x\)` has 1: x"),
        ("x", {}, ltn.LogicTypeError, "A graph shows the truth of a formula; `x` is a term"),
        ("M(x, n)", {}, ltn.LogicValueError, "over one domain.*'people' and 'numbers'"),
        ("F", {"nodes": "N"}, ltn.LogicValueError, r"'people' are coloured.*`N\(n\)` is over 'numbers'"),
        ("F", {"threshold": 1.5}, ltn.LogicValueError, "from 0 to 1; got 1.5"),
        ("F", {"threshold": "high"}, ltn.LogicValueError, "from 0 to 1; got 'high'"),
        ("F", {"layout": "tree"}, ltn.LogicValueError, "'springs', 'circle'; got 'tree'"),
    ],
)
def test_mistakes_in_graphs(formula: str, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ltn.plot.relation(theory_of(TRUTHS), formula, **options)


def test_a_graph_of_too_many_individuals_is_refused() -> None:
    with pytest.raises(ltn.LogicValueError, match=r"'people' has 61 individuals.*heat_map"):
        ltn.plot.relation(theory_of(np.zeros((61, 61))), "F")

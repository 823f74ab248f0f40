"""Pictures of reasoning: their lines are the penalty and the search; the run that decided stands out."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import ltn
import ltn.plot
from ltn.reasoning import Grounding, Verdict
from tests.plot.drawn import legend

LONG = "forall x, y: " + " & ".join(f"(likes_{number}(x, y) -> likes_{number}(y, x))" for number in range(30))


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.lines}


def verdict(restarts: int = 3, deciding: int = 2, **changes: Any) -> Verdict:
    """One of runs of different lengths, of which one decides in its last but one step."""
    rng = np.random.default_rng(0)
    tables = []
    for restart in range(1, restarts + 1):
        steps = 10 + restart
        table = pd.DataFrame(rng.uniform(size=(steps, 3)), columns=["loss", "satisfaction", "value"])
        tables.append(table.assign(restart=restart, step=range(steps)))
    best = [table.iloc[-2] for table in tables]
    runs = pd.DataFrame({name: [row[name] for row in best] for name in ("satisfaction", "value")})
    satisfaction, value = (float(number) for number in runs.iloc[deciding - 1])
    fields: dict[str, Any] = {
        **{"formula": "A & B", "method": "refutation", "q": 0.95, "slack": 5.0, "case": "refuted"},
        **{"satisfaction": satisfaction, "value": value, "grounding": Grounding({}, {}, {})},
        **{"starting_point": deciding, "runs": runs, "curve": pd.concat(tables, ignore_index=True)},
    }
    return Verdict(**fields | changes)


# Penalty


@pytest.mark.parametrize(
    ("arguments", "settings", "labels"),
    [
        ((), ((1.0, 1.0), (0.5, 2.0)), ["α = 1, β = 1", "α = 0.5, β = 2"]),
        (([(0.05, 10)],), ((0.05, 10.0),), ["α = 0.05, β = 10"]),
        (([[0, 0]],), ((0.0, 0.0),), ["α = 0, β = 0"]),
    ],
)
def test_penalty_draws_elu(arguments: Any, settings: Any, labels: list[str]) -> None:
    figure = ltn.plot.penalty(*arguments)
    axes = figure.axes[0]
    for line, (alpha, beta) in zip(axes.lines, settings, strict=True):
        x = np.asarray(line.get_xdata(), float)
        assert (x[0], x[-1]) == (-3.0, 3.0)
        expected = np.where(x >= 0, beta * x, alpha * (np.exp(x) - 1))
        np.testing.assert_allclose(np.asarray(line.get_ydata(), float), expected, atol=1e-6)
    assert list(lines(axes)) == legend(figure) == labels
    assert axes.get_title() == "The penalty elu(α, β x)"


def test_penalty_tells_many_curves_apart() -> None:
    drawn = ltn.plot.penalty((0.1, number) for number in range(20)).axes[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in drawn}) == 20


# Search


def test_search_draws_every_run() -> None:
    found = verdict()
    above, below = ltn.plot.search(found).axes
    for column, axes in (("satisfaction", above), ("value", above), ("loss", below)):
        drawn = lines(axes)
        for restart in (1, 2, 3):
            run = found.curve[found.curve.restart == restart]
            line = drawn[f"{column} from starting point {restart}"]
            np.testing.assert_array_equal(line.get_xdata(), run.step)
            np.testing.assert_array_equal(line.get_ydata(), run[column])
    assert above.get_ylim() == (0.0, 1.0)
    assert (below.get_xlabel(), below.get_ylabel(), above.get_ylabel()) == ("step", "loss", "truth")


@pytest.mark.parametrize("deciding", [1, 2, 3])
def test_the_deciding_run_stands_out(deciding: int) -> None:
    found = verdict(deciding=deciding)
    figure = ltn.plot.search(found)
    for axes, column in (
        (figure.axes[0], "satisfaction"),
        (figure.axes[0], "value"),
        (figure.axes[1], "loss"),
    ):
        strong, *faint = sorted(
            (line for label, line in lines(axes).items() if label.startswith(f"{column} from")),
            key=lambda line: -line.get_linewidth(),
        )
        assert strong.get_label() == f"{column} from starting point {deciding}"
        assert strong.get_zorder() > max(line.get_zorder() for line in faint)
        assert strong.get_color() not in {line.get_color() for line in faint}
    for column in ("satisfaction", "value"):
        dot = lines(figure.axes[0])[f"{column} that decided"]
        # The last but one of 10 + deciding steps.
        assert list(dot.get_xdata()) == [8 + deciding]
        assert list(dot.get_ydata()) == [getattr(found, column)]
    assert legend(figure) == [
        f"satisfaction of the axioms  {found.satisfaction:.3f}",
        f"truth of the formula  {found.value:.3f}",
        "q = 0.95",
        f"the formula is false below {found.level:.3g}",
        f"decided: starting point {deciding} of 3",
        "other starting points",
    ]


def test_search_from_one_starting_point_with_one_level() -> None:
    figure = ltn.plot.search(verdict(1, 1, q=0.4))
    assert legend(figure)[2:] == ["q = 0.4", "decided: starting point 1 of 1"]
    level = figure.axes[0].lines[-1]
    np.testing.assert_array_equal(level.get_ydata(), [0.4, 0.4])


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({}, "Does not follow, by refutation: A ∧ B"),
        ({"case": "assumed"}, "Assumed to follow, by refutation: A ∧ B"),
        ({"case": "assumed", "method": "brave"}, "Assumed to follow, after learning: A ∧ B"),
        ({"case": "unsatisfied"}, "Follows only as the axioms were not satisfied, by refutation: A ∧ B"),
    ],
)
def test_the_title_says_the_verdict(changes: Any, title: str) -> None:
    assert ltn.plot.search(verdict(**changes)).axes[0].get_title() == title


def test_a_long_formula_stays_in_the_picture() -> None:
    figure = ltn.plot.search(verdict(10, formula=LONG))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    title = figure.axes[0].title
    assert title.get_text().startswith(
        "Does not follow, by refutation: ∀x, y: (likes_0(x, y) → likes_0(y, x))"
    )
    assert title.get_text().endswith("…")
    place = title.get_window_extent(canvas.get_renderer())
    assert place.x0 >= 0
    assert place.x1 <= figure.bbox.width
    assert place.y1 <= figure.bbox.height
    assert figure.axes[0].bbox.height > 0.3 * figure.bbox.height


def test_a_large_loss_does_not_hide_a_small_one() -> None:
    found = verdict()
    assert ltn.plot.search(found).axes[1].get_yscale() == "linear"
    found.curve.loc[0, "loss"] = 950.0
    below = ltn.plot.search(found).axes[1]
    assert below.get_yscale() == "symlog"
    assert below.get_ylabel() == "loss\n(logarithmic above 1)"


def test_the_search_of_the_paper(tmp_path: Path) -> None:
    theory = ltn.Theory()
    for name in "AB":
        theory.proposition(name, 0.0, trainable=True)
    theory.axiom("A | B")
    found = theory.entails("A", verbose=0)
    figure = ltn.plot.search(found)
    assert figure.axes[0].get_title() == "Does not follow, by refutation: A"
    drawn = lines(figure.axes[0])
    np.testing.assert_array_equal(drawn["value from starting point 1"].get_ydata(), found.curve.value)
    [step] = drawn["value that decided"].get_xdata()
    at_dot = found.curve.iloc[int(step)]
    np.testing.assert_allclose(
        [at_dot.satisfaction, at_dot.value], [found.satisfaction, found.value], atol=1e-6
    )
    figure.savefig(tmp_path / "search.png")


# Mistakes


@pytest.mark.parametrize(
    ("function", "argument", "error", "message"),
    [
        ("search", True, ltn.LogicTypeError, r"theory\.entails\(\.\.\.\).*got a bool"),
        ("search", verdict().curve, ltn.LogicTypeError, "its verdict.*got a DataFrame"),
        ("penalty", (1.0, 2.0), ltn.LogicTypeError, r"\(1.0, 2.0\).*single pair in a list"),
        ("penalty", 0.5, ltn.LogicTypeError, r"pairs \(alpha, beta\).*got 0.5"),
        ("penalty", [(1, 2, 3)], ltn.LogicTypeError, r"got \(1, 2, 3\).*two numbers"),
        ("penalty", ["ab"], ltn.LogicTypeError, r"got \('a', 'b'\)"),
        ("penalty", [(1, -2)], ltn.LogicValueError, r"at least 0.*got \(1, -2\)"),
        ("penalty", [], ltn.LogicValueError, "got none. Leave them out"),
    ],
)
def test_mistakes(function: str, argument: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        getattr(ltn.plot, function)(argument)

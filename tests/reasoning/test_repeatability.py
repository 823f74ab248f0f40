"""Seeds make a search repeatable; the progress bar is shown where it is wanted."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import keras
import pandas as pd
import pytest

import ltn
from tests.reasoning.small import QUICK, either, generators, people, propositions

STARTS: dict[str, Any] = {"restarts": 3, "steps": 20, "verbose": 0}


def undecided() -> ltn.Theory:
    """Its search tries all starting points: there is no counterexample."""
    return people(["S(a)", "forall x: S(x)"])


def same(one: ltn.reasoning.Verdict, other: ltn.reasoning.Verdict) -> bool:
    return one.curve.equals(other.curve) and one.runs.equals(other.runs)


def test_the_same_seed_gives_the_same_curve() -> None:
    theory = undecided()
    verdicts = []
    for global_seed in (0, 1):
        # It depends on nothing else that is random.
        keras.utils.set_random_seed(global_seed)
        verdicts.append(theory.entails("S(b)", q=0.9, seed=7, **STARTS))
    assert same(*verdicts)
    assert repr(verdicts[0]) == repr(verdicts[1])


def test_another_seed_gives_other_starts() -> None:
    theory = undecided()
    one, other = (theory.entails("S(b)", q=0.9, seed=seed, **STARTS) for seed in (7, 8))
    # The first start is the theory as it is.
    first = [verdict.curve[verdict.curve.restart == 1] for verdict in (one, other)]
    pd.testing.assert_frame_equal(*first)
    for restart in (2, 3):
        losses = [list(verdict.curve[verdict.curve.restart == restart].loss) for verdict in (one, other)]
        assert losses[0][0] != losses[1][0]


def test_starts_differ_from_each_other() -> None:
    curve = propositions("AB", ["A | B"]).entails("A | B", seed=0, **STARTS).curve
    assert curve[curve.step == 0].loss.nunique() == 3


@pytest.mark.parametrize("method", ["refutation", "brave"])
def test_a_start_is_the_same_whatever_their_number(method: str) -> None:
    theory = undecided()
    few, many = (
        theory.entails("S(b)", q=0.9, method=method, seed=3, **{**STARTS, "restarts": restarts})
        for restarts in (2, 3)
    )
    pd.testing.assert_frame_equal(few.runs, many.runs.iloc[:2])
    both = many.curve[many.curve.restart <= 2]
    pd.testing.assert_frame_equal(few.curve, both)


def test_without_a_seed_the_generator_of_python_decides() -> None:
    theory = propositions("AB", ["A | B"])
    verdicts = []
    for global_seed in (1, 1, 2):
        keras.utils.set_random_seed(global_seed)
        verdicts.append(theory.entails("A | B", **STARTS))
    assert same(verdicts[0], verdicts[1])
    assert not same(verdicts[0], verdicts[2])


@pytest.mark.filterwarnings("ignore:The theory does not pin")
@pytest.mark.parametrize("ask", ["entails", "bounds"])
def test_the_progress_bar_is_printed_on_request(ask: str, capsys: pytest.CaptureFixture[str]) -> None:
    theory = either()
    getattr(theory, ask)("A", **{**QUICK, "verbose": 0}, q=0.55)
    assert capsys.readouterr() == ("", "")
    getattr(theory, ask)("A", **{**QUICK, "verbose": 1}, q=0.55)
    shown = capsys.readouterr().out
    assert "satisfaction: " in shown
    assert "value: " in shown
    assert shown.endswith("\n")


def test_it_is_shown_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    either().entails("A", restarts=1, steps=5)
    assert "satisfaction: " in capsys.readouterr().out


def test_it_shows_what_was_reached_last(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = either().entails("A", restarts=1, steps=100, verbose=1)
    last = verdict.curve.iloc[-1]
    shown = capsys.readouterr().out.split("\r")[-1]
    assert f"satisfaction: {last['satisfaction']:.4f}" in shown
    assert f"value: {last['value']:.4f}" in shown or "value: 0.0000" in shown


def test_in_threads() -> None:
    """Each search draws its own starts, whatever others draw meanwhile."""
    theories = [people(["forall x: S(x) | ~S(a)"]) for _ in range(4)]
    for theory in theories[1:]:
        theory.set_weights(theories[0].get_weights())

    def ask(theory: ltn.Theory) -> list[Any]:
        asked = QUICK | {"restarts": 4, "seed": 3, "steps": 2}
        return theory.entails("S(a) & S(b)", method="brave", **asked).runs.to_numpy().tolist()

    alone, before = ask(theories[0]), generators()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, theories)) == [alone] * 4
    assert generators() == before

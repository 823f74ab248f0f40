"""Semantics: presets, changes, and the semantics in force."""

import dataclasses
import itertools
import threading
from typing import Any

import pytest

import ltn
from ltn import fuzzy_ops
from ltn.semantics import current, get
from tests.fuzzy_ops import reference
from tests.tolerance import assert_close

PRESETS = ["stable_product", "product", "godel", "lukasiewicz"]


def test_the_default_is_the_papers_stable_product() -> None:
    assert ltn.Semantics() == get("stable_product") == current()
    assert ltn.Semantics() == ltn.Semantics(
        Not=fuzzy_ops.Not_Std(),
        And=fuzzy_ops.And_Prod(stable=True),
        Or=fuzzy_ops.Or_ProbSum(stable=True),
        Implies=fuzzy_ops.Implies_Reichenbach(stable=True),
        Equiv=fuzzy_ops.Equiv(fuzzy_ops.And_Prod(), fuzzy_ops.Implies_Reichenbach()),
        Forall=fuzzy_ops.Aggreg_pMeanError(p=2),
        Exists=fuzzy_ops.Aggreg_pMean(p=2),
        SatAgg=fuzzy_ops.Aggreg_pMeanError(p=2),
    )


PAPER: dict[str, dict[str, Any]] = {
    "stable_product": {
        "And": reference.stable_product,
        "Or": reference.stable_probabilistic_sum,
        "Implies": reference.stable_reichenbach,
        "Forall": reference.power_mean_error(2, stable=True),
        "Exists": reference.power_mean(2, stable=True),
    },
    "product": {
        "And": reference.product,
        "Or": reference.probabilistic_sum,
        "Implies": reference.reichenbach,
        "Forall": reference.power_mean_error(2, stable=False),
        "Exists": reference.power_mean(2, stable=False),
    },
    "godel": {
        "And": reference.minimum,
        "Or": reference.maximum,
        "Implies": reference.godel,
        "Forall": min,
        "Exists": max,
    },
    "lukasiewicz": {
        "And": reference.lukasiewicz_and,
        "Or": reference.lukasiewicz_or,
        "Implies": reference.lukasiewicz_implication,
        "Forall": reference.lukasiewicz_and_of_all,
        "Exists": reference.lukasiewicz_or_of_all,
    },
}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_the_papers_configurations(name: str) -> None:
    preset, paper = get(name), PAPER[name]
    # Each list exposes one end of the aggregators: Lukasiewicz's reach 0 and 1 early.
    for values in ([0.0, 0.3, 0.45, 1.0], [0.9, 0.95, 1.0, 0.98], [0.1, 0.0, 0.2, 0.05], [1.0] * 4):
        for x, y in itertools.product(values, repeat=2):
            assert_close(preset.Not(x), reference.standard_negation(x))
            for symbol in ("And", "Or", "Implies"):
                assert_close(getattr(preset, symbol)(x, y), paper[symbol](x, y))
            assert_close(preset.Equiv(x, y), reference.equivalence(paper["And"], paper["Implies"])(x, y))
        for symbol in ("Forall", "Exists"):
            assert_close(getattr(preset, symbol)(values), paper[symbol](values))
        assert_close(preset.SatAgg(values), paper["Forall"](values))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_wrap_into_the_usual_eight_names(name: str) -> None:
    preset = get(name)
    assert preset is getattr(ltn.semantics, name)
    wrappers = preset.wrap()
    assert wrappers._fields == tuple(field.name for field in dataclasses.fields(preset))
    operators = [getattr(w, "connective_op", None) or w.aggreg_op for w in wrappers]
    assert operators == [getattr(preset, field) for field in wrappers._fields]
    assert (wrappers.Forall.semantics, wrappers.Exists.semantics) == ("forall", "exists")


def test_presets_differ_and_hash_by_value() -> None:
    assert len({get(name) for name in PRESETS}) == len(PRESETS)
    assert hash(ltn.Semantics()) == hash(ltn.semantics.stable_product)


def test_replace_changes_a_copy() -> None:
    changed = ltn.semantics.product.replace(Exists=fuzzy_ops.Aggreg_Max())
    assert changed.Exists == fuzzy_ops.Aggreg_Max()
    assert changed.And == fuzzy_ops.And_Prod(stable=False)
    assert ltn.semantics.product.Exists == fuzzy_ops.Aggreg_pMean(p=2, stable=False)
    assert changed.replace(Exists=fuzzy_ops.Aggreg_pMean(stable=False)) == ltn.semantics.product


def test_a_composed_equivalence_follows_and_one_of_ones_own_stays() -> None:
    followed = ltn.semantics.godel.replace(And=fuzzy_ops.And_Luk())
    assert followed.Equiv == fuzzy_ops.Equiv(fuzzy_ops.And_Luk(), fuzzy_ops.Implies_Godel())
    own = fuzzy_ops.Equiv(fuzzy_ops.And_Min(), fuzzy_ops.Implies_Luk())
    semantics = ltn.Semantics(Equiv=own).replace(And=fuzzy_ops.And_Luk())
    assert semantics.Equiv == semantics.wrap().Equiv.connective_op == own


def test_it_is_immutable_and_prints_its_operators() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ltn.semantics.godel.And = fuzzy_ops.And_Luk()  # type: ignore[misc]
    shown = repr(ltn.semantics.godel)
    assert shown.startswith("Semantics(Not=Not_Std(), And=And_Min(), Or=Or_Max(), Implies=Implies_Godel()")
    assert eval(shown, {"Semantics": ltn.Semantics, **vars(fuzzy_ops)}) == ltn.semantics.godel


def test_using_nests_and_ends_also_by_an_error() -> None:
    with ltn.using("godel") as outer:
        assert current() is outer is ltn.semantics.godel
        with pytest.raises(TypeError, match="neither true nor false"), ltn.using("lukasiewicz"):
            bool(ltn.Proposition(0.5, trainable=False))
        assert current() == ltn.semantics.godel
    assert current() == ltn.semantics.stable_product


def test_another_thread_keeps_the_default() -> None:
    seen = []
    with ltn.using("godel"):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [ltn.semantics.stable_product]


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="no semantics 'goedel'; the presets are stable_product, product"):
        get("goedel")
    with pytest.raises(TypeError, match="the name of one; got 3"):
        get(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no symbol `Xor`; it has: Not, And"):
        ltn.semantics.product.replace(Xor=fuzzy_ops.And_Min())
    with pytest.raises(TypeError, match="`And` must be an operator; got 'min'"):
        ltn.Semantics(And="min")  # type: ignore[arg-type]

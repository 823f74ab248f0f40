"""Semantics: presets, changes, and the semantics in force."""

import asyncio
import dataclasses
import itertools
import json
import threading
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn import fuzzy_ops
from ltn.core import in_force
from ltn.semantics import BaseSemantics, LogSemantics, current, from_config, get
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


def test_formulas_combine_by_the_default_where_nothing_is_chosen() -> None:
    default = in_force.connectives()
    for name in ("Not", "And", "Or", "Implies", "Equiv"):
        assert getattr(default, name) == getattr(ltn.semantics.stable_product, name)
    with ltn.using("godel"):
        assert in_force.connectives() is ltn.semantics.godel


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


COUNTS = {
    "stable_product": reference.count_of_all,
    "product": reference.count_of_all,
    "godel": reference.count_by_order,
    "lukasiewicz": reference.count_by_sum,
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
        for bounds in ((0, 0), (2, 2), (1, 3)):
            found = preset.Count(values, least=bounds[0], most=bounds[1])
            assert_close(found, COUNTS[name](*bounds)(values))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_wrap_into_the_usual_eight_names(name: str) -> None:
    preset = get(name)
    assert preset is getattr(ltn.semantics, name)
    wrappers = preset.wrap()
    # What counts has a wrapper of its own, `Wrapper_Count`, which is told the kind.
    fields = [field.name for field in dataclasses.fields(preset) if field.name != "Count"]
    assert wrappers._fields == tuple(fields)
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


def test_using_in_an_asynchronous_generator_that_another_task_closes() -> None:
    async def truths() -> AsyncGenerator[Any, None]:
        with ltn.using("godel"):
            while True:
                yield current()

    async def run() -> list[Any]:
        generator = truths()

        async def first() -> Any:
            return await anext(generator)

        seen = [await asyncio.create_task(first()), current()]
        await generator.aclose()
        return [*seen, current()]

    default = ltn.semantics.stable_product
    assert asyncio.run(run()) == [ltn.semantics.godel, default, default]


def test_another_thread_keeps_the_default() -> None:
    seen = []
    with ltn.using("godel"):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [ltn.semantics.stable_product]


class TestLogSemantics:
    def test_the_default_is_the_product_in_log_space(self) -> None:
        assert get("log_product") is ltn.semantics.log_product
        assert ltn.semantics.log_product == LogSemantics(
            And=fuzzy_ops.And_Log(),
            Or=fuzzy_ops.Or_Log(),
            Forall=fuzzy_ops.Aggreg_LogMean(),
            Exists=fuzzy_ops.Aggreg_LogSumOdds(p=1),
            SatAgg=fuzzy_ops.Aggreg_LogMean(),
        )

    def test_the_mean_for_exists_has_a_name(self) -> None:
        mean = get("log_product_mean")
        assert mean == ltn.semantics.log_product.replace(Exists=fuzzy_ops.Aggreg_LogMeanExp(p=1))
        assert ltn.semantics.from_config(mean.get_config()) == mean
        assert mean.hyperparameters() == ltn.semantics.log_product.hyperparameters()
        assert get(LogSemantics(Or=fuzzy_ops.Or_Max())).Or == fuzzy_ops.Or_Max()

    def test_replace(self) -> None:
        changed = ltn.semantics.log_product.replace(Exists=fuzzy_ops.Aggreg_Max())
        assert changed == LogSemantics(Exists=fuzzy_ops.Aggreg_Max())
        with pytest.raises(
            TypeError, match="no symbol `Not`; it has: And, Or, Forall, Exists, SatAgg, Count"
        ):
            changed.replace(Not=fuzzy_ops.Not_Std())
        with pytest.raises(TypeError, match=r"`Exists` must be an operator; got the class Aggreg_Max"):
            changed.replace(Exists=fuzzy_ops.Aggreg_Max)

    def test_it_is_not_for_single_operators(self) -> None:
        for given in ("log_product", ltn.semantics.log_product):
            with pytest.raises(ValueError, match=r"cannot be in force.*use it in ltn\.Theory\(\"log_product"):
                ltn.using(given).__enter__()  # type: ignore[arg-type]
        assert current() == ltn.semantics.stable_product
        for name in ("wrap", "Not", "Implies", "Equiv"):
            with pytest.raises(AttributeError, match=rf"no `{name}`.*negation normal form.*ltn\.Theory"):
                getattr(ltn.semantics.log_product, name)
        with pytest.raises(AttributeError, match=r"no `nand`\.$"):
            ltn.semantics.log_product.nand  # type: ignore[attr-defined]  # noqa: B018
        with pytest.raises(AttributeError, match=r"ltn\.Theory"):
            ltn.Semantics.wrap(ltn.semantics.log_product)  # type: ignore[arg-type]


def test_a_semantics_names_its_space() -> None:
    assert {name: get(name).space for name in [*PRESETS, "log_product"]} == {
        **dict.fromkeys(PRESETS, "truth"),
        "log_product": "log",
    }
    for kind in (ltn.Semantics, LogSemantics):
        assert issubclass(kind, BaseSemantics)
        assert "space" not in kind().get_config()["operators"]
    with pytest.raises(TypeError, match="abstract"):
        BaseSemantics()  # type: ignore[abstract]


class TestHyperparameters:
    def test_by_name(self) -> None:
        assert ltn.semantics.stable_product.hyperparameters() == {
            "stable_and": True,
            "stable_or": True,
            "stable_implies": True,
            **{"p_forall": 2, "stable_forall": True},
            **{"p_exists": 2, "stable_exists": True},
            **{"p_satagg": 2, "stable_satagg": True},
        }
        assert ltn.semantics.godel.hyperparameters() == {}
        assert ltn.semantics.log_product.hyperparameters() == {"p_exists": 1}
        sigmoidal = ltn.semantics.godel.replace(
            Implies=fuzzy_ops.Implies_Sigmoidal(fuzzy_ops.Implies_Reichenbach()), And=lambda x, y: x * y
        )
        assert sigmoidal.hyperparameters() == {"s_implies": 9.0, "b0_implies": -0.5}

    def test_changed_in_a_copy(self) -> None:
        changed = ltn.semantics.product.with_hyperparameters(p_exists=6, stable_exists=True, stable_and=True)
        assert changed.Exists == fuzzy_ops.Aggreg_pMean(p=6, stable=True)
        assert changed.Equiv == fuzzy_ops.Equiv(fuzzy_ops.And_Prod(), ltn.semantics.product.Implies)
        assert changed.Forall == ltn.semantics.product.Forall
        assert ltn.semantics.product.hyperparameters()["p_exists"] == 2
        assert ltn.semantics.log_product.with_hyperparameters(p_exists=3.5).Exists.p == 3.5  # type: ignore[attr-defined]
        assert ltn.semantics.godel.with_hyperparameters() == ltn.semantics.godel

    def test_variables(self) -> None:
        p = tf.Variable(6.0)
        semantics = ltn.semantics.product.with_hyperparameters(p_exists=p)
        assert semantics.hyperparameters()["p_exists"] is p
        xs = [0.2, 0.7]
        value = tf.function(lambda: semantics.with_hyperparameters(p_forall=p).Exists(xs))
        for power in (6.0, 3.0):
            p.assign(power)
            expected = fuzzy_ops.Aggreg_pMean(power, stable=False)(xs)
            assert_close(semantics.Exists(xs), expected)
            assert_close(value(), expected)

    def test_mistakes_are_explained(self) -> None:
        with pytest.raises(TypeError, match=r"no hyper-parameter `p_exist`; it has: stable_and, .*p_exists"):
            ltn.semantics.product.with_hyperparameters(p_exist=6)
        with pytest.raises(TypeError, match="no hyper-parameter `p_exists`; it has: none"):
            ltn.semantics.godel.with_hyperparameters(p_exists=6)
        with pytest.raises(ValueError, match=r"`p` must be a finite number of at least 1; got 0\.5"):
            ltn.semantics.product.with_hyperparameters(p_exists=0.5)


class TestConfig:
    @pytest.mark.parametrize("name", [*PRESETS, "log_product"])
    def test_presets_come_back_through_json(self, name: str) -> None:
        config = json.loads(json.dumps(get(name).get_config()))
        assert from_config(config) == get(name)
        assert type(get(name)).from_config(config) == get(name)

    def test_hyperparameters_and_composed_operators_come_back(self) -> None:
        implies = fuzzy_ops.Implies_Sigmoidal(fuzzy_ops.Implies_Goguen(stable=False), s=np.float32(7.5))
        own = fuzzy_ops.Equiv(fuzzy_ops.And_Min(), fuzzy_ops.Implies_Luk())
        for semantics in (
            ltn.Semantics(Implies=implies, Exists=fuzzy_ops.Aggreg_pMean(p=6.5)),
            ltn.Semantics(Equiv=own),
            LogSemantics(Exists=fuzzy_ops.Aggreg_LogMeanExp(p=3)),
        ):
            assert from_config(json.loads(json.dumps(semantics.get_config()))) == semantics
        restored = ltn.Semantics.from_config(ltn.Semantics(Implies=implies).get_config())
        # What followed And and Implies before follows them again.
        assert restored.replace(And=fuzzy_ops.And_Luk()).Equiv == fuzzy_ops.Equiv(
            fuzzy_ops.And_Luk(), implies
        )

    def test_variables_are_described_by_their_value(self) -> None:
        semantics = ltn.semantics.product.with_hyperparameters(
            p_exists=tf.Variable(6.0), p_forall=tf.constant(3)
        )
        restored = from_config(json.loads(json.dumps(semantics.get_config())))
        assert restored.hyperparameters()["p_exists"] == 6.0
        assert restored.hyperparameters()["p_forall"] == 3

    def test_mistakes_are_explained(self) -> None:
        class Mine(fuzzy_ops.Aggreg_Min):
            pass

        for operators, match in (
            (
                {"And": lambda x, y: x * y},
                r"`And` cannot be saved: <function .* is no operator of ltn\.fuzzy_ops",
            ),
            ({"Forall": Mine()}, r"`Forall` cannot be saved: .*Mine"),
            (
                {"Implies": fuzzy_ops.Implies_Sigmoidal(max)},
                r"`implies_op` cannot be saved: <built-in function max>",
            ),
        ):
            with pytest.raises(ValueError, match=match):
                ltn.semantics.godel.replace(**operators).get_config()
        godel = ltn.semantics.godel.get_config()
        for operator, match in (
            ({"class_name": "eval"}, r"no operator 'eval' in ltn\.fuzzy_ops"),
            ({"class_name": "Aggregator"}, r"no operator 'Aggregator'"),
            ({"class_name": "log_truth"}, r"no operator 'log_truth'"),
            ("And_Min", r"no operator None .*'And_Min'"),
            ({"class_name": "And_Prod", "config": {"p": 2}}, r"And_Prod has no hyper-parameter 'p'"),
        ):
            with pytest.raises(ValueError, match=match):
                from_config(godel | {"operators": {"And": operator}})
        for config, match in (
            ({}, "`semantics` has no 'class_name'"),
            ({"class_name": "Semantics"}, "`semantics` has no 'operators'"),
            ({"class_name": "os", "operators": {}}, r"Expected what Semantics\.get_config\(\) gives"),
        ):
            with pytest.raises(ValueError, match=match):
                from_config(config)
        with pytest.raises(ValueError, match=r"Expected what LogSemantics\.get_config\(\) gives"):
            LogSemantics.from_config(godel)


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="no semantics 'goedel'; the presets are stable_product, product"):
        get("goedel")
    with pytest.raises(TypeError, match="the name of one; got 3"):
        get(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="no symbol `Xor`; it has: Not, And"):
        ltn.semantics.product.replace(Xor=fuzzy_ops.And_Min())
    with pytest.raises(TypeError, match="`And` must be an operator; got 'min'"):
        ltn.Semantics(And="min")  # type: ignore[arg-type]

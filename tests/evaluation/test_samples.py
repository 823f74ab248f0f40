"""Samples: what quantifiers draw is uniform, satisfies the guard, is drawn anew, and is cheap."""

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.evaluation import joins
from ltn.evaluation.evaluation import Plans
from ltn.evaluation.plan import Sampling
from ltn.language import parse
from tests.theory.theories import traced
from tests.tolerance import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

COUNT = 7
KNOWS = [(0, 1), (1, 2), (2, 0), (1, 1), (4, 1), (4, 5), (0, 5), (6, 6), (3, 0), (3, 2), (3, 6), (3, 1)]
PAIRS = [(x, y) for x in range(COUNT) for y in range(COUNT)]
ALL = {(x, y) for x, y in PAIRS if (x, y) not in KNOWS}
# Guards on (x, y), and what they select.
GUARDS: dict[str, list[tuple[int, int]]] = {
    "": PAIRS,
    "where knows(x, y)": KNOWS,
    "where ~knows(x, y)": sorted(ALL),
    "where ~knows(x, y) & x != y": [(x, y) for x, y in sorted(ALL) if x != y],
    "where ~(knows(x, y) | knows(y, x)) & ~(x = y)": [
        (x, y) for x, y in sorted(ALL) if x != y and (y, x) not in KNOWS
    ],
    "where ~knows(x, y) & x < y": [(x, y) for x, y in sorted(ALL) if x < y],
    "where x <= y": [(x, y) for x, y in PAIRS if x <= y],
    "where knows(x, y) & ~knows(y, x)": [(x, y) for x, y in KNOWS if (y, x) not in KNOWS],
}
DRAWN = 9
SEEDS = 400


@keras.saving.register_keras_serializable("test_samples")
class Table(keras.layers.Layer):
    """A truth for each pair of individuals: its gradient tells how often each pair was drawn."""

    def build(self, shapes: Any) -> None:
        start = keras.initializers.Constant(0.5)
        self.truths = self.add_weight(shape=(COUNT, COUNT), initializer=start, name="truths")

    def call(self, pair: Any) -> tf.Tensor:
        places = tf.cast(tf.concat(pair, axis=-1), tf.int32)
        return tf.gather_nd(self.truths, places)


def declared() -> ltn.Theory:
    theory = ltn.Theory("product", name="drawn")
    people = theory.domain("people", values=range(COUNT))
    theory.variables("x, y, z", people)
    theory.variables("u, number", people)
    theory.predicate("P", (people, people), Table())
    theory.relation("knows", (people, people), KNOWS)
    return theory


THEORY = declared()


def counts(formula: str, seed: tf.Tensor, dense: bool = False, data: Any = None, **settings: Any) -> Any:
    """The share of each pair among those that a quantifier with p = 1 draws; and the number of them."""
    evaluation = THEORY.evaluation(THEORY.space, data or {}, dense=dense, sampling=Sampling(seed), **settings)
    [table] = THEORY.trainable_variables
    with tf.GradientTape() as tape:
        [found] = evaluation.ground([parse(formula)])
        truth = tf.reduce_sum(found.tensor)
    return tf.convert_to_tensor(tape.gradient(truth, table.value))


def drawn(formula: str, seeds: int = SEEDS, jit: bool = False, number: int = DRAWN, **settings: Any) -> Any:
    """How often each pair was drawn, for each of some seeds, (seeds, 7, 7); each draws `number`."""
    function = tf.function(lambda seed: counts(formula, seed, jit, **settings), jit_compile=jit)
    # A tf.function that is kept alive by this call alone.
    found = [function(tf.constant([5, seed], tf.int64)).numpy() * number for seed in range(seeds)]
    assert function.experimental_get_tracing_count() == 1
    return np.array(found)


def assert_uniform(found: np.ndarray, selected: list[tuple[int, int]], number: int) -> None:
    """Only selected pairs, `number` in each draw, and each as often as the others."""
    whole = np.rint(found)
    assert_close(found, whole, atol=1e-4)
    assert (whole.sum(axis=(1, 2)) == number).all()
    mask = np.zeros((COUNT, COUNT), bool)
    mask[tuple(np.array(selected).T)] = True
    assert not whole[:, ~mask].any()
    total, expected = whole.sum(axis=0)[mask], len(found) * number / len(selected)
    # One of n equal parts: the variance is at most that of independent draws, that is `expected`. Among
    # a hundred pairs none is five deviations away.
    assert (np.abs(total - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("guard", GUARDS)
def test_draws_are_uniform_and_satisfy_the_guard(guard: str) -> None:
    selected = GUARDS[guard]
    found = drawn(f"forall[p=1, sample={DRAWN}] x, y {guard}: P(x, y)")
    number = min(DRAWN, len(selected))
    assert_uniform(found * number / DRAWN, selected, number)
    if len(selected) > DRAWN:
        assert len({draw.tobytes() for draw in np.rint(found)}) > SEEDS / 4


def test_variables_may_have_any_name() -> None:
    guard, alike = (f"where ~knows({x}, y) & {x} != y" for x in ("number", "x"))
    found = drawn(f"forall[p=1, sample={DRAWN}] number, y {guard}: P(number, y)", 40)
    assert_uniform(found, GUARDS[alike], DRAWN)


@pytest.mark.parametrize("guard", ["", "where knows(x, y)", "where ~knows(x, y) & x != y", "where x <= y"])
def test_eager_compiled_and_xla_agree(guard: str) -> None:
    formula = f"exists[p=1, sample={DRAWN}] x, y {guard}: P(x, y)"
    plain = drawn(formula, seeds=3)
    for seed in range(3):
        assert_close(counts(formula, tf.constant([5, seed], tf.int64)) * DRAWN, plain[seed])
    if guard == "where x <= y":
        # Under XLA it is a mask: all that it selects is used.
        [first, *_] = drawn(formula, seeds=1, jit=True, number=len(GUARDS[guard]))
        assert_close(first, np.triu(np.ones((COUNT, COUNT))))
    else:
        assert_uniform(drawn(formula, jit=True), GUARDS[guard], DRAWN)


@pytest.mark.parametrize(
    ("guard", "below"),
    [
        ("where knows(x, y)", lambda x, y: (x, y) in KNOWS),
        ("where ~knows(x, y)", lambda x, y: (x, y) not in KNOWS),
        ("where x < y", lambda x, y: x < y),
    ],
)
def test_each_individual_around_has_its_own_draws(guard: str, below: Callable[[int, int], bool]) -> None:
    found = drawn(f"forall[p=1] x: exists[p=1, sample=2] y {guard}: P(x, y)", number=COUNT)
    total = found.sum(axis=0)
    for x in range(COUNT):
        mine = [y for y in range(COUNT) if below(x, y)]
        others = [y for y in range(COUNT) if y not in mine]
        assert not total[x, others].any()
        if mine:
            # Each has the mean of at most two.
            expected = SEEDS / len(mine)
            assert_close(found[:, x].sum(axis=1), 1.0)
            assert (np.abs(total[x, mine] - expected) < 5 * np.sqrt(expected)).all()


def test_without_a_guard_all_around_share_the_draws() -> None:
    found = np.rint(drawn("forall[p=1] x: exists[p=1, sample=3] y: P(x, y)", number=3 * COUNT))
    assert (found == found[:, :1]).all()
    assert_uniform(found[:, 0, :, None] * np.ones(1) @ np.eye(1, COUNT), [(y, 0) for y in range(COUNT)], 3)


def test_axes_that_no_guard_mentions_are_drawn_too() -> None:
    # z is free in the sample: pairs (x, z), x with as many as it knows.
    found = drawn(f"forall[p=1, sample={DRAWN}] x, y, z where knows(x, y): P(x, z)").sum(axis=0)
    known = np.bincount([x for x, _ in KNOWS], minlength=COUNT)
    expected = SEEDS * DRAWN * known[:, None] / len(KNOWS) / COUNT * np.ones(COUNT)
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("guard", ["", "where u != y", "where knows(u, y)"])
def test_data_of_any_number(guard: str) -> None:
    formula = f"forall[p=1, sample=4] u, y {guard}: P(u, y)"

    @functools.partial(tf.function, input_signature=[tf.TensorSpec([None, 1]), tf.TensorSpec([2], tf.int64)])
    def function(rows: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        return counts(formula, seed, data={"u": rows})

    for rows in ([0.0, 4.0, 4.0], [], [1.0]):
        seen = np.zeros((COUNT, COUNT))
        for seed in range(100):
            given = tf.reshape(tf.constant(rows, tf.float32), [-1, 1])
            seen += function(given, tf.constant([1, seed], tf.int64)).numpy()
        expected = np.zeros((COUNT, COUNT))
        for x, y in itertools.product(map(int, rows), range(COUNT)):
            fits = {"": True, "where u != y": x != y, "where knows(u, y)": (x, y) in KNOWS}[guard]
            expected[x, y] += fits
        expected *= 100 / max(expected.sum(), 1)
        # Of 400 draws or fewer, in hundredths of the mean of 4.
        assert (np.abs(seen - expected) <= 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("jit", [False, True])
def test_of_a_join_that_memory_does_not_hold(jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "MOST_ROWS", 15)
    monkeypatch.setattr(THEORY.language, "plans", Plans())
    guard = "where knows(x, z) & knows(z, y)"
    paths = [(x, y) for x, z in KNOWS for w, y in KNOWS if w == z]
    found = drawn(f"forall[p=1, sample={DRAWN}] x, z, y {guard}: P(x, y)", jit=jit).sum(axis=0)
    expected = np.zeros((COUNT, COUNT))
    np.add.at(expected, tuple(np.array(paths).T), SEEDS * DRAWN / len(paths))
    assert len(paths) > 15
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected)).all()
    # Those who know nobody, or nobody who does, have no draws.
    found = drawn(f"forall[p=1] x: exists[p=1, sample=2] z, y {guard}: P(x, y)", 100, jit, COUNT).sum(axis=0)
    for x in range(COUNT):
        mine = np.bincount([y for w, y in paths if w == x], minlength=COUNT)
        expected = 100 * mine / max(mine.sum(), 1)
        assert (np.abs(found[x] - expected) <= 5 * np.sqrt(expected)).all()
    # What shares no variable has all combinations.
    found = drawn(
        f"forall[p=1, sample={DRAWN}] x, z, u, y where knows(x, z) & knows(u, y): P(x, y)", 100, jit
    )
    heads, tails = (np.bincount(column, minlength=COUNT) for column in np.array(KNOWS).T)
    expected = 100 * DRAWN * np.outer(heads, tails) / len(KNOWS) ** 2
    assert (np.abs(found.sum(axis=0) - expected) <= 5 * np.sqrt(expected)).all()
    monkeypatch.setattr(joins, "MOST_ROWS", 5)
    with pytest.raises(
        ltn.LogicValueError, match="a sample is drawn only where the guard is a join of relations"
    ):
        THEORY.query(f"forall[sample=3] x, z, y {guard} & x != y: P(x, y)", sample=3)


def test_in_chunks() -> None:
    formula = "forall[p=1] x: exists[p=1, sample=2] y where ~knows(x, y): P(x, y)"
    found = drawn(formula, number=COUNT, chunk=4)
    assert_close(found.sum(axis=(1, 2)), COUNT, rtol=1e-5)
    whole = f"forall[p=1, sample={DRAWN}] x, y: P(x, y)"
    assert_uniform(drawn(whole, chunk=4), PAIRS, DRAWN)


def test_the_mean_over_samples_is_the_mean_over_all() -> None:
    theory = valued()
    formula = "forall[p=1, sample=8] x, y: Q(x, y)"
    whole = float(theory.query(formula))
    found = np.array([float(theory.query(formula, sample=8)) for _ in range(100)])
    # Of the mean of a hundred, within four deviations.
    assert abs(found.mean() - whole) < 4 * found.std() / 10
    assert 0 < found.std() < 0.2


@pytest.mark.parametrize("semantics", ["stable_product", "product", "godel", "lukasiewicz", "log_product"])
def test_a_sample_of_all_is_all_under_every_semantics(semantics: str) -> None:
    theory = valued(semantics)
    for text in ("{}[sample=49] x, y: Q(x, y)", "forall x: {}[sample=7] y where ~knows(x, y): Q(x, y)"):
        for kind in ("forall", "exists"):
            formula = text.format(kind)
            assert_close(float(theory.query(formula, sample=49)), float(theory.query(formula)), rtol=1e-5)


def valued(semantics: str = "product", kind: type[ltn.Theory] = ltn.Theory, **settings: Any) -> ltn.Theory:
    theory = kind(semantics, **settings)
    people = theory.domain("people", values=range(COUNT))
    theory.variables("x, y, z", people)
    theory.relation("knows", (people, people), KNOWS)
    keras.utils.set_random_seed(0)
    theory.predicate("Q", (people, people), ltn.Predicate.MLP([1, 1], (4,)))
    return theory


def trained(**settings: Any) -> tuple[ltn.Theory, list[float]]:
    theory = valued("stable_product")
    theory.axiom("forall[sample=5, p=4] x, y where ~knows(x, y): ~Q(x, y)", name="few")
    theory.compile(keras.optimizers.SGD(0.0), **settings)
    return theory, theory.fit(epochs=6, verbose=0).history["few"]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_each_step_draws_anew_and_a_seed_repeats_all(jit_compile: bool) -> None:
    theory, found = trained(jit_compile=jit_compile)
    assert len(set(found)) > 3
    again, repeated = trained(jit_compile=jit_compile)
    assert repeated == found
    # Questions draw for themselves.
    again.report(sample=3)
    again.plan()
    assert again.fit(epochs=3, verbose=0).history == theory.fit(epochs=3, verbose=0).history


def test_only_training_draws() -> None:
    theory, _ = trained()
    whole = float(theory.query("forall[p=4] x, y where ~knows(x, y): ~Q(x, y)"))
    assert_close(theory.evaluate(return_dict=True, verbose=0)["few"], whole)
    assert_close(theory.report()["satisfaction"][0], whole)
    assert_close(float(theory({})["few"][0]), whole)
    assert len(theory.explain("few", worst=100)) == COUNT**2 - len(KNOWS)
    asked = theory.explain("few", worst=100, sample=5)
    assert len(asked) == 5
    assert all((int(x), int(y)) not in KNOWS for x, y in zip(asked["x"], asked["y"], strict=True))
    assert len({theory.report(sample=5)["satisfaction"][0] for _ in range(5)}) > 1


def test_the_text_stays(tmp_path: Path) -> None:
    theory, _ = trained()
    text = "forall[sample=5, p=4] x, y where ~knows(x, y): ~Q(x, y)"
    assert str(theory["few"]) == text
    assert str(parse("~(exists[sample=1e3] x: P(x))")) == "~exists[sample=1000] x: P(x)"
    theory.write(tmp_path / "rules.txt")
    assert "[sample=5, p=4]" in (tmp_path / "rules.txt").read_text()
    theory.save(tmp_path / "theory.keras")
    loaded = ltn.load(tmp_path / "theory.keras")
    assert str(loaded["few"]) == text
    assert len(set(loaded.fit(epochs=4, verbose=0).history["few"])) > 2
    assert len(set(theory.copy().plan().to_frame()["step"])) > 3


def test_plans_tell_the_sample_and_networks_run_on_the_fewest_rows() -> None:
    theory = valued()
    people = theory.signature.domains["people"]
    theory.predicate("R", people, ltn.Predicate.MLP([1], (2,)))
    assert "5 of 49 combinations of x, y" in str(theory.plan("forall[sample=5] x, y: Q(x, y)"))
    left = COUNT**2 - len(KNOWS)
    assert f"5 of {left} tuples where" in str(
        theory.plan("forall[sample=5] x, y where ~knows(x, y): Q(x, y)")
    )
    # Fewer individuals than rows: each once.
    assert theory.plan("forall[sample=20] x, y: R(x) & Q(x, y)").rows == {"R": 7, "Q": 20}
    assert theory.plan("forall[sample=4] x, y, z: R(x) & Q(x, y) & Q(y, z)").rows == {"R": 4, "Q": 8}
    assert theory.plan("forall[sample=60] x, y, z: R(x) & Q(x, y) & Q(y, z)").rows == {"R": 7, "Q": 49}
    # Two variables of one sample: together fewer than there are individuals, or all of these, once.
    assert theory.plan("forall[sample=3] x, y: R(x) & R(y)").rows == {"R": 6}
    assert theory.plan("forall[sample=4] x, y: R(x) & R(y)").rows == {"R": 7}
    assert theory.plan("forall[sample=3] x, y where ~knows(x, y): R(x) & R(y)").rows == {"R": 6}
    both = "(forall[sample=3] x, y: R(x) & R(y)) & (forall x: R(x))"
    assert theory.plan(both).rows == {"R": 7}
    both = "(forall[sample=2] x, y: R(x) & R(y)) & (forall x, y where knows(x, y) & y = 5: R(x))"
    assert theory.plan(both).rows == {"R": 4 + 2}
    known = "forall[sample=9] x, y where knows(x, y): R(x) & Q(x, y)"
    assert theory.plan(known).rows == {"R": len({x for x, _ in KNOWS}), "Q": 9}


@pytest.mark.parametrize("guard", ["", "where knows(x, y)", "where ~knows(x, y)"])
def test_gradients_reach_the_drawn_rows_of_a_learned_table_alone(
    guard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradient(of: int) -> Any:
        keras.utils.set_random_seed(3)
        theory = ltn.Theory("product")
        things = theory.domain("things", shape=3)
        theory.constants([f"c{number}" for number in range(50)], things, trainable=True)
        theory.variables("x, y", things)
        theory.relation("knows", (things, things), [(n, (7 * n + 3) % 50) for n in range(50)])
        theory.predicate("P", (things, things), ltn.Predicate.MLP([3, 3], (4,)))
        theory.axiom(f"forall[sample={of}] x, y {guard}: P(x, y)")
        [own] = theory.individuals
        with tf.GradientTape() as tape:
            truth = theory({}, training=True)["satisfaction"]
        return tape.gradient(truth, own.table.value)

    few = gradient(of=4)
    assert isinstance(few, tf.IndexedSlices)
    assert len(few.indices) <= 2 * 4
    # Many are added up in a table of all.
    assert isinstance(gradient(of=60), tf.Tensor)
    monkeypatch.setattr("ltn.evaluation.tuples._reads_few", lambda *_: False)
    assert_close(tf.convert_to_tensor(few), gradient(of=4))


def test_a_large_space_takes_the_memory_of_the_sample() -> None:
    count = 100_000
    theory = ltn.Theory("stable_product")
    rng = np.random.default_rng(0)
    things = theory.domain("things", values=rng.normal(size=(count, 2)).astype(np.float32))
    theory.variables("w, x, y, z", things)
    theory.predicate("P", (things, things), ltn.Predicate.MLP([2, 2], (4,)))
    theory.relation("known", (things, things), rng.integers(0, count, (1000, 2)))
    theory.axioms("""
        all: forall[sample=512] x, y: P(x, y)
        triples: forall[sample=512] x, y, z: P(x, y) & P(y, z) -> P(x, z)
        unknown: forall[sample=512] x, y where ~known(x, y) & x != y: ~P(x, y)
    """)
    plan = theory.plan()
    assert "512 of 10,000,000,000 combinations of x, y" in str(plan)
    assert "512 of 1,000,000,000,000,000 combinations of x, y, z" in str(plan)
    # The features, and what is known of a few thousand rows.
    assert plan.memory < 2 * 2**20
    theory.compile("adam")
    assert np.isfinite(theory.fit(epochs=2, verbose=0).history["loss"]).all()
    with pytest.raises(ltn.LogicValueError, match="All 10,000,000,000 combinations of x, y would be"):
        theory.report()
    with pytest.raises(ltn.LogicValueError, match="All 10,000,000,000 combinations of x, y would be"):
        theory.violations()
    assert len(theory.report(sample=100)) == 3
    assert theory.violations(sample=100).groundings().tolist() == [100, 100, 100]
    with pytest.raises(ltn.LogicValueError, match="at most 2\\^62 combinations; there are 100,000,000,000"):
        theory.plan("forall[sample=9] w, x, y, z: P(w, x) | P(y, z)")
    chosen = theory.explain("unknown", worst=3, sample=100)
    assert not (chosen["x"] == chosen["y"]).any()


class TestQuestions:
    def test_evaluate_draws_anew_in_each_step_and_training_knows_nothing_of_it(self) -> None:
        theory, found = trained()
        again, repeated = trained()
        whole = again.evaluate(return_dict=True, verbose=0)["few"]
        asked = [again.evaluate(sample=5, return_dict=True, verbose=0)["few"] for _ in range(4)]
        assert len({*asked, whole}) == 5
        # More than there are.
        assert_close(again.evaluate(sample=100, return_dict=True, verbose=0)["few"], whole)
        assert_close(again.evaluate(return_dict=True, verbose=0)["few"], whole)
        assert again.fit(epochs=3, verbose=0).history == theory.fit(epochs=3, verbose=0).history
        assert repeated == found

    def test_evaluate_means_over_the_samples_of_batches(self) -> None:
        theory = valued()
        theory.variable("v", theory.signature.domains["people"])
        theory.axiom("forall v: forall[sample=7, p=1] x, y: Q(x, y) | Q(v, x)", name="many")
        theory.compile("sgd")
        data = {"v": np.arange(COUNT)}
        found = [theory.evaluate(data, batch_size=1, sample=7, verbose=0)[2] for _ in range(30)]
        whole = theory.evaluate(data, batch_size=1, verbose=0)[2]
        # Within four deviations of the mean of thirty.
        assert abs(np.mean(found) - whole) < 4 * np.std(found) / np.sqrt(30)
        assert np.std(found) > 0

    def test_evaluate_traces_once_for_each_number(self) -> None:
        Traced, traces = traced()
        theory = valued(kind=Traced)
        theory.axiom("forall[sample=5] x, y: Q(x, y)")
        theory.compile("sgd")
        for most in (3, 4, 3, None, 4, None):
            theory.evaluate(sample=most, verbose=0)
        assert len(traces) == 3
        theory.axiom("exists[sample=5] x, y: Q(x, y)")
        for most in (3, 3):
            theory.evaluate(sample=most, verbose=0)
        assert len(traces) == 4

    def test_where_nothing_is_written_the_outermost_quantifiers_draw(self) -> None:
        theory = valued()
        formula = "forall[p=1] x, y: exists z: Q(x, z) & Q(z, y)"
        whole = float(theory.query(formula))
        found = {float(theory.query(formula, sample=5)) for _ in range(5)}
        assert len(found | {whole}) == 6
        assert "5 of 49 combinations of x, y" in str(theory.plan(formula, sample=5))
        assert "combinations of" not in str(theory.plan(formula))
        assert_close(float(theory.query(formula, sample=49)), whole)
        # A count is of all; what is written is what draws.
        assert float(theory.query("at least 2 x: Q(x, 0)", sample=1)) == float(
            theory.query("at least 2 x: Q(x, 0)")
        )
        assert "of x, z" not in str(
            theory.plan("forall x, z: exists[sample=3] y: Q(x, y) & Q(z, y)", sample=2)
        )
        assert len(theory.explain("forall x, y: Q(x, y)", worst=100, sample=5)) == 5

    def test_a_search_sees_one_sample_of_what_does_not_fit(self) -> None:
        theory = ltn.Theory("product")
        things = theory.domain("things", values=range(100_000))
        theory.variables("x, y", things)
        A = theory.proposition("A", 0.9, trainable=True)
        theory.predicate("even", things, lambda thing: tf.cast(thing[:, 0] % 2 == 0, tf.float32))
        theory.axiom("forall[sample=64] x, y: (even(x) | ~even(x)) & (even(y) | ~even(y)) & A", name="all")
        settings: dict[str, Any] = {"q": 0.8, "restarts": 1, "steps": 20, "seed": 0, "verbose": 0}
        for ask in (theory.entails, theory.bounds):
            with pytest.raises(ltn.LogicValueError, match=r"All 10,000,000,000 .* `sample=64` among its"):
                ask("A", **settings)
        assert theory.entails("A", sample=64, **settings)
        half = "forall[sample=16, p=1] x: even(x)"
        found = theory.bounds(half, sample=16, **settings)
        # The learning of A changes nothing about what is drawn.
        assert found.low == found.high
        assert found.low is not None
        assert 0.0 < found.low < 1.0
        assert float(A) == pytest.approx(0.9)


class TestHyperparameters:
    def test_tell_what_axioms_draw_where_their_text_does_not(self) -> None:
        theory = valued("stable_product")
        theory.axioms("""
            define linked(x): exists z: Q(x, z)
            plain: forall x, y: Q(x, y)
            written: forall[sample=4] x, y: Q(y, x)
            defined: forall x: linked(x)
            counted: at least 1 x: Q(x, 0)
        """)
        before = str(theory.plan())
        assert "9 of" not in before
        theory.set_hyperparameters(sample_forall=9, sample_exists=3)
        assert (theory.hyperparameters["sample_forall"], theory.hyperparameters["sample_exists"]) == (9, 3)
        plan = str(theory.plan())
        for piece in ("9 of 49 combinations of x, y", "4 of 49 combinations", "3 of 7 combinations"):
            assert piece in plan
        theory.set_hyperparameters(axiom="plain", sample_forall=8)
        assert "8 of 49 combinations of x, y" in str(theory.plan())
        assert str(theory["plain"]) == "forall x, y: Q(x, y)"
        # Questions about other formulas draw nothing, and those about axioms all.
        assert "9 of" not in str(theory.plan("forall x, y: Q(x, y)"))
        assert_close(theory.report()["satisfaction"][0], float(theory.query("forall x, y: Q(x, y)")))
        assert len({theory.report(sample=5)["satisfaction"][0] for _ in range(3)}) == 3
        theory.set_hyperparameters(sample_forall=None, sample_exists=None)
        theory.set_hyperparameters(axiom="plain", sample_forall=None)
        assert "sample_forall" not in theory.hyperparameters
        assert str(theory.plan()) == before

    def test_compile_again_where_the_number_changes(self) -> None:
        Traced, traces = traced()
        theory = valued("stable_product", kind=Traced, sample_exists=3)
        theory.axiom("forall x: exists y: Q(x, y)", name="some")
        theory.compile(keras.optimizers.SGD(0.0))
        schedule = ltn.callbacks.Schedule("sample_exists", {0: 3, 2: 3.0, 4: 5, 6: 2**27})
        history = theory.fit(epochs=9, verbose=0, callbacks=[schedule]).history["some"]
        assert len(traces) == 3
        assert len(set(history[:6])) > 3
        assert len(set(history[6:])) == 1
        assert_close(history[-1], float(theory.query("forall x: exists y: Q(x, y)")))

    def test_compile_the_steps_of_a_model_with_knowledge_again(self) -> None:
        network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, "sigmoid")])
        theory = ltn.Theory("product", p_forall=1)
        points = theory.domain("points", shape=1)
        theory.variable("x", points)
        theory.predicate("P", points, network)
        theory.axiom("forall x: P(x)", name="all")
        model = ltn.with_knowledge(network, theory)
        model.compile(keras.optimizers.SGD(0.0), "mse")
        rows = np.linspace(-2.0, 2.0, 8, dtype=np.float32)[:, np.newaxis]
        truths = theory.query("P(x)", x=rows).tensor.numpy()
        schedule = ltn.callbacks.Schedule("sample_forall", {0: 1, 2: 8})
        found = model.fit(rows, rows, batch_size=8, epochs=3, verbose=0, callbacks=[schedule]).history["all"]
        assert_close(found[2], truths.mean())
        for one in found[:2]:
            assert np.abs(truths - one).min() < 1e-6

    def test_are_saved_and_copied(self, tmp_path: Path) -> None:
        theory = valued(sample_forall=9)
        theory.axioms("plain: forall x, y: Q(x, y)\nother: forall x, y: Q(y, x)")
        theory.set_hyperparameters(axiom="other", sample_forall=5)
        theory.save(tmp_path / "theory.keras")
        for other in (ltn.load(tmp_path / "theory.keras"), theory.copy()):
            assert other.hyperparameters == theory.hyperparameters
            plan = str(other.plan())
            assert "9 of 49" in plan
            assert "5 of 49" in plan
            other.compile(keras.optimizers.SGD(0.0))
            assert len(set(other.fit(epochs=3, verbose=0).history["plain"])) == 3

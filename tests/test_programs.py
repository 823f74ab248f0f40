"""Whole programs, written as users of the published API write them: they run, compile once, and learn."""

import dataclasses
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import ltn
from benchmarks import __main__ as benchmarks
from benchmarks import beside, environments, race, results, suite
from benchmarks.programs.traces import formula_of_long_addition, theory_of_long_addition
from tests import fresh

Not = ltn.Wrapper_Connective(ltn.fuzzy_ops.Not_Std())
And = ltn.Wrapper_Connective(ltn.fuzzy_ops.And_Prod())
Or = ltn.Wrapper_Connective(ltn.fuzzy_ops.Or_ProbSum())
Implies = ltn.Wrapper_Connective(ltn.fuzzy_ops.Implies_Reichenbach())
Forall = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMeanError(p=2), semantics="forall")
Exists = ltn.Wrapper_Quantifier(ltn.fuzzy_ops.Aggreg_pMean(p=2), semantics="exists")
formula_aggregator = ltn.Wrapper_Formula_Aggregator(ltn.fuzzy_ops.Aggreg_pMeanError(p=2))


def train(
    axioms: Any, variables: Any, steps: int, learning_rate: float = 0.01, **compiled: Any
) -> list[float]:
    """Maximise the satisfaction of the axioms; the satisfaction before each step."""
    optimizer = keras.optimizers.Adam(learning_rate)
    optimizer.build(variables)
    traces = []

    @tf.function(**compiled)
    def step(*args: tf.Tensor) -> tf.Tensor:
        traces.append(args)
        with tf.GradientTape() as tape:
            loss = 1.0 - axioms(*args)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return 1.0 - loss

    levels = [float(step()) for _ in range(steps)]
    assert len(traces) == 1
    return levels


@pytest.mark.parametrize("jit_compile", [False, True])
def test_binary_classification(jit_compile: bool) -> None:
    points = np.random.default_rng(0).uniform(size=(60, 2)).astype(np.float32)
    positive = points.sum(axis=1) > 1
    A = ltn.Predicate.MLP([2], hidden_layer_sizes=(16, 16))

    def axioms() -> tf.Tensor:
        x_A, x_not_A = ltn.Variable("x_A", points[positive]), ltn.Variable("x_not_A", points[~positive])
        return formula_aggregator([Forall(x_A, A(x_A)), Forall(x_not_A, Not(A(x_not_A)))]).tensor

    levels = train(axioms, A.trainable_variables, 60, jit_compile=jit_compile)
    assert levels[0] < 0.55
    assert levels[-1] > 0.75


@pytest.mark.parametrize("jit_compile", [False, True])
def test_addition_of_digits_with_a_mask(jit_compile: bool) -> None:
    """The paper's distant supervision, on pictures of one hot pixel: only sums are given."""
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 4, (32, 2))
    left, right = (np.eye(4, dtype=np.float32)[digits[:, i]] for i in range(2))
    Digit = ltn.Predicate.FromLogits(keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)]), "softmax")
    add, equals = ltn.utils.Func_add(), ltn.utils.Pred_equal_strict()
    d1, d2 = ltn.Variable("d1", range(4)), ltn.Variable("d2", range(4))
    p = tf.Variable(1.0, trainable=False)

    def axioms() -> tf.Tensor:
        x, y = ltn.Variable("x", left), ltn.Variable("y", right)
        n = ltn.Variable("n", digits.sum(axis=1))
        return Forall(
            ltn.diag(x, y, n),
            Exists(
                (d1, d2),
                And(Digit([x, d1]), Digit([y, d2])),
                mask=equals([add([d1, d2]), n]),
                p=p,
            ),
            p=2,
        ).tensor

    train(axioms, Digit.trainable_variables, 150, 0.05, jit_compile=jit_compile)
    learned = np.argmax(Digit.logits_model(np.eye(4, dtype=np.float32)), axis=1)
    np.testing.assert_array_equal(learned, range(4))


def test_embeddings_from_constants() -> None:
    """A small smokers program: constants, from_constants under the tape, implications, guarded facts."""
    people = {name: ltn.Constant(np.random.uniform(size=3), trainable=True) for name in "abcd"}
    Smokes = ltn.Predicate.MLP([3], hidden_layer_sizes=(8,))
    Friends = ltn.Predicate.MLP([3, 3], hidden_layer_sizes=(8,))
    friends = [("a", "b"), ("c", "d")]
    weights = [*Smokes.trainable_variables, *Friends.trainable_variables, *ltn.as_tensors(people.values())]

    def axioms() -> tf.Tensor:
        x = ltn.Variable.from_constants("x", list(people.values()))
        y = ltn.Variable.from_constants("y", list(people.values()))
        return formula_aggregator(
            [
                *(Friends([people[u], people[v]]) for u, v in friends),
                Smokes(people["a"]),
                Not(Smokes(people["c"])),
                Forall(x, Not(Friends([x, x])), p=5),
                Forall((x, y), Implies(Friends([x, y]), Friends([y, x])), p=5),
                Forall((x, y), Implies(And(Friends([x, y]), Smokes(x)), Smokes(y)), p=5),
            ]
        ).tensor

    levels = train(axioms, weights, 400, 0.01)
    # Nine of ten seeds pass; the seed is fixed.
    assert levels[-1] > max(0.75, levels[0] + 0.1)
    assert float(Smokes(people["a"]).tensor) > 0.5 > float(Smokes(people["c"]).tensor)
    assert float(Friends([people["d"], people["c"]]).tensor) > 0.5 > float(Friends([people["a"]] * 2).tensor)


def fake(function: str, *arguments: float, name: str = "", environment: str = race.OURS) -> race.Program:
    return race.Program(name or function, "fake_programs", function, arguments, environment, "tests")


def test_workers_take_turns_and_failures_are_results() -> None:
    pace = race.Pace(rounds=3, round=0.01, building=20.0, step=1.0)
    programs = [
        fake("sleeping", 0.02, name="long"),
        fake("sleeping", 0.01, name="short"),
        fake("sleeping", 3.0, name="hanging"),
        *(fake(function) for function in ("dying", "greedy", "broken")),
        fake("sleeping", 0.0, name="elsewhere", environment="no such environment"),
    ]
    found = race.race(programs, {race.OURS: sys.executable}, pace)
    failures = {name: measured.failure for name, measured in found.items() if measured.failure}
    assert failures == {
        "hanging": "more than 1 s per step",
        "dying": "killed by SIGKILL",
        "greedy": "out of memory",
        "broken": "ImportError",
        "elsewhere": "not measured",
    }
    times = race.ratio(found["long"], found["short"])
    assert times is not None
    assert 1.2 < times[1] < 3.0
    assert times[0] <= times[1] <= times[2]
    assert found["long"].peak > 2**20
    assert race.ratio(found["long"], found["dying"]) is None


def test_rows_tell_ratios_targets_and_failures() -> None:
    programs = tuple(fake("sleeping", name=name) for name in ("plain", "Theory", "peer", "gone"))
    targets = (
        suite.Target("Theory", 1.05, "plain"),
        suite.Target("Theory", 2.0),
        suite.Target("peer", 4.0, "Theory", at_least=True),
        suite.Target("gone", 4.0, "Theory", at_least=True),
    )
    found = {
        "plain": race.Measured([0.1, 0.2], 2**30),
        "Theory": race.Measured([0.2, 0.4], 2**30),
        "peer": race.Measured([1.0, 2.0], 2**30),
        "gone": race.Measured(failure="killed by SIGKILL"),
    }
    outcome = suite.Workload("work", programs, "plain", targets), found
    plain, theory, peer, gone = (results.row(program, outcome, {}) for program in programs)
    assert plain == ("work", "plain", "150.00", "", "0.50 (0.50 to 0.50)", "1024", "", "")
    assert theory[3:] == ("2.00 (2.00 to 2.00)", "", "1024", "≤ 1.05 x plain; ≤ 2 GiB", "NO; yes")
    assert peer[4:] == ("5.00 (5.00 to 5.00)", "1024", "≥ 4 x Theory", "yes")
    assert gone[2:] == ("killed by SIGKILL", "", "", "", "≥ 4 x Theory", "not measured")
    assert results.targets([outcome]).splitlines() == [
        "2 of 4 were met.",
        "",
        "- work, Theory ≤ 1.05 x plain: NO",
        "- work, Theory ≤ 2 GiB: yes",
        "- work, peer ≥ 4 x Theory: yes",
        "- work, gone ≥ 4 x Theory: not measured",
    ]


class Forked:
    """A worker in a fresh process, as `race` deals with the `Popen` of one."""

    def __init__(self, command: list[str], env: dict[str, str], **options: Any):
        arguments = command[command.index(str(race.WORKER)) + 1 :]
        with tempfile.TemporaryDirectory() as folder:
            questions, answers = Path(folder, "questions"), Path(folder, "answers")
            for pipe in (questions, answers):
                os.mkfifo(pipe)
            files = {0: questions, 1: answers, 2: Path(os.devnull)}
            self._process = fresh.start("benchmarks.worker", *arguments, files=files, environment=env)
            self.stdin, self.stdout = questions.open("w"), answers.open()

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def communicate(self) -> None:
        self.wait()
        self.stdin.close()
        self.stdout.close()


def test_the_benchmarks_without_peers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "subprocess", SimpleNamespace(Popen=Forked, PIPE=None))
    page = tmp_path / "page.md"
    benchmarks.main(["relation, 100 ", "quantifier", "--quick", "--no-peers", "--out", str(page)])
    table = capsys.readouterr().out.strip()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    measured = {row[1]: row[2] for row in cells}
    assert list(measured) == [
        *("Theory", "ltn.core", "ltn 2.1", "LTNtorch", "by hand, layer split"),
        *("mean squared error", "Forall(x, P(x))"),
    ]
    for name, time in measured.items():
        if name in ("ltn 2.1", "LTNtorch"):
            assert time == "not measured: peers were left out"
        else:
            assert float(time) > 0.0
    text = page.read_text()
    assert table in text
    assert "LTNtorch was not measured: peers were left out" in text


def test_a_program_runs_with_the_library_of_each_checkout(tmp_path: Path) -> None:
    for name, seconds in {"new": 0.2, "old": 0.01}.items():
        # Programs are never those of the checkouts that are compared.
        for package, text in {"ltn": f"SECONDS = {seconds}", "benchmarks": "raise ImportError"}.items():
            (tmp_path / name / package).mkdir(parents=True)
            (tmp_path / name / package / "__init__.py").write_text(text)
    pace = race.Pace(rounds=3, round=0.01, building=20.0, step=5.0)
    with beside.library_of(tmp_path / "new") as new, beside.library_of(tmp_path / "old") as old:
        program = dataclasses.replace(fake("obeying"), library=new)
        found = beside.compare(suite.Workload("work", (program,)), program, old, pace)
    assert found.title == "work, obeying"
    assert min(found.old.seconds) < 0.2 <= min(found.new.seconds)


def test_what_is_slower_beyond_the_spread() -> None:
    old, failed = race.Measured([1.0, 1.0, 1.0]), race.Measured(failure="TypeError")
    found = [
        beside.Comparison("slow", "Theory", old, race.Measured([1.04, 1.08, 1.12])),
        beside.Comparison("scattered", "Theory", old, race.Measured([0.9, 1.1, 1.2])),
        beside.Comparison("fast", "Theory", old, race.Measured([0.5, 0.5, 0.5])),
        beside.Comparison("broken", "Theory", old, failed),
    ]
    assert [one.is_slower for one in found] == [True, False, False, None]
    assert beside.row(found[0]) == ("slow", "Theory", "1000.00", "1080.00", "1.08 (1.06 to 1.10)", "YES")
    assert beside.row(found[3]) == ("broken", "Theory", "1000.00", "TypeError", "", "not compared")
    assert beside.report(found).split("\n\n")[1:] == [
        "Slower by more than 3 % beyond the spread: 1\n- slow, Theory: 1.08 (1.06 to 1.10)",
        "Not compared: 1\n- broken, Theory",
    ]


def test_only_programs_that_run_ltn_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [workload for workload in suite.workloads() if workload.title.startswith(("relation", "quant"))]
    names = {program.name for _, program in beside.pairs(chosen)}
    assert names == {"Theory", "ltn.core", "Theory, chunk=100000", "Forall(x, P(x))"}
    with pytest.raises(SystemExit):
        benchmarks.main(["--beside", "nowhere"])
    assert "there is no package `ltn` in nowhere" in capsys.readouterr().err


def test_long_addition_is_true_of_sums_only() -> None:
    """47 + 58 = 105, on images whose pixels all have the colour of their digit."""

    def digit(individuals: list[tf.Tensor]) -> tf.Tensor:
        image, number = individuals
        shown = tf.round(9.0 * image[:, 0, 0, 0])
        return tf.where(tf.equal(shown, number[:, 0]), 0.99, 0.001)

    theory = theory_of_long_addition(2, ltn.Predicate.Lambda(digit))
    shown = {"x1": 4, "x0": 7, "y1": 5, "y0": 8}
    images = {name: np.full((1, 28, 28, 1), number / 9, np.float32) for name, number in shown.items()}

    def truth(*sums: int) -> float:
        results = {f"n{place}": np.array([number]) for place, number in enumerate(sums)}
        return float(theory.query(formula_of_long_addition(2), images | results, semantics="godel"))

    assert truth(5, 0, 1) > 0.9
    for wrong in ((5, 1, 1), (5, 9, 0), (4, 0, 1)):
        assert truth(*wrong) < 0.01


def test_a_peer_that_cannot_be_had_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = environments.Peer("peer", "peer", (), ("2.0",))
    _, reasons = environments.interpreters([peer], tmp_path)
    assert reasons == {"peer": "it needs Python 2.0, which was not found"}
    # A command that fails, as an installation without a network does.
    monkeypatch.setattr(environments, "base_python", lambda versions: "false")
    pythons, reasons = environments.interpreters([peer], tmp_path / "peers")
    assert not pythons
    assert reasons == {"peer": "it could not be installed: see peers/peer.log"}

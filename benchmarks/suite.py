"""What is measured, and what is aimed at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.environments import LTN21, LTNTORCH
from benchmarks.race import Measured, Program, ratio

THEORY, CORE, CNN = "Theory", "ltn.core", "CNN baseline"
GIB = 2**30

POINTS = (200, 400, 800, 1600, 3200)
CHUNK = 100_000
FACTS = (10, 100, 1000)
# The edges of a graph, and between how many individuals they are.
EDGES = 35_000
NODES = (1000, 40_000)
# How many tuples a rule draws.
SAMPLE = 4096
# The length of the numbers in the longest addition.
DIGITS = 15


@dataclass(frozen=True)
class Target:
    """What a program should reach.

    Args:
        program: its name.
        limit: of its time, in units of the time of `other`; without an other one of its peak memory, in GiB.
        other: the name of another program.
        at_least: whether the limit is the least, else it is the most.
    """

    program: str
    limit: float
    other: str = ""
    at_least: bool = False

    def __str__(self) -> str:
        sign, unit = "≥" if self.at_least else "≤", f"x {self.other}" if self.other else "GiB"
        return f"{sign} {self.limit:g} {unit}"

    def met(self, found: Mapping[str, Measured]) -> bool | None:
        """Whether it is reached; None where that was not measured."""
        measured = found[self.program]
        if measured.failure:
            return None
        figure = measured.peak / GIB
        if self.other:
            times = ratio(measured, found[self.other])
            if times is None:
                return None
            figure = times[1]
        return figure >= self.limit if self.at_least else figure <= self.limit


@dataclass(frozen=True)
class Workload:
    """Programs that do the same.

    Args:
        title: by whose beginning it is chosen.
        programs: all that do it.
        baseline: the name of the program that the others are compared with, beside the theory.
        targets: what is aimed at.
        patience: how many times as long as others it may take to get ready, and for a step.
    """

    title: str
    programs: tuple[Program, ...]
    baseline: str = ""
    targets: tuple[Target, ...] = ()
    patience: int = 1


def faster(times: float) -> tuple[Target, ...]:
    """How many times as long as the theory each peer takes, at least."""
    return tuple(Target(peer, times, THEORY, at_least=True) for peer in (LTN21, LTNTORCH))


# How many individuals a relation is between, and what is aimed at there.
INDIVIDUALS = {
    100: (),
    300: faster(3.0),
    1000: faster(3.0),
    3000: (Target(THEORY, 4.0), *faster(3.0)),
}


def workloads() -> list[Workload]:
    """All of them, in the order of the table."""
    return [
        addition("single", "train", Target(THEORY, 1.05, CNN), *faster(4.0)),
        addition("two", "train", Target(THEORY, 1.0, CNN), *faster(4.0)),
        addition("three", "train", Target(THEORY, 3.0, CNN), Target(THEORY, 2.0)),
        addition("single", "query"),
        addition("two", "query"),
        *(
            Workload(f"clustering, {count} points", clustering(count), targets=faster(4.0))
            for count in POINTS
        ),
        Workload("smokers", logic("smokers"), targets=faster(3.0)),
        optimizer(),
        optimizer_of_addition(),
        *(
            Workload(f"relation, {count} individuals", relation(count), targets=targets)
            for count, targets in INDIVIDUALS.items()
        ),
        *(edges(count) for count in NODES),
        many_edges(),
        graph(),
        *(facts(count) for count in FACTS),
        embeddings(),
        quantifier(),
        *(finite(title, task) for title, task in (("smokers", "smokers"), ("addition, 1 digit", "single"))),
        knowledge(),
        reasoning("propositions"),
        reasoning("smokers"),
        *traces(),
        start(),
    ]


def logic(function: str, *arguments: str | int) -> tuple[Program, ...]:
    """A workload as a theory, with `ltn.core`, and with each peer."""
    return (
        Program(THEORY, "theories", function, arguments),
        Program(CORE, "published", function, arguments),
        Program(LTN21, "published", function, arguments, LTN21),
        Program(LTNTORCH, "ltntorch", function, arguments, LTNTORCH),
    )


def clustering(count: int) -> tuple[Program, ...]:
    """Points that are known beforehand, as in the programs of the peers; and points that come as data."""
    as_data = Program("Theory, points as data", "theories", "clustering", (count, True))
    return (*logic("clustering", count), as_data)


def relation(count: int) -> tuple[Program, ...]:
    """A relation between individuals, also by hand; where there are many pairs, in chunks too."""
    by_hand = Program("by hand, layer split", "hand", "relation", (count,), runs_ltn=False)
    in_chunks = Program(f"Theory, chunk={CHUNK}", "theories", "relation", (count, CHUNK))
    return (*logic("relation", count), by_hand, *([in_chunks] if count**2 > CHUNK else []))


def edges(individuals: int) -> Workload:
    """A rule about the edges of a graph, which are joined; also by hand."""
    by_hand = Program("by hand, gathered", "hand", "edges", (EDGES, individuals), runs_ltn=False)
    theory = Program(THEORY, "theories", "edges", (EDGES, individuals))
    return Workload(
        f"{EDGES} edges, {individuals} individuals",
        (by_hand, theory),
        by_hand.name,
        (Target(THEORY, 2.0, by_hand.name), Target(THEORY, 8.0)),
    )


def many_edges() -> Workload:
    """The same rules, joined and sampled, about few and about many individuals."""
    programs = {
        (sample, count): Program(
            f"{'sampled' if sample else 'joined'}, {count}", "theories", "edges", (EDGES, count, sample)
        )
        for sample in (0, SAMPLE)
        for count in NODES
    }
    few, many = NODES
    targets = tuple(
        Target(programs[sample, many].name, 2.0, programs[sample, few].name) for sample in (0, SAMPLE)
    )
    return Workload("few and many individuals", tuple(programs.values()), programs[0, few].name, targets)


def graph() -> Workload:
    """A million individuals and ten million edges."""
    train, declare, join = (Program(name, "graphs", name) for name in ("train", "declare", "join"))
    targets = tuple(Target(program.name, 8.0) for program in (train, declare, join))
    return Workload("graph of 10^7 edges", (train, declare, join), targets=targets, patience=5)


def facts(count: int) -> Workload:
    """Facts as axioms, beside one axiom over all of them."""
    together = Program("one axiom", "theories", "facts", (count, True))
    return Workload(
        f"{count} facts", (together, Program("as axioms", "theories", "facts", (count, False))), together.name
    )


def embeddings() -> Workload:
    """Triples that name 40 000 individuals by index, beside a layer of Keras."""
    plain = Program("keras.layers.Embedding", "embeddings", "plain", runs_ltn=False)
    ours = Program(THEORY, "embeddings", "theory")
    return Workload(
        "embeddings, 40 000 individuals", (plain, ours), plain.name, (Target(THEORY, 1.3, plain.name),)
    )


def addition(task: str, phase: str, *targets: Target) -> Workload:
    """Addition of handwritten digits, beside a network without logic."""
    programs = logic("addition", task, phase)
    if task == "three":
        # The others would hold all 10^6 combinations of digits for each example.
        programs = programs[:1]
    digits = {"single": "1 digit", "two": "2 digits", "three": "3 digits"}[task]
    baseline = Program(CNN, "baselines", "addition", (task, phase), runs_ltn=False)
    return Workload(f"addition, {digits}, {phase}", (baseline, *programs), CNN, targets)


def optimizer() -> Workload:
    """Where the optimizer works: in the tf.function of the axioms, or outside, as in tutorials of 2.1."""
    inside = Program(f"{CORE}, inside", "published", "smokers", ("train",))
    programs = (
        inside,
        Program(f"{CORE}, outside", "published", "smokers", ("outside",)),
        Program(f"{LTN21}, outside", "published", "smokers", ("outside",), LTN21),
        Program("weights alone, inside", "baselines", "weights", ("train",), runs_ltn=False),
        Program("weights alone, outside", "baselines", "weights", ("outside",), runs_ltn=False),
    )
    return Workload("optimizer", programs, inside.name)


def optimizer_of_addition() -> Workload:
    """The same for digits: inside, outside, and compiled by itself; the network alone in the same ways."""
    phases = {"inside": "train", "outside": "gradients", "apart": "apart"}
    logic = [Program(f"{CORE}, {name}", "published", "addition", ("two", phases[name])) for name in phases]
    alone = [
        Program(f"{CNN}, {name}", "baselines", "addition_by_hand", ("two", phases[name]), runs_ltn=False)
        for name in phases
    ]
    first, *_ = alone
    pairs = [(program.name, other.name) for program, other in zip(logic, alone, strict=True)]
    # Apart, the whole step is compiled, if in two pieces; so it is compared with one piece too.
    pairs.append((logic[-1].name, first.name))
    targets = tuple(Target(name, 1.5, other) for name, other in pairs)
    return Workload("optimizer, addition, 2 digits", (*alone, *logic), first.name, targets)


def quantifier() -> Workload:
    """One axiom, beside the loss that a Keras user would write."""
    plain = Program("mean squared error", "quantifier", "plain", runs_ltn=False)
    return Workload(
        "quantifier over 10 000 points",
        (plain, Program("Forall(x, P(x))", "quantifier", "logic")),
        plain.name,
    )


def finite(title: str, task: str) -> Workload:
    """Steps that find out whether they are finite, beside steps that do not."""
    asked, ignored = (
        Program(f'on_nan="{on_nan}"', "theories", "finite", (task, on_nan)) for on_nan in ("raise", "ignore")
    )
    return Workload(
        f"finite steps, {title}", (asked, ignored), ignored.name, (Target(asked.name, 1.02, ignored.name),)
    )


def knowledge() -> Workload:
    """An epoch of a small network with fifty rules, beside one without."""
    alone = Program("network alone", "knowledge", "alone", runs_ltn=False)
    fixed, balanced = (
        Program(f"with_knowledge, {name}", "knowledge", "with_rules", (weight,))
        for name, weight in (("weight 1", 1.0), ("balanced", "balanced"))
    )
    return Workload(
        "knowledge, 50 rules", (alone, fixed, balanced), alone.name, (Target(fixed.name, 2.0, alone.name),)
    )


def reasoning(function: str) -> Workload:
    """Ten starting points of a search, beside one."""
    one, ten = (Program(f"restarts={count}", "reasoning", function, (count,)) for count in (1, 10))
    return Workload(f"reasoning, {function}", (one, ten), one.name)


def traces() -> list[Workload]:
    """The first training step of theories, which is traced."""
    programs = {
        "smokers": Program(THEORY, "traces", "smokers"),
        "addition, 2 digits": Program(THEORY, "traces", "addition", ("two",)),
        f"addition, {DIGITS} digits": Program(THEORY, "traces", "long_addition", (DIGITS,)),
    }
    return [Workload(f"first trace, {title}", (program,)) for title, program in programs.items()]


def start() -> Workload:
    """Importing the library, beside importing TensorFlow."""
    tensorflow = Program("import tensorflow", "start", "importing", ("tensorflow",), runs_ltn=False)
    programs = (
        tensorflow,
        Program("import ltn", "start", "importing", ("ltn",)),
        Program(f"import ltn, {LTN21}", "start", "importing", ("ltn",), LTN21),
        Program(f"import ltn, {LTNTORCH}", "start", "importing", ("ltn",), LTNTORCH),
    )
    return Workload("start-up", programs, tensorflow.name)

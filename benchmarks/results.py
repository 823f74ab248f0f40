"""The table of results, and the page that explains it."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence

from benchmarks import environments, worker
from benchmarks.race import OURS, Measured, Pace, Program, ratio
from benchmarks.suite import DIGITS, GIB, SAMPLE, THEORY, Workload

HEADER = ("workload", "program", "ms per step", "x baseline", "x Theory", "peak MiB", "target", "met")
MIB = 2**20
PACKAGES = {
    OURS: ("tensorflow", "keras", "numpy"),
    environments.LTN21: ("ltn", "tensorflow", "keras", "numpy"),
    environments.LTNTORCH: ("LTNtorch", "torch", "numpy"),
}

# A workload, and what was measured by the names of its programs.
Outcome = tuple[Workload, Mapping[str, Measured]]
# Why environments are missing, by their names.
Reasons = Mapping[str, str]
Row = tuple[str, ...]

WORDS = {True: "yes", False: "NO", None: "not measured"}


def row(program: Program, outcome: Outcome, reasons: Reasons) -> Row:
    """What is known about one program."""
    workload, found = outcome
    measured = found[program.name]
    targets = [target for target in workload.targets if target.program == program.name]
    if measured.failure:
        reason = reasons.get(program.environment)
        time, peak = f"{measured.failure}: {reason}" if reason else measured.failure, ""
    else:
        time, peak = f"{1e3 * statistics.median(measured.seconds):.2f}", f"{measured.peak / MIB:.0f}"
    return (
        workload.title,
        program.name,
        time,
        *(times(program.name, other, found) for other in (workload.baseline, THEORY)),
        peak,
        "; ".join(str(target) for target in targets),
        "; ".join(WORDS[target.met(found)] for target in targets),
    )


def times(name: str, other: str, found: Mapping[str, Measured]) -> str:
    """The ratio of the times of two programs, with its quartiles."""
    if name == other or other not in found:
        return ""
    return quartiles(found[name], found[other])


def quartiles(first: Measured, second: Measured) -> str:
    """How many times the seconds of the second the first takes: the median, and the quartiles around it."""
    found = ratio(first, second)
    return "" if found is None else "{1:.2f} ({0:.2f} to {2:.2f})".format(*found)


def table(outcomes: Sequence[Outcome], reasons: Reasons) -> str:
    """One row for each program."""
    lines = [row(program, outcome, reasons) for outcome in outcomes for program in outcome[0].programs]
    return markdown(HEADER, lines)


def markdown(header: Row, rows: Sequence[Row]) -> str:
    """A table in Markdown, with aligned columns."""
    everything = [header, *rows]
    widths = [max(len(line[column]) for line in everything) for column in range(len(header))]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in everything
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])


def page(outcomes: Sequence[Outcome], pythons: Mapping[str, str], reasons: Reasons, pace: Pace) -> str:
    """RESULTS.md."""
    limit = worker.MEMORY_LIMIT / GIB
    return f"""# Benchmarks

This page is the output of `make bench`.

{table(outcomes, reasons)}

## Targets

{targets(outcomes)}

## What was measured

- **addition**: the paper's section 4.4, on batches of 32 examples, noise in the shape of images, with the
  operators of `stable_product` and p = 2. A `train` step is one of Adam; a `query` step asks how true the
  axiom is. The baseline is the CNN of `examples/addition.py`, which classifies the sum, trained by Keras.
  With 3 digits, six variables have 10^6 combinations; the axiom is one guarded formula.
- **clustering**: the theory of `examples/clustering.py`, on all points at once. They are known beforehand, as
  in the peers' programs, so that a theory searches its guards once; as data it searches them in every step.
- **smokers**: the paper's section 4.7, 14 embeddings, three networks, twelve axioms.
- **relation**: `forall x, y: F(x, y) -> F(y, x)` over n learned embeddings of five features.
  With `chunk`, its pairs are evaluated so many at a time, and again for the gradient. The program by hand is
  plain TensorFlow: it applies the first layer of the network to each side of a pair on its own, to n rows
  instead of n^2, and adds up what it gets.
- **35000 edges**: a rule that is joined with the edges of a graph, `forall x, y where linked(x, y): P(x) <->
  P(y)`, over learned embeddings; by hand P runs on the individuals that occur, and its rows are gathered.
  *Few and many individuals* has the same rule, and samples of {SAMPLE} tuples of the edges and of the pairs
  that are no edges, beside each other for 1000 and 40 000 individuals.
- **graph of 10^7 edges**: a million learned individuals. A step of `train` is one on the rule for all edges,
  on one for all triangles, and on samples; what is joined is joined when it begins, and is in its peak. A
  step of `declare` declares the individuals by name, and the edges; one of `join` finds the edges that go
  both ways.
- **facts**: `F(a, b)` about 32 individuals, each an axiom, beside one axiom `forall diag(u, v): F(u, v)`.
- **embeddings**: a step of Adam on 512 triples over 40 000 individuals of 64 features and 20 relations, which
  data give by index, with one network; beside the same network on `keras.layers.Embedding`.
- **optimizer**: the smokers, with the step of Adam in the tf.function of the axioms, or outside, as tutorials
  of `ltn` 2.1 have it; and Adam on as many weights of plain Keras, without logic. The same for addition of
  2 digits, whose function returns the gradients: with the optimizer in it, outside, and in a function of its
  own ("apart"); and for the CNN without logic, written in the same three ways.
- **quantifier**: `Forall(x, P(x))` beside the mean squared error of the same network.
- **reasoning**: `theory.entails` with ten starting points beside one; a step is a call.
- **first trace**: the time from the axioms in text to the end of the first training step. Each step
  makes the theory anew, reads its axioms, traces its training step and takes it once; the networks are built
  beforehand. The peak holds the graphs of all rounds. Smokers and addition of 2 digits are the theories
  above. Addition of {DIGITS} digits, with `log_product` on batches of 4 sums, is one formula that goes from
  place to place, `exists c1: (exists d, e where d + e = n0 + 10 * c1: digit(x0, d) & digit(y0, e)) &
  (exists c2: ...)`. Its quantifiers are nested as deep as the numbers are long.
- **start-up**: a fresh process that imports the library, beside one that imports TensorFlow.

`Theory` is a theory with axioms in text, by the function that `fit` or `evaluate` runs for each batch.
`ltn.core` is a program with wrappers and one `tf.function`; {environments.LTN21} runs the very same program.
{environments.LTNTORCH} runs eagerly, as it has nothing else.

## How

Each program is a process of its own. Those of a workload are alive together and take turns: {pace.rounds}
rounds of about {pace.round:g} s for each, or as many as fit into {pace.race:g} s, but at least three.
Times are medians over the rounds. Ratios are medians of the ratios within each round, with their quartiles:
`x baseline` is the time in units of the first program's, `x Theory` in units of the theory's. The peak is
the most memory that the process ever had, libraries included; what these take alone is in the rows of
start-up. A program is stopped where a step takes more than {pace.step:g} s, or it wants more than
{limit:g} GiB.

## Where

{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, {memory() / GIB:.0f} GiB; the default \
threads of each library.

{used(pythons, reasons)}
"""


def memory() -> int:
    """What the machine has, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def targets(outcomes: Sequence[Outcome]) -> str:
    """Each target, and whether it was met."""
    aims = [
        (f"{workload.title}, {target.program} {target}", target.met(found))
        for workload, found in outcomes
        for target in workload.targets
    ]
    words = [f"{sum(met is True for _, met in aims)} of {len(aims)} were met."]
    words += ["", *(f"- {aim}: {WORDS[met]}" for aim, met in aims)]
    return "\n".join(words)


def used(pythons: Mapping[str, str], reasons: Reasons) -> str:
    """The versions in each environment, or why it is missing."""
    words = []
    for name, packages in PACKAGES.items():
        if name in pythons:
            found = environments.versions(pythons[name], packages)
            words.append(
                f"- {name}: " + ", ".join(f"{package} {number}" for package, number in found.items())
            )
        else:
            words.append(f"- {name} was not measured: {reasons[name]}")
    return "\n".join(words)

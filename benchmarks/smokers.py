"""The smokers theory of the paper (14 embeddings, 12 axioms): as `ltn.Theory`, and written with `ltn.core`.

    python -m benchmarks.smokers

Both are trained by compiled steps of Adam: the theory by the function that `fit` runs, fed as `fit` feeds it;
the other by one tf.function.
"""

import keras
import numpy as np
import tensorflow as tf

import ltn
from benchmarks.measure import Step, compare

PEOPLE = "abcdefghijklmn"
GROUPS = ("abcdefgh", "ijklmn")
SMOKERS, ILL = "aefgjn", "ae"
FRIENDS = ["ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn"]
STRANGERS = [u + v for group in GROUPS for u in group for v in group if u < v and u + v not in FRIENDS]
FEATURES = 5
STEPS_PER_ROUND = 100

# The individuals that the facts speak about.
GIVEN = {
    "f1": [pair[0] for pair in FRIENDS],
    "f2": [pair[1] for pair in FRIENDS],
    "g1": [pair[0] for pair in STRANGERS],
    "g2": [pair[1] for pair in STRANGERS],
    "s1": list(SMOKERS),
    "s0": [u for u in PEOPLE if u not in SMOKERS],
    "c1": list(ILL),
    "c0": [u for u in GROUPS[0] if u not in ILL],
}


def predicates() -> dict[str, ltn.Predicate]:
    """Fresh networks for smokes, has cancer, are friends."""
    keras.utils.set_random_seed(0)
    return {
        "S": ltn.Predicate.MLP([FEATURES], (8, 8)),
        "C": ltn.Predicate.MLP([FEATURES], (8, 8)),
        "F": ltn.Predicate.MLP([FEATURES, FEATURES], (8, 8)),
    }


def theory() -> ltn.Theory:
    """The theory in text."""
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=6)
    people = theory.domain("people", shape=FEATURES)
    theory.constants(" ".join(PEOPLE), people, trainable=True)
    theory.variables("x, y", people)
    for name, individuals in GIVEN.items():
        theory.variable(name, people, values=individuals)
    for name, predicate in predicates().items():
        theory.predicate(name, (people, people) if name == "F" else people, predicate)
    theory.axioms("""
        forall diag(f1, f2): F(f1, f2)
        forall diag(g1, g2): ~F(g1, g2)
        forall s1: S(s1)
        forall s0: ~S(s0)
        forall c1: C(c1)
        forall c0: ~C(c0)
        forall[p=6] x: ~F(x, x)
        forall[p=6] x, y: F(x, y) -> F(y, x)
        forall x: exists y: F(x, y)
        forall x, y: F(x, y) & S(x) -> S(y)
        forall x: S(x) -> C(x)
        forall x: ~C(x) -> ~S(x)
    """)
    return theory


def step_of_theory() -> Step:
    """A step of `fit`."""
    model = theory()
    model.compile(keras.optimizers.Adam(1e-3))
    model.fit(verbose=0)
    step = model.make_train_function()
    batches = iter(ltn.theory.sources.no_data())
    return lambda: step(batches)["satisfaction"]


def step_of_core() -> Step:
    """The same axioms with wrappers, from_constants and one tf.function."""
    Not, And, _, Implies, _, Forall, Exists, SatAgg = ltn.semantics.stable_product.wrap()
    S, C, F = predicates().values()
    rng = np.random.default_rng(0)
    people = {u: ltn.Constant(rng.uniform(size=FEATURES), trainable=True) for u in PEOPLE}
    weights = [constant.tensor for constant in people.values()]
    weights += [weight for P in (S, C, F) for weight in P.trainable_variables]
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(weights)

    def satisfaction() -> tf.Tensor:
        x, y = (ltn.Variable.from_constants(label, list(people.values())) for label in "xy")
        f1, f2, g1, g2, s1, s0, c1, c0 = (
            ltn.Variable.from_constants(label, [people[u] for u in individuals])
            for label, individuals in GIVEN.items()
        )
        axioms = [
            Forall(ltn.diag(f1, f2), F([f1, f2])),
            Forall(ltn.diag(g1, g2), Not(F([g1, g2]))),
            Forall(s1, S(s1)),
            Forall(s0, Not(S(s0))),
            Forall(c1, C(c1)),
            Forall(c0, Not(C(c0))),
            Forall(x, Not(F([x, x])), p=6),
            Forall((x, y), Implies(F([x, y]), F([y, x])), p=6),
            Forall(x, Exists(y, F([x, y]), p=6)),
            Forall((x, y), Implies(And(F([x, y]), S(x)), S(y))),
            Forall(x, Implies(S(x), C(x))),
            Forall(x, Implies(Not(C(x)), Not(S(x)))),
        ]
        return SatAgg(axioms).tensor

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = satisfaction()
            loss = 1.0 - value
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return value

    return step


def main() -> None:
    """Measure and print."""
    written, declared = ("written with ltn.core", step_of_core()), ("as ltn.Theory", step_of_theory())
    compare(written, declared, STEPS_PER_ROUND)


if __name__ == "__main__":
    main()

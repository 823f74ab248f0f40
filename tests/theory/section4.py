"""The nine programs of the paper's section 4, each under the headings of its section.

Each function is what a user writes but for the data and the network; it returns the theory, trained.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import keras

import ltn

Data = Mapping[str, Any]


def binary_classification(train: Data, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains, variables, predicates
    points = theory.domain("points", shape=2, bounds=(0, 1))
    labels = theory.domain("labels")
    theory.variable("x", points)
    theory.variable("l", labels)
    theory.predicate("A", points, ltn.Predicate.MLP([2], (16, 16)))

    # Axioms
    theory.axioms("""
        positive: forall diag(x, l) where l = 1: A(x)
        negative: forall diag(x, l) where l = 0: ~A(x)
    """)

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(train, batch_size=64, epochs=epochs, verbose=0)
    return theory


def multi_class_single_label(train: Data, network: keras.Model, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains, variables, constants, predicates
    items = theory.domain("items", shape=4)
    labels = theory.domain("labels", values=["setosa", "versicolor", "virginica"])
    theory.variable("x", items)
    theory.variable("l", labels)
    theory.predicate("P", (items, labels), ltn.Predicate.FromLogits(network, "softmax"))

    # Axioms
    for label in labels.names or ():
        theory.axiom(f"forall diag(x, l) where l = {label}: P(x, {label})", name=label)

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(train, batch_size=64, epochs=epochs, verbose=0)
    return theory


def multi_class_multi_label(train: Data, network: keras.Model, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains, variables, constants, predicates
    items = theory.domain("items", shape=5)
    labels = theory.domain("labels", values=["blue", "orange", "male", "female"])
    theory.variable("x", items)
    theory.variables("colour, sex", labels)
    theory.predicate("P", (items, labels), ltn.Predicate.FromLogits(network, "sigmoid"))

    # Axioms
    theory.axioms("""
        is_blue: forall diag(x, colour) where colour = blue: P(x, blue)
        is_orange: forall diag(x, colour) where colour = orange: P(x, orange)
        is_male: forall diag(x, sex) where sex = male: P(x, male)
        is_female: forall diag(x, sex) where sex = female: P(x, female)
        one_colour: forall x: ~(P(x, blue) & P(x, orange))
        one_sex: forall x: ~(P(x, male) & P(x, female))
    """)

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(train, batch_size=64, epochs=epochs, verbose=0)
    return theory


def single_digit_addition(train: Data, network: keras.Model, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=1)

    # Domains, variables, predicates
    images = theory.domain("images", shape=8)
    digits = theory.domain("digits", values=range(10))
    results = theory.domain("results")
    theory.variables("x, y", images)
    theory.variable("n", results)
    theory.variables("d1, d2", digits)
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))

    # Axioms
    theory.axiom(
        "forall diag(x, y, n): exists d1, d2 where d1 + d2 = n: digit(x, d1) & digit(y, d2)", name="addition"
    )

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    schedule = ltn.callbacks.Schedule("p_exists", {0: 1, epochs // 4: 2, epochs // 2: 4, 3 * epochs // 4: 6})
    theory.fit(train, batch_size=32, epochs=epochs, callbacks=[schedule], verbose=0)
    return theory


def multi_digit_addition(train: Data, network: keras.Model, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("log_product", p_exists=1)

    # Domains, variables, predicates
    images = theory.domain("images", shape=8)
    digits = theory.domain("digits", values=range(10))
    results = theory.domain("results")
    theory.variables("x1, x2, y1, y2", images)
    theory.variable("n", results)
    theory.variables("d1, d2, d3, d4", digits)
    theory.predicate("digit", (images, digits), ltn.Predicate.FromLogits(network, "softmax"))

    # Axioms
    theory.axioms("""
        addition: forall diag(x1, x2, y1, y2, n):
            exists d1, d2, d3, d4 where 10 * d1 + d2 + 10 * d3 + d4 = n:
                digit(x1, d1) & digit(x2, d2) & digit(y1, d3) & digit(y2, d4)
    """)

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(train, batch_size=32, epochs=epochs, verbose=0)
    return theory


def regression(train: Data, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2)

    # Domains, variables, functions
    samples = theory.domain("samples", shape=6)
    prices = theory.domain("prices", equality="smooth", alpha=0.05)
    theory.variable("x", samples)
    theory.variable("y", prices)
    theory.function("f", samples, prices, ltn.Function.MLP([6], 1, (8, 8)))

    # Axioms
    theory.axiom("forall diag(x, y): f(x) = y", name="fits")

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(train, batch_size=64, epochs=epochs, verbose=0)
    return theory


def clustering(points_to_cluster: Data, network: keras.Model, epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=4, p_exists=1)

    # Domains, variables, predicates
    points = theory.domain("points", shape=2, bounds=(-1, 1))
    clusters = theory.domain("clusters", values=range(4))
    theory.variables("x, y", points)
    theory.variable("c", clusters)
    theory.predicate("C", (points, clusters), ltn.Predicate.FromLogits(network, "softmax"))

    # Axioms
    theory.axioms("""
        somewhere: forall x: exists c: C(x, c)
        not_empty: forall c: exists x: C(x, c)
        close: forall c, x, y where norm(x - y) < 0.2: C(x, c) <-> C(y, c)
        distant: forall c, x, y where norm(x - y) > 1: ~(C(x, c) & C(y, c))
    """)

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    schedule = ltn.callbacks.Schedule("p_exists", {0: 1, epochs // 4: 6})
    theory.fit(points_to_cluster, batch_size=200, epochs=epochs, callbacks=[schedule], verbose=0)
    return theory


def smokers(epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=1)

    # Domains, constants, variables, predicates
    people = theory.domain("people", shape=5)
    theory.constants("a b c d e f g h i j k l m n", people, trainable=True)
    theory.variables("x, y", people)
    theory.predicate("S", people, ltn.Predicate.MLP([5], (8, 8)))
    theory.predicate("C", people, ltn.Predicate.MLP([5], (8, 8)))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([5, 5], (8, 8)))

    # Axioms
    friends = ["ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn"]
    pairs = [u + v for group in ("abcdefgh", "ijklmn") for u in group for v in group if u < v]
    strangers = [pair for pair in pairs if pair not in friends]
    facts: dict[str, Sequence[str]] = {"F1": friends, "F0": strangers, "S1": "aefgjn", "S0": "bcdhiklm"}
    facts |= {"C1": "ae", "C0": "bcdfgh"}
    for name, known in facts.items():
        predicate, negation = name[0], "" if name[1] == "1" else "~"
        variables = [f"{name}_{position}" for position in range(len(known[0]))]
        for position, variable in enumerate(variables):
            theory.variable(variable, people, values=[individuals[position] for individuals in known])
        listed = ", ".join(variables)
        theory.axiom(f"forall diag({listed}): {negation}{predicate}({listed})", name=f"facts_{name}")
    theory.axioms("""
        antireflexive: forall[p=6] x: ~F(x, x)
        symmetric: forall[p=6] x, y: F(x, y) -> F(y, x)
        everyone: forall x: exists y: F(x, y)
        propagates: forall x, y: F(x, y) & S(x) -> S(y)
        causes: forall x: S(x) -> C(x)
        spares: forall x: ~C(x) -> ~S(x)
    """)

    # Learning
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(epochs=epochs, callbacks=[ltn.callbacks.Schedule("p_exists", {0: 1, 200: 6})], verbose=0)
    return theory


def reasoning(epochs: int) -> ltn.Theory:
    theory = ltn.Theory("stable_product")

    # Propositions
    theory.proposition("A", 0.0, trainable=True)
    theory.proposition("B", 0.0, trainable=True)

    # Axioms
    theory.axiom("A | B", name="either")

    # Learning
    theory.compile(keras.optimizers.Adam(0.01))
    theory.fit(epochs=epochs, verbose=0)
    return theory

"""A theory with one of each kind of declaration, and data for it."""

import keras
import numpy as np

import ltn

RNG = np.random.default_rng(0)
PEOPLE = RNG.uniform(size=(7, 2)).astype(np.float32)
AGES = RNG.uniform(size=7).astype(np.float32)
DATA = {"z": PEOPLE, "n": AGES, "home": np.concatenate([PEOPLE, AGES[:, np.newaxis]], axis=1)}


def everything(semantics: str = "stable_product") -> ltn.Theory:
    """A theory with one of each."""
    settings = {"p_satagg": 3} if semantics == "stable_product" else {}
    theory = ltn.Theory(semantics, name="everything", regularizer=keras.regularizers.L2(1e-3), **settings)
    people = theory.domain("people", shape=2, bounds=(-1, 2))
    ages = theory.domain("ages", equality="smooth", alpha=0.75)
    towns = theory.domain("towns", values=["Rome", "Seoul", "Lima"])
    colours = theory.domain("colours", values={"red": [1, 0], "blue": [0, 1]})
    mixtures = theory.domain("mixtures", shape=3, bounds="simplex")
    theory.constants("a, b", people, regularizer=keras.regularizers.L1(1e-3))
    theory.constants("c, d", people, values=[[0.1, 0.2], [0.3, 0.4]])
    theory.constant("e", people, [0.7, 0.1], trainable=True)
    theory.constants("m", mixtures)
    theory.variables("x, y", people)
    theory.variable("z", people)
    theory.variable("chosen", people, values=["e", "a", "a"])
    theory.variable("given", people, values=[[0.1, 0.9], [1 / 3, 0.2]])
    theory.variable("u'", towns)
    theory.variable("k", colours)
    theory.variable("n", ages)
    theory.variable("home", people * ages)
    theory.function("age", people, ages, ltn.Function.MLP([2], 1, (3,)))
    network = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, kernel_regularizer="l2")])
    theory.predicate("lives_in", (people, towns), ltn.Predicate.FromLogits(network, "softmax"))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([2, 2], (3,)))
    logit = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    theory.predicate("bright", colours, ltn.Predicate.FromLogits(logit, "sigmoid", with_class_indexing=False))
    theory.predicate("P", mixtures, ltn.Predicate.MLP([3], (2,)))
    theory.predicate("at", (people, ages), ltn.Predicate.MLP([2, 1], (2,)))
    theory.proposition("A", 0.375, trainable=True)
    theory.proposition("B", 0.1)
    theory.axiom("A & ~B", name="propositions", weight="learned")
    theory.axioms("""
        facts: F(a, b) & ~F(c, e) & P(m)
        symmetric: forall x, y: F(x, y) -> F(y, x)
        regression: forall diag(z, n): age(z) = n
        somewhere: forall x: exists u': lives_in(x, u')
        apart: forall x, y where norm(x - y) > 0.1: F(x, y) <-> F(y, x)
        chosen: forall chosen: lives_in(chosen, Seoul) | lives_in(chosen, Rome)
        given: forall given: F(given, c)
        colours: exists k: bright(k) & bright(red)
        pairs: forall home: at(home)
    """)
    option = "[p=5]" if semantics == "stable_product" else ""
    theory.axiom(f"forall{option} x: ~F(x, x)", name="irreflexive", weight=2.5)
    return theory

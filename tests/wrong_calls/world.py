"""What wrong calls are made on: a theory with all kinds of symbols, and expressions of `core`."""

import math
import os
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

import ltn


def make(folder: Path) -> dict[str, Any]:
    """The names that rows use; `folder` holds files that are not what they should be."""
    names: dict[str, Any] = {
        "__name__": __name__,
        "ltn": ltn,
        "keras": keras,
        "math": math,
        "np": np,
        "os": os,
        "pd": pd,
        "tf": tf,
        "ops": ltn.fuzzy_ops,
        "lang": ltn.language,
        "plot": ltn.plot,
        "folder": folder,
    }
    return names | _theory() | _expressions() | {"points": np.full((3, 2), 0.5, np.float32)}


def state(names: dict[str, Any]) -> dict[str, Any]:
    """All that a wrong call could have changed."""
    theory = names["theory"]
    return {
        "signature": theory.signature.get_config(),
        "hyperparameters": theory.hyperparameters,
        "axioms": [(axiom.name, str(axiom), axiom.weight, axiom.active) for axiom in theory.axiom_list],
        "own options": {axiom.name: theory.options_of(axiom) for axiom in theory.axiom_list},
        "choices": sorted(theory.choices),
        "relations": {name: relation.rows.tolist() for name, relation in theory.known.items()},
        "symbols": [sorted(theory.symbols), sorted(theory.propositions)],
        "constants": [table.names for table in theory.individuals],
        "weights": [weight.numpy().tolist() for weight in theory.weights],
        "regularizer": theory.regularizer,
        "satisfaction": theory.report({"x": names["points"]}).satisfaction.tolist(),
        "expressions": {
            name: (list(value.free_vars), np.asarray(value.tensor).tolist())
            for name, value in names.items()
            if type(value) in (ltn.Variable, ltn.Formula, ltn.Constant, ltn.Proposition)
        },
        "semantics": ltn.semantics.current(),
    }


def _theory() -> dict[str, Any]:
    theory = ltn.Theory(name="world")
    people = theory.domain("people", shape=2)
    digits = theory.domain("digits", values=range(3))
    colours = theory.domain("colours", values=["red", "green", "blue"])
    unit = theory.domain("unit", bounds=(0.0, 1.0))
    plane = theory.domain("plane", shape=2, bounds=(0.0, 1.0))
    sequences = theory.domain("sequences", shape=(None, 2))
    lone = theory.domain("lone", values=[1.0, 2.0])
    theory.constants("ann, bob", people)
    theory.variables("x, y", people)
    theory.variables("d, e", digits)
    theory.variable("c", colours)
    theory.relation("knows", (people, people), [("ann", "bob")])
    theory.relation("paints", (people, colours), [("ann", "red"), ("bob", "blue")])
    theory.variable("u", unit)
    theory.variable("q", plane)
    theory.variable("s", sequences)
    P = theory.predicate("P", people, ltn.Predicate.MLP([2], (3,), "P"))
    theory.predicate("R", (people, people), ltn.Predicate.MLP([2, 2], (3,)))
    theory.predicate("less", (digits, digits), lambda pair: pair[0] < pair[1])
    theory.predicate("alone", lone, lambda number: number > 1.0)
    theory.predicate("short", unit, lambda number: number[:, 0])
    theory.predicate("right", plane, lambda point: point[:, 0])
    f = theory.function("f", people, people, ltn.Function.MLP([2], 2, (3,), "f"))
    theory.proposition("A", 0.25, trainable=True)
    theory.axiom("forall x: P(x)", name="all")
    theory.axiom("exists[p=3] d: less(d, 2)", name="some")
    theory.axiom("A | A", name="learned", weight="learned")
    Exists = ltn.semantics.stable_product.wrap().Exists
    d, less = ltn.Variable("d", [0.0, 1.0]), ltn.Predicate.Lambda(lambda number: number < 1.0)
    theory.axiom(lambda: Exists(d, less(d)), name="code")
    theory.compile("sgd")
    no_axioms = ltn.Theory(name="no_axioms")
    no_axioms.proposition("A", 0.5)
    return {
        "theory": theory,
        "people": people,
        "digits": digits,
        "colours": colours,
        "unit": unit,
        "plane": plane,
        "sequences": sequences,
        "no_axioms": no_axioms,
        "P": P,
        "f": f,
    }


def _expressions() -> dict[str, Any]:
    connectives = ltn.semantics.stable_product.wrap()._asdict()
    return connectives | {
        "v": ltn.Variable("v", [0.25, 0.5, 0.75]),
        "w": ltn.Variable("w", [0.25, 0.5]),
        "pair": ltn.Constant([1.0, 2.0], trainable=False),
        "a": ltn.Proposition(0.5, trainable=False),
        "b": ltn.Proposition(0.25, trainable=True),
        "phi": ltn.Formula([0.25, 0.5, 0.75], ["v"]),
        "Q": ltn.Predicate.Lambda(lambda number: number, name="Q"),
        "network": keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]),
    }

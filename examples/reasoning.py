"""Reasoning (section 4.8): does A follow from A or B?

It does not: B alone satisfies the axiom. Learning from a = b = 0 raises both alike and never meets such a
grounding, so that a query after learning finds A true. Refutation looks for it, and finds it.

The search is the library's own: 300 steps of RMSprop that become smaller, from a = b = 0. The paper does not
say how many steps it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

import ltn
from examples.harness import Experiment, Line, Metric, Panel, Run, Setting, draw

Q = 0.95
METHODS = {"brave": "after learning", "refutation": "by refutation"}


def theory_of_two() -> ltn.Theory:
    """One of two propositions is true."""
    theory = ltn.Theory("stable_product")

    # Propositional variables, and their grounding
    theory.proposition("A", 0.0, trainable=True)
    theory.proposition("B", 0.0, trainable=True)

    # Axioms
    theory.axiom("A | B", name="one_of_them")
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Ask in both ways, each from the theory as it is, under the paper's definition (no slack)."""
    theory = theory_of_two()
    metrics: dict[str, float] = {}
    curves: dict[str, list[float]] = {}
    pictures = {}

    # Reasoning
    for method, name in METHODS.items():
        verdict = theory.entails(
            "A",
            q=Q,
            method=method,
            slack=1,
            alpha=0.05,
            beta=10,
            restarts=1,
            steps=setting.epochs,
            seed=seed,
            verbose=0,
        )
        decided = verdict.grounding.apply_to(theory)
        metrics[f"A is refuted {name}"] = float(verdict.case == "refuted")
        metrics |= {f"{symbol} {name}": float(decided.query(symbol)) for symbol in "AB"}
        metrics[f"satisfaction {name}"] = verdict.satisfaction
        curves[f"satisfaction {name}"] = verdict.curve.satisfaction.tolist()[: setting.epochs]
        curves[f"A {name}"] = verdict.curve.value.tolist()[: setting.epochs]
        pictures[f"reasoning_{method}"] = ltn.plot.search(verdict)
    pictures["reasoning_penalty"] = ltn.plot.penalty([(0.05, 10.0)])
    return Run(metrics, curves, range(setting.epochs), pictures=pictures, model=theory)


def settings() -> tuple[Setting, ...]:
    """The paper's; its grounding after learning is (1, 1), its counterexample (0, 1)."""
    expected = {
        "A is refuted after learning": 0.0,
        "A after learning": 1.0,
        "B after learning": 1.0,
        "satisfaction after learning": 1.0,
        "A is refuted by refutation": 1.0,
        "A by refutation": 0.0,
        "B by refutation": 1.0,
        "satisfaction by refutation": 1.0,
    }
    metrics = (Metric(name, value, lower_is_better=value == 0.0) for name, value in expected.items())
    return (Setting("paper", tuple(metrics), epochs=300),)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """The satisfaction of the axiom and the truth of A during both searches."""
    rows = {
        setting: [
            Panel(
                f"Asking {name}",
                {"satisfaction": Line(done, f"satisfaction {name}"), "truth of A": Line(done, f"A {name}")},
                across="step",
            )
            for name in METHODS.values()
        ]
        for setting, done in runs.items()
    }
    return {"reasoning_curves": draw(rows)}


EXPERIMENT = Experiment("reasoning", "4.8", "Reasoning", settings, run, curves)

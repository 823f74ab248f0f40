"""Questions to a relation over many individuals: `python -m tests.theory.large_questions`.

In a process of its own, it prints by how many KiB the peak of memory has risen after each.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import ltn
from tests.theory.large_relation import peak_kib

# A million pairs, which take 600 bytes each.
COUNT = 1000


def theory_of(count: int) -> ltn.Theory:
    theory = ltn.Theory("product")
    things = theory.domain("things", values=np.linspace(0.0, 1.0, 32 * count).reshape(count, 32))
    theory.variables("x, y", things)
    theory.predicate("P", (things, things), lambda pair: np.float32(0.5) + 0.1 * (pair[0] * pair[1])[:, 0])
    theory.axiom("forall x, y: P(x, y)", name="all")
    theory.memory_limit = 16 * 2**20
    return theory


QUESTIONS: dict[str, Callable[[ltn.Theory], Any]] = {
    "report": lambda theory: theory.report(),
    "query": lambda theory: theory.query("exists y: P(x, y)"),
    "answer": lambda theory: theory.query("P(x, y) & ~P(y, x)"),
    "explain": lambda theory: theory.explain("all"),
    "rank": lambda theory: theory.rank({"x": range(COUNT), "y": range(COUNT)}, "P(x, y)", of="y"),
}

if __name__ == "__main__":
    for ASK in QUESTIONS.values():
        if ASK is not QUESTIONS["rank"]:
            ASK(theory_of(20))
    THEORY = theory_of(COUNT)
    BEFORE, RISEN = peak_kib(), {}
    for NAME, ASK in QUESTIONS.items():
        ASK(THEORY)
        RISEN[NAME] = peak_kib() - BEFORE
    print(json.dumps(RISEN))

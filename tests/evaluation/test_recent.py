"""What a theory keeps of its plans: the last ones, for any number of threads."""

import threading

import numpy as np

import ltn
from ltn.evaluation.plan import Recent
from ltn.evaluation.planner import Planner
from tests.theory.counting import People


def test_what_was_used_last_is_kept() -> None:
    recent = Recent[str](most=3)
    for key in ("a", "b", "c", "a", "d"):
        recent.get(key, lambda key=key: key)  # type: ignore[misc]
    assert recent.keys == ("c", "a", "d")
    assert recent.get("a", lambda: "anew") == "a"
    assert recent.get("b", lambda: "anew") == "anew"


def test_a_formula_is_planned_once_for_data_of_any_size() -> None:
    theory = ltn.Theory("product")
    points = theory.domain("points", shape=2)
    theory.variable("x", points)
    theory.predicate("P", points, ltn.Predicate.MLP([2], (2,)))
    plans = []
    original = Planner.plan_requests
    try:
        Planner.plan_requests = lambda *args: plans.append(args) or original(*args)  # type: ignore
        for size in (1, 5, 9):
            theory.query("forall x: P(x)", x=np.zeros((size, 2)))
        assert len(plans) == 1
        theory.query("forall x: P(x)", x=np.zeros((3, 2)), semantics="log_product")
        assert len(plans) == 2
    finally:
        Planner.plan_requests = original  # type: ignore[method-assign]


def test_threads_may_ask_at_once() -> None:
    people, failures = People(), []

    def ask(number: int) -> None:
        try:
            for count in range(30):
                people.theory.query(f"forall x: S(x) | number(x) > {number * 30 + count}")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures

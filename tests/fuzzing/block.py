"""One block of random cases, repeated by its seed; as a program it prints what it found as JSON.

python -m tests.fuzzing.block theories 17
"""

import contextlib
import json
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzzing import formulas, texts, theories


class Part(NamedTuple):
    """Cases of one kind.

    Attributes:
        cases: what is drawn.
        check: raises where a case does not behave; counts what it saw.
        size: how many cases a block has.
        seconds: how much time of the processor one case may take; most take a hundredth of it.
    """

    cases: Callable[[], st.SearchStrategy[Any]]
    check: Callable[[Any, Counter[str]], None]
    size: int
    seconds: float


PARTS = {
    "texts": Part(texts.texts, texts.check, size=1000, seconds=10.0),
    "formulas": Part(formulas.formulas, formulas.check, size=100, seconds=100.0),
    "theories": Part(theories.theories, theories.check, size=30, seconds=200.0),
}


def search(part: Part, number: int, counts: Counter[str]) -> list[str]:
    """Check the cases of one block. Returns each mistake, with the first case that shows it."""
    failures: dict[str, str] = {}

    def note(case: Any) -> None:
        try:
            with within(part.seconds):
                part.check(case, counts)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            told = "".join(traceback.format_exception(error, limit=-6, chain=False))
            failures.setdefault(f"{type(error)} at {place.filename}:{place.lineno}", f"{case!r}\n{told}")
            counts["failed"] += 1

    _given(part, number, note, Phase.generate)()
    return list(failures.values())


def simplify(part: Part, number: int, counts: Counter[str]) -> None:
    """Check the cases of one block until one fails; raise its error, with the simplest case in the notes."""
    _given(part, number, lambda case: part.check(case, counts), Phase.generate, Phase.shrink)()


def _given(part: Part, number: int, check: Callable[[Any], None], *phases: Phase) -> Callable[[], None]:
    @seed(number)
    @settings(
        max_examples=part.size,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(part.cases())
    def block(case: Any) -> None:
        check(case)

    return block


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise where the processor works for longer: a loop without end would never return."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"It took longer than {seconds} seconds of the processor.")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def main(part: str, number: str, *options: str) -> None:
    """Search one block, and print the counts and the failures."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    if "--simplify" in options:
        try:
            simplify(PARTS[part], int(number), counts)
        except Exception as error:
            failures.append("".join(traceback.format_exception(error, limit=-6, chain=False)))
    else:
        failures += search(PARTS[part], int(number), counts)
    print(json.dumps({"counts": counts, "failures": failures}))


if __name__ == "__main__":
    main(*sys.argv[1:])

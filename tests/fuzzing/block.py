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

from tests.fuzzing import texts, theories


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
    "theories": Part(theories.theories, theories.check, size=30, seconds=200.0),
}


def search(part: Part, number: int, counts: Counter[str], simplify: bool = False) -> Exception | None:
    """Check the cases of one block until one fails, which is simplified on request; it is in the notes."""

    @seed(number)
    @settings(
        max_examples=part.size,
        phases=(Phase.generate, Phase.shrink) if simplify else (Phase.generate,),
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(part.cases())
    def block(case: Any) -> None:
        with within(part.seconds):
            part.check(case, counts)

    try:
        block()
    except Exception as error:
        return error
    return None


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
    """Search one block, and print the counts and the failure, if there is one."""
    counts: Counter[str] = Counter()
    error = search(PARTS[part], int(number), counts, simplify="--simplify" in options)
    failure = None if error is None else "".join(traceback.format_exception(error, chain=False))
    print(json.dumps({"counts": counts, "failure": failure}))


if __name__ == "__main__":
    main(*sys.argv[1:])

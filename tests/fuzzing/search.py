"""Searching: blocks of random cases, each repeated by its seed."""

import contextlib
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st


class Part(NamedTuple):
    """Cases of one kind.

    Attributes:
        cases: what is drawn.
        check: raises where a case does not behave.
        block: how many cases are drawn from one seed.
        seconds: how much time of the processor one case may take.
    """

    cases: Callable[[], st.SearchStrategy[Any]]
    check: Callable[[Any, Counter[str]], None]
    block: int
    seconds: float


class Failure(NamedTuple):
    """What went wrong, and with which case."""

    error: BaseException
    case: str

    @property
    def place(self) -> str:
        """Where it happened, so that one mistake is told once."""
        *_, last = traceback.extract_tb(self.error.__traceback__)
        return f"{type(self.error).__name__} at {last.filename}:{last.lineno}"


def search(part: Part, number: int, counts: Counter[str], simplify: bool = False) -> Failure | None:
    """Check the cases of one block; the first that fails, simplified on request."""
    phases = (Phase.generate, Phase.shrink) if simplify else (Phase.generate,)

    @seed(number)
    @settings(
        max_examples=part.block,
        phases=phases,
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
        return Failure(error, "\n".join(getattr(error, "__notes__", [])))
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

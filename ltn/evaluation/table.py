"""Plans for people: a table with a line per step, and how large each was when the plan was executed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd
import tensorflow as tf

from ltn.evaluation.calls import Output
from ltn.evaluation.chunks import QuantifyInChunks
from ltn.evaluation.plan import Execution, Plan, Step, Value
from ltn.evaluation.runs import NetworkRun
from ltn.markup import element, table

_HEADER = ("", "step", "reads", "axes", "shape", "network rows", "tuples", "memory")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Line(NamedTuple):
    """A step of a plan, as it was executed.

    Attributes:
        number: the number of the step; the steps of a slice have numbers such as "4.1".
        step: the step in a few words.
        reads: the numbers of the steps whose values it reads.
        axes: the axes of its value.
        shape: the shape of its value; features follow the axes. None where the value is not one tensor.
        network: the symbol whose network ran; else "".
        rows: how many rows it ran on; None for other steps.
        tuples: how many tuples a guard selected; None for other steps.
        strategy: how the tuples were found.
        memory: the size of its value, in bytes.
    """

    number: str
    step: str
    reads: tuple[str, ...]
    axes: tuple[str, ...]
    shape: tuple[int, ...] | None
    network: str
    rows: int | None
    tuples: int | None
    strategy: str
    memory: int


class PlanTable:
    """The steps of a plan: `print` shows them, `to_frame()` gives the table.

    Attributes:
        lines: one for each step, in the order of evaluation.
    """

    def __init__(self, lines: Sequence[Line]):
        self.lines = list(lines)

    @classmethod
    def of(cls, plan: Plan, execution: Execution) -> PlanTable:
        """The table of a plan that was executed, eagerly."""
        return cls(list(_lines(plan, execution)))

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each network ran on, by the name of its symbol."""
        found: dict[str, int] = {}
        for line in self.lines:
            if line.rows is not None:
                found[line.network] = found.get(line.network, 0) + line.rows
        return found

    @property
    def memory(self) -> int:
        """The bytes of all values together: what training keeps for the gradient, networks aside."""
        return sum(line.memory for line in self.lines)

    def to_frame(self) -> pd.DataFrame:
        """The table, a row for each step, with the attributes of a `Line` as columns."""
        frame = pd.DataFrame([line._asdict() for line in self.lines], columns=Line._fields)
        return frame.astype({"rows": "Int64", "tuples": "Int64"}).set_index("number")

    @property
    def _cells(self) -> list[tuple[str, ...]]:
        """What is shown of each step, below `_HEADER`."""
        return [
            (
                line.number,
                line.step,
                " ".join(line.reads),
                ", ".join(line.axes),
                "" if line.shape is None else str(line.shape),
                "" if line.rows is None else f"{line.rows:,}",
                "" if line.tuples is None else f"{line.tuples:,} {line.strategy}",
                _format_bytes(line.memory),
            )
            for line in self.lines
        ]

    @property
    def _sum(self) -> str:
        return f"{len(self.lines)} steps, {_format_bytes(self.memory)} of values"

    def __repr__(self) -> str:
        rows = [_HEADER, *self._cells]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*text, self._sum])

    def _repr_html_(self) -> str:
        return element("div", table(_HEADER, self._cells), element("p", self._sum))


def _lines(plan: Plan, execution: Execution, prefix: str = "") -> Iterator[Line]:
    for place, step in enumerate(plan.steps):
        number, value = f"{prefix}{place + 1}", execution[Value(place)]
        reads = tuple(f"{prefix}{read.place + 1}" for read in dict.fromkeys(step.inputs))
        selected = _tensors(value)[0].shape[0] if step.strategy else None
        yield Line(
            number,
            step.describe(),
            tuple(dict.fromkeys(reads)),
            step.axes,
            tuple(value.shape) if tf.is_tensor(value) else None,
            step.symbol if isinstance(step, NetworkRun) else "",
            _rows(step, value),
            selected,
            step.strategy,
            sum(tensor.dtype.size * math.prod(tensor.shape) for tensor in _tensors(value)),
        )
        if isinstance(step, QuantifyInChunks):
            yield from _lines(step.plan, step.execute_slice(execution), f"{number}.")


def _rows(step: Step, value: Any) -> int | None:
    if not isinstance(step, NetworkRun):
        return None
    return sum(math.prod(output.batch.sizes) for output in value if output.read_at is None)


def _tensors(value: Any) -> list[tf.Tensor]:
    """The tensors that a value holds."""
    if tf.is_tensor(value):
        return [value]
    if isinstance(value, list) and value and isinstance(value[0], Output):
        runs = {id(output.run): output.run.rows for output in value}
        return list(runs.values())
    return [part for part in value if tf.is_tensor(part)] if isinstance(value, tuple) else []


def _format_bytes(memory: float) -> str:
    for unit in _UNITS:
        if memory < 1024 or unit == _UNITS[-1]:
            return f"{memory:.0f} {unit}" if unit == "B" else f"{memory:.1f} {unit}"
        memory /= 1024
    return ""

"""A long training in a process of its own: `python -m tests.theory.long_training` prints what has grown.

In the process of other tests, memory that they have given back would be used first, and hide the growth.
"""

import gc
import json
import os
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

import ltn
from tests.theory.theories import classifier, labelled_points

STEPS_PER_EPOCH = 25
WARM_UP, STEPS = 2000, 5000


def resident_kib() -> float:
    """The memory of this process that is in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1024


def of_kind(objects: list[Any], kind: type) -> list[Any]:
    """The instances of a class; `isinstance` would keep a note of each type that it sees."""
    return [thing for thing in objects if kind in type(thing).__mro__]


class Growth(keras.callbacks.Callback):
    """What there is after the warm-up, and how much more at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[str, float] = {}
        self.grown: dict[str, float] = {}

    def measured(self) -> dict[str, float]:
        gc.collect()
        objects = gc.get_objects()
        graphs = of_kind(objects, FuncGraph)
        return {
            "memory in KiB": resident_kib(),
            "objects": len(objects),
            "tensors": len(of_kind(objects, tf.Tensor)) + len(of_kind(objects, tf.Variable)),
            "graphs": len(graphs),
            "operations": sum(len(graph.get_operations()) for graph in graphs),
            "steps": int(self.model.optimizer.iterations),
        }

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        # Both within the training, whose end gives up its data.
        if (epoch + 1) * STEPS_PER_EPOCH == WARM_UP:
            self.before = self.measured()
        elif (epoch + 1) * STEPS_PER_EPOCH == WARM_UP + STEPS:
            self.grown = {name: value - self.before[name] for name, value in self.measured().items()}


def main() -> None:
    gc.set_threshold(700, 10, 10)  # that of Python, as users have it
    theory = classifier()
    theory.axiom("exists x: A(x)", name="some")
    theory.compile(keras.optimizers.Adam(0.001))
    schedules = [
        ltn.callbacks.Schedule(f"p_{kind}", lambda epoch: 1 + epoch % 6) for kind in ("forall", "exists")
    ]
    growth = Growth()
    data = labelled_points(4 * STEPS_PER_EPOCH - 1)
    epochs = (WARM_UP + STEPS) // STEPS_PER_EPOCH
    theory.fit(data, batch_size=4, epochs=epochs, callbacks=[*schedules, growth], verbose=0)
    print(json.dumps(growth.grown))


if __name__ == "__main__":
    main()

"""What was compiled with XLA: the functions that asked for it, and what XLA made of them."""

from typing import Any

import pytest
import tensorflow as tf


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """From now on, every function that is made with `jit_compile=True`."""
    functions: list[Any] = []
    make = tf.function

    def noting(function: Any = None, **settings: Any) -> Any:
        made = make(function, **settings)
        # Without a function it is a decorator, which Keras has for a convolution of its own.
        if function is not None and settings.get("jit_compile"):
            functions.append(made)
        return made

    monkeypatch.setattr(tf, "function", noting)
    return functions


def assert_compiled(step: Any, batch: Any) -> None:
    """The step was traced, and XLA translates it, the update of weights included."""
    assert step.experimental_get_tracing_count() > 0
    program = step.experimental_get_compiler_ir(batch)(stage="hlo")
    assert program.startswith("HloModule")
    # Variables that the step writes: their buffers are inputs and outputs at once.
    assert "input_output_alias" in program.splitlines()[0]

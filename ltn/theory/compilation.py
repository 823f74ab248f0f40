"""How models of the library are compiled: XLA where it pays, and from a saved configuration."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


class CompiledModel(keras.Model):
    """A Keras model whose `jit_compile="auto"` means XLA where there is a GPU.

    On a CPU XLA slows convolutions down, and it knows static shapes only.
    """

    is_xla: bool = False

    def compile(
        self, optimizer: Any = "adam", *args: Any, jit_compile: bool | str = "auto", **kwargs: Any
    ) -> None:
        """As `keras.Model.compile`."""
        if jit_compile == "auto":
            jit_compile = bool(tf.config.list_physical_devices("GPU")) and not kwargs.get("run_eagerly")
        self.use_xla(bool(jit_compile))
        super().compile(optimizer, *args, jit_compile=jit_compile, **kwargs)

    def use_xla(self, compiled: bool) -> None:
        """Take note whether XLA compiles the steps, for code that must know."""
        self.is_xla = compiled

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as a saved model was, with the variables of its optimizer."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

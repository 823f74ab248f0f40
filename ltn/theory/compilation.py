"""How models of the library are compiled: XLA where it pays, and from a saved configuration."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from ltn.errors import LogicValueError


class CompiledModel(keras.Model):
    """A Keras model whose `jit_compile="auto"` means XLA where there is a GPU.

    On a CPU XLA slows convolutions down, and it knows static shapes only. Steps of several replicas it does
    not compile at all.
    """

    is_xla: bool = False

    def compile(
        self, optimizer: Any = "adam", *args: Any, jit_compile: bool | str = "auto", **kwargs: Any
    ) -> None:
        """As `keras.Model.compile`."""
        self._jit_compile_asked = jit_compile
        several = self.distribute_strategy.num_replicas_in_sync > 1
        if jit_compile == "auto":
            on_gpu = bool(tf.config.list_physical_devices("GPU"))
            jit_compile = on_gpu and not several and not kwargs.get("run_eagerly")
        if jit_compile and several:
            raise LogicValueError("XLA does not compile steps of several replicas; got jit_compile=True.")
        self.use_xla(bool(jit_compile))
        super().compile(optimizer, *args, jit_compile=jit_compile, **kwargs)

    def get_compile_config(self) -> Any:
        """How the model was compiled; where the device decides about XLA, it is that where it is loaded."""
        config = super().get_compile_config()
        return config and config | {"jit_compile": self._jit_compile_asked}

    def use_xla(self, compiled: bool) -> None:
        """Take note whether XLA compiles the steps, for code that must know."""
        self.is_xla = compiled

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as a saved model was, with the variables of its optimizer."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

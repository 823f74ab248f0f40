"""What the library uses of Keras that Keras does not document, in one place.

Each name was tried with TensorFlow 2.16 and Keras 3.8, and with TensorFlow 2.21 and Keras 3.15.
"""

from __future__ import annotations

from typing import Any

import keras


def loss_tracker(model: keras.Model) -> keras.metrics.Metric:
    """The mean that Keras logs as `loss`: a compiled model has it, and its `metrics` begin with it."""
    return model._loss_tracker


def optimizer_weights(optimizer: keras.optimizers.Optimizer) -> list[Any]:
    """The weights that an optimizer was built for; none where it was not built yet."""
    return list(getattr(optimizer, "_trainable_variables", []))


def is_validation_within_fit(arguments: dict[str, Any]) -> bool:
    """Whether `evaluate` was called by `fit`, which keeps the data set that it has made for all epochs."""
    return bool(arguments.get("_use_cached_eval_dataset"))


# Methods that Keras calls by private names. A model of ours binds them to these names in its class.


def build_nothing(model: keras.Model, *args: Any, **kwargs: Any) -> None:
    """For `_maybe_symbolic_build`, of a model that builds itself.

    Keras would average the individuals of all replicas to do it.
    """


def keep_common_logs(model: keras.Model, logs: Any) -> Any:
    """For `_get_metrics_result_or_logs`, of a model whose replicas all log the same results.

    Of several replicas the logs of the last step are the results; Keras would add up their metrics.
    """
    if model.distribute_strategy.num_replicas_in_sync > 1:
        return logs
    return keras.Model._get_metrics_result_or_logs(model, logs)

"""What is private in Keras and TensorFlow, and needed all the same: every use of it, in one place.

A test of each fails if the name is gone. `make test-versions` runs it on the oldest and the newest versions.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common.global_state import get_global_attribute, set_global_attribute
from keras.src.saving.serialization_lib import ObjectSharingScope
from keras.src.utils.io_utils import ask_to_proceed_with_overwrite
from tensorflow.python.autograph.core import ag_ctx, config
from tensorflow.python.eager import record
from tensorflow.python.framework import ops

from ltn import errors
from ltn.errors import LogicFileError

# Private methods of keras.Model that a model of ours overrides, and what Keras asks of them.
OVERRIDDEN = {
    "_get_metrics_result_or_logs": "What `fit` and `evaluate` return and show, from the last step's logs.",
    "_maybe_symbolic_build": "Builds the model before the first step of `fit` and `evaluate`.",
}

# What our messages about a data set begin with.
_PLACE = "In (?:batch|a batch|the file)"


def leave_as_written(package: str) -> None:
    """Keep AutoGraph from rewriting a package, as it leaves NumPy, Keras and TensorFlow as they are.

    Where a user's tf.function calls the package, AutoGraph would go on into it: slow, and for nothing, as our
    code has no control flow on tensors; and it gives up, with a warning, on Python that it does not know.
    """
    config.CONVERSION_RULES = (config.DoNotConvert(package), *config.CONVERSION_RULES)


def user_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the user that our code calls: rewritten by AutoGraph, where the code that led here is.

    A grounding, an operator, an axiom: AutoGraph does not see what code that it leaves as written calls.
    """
    context = ag_ctx.control_status_ctx()
    is_rewriting = context.status == ag_ctx.Status.ENABLED
    return tf.__internal__.autograph.tf_convert(function, context) if is_rewriting else function


def logits_before(output: tf.Tensor) -> Any:
    """What Keras's sigmoid or softmax was applied to, which Keras attaches to their output; else None."""
    return getattr(output, "_keras_logits", None)


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """`tf.custom_gradient` of a function of tensors, which keeps no graph alive; see `keep_no_graph`."""
    differentiated = tf.custom_gradient(function)

    @functools.wraps(function)
    def call(*tensors: Any) -> Any:
        found = differentiated(*tensors)
        first = found if tf.is_tensor(found) else found[0]
        if not is_eager(first):
            _let_graph_keep_gradient(first.op)
        return found

    return call


@contextlib.contextmanager
def keep_no_graph() -> Iterator[None]:
    """Within, custom gradients of others, as optimizers have them, keep no graph alive either.

    TensorFlow writes the gradient of each call of `tf.custom_gradient` in a graph into a table, for ever, and
    with it the whole graph, of some megabytes, that the gradient reads. Now the graph keeps the gradient, and
    the table finds it while the graph is there. Tried on TensorFlow 2.21.
    """
    if tf.executing_eagerly():
        yield
        return
    graph = tf.compat.v1.get_default_graph()
    before = len(graph.get_operations())
    yield
    for operation in graph.get_operations()[before:]:
        if operation.type == "IdentityN" and "_gradient_op_type" in operation.node_def.attr:
            _let_graph_keep_gradient(operation)


def _let_graph_keep_gradient(operation: tf.Operation) -> None:
    name = operation.get_attr("_gradient_op_type").decode()
    graph: Any = operation.graph
    if not hasattr(graph, "_gradients_of_ltn"):
        graph._gradients_of_ltn = {}
    kept = graph._gradients_of_ltn
    if name not in kept:
        table = ops.gradient_registry._registry
        kept[name] = gradient = table[name]["type"]
        # Asked for by operations of the graph alone, which is there then.
        find: Any = weakref.ref(gradient, lambda _: table.pop(name, None))
        table[name] = {**table[name], "type": lambda *given: find()(*given)}


def is_eager(tensor: tf.Tensor) -> bool:
    """Whether the tensor has a value now, rather than being a node of a graph."""
    return isinstance(tensor, tf.__internal__.EagerTensor)


def a_tape_may_record() -> bool:
    """Whether any tf.GradientTape may be recording; TensorFlow has no public way to ask."""
    return bool(record.could_possibly_record())


def layers_within(layer: keras.Layer) -> list[keras.Layer]:
    """The layer and all layers inside it, at any depth, from the outside in."""
    return list(layer._flatten_layers())


def origin_of(tensor: Any) -> tuple[keras.Layer, list[Any], bool]:
    """The layer that a tensor of a functional model came from, and the tensors that this layer was called on.

    The boolean tells whether it was called on more than these tensors, as in `layer(x, training=True)`;
    Keras itself notes that a call is not training. `layer.input` knows the first call only.
    """
    history = tensor._keras_history
    node = history.operation._inbound_nodes[history.node_index]
    more = {name: value for name, value in node.arguments.kwargs.items() if name != "training" or value}
    return history.operation, node.input_tensors, len(node.arguments.args) > 1 or bool(more)


def is_in_a_layer() -> bool:
    """Whether this code runs inside the call of a Keras layer or model."""
    return get_global_attribute("current_call_ctx") is not None


def serialize_shared(part: Any) -> Any:
    """The configuration of a part that several layers of a model may hold: it is one again when read."""
    return keras.saving.serialize_keras_object(part) | {"shared_object_id": id(part)}


def loss_tracker(model: keras.Model) -> keras.metrics.Metric:
    """The mean of the loss that a compiled model shows in its logs."""
    return model._loss_tracker


def weights_of_optimizer(optimizer: keras.optimizers.Optimizer) -> list[Any]:
    """The weights that the optimizer was built for; none before it is built."""
    return list(getattr(optimizer, "_trainable_variables", []))


def moments_of(optimizer: keras.optimizers.Adam, weight: Any) -> tuple[Any, Any]:
    """The variables in which Adam keeps the running means of a weight's gradient and of its square."""
    place = optimizer._get_variable_index(weight)
    return optimizer._momentums[place], optimizer._velocities[place]


def start_at_epoch(model: keras.Model, epoch: int | None) -> None:
    """Let the training that is about to begin start at an epoch; None for the one that `fit` was given."""
    model._initial_epoch = epoch


def is_validation(kwargs: Mapping[str, Any]) -> bool:
    """Whether `fit` itself calls `evaluate` with these arguments, on data that it has kept."""
    return bool(kwargs.get("_use_cached_eval_dataset"))


def bytes_of_weights(make: Callable[[], Any]) -> int:
    """How many bytes the weights take up that a function makes with Keras; none of them is made.

    Tried on Keras 3.15.
    """
    others = get_global_attribute("uninitialized_variables")
    found: list[Any] = []
    set_global_attribute("uninitialized_variables", found)
    try:
        # Keras only notes the weights, to make them when the scope ends.
        with ObjectSharingScope(), keras.StatelessScope(initialize_variables=False):
            make()
    finally:
        set_global_attribute("uninitialized_variables", others)
    return sum(math.prod(weight.shape) * tf.as_dtype(weight.dtype).size for weight in found)


def may_overwrite(path: str) -> bool:
    """Ask the user, as Keras does for `overwrite=False`.

    Tried on Keras 3.15.
    """
    return bool(ask_to_proceed_with_overwrite(path))


def build_nothing(model: keras.Model, *args: Any, **kwargs: Any) -> None:
    """Stands for `_maybe_symbolic_build` in a model that builds itself.

    Keras would average the individuals of all replicas to build it.
    """


def take_all_results(model: keras.Model, logs: Any) -> Any:
    """Stands for `_get_metrics_result_or_logs` in a model whose steps log only some of its metrics.

    Keras would return the logs of the last step.
    """
    return model.get_metrics_result()


def keep_common_logs(model: keras.Model, logs: Any) -> Any:
    """Stands for `_get_metrics_result_or_logs` in a model whose replicas all log the same results.

    With several replicas, the logs of the last step are the results; Keras would add up their metrics.
    """
    if model.distribute_strategy.num_replicas_in_sync > 1:
        # Numbers, which Keras before 3.13 does not make of them in `evaluate`.
        return {name: float(value) for name, value in logs.items()}
    return keras.Model._get_metrics_result_or_logs(model, logs)


@contextlib.contextmanager
def as_logic_errors(ends: bool = False) -> Iterator[None]:
    """Raise errors of data sets as what they were before TensorFlow wrapped them.

    That data end which have an end, though Keras does not know it beforehand, is no reason to warn.
    """
    try:
        with warnings.catch_warnings() if ends else contextlib.nullcontext():
            if ends:
                warnings.filterwarnings("ignore", "Your input ran out of data")
            yield
    except tf.errors.DataLossError as error:
        what = re.search(r"(truncated|corrupted) record at \d+|inflate\(\) failed", str(error))
        raise LogicFileError(
            f"A file of the data set is damaged: {what[0] if what else 'its end is missing'}."
        ) from error
    except tf.errors.InvalidArgumentError as error:
        found = re.search(rf"(\w+Error): ({_PLACE} .*?)\n+Traceback", str(error), re.DOTALL)
        kind = getattr(errors, found[1], None) if found else None
        if found and kind:
            raise kind(found[2]) from None
        record = re.search(rf"Name: ({_PLACE} .*?), Key: (.*?), Index: \d+\.\s+([^\[\n]*)", str(error))
        if record:
            raise LogicFileError(
                f"{record[1]}: a record is not like the first one in '{record[2]}'. {record[3].strip()}"
            ) from None
        raise

"""How models of the library are compiled: what they refuse, an optimizer of all their weights, and XLA.

With a GPU, XLA compiles the steps from the first one on. On a CPU it slows convolutions down, knows static
shapes only, and takes seconds to compile; but it halves the time of relations between many individuals. So
on a CPU it begins after a training has done as much work as compiling takes. The work is counted in steps of
the optimizer: runs are repeatable, and a run that is resumed from a file behaves like one that was never
interrupted.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from ltn import _private
from ltn.checks import check_whole
from ltn.errors import LogicTypeError, LogicValueError
from ltn.evaluation.chunks import combinations
from ltn.fuzzy_ops.base import Operator
from ltn.knowledge.axioms import KnowledgeBase
from ltn.language import Quantifier
from ltn.training import distribution

# How many combinations of individuals are evaluated before XLA compiles the steps on a CPU: a second or two
# of work, as long as it takes to compile them.
WORK_BEFORE = 20_000_000
# With more combinations in one axiom XLA was seen to lose: it took twice the time for nine million.
MOST_COMBINATIONS = 1_000_000
# The fewest steps before XLA: fewer tell nothing about the steps to come.
LEAST_STEPS = 4
# Layers that XLA was seen to speed up, and that draw no random numbers, which would change.
_LAYERS = (
    keras.layers.Activation,
    keras.layers.Concatenate,
    keras.layers.Dense,
    keras.layers.Flatten,
    keras.layers.InputLayer,
    keras.layers.Reshape,
)

# The attributes of these layers that may hold code of a user.
_CALLS = (
    "activation",
    "activity_regularizer",
    "bias_constraint",
    "bias_regularizer",
    "kernel_constraint",
    "kernel_regularizer",
)

# The least value of arguments that count something; None where Keras has a default.
_COUNTS = {
    "batch_size": 1,
    "epochs": 0,
    "initial_epoch": 0,
    "steps": 1,
    "steps_per_epoch": 1,
    "steps_per_execution": 1,
    "validation_batch_size": 1,
    "validation_steps": 1,
}
_VERBOSE = ("auto", 0, 1, 2)


def check_arguments(
    strategy: tf.distribute.Strategy, args: Sequence[Any], arguments: Mapping[str, Any]
) -> None:
    """Raise for arguments of `keras.Model.compile` that a theory does not take."""
    given = {**arguments, **dict(zip(("loss", "loss_weights", "metrics"), args, strict=False))}
    for argument in ("loss", "loss_weights", "metrics", "weighted_metrics"):
        if given.get(argument) is not None:
            raise LogicTypeError(
                f"A theory takes no `{argument}`: its loss is 1 minus the satisfaction of its axioms, "
                "and the logs hold the value of each. For a task loss beside it see ltn.with_knowledge."
            )
    if distribution.is_several(strategy) and arguments.get("steps_per_execution", 1) != 1:
        raise LogicValueError(
            "Several replicas take one step at a time; got "
            f"steps_per_execution={arguments['steps_per_execution']!r}."
        )


def check_fit(arguments: Mapping[str, Any]) -> None:
    """Raise for arguments of `fit`, `evaluate` or `predict` that mean nothing."""
    for name, least in _COUNTS.items():
        if arguments.get(name) is not None:
            check_whole(name, arguments[name], least=least)
    split = arguments.get("validation_split") or 0.0
    if isinstance(split, bool) or not isinstance(split, numbers.Real) or not 0.0 <= float(split) < 1.0:
        raise LogicValueError(
            "`validation_split` is the part of the rows that is kept for validation, from 0 up and below 1; "
            f"got {split!r}."
        )
    verbose = arguments.get("verbose", "auto")
    if not isinstance(verbose, str | int) or verbose not in _VERBOSE:
        raise LogicValueError(f"`verbose` is one of {', '.join(map(repr, _VERBOSE))}; got {verbose!r}.")
    _check_callbacks(arguments.get("callbacks"))


def check_compile(
    optimizer: Any, jit_compile: Any, run_eagerly: Any = False, steps_per_execution: Any = 1, **_: Any
) -> None:
    """Raise for arguments of `compile` with which nothing could be trained."""
    try:
        found = keras.optimizers.get(optimizer)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise LogicValueError(
            "`optimizer` must be one of keras.optimizers, as keras.optimizers.Adam(0.01), or the name of "
            f"one, as 'adam'; got {optimizer!r}."
        )
    if not isinstance(jit_compile, bool) and jit_compile != "auto":
        raise LogicValueError(f"`jit_compile` is True, False or 'auto'; got {jit_compile!r}.")
    if not isinstance(run_eagerly, bool):
        raise LogicValueError(f"`run_eagerly` is True or False; got {run_eagerly!r}.")
    check_whole("steps_per_execution", steps_per_execution)


def compile_from_config(model: keras.Model, config: dict[str, Any]) -> None:
    """Compile a model as it was when it was saved, with the variables of its optimizer."""
    model.compile(**keras.saving.deserialize_keras_object(config))
    if model.optimizer is not None:
        model.optimizer.build(model.trainable_variables)


def build_optimizer(model: keras.Model) -> bool:
    """Give the optimizer of a compiled model its variables. Returns whether a new one took its place.

    Keras fixes the weights of an optimizer when it is built. If the model has other weights by then, a new
    optimizer takes over the state of the old one.
    """
    if not model.compiled or model.optimizer is None:
        return False
    old, weights = model.optimizer, model.trainable_variables
    if not old.built:
        old.build(weights)
        return False
    # Some optimizers make their variables anew wherever they are built.
    if {id(weight) for weight in _private.weights_of_optimizer(old)} == {id(weight) for weight in weights}:
        return False
    values = {variable.path: variable.numpy() for variable in old.variables}
    model.optimizer = type(old).from_config(old.get_config())
    model.optimizer.build(weights)
    for variable in model.optimizer.variables:
        if variable.path in values:
            variable.assign(values[variable.path])
    return True


def choose_xla(strategy: tf.distribute.Strategy, jit_compile: bool | str, run_eagerly: bool | None) -> bool:
    """Whether XLA compiles the steps of a model from the first one on; "auto" means: where there is a GPU."""
    several = distribution.is_several(strategy)
    if jit_compile == "auto":
        return _has_gpu() and not several and not run_eagerly
    if jit_compile and several:
        raise LogicValueError("XLA does not compile steps of several replicas; got jit_compile=True.")
    return bool(jit_compile)


def steps_before_xla(knowledge: KnowledgeBase) -> int | None:
    """After how many steps of a training on a CPU XLA compiles them; None where it never does.

    XLA is for axioms over known individuals, not too many, without guards, about networks of dense layers.
    """
    if _has_gpu() or knowledge.open_variables():
        return None
    trees = [axiom.tree for axiom in knowledge.axiom_list]
    if not trees or not all(map(_is_known, vars(knowledge.semantics).values())):
        return None
    layers = [symbol.network for symbol in knowledge.language.symbols.values()]
    if not all(isinstance(layer, keras.Layer) and _is_dense(layer) for layer in layers):
        return None
    tables = knowledge.language.individuals
    if not all(table.regularizer is None or is_of_keras(table.regularizer) for table in tables):
        return None
    if any(tree is None for tree in trees):
        return None
    written_out = knowledge.signature.write_out([tree for tree in trees if tree is not None])
    groundings, most = knowledge.language.groundings().with_copies(written_out.copies), 1
    for tree in written_out.nodes:
        if any(isinstance(node, Quantifier) and node.guard is not None for node in tree.walk()):
            return None
        most = max(most, combinations(groundings, tree, groundings.count))
    return None if most > MOST_COMBINATIONS else max(LEAST_STEPS, math.ceil(WORK_BEFORE / most))


def steps_left(
    model: keras.Model, jit_compile: bool | str, knowledge: KnowledgeBase, regularizer: Any
) -> int | None:
    """How many of the steps to come are not compiled by XLA; None for all of them."""
    if jit_compile != "auto" or model.run_eagerly or model.optimizer is None:
        return None
    if not all(item is None or is_of_keras(item) for item in (regularizer, model.optimizer)):
        return None
    steps = steps_before_xla(knowledge)
    return None if steps is None else max(0, steps - int(model.optimizer.iterations.numpy()))


def _check_callbacks(callbacks: Any) -> None:
    if callbacks is None or isinstance(callbacks, keras.callbacks.CallbackList):
        return
    for callback in keras.tree.flatten(callbacks):
        if not isinstance(callback, keras.callbacks.Callback):
            raise LogicTypeError(
                "`callbacks` are keras.callbacks.Callback objects, as [ltn.callbacks.Schedule('p_forall', "
                f"{{0: 1, 5: 4}})]; got {callback!r}."
            )


def _has_gpu() -> bool:
    return bool(tf.config.list_physical_devices("GPU"))


def _is_known(operator: object) -> bool:
    return isinstance(operator, Operator)


def _is_dense(network: keras.Layer) -> bool:
    """Whether a network is made of layers that are known to suit XLA."""
    return all(
        is_of_keras(layer) if isinstance(layer, keras.Model) else _is_suited(layer)
        for layer in _private.layers_within(network)
    )


def _is_suited(layer: keras.Layer) -> bool:
    """Whether a layer is known to suit XLA, and all that it calls comes with Keras."""
    calls = (getattr(layer, name, None) for name in _CALLS)
    return type(layer) in _LAYERS and all(call is None or is_of_keras(call) for call in calls)


def is_of_keras(item: Any) -> bool:
    """Whether a function or an object comes with Keras."""
    kind = item if inspect.isfunction(item) else type(item)
    return str(kind.__module__).startswith("keras.")

"""Quantifiers in chunks: few individuals at a time, so that memory does not grow with their number.

The individuals of one bound variable (or diagonal) are taken in slices. Of each slice an aggregator keeps one
part; the slice itself is forgotten, and computed again when gradients are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from ltn.core import axes
from ltn.errors import LogicValueError
from ltn.fuzzy_ops.aggregation import Part
from ltn.language import Apply, Name, Node, Quantifier

if TYPE_CHECKING:
    from ltn.evaluation.evaluation import Evaluation
    from ltn.evaluation.frames import Frame


def needed(evaluation: Evaluation, node: Quantifier, frame: Frame) -> bool:
    """Whether a quantifier is evaluated in chunks: not where all its combinations are few enough."""
    if evaluation.chunk is None or dict(frame) != evaluation.root(node):
        # A slice has axes of its own, not the tuples or diagonals of a formula around it.
        return False
    if any(evaluation.is_divided(inner) for inner in node.body.walk() if isinstance(inner, Quantifier)):
        # Replicas would have to meet in every slice.
        return False
    count = _combinations(evaluation, node)
    return not isinstance(count, int) or count > evaluation.chunk


def parts(evaluation: Evaluation, node: Quantifier, part_of: Callable[[Evaluation], Part]) -> Part:
    """What `part_of` keeps of each slice, stacked along axis 0."""
    group = max(node.groups, key=lambda group: _known(evaluation.frames.size(evaluation.bind(group))))
    count = evaluation.frames.size(evaluation.bind(group))
    others = _combinations(evaluation, node, besides=evaluation.bind(group))
    limit = min(evaluation.chunk or 1, tf.int32.max)
    is_known = isinstance(count, int) and isinstance(others, int)
    least, most = (min, max) if is_known else (tf.minimum, tf.maximum)
    rows = limit // (max(others, 1) if isinstance(others, int) else tf.maximum(others, 1))
    # No more than there are, which an int32 counts.
    rows = most(least(rows if is_known else tf.cast(rows, tf.int32), count), 1)

    def slice_of(start: Any, size: Any, data: Mapping[str, tf.Tensor]) -> Part:
        sliced = evaluation.sliced(group, start, size, data)
        sliced.demand(node)
        return part_of(sliced)

    def mapped(slices: Any, size_of: Callable[[Any], Any]) -> Part:
        stacked = _mapped(evaluation, node, slices, lambda k, data: slice_of(k * rows, size_of(k), data))
        # The loop forgets how many axes its results have.
        shape = [None] * (1 + len(evaluation.free(node)))
        return Part(*(tf.ensure_shape(tensor, shape) for tensor in stacked))

    if not is_known and not evaluation.dense:
        slices = tf.maximum((count + rows - 1) // rows, 1)
        return mapped(slices, lambda k: tf.minimum(rows, count - k * rows))
    # All slices of one size, as XLA needs it, and what is left. Of nothing there is one slice.
    size, slices = least(rows, count), most(count // rows, 1)
    whole, rest = mapped(slices, lambda _: size), count - slices * size
    if is_known and not rest:
        return whole
    last = slice_of(count - rest, rest, {})
    return Part(*(tf.concat([many, one[tf.newaxis]], 0) for many, one in zip(whole, last, strict=True)))


class _Surroundings(keras.Layer):
    """Runs a function where layers know whether they are trained, and weights are read in their own dtype."""

    def __init__(self) -> None:
        super().__init__(autocast=False, dtype="float32", name="surroundings")
        self.built = True

    def call(self, function: Callable[[bool | None], Any], training: bool | None = None) -> Any:
        return function(training)


def _mapped(
    evaluation: Evaluation,
    node: Quantifier,
    count: Any,
    function: Callable[[tf.Tensor, Mapping[str, tf.Tensor]], Part],
) -> list[tf.Tensor]:
    """The parts that a function of 0, 1, ... and data gives, each computed again when gradients are taken."""
    weights, data = _weights(evaluation, node), _data(evaluation, node)
    surroundings = _Surroundings()
    inputs, training = surroundings(
        function=lambda training: ([tf.convert_to_tensor(weight) for weight in weights], training)
    )

    def at(k: tf.Tensor, values: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
        # As a function of the weights' values: inside a loop TensorFlow does not follow variables.
        mapping = list(zip(weights, values, strict=False))
        with keras.StatelessScope(state_mapping=mapping, collect_losses=True) as scope:
            found = function(k, dict(zip(data, values[len(weights) :], strict=True)))
        _check_repeatable(evaluation, node, scope, weights)
        return tuple(found)

    @tf.custom_gradient
    def mapped(*given: tf.Tensor) -> tuple[list[tf.Tensor], Callable[..., Any]]:
        # No tape is to keep the slices.
        values = [tf.stop_gradient(value) for value in given]
        arrays = [tf.TensorArray(tf.float32, count) for _ in Part._fields]

        def write(k: tf.Tensor, arrays: list[tf.TensorArray]) -> tuple[tf.Tensor, list[tf.TensorArray]]:
            return k + 1, [array.write(k, t) for array, t in zip(arrays, at(k, values), strict=True)]

        start = tf.constant(0), arrays
        _, written = tf.while_loop(lambda k, _: k < count, write, start, parallel_iterations=1)

        def gradient(*upstream: tf.Tensor, variables: Sequence[tf.Variable] = ()) -> Any:
            """Also of variables that are not the theory's, which networks may read."""
            sources = [*values, *variables]

            def add(k: tf.Tensor, total: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
                with tf.GradientTape() as tape:
                    tape.watch(values)
                    found = surroundings(function=lambda _: at(k, values), training=training)
                mine = [tensor[k] for tensor in upstream]
                slopes = tape.gradient(found, sources, mine, tf.UnconnectedGradients.ZERO)
                return k + 1, [old + new for old, new in zip(total, slopes, strict=True)]

            start = tf.constant(0), [tf.zeros_like(source) for source in sources]
            shapes = tf.TensorShape([]), [source.shape for source in sources]
            _, found = tf.while_loop(lambda k, _: k < count, add, start, shapes, parallel_iterations=1)
            found, own = _differentiated(*found), len(values)
            return (found[:own], found[own:]) if variables else found

        return [array.stack() for array in written], gradient

    return mapped(*inputs, *data.values())


@tf.custom_gradient
def _differentiated(*slopes: tf.Tensor) -> tuple[list[tf.Tensor], Callable[..., Any]]:
    """The slopes themselves, which cannot be differentiated again: the slices are forgotten."""

    def refuse(*_: tf.Tensor) -> Any:
        raise LogicValueError("There are no second derivatives through chunks: leave out `chunk`.")

    return list(slopes), refuse


def _weights(evaluation: Evaluation, node: Quantifier) -> list[Any]:
    """The weights that a formula depends on."""
    names = {part.name for part in node.walk() if isinstance(part, Name)}
    layers: list[Any] = _symbols(evaluation, node)
    layers += evaluation.groundings.tables_of(names)
    layers += [proposition for name, proposition in evaluation.propositions.items() if name in names]
    weights = [weight for layer in layers for weight in layer.trainable_variables]
    return list({id(weight): weight for weight in weights}.values())


def _data(evaluation: Evaluation, node: Quantifier) -> dict[str, tf.Tensor]:
    """The data that a formula depends on, which may come from what is learned."""
    names = {part.name for part in node.walk() if isinstance(part, Name)}
    sources = [evaluation.groundings.source(name) for name in evaluation.signature.variables if name in names]
    used = {name for kind, name in filter(None, sources) if kind == "data"}
    tensors = {name: tf.convert_to_tensor(evaluation.groundings.data[name]) for name in sorted(used)}
    return {name: tensor for name, tensor in tensors.items() if tensor.dtype.is_floating}


def _symbols(evaluation: Evaluation, node: Node) -> list[Any]:
    applied = {part.symbol for part in node.walk() if isinstance(part, Apply)}
    return [symbol for name, symbol in evaluation.symbols.items() if name in applied]


def _combinations(evaluation: Evaluation, node: Quantifier, besides: str = "") -> axes.Size:
    """How many combinations of individuals there are, at most, on a path of nested quantifiers.

    `besides` names an axis that is left out. An int where the sizes are known.
    """
    free = list(evaluation.root(node).values())
    paths: list[list[str]] = []
    pending: list[tuple[Node, list[str]]] = [(node, free)]
    while pending:
        inner, path = pending.pop()
        if isinstance(inner, Quantifier):
            path = [*path, *(evaluation.bind(group) for group in inner.groups)]
            paths.append(path)
        pending += [(child, path) for child in inner.children]
    sizes = {label: evaluation.frames.size(label) for path in paths for label in path if label != besides}
    if all(isinstance(size, int) for size in sizes.values()):
        return max(math.prod(sizes.get(label, 1) for label in path) for path in paths)
    # More than an int32 can count.
    wide = {label: tf.cast(size, tf.int64) for label, size in sizes.items()}
    one = tf.ones([], tf.int64)
    return tf.reduce_max([math.prod((wide.get(label, one) for label in path), start=one) for path in paths])


def _known(size: axes.Size) -> float:
    """A size to compare with others: one that is not known when tracing counts as the largest."""
    return size if isinstance(size, int) else math.inf


def _check_repeatable(evaluation: Evaluation, node: Quantifier, scope: Any, weights: Sequence[Any]) -> None:
    """Raise where slices do not add up to the whole, or a second computation would not give the same."""
    changed = set(scope.state_mapping) - {id(weight) for weight in weights}
    if not changed and not scope.losses:
        return
    advice = "Leave out `chunk`, or the layer."
    for symbol in _symbols(evaluation, node):
        # From the outside in: the last one is the layer itself.
        layers = [layer for layer in symbol._flatten_layers() if changed & set(map(id, layer.variables))]
        if layers:
            raise LogicValueError(
                f"`chunk` evaluates networks on slices, and again for gradients; '{symbol.name}' has "
                f"the layer '{layers[-1].name}', a {type(layers[-1]).__name__}, whose output depends on the "
                f"other rows, or on chance. {advice}"
            )
    raise LogicValueError(
        "`chunk` evaluates networks on slices, and again for gradients; a layer adds a loss of its own, by "
        f"`add_loss` or an activity regularizer, or changes its state: slices do not add up to it. {advice}"
    )

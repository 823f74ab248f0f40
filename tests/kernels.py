"""Kernels of eager operations are made once in a process, rather than again for every test.

TensorFlow needs half a millisecond to make the kernel of an operation, and some microseconds to call it. It
makes kernels anew wherever a seed is set, and for each variable with a name of its own, as Keras gives them.
"""

import random
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed
from tensorflow.python.ops import gen_resource_variable_ops as variables

_set_seed: Any = context.Context._set_global_seed
_get_seed: Any = random_seed.get_seed
_make_handle: Any = variables.var_handle_op
# Whether kernels may be there that remember where they stand in their random numbers.
_are_random = True


def keep() -> None:
    """From now on, in this process."""
    context.Context._set_global_seed = _set_seed_and_keep
    random_seed.get_seed = _note_seed
    variables.var_handle_op = _make_handle_without_name


def _set_seed_and_keep(self: Any, seed: Any) -> None:
    """So that random kernels begin again, TensorFlow forgets all kernels; here only if some may be random."""
    global _are_random
    if _are_random:
        _set_seed(self, seed)
        _are_random = False
    else:
        self._seed, self._rng = seed, random.Random(seed)


def _note_seed(seed: int | None) -> Any:
    """The seeds of a random operation, which asks for them where it is made."""
    global _are_random
    # What a data set calls begins anew with each of its iterators.
    if not getattr(ops.get_default_graph(), "name", "").startswith("Dataset_"):
        _are_random = True
    return _get_seed(seed)


def _make_handle_without_name(dtype: Any, shape: Any, **options: Any) -> Any:
    """The handle of a variable, without the name that TensorFlow shows when it is debugged."""
    options.pop("debug_name", None)
    return _make_handle(dtype=dtype, shape=shape, **options)

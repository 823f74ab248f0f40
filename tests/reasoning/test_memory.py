"""What a search has compiled, and made, is gone when it has answered."""

import gc
from collections.abc import Callable
from typing import Any

import keras
import pytest
import tensorflow as tf

import ltn
from tests.reasoning.small import QUICK, people

AXIOMS = ["forall x: S(x)", "S(a) -> S(b)"]
ASK: dict[str, Callable[..., Any]] = {"entails": ltn.Theory.entails, "bounds": ltn.Theory.bounds}


def graphs() -> int:
    """The number of graphs that are alive."""
    gc.collect()
    return sum(isinstance(item, tf.Graph) for item in gc.get_objects())


@pytest.mark.filterwarnings("ignore:The theory does not pin|Nothing was found:UserWarning")  # not the point
@pytest.mark.parametrize("ask", ASK)
def test_no_graph_is_left(ask: str) -> None:
    theory, before = people(AXIOMS), graphs()
    ASK[ask](theory, "S(b)", **QUICK)
    assert graphs() == before


def test_fresh_starts_leave_no_layer_behind() -> None:
    def layers() -> int:
        gc.collect()
        return sum(isinstance(item, keras.layers.Dense) for item in gc.get_objects())

    theory = ltn.Theory()
    points = theory.domain("points", shape=2)
    theory.constant("a", points, [0.5, 0.5])
    # The activation has no weights, and would be shared with each network that is drawn.
    sigmoid = keras.layers.Activation("sigmoid")
    theory.predicate("P", points, keras.Sequential([keras.layers.Dense(1), sigmoid]))
    theory.axiom("P(a)")
    before = layers()
    theory.entails("~P(a)", **QUICK | {"restarts": 3})
    theory.copy()
    assert layers() == before


def test_each_search_gives_its_variables_the_same_names() -> None:
    """TensorFlow keeps some kilobytes for each name of a variable, for ever."""
    names = []

    class Noting(keras.optimizers.SGD):
        def build(self, variables: Any) -> None:
            super().build(variables)
            names.append([variable.path for variable in self.variables])

    theory = people(AXIOMS)
    for optimizer in (Noting(0.1, momentum=0.5), Noting(0.2, momentum=0.5)):
        theory.entails("S(b)", **QUICK, optimizer=optimizer)
    assert len(names[0]) > 2
    assert names[0] == names[1]

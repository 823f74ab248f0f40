# ruff: noqa: E501
"""Saving, loading, copying: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'theory.save("world.keras")',
        LogicValueError,
        "The theory cannot be saved: the axioms code are Python code",
    ),
    ("theory.copy()", LogicValueError, "The theory cannot be copied: the axioms code are Python code"),
    (
        'small = ltn.Theory(); small.predicate("S", small.domain("n"), lambda i: i); small.save("small.keras")',
        LogicValueError,
        "The theory cannot be saved: S are Python code. Make each a",
    ),
    ("theory.save(3)", LogicValueError, "A theory is saved to a file whose name ends with .keras"),
    ("theory.save(None)", LogicValueError, "A theory is saved to a file whose name ends with .keras"),
    (
        'theory.export(folder / "exported", format="onnx")',
        LogicValueError,
        "A theory is exported as 'tf_saved_model'",
    ),
    ("theory.export(3)", LogicTypeError, "A theory is exported to a folder, given by its path"),
    (
        'shared = keras.layers.Dense(1); own = ltn.Theory(); n = own.domain("n", shape=(1, 1)); [own.predicate(name, n, keras.Sequential([keras.Input((1, 1)), keras.layers.TimeDistributed(shared), keras.layers.Flatten()])) for name in "ST"]; own.copy()',
        LogicValueError,
        "networks of different symbols share layers",
    ),
]

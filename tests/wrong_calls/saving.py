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
    (
        'network.save(folder / "network.keras"); ltn.load(folder / "network.keras")',
        LogicTypeError,
        "network.keras holds a Sequential, not a theory: use",
    ),
    ("theory.save(3)", LogicValueError, "A theory is saved to a file whose name ends with .keras"),
    ("theory.save(None)", LogicValueError, "A theory is saved to a file whose name ends with .keras"),
    (
        'theory.export(folder / "exported", format="onnx")',
        LogicValueError,
        "A theory is exported as 'tf_saved_model'",
    ),
    ("theory.export(3)", LogicTypeError, "A theory is exported to a folder, given by its path"),
]

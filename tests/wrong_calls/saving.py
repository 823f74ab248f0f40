# ruff: noqa: E501
"""Saving, loading, copying: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicFileError, LogicTypeError, LogicValueError

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
    ("theory.save(3)", LogicTypeError, "A file is given by its path, text or a `Path`; got 3."),
    ("theory.save(None)", LogicTypeError, "A file is given by its path, text or a `Path`; got None."),
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
    (
        'no_axioms.save("theory.h5")',
        LogicValueError,
        "It is saved to a file whose name ends with .keras",
    ),
    (
        'no_axioms.save(folder / "none" / "theory.keras")',
        LogicFileError,
        "there is no folder",
    ),
    (
        '(folder / "folder.keras").mkdir(); no_axioms.save(folder / "folder.keras")',
        LogicFileError,
        "the file cannot be written, and nothing was changed: it is a folder",
    ),
    (
        'ltn.load(folder / "binary.txt")',
        LogicFileError,
        "binary.txt: the name of the file of a theory ends with .keras.",
    ),
    (
        '(folder / "text.keras").write_text("A | B"); ltn.load(folder / "text.keras")',
        LogicFileError,
        "the file is no zip archive as `save` writes it",
    ),
    (
        'config = no_axioms.get_config(); config["axioms"] = [{"name": "a", "formula": "A |", "weight": 1.0}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "The theory cannot be made again: Axiom 'a': ",
    ),
    (
        'config = no_axioms.get_config(); config["axioms"] = [{"name": "a", "formula": "B", "weight": 1.0}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "The theory cannot be made again: Axiom 'a': There is no",
    ),
    (
        'config = no_axioms.get_config(); config["axioms"] = [{"name": "a", "formula": "A", "weight": "B"}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "The weight of 'a' must be its own proposition; got 'B'.",
    ),
    (
        'config = no_axioms.get_config(); config["choices"] = {"z": {"names": ["a"], "features": None}}; ltn.Theory.from_config(config)',
        LogicValueError,
        "There are individuals for 'z', which is no variable.",
    ),
    (
        'config = no_axioms.get_config(); config["declarations"] = []; ltn.Theory.from_config(config)',
        LogicValueError,
        "Each of the propositions needs one grounding; see: A.",
    ),
    (
        'config = no_axioms.get_config(); config["declarations"] = [{"kind": "lambda", "name": "A", "grounding": {}}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "`theory.declarations.0.kind` must be one of: individuals,",
    ),
    (
        'config = no_axioms.get_config(); config["declarations"] = [{"kind": "individuals", "name": "Rome", "grounding": {"names": ["Rome"], "trainable": True, "initializer": None, "regularizer": None}}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "The individuals Rome must be constants of one domain.",
    ),
    (
        'own = ltn.Theory(); own.domain("towns", values=["Rome"]); config = own.get_config(); config["declarations"] = [{"kind": "individuals", "name": "Rome", "grounding": {"names": ["Rome"], "trainable": True, "initializer": None, "regularizer": None}}]; ltn.Theory.from_config(config)',
        LogicValueError,
        "The domain 'towns' takes no constants; got Rome.",
    ),
    (
        'own = ltn.Theory(); own.predicate("S", own.domain("n", shape=2), ltn.Predicate.MLP([2], (2,))); config = own.get_config(); config["declarations"][0]["grounding"] |= {"kind": "function"}; ltn.Theory.from_config(config)',
        LogicValueError,
        "There is a network for 'S', which is no declared function.",
    ),
    (
        'own = ltn.Theory(); own.predicate("S", own.domain("n", shape=2), ltn.Predicate.MLP([2], (2,))); config = own.get_config(); config["declarations"][0]["grounding"] |= {"network_of": "T"}; ltn.Theory.from_config(config)',
        LogicValueError,
        "'S' shares the network of 'T', which is not there.",
    ),
    (
        'own = ltn.Theory(); own.predicate("S", own.domain("n", shape=2), ltn.Predicate.MLP([2], (2,))); config = own.get_config(); config["declarations"][0]["grounding"] |= {"network": 3}; ltn.Theory.from_config(config)',
        LogicValueError,
        "The network of 'S' is none: 3.",
    ),
    (
        'own = ltn.Theory(); own.predicate("S", own.domain("n", shape=2), ltn.Predicate.MLP([2], (2,))); config = own.get_config(); config["declarations"][0]["grounding"] |= {"head": 5, "heads": ["S"]}; ltn.Theory.from_config(config)',
        LogicValueError,
        "'S' is head 5 of 1.",
    ),
]

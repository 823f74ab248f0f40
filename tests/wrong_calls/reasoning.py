# ruff: noqa: E501
"""Reasoning: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'theory.entails("A", 0.9, 0)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'theory.entails("A", 0.9, points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'theory.bounds("A", 0.9, [])',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('theory.entails("A", optimizer="nope")', LogicTypeError, "`optimizer` must be a Keras optimizer"),
    (
        'theory.entails("P(x)")',
        LogicValueError,
        "The formula has the free variable x, but must be closed. Bind",
    ),
    (
        'theory.entails("x + y")',
        LogicTypeError,
        "Expected a formula, which is true to a degree; `x + y` is a term",
    ),
    (
        'own = ltn.Theory(); own.constant("k", own.domain("n")); ltn.reasoning.Grounding({"k": np.zeros(3)}, {}, {}).apply_to(own)',
        LogicValueError,
        "This grounding is of another theory: 'k' has the shape (3,)",
    ),
    (
        'own = ltn.Theory(); own.proposition("A"); own.axiom("A"); own.entails("A")',
        LogicValueError,
        "Nothing in the theory is learned: it has one grounding, which",
    ),
    (
        'ltn.reasoning.Grounding({"ann": np.zeros(3), "bob": np.zeros(2)}, {"A": 0.5, "weight_of_learned": 0.5}, {}).apply_to(theory)',
        LogicValueError,
        "This grounding is of another theory: P/0/kernel, P/1/bias",
    ),
    (
        'np.savez(folder / "other.npz", a=[1.0]); ltn.reasoning.Grounding.load(folder / "other.npz")',
        LogicValueError,
        "other.npz holds 'a': it is not the file of a grounding",
    ),
    ('theory.entails("A", q=2)', LogicValueError, "`q` must be a number between 0.5 and 1, both excluded"),
    ('theory.entails("A", q="a")', LogicValueError, "`q` must be a number between 0.5 and 1, both excluded"),
    ('theory.entails("A", method=3)', LogicValueError, "`method` must be one of refutation, brave"),
    (
        'theory.entails("A", method=["refutation"])',
        LogicValueError,
        "`method` must be one of refutation, brave",
    ),
    ('theory.entails("A", seed="a")', LogicValueError, "`seed` must be a whole number, or None"),
    ('theory.entails("A", seed=2.5)', LogicValueError, "`seed` must be a whole number, or None"),
    (
        'theory.entails("A", restarts=1, steps=2, verbose=0, optimizer=keras.optimizers.SGD(float("nan")))',
        LogicValueError,
        "`optimizer` must have a finite learning rate, at least 0",
    ),
    (
        'theory.entails("A", restarts=1, steps=2, verbose=0, optimizer=keras.optimizers.SGD(float("inf")))',
        LogicValueError,
        "`optimizer` must have a finite learning rate, at least 0",
    ),
    (
        "ltn.reasoning.Grounding({}, {}, {}).apply_to(theory)",
        LogicValueError,
        "This grounding is of another theory: A, P/0/kernel",
    ),
    ("ltn.reasoning.Grounding({}, {}, {}).apply_to(3)", LogicTypeError, "A grounding is applied to a theory"),
    (
        "ltn.reasoning.Grounding({}, {}, {}).save(3)",
        LogicValueError,
        "A grounding is saved to a file whose name ends with .npz",
    ),
    (
        'ltn.reasoning.Grounding({}, {}, {}).save("a.txt")',
        LogicValueError,
        "A grounding is saved to a file whose name ends with .npz",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n"); own.constant("k", n); own.predicate("S", n, lambda x: x[:, 0] * (1.0 if tf.executing_eagerly() else math.nan)); own.axiom("S(k)"); own.entails("S(k)", restarts=1, steps=2, verbose=0)',
        LogicValueError,
        "is not a number at a starting point, nor at the steps from there",
    ),
]

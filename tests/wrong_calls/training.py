# ruff: noqa: E501
"""Training, of theories and of models with knowledge: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'own = ltn.Theory(); i = own.variable("i", own.domain("n", shape=2)); own.predicate("S", i.domain, ltn.Predicate.MLP([2], (2,))); own.axiom("forall i: S(i)"); ltn.with_knowledge(network, own)',
        LogicValueError,
        "The theory is not about the model: the networks of S have no",
    ),
    (
        'ltn.with_knowledge(network, theory, inputs="x", targets="x")',
        LogicValueError,
        "The variable 'x' cannot range over both the inputs and the",
    ),
    ("theory.fit(validation_split=2)", LogicValueError, "`validation_split` is the part of the rows that is"),
    ('theory.fit(verbose="loud")', LogicValueError, "`verbose` is one of 'auto', 0, 1, 2; got 'loud'."),
    ("theory.fit(callbacks=3)", LogicTypeError, "`callbacks` are keras.callbacks.Callback objects, as"),
    ('theory.compile("swift")', LogicValueError, "`optimizer` must be one of keras.optimizers, as"),
    ("theory.compile(jit_compile=3)", LogicValueError, "`jit_compile` is True, False or 'auto'; got 3."),
    ("theory.compile(run_eagerly=3)", LogicValueError, "`run_eagerly` is True or False; got 3."),
    ('theory.compile(on_nan="stop")', LogicValueError, "`on_nan` is one of 'raise', 'skip', 'ignore'; got"),
    (
        'theory.evaluate(tf.data.Dataset.from_tensor_slices({"x": np.concatenate([points, points * np.nan])}).batch(3), verbose=0)',
        LogicValueError,
        "In batch 2 of the data set: ",
    ),
    (
        'ltn.callbacks.Schedule("speed", {0: 2.0})',
        LogicTypeError,
        "There is no hyper-parameter `speed`: a schedule is for one of",
    ),
    ("theory.fit(points)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    (
        "theory.fit(tf.constant(points))",
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('theory.fit("abc")', LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    (
        "theory.evaluate(points)",
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ("theory.evaluate(0)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory.predict(points)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    (
        'ltn.with_knowledge(network, theory, weight=np.array([1.0, 2.0]), inputs="x")',
        LogicValueError,
        "`weight` must be a number of at least 0, a schedule, or",
    ),
    (
        'ltn.with_knowledge(network, theory, weight=-1, inputs="x")',
        LogicValueError,
        "`weight` must be a number of at least 0, a schedule, or",
    ),
    (
        'ltn.with_knowledge(network, theory, inputs=["x"])',
        LogicValueError,
        "The theory has no variable ['x']",
    ),
    (
        'ltn.with_knowledge(network, theory, inputs="x", warmup="a")',
        LogicValueError,
        "`warmup` must be a number of epochs, at least 0",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n"); own.variable("i", n); own.predicate("S", n, lambda i: i); own.axiom("forall i: S(i)"); own.compile("sgd"); own.fit()',
        LogicValueError,
        "The variable 'i' has no individuals: give data for it, as {'i'",
    ),
    (
        'theory.fit(iter([{"x": points}]), starts=2)',
        LogicValueError,
        "How many steps an epoch of these data has is not known: say how",
    ),
    (
        'own = ltn.Theory(); own.proposition("A", 0.5, True); own.axiom("A", "accuracy"); n = own.domain("n", shape=2); own.variable("i", n); m = ltn.with_knowledge(network, own, inputs="i"); m.compile("sgd", "mse", metrics=["accuracy"]); m.fit(points, points[:, 0], verbose=0)',
        LogicValueError,
        "'accuracy' is the name of an axiom and of a metric: rename one",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n", shape=2); own.variables("i, j", n); own.predicate("S", (n, n), lambda pair: tf.sigmoid(network(pair[0])[:, 0])); own.axiom("forall diag(i, j): S(i, j)"); m = ltn.with_knowledge(network, own, inputs="i", targets="j"); m.compile("sgd", "mse"); m.fit(points, points, unlabelled=points, verbose=0)',
        LogicValueError,
        "Axioms pair 'j' with the inputs, and unlabelled rows have no",
    ),
    (
        'theory.fit({"x": points, "u": [0.5]})',
        LogicValueError,
        "The data of all variables must have the same number of",
    ),
    ('theory.fit({"x": points[:0]})', LogicValueError, "The data of x hold no individuals"),
    (
        "theory.fit(None, sample_weight=[1.0])",
        LogicValueError,
        "Sample weights are for rows of data, and no data came",
    ),
    ('theory.fit({"x": points}, sample_weight="abc")', LogicTypeError, "`sample_weight` must be numbers"),
    (
        'theory.fit({"x": points}, sample_weight=[1.0])',
        LogicValueError,
        "`sample_weight` must have the shape (3,), one number for each",
    ),
    (
        'theory.fit({"x": points}, sample_weight=[1.0, 1.0, -1.0])',
        LogicValueError,
        "`sample_weight` must be finite numbers from 0 up, one for each",
    ),
    (
        'theory.fit({"x": points}, sample_weight=[1.0, 1.0, 1e20])',
        LogicValueError,
        "`sample_weight` must be finite numbers from 0 up, one for each",
    ),
    (
        'theory.fit({"x": points}, sample_weight=[0.0, 0.0, 0.0])',
        LogicValueError,
        "All 3 rows of the data have the weight 0: none of them counts",
    ),
    (
        'theory.fit(tf.data.Dataset.from_tensors({"x": points}), sample_weight=[1.0, 1.0, 1.0])',
        LogicTypeError,
        "`sample_weight` is for a dictionary of arrays; a data set",
    ),
    (
        "theory.fit(tf.data.Dataset.from_tensors(points))",
        LogicTypeError,
        "A data set for a theory yields dictionaries from names of",
    ),
    (
        'theory.fit(tf.data.Dataset.from_tensor_slices({"x": points}))',
        LogicValueError,
        "The data of 'x' must have the shape (n, 2), n individuals of",
    ),
    (
        'theory.fit({"x": points}, [1.0, 1.0, 1.0])',
        LogicTypeError,
        "A theory takes no `y`: labels are variables too, as in",
    ),
    (
        'theory.fit(tf.data.Dataset.from_tensors(({"x": points}, [1.0])))',
        LogicTypeError,
        "A theory takes no `y`: labels are variables too, as in",
    ),
    ("no_axioms.fit()", LogicValueError, "The theory has no axioms: add some with theory.axiom(...)"),
    (
        'theory.fit({"x": points}, sample_weight=[1.0, 2.0, 1.0])',
        LogicTypeError,
        "The axiom 'code' is Python code, whose quantifiers know no",
    ),
    (
        'own = ltn.Theory(ltn.semantics.product.replace(Forall=lambda xs, axis: tf.reduce_mean(xs, axis))); n = own.domain("n"); own.variable("i", n); own.predicate("S", n, lambda i: i); own.axiom("forall i: S(i)"); own.compile("sgd"); own.evaluate({"i": [0.5, 1.0]}, sample_weight=[1.0, 2.0])',
        LogicTypeError,
        "In `forall i: S(i)`: Sample weights need quantifiers with",
    ),
    (
        'theory.compile("sgd", loss="mse")',
        LogicTypeError,
        "A theory takes no `loss`: its loss is 1 minus the satisfaction",
    ),
    (
        'theory.compile("sgd", metrics=["accuracy"])',
        LogicTypeError,
        "A theory takes no `metrics`: its loss is 1 minus the",
    ),
    ("theory.fit(starts=0)", LogicValueError, "`starts` must be a whole number, at least 1"),
    ('theory.fit({"x": points}, starts=2.5)', LogicValueError, "`starts` must be a whole number, at least 1"),
    (
        'no_axioms.axiom("A"); no_axioms.compile("sgd"); no_axioms.fit(starts=2)',
        LogicValueError,
        "Fresh starts would all have the same weights: no weight is",
    ),
    (
        'ltn.with_knowledge(network, theory, "balanced", inputs="x").weight = 2.0',
        LogicValueError,
        "The axioms are balanced: each step finds their weight",
    ),
    (
        'ltn.with_knowledge(network, theory, lambda epoch: 0.5, inputs="x").get_config()',
        LogicValueError,
        "A schedule of `weight` that is a function cannot be saved: give",
    ),
    (
        'ltn.with_knowledge(network, theory, inputs="x").fit(points, points, starts=2)',
        LogicTypeError,
        "`starts` is for theories; a model with knowledge takes none",
    ),
    (
        'ltn.with_knowledge(network, theory, inputs="x").fit(points, points, unlabelled=points, validation_split=0.5)',
        LogicValueError,
        "With `unlabelled` give `validation_data`, not `validation_split`",
    ),
    (
        'm = ltn.with_knowledge(network, theory, inputs="x"); m.compile("sgd", "mse"); m.fit(points, points[:, 0], unlabelled=points[:0])',
        LogicValueError,
        "Arrays of rows must have the same length, at least 1",
    ),
    (
        'm = ltn.with_knowledge(network, theory, inputs="x"); m.compile("sgd", "mse"); m.fit(tf.data.Dataset.from_tensors((points, points)), unlabelled=points)',
        LogicTypeError,
        "`x` is a tf.data.Dataset, so `unlabelled` must be one too, of",
    ),
    (
        'm = ltn.with_knowledge(network, theory, inputs="x"); m.compile("sgd", "mse"); m.fit(points, points[:, 0], unlabelled=tf.data.Dataset.from_tensors(points))',
        LogicTypeError,
        "`unlabelled` is a tf.data.Dataset, so `x` must be one too, of",
    ),
    (
        'own = ltn.Theory(); n = own.domain("n"); own.variables("i, j", n); own.predicate("S", n, lambda i: i); own.axiom("forall i, j: S(i) & S(j)"); ltn.with_knowledge(network, own)',
        LogicValueError,
        "The axioms mention several variables without individuals: i, j",
    ),
    (
        'schedule = ltn.callbacks.Schedule("p_forall", {0: 2.0}); schedule.set_model(network)',
        LogicTypeError,
        "Schedule is for the training of an ltn.Theory",
    ),
    (
        'schedule = ltn.callbacks.Schedule("weight", {0: 2.0}); schedule.set_model(theory)',
        LogicValueError,
        "A theory has no weight of its own, but each axiom has one",
    ),
    ("ltn.with_knowledge(3, theory)", LogicTypeError, "`model` must be a keras.Model"),
    (
        "ltn.with_knowledge(theory, theory)",
        LogicTypeError,
        "`model` is a theory: give the model first, and then the theory",
    ),
    ("ltn.with_knowledge(network, 3)", LogicTypeError, "`theory` must be an ltn.Theory"),
    (
        'ltn.with_knowledge(network, theory, inputs="nope")',
        LogicValueError,
        "The theory has no variable 'nope'",
    ),
    ("ltn.with_knowledge(network, theory, weight={})", LogicValueError, "`weight` must begin with epoch 0"),
    (
        "ltn.with_knowledge(network, theory, weight={1: 2.})",
        LogicValueError,
        "`weight` must begin with epoch 0",
    ),
    (
        'ltn.callbacks.Schedule("p_forall", 3)',
        LogicTypeError,
        "`values` must be a dictionary or a function of the epoch",
    ),
    ("theory.fit(iter([]), starts=2, trial_steps=1)", LogicValueError, "The data have no batches"),
]

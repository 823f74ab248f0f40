# ruff: noqa: E501
"""Semantics: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    ("ltn.Semantics(And=ops.And_Prod)", LogicTypeError, "`And` must be an operator"),
    ("ltn.LogSemantics(And=3)", LogicTypeError, "`And` must be an operator"),
    (
        'ltn.semantics.product.with_hyperparameters(stable_forall="a")',
        LogicTypeError,
        "`stable` must be True or False",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": 3})',
        LogicValueError,
        "`semantics.operators` must be a dictionary; got 3.",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"And": {"class_name": "And_Prod", "config": 3}}})',
        LogicValueError,
        "The `config` of And_Prod must be a dictionary; got 3.",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"And": {"class_name": ["And_Prod"]}}})',
        LogicValueError,
        "There is no operator ['And_Prod'] in ltn.fuzzy_ops to restore",
    ),
    (
        "ltn.semantics.log_product.Not",
        AttributeError,
        "A LogSemantics has no `Not`. It evaluates whole formulas, in",
    ),
    ("ltn.using(3).__enter__()", LogicTypeError, "Expected a Semantics or the name of one"),
    (
        'ltn.using("log_product").__enter__()',
        LogicValueError,
        "A LogSemantics cannot be in force. It evaluates whole formulas",
    ),
    ("ltn.semantics.product.replace(Foo=3)", LogicTypeError, "A semantics has no symbol `Foo`"),
    (
        "ltn.semantics.product.with_hyperparameters(foo=3)",
        LogicTypeError,
        "The semantics has no hyper-parameter `foo`",
    ),
    ("ltn.semantics.from_config({})", LogicValueError, "`semantics` has no 'class_name'."),
    ("ltn.semantics.from_config(3)", LogicValueError, "`semantics` must be a dictionary; got 3."),
    (
        'ltn.semantics.from_config({"class_name": "Other", "operators": {}})',
        LogicValueError,
        "Expected what Semantics.get_config() gives",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"And": {"class_name": "And_Prod", "config": {"stable": []}}}})',
        LogicValueError,
        "`stable` of And_Prod must be a number, true or false; got [].",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics"})',
        LogicValueError,
        "`semantics` has no 'operators'.",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"And": 3}})',
        LogicValueError,
        "There is no operator None in ltn.fuzzy_ops to restore 3 by",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"Foo": {"class_name": "And_Prod"}}})',
        LogicTypeError,
        "A semantics has no symbol `Foo`",
    ),
    (
        'ltn.semantics.from_config({"class_name": "Semantics", "operators": {"And": {"class_name": "And_Prod", "config": {"foo": 3}}}})',
        LogicValueError,
        "And_Prod has no hyper-parameter 'foo' to restore {'class_name'",
    ),
    (
        "ltn.semantics.log_product.wrap()",
        AttributeError,
        "A LogSemantics has no `wrap`. It evaluates whole formulas, in",
    ),
    ("ltn.Semantics(And=lambda x,y: x*y).get_config()", LogicValueError, "`And` cannot be saved: <function"),
]

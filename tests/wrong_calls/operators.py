"""Fuzzy operators: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    ('ops.And_Prod(stable="a")', LogicTypeError, "`stable` must be True or False"),
    ("ops.And_Prod(stable=tf.constant(True))", LogicTypeError, "`stable` must be True or False"),
    ('ops.Aggreg_LogProd(stable="a")', LogicTypeError, "`stable` must be True or False"),
    ("ops.Aggreg_pMean(p=0)", LogicValueError, "`p` must be a finite number of at least 1"),
    ("ops.Aggreg_pMean(p=1e39)", LogicValueError, "`p` must be a finite number of at least 1"),
    ("ops.Aggreg_pMean(p=True)", LogicTypeError, "`p` must be a number or a scalar tensor"),
    ("ops.Aggreg_pMean(p=tf.constant(0.5))", LogicValueError, "`p` must be a finite number of at least 1"),
    (
        "ops.Aggreg_pMean(p=tf.constant([1.0, 2.0]))",
        LogicTypeError,
        "`p` must be a number or a scalar tensor",
    ),
    ("ops.Aggreg_LogMeanExp(p=0)", LogicValueError, "`p` must be a finite number above 0"),
    ("ops.Aggreg_LogMeanExp(p=1e39)", LogicValueError, "`p` must be a finite number above 0"),
    ("ops.Implies_Sigmoidal(3)", LogicTypeError, "`implies_op` must be an operator"),
    (
        "ops.Implies_Sigmoidal(ops.Implies_Luk(), s=-1)",
        LogicValueError,
        "`s`, the slope of the sigmoid, must be positive",
    ),
    (
        "ops.Implies_Sigmoidal(ops.Implies_Luk(), b0=math.inf)",
        LogicValueError,
        "`b0`, the offset of the sigmoid, must be finite",
    ),
    ("ops.Equiv(3, 4)", LogicTypeError, "`and_op` must be an operator"),
    (
        "ops.Aggreg_pMean()([0.5, 0.5], weights=[3e38, 3e38])",
        LogicValueError,
        "`weights` must be finite numbers from 0 up",
    ),
    (
        "ops.Aggreg_pMean()([0.5, 0.5], weights=[math.nan, 1.0])",
        LogicValueError,
        "`weights` must be finite numbers from 0 up",
    ),
    (
        "ops.Aggreg_pMean()([0.5], empty=math.nan)",
        LogicValueError,
        "`empty` is a truth value, a number from 0 to 1",
    ),
    ("ops.Count_Prod()([0.5])", LogicTypeError, "A count needs bounds"),
    ("ops.Count_Prod()([0.5], least=1.5)", LogicTypeError, "`least` is a whole number; got 1.5"),
    ("ops.Count_Luk()([0.5], most=True)", LogicTypeError, "`most` is a whole number; got True"),
    ("ops.Count_Godel()([0.5], most=-1)", LogicValueError, "`most` is a number from 0 up; got -1"),
    ("ops.Count_Log()([-0.5], least=1, log_odds=2)", LogicTypeError, "`log_odds` must be True or False"),
    ('ops.log_truth("a")', LogicTypeError, "Truth values must be numbers"),
    ("ops.log1mexp(None)", LogicTypeError, "Truth values must be numbers"),
    (
        'type("Mine", (ops.Aggreg_Mean,), {"__call__": lambda self, xs: xs})',
        LogicTypeError,
        "Mine is derived from an aggregator and defines __call__, which",
    ),
    (
        'ops.Aggreg_Min().part([0.5], axis="a")',
        LogicTypeError,
        "`axis` must be an int, a list of ints or None",
    ),
    ("ops.And_Prod()(.1, None)", LogicTypeError, "Truth values must be numbers"),
    (
        "ops.And_Prod()([.1,.2], [.1,.2,.3])",
        LogicValueError,
        "And_Prod(stable=True) cannot broadcast operands of shapes (2,)",
    ),
    ("ops.Aggreg_pMean()([.1], axis=3)", LogicValueError, "`axis` 3 does not exist in a tensor with 1 axes"),
    ('ops.Aggreg_pMean()([.1], axis="a")', LogicTypeError, "`axis` must be an int, a list of ints or None"),
    ("ops.Aggreg_pMean()([.1], axis=[0,0])", LogicValueError, "`axis` names an axis twice: [0, 0]"),
    (
        "ops.Aggreg_pMean()([.1,.2], mask=[1,0,1])",
        LogicValueError,
        "Aggreg_pMean(p=2, stable=True) cannot broadcast operands of",
    ),
    (
        'ops.Aggreg_pMean()([.1], empty="a")',
        LogicValueError,
        "`empty` is a truth value, a number from 0 to 1",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,1], 2, axis=0)",
        LogicValueError,
        "`axis` names axes beside that of the tuples, from 1 up",
    ),
    (
        'ops.Aggreg_pMean().segments([.1,.2], [0,1], "a")',
        LogicTypeError,
        "`ids` and `count` must be integers",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0.,1.], 2)",
        LogicTypeError,
        "`ids` and `count` must be integers",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,1,2], 2)",
        LogicValueError,
        "`ids` names the segment of each entry along axis 0 of the values",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,5], 2)",
        LogicValueError,
        "`ids` must lie between 0 and `count` - 1",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,-1], 2)",
        LogicValueError,
        "`ids` must lie between 0 and `count` - 1",
    ),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,1], [2])",
        LogicValueError,
        "`count`, the number of segments, must be one integer",
    ),
    ("ops.Aggreg_pMean().segments([.1,.2], None, 2)", LogicTypeError, "`ids` and `count` must be integers"),
    (
        "ops.Aggreg_pMean().segments([.1,.2], [0,1], None)",
        LogicTypeError,
        "`ids` and `count` must be integers",
    ),
    (
        "ops.Aggreg_pMean().segments(.1, [0], 1)",
        LogicValueError,
        "`ids` names the segment of each entry along axis 0 of the values",
    ),
    (
        "ops.Aggreg_pMean().part([.1], axis=3)",
        LogicValueError,
        "`axis` 3 does not exist in a tensor with 1 axes",
    ),
    ("ops.Aggreg_pMean().join([])", LogicTypeError, "`parts` is a list of what `part` returned, not empty"),
    ("ops.Aggreg_pMean().join(3)", LogicTypeError, "`parts` is a list of what `part` returned, not empty"),
    ("ops.eps = 3", LogicValueError, "`eps` is the paper's 0.0001, which compiled operators hold"),
]

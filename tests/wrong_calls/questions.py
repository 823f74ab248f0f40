# ruff: noqa: E501
"""Questions, and the data that they are about: wrong calls, the error of each, and a piece of its message."""

from ltn.errors import LogicTypeError, LogicValueError

ROWS = [
    (
        'theory.query("P(x)", points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'theory.query("P(x)", tf.constant(points))',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'theory.query("P(x)", pd.Series([1.0]))',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ("theory.report(points)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory.report([])", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory.report(0)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    (
        'theory.explain("all", points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ('theory.explain(["all"], {"x": points})', LogicTypeError, "A query is text, or a syntax tree"),
    ('theory.explain("all", worst=0)', LogicValueError, "`worst` must be a number of groundings, at least 1"),
    (
        'theory.explain("all", worst=True)',
        LogicValueError,
        "`worst` must be a number of groundings, at least 1",
    ),
    (
        "theory.violations(points)",
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    (
        'own = ltn.Theory(); own.variable("x", own.domain("points")); own.axiom("forall x: x < 1"); own.violations()',
        LogicValueError,
        "In `forall x: x < 1`: The variable 'x' has no individuals",
    ),
    (
        'own = ltn.Theory(); own.variable("x", own.domain("points")); own.axiom("forall x: x < 1"); own.report()',
        LogicValueError,
        "In `forall x: x < 1`: The variable 'x' has no individuals",
    ),
    *(
        (
            f'theory.violations({{"x": points}}, {threshold})',
            LogicValueError,
            "`threshold` is a truth, from 0 to 1; got",
        )
        for threshold in ("2", "-0.1", "math.nan", "True", "'half'", "None")
    ),
    *(
        (
            f'theory.violations({{"x": points}}, limit={limit})',
            LogicValueError,
            "`limit` must be a number of rows, at least 1, or None for all; got",
        )
        for limit in ("0", "2.5", "'all'", "True")
    ),
    ("no_axioms.violations()", LogicValueError, "Nothing can be violated: the theory has no axioms. Add one"),
    (
        'theory.violations({"x": points}).counts("x")',
        LogicValueError,
        "`by` must be 'axioms' or 'rows'; got 'x'",
    ),
    (
        'theory.violations({"x": points, "y": points[:2]}).counts("rows")',
        LogicValueError,
        "counted by the rows of the data, and their columns differ: 'x' has 3, 'y' has 2",
    ),
    (
        'theory.plan("all", points)',
        LogicTypeError,
        "Data are a dictionary from names of variables to arrays, as",
    ),
    ("theory.plan(None, [])", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory(0)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory([])", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory(points)", LogicTypeError, "Data are a dictionary from names of variables to arrays, as"),
    ("theory({3: points})", LogicValueError, "Data came for 3, which is not a variable of the theory"),
    (
        'theory.query("P(x)", x=np.array([["2020-01-01", "2020-01-02"]], "datetime64[D]"))',
        LogicTypeError,
        "The data of 'x' must be numbers of one shape",
    ),
    (
        'theory.query("forall x: P(x)", sample_forall=4)',
        LogicValueError,
        "It is what axioms draw in training; a question draws with `sample=`.",
    ),
    (
        'theory.query("P(x)", {3: points})',
        LogicValueError,
        "Data came for 3, which is not a variable of the theory",
    ),
    (
        'theory.query("P(x)", {"x": None})',
        LogicValueError,
        "The data of 'x' must have the shape (n, 2), n individuals of",
    ),
    ('theory.query("forall x: P(x)", p="a")', LogicTypeError, "`p` must be a number or a scalar tensor"),
    ('theory.query("forall x: P(x)", p=1e39)', LogicValueError, "`p` must be a finite number of at least 1"),
    (
        'theory.query("forall u where short(u) > 0.5: short(u)")',
        LogicValueError,
        "The variable 'u' has no individuals: give data for it, as {'u'",
    ),
    (
        'theory.query("forall x where P(x): P(x)", x=points)',
        LogicTypeError,
        "A guard is crisp, true or false; 'P' returns degrees of truth",
    ),
    (
        'theory.plan("forall diag(x, d): R(x, x) & less(d, d)", x=points)',
        LogicValueError,
        "In `forall diag(x, d): R(x, x) & less(d, d)`: diag(x, d) pairs",
    ),
    (
        'theory.query("forall diag(x, y): R(x, y)", x=points)',
        LogicValueError,
        "In `forall diag(x, y): R(x, y)`: diag(x, y) pairs the data of",
    ),
    (
        'theory.query("short(u)", u=[2.0])',
        LogicValueError,
        "The data of 'u' leave the bounds (0.0, 1.0) of the domain",
    ),
    (
        'theory.query("short(u + 1)", u=[0.5])',
        LogicValueError,
        "The values of Predicate('short') must lie in [0, 1]",
    ),
    (
        'theory.query("less(d, d)", d=["0", "one"])',
        LogicValueError,
        "The data of 'd' name 'one' in row 1, which is no individual of",
    ),
    (
        'theory.query("c = red", c=["red", "grene"])',
        LogicValueError,
        "The data of 'c' name 'grene' in row 1, which is no individual",
    ),
    (
        'theory.query("P(x)", x=[[1.0, math.nan]])',
        LogicValueError,
        "The data of 'x' hold 1 values that are NaN or infinite, the",
    ),
    (
        'theory.query("P(x)", x=[[1.0, math.inf]])',
        LogicValueError,
        "The data of 'x' hold 1 values that are NaN or infinite, the",
    ),
    (
        'theory.query("P(x)", tf.data.Dataset.from_tensors({"x": points}).repeat())',
        LogicValueError,
        "The data set is endless, and all of its rows are asked for",
    ),
    (
        'theory.query("P(x)", tf.data.Dataset.from_tensors({"x": points}).take(0))',
        LogicValueError,
        "The data set has no batches, and so no individuals",
    ),
    (
        'theory.query("P(x)", iter([{"x": points}]))',
        LogicTypeError,
        "A generator may be endless, and its batches can be read only",
    ),
    (
        'theory.query("P(x)", type("Endless", (keras.utils.PyDataset,), {"__getitem__": lambda self, i: {"x": points}, "num_batches": None})())',
        LogicValueError,
        "The data set is endless, and all of its rows are asked for",
    ),
    (
        'theory.query("P(x)", {"x": points}, semantics="godel", p=2)',
        LogicValueError,
        "The quantifiers Aggreg_Min(), Aggreg_Max() have no `p`",
    ),
    ('theory.query("P(x)", {"x": points}, x=points)', LogicValueError, "Data came twice for x"),
    ('theory.query("forall x P(x)")', LogicValueError, "Expected ',', 'where' or ':', found 'P'"),
    (
        'theory.query("forall[sample=2] x: P(x)", x=points, sample=0)',
        LogicValueError,
        "`sample` must be a number of tuples, at least 1",
    ),
    ("theory.memory_limit = 0", LogicValueError, "`memory_limit` must be a number of bytes, at least 1"),
    ("theory.memory_limit = '1 GiB'", LogicValueError, "`memory_limit` must be a number of bytes"),
    (
        'theory.report({"x": points}, sample=2.5)',
        LogicValueError,
        "`sample` must be a number of tuples",
    ),
    (
        'theory.query("forall[sample=2] x: P(x)", x=points, sample=2, semantics=ltn.semantics.product.replace(Forall=tf.reduce_min))',
        LogicTypeError,
        "A sample needs an aggregator of ltn.fuzzy_ops; `forall` is",
    ),
    (
        'theory.query("forall[q=2] x: P(x)", x=points)',
        LogicTypeError,
        "Aggreg_pMeanError has no hyper-parameter `q`",
    ),
    (
        'theory.query("P(x)", x=[0, 1, 2])',
        LogicValueError,
        "The data of 'x' hold the index 2 in row 2; the 2 individuals",
    ),
    (
        'theory.query("P(x)", x=["ann", None])',
        LogicTypeError,
        "The data of 'x' are names of individuals; row 1 holds a NoneType",
    ),
    (
        'theory.query("right(q)", {"q": ["ann","bob"]})',
        LogicTypeError,
        "The data of 'q' must be numbers of one shape",
    ),
    (
        'theory.query("P(x)", {"x": tf.ones((3,2), tf.complex64)})',
        LogicTypeError,
        "The data of 'x' must be numbers of one shape",
    ),
    ('theory.query("P(x)", semantics=3)', LogicTypeError, "Expected a Semantics or the name of one"),
    (
        'theory.query("P(x)", semantics="abc")',
        LogicValueError,
        "There is no semantics 'abc'; the presets are stable_product",
    ),
    (
        'theory.explain("code")',
        LogicValueError,
        "The axiom 'code' is Python code: only formulas can be explained",
    ),
    ('theory.explain("x + y")', LogicTypeError, "Only formulas can be explained; `x + y` is a term"),
    ('theory.plan("code")', LogicValueError, "The axiom 'code' is Python code: only formulas have a plan"),
    ("theory.summary(3)", LogicTypeError, "`print_fn` is a function of a text, as print"),
    ('theory.summary("a")', LogicTypeError, "`print_fn` is a function of a text, as print"),
    ('theory.explain("forall u: short(u)")', LogicValueError, "The variable 'u' has no individuals"),
    (
        'theory.rank([("ann",)], "P(x)", "y")',
        LogicValueError,
        "`of` names distinct free variables of `P(x)`, which are",
    ),
    (
        'theory.rank([("ann",)], "P(x)", ("x", "x"))',
        LogicValueError,
        "`of` names distinct free variables of `P(x)`, which are",
    ),
    ('theory.rank([("ann",)], "forall x: P(x)", "x")', LogicValueError, "which are none; got 'x'"),
    (
        'theory.rank([("ann",)], "P(x)", 3)',
        LogicTypeError,
        '`of` is a variable, as "t", or several, as ("h", "t"); got 3',
    ),
    (
        'theory.rank([("ann",)], "P(x)", [])',
        LogicTypeError,
        '`of` is a variable, as "t", or several, as ("h", "t"); got []',
    ),
    ('theory.rank([("ann",)], "f(x)", "x")', LogicTypeError, "Only formulas can be ranked; `f(x)` is a term"),
    ('theory.rank([("ann",)], 3, "x")', LogicTypeError, "A query is text, or a syntax tree; got 3"),
    (
        'theory.rank([("ann", "bob")], "R(x, y)", "y", {"x": ["ann"], "y": ["bob"]})',
        LogicTypeError,
        "`filtered_by` is a list of tables of true rows, as [train, valid]; got a dict",
    ),
    (
        'theory.rank([("ann", "eve")], "R(x, y)", "y")',
        LogicValueError,
        "The data of 'y' name 'eve' in row 0, which is no individual of",
    ),
    (
        'theory.rank([(0, 2)], "R(x, y)", "y")',
        LogicValueError,
        "The data of 'y' hold the index 2 in row 0; the 2 individuals of",
    ),
    (
        'theory.rank([("ann", "bob")], "R(x, y)", "y", [[], [("ann", "bobb")]])',
        LogicValueError,
        "In table 2 of `filtered_by`: The data of 'y' name 'bobb' in row 0",
    ),
    ('theory.rank([], "R(x, y)", "y")', LogicValueError, "The data of x, y hold no individuals"),
    (
        'theory.rank({"x": ["ann"]}, "R(x, y)", "y")',
        LogicValueError,
        "A table of rows has a column for each free variable of `R(x, y)`, x, y; got 'x'",
    ),
    (
        'theory.rank({}, "R(x, y)", "y")',
        LogicValueError,
        "A table of rows has a column for each free variable of `R(x, y)`, x, y; got none",
    ),
    (
        'theory.rank(pd.DataFrame({"x": ["ann"], "y": ["bob"], "z": [1]}), "R(x, y)", "y")',
        LogicValueError,
        "A table of rows has a column for each free variable of `R(x, y)`, x, y; got 'x', 'y', 'z'",
    ),
    (
        'theory.rank({"x": ["ann"], "y": ["ann", "bob"]}, "R(x, y)", "y")',
        LogicValueError,
        "The data of all variables must have the same number of individuals",
    ),
    (
        'theory.rank({"x": "ann", "y": "bob"}, "R(x, y)", "y")',
        LogicTypeError,
        "The data of 'x' must be numbers of one shape; got array('ann'",
    ),
    (
        'theory.rank([("ann", "bob"), ("ann",)], "R(x, y)", "y")',
        LogicValueError,
        "for each free variable of `R(x, y)`, x, y; got 1 in row 1",
    ),
    (
        'theory.rank(np.zeros((2, 3), int), "R(x, y)", "y")',
        LogicValueError,
        "for each free variable of `R(x, y)`, x, y; got 3 columns",
    ),
    (
        'theory.rank("triples.tsv", "R(x, y)", "y")',
        LogicTypeError,
        "Rows come as a dictionary or a DataFrame with a column for",
    ),
    (
        'theory.rank(["ann"], "P(x)", "x")',
        LogicTypeError,
        "Rows come as a dictionary or a DataFrame with a column for",
    ),
    (
        'theory.rank({"u": [0.5]}, "short(u)", "u")',
        LogicValueError,
        "'u' is ranked among the known individuals of its domain 'unit'",
    ),
    (
        'theory.rank({"x": points, "y": ["ann", "bob", "bob"]}, "R(x, y)", "y", [[("ann", "bob")]])',
        LogicValueError,
        "Some tables give the individuals of 'x' by name or index, others",
    ),
    (
        'theory.rank([("ann",)], "exists u: P(x) & short(u)", "x")',
        LogicValueError,
        "The variable 'u' has no individuals: give data for it, as {'u'",
    ),
    ('theory.rank([("ann",)], "P(x)", "x", x=points)', LogicValueError, "Data came twice for x"),
    (
        'theory.rank([("ann",)], "P(x)", "x", p="a")',
        LogicTypeError,
        "`p` must be a number or a scalar tensor",
    ),
    (
        'theory.rank([("ann",)], "P(x)", "x").hits(0)',
        LogicValueError,
        "`places` must be a number of places, at least 1; got 0",
    ),
]

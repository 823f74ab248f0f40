"""Errors that the library raises: one root, each leaf also the built-in kind that callers expect."""

__all__ = ["LogicError", "LogicFileError", "LogicTypeError", "LogicValueError", "NotFiniteError"]


class LogicError(Exception):
    """Root of the errors that `ltn` raises for mistakes in its use.

    >>> issubclass(LogicValueError, LogicError) and issubclass(LogicValueError, ValueError)
    True
    """

    # AutoGraph raises an error of compiled code again with the place in the user's program, and of the
    # same class if its constructor is the plain one.
    __init__ = Exception.__init__


class LogicValueError(LogicError, ValueError):
    """The argument has the right type but an impossible value, shape or label.

    >>> import ltn
    >>> ltn.Proposition(1.5, trainable=False)
    Traceback (most recent call last):
    ...
    ltn.errors.LogicValueError: `truth_value` must lie in [0, 1]; got 1.5.
    """


class LogicFileError(LogicValueError, OSError):
    """The file cannot be read or written, or does not hold what it should.

    Where the system refused, its error is the cause.

    >>> import ltn
    >>> ltn.Theory().axioms("missing.txt")
    Traceback (most recent call last):
    ...
    ltn.errors.LogicFileError: missing.txt: there is no such file.
    """


class NotFiniteError(LogicValueError):
    """Numbers are NaN or infinite: those of data, truth values, or those of a step of training.

    >>> issubclass(NotFiniteError, LogicValueError)
    True
    """


class LogicTypeError(LogicError, TypeError):
    """The argument is of the wrong kind, such as a number where a formula is expected.

    >>> import ltn
    >>> ltn.Wrapper_Connective(ltn.fuzzy_ops.Not_Std())(0.3)
    Traceback (most recent call last):
    ...
    ltn.errors.LogicTypeError: Not_Std() connects formulas; operand 1 is a float: 0.3.
    """

"""Rows of relations in files, however large: data sets of their batches, for `fit`.

Files are read in blocks of rows. In the graph of the data set a block becomes places of individuals in their
domains, int32, (m, columns); blocks are joined to windows, whose rows are shuffled, and windows are cut into
batches. Nothing has the size of a file.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import tensorflow as tf

from ltn._private import as_logic_errors
from ltn.checks import check_whole
from ltn.errors import LogicFileError, LogicTypeError, LogicValueError
from ltn.evaluation.groundings import PLACES
from ltn.files import name_of, unreadable
from ltn.knowledge.data import check_names, domain_of
from ltn.knowledge.places import name_table
from ltn.knowledge.relation_rows import SEPARATORS, ending_of, no_individual
from ltn.language import Domain, Signature
from ltn.language.names import list_names, names_of

# The endings of files whose records are `tf.train.Example`s.
RECORDS = (".tfrecord", ".tfrecords")
# How many rows are looked up together.
BLOCK = 4096
# How many files are read side by side, so that a window holds rows of several.
AT_ONCE = 8


class _DistributedTheory(Protocol):
    @property
    def signature(self) -> Signature: ...

    @property
    def distribute_strategy(self) -> tf.distribute.Strategy: ...


def rows(
    theory: _DistributedTheory,
    files: Any,
    variables: str | Sequence[str],
    *,
    batch_size: int,
    shuffle: int = 1_000_000,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Rows of files as a data set of batches, of which memory holds a part: for more than fit into memory.

    A file has a column for each variable. Tables, `.csv`, `.tsv` or `.txt`, are those of `theory.relation`:
    without a header, with names in their cells. In `.tfrecord` files a row is a `tf.train.Example`, which has
    a feature of the name of each variable: a name, or the index of an individual. All may end with `.gz`
    besides. What is wrong in a file is an error that names it and the row, which count from 0.

    Each worker of a `tf.distribute` strategy has its own rows: of n workers, the k-th one those with the
    numbers k, k + n, k + 2n, ... of each file. `batch_size` is that of all replicas together.

    Args:
        files: a path, in which `*` may stand, or several of them.
        variables: those of the columns, in order; their individuals are known.
        batch_size: how many rows a batch has.
        shuffle: how many rows are put into a random order together, another one in each epoch; 0 for the
            order of the files.
        seed: of these orders.

    Returns:
        The data set, of dictionaries from variables to places of individuals, (batch_size,) each.

    >>> import ltn, tempfile, pathlib
    >>> theory = ltn.Theory()
    >>> people = theory.domain("people", values=["Ann", "Bob", "Eve"])
    >>> x, y = theory.variables("x, y", people)
    >>> F = theory.predicate("F", (people, people), ltn.Predicate.table((people, people)))
    >>> friends = theory.axiom("forall diag(x, y): F(x, y)", name="friends")
    >>> theory.compile("sgd")
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for number, text in enumerate(["Ann,Bob\\nBob,Eve\\n", "Eve,Ann\\n"]):
    ...     written = (folder / f"friends-{number}.csv").write_text(text)
    >>> batches = theory.rows(folder / "friends-*.csv", "x, y", batch_size=2, shuffle=0)
    >>> next(iter(batches))["y"].numpy().tolist()
    [1, 2]
    >>> history = theory.fit(batches, epochs=2, verbose=0)
    """
    batch_size = check_whole("batch_size", batch_size, "a number of rows")
    shuffle = check_whole("shuffle", shuffle, "a number of rows", least=0)
    seed = None if seed is None else check_whole("seed", seed, least=0, otherwise=", or None")
    names = _existing(files)
    columns = _columns(theory.signature, names_of(variables))
    given = _Files(names, columns, _form(names, [column.variable for column in columns]))
    given.check()
    worker = _worker(theory.distribute_strategy)
    if shuffle:
        blocks = given.blocks(worker, min(AT_ONCE, len(names)), seed)
        seeds = tf.data.Dataset.random(seed, rerandomize_each_iteration=True).batch(2)
        windows = tf.data.Dataset.zip((blocks.rebatch(shuffle), seeds))
        ordered = windows.map(tf.random.experimental.stateless_shuffle)
    else:
        ordered = given.blocks(worker)
    options = tf.data.Options()
    # The rows are those of this worker already.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return ordered.rebatch(batch_size).map(given.batch).prefetch(tf.data.AUTOTUNE).with_options(options)


# Where the rows stand


def _existing(files: Any) -> list[str]:
    """The names of the files that are meant, in order."""
    given = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(given, Sequence) or not given:
        raise LogicTypeError(f"Rows are read from a path, or from a list of paths; got {files!r:.200}.")
    found: list[str] = []
    for name in map(name_of, given):
        meant = [name] if tf.io.gfile.exists(name) else sorted(tf.io.gfile.glob(name))
        if not meant:
            raise LogicFileError(f"{name}: there is no such file.")
        found += meant
    return found


def _worker(strategy: tf.distribute.Strategy) -> tf.distribute.InputContext:
    """Which worker this process is, and of how many."""
    contexts: list[tf.distribute.InputContext] = []

    def note(context: tf.distribute.InputContext) -> tf.data.Dataset:
        contexts.append(context)
        return tf.data.Dataset.range(1)

    # Strategies of all kinds tell it so, and only so.
    strategy.distribute_datasets_from_function(note)
    return contexts[0]


@dataclass(frozen=True)
class _Files:
    """Files of rows, all of one form."""

    names: Sequence[str]
    columns: Sequence[_Column]
    form: _Form

    def check(self) -> None:
        """Raise if there are no rows, or if one of the first is wrong."""
        with as_logic_errors():
            for name in self.names:
                for rows in self.form.read(tf.constant(name)).batch(BLOCK).take(1):
                    self._places(tf.constant(name), tf.constant(0, tf.int64), 1, rows)
                    return
        raise LogicFileError(f"{list_names(self.names)}: no rows stand there.")

    def blocks(
        self, worker: tf.distribute.InputContext, at_once: int = 1, seed: int | None = None
    ) -> tf.data.Dataset:
        """The places of the individuals in a worker's rows, int32, (m, columns) with m at most `BLOCK`.

        Of several files that are read at once, each epoch has another order.
        """
        step, number = worker.num_input_pipelines, worker.input_pipeline_id

        def blocks(file: tf.Tensor) -> tf.data.Dataset:
            rows = self.form.read(file).shard(step, number).batch(BLOCK).enumerate()
            return rows.map(lambda block, given: (file, block * BLOCK * step + number, given))

        files = tf.data.Dataset.from_tensor_slices(list(self.names))
        if at_once > 1:
            files = files.shuffle(len(self.names), seed)
        return files.interleave(blocks, at_once, num_parallel_calls=at_once).map(
            lambda file, first, given: self._places(file, first, step, given), tf.data.AUTOTUNE
        )

    def batch(self, places: tf.Tensor) -> dict[str, tf.Tensor]:
        """Rows, as data are given."""
        each = tf.unstack(tf.cast(places, PLACES), axis=1)
        return {column.variable: place for column, place in zip(self.columns, each, strict=True)}

    def _places(self, file: tf.Tensor, first: tf.Tensor, step: int, given: tf.Tensor) -> tf.Tensor:
        """The places in the rows of a file whose numbers are first, first + step, ..."""
        # Empty lines are passed over.
        rows = tf.boolean_mask(given, given != "")
        where = tf.strings.join(["In the file ", file, ", from row ", tf.strings.as_string(first)])
        cells = self.form.cells(rows, where)
        found = [column.find(cell) for column, cell in zip(self.columns, cells, strict=True)]
        places = tf.stack(found, axis=1)
        is_wrong = tf.reduce_any(places < 0, axis=1)

        def explain() -> None:
            tf.py_function(raise_for, [file, first, given, tf.boolean_mask(rows, is_wrong)[0]], [])

        def raise_for(file: tf.Tensor, first: tf.Tensor, given: tf.Tensor, wrong: tf.Tensor) -> None:
            row = int(first) + step * given.numpy().tolist().index(wrong.numpy())
            self._raise_for(f"In the file {file.numpy().decode()}", row, self.form.split(wrong.numpy()))

        done = tf.cond(tf.reduce_any(is_wrong), explain, lambda: None)
        with tf.control_dependencies([done] if done is not None else []):
            return tf.identity(places)

    def _raise_for(self, where: str, row: int, cells: Sequence[Any]) -> NoReturn:
        """Raise for the cells of a row, some of which are wrong."""
        if len(cells) != len(self.columns):
            raise LogicValueError(
                f"{where}: row {row} has {len(cells)} columns; expected is one for each of "
                f"{', '.join(column.variable for column in self.columns)}."
            )
        for position, (cell, column) in enumerate(zip(cells, self.columns, strict=True), start=1):
            if cell not in (column.places if isinstance(cell, str) else range(len(column.places))):
                raise no_individual(f"{where}, column {position}", cell, row, column.domain, column.places)
        raise LogicValueError(
            f"{where}: row {row} is not UTF-8, or a quotation mark in it does not enclose a cell; within a "
            'cell it is written twice, as in "a ""b"" c".'
        )


# What stands in a row


@dataclass(frozen=True)
class _Column:
    """The individuals of a variable, one in each row."""

    variable: str
    domain: Domain
    # By name.
    places: Mapping[str, int]
    table: tf.lookup.StaticHashTable

    def find(self, cells: tf.Tensor) -> tf.Tensor:
        """The places of individuals given by name or by index, int32; -1 for others."""
        if cells.dtype == tf.string:
            return self.table.lookup(cells)
        is_place = (cells >= 0) & (cells < len(self.places))
        return tf.where(is_place, tf.cast(cells, tf.int32), -1)


def _columns(signature: Signature, variables: Sequence[str]) -> list[_Column]:
    check_names(signature, variables)
    if len(set(variables)) < len(variables):
        raise LogicValueError(f"A column is that of one variable; got {', '.join(variables)}.")
    domains = {variable: domain_of(signature, variable) for variable in variables}
    for variable, domain in domains.items():
        if not signature.places(domain):
            raise LogicValueError(
                f"The rows of files are about known individuals; the domain '{domain.name}' of '{variable}' "
                "has none: declare it with `values=`, or constants of it, before the rows."
            )
    tables = {domain: name_table(signature, domain) for domain in domains.values()}
    return [
        _Column(variable, domain, signature.places(domain), tables[domain])
        for variable, domain in domains.items()
    ]


class _Form(Protocol):
    """A kind of file."""

    def read(self, file: tf.Tensor) -> tf.data.Dataset:
        """Its rows, texts, as they stand there."""

    def cells(self, rows: tf.Tensor, where: tf.Tensor) -> Sequence[tf.Tensor]:
        """The columns of some rows; nobody is in the cells of a wrong one. Messages say where they stand."""

    def split(self, row: bytes) -> list[Any]:
        """The cells of a row of which there may be too few, or too many."""


def _form(files: Sequence[str], variables: Sequence[str]) -> _Form:
    """What all files are."""
    [ending, *others] = dict.fromkeys(map(ending_of, files))
    if others:
        raise LogicFileError(f"Rows are read from files of one kind; got {', '.join([ending, *others])}.")
    if ending in SEPARATORS:
        return _Table(SEPARATORS[ending], len(variables))
    if ending not in RECORDS:
        raise LogicFileError(
            f"{files[0]}: rows are read from files that end with {list_names([*SEPARATORS, *RECORDS])}, or "
            "these and .gz."
        )
    return _Records(_kinds(files, variables))


@dataclass(frozen=True)
class _Table:
    """A text, with columns that a character separates."""

    separator: str
    count: int

    def read(self, file: tf.Tensor) -> tf.data.Dataset:
        return tf.data.TextLineDataset(file, _compression(file))

    def cells(self, rows: tf.Tensor, where: tf.Tensor) -> Sequence[tf.Tensor]:
        cell = f'([^"{self.separator}]*|"([^"]|"")*")' if self._has_quotes else f"[^{self.separator}]*"
        is_fine = tf.strings.regex_full_match(rows, self.separator.join([cell] * self.count))
        # A row that could not be read becomes one of no individuals. A row of one empty cell is refused.
        rows = tf.where(is_fine, rows, self.separator.join(["\0"] * self.count))
        return list(tf.io.decode_csv(rows, [[""]] * self.count, self.separator, self._has_quotes))

    def split(self, row: bytes) -> list[Any]:
        text = row.decode(errors="replace")
        return next(csv.reader([text])) if self._has_quotes else text.split(self.separator)

    @property
    def _has_quotes(self) -> bool:
        # In tables that are separated by tabs a quotation mark is a letter.
        return self.separator == ","


@dataclass(frozen=True)
class _Records:
    """Examples with a feature for each variable, of the same kind in all of them."""

    kinds: Mapping[str, tf.DType]

    def read(self, file: tf.Tensor) -> tf.data.Dataset:
        return tf.data.TFRecordDataset(file, _compression(file))

    def cells(self, rows: tf.Tensor, where: tf.Tensor) -> Sequence[tf.Tensor]:
        features = {
            name: tf.io.FixedLenFeature([], kind, "" if kind == tf.string else -1)
            for name, kind in self.kinds.items()
        }
        found = tf.io.parse_example(rows, features, tf.fill(tf.shape(rows), where))
        return [found[name] for name in self.kinds]

    def split(self, row: bytes) -> list[Any]:
        features = tf.train.Example.FromString(row).features.feature
        values = [_values(features[name]) for name in self.kinds if name in features]
        return [value for given in values for value in given]


def _kinds(files: Sequence[str], variables: Sequence[str]) -> dict[str, tf.DType]:
    """What the features of the first record are."""
    try:
        first = next(iter(tf.data.TFRecordDataset(files, _compression(files[0])).take(1)), None)
        features = tf.train.Example.FromString(b"" if first is None else first.numpy()).features.feature
    except Exception as error:
        raise unreadable(list_names(files), error) from error
    if first is None:
        return dict.fromkeys(variables, tf.string)
    kinds = {}
    for variable in variables:
        values = _values(features[variable]) if variable in features else []
        if len(values) != 1:
            raise LogicFileError(
                f"{list_names(files)}: a record has one name or index for each of {', '.join(variables)}; "
                f"the first one has {len(values)} for '{variable}', and the features "
                f"{list_names(sorted(features))}."
            )
        kinds[variable] = tf.string if isinstance(values[0], str) else tf.int64
    return kinds


def _values(feature: tf.train.Feature) -> list[str | int]:
    names = [value.decode(errors="replace") for value in feature.bytes_list.value]
    return names or list(feature.int64_list.value)


def _compression(file: tf.Tensor) -> tf.Tensor:
    return tf.where(tf.strings.regex_full_match(file, r".*\.gz"), "GZIP", "")

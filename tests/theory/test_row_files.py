"""Rows that are read from files in batches: those of `theory.relation`, and never all of them at once."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import ltn
from ltn.errors import LogicFileError, LogicValueError
from ltn.knowledge import row_files
from tests.tolerance import assert_close

# Keras, on NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

NAMES = ["ann", "bob's", "cat, the", 'd"e', "é\u6f22"]
KINDS = ["likes", "owes", "knows"]
PLACES = [(number % 5, number % 3, number * 7 % 5) for number in range(23)]
NAMED = [(NAMES[h], KINDS[r], NAMES[t]) for h, r, t in PLACES]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell


def record(row: Sequence[Any]) -> bytes:
    def feature(value: Any) -> tf.train.Feature:
        if isinstance(value, str):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
        if isinstance(value, list):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))

    features = {name: feature(value) for name, value in zip("hrt", row, strict=False)}
    found: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return found


def written(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    """A file of rows, in the form that its name tells."""
    if ".tfrecord" in path.name:
        options = tf.io.TFRecordOptions("GZIP" if path.suffix == ".gz" else "")
        with tf.io.TFRecordWriter(str(path), options) as writer:
            for row in rows:
                writer.write(record(row))
        return path
    is_csv = ".csv" in path.name
    lines = (",".join(map(quoted, row)) if is_csv else "\t".join(row) for row in rows)
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def declared() -> ltn.Theory:
    theory = ltn.Theory()
    people, kinds = (
        theory.domain("people", shape=4),
        theory.domain("kinds", values=dict(zip(KINDS, np.eye(3, 4), strict=True))),
    )
    theory.constants(NAMES, people, initializer="glorot_uniform")
    theory.variables("h, t", people)
    theory.variable("r", kinds)
    theory.predicate("holds", (people, kinds, people), ltn.Predicate.DistMult())
    theory.axiom("forall[p=1] diag(h, r, t): holds(h, r, t)", name="known")
    return theory


@pytest.fixture(scope="module")
def theory() -> ltn.Theory:
    return declared()


def read(batches: tf.data.Dataset) -> list[list[tuple[int, ...]]]:
    """The rows of each batch."""
    return [list(zip(*(batch[name].numpy().tolist() for name in "hrt"), strict=True)) for batch in batches]


def joined(batches: list[list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    return [row for batch in batches for row in batch]


FILES = ["rows.csv", "ROWS.TSV.gz", "rows.txt", "rows.tfrecords.gz"]


@pytest.mark.parametrize("name", FILES)
def test_the_rows_are_those_of_a_relation(name: str, theory: ltn.Theory, tmp_path: Path) -> None:
    file = written(tmp_path / name, NAMED)
    batches = read(theory.rows(file, "h, r, t", batch_size=4, shuffle=0))
    assert [len(batch) for batch in batches] == [4] * 5 + [3]
    assert joined(batches) == PLACES
    if "tfrecord" not in name:
        people, kinds = (theory.signature.variables[name] for name in "hr")
        relation = theory.relation(name, (people, kinds, people), file)
        assert relation.rows.tolist() == sorted(map(list, set(PLACES)))


def test_records_hold_names_or_indices(theory: ltn.Theory, tmp_path: Path) -> None:
    rows = [(h, name, t) for (h, _, t), (_, name, _) in zip(PLACES, NAMED, strict=True)]
    file = written(tmp_path / "rows.tfrecord", rows)
    assert joined(read(theory.rows(str(file), ["h", "r", "t"], batch_size=9, shuffle=0))) == PLACES


def test_individuals_without_names_are_called_by_their_numbers(tmp_path: Path) -> None:
    theory = ltn.Theory()
    theory.domain("points", values=np.eye(3))
    file = tmp_path / "points.csv"
    file.write_bytes(b"2\r\n\r\n0\r\n\r\n")
    # Empty lines are no rows, and data may come under the name of a domain.
    [batch] = theory.rows(file, "points", batch_size=5)
    assert sorted(batch["points"].numpy()) == [0, 2]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files of different sizes."""
    folder = tmp_path_factory.mktemp("files")
    for number, (first, last) in enumerate([(0, 2), (2, 2), (2, 13), (13, 23)]):
        written(folder / f"rows-{number}.tsv", NAMED[first:last])
    return folder


def test_files_are_read_in_the_order_of_their_names(theory: ltn.Theory, files: Path) -> None:
    found = theory.rows(files / "rows-*.tsv", "h, r, t", batch_size=10, shuffle=0)
    assert joined(read(found)) == PLACES
    some = [files / "rows-3.tsv", files / "rows-0.tsv"]
    assert joined(read(theory.rows(some, "h, r, t", batch_size=10, shuffle=0))) == PLACES[13:] + PLACES[:2]


@pytest.mark.parametrize("shuffle", [0, 4])
def test_workers_share_the_rows(
    shuffle: int, theory: ltn.Theory, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_files, "BLOCK", 3)
    # One file has fewer rows than there are workers.
    count, shares = 3, []
    for number in range(count):
        worker = tf.distribute.InputContext(count, number, count)
        monkeypatch.setattr(row_files, "_worker", lambda strategy, worker=worker: worker)
        found = theory.rows(files / "rows-*.tsv", "h, r, t", batch_size=4, shuffle=shuffle)
        shares.append(joined(read(found)))
    expected = [
        [row for first, last in [(0, 2), (2, 13), (13, 23)] for row in PLACES[first:last][number::count]]
        for number in range(count)
    ]
    assert (list(map(sorted, shares)) if shuffle else shares) == (
        list(map(sorted, expected)) if shuffle else expected
    )
    assert sorted(joined(shares)) == sorted(PLACES)


def test_each_epoch_has_an_order_of_its_own_that_the_seed_repeats(theory: ltn.Theory, files: Path) -> None:
    def epochs(seed: int) -> list[list[tuple[int, ...]]]:
        batches = theory.rows(files / "rows-*.tsv", "h, r, t", batch_size=5, seed=seed)
        return [joined(read(batches)) for _ in range(2)]

    first, second = epochs(1)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(PLACES)
    assert [first, second] == epochs(1)
    assert first not in epochs(2)


def test_rows_are_mixed_within_a_window(theory: ltn.Theory, tmp_path: Path) -> None:
    file = written(tmp_path / "rows.tsv", NAMED)
    found = joined(read(theory.rows(file, "h, r, t", batch_size=5, shuffle=10, seed=0)))
    assert found != PLACES
    for first in (0, 10, 20):
        assert sorted(found[first : first + 10]) == sorted(PLACES[first : first + 10])


@pytest.mark.parametrize("shuffle", [0, 8])
def test_memory_holds_a_part_of_a_file(
    shuffle: int, theory: ltn.Theory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batches come from a file that has no end."""
    file = written(tmp_path / "rows.tsv", NAMED)
    line = "\t".join(NAMED[0]).encode()
    monkeypatch.setattr(
        row_files._Table, "read", lambda form, file: tf.data.Dataset.from_tensors(line).repeat()
    )
    monkeypatch.setattr(row_files, "BLOCK", 3)
    batches = theory.rows(file, "h, r, t", batch_size=4, shuffle=shuffle)
    assert read(batches.take(3)) == [[PLACES[0]] * 4] * 3


def test_training_is_that_on_arrays(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.csv", NAMED)
    theory = declared()
    theory.compile("sgd")
    before = theory.get_weights()
    rows = theory.fit(theory.rows(file, "h, r, t", batch_size=8, shuffle=0), epochs=2, verbose=0)
    weights = theory.get_weights()
    theory.set_weights(before)
    arrays = {name: np.array(column) for name, column in zip("hrt", zip(*PLACES, strict=True), strict=True)}
    expected = theory.fit(arrays, batch_size=8, epochs=2, shuffle=False, verbose=0)
    assert_close(rows.history["known"], expected.history["known"])
    for mine, other in zip(weights, theory.get_weights(), strict=True):
        assert_close(mine, other)


WRONG = {
    "misspelt": (
        "rows.csv",
        [*NAMED, ("ann", "likes", "an")],
        LogicValueError,
        r"rows.csv, column 3: 'an' in row 23 .* mean 'ann'\?",
    ),
    "narrow": (
        "rows.tsv",
        [*NAMED, ("ann", "r")],
        LogicValueError,
        "rows.tsv: row 23 has 2 columns; .* h, r, t",
    ),
    "wide": (
        "rows.tsv",
        [*NAMED, ("ann", "likes", "ann", "")],
        LogicValueError,
        "rows.tsv: row 23 has 4 columns",
    ),
    "index": (
        "rows.tfrecord",
        [*PLACES, (0, 0, 5)],
        LogicValueError,
        "rows.tfrecord, column 3: 5 in row 23 is no index of the domain 'people', whose 5 individuals",
    ),
    "missing": ("rows.tfrecord", [*PLACES, (0, 0)], LogicValueError, "rows.tfrecord: row 23 has 2 columns"),
    "other kind": (
        "rows.tfrecord",
        [*PLACES, (0, "likes", 0)],
        LogicFileError,
        "rows.tfrecord, from row 21: a record is not like the first one in 'r'. Data types don't match",
    ),
    "several": (
        "rows.tfrecord",
        [*PLACES, (0, [1, 2], 0)],
        LogicFileError,
        "from row 21: .* 'r'. Number of int64",
    ),
}


@pytest.mark.parametrize(("name", "rows", "kind", "message"), WRONG.values(), ids=list(WRONG))
def test_an_error_names_the_file_and_the_row(
    name: str,
    rows: Any,
    kind: type[Exception],
    message: str,
    theory: ltn.Theory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It is found when its block is read, beside the first one.
    monkeypatch.setattr(row_files, "BLOCK", 3)
    batches = theory.rows(written(tmp_path / name, rows), "h, r, t", batch_size=30)
    with pytest.raises(kind, match=message):
        theory.report(batches)


@pytest.mark.parametrize(
    ("name", "rows"), [("rows.csv", [["ann"], ["ann", "likes"]]), ("rows.tsv", [["ann", "likes"]])]
)
def test_a_wide_row_beside_one_variable(
    name: str, rows: Sequence[Sequence[str]], theory: ltn.Theory, tmp_path: Path
) -> None:
    file = written(tmp_path / name, rows)
    message = f"{name}: row {len(rows) - 1} has 2 columns; expected is one for each of h"
    with pytest.raises(LogicValueError, match=message):
        read(theory.rows(file, "h", batch_size=2, shuffle=0))


def test_records_have_what_the_variables_need(theory: ltn.Theory, tmp_path: Path) -> None:
    file = written(tmp_path / "rows.tfrecord", [(0, 1), (0, 1, 2)])
    with pytest.raises(LogicFileError, match=r"the first one has 0 for 't', and the features h, r\."):
        theory.rows(file, "h, r, t", batch_size=2)
    with pytest.raises(LogicFileError, match="no rows stand there"):
        theory.rows(written(tmp_path / "empty.tfrecord", []), "h, r, t", batch_size=2)


@pytest.mark.parametrize("line", [b'ann,likes,"an"n', b'ann,likes,"ann', b'ann,likes,b"b', b"ann,likes,\xff"])
def test_what_is_no_cell(line: bytes, theory: ltn.Theory, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"ann,likes,ann\n" + line)
    with pytest.raises(LogicValueError, match="row 1 "):
        theory.rows(file, "h, r, t", batch_size=2)


@pytest.mark.parametrize("name", ["rows.tsv.gz", "rows.tfrecord"])
def test_a_damaged_file(name: str, theory: ltn.Theory, tmp_path: Path) -> None:
    file = written(tmp_path / name, NAMED * 1000)
    content = file.read_bytes()
    file.write_bytes(content[:-200] + bytes(100) + content[-100:])
    batches = theory.rows(file, "h, r, t", batch_size=30)
    with pytest.raises(LogicFileError, match="A file of the data set is damaged"):
        theory.report(batches)

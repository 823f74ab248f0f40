"""Relations and files: rows are read from tables of all kinds, and saved with the theory."""

import gzip
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest

import ltn
from ltn.errors import LogicFileError, LogicValueError
from tests.theory import bent_files

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

NAMES = ["ann", "bob", "cat", "eve"]
ROWS = [(0, 1), (2, 3), (3, 0)]
NAMED = [(NAMES[one], NAMES[other]) for one, other in ROWS]
MEMBER = "assets/relations.npz"

FORMS: dict[str, Any] = {
    "array": np.array(ROWS),
    "narrow array": np.array(ROWS, np.uint8),
    "list": ROWS,
    "set": set(ROWS),
    "generator": (row for row in ROWS),
    "names": NAMED,
    "names and places": [("ann", 1), (2, "eve"), (3, "ann")],
    "array of names": np.array(NAMED),
    "array of objects": np.array(NAMED, object),
    "frame of names": pd.DataFrame(NAMED, index=[7, 8, 9], columns=["who", "whom"]),
    "frame of places": pd.DataFrame(ROWS),
    "frame of categories": pd.DataFrame(NAMED).astype("category"),
    "frame of texts": pd.DataFrame(NAMED).astype("string"),
}


def as_file(path: Path, rows: Iterable[Iterable[str]], separator: str) -> Path:
    text = "".join(f"{separator.join(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_read_from_all_forms(form: str) -> None:
    theory = ltn.Theory()
    people = theory.domain("people", values=NAMES)
    relation = theory.relation("knows", (people, people), FORMS[form])
    assert relation.rows.tolist() == sorted(map(list, ROWS))
    assert relation.to_frame().values.tolist() == [list(NAMED[place]) for place in (0, 1, 2)]


@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.tsv", "rows.txt", "rows.csv.gz", "rows.tsv.gz", "ROWS.CSV"]
)
def test_rows_are_read_from_files(name: str, tmp_path: Path) -> None:
    path = as_file(tmp_path / name, NAMED, "," if "csv" in name.lower() else "\t")
    theory = ltn.Theory()
    people, towns = theory.domain("people", values=NAMES), theory.domain("towns", values=np.eye(4))
    for given in (path, str(path)):
        relation = theory.relation(f"knows_{type(given).__name__}", (people, people), given)
        assert relation.rows.tolist() == sorted(map(list, ROWS))
    # Individuals without names are called by their numbers.
    numbers = as_file(
        tmp_path / f"numbers_{name}", [("0", "3"), ("2", "1")], "," if "csv" in name.lower() else "\t"
    )
    assert theory.relation("near", (towns, towns), numbers).rows.tolist() == [[0, 3], [2, 1]]


def test_in_tables_with_tabs_a_quotation_mark_is_a_letter(tmp_path: Path) -> None:
    theory = ltn.Theory()
    people = theory.domain("people", values=NAMES)
    path = as_file(tmp_path / "rows.tsv", [('"ann', "bob"), ("cat", "eve")], "\t")
    with pytest.raises(LogicValueError, match=r"rows.tsv, column 1: '\"ann' in row 0 .* did you mean 'ann'"):
        theory.relation("knows", (people, people), path)
    path = as_file(tmp_path / "rows.csv", [('"ann"', "bob"), ("cat", "eve")], ",")
    assert len(theory.relation("knows", (people, people), path)) == 2


def test_triples_are_relations_of_two_arguments_or_one_of_three(tmp_path: Path) -> None:
    triples = [
        ("ann", "knows", "bob"),
        ("cat", "likes", "eve"),
        ("eve", "knows", "ann"),
        ("ann", "knows", "bob"),
    ]
    path = as_file(tmp_path / "triples.tsv", triples, "\t")
    for given in (path, triples, pd.DataFrame(triples)):
        theory = ltn.Theory()
        people, kinds = (
            theory.domain("people", values=NAMES),
            theory.domain("kinds", values={"likes_": 1, "knows_": 2}),
        )
        found = theory.relations(given, people)
        assert {name: relation.rows.tolist() for name, relation in found.items()} == {
            "knows": [[0, 1], [3, 0]],
            "likes": [[2, 3]],
        }
        assert theory.known == found
        both = [(head, f"{kind}_", tail) for head, kind, tail in triples]
        [together] = theory.relations(both, people, kinds, name="all").values()
        assert together.rows.tolist() == [[0, 1, 1], [2, 0, 3], [3, 1, 0]]


def test_nothing_is_declared_after_an_error() -> None:
    theory = ltn.Theory()
    people = theory.domain("people", values=NAMES)
    with pytest.raises(LogicValueError, match="'zoe' in row 1"):
        theory.relations([("ann", "knows", "bob"), ("cat", "likes", "eve"), ("zoe", "likes", "eve")], people)
    assert not theory.known
    assert not theory.signature.predicates
    theory.relations([("ann", "knows", "bob")], people)


def theory_with_rows() -> ltn.Theory:
    theory = ltn.Theory("product")
    people = theory.domain("people", shape=2)
    theory.constants(NAMES[:2], people, trainable=True)
    theory.constants(NAMES[2:], people, [[0.0, 1.0], [1.0, 0.0]])
    theory.variables("x, y", people)
    theory.relation("knows", (people, people), NAMED)
    theory.relation("nobody", people)
    theory.predicate("P", people, ltn.Predicate.MLP([2], (3,)))
    theory.axiom("forall x, y where knows(x, y) & ~nobody(x): P(x) -> P(y)", name="rule")
    return theory


def test_are_saved_loaded_and_copied_with_the_theory(tmp_path: Path) -> None:
    theory = theory_with_rows()
    theory.save(tmp_path / "theory.keras")
    theory.save(tmp_path / "folder", zipped=False)
    expected = theory.report()
    for other in (
        ltn.load(tmp_path / "theory.keras"),
        keras.models.load_model(tmp_path / "theory.keras"),
        ltn.load(tmp_path / "folder"),
        theory.copy(),
    ):
        assert {name: each.rows.tolist() for name, each in other.known.items()} == {
            name: each.rows.tolist() for name, each in theory.known.items()
        }
        assert other.report().equals(expected)
        other.known["knows"].add([("ann", "eve")])
        assert len(other.known["knows"]) == 4
    assert len(theory.known["knows"]) == 3
    classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    theory.variable("p", theory.domain("points", shape=2))
    theory.predicate("Q", theory.signature.domains["points"], classifier)
    theory.axiom("forall p: Q(p)", name="data")
    ltn.with_knowledge(classifier, theory).save(tmp_path / "model.keras")
    within = keras.models.load_model(tmp_path / "model.keras").theory
    assert within.known["knows"].rows.tolist() == theory.known["knows"].rows.tolist()


def test_a_hundred_thousand_rows_take_a_megabyte(tmp_path: Path) -> None:
    theory = ltn.Theory()
    nodes = theory.domain("nodes", values=range(1000))
    theory.relation("R", (nodes, nodes), np.random.default_rng(0).integers(0, 1000, (100_000, 2)))
    theory.save(tmp_path / "theory.keras")
    assert (tmp_path / "theory.keras").stat().st_size < 1_000_000
    assert len(ltn.load(tmp_path / "theory.keras").known["R"]) == len(theory.known["R"])


def with_rows(**arrays: Any) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


GOOD = np.array([[0, 1]], np.int32)
EMPTY = np.zeros((0, 1), np.int32)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: with_rows(arr_0=GOOD + 3, arr_1=EMPTY), "rows of the relation 'knows' must be places"),
        (lambda: with_rows(arr_0=GOOD - 1, arr_1=EMPTY), "rows of the relation 'knows' must be places"),
        (lambda: with_rows(arr_0=GOOD.astype(np.int64), arr_1=EMPTY), "int64"),
        (lambda: with_rows(arr_0=GOOD[0], arr_1=EMPTY), r"has the shape \(2,\)"),
        (lambda: with_rows(arr_0=GOOD, arr_1=GOOD), "rows of the relation 'nobody' must be places"),
        (lambda: with_rows(arr_0=np.array([[{}, {}]], object), arr_1=EMPTY), "allow_pickle"),
        (lambda: b"no archive", "cannot be read"),
        (lambda: with_rows(arr_0=GOOD), "the rows of the relation 'nobody' are not in it"),
    ],
)
def test_bent_rows_are_refused(content: Callable[[], bytes], said: str, tmp_path: Path) -> None:
    path = tmp_path / "theory.keras"
    theory_with_rows().save(path)
    bent_files.write(path, bent_files.read(path) | {MEMBER: content()})
    with pytest.raises(LogicFileError, match=said):
        ltn.load(path)


def test_rows_that_are_not_there_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "theory.keras"
    theory_with_rows().save(path)
    parts = bent_files.read(path)
    del parts[MEMBER]
    bent_files.write(path, parts)
    with pytest.raises(LogicFileError, match="the rows of the relation 'knows' are not in it"):
        ltn.load(path)
    made = ltn.Theory.from_config(theory_with_rows().get_config())
    assert repr(made.known["knows"]) == "Relation(knows(people, people), not loaded)"
    with pytest.raises(LogicValueError, match="The rows of the relation 'knows' were not loaded"):
        made.report()
    with pytest.raises(LogicValueError, match="were not loaded"):
        len(made.known["knows"])


def test_the_theory_tells_of_them(tmp_path: Path) -> None:
    theory = theory_with_rows()
    told: list[str] = []
    theory.summary(told.append)
    assert "Relations:\n  knows(people, people), 3 rows\n  nobody(people), 0 rows" in told[0]
    assert "1 predicate, 2 relations" in repr(theory)
    assert "knows(people, people), 3 rows" in theory._repr_html_()
    theory.write(tmp_path / "rules.txt")
    text = (tmp_path / "rules.txt").read_text()
    assert "# knows(people, people): 3 rows" in text
    assert "rule: forall x, y where knows(x, y) & ~nobody(x): P(x) -> P(y)" in text
    page = theory.known["knows"]._repr_html_()
    assert "ann" in page
    assert "3 rows" in page
    table = theory.explain("rule")
    assert sorted(zip(table.x, table.y, strict=True)) == sorted(NAMED)
